package example;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class ExampleTest {
    @Test
    void sums() {
        assertEquals(42, Example.sum(new int[] {1, 2, 39}));
    }

    @Test
    void callsThroughSwig() {
        assertEquals(0, Example.emptySum());
    }
}
