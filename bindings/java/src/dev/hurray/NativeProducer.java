package dev.hurray;

import java.nio.ByteBuffer;

/** Hand-written calls for producers. */
final class NativeProducer {
    private NativeProducer() {}

    /** Fills a HurrayProducer whose callbacks are {@link Producer#export} and {@link Releases#run}; keeps the attachment until the latter. */
    static native void fill(ByteBuffer struct, Object attachment);

    /** Asks a producer. 0 on failure: the scratch says why. */
    static native long request(long queue, long producer, long stream, int deviceTag, ByteBuffer scratch);

    /** Runs the producer's release, unless that ran already. */
    static native int release(long producer);
}
