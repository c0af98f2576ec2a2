package dev.hurray;

import java.io.FileDescriptor;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** Native memory as Java sees it. */
final class NativeMemory {
    private NativeMemory() {}

    /**
     * Makes a share of a buffer handle and a ByteBuffer over up to 2^31-1 of {@code length} bytes at {@code address}. The share
     * stands in the scratch and is the caller's. Null when that failed: the scratch says why.
     */
    static native ByteBuffer window(long buffer, long address, long length, ByteBuffer scratch);

    /** Address of a direct buffer's first byte, whatever its position; 0 when it has none. */
    static native long address(Buffer direct);

    /** Copies memory. */
    static native byte[] copy(long address, int length);

    /** Copies a text that ends with a NUL. */
    static native byte[] text(long address);

    /** The operating system's number of a file descriptor; -1 when it is closed. */
    static native int number(FileDescriptor descriptor);

    /** A direct buffer in the machine's byte order. */
    static ByteBuffer allocate(int size) {
        return ByteBuffer.allocateDirect(size).order(ByteOrder.nativeOrder());
    }

    /** Bytes as a direct buffer. */
    static ByteBuffer direct(byte[] bytes) {
        return allocate(bytes.length).put(bytes).flip();
    }

    /** Text as direct UTF-8 that ends with a NUL. */
    static ByteBuffer terminated(String text) {
        return terminated(text.getBytes(StandardCharsets.UTF_8));
    }

    /** Bytes as a direct buffer that ends with a NUL. */
    static ByteBuffer terminated(byte[] text) {
        return allocate(text.length + 1).put(text).put((byte) 0).flip();
    }

    /** Copies {@code length} bytes; a length that no array can have is refused. */
    static byte[] copy(long address, long length) {
        if (length < 0 || length > Integer.MAX_VALUE - 8) {
            throw new HurrayException(StatusCode.LIMIT_EXCEEDED, "length: " + Long.toUnsignedString(length) + " bytes do not fit an array");
        }
        return copy(address, (int) length);
    }

    /** Text of the library. */
    static String string(long address) {
        return new String(text(address), StandardCharsets.UTF_8);
    }
}
