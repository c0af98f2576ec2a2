package dev.hurray;

import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/**
 * Somebody in this process, in whatever language, who makes tensors when asked; behind it is a HurrayProducer struct. A consumer says
 * on which stream of a device it will use the tensor, so that nobody has to wait on the host.
 *
 * <p>Close it when it is no longer needed: the producer learns of it, once. A producer in Java that is left to the collector learns of it on a
 * thread of the program, as releases do. A producer of somebody else is never ended by the collector.
 *
 * <p>Since C ABI 4.
 */
public final class Producer extends NativeResource {
    private static final class State extends NativeState {
        /** The struct of a producer in Java; null for somebody else's. */
        private final ByteBuffer struct;

        State(long address, ByteBuffer struct) {
            super(address);
            this.struct = struct;
        }

        @Override
        String kind() {
            return "producer";
        }

        @Override
        int destroy(long address) {
            try {
                return NativeProducer.release(address);
            } finally {
                Reference.reachabilityFence(struct);
                Releases.drain();
            }
        }

        @Override
        void abandon(long address) {
            if (struct != null) {
                Releases.later(() -> destroy(address));
            }
        }
    }

    private final ByteBuffer struct;

    private Producer(long address, ByteBuffer struct) {
        super(new State(address, struct));
        this.struct = struct;
    }

    /**
     * A producer in Java.
     *
     * @param producer makes the tensors
     * @param onClose run exactly once when nobody asks any more: when the first of this object and a consumer in another language ends the
     *     producer, on its thread; may be null
     */
    public static Producer of(TensorProducer producer, Runnable onClose) {
        Releases.queue();
        ByteBuffer struct = NativeMemory.allocate(Structs.Producer.SIZE);
        NativeProducer.fill(struct, new Releases.Lent(Objects.requireNonNull(producer), onClose));
        return new Producer(NativeMemory.address(struct), struct);
    }

    /**
     * A producer of somebody else in this process.
     *
     * @param address the HurrayProducer pointer. The struct stays where it is, must stay there until this object is closed, and is not
     *     freed here; closing runs its release
     */
    public static Producer fromAddress(long address) {
        Library.ready();
        if (address == 0) {
            throw new HurrayException(StatusCode.NULL_POINTER, "address: is null, expected a producer");
        }
        return new Producer(address, null);
    }

    /**
     * Where the HurrayProducer lies, for a consumer in another language. The struct stays this object's, which has to be reachable as
     * long as the consumer uses the address; when the consumer runs its release, closing this object does nothing any more.
     */
    public long address() {
        long address = acquire();
        release();
        return address;
    }

    /** Asks for a tensor that needs no stream: {@link #request(DeviceStream)} without one. */
    public Tensor request() {
        return request(null);
    }

    /**
     * Asks for a tensor, on this thread.
     *
     * @param stream where the tensor will be used first: buffers of {@link SyncMode#CONSUMER_STREAM} may be used there at once, and on
     *     another stream only after that one waits for this; null: none, then there are no such buffers
     * @return a new tensor, the caller's
     * @throws HurrayException what the producer reported; SYNC_MODE_MISMATCH: a buffer is for another stream, or for one though none was
     *     given; VERSION_MISMATCH and others as {@link Tensor#importFrom}. Nothing is left of the tensor then
     */
    public Tensor request(DeviceStream stream) {
        long queue = Releases.queue();
        long address = acquire();
        try (Scratch scratch = Scratch.take()) {
            long tensor =
                    NativeProducer.request(
                            queue, address, stream == null ? 0 : stream.address(), stream == null ? 0 : stream.deviceTag(), scratch.memory);
            if (tensor == 0) {
                throw scratch.failure();
            }
            return new Tensor(tensor);
        } finally {
            release();
        }
    }

    /**
     * Called by native code with the attachment of a producer in Java.
     *
     * @param result receives list, context and status
     * @return the message of a failure, in UTF-8; null on success
     */
    static byte[] export(Object attachment, long stream, int deviceTag, long[] result) {
        TensorExport made = null;
        try {
            TensorProducer producer = (TensorProducer) ((Releases.Lent) attachment).memory;
            made = producer.export(stream == 0 ? null : new DeviceStream(stream, deviceTag));
            if (made == null) {
                throw Errors.argument("producer: returned null, expected a pair of list and context");
            }
            // Both move, or neither: a list that is closed already stops this before the context has moved.
            result[0] = made.list().detach();
            try {
                result[1] = made.context().detach();
            } catch (IllegalStateException closed) {
                made.list().reattach();
                throw closed;
            }
            made.list().forget();
            made.context().forget();
            return null;
        } catch (Throwable failure) {
            result[0] = 0;
            result[1] = 0;
            result[2] = failure instanceof HurrayException known ? known.status() : StatusCode.INTERNAL_PANIC.value();
            closeQuietly(made);
            String text = failure instanceof HurrayException ? failure.getMessage() : "the producer threw " + failure;
            return text.getBytes(StandardCharsets.UTF_8);
        }
    }

    private static void closeQuietly(TensorExport made) {
        if (made != null) {
            try {
                made.close();
            } catch (RuntimeException secondary) {
                // The first failure is the one that the consumer learns of.
            }
        }
    }
}
