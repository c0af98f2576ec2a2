package dev.hurray;

/**
 * The pretended device of tests/conformance/device: streams, events and memory that only keep books, and a judgement of every step of a
 * handoff. What it finds wrong is given by name, "OK" when nothing is.
 */
final class FakeDevice implements AutoCloseable {
    static {
        System.loadLibrary("hurray_jni_test");
    }

    private final long device = create();

    /** Finds what is still owed. */
    String finish() {
        return violationName(finish(device));
    }

    long newStream(String name) {
        return newStream(device, name);
    }

    long newEvent() {
        return newEvent(device);
    }

    long newMemory(long byteSize) {
        return newMemory(device, byteSize);
    }

    String record(long event, long stream) {
        return violationName(record(device, event, stream));
    }

    String waitForEvent(long stream, long event) {
        return violationName(waitForEvent(device, stream, event));
    }

    String waitForStream(long stream, long other) {
        return violationName(waitForStream(device, stream, other));
    }

    String hostWait(long stream) {
        return violationName(hostWait(device, stream));
    }

    String read(long stream, long data) {
        return violationName(read(device, stream, data));
    }

    String write(long stream, long data) {
        return violationName(write(device, stream, data));
    }

    String handoffBegins(long data, SyncMode mode, long eventOrStream) {
        return violationName(handoffBegins(device, data, mode.value(), eventOrStream));
    }

    String handoffReturned(long data, SyncMode mode, long eventOrStream) {
        return violationName(handoffReturned(device, data, mode.value(), eventOrStream));
    }

    String handoffFailed(long data, SyncMode mode, long eventOrStream) {
        return violationName(handoffFailed(device, data, mode.value(), eventOrStream));
    }

    void releaseEvent(long event) {
        releaseEvent(event, device);
    }

    void releaseMemory(long data) {
        releaseMemory(data, device);
    }

    long eventReleases(long event) {
        return eventReleases(device, event);
    }

    long memoryReleases(long data) {
        return memoryReleases(device, data);
    }

    long eventReleaseThread(long event) {
        return eventReleaseThread(device, event);
    }

    long memoryReleaseThread(long data) {
        return memoryReleaseThread(device, data);
    }

    long violations() {
        return violations(device);
    }

    long violations(String name) {
        long found = 0;
        for (long i = 0; i < violations(); ++i) {
            found += violationName(violation(device, i)).equals(name) ? 1 : 0;
        }
        return found;
    }

    void forgetViolations() {
        forgetViolations(device);
    }

    void mark(String text) {
        mark(device, text);
    }

    String log() {
        return log(device);
    }

    /** What a callback of C has as its context. */
    long address() {
        return device;
    }

    @Override
    public void close() {
        destroy(device);
    }

    private static native long create();

    private static native void destroy(long device);

    private static native int finish(long device);

    private static native long newStream(long device, String name);

    private static native long newEvent(long device);

    private static native long newMemory(long device, long byteSize);

    private static native int record(long device, long event, long stream);

    private static native int waitForEvent(long device, long stream, long event);

    private static native int waitForStream(long device, long stream, long other);

    private static native int hostWait(long device, long stream);

    private static native int read(long device, long stream, long data);

    private static native int write(long device, long stream, long data);

    private static native int handoffBegins(long device, long data, int mode, long eventOrStream);

    private static native int handoffReturned(long device, long data, int mode, long eventOrStream);

    private static native int handoffFailed(long device, long data, int mode, long eventOrStream);

    private static native void releaseEvent(long event, long device);

    private static native void releaseMemory(long data, long device);

    private static native long eventReleases(long device, long event);

    private static native long memoryReleases(long device, long data);

    private static native long eventReleaseThread(long device, long event);

    private static native long memoryReleaseThread(long device, long data);

    /** Id of the calling thread, comparable with these. */
    static native long currentThread();

    private static native long violations(long device);

    private static native int violation(long device, long index);

    private static native String violationName(int kind);

    private static native void forgetViolations(long device);

    private static native void mark(long device, String text);

    private static native String log(long device);

    /** Callbacks, since the start of the process, for a device that was gone. */
    static native long strayCalls();

    /** Address of the device's HurrayEventReleaseFn. */
    static native long eventReleaseFunction();
}
