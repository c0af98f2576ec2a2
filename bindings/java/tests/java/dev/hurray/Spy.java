package dev.hurray;

/**
 * A pretended other copy of the library, of tests/conformance/device, which logs every call of its functions; and strangers: pointers that are
 * no handles of any copy, and end right behind what may be read of them.
 */
final class Spy implements AutoCloseable {
    static {
        System.loadLibrary("hurray_jni_test");
    }

    static final int BUFFER = 3;
    static final int LIST = 4;
    static final int CONTEXT = 5;
    static final int TENSOR = 6;

    private final long spy;

    /** A copy of that version, which is also what its contexts answer; vouches for none. */
    Spy(int version) {
        spy = create(version);
    }

    void vouch(int lowest, int highest) {
        vouch(spy, lowest, highest);
    }

    /** Addresses of a list and a context: float32, three by four, 0 to 11. */
    long[] pair() {
        long[] addresses = new long[2];
        pair(spy, addresses);
        return addresses;
    }

    /** The same, of CUDA, with an event that a HurrayEventReleaseFn releases. */
    long[] eventPair(long event, long release, long releaseContext) {
        long[] addresses = new long[2];
        eventPair(spy, event, release, releaseContext, addresses);
        return addresses;
    }

    /** The same, of CUDA, on a consumer's stream. */
    long[] streamPair(long stream) {
        long[] addresses = new long[2];
        streamPair(spy, stream, addresses);
        return addresses;
    }

    long liveHandles() {
        return liveHandles(spy);
    }

    long misuses() {
        return misuses(spy);
    }

    /** Calls of anything but the questions for versions and builds. */
    long accessorCalls() {
        return accessorCalls(spy);
    }

    String log() {
        return log(spy);
    }

    void clearLog() {
        clearLog(spy);
    }

    @Override
    public void close() {
        destroy(spy);
    }

    private static native long create(int version);

    private static native void destroy(long spy);

    private static native void vouch(long spy, int lowest, int highest);

    private static native void pair(long spy, long[] addresses);

    private static native void eventPair(long spy, long event, long release, long releaseContext, long[] addresses);

    private static native void streamPair(long spy, long stream, long[] addresses);

    private static native long liveHandles(long spy);

    private static native long misuses(long spy);

    private static native long accessorCalls(long spy);

    private static native String log(long spy);

    private static native void clearLog(long spy);

    /** A capsule of another implementation: a wrong magic, of which 8 bytes can be read. */
    static native long newForeigner();

    /** The right magic of a kind with a generation that does not exist, of which 12 bytes can be read. */
    static native long newGeneration(int kind);

    static native void freeStranger(long stranger);
}
