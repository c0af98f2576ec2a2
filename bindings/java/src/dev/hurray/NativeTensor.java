package dev.hurray;

import java.nio.ByteBuffer;

/** Hand-written calls for tensors. Those that return an object or handle return null or 0 on failure: the scratch says why. */
final class NativeTensor {
    private NativeTensor() {}

    /**
     * Makes a tensor over memory. The scratch holds a HurrayDenseSpec, the shape as array 0 and strides as array 1. The
     * attachment is kept until {@link Releases#run} gets it, exactly once; not on failure.
     */
    static native long wrap(long queue, long address, long size, Object attachment, ByteBuffer scratch);

    /**
     * Takes over a pair of list and context, after the context's version. The scratch holds HurrayDecodeOptions. A version mismatch leaves the number found at
     * {@link Scratch#ARRAYS}.
     */
    static native long importPair(long queue, long list, long context, ByteBuffer scratch);

    /**
     * Fills a HurrayView, its shape as array 0 and strides as array 1, and makes the first ByteBuffer over the elements, lowest
     * byte first. Null without an error in the scratch when there is nothing that the host could read.
     */
    static native ByteBuffer view(long tensor, ByteBuffer scratch);

    /** Ends a tensor and then runs waiting releases. */
    static native int destroy(long queue, long tensor);
}
