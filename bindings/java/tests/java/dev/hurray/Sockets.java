package dev.hurray;

/** Sockets that Java does not make, as numbers of the operating system. */
final class Sockets {
    static {
        System.loadLibrary("hurray_jni_test");
    }

    private Sockets() {}

    /** A pair of connected Unix sockets of type SOCK_SEQPACKET. */
    static native int[] pair();

    /** Whether a file descriptor of that number is open. */
    static native boolean isOpen(int fd);

    /** Closes a file descriptor. */
    static native void close(int fd);
}
