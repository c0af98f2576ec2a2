package dev.hurray;

import java.nio.ByteBuffer;

/**
 * Reads whole descriptors: the scratch receives the HurrayDescriptorInfo, shape, strides, parent shape and shard offset as arrays
 * 0 to 3, and the buffer table; the result is the encoded descriptor. Null on failure: the scratch says why.
 */
final class NativeDescriptor {
    private NativeDescriptor() {}

    static native byte[] read(long descriptor, ByteBuffer scratch);
}
