package dev.hurray;

import java.nio.ByteBuffer;

/** Hand-written calls for what the library calls back. Contexts are those of {@link #keep}. 0 on failure: the scratch says why. */
final class NativeCallbacks {
    private NativeCallbacks() {}

    /** A context that keeps an object reachable. */
    static native long keep(Object target);

    /** Ends a context. */
    static native void forget(long context);

    /** A reader that calls {@link Callbacks#read}. The scratch holds HurrayStreamOptions. */
    static native long reader(long context, ByteBuffer scratch);

    /** A writer that calls {@link Callbacks#write}. The scratch holds HurrayStreamOptions. */
    static native long writer(long context, ByteBuffer scratch);

    /** A file writer that calls {@link Callbacks#write}. The scratch holds HurrayFileWriterOptions. */
    static native long fileWriter(long context, ByteBuffer scratch);

    /** Announces a tensor that {@link Callbacks#make} makes. Returns a status. */
    static native int addSource(long writer, ByteBuffer name, int length, long descriptor, long context, ByteBuffer scratch);
}
