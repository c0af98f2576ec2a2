package modular;

import dev.hurray.Tensor;

/** Uses the binding as a module. */
public final class Main {
    private Main() {}

    public static void main(String[] arguments) {
        try (Tensor tensor = Tensor.copyOf(new double[] {1.5, 2.5}, 2)) {
            System.out.println(Tensor.class.getModule() + " " + tensor.view().getDouble(1));
        }
    }
}
