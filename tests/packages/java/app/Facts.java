package app;

import dev.hurray.Hurray;
import dev.hurray.HurrayException;
import dev.hurray.Tensor;
import java.util.ArrayList;
import java.util.List;

/** Loads the library, says from where, and ends with everything open. */
public final class Facts {
    private static final List<Object> KEPT = new ArrayList<>();

    private Facts() {}

    public static void main(String[] arguments) {
        try {
            System.out.println(Hurray.runtimeInfo().libraryPath());
            Tensor tensor = Tensor.copyOf(new float[] {1, 2}, 2);
            KEPT.add(tensor);
            KEPT.add(tensor.view().floats());
            KEPT.add(tensor.export());
        } catch (HurrayException failure) {
            System.out.println(failure.getClass().getSimpleName() + ": " + failure.getMessage());
            System.exit(3);
        }
    }
}
