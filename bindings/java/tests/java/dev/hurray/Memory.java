package dev.hurray;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicInteger;

/** Memory of Java for tests. */
final class Memory {
    private Memory() {}

    /** Little-endian direct memory that starts `remainder` bytes behind a multiple of 64, filled with numbers that count up. */
    static ByteBuffer at(int remainder, int size) {
        ByteBuffer memory = ByteBuffer.allocateDirect(size + 192).alignedSlice(64).slice(remainder, size);
        for (int i = 0; i < size; ++i) {
            memory.put(i, (byte) (i * 7 + 1));
        }
        return memory.order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Counts how often it runs, and on which thread last. */
    static final class Counter implements Runnable {
        final AtomicInteger runs = new AtomicInteger();
        volatile Thread thread;

        @Override
        public void run() {
            thread = Thread.currentThread();
            runs.incrementAndGet();
        }

        int count() {
            return runs.get();
        }
    }
}
