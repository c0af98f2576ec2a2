package dev.hurray;

import java.io.FileDescriptor;
import java.io.OutputStream;

/** Writes a stream of tensors (format: stream), to a file descriptor, a stream of Java, or into memory. */
public final class StreamWriter extends NativeResource {
    private static final class State extends NativeState {
        /** What the native writer writes to: reachable as long as it may write. */
        private final Object target;

        State(long handle, Object target) {
            super(handle);
            this.target = target;
        }

        @Override
        String kind() {
            return "stream writer";
        }

        @Override
        int destroy(long handle) {
            int status = Raw.hurray_writer_destroy(new long[] {handle});
            if (target instanceof Callbacks called) {
                called.forget();
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

    private StreamWriter(long handle, Object target) {
        super(new State(handle, target));
        callbacks = target instanceof Callbacks called ? called : new Callbacks();
    }

    /** Writes to a pipe, socket or file, from where it stands. The descriptor stays the caller's and must stay open. */
    public static StreamWriter of(FileDescriptor target) {
        Library.ready();
        return open(NativeMemory.number(target), target, StreamOptions.DEFAULT);
    }

    /** Writes to a file descriptor of the operating system, given as its number; the limits are not used. */
    public static StreamWriter ofFd(int fd, StreamOptions options) {
        return open(fd, null, options);
    }

    private static StreamWriter open(int fd, Object target, StreamOptions options) {
        Releases.drain();
        try (Scratch scratch = Scratch.take()) {
            long[] writer = new long[1];
            scratch.check(Raw.hurray_writer_to_fd(fd, options.write(scratch), writer, scratch.error));
            return new StreamWriter(writer[0], target);
        }
    }

    /**
     * Writes to a stream of Java, on the threads that write here. It stays the caller's, and is neither flushed nor closed. What it throws ends
     * the call: as the cause of a {@link HurrayException}, which is IO for an {@link java.io.IOException}. The stream must not use this
     * writer.
     */
    public static StreamWriter of(OutputStream target) {
        Releases.drain();
        Callbacks callbacks = new Callbacks();
        long context = callbacks.sink(target);
        try (Scratch scratch = Scratch.take()) {
            StreamOptions.DEFAULT.write(scratch);
            long writer = NativeCallbacks.writer(context, scratch.memory);
            if (writer == 0) {
                callbacks.forget();
                throw scratch.failure();
            }
            return new StreamWriter(writer, callbacks);
        }
    }

    /** Writes into memory that grows; see {@link #take()}. */
    public static StreamWriter toMemory() {
        Releases.drain();
        try (Scratch scratch = Scratch.take()) {
            long[] writer = new long[1];
            scratch.check(Raw.hurray_writer_to_memory(writer, scratch.error));
            return new StreamWriter(writer[0], null);
        }
    }

    /**
     * Writes a tensor: its descriptor and the bytes of its buffers.
     *
     * @throws HurrayException IO; UNSUPPORTED: not host memory. After an error in mid-tensor the writer can only be closed
     */
    public void write(Tensor tensor) {
        long handle = acquire();
        try (Scratch scratch = Scratch.take()) {
            long written = tensor.acquire();
            try {
                callbacks.check(scratch, Raw.hurray_writer_write(handle, written, scratch.error));
            } finally {
                tensor.release();
            }
        } finally {
            release();
        }
    }

    /**
     * Writes a composite: its head, and behind it its members, those of inner composites behind their heads.
     *
     * @throws HurrayException UNSUPPORTED: memory that the CPU cannot read, nothing is written then; IO: the stream ends torn, and the writer
     *     can only be closed
     */
    public void write(Composite composite) {
        long handle = acquire();
        try (Scratch scratch = Scratch.take()) {
            long written = composite.acquire();
            try {
                callbacks.check(scratch, Raw.hurray_writer_write_composite(handle, written, scratch.error));
            } finally {
                composite.release();
            }
        } finally {
            release();
        }
    }

    /**
     * Takes what was written into memory so far; the writer goes on with nothing.
     *
     * @throws HurrayException INVALID_ARGUMENT: it does not write into memory
     */
    public TensorBuffer take() {
        long handle = acquire();
        try (Scratch scratch = Scratch.take()) {
            long[] buffer = new long[1];
            scratch.check(Raw.hurray_writer_take(handle, buffer, scratch.error));
            return new TensorBuffer(buffer[0]);
        } finally {
            release();
        }
    }
}
