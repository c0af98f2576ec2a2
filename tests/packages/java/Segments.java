import dev.hurray.Tensor;
import dev.hurray.TensorSegments;
import java.lang.foreign.ValueLayout;

/** What the jar has for Java 22 and newer. */
final class Segments {
    private Segments() {}

    public static void main(String[] arguments) {
        try (Tensor tensor = Tensor.copyOf(new float[] {1, 2, 7}, 3);
                TensorSegments.SegmentView view = TensorSegments.open(tensor)) {
            System.out.println(TensorSegments.available() + " " + view.segment().get(ValueLayout.JAVA_FLOAT_UNALIGNED, 8));
        }
    }
}
