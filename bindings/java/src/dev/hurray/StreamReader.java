package dev.hurray;

import java.io.FileDescriptor;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Optional;

/** Reads a stream of tensors (format: stream), from a file descriptor, a stream of Java, or memory. */
public final class StreamReader extends NativeResource {
    private static final int CHUNK = 1 << 16;

    private static final class State extends NativeState {
        /** What the native reader reads from: reachable as long as it may read. */
        @SuppressWarnings("unused")
        private final Object source;

        State(long handle, Object source) {
            super(handle);
            this.source = source;
        }

        /** What the library calls; null where it reads by itself. */
        Callbacks callbacks() {
            return source instanceof Callbacks called ? called : null;
        }

        @Override
        String kind() {
            return "stream reader";
        }

        @Override
        int destroy(long handle) {
            int status = Raw.hurray_reader_destroy(new long[] {handle});
            if (callbacks() != null) {
                callbacks().forget();
            }
            return status;
        }

        @Override
        void abandon(long handle) {
            // Any thread may: nothing is called.
            destroy(handle);
        }
    }

    private final Callbacks callbacks;
    private ByteBuffer chunk;

    private StreamReader(long handle, Object source) {
        super(new State(handle, source));
        callbacks = source instanceof Callbacks called ? called : new Callbacks();
    }

    /** Reads from a pipe, socket or file, from where it stands. The descriptor stays the caller's and must stay open. */
    public static StreamReader of(FileDescriptor source) {
        return of(source, StreamOptions.DEFAULT);
    }

    /** The same with limits. */
    public static StreamReader of(FileDescriptor source, StreamOptions options) {
        Library.ready();
        if (options.closeFd()) {
            throw Errors.argument("closeFd: a FileDescriptor is closed by its Java stream");
        }
        return open(NativeMemory.number(source), source, options);
    }

    /** Reads from a file descriptor of the operating system, given as its number. */
    public static StreamReader ofFd(int fd, StreamOptions options) {
        return open(fd, null, options);
    }

    private static StreamReader open(int fd, Object source, StreamOptions options) {
        Releases.drain();
        try (Scratch scratch = Scratch.take()) {
            long[] reader = new long[1];
            scratch.check(Raw.hurray_reader_from_fd(fd, options.write(scratch), reader, scratch.error));
            return new StreamReader(reader[0], source);
        }
    }

    /** Reads from a stream of Java: see {@link #of(InputStream, StreamOptions)}. */
    public static StreamReader of(InputStream source) {
        return of(source, StreamOptions.DEFAULT);
    }

    /**
     * Reads from a stream of Java, on the threads that read here, and never beyond the tensor that was asked for. The stream stays the
     * caller's, and is not closed. What it throws ends the call: as the cause of a {@link HurrayException}, which is IO for an {@link
     * java.io.IOException}. The stream must not use this reader.
     */
    public static StreamReader of(InputStream source, StreamOptions options) {
        Releases.drain();
        Callbacks callbacks = new Callbacks();
        long context = callbacks.source(source);
        try (Scratch scratch = Scratch.take()) {
            options.write(scratch);
            long reader = NativeCallbacks.reader(context, scratch.memory);
            if (reader == 0) {
                callbacks.forget();
                throw scratch.failure();
            }
            return new StreamReader(reader, callbacks);
        }
    }

    /** Reads a stream that lies in an array. */
    public static StreamReader of(byte[] stream) {
        return of(NativeMemory.direct(stream), StreamOptions.DEFAULT);
    }

    /**
     * Reads a stream that lies in the remaining bytes of a direct buffer, which must stay as they are until the reader is closed.
     * Tensors are copied out of it.
     */
    public static StreamReader of(ByteBuffer stream, StreamOptions options) {
        Releases.drain();
        if (!stream.isDirect()) {
            throw Errors.argument("stream: expected a direct ByteBuffer");
        }
        ByteBuffer bytes = stream.slice();
        try (Scratch scratch = Scratch.take()) {
            long[] reader = new long[1];
            scratch.check(
                    Raw.hurray_reader_from_memory(bytes, bytes.remaining(), options.write(scratch), reader, scratch.error));
            return new StreamReader(reader[0], bytes);
        }
    }

    /**
     * Reads the next tensor; empty at the clean end of the stream. The tensor does not depend on the reader.
     *
     * @throws HurrayException INVALID_FORMAT: the stream ends within a tensor; those of {@link Descriptor#decode(byte[])}; IO;
     *     LIMIT_EXCEEDED. {@link HurrayException#byteOffset()} counts from the start of the stream. Afterwards the reader can only be
     *     closed
     */
    public Optional<Tensor> next() {
        long handle = acquire();
        try (Scratch scratch = Scratch.take()) {
            long[] tensor = new long[1];
            callbacks.check(scratch, Raw.hurray_reader_next(handle, tensor, scratch.error));
            return tensor[0] == 0 ? Optional.empty() : Optional.of(new Tensor(tensor[0]));
        } finally {
            release();
        }
    }

    /**
     * Reads the next tensor or, where a head comes, the whole composite; empty at the clean end of the stream. A reader is used with this
     * method or with {@link #next()}, which gives heads and members as tensors. A permissive reader gives what came of a composite that is
     * torn or does not fit as tensors, without the heads.
     *
     * @throws HurrayException as {@link #next()}; INVALID_COMPOSITE
     */
    public Optional<TensorItem> nextItem() {
        long handle = acquire();
        try (Scratch scratch = Scratch.take()) {
            long[] tensor = new long[1];
            long[] composite = new long[1];
            callbacks.check(scratch, Raw.hurray_reader_next_item(handle, tensor, composite, scratch.error));
            return Optional.ofNullable(Composite.item(tensor[0], composite[0]));
        } finally {
            release();
        }
    }

    /**
     * The name of a tensor of a .hrry file that was read in sequence: see {@link StreamOptions#hrryFile()}. Names stand at the end of the file:
     * they are there once a call has told the end.
     *
     * @param index in the order in which they came; heads and members of composites count each
     * @throws HurrayException INVALID_ARGUMENT: no .hrry file, or the end was not reached; INDEX_OUT_OF_BOUNDS
     */
    public String name(long index) {
        return new String(nameBytes(index), java.nio.charset.StandardCharsets.UTF_8);
    }

    /** The same in UTF-8. */
    public byte[] nameBytes(long index) {
        long handle = acquire();
        try (Scratch scratch = Scratch.take()) {
            long[] address = new long[1];
            long[] length = new long[1];
            scratch.check(Raw.hurray_reader_name(handle, index, address, length, scratch.error));
            return NativeMemory.copy(address[0], length[0]);
        } finally {
            release();
        }
    }

    /**
     * Begins the next tensor: its descriptor, checked, before any of its data is there; empty at the clean end of the stream. Its data
     * follows with {@link #read}, or is passed over with {@link #skip}; one of them must have reached its end before the next tensor. The
     * head of a composite, which has no data, comes before its members.
     *
     * @throws HurrayException as {@link #next()}; INVALID_COMPOSITE; INVALID_ARGUMENT, upon which nothing has changed: a tensor that was
     *     begun is not complete
     */
    public Optional<Descriptor> begin() {
        long handle = acquire();
        try (Scratch scratch = Scratch.take()) {
            long[] descriptor = new long[1];
            callbacks.check(scratch, Raw.hurray_reader_begin(handle, descriptor, scratch.error));
            return descriptor[0] == 0 ? Optional.empty() : Optional.of(Descriptor.takeOver(descriptor, scratch));
        } finally {
            release();
        }
    }

    /**
     * Reads the next bytes of the tensor that was begun: those of its buffers in the order of its table, never of two buffers in one call.
     * Waits for the first byte and gives what is there.
     *
     * @param into of any kind; its position moves
     * @return how many bytes, 0 without room; -1 when the tensor is complete
     * @throws HurrayException INVALID_ARGUMENT: no tensor was begun; INVALID_FORMAT: the stream ends within the tensor; IO
     */
    public int read(ByteBuffer into) {
        if (into.isReadOnly()) {
            throw Errors.argument("into: expected a buffer that can be written");
        }
        long handle = acquire();
        try (Scratch scratch = Scratch.take()) {
            if (into.remaining() == 0) {
                return 0;
            }
            ByteBuffer target = into.isDirect() ? into.slice() : chunk().limit(Math.min(into.remaining(), CHUNK));
            long[] count = new long[1];
            callbacks.check(scratch, Raw.hurray_reader_read(handle, target, target.remaining(), count, scratch.error));
            if (count[0] == 0) {
                return -1;
            }
            int read = (int) count[0];
            if (into.isDirect()) {
                into.position(into.position() + read);
            } else {
                into.put(target.limit(read));
            }
            return read;
        } finally {
            release();
            java.lang.ref.Reference.reachabilityFence(into);
        }
    }

    /** Direct memory for what goes into arrays. */
    private ByteBuffer chunk() {
        if (chunk == null) {
            chunk = NativeMemory.allocate(CHUNK);
        }
        return chunk.clear();
    }

    /** Passes over what is left of the tensor that was begun; in a regular file nothing is read for it. Fails as {@link #read} does. */
    public void skip() {
        long handle = acquire();
        try (Scratch scratch = Scratch.take()) {
            callbacks.check(scratch, Raw.hurray_reader_skip(handle, scratch.error));
        } finally {
            release();
        }
    }
}
