package dev.hurray;

/**
 * An event of a device, as its driver knows it: what a producer recorded behind its last write, and what a consumer waits for.
 *
 * @param address the driver's pointer, such as a {@code CUevent}
 * @param deviceTag number of a {@link Device}, or a private one
 */
public record DeviceEvent(long address, int deviceTag) {
    /**
     * Checks that the tag fits its field; whether it is that of the buffer is checked at the handoff.
     *
     * @throws HurrayException INVALID_ARGUMENT: no tag from 0 to 255
     */
    public DeviceEvent {
        BufferHandle.range("deviceTag", deviceTag, 0xFF);
    }

    /**
     * Names the device by its constant.
     *
     * @throws HurrayException INVALID_ARGUMENT: {@link Device#UNKNOWN}
     */
    public DeviceEvent(long address, Device device) {
        this(address, device.value());
    }

    /** The device, {@link Device#UNKNOWN} for a private one. */
    public Device device() {
        return Device.of(deviceTag);
    }
}
