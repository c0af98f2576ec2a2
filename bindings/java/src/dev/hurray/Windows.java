package dev.hurray;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** ByteBuffers over memory of the library. */
final class Windows {
    private Windows() {}

    /** Makes a root buffer that owns a share of {@code buffer}'s memory. */
    static ByteBuffer open(long buffer, long address, int length, Scratch scratch) {
        ByteBuffer root = NativeMemory.window(buffer, address, length, scratch.memory);
        if (root == null) {
            throw scratch.failure();
        }
        MemoryShare.attach(root, scratch.share());
        return root;
    }

    /** What users get of a root buffer: another object that keeps the root reachable, in the order of the format. */
    static ByteBuffer present(ByteBuffer root, boolean readOnly) {
        return (readOnly ? root.asReadOnlyBuffer() : root.duplicate()).order(ByteOrder.LITTLE_ENDIAN);
    }
}
