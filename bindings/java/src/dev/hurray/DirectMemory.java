package dev.hurray;

import java.nio.ByteBuffer;

/** Where the remaining bytes of a direct buffer lie. */
record DirectMemory(long address, long size) {
    static DirectMemory of(ByteBuffer memory) {
        if (!memory.isDirect()) {
            throw Errors.argument("memory: expected a direct ByteBuffer; arrays of the heap can only be copied (Tensor.copyOf)");
        }
        return new DirectMemory(NativeMemory.address(memory) + memory.position(), memory.remaining());
    }
}
