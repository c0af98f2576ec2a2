package dev.hurray;

/** The synchronisation of one buffer handle, owned or borrowed. */
final class BufferSync {
    private BufferSync() {}

    static DeviceEvent event(long buffer) {
        try (Scratch scratch = Scratch.take()) {
            long[] address = new long[1];
            int[] deviceTag = new int[1];
            scratch.check(Raw.hurray_buffer_event(buffer, address, deviceTag, scratch.error));
            return new DeviceEvent(address[0], deviceTag[0]);
        }
    }

    static void releaseEvent(long buffer) {
        try (Scratch scratch = Scratch.take()) {
            scratch.check(Raw.hurray_buffer_event_release(buffer, scratch.error));
        }
    }

    static DeviceStream stream(long buffer) {
        try (Scratch scratch = Scratch.take()) {
            long[] address = new long[1];
            int[] deviceTag = new int[1];
            scratch.check(Raw.hurray_buffer_stream(buffer, address, deviceTag, scratch.error));
            return new DeviceStream(address[0], deviceTag[0]);
        }
    }
}
