package dev.hurray;

/**
 * Tensors as {@code java.lang.foreign.MemorySegment}s. Needs Java 22 or newer: there the jar has another version of this class, with the
 * methods {@code open(Tensor)} and {@code wrap(DenseSpec, MemorySegment, Runnable)}.
 */
public final class TensorSegments {
    private TensorSegments() {}

    /** Whether this Java has them. */
    public static boolean available() {
        return false;
    }
}
