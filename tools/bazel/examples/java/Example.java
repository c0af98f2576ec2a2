package example;

/** Calls the C library through JNI, and through SWIG's layer. */
public final class Example {
    static {
        System.loadLibrary("example_jni");
    }

    private Example() {}

    /** Sum of the numbers. */
    public static native long sum(int[] values);

    /** The sum of no numbers at all, through SWIG. */
    public static long emptySum() {
        return example.swig.example.example_sum(null, 0);
    }

    /** Which class of the multi-release jar runs. */
    public static String kind() {
        return Kind.NAME;
    }
}

final class Kind {
    static final String NAME = new String("base");

    private Kind() {}
}
