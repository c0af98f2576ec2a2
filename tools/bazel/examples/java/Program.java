package example;

/** Prints a sum. */
public final class Program {
    private Program() {}

    public static void main(String[] arguments) {
        int[] values = new int[arguments.length];
        for (int i = 0; i < arguments.length; ++i) {
            values[i] = Integer.parseInt(arguments[i]);
        }
        System.out.println(Example.sum(values));
    }
}
