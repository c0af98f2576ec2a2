package dev.hurray;

import java.io.OutputStream;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;

/**
 * A model file that is being written. Until {@link #finish()} succeeds a file of that name stays as it was; a writer that is closed
 * before leaves nothing behind.
 */
public final class ModelFileWriter extends NativeResource {
    private static final class State extends NativeState {
        private final Callbacks callbacks;

        State(long handle, Callbacks callbacks) {
            super(handle);
            this.callbacks = callbacks;
        }

        @Override
        String kind() {
            return "file writer";
        }

        @Override
        int destroy(long handle) {
            int status = Raw.hurray_file_writer_destroy(new long[] {handle});
            callbacks.forget();
            Releases.drain();
            return status;
        }

        @Override
        void abandon(long handle) {
            // Its shares of tensors may be the last ones: their releases must not run on the collector's thread.
            if (callbacks.isEmpty()) {
                Raw.hurray_file_writer_destroy_deferred(new long[] {handle}, null);
            } else {
                // What it calls has to live as long as it does.
                Releases.later(() -> destroy(handle));
            }
        }
    }

    private final Callbacks callbacks;

    private ModelFileWriter(long handle, Callbacks callbacks) {
        super(new State(handle, callbacks));
        this.callbacks = callbacks;
    }

    /**
     * Starts a file with the default options of its format.
     *
     * @throws HurrayException INVALID_ARGUMENT, NOT_FOUND: no such folder; IO
     */
    public static ModelFileWriter create(Path path, FileFormat format) {
        return create(path, FileWriterOptions.of(format));
    }

    /**
     * Starts a file.
     *
     * @throws HurrayException INVALID_ARGUMENT, also for options that are not the format's; NOT_FOUND: no such folder; IO
     */
    public static ModelFileWriter create(Path path, FileWriterOptions options) {
        Releases.drain();
        try (Scratch scratch = Scratch.take()) {
            long[] writer = new long[1];
            scratch.check(
                    Raw.hurray_file_writer_create_with(PathBytes.terminated(path), options.write(scratch), writer, scratch.error));
            return new ModelFileWriter(writer[0], new Callbacks());
        }
    }

    /**
     * Starts a file that goes to a file descriptor of the operating system, a pipe or socket, too, given as its number: from where it stands,
     * front to back. It stays the caller's and must stay open. What was written stays written, also when the writer does not finish.
     */
    public static ModelFileWriter toFd(int fd, FileWriterOptions options) {
        Releases.drain();
        try (Scratch scratch = Scratch.take()) {
            long[] writer = new long[1];
            scratch.check(Raw.hurray_file_writer_to_fd(fd, options.write(scratch), writer, scratch.error));
            return new ModelFileWriter(writer[0], new Callbacks());
        }
    }

    /**
     * Starts a file that goes to a stream of Java, front to back, on the threads that write here. It stays the caller's, and is neither flushed
     * nor closed. What it throws ends the writer: as the cause of a {@link HurrayException}, which is IO for an {@link
     * java.io.IOException}. The stream must not use this writer.
     */
    public static ModelFileWriter to(OutputStream target, FileWriterOptions options) {
        Releases.drain();
        Callbacks callbacks = new Callbacks();
        long context = callbacks.sink(target);
        try (Scratch scratch = Scratch.take()) {
            options.write(scratch);
            long writer = NativeCallbacks.fileWriter(context, scratch.memory);
            if (writer == 0) {
                callbacks.forget();
                throw scratch.failure();
            }
            return new ModelFileWriter(writer, callbacks);
        }
    }

    /**
     * Adds a tensor. HRRY and NPZ write it at once; the others share its memory until the file is finished or the writer closed. The tensor
     * may be closed at once.
     *
     * @throws HurrayException INVALID_ARGUMENT: the name is taken; UNSUPPORTED: the format cannot hold such a tensor
     */
    public void add(String name, Tensor tensor) {
        add(Utf8.bytes(name), tensor);
    }

    /** The same with a name in UTF-8. */
    public void add(byte[] name, Tensor tensor) {
        long handle = acquire();
        try (Scratch scratch = Scratch.take()) {
            long added = tensor.acquire();
            try {
                callbacks.check(
                        scratch, Raw.hurray_file_writer_add(handle, NativeMemory.direct(name), name.length, added, scratch.error));
            } finally {
                tensor.release();
            }
        } finally {
            release();
        }
    }

    /**
     * Adds a composite: its head under the name, its members, in pre-order, as name/0, name/1, ..., those of an inner one as name/1/0, ... It
     * may be closed at once.
     *
     * @throws HurrayException as {@link #add(String, Tensor)}; UNSUPPORTED: the format has no composites (all but HRRY)
     */
    public void addComposite(String name, Composite composite) {
        byte[] bytes = Utf8.bytes(name);
        long handle = acquire();
        try (Scratch scratch = Scratch.take()) {
            long added = composite.acquire();
            try {
                callbacks.check(
                        scratch,
                        Raw.hurray_file_writer_add_composite(handle, NativeMemory.direct(bytes), bytes.length, added, scratch.error));
            } finally {
                composite.release();
            }
        } finally {
            release();
        }
    }

    /**
     * Announces a tensor that is made when it is written: at once (HRRY, NPZ), or when the file is finished. A conversion so needs memory for
     * one tensor at a time.
     *
     * @param what the tensor's type, layout, shape and sections, and the sizes of its buffers
     * @param source called at most once, on the thread that writes. The tensor that it returns moves to the writer and is closed. What it
     *     throws ends the writer: as the cause of a {@link HurrayException}. It must not use the writer
     * @throws HurrayException as {@link #add(String, Tensor)}; INVALID_ARGUMENT: it gave another tensor than the announced one
     */
    public void addSource(String name, Descriptor what, Callable<Tensor> source) {
        ByteBuffer text = NativeMemory.direct(Utf8.bytes(name));
        long handle = acquire();
        try (Scratch scratch = Scratch.take()) {
            long context = callbacks.maker(source);
            long[] descriptor = what.newHandle(scratch);
            try {
                callbacks.check(
                        scratch, NativeCallbacks.addSource(handle, text, text.remaining(), descriptor[0], context, scratch.memory));
            } finally {
                Errors.check(Raw.hurray_descriptor_destroy(descriptor));
            }
        } finally {
            Reference.reachabilityFence(text);
            release();
        }
    }

    /** Sets a metadata entry; the last value of a key counts. */
    public void setMetadata(String key, String value) {
        byte[] keyBytes = Utf8.bytes(key);
        byte[] valueBytes = Utf8.bytes(value);
        long handle = acquire();
        try (Scratch scratch = Scratch.take()) {
            scratch.check(
                    Raw.hurray_file_writer_set_metadata(
                            handle,
                            NativeMemory.direct(keyBytes),
                            keyBytes.length,
                            NativeMemory.direct(valueBytes),
                            valueBytes.length,
                            scratch.error));
        } finally {
            release();
        }
    }

    /**
     * Sets a metadata entry; the last value of a key counts.
     *
     * @throws HurrayException UNSUPPORTED: the format has no metadata, or cannot hold such a value; INVALID_ARGUMENT
     */
    public void setMetadata(String key, MetadataValue value) {
        ByteBuffer name = NativeMemory.direct(Utf8.bytes(key));
        boolean array = value instanceof MetadataValue.Array;
        MetadataCodec.Written written =
                MetadataCodec.write(value instanceof MetadataValue.Array many ? many.elements() : List.of(value));
        long handle = acquire();
        try (Scratch scratch = Scratch.take()) {
            scratch.check(
                    array
                            ? Raw.hurray_file_writer_set_array(
                                    handle,
                                    name,
                                    name.remaining(),
                                    ((MetadataValue.Array) value).elementType().value(),
                                    written.structs(),
                                    ((MetadataValue.Array) value).elements().size(),
                                    scratch.error)
                            : Raw.hurray_file_writer_set_value(handle, name, name.remaining(), written.structs(), scratch.error));
        } finally {
            Reference.reachabilityFence(written);
            release();
        }
    }

    /** How many bytes were gathered, unpacked or converted on their way so far; all others were written from where they lie. */
    public long copiedBytes() {
        long handle = acquire();
        try (Scratch scratch = Scratch.take()) {
            long[] bytes = new long[1];
            scratch.check(Raw.hurray_file_writer_copied_bytes(handle, bytes, scratch.error));
            return bytes[0];
        } finally {
            release();
        }
    }

    /** Writes the file and puts it under its name in one step. Afterwards the writer can only be closed. */
    public void finish() {
        long handle = acquire();
        try (Scratch scratch = Scratch.take()) {
            callbacks.check(scratch, Raw.hurray_file_writer_finish(handle, scratch.error));
        } finally {
            release();
        }
    }
}
