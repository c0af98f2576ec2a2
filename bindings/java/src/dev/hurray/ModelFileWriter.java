package dev.hurray;

import java.nio.file.Path;

/**
 * A model file that is being written. Until {@link #finish()} succeeds a file of that name stays as it was; a writer that is closed
 * before leaves nothing behind.
 */
public final class ModelFileWriter extends NativeResource {
    private static final class State extends NativeState {
        State(long handle) {
            super(handle);
        }

        @Override
        String kind() {
            return "file writer";
        }

        @Override
        int destroy(long handle) {
            int status = Raw.hurray_file_writer_destroy(new long[] {handle});
            Releases.drain();
            return status;
        }

        @Override
        void abandon(long handle) {
            // Its shares of tensors may be the last ones: their releases must not run on the collector's thread.
            Raw.hurray_file_writer_destroy_deferred(new long[] {handle}, null);
        }
    }

    private ModelFileWriter(long handle) {
        super(new State(handle));
    }

    /**
     * Starts a file.
     *
     * @param format {@link FileFormat#SAFETENSORS}
     * @throws HurrayException INVALID_ARGUMENT, NOT_FOUND: no such folder; IO
     */
    public static ModelFileWriter create(Path path, FileFormat format) {
        Releases.drain();
        if (format == FileFormat.UNKNOWN) {
            throw Errors.argument("format: expected one that exists");
        }
        try (Scratch scratch = Scratch.take()) {
            long[] writer = new long[1];
            scratch.check(Raw.hurray_file_writer_create(PathBytes.terminated(path), format.value(), writer, scratch.error));
            return new ModelFileWriter(writer[0]);
        }
    }

    /**
     * Adds a tensor. Its memory is shared until the file is finished or the writer closed; the tensor may be closed at once.
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
                scratch.check(Raw.hurray_file_writer_add(handle, NativeMemory.direct(name), name.length, added, scratch.error));
            } finally {
                tensor.release();
            }
        } finally {
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

    /** Writes the file and puts it under its name in one step. Afterwards the writer can only be closed. */
    public void finish() {
        long handle = acquire();
        try (Scratch scratch = Scratch.take()) {
            scratch.check(Raw.hurray_file_writer_finish(handle, scratch.error));
        } finally {
            release();
        }
    }
}
