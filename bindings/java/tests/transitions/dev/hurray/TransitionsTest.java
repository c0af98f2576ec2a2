package dev.hurray;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** How often the border between Java and native code is crossed, which is what calls cost. */
class TransitionsTest {
    @BeforeAll
    static void load() {
        System.load(System.getProperty("hurray.test.transitions"));
    }

    private static long importViewClose() {
        try (Tensor source = Tensor.copyOf(new float[] {1, 2, 3}, 3);
                TensorExport pair = source.export()) {
            BufferList list = pair.list();
            TensorContext context = pair.context();
            Transitions.begin();
            Tensor tensor = Tensor.importFrom(list, context);
            TensorView view = tensor.view();
            float last = view.floats().get(2);
            tensor.close();
            long count = Transitions.end();
            assertEquals(3, last);
            return count;
        }
    }

    @Test
    void importViewAndCloseOfOneTensorTakeAtMostThree() {
        importViewClose(); // what is done once, such as the sizes of types
        long count = importViewClose();
        assertTrue(count >= 1, "nothing was counted");
        assertTrue(count <= 3, "expected at most 3, got " + count);
        System.out.println("native transitions of import + view + close: " + count);
    }

    @Test
    void elementsThroughAViewTakeNone() {
        try (Tensor tensor = Tensor.copyOf(new float[64], 8, 8)) {
            TensorView view = tensor.view();
            Transitions.begin();
            double sum = 0;
            for (int i = 0; i < 64; ++i) {
                sum += view.getDouble(i / 8, i % 8);
            }
            long count = Transitions.end();
            assertEquals(0, sum);
            assertEquals(0, count);
        }
    }
}
