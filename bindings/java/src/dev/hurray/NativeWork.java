package dev.hurray;

import java.nio.ByteBuffer;

/**
 * Hand-written calls for long work. {@code progress} is a context of {@link Callbacks#progress(WorkProgress)}, or 0. Tensors are 0 on
 * failure: the scratch says why.
 */
final class NativeWork {
    private NativeWork() {}

    static native long dequantize(long tensor, int elementType, long memoryLimit, long progress, ByteBuffer scratch);

    /** The scratch holds HurrayQuantizeSpec. */
    static native long quantize(long tensor, long memoryLimit, long progress, ByteBuffer scratch);

    /** The scratch holds HurrayTranscodeSpec. The counts are a direct buffer as large as they are, or null. */
    static native long transcode(
            long tensor, ByteBuffer tokenCounts, long fields, long memoryLimit, long progress, ByteBuffer scratch);

    /** Returns a status. */
    static native int validate(long tensor, int level, long memoryLimit, long progress, ByteBuffer scratch);

    /** Returns a status; fills the HurrayStatistics of the scratch. */
    static native int statistics(long tensor, int mask, long memoryLimit, long progress, ByteBuffer scratch);

    static native long merged(long composite, long memoryLimit, long progress, ByteBuffer scratch);
}
