package dev.hurray;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Native memory that ByteBuffers keep alive. The collector does not see it, so that a program which reads large tensors one after the
 * other would pile them up: as the JDK does for its own direct buffers, a collection is asked for when there is much.
 */
final class MemoryPressure {
    private static final long STEP = Math.max(64L << 20, Runtime.getRuntime().maxMemory() / 4);

    private static final AtomicLong HELD = new AtomicLong();
    private static final AtomicLong NEXT_COLLECTION = new AtomicLong(STEP);

    private MemoryPressure() {}

    static void add(long bytes) {
        long held = HELD.addAndGet(bytes);
        long limit = NEXT_COLLECTION.get();
        if (held > limit && NEXT_COLLECTION.compareAndSet(limit, held + STEP)) {
            System.gc();
        }
    }

    static void remove(long bytes) {
        long held = HELD.addAndGet(-bytes);
        long limit = NEXT_COLLECTION.get();
        if (limit > held + STEP) {
            NEXT_COLLECTION.compareAndSet(limit, Math.max(STEP, held + STEP));
        }
    }
}
