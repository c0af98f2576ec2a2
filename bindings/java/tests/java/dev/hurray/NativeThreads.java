package dev.hurray;

/** Threads that Java did not make, and a fork that it cannot. */
final class NativeThreads {
    static {
        System.loadLibrary("hurray_jni_test");
    }

    private NativeThreads() {}

    /** Ends a list and a context on a new native thread, with the copy of the library of that path. */
    static native boolean destroyPair(String library, long list, long context);

    /**
     * Ends a list and a context in a fork of this process, which has no virtual machine that works; here they live on.
     *
     * @return the fork's exit code: 0 when both were ended without an error; -1 when it did not end in time or was killed
     */
    static native int destroyPairInFork(String library, long list, long context);

    /**
     * Asks a HurrayProducer for a tensor on a new native thread, without a stream, and ends the tensor there.
     *
     * @param release whether the thread releases the producer afterwards
     * @return the status of the request
     */
    static native int request(String library, long producer, boolean release);
}
