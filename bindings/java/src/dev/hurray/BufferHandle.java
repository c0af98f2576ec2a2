package dev.hurray;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * An entry of a descriptor's buffer table (format: buffer table). Tags are plain numbers, so that private ones can be said, too.
 *
 * @param byteSize length in bytes, unsigned
 * @param alignment declared alignment of the first byte, a power of two; at least 64 when there are bytes
 * @param deviceTag number of a {@link Device}, or a private one
 * @param syncModeTag number of a {@link SyncMode}
 * @param memoryClassTag number of a {@link MemoryClass}, or a private one
 */
public record BufferHandle(long byteSize, long alignment, int deviceTag, int syncModeTag, int memoryClassTag) {
    static final int SIZE = 16;

    /**
     * Checks that the numbers fit their fields; whether they make sense together is checked when a descriptor is built.
     *
     * @throws HurrayException INVALID_ARGUMENT: a number is out of its field's range
     */
    public BufferHandle {
        range("alignment", alignment, 0xFFFF_FFFFL);
        range("deviceTag", deviceTag, 0xFF);
        range("syncModeTag", syncModeTag, 0xFF);
        range("memoryClassTag", memoryClassTag, 0xFF);
    }

    /** An ordinary buffer in host memory, aligned to 64 bytes. */
    public static BufferHandle host(long byteSize) {
        return new BufferHandle(
                byteSize, 64, Device.CPU.value(), SyncMode.PRODUCER_SYNCED.value(), MemoryClass.STANDARD.value());
    }

    /**
     * A buffer in ordinary memory of a device, aligned to 64 bytes.
     *
     * @throws HurrayException INVALID_ARGUMENT: {@link Device#UNKNOWN} or {@link SyncMode#UNKNOWN}
     */
    public static BufferHandle of(Device device, SyncMode syncMode, long byteSize) {
        return new BufferHandle(byteSize, 64, device.value(), syncMode.value(), MemoryClass.STANDARD.value());
    }

    /** The device, {@link Device#UNKNOWN} for a private one. */
    public Device device() {
        return Device.of(deviceTag);
    }

    /** How the consumer learns that the bytes are there. */
    public SyncMode syncMode() {
        return SyncMode.of(syncModeTag);
    }

    /** The class of memory, {@link MemoryClass#UNKNOWN} for a private one. */
    public MemoryClass memoryClass() {
        return MemoryClass.of(memoryClassTag);
    }

    static BufferHandle read(ByteBuffer memory, int at) {
        ByteBuffer wire = memory.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        return new BufferHandle(
                wire.getLong(at), wire.getInt(at + 8) & 0xFFFF_FFFFL, wire.get(at + 12) & 0xFF, wire.get(at + 13) & 0xFF, wire.get(at + 14) & 0xFF);
    }

    void write(ByteBuffer memory, int at) {
        ByteBuffer wire = memory.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        wire.putLong(at, byteSize).putInt(at + 8, (int) alignment);
        wire.put(at + 12, (byte) deviceTag).put(at + 13, (byte) syncModeTag).put(at + 14, (byte) memoryClassTag).put(at + 15, (byte) 0);
    }

    static void range(String field, long value, long most) {
        if (value < 0 || value > most) {
            throw Errors.argument(field + ": expected 0 to " + most + ", got " + value);
        }
    }
}
