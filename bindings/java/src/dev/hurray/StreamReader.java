package dev.hurray;

import java.io.FileDescriptor;
import java.nio.ByteBuffer;
import java.util.Optional;

/** Reads a stream of tensors (format: stream), from a file descriptor or from memory. */
public final class StreamReader extends NativeResource {
    private static final class State extends NativeState {
        /** What the native reader reads from: reachable as long as it may read. */
        @SuppressWarnings("unused")
        private final Object source;

        State(long handle, Object source) {
            super(handle);
            this.source = source;
        }

        @Override
        String kind() {
            return "stream reader";
        }

        @Override
        int destroy(long handle) {
            return Raw.hurray_reader_destroy(new long[] {handle});
        }

        @Override
        void abandon(long handle) {
            Raw.hurray_reader_destroy(new long[] {handle});
        }
    }

    private StreamReader(long handle, Object source) {
        super(new State(handle, source));
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
            scratch.check(Raw.hurray_reader_next(handle, tensor, scratch.error));
            return tensor[0] == 0 ? Optional.empty() : Optional.of(new Tensor(tensor[0]));
        } finally {
            release();
        }
    }
}
