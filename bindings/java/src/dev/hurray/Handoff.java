package dev.hurray;

import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.function.LongConsumer;

/**
 * How a producer hands memory of any device over: the 16-byte handle that describes it, its address, and what the handle's sync mode
 * asks for. One object makes one buffer. One thread uses it.
 *
 * <ul>
 *   <li>{@link SyncMode#PRODUCER_SYNCED}: nothing more. The producer has waited for its writes before {@link #handOff()}.
 *   <li>{@link SyncMode#EVENT}: {@link #event}, recorded behind the last write before {@link #handOff()}.
 *   <li>{@link SyncMode#CONSUMER_STREAM}: {@link #stream}, which the device makes wait for the last write before {@link #handOff()}
 *       returns. The consumer names it when it asks a {@link Producer}.
 * </ul>
 *
 * <p>Buffers with an event or a stream travel in a {@link BufferList} of their own: a {@link Tensor#share() share} or an {@link
 * Tensor#export() export} carries neither.
 *
 * <p>Since C ABI 2.
 */
public final class Handoff {
    private final BufferHandle handle;
    private final long address;
    private final Object memory;
    private Runnable onRelease;
    private DeviceEvent event;
    private LongConsumer onEventRelease;
    private DeviceStream stream;
    private boolean done;

    private Handoff(BufferHandle handle, long address, Object memory) {
        this.handle = Objects.requireNonNull(handle);
        this.address = address;
        this.memory = memory;
    }

    /**
     * Starts the handoff of memory at an address, which is the device's own and never read here unless the device is the CPU.
     *
     * @param handle size, alignment, device, sync mode and class of the memory
     * @param address the first byte; aligned as the handle says; 0 only when there are no bytes
     */
    public static Handoff of(BufferHandle handle, long address) {
        return new Handoff(handle, address, null);
    }

    /**
     * Starts the handoff of the remaining bytes of a direct buffer, which is kept reachable until nobody needs them.
     *
     * @throws HurrayException INVALID_ARGUMENT: no direct buffer; BUFFER_TOO_SMALL: the handle says more bytes than remain
     */
    public static Handoff of(BufferHandle handle, ByteBuffer memory) {
        Library.ready();
        DirectMemory direct = DirectMemory.of(memory);
        if (Long.compareUnsigned(handle.byteSize(), direct.size()) > 0) {
            throw new HurrayException(
                    StatusCode.BUFFER_TOO_SMALL,
                    "handle: byte_size is " + Long.toUnsignedString(handle.byteSize()) + ", and " + direct.size() + " bytes remain");
        }
        return new Handoff(handle, direct.address(), memory);
    }

    /**
     * Sets what runs exactly once when nobody needs the memory any more: on the thread of the program that closes the last user, or that
     * next makes or closes something after the collector found it. Without it, memory at an address lives for ever.
     */
    public Handoff onRelease(Runnable action) {
        onRelease = action;
        return this;
    }

    /**
     * Sets the event of {@link SyncMode#EVENT}.
     *
     * @param event recorded already, of the buffer's device
     * @param onRelease gets the event's address exactly once, when the consumer has issued its waits, or when the buffer ends without
     *     that. It runs on any thread, the garbage collector's included: it must be fit for that. What it throws is logged
     */
    public Handoff event(DeviceEvent event, LongConsumer onRelease) {
        this.event = event;
        this.onEventRelease = onRelease;
        return this;
    }

    /**
     * Sets the consumer's stream of {@link SyncMode#CONSUMER_STREAM}.
     *
     * @param stream as the consumer gave it, of the buffer's device
     */
    public Handoff stream(DeviceStream stream) {
        this.stream = stream;
        return this;
    }

    /**
     * Makes the buffer. What the handle declares and what was set are cross-checked first.
     *
     * @return the buffer, which is the caller's to close or to push into a list
     * @throws HurrayException SYNC_MODE_MISMATCH: the sync mode and what was set do not belong together, or a device is another one;
     *     INVALID_SYNC_MODE: a sync mode that does not exist; INVALID_LAYOUT, INVALID_TYPE, MISALIGNED, NULL_POINTER: handle and address do
     *     not fit. Nothing has moved then, nothing is kept, and no action runs
     * @throws IllegalStateException this object made its buffer already
     */
    public TensorBuffer handOff() {
        if (done) {
            throw new IllegalStateException("the memory is handed off already");
        }
        long queue = Releases.queue();
        Object attachment = memory == null && onRelease == null ? null : new Releases.Lent(memory, onRelease);
        try (Scratch scratch = Scratch.take()) {
            handle.write(scratch.memory, Scratch.STRUCT);
            long made =
                    NativeHandoff.handOff(
                            queue,
                            address,
                            attachment,
                            event != null,
                            event == null ? 0 : event.address(),
                            event == null ? 0 : event.deviceTag(),
                            eventAttachment(),
                            stream != null,
                            stream == null ? 0 : stream.address(),
                            stream == null ? 0 : stream.deviceTag(),
                            scratch.memory);
            if (made == 0) {
                throw scratch.failure();
            }
            done = true;
            return new TensorBuffer(made);
        } finally {
            Reference.reachabilityFence(memory);
        }
    }

    private Object eventAttachment() {
        if (event == null || onEventRelease == null) {
            return null;
        }
        LongConsumer action = onEventRelease;
        long released = event.address();
        return new Releases.Lent(null, () -> action.accept(released));
    }
}
