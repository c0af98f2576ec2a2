package dev.hurray;

import java.nio.ByteBuffer;

/**
 * A share of a buffer's memory that lives as long as one ByteBuffer and all that were made from it. A ByteBuffer cannot be revoked:
 * so no close() ever takes memory away from under one.
 */
final class MemoryShare extends NativeState {
    private final long bytes;

    private MemoryShare(long buffer, long bytes) {
        super(buffer);
        this.bytes = bytes;
    }

    /** Ties a share to the ByteBuffer that lies on it. Slices and duplicates of a direct buffer keep it reachable. */
    static MemoryShare attach(ByteBuffer root, long share) {
        MemoryShare state = new MemoryShare(share, root.capacity());
        Releases.onUnreachable(root, state);
        MemoryPressure.add(state.bytes);
        return state;
    }

    @Override
    String kind() {
        return "memory";
    }

    @Override
    int destroy(long handle) {
        MemoryPressure.remove(bytes);
        return Raw.hurray_buffer_destroy(handle);
    }

    @Override
    void abandon(long handle) {
        MemoryPressure.remove(bytes);
        Raw.hurray_buffer_destroy_deferred(handle, null);
    }
}
