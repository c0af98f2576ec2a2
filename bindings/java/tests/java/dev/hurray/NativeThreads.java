package dev.hurray;

/** Threads that Java did not make. */
final class NativeThreads {
    static {
        System.loadLibrary("hurray_jni_test");
    }

    private NativeThreads() {}

    /** Ends a list and a context on a new native thread, with the copy of the library of that path. */
    static native boolean destroyPair(String library, long list, long context);
}
