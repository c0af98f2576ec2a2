package dev.hurray;

import java.nio.ByteBuffer;

/** Hand-written calls for buffers and contexts that Java owns something of. 0 on failure: the scratch says why. */
final class NativeBuffer {
    private NativeBuffer() {}

    /** Makes a buffer over memory; see {@link NativeTensor#wrap} for the attachment. */
    static native long wrap(
            long queue, long address, long size, boolean readOnly, Object attachment, long[] byteOffset, ByteBuffer scratch);

    /** Makes a tensor context; the attachment may be null. */
    static native long newContext(long queue, int version, ByteBuffer descriptor, int length, Object attachment, ByteBuffer scratch);
}
