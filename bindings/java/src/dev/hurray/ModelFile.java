package dev.hurray;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * An opened model file of any {@link FileFormat}, mapped read-only unless {@link FileOptions#withAccess} says otherwise. A mapped file must
 * not change while it, or a tensor of it, is in use: one that is cut makes the operating system end whoever reads it.
 *
 * <p>Tensors stay valid after the file is closed: they keep the mapping, or the memory.
 */
public final class ModelFile extends NativeResource {
    private static final class State extends NativeState {
        State(long handle) {
            super(handle);
        }

        @Override
        String kind() {
            return "file";
        }

        @Override
        int destroy(long handle) {
            int status = Raw.hurray_file_destroy(new long[] {handle});
            Releases.drain();
            return status;
        }

        @Override
        void abandon(long handle) {
            // It may have the last share of memory of the program.
            Raw.hurray_file_destroy_deferred(new long[] {handle}, null);
        }
    }

    private ModelFile(long handle) {
        super(new State(handle));
    }

    /** Opens a file with {@link FileOptions#DEFAULT}. */
    public static ModelFile open(Path path) {
        return open(path, FileOptions.DEFAULT);
    }

    /**
     * Opens a file. Every name, type, shape and range in it is checked before the call returns; no tensor data is read.
     *
     * @throws HurrayException NOT_FOUND, IO; INVALID_FORMAT: the file is malformed; LIMIT_EXCEEDED; UNSUPPORTED
     */
    public static ModelFile open(Path path, FileOptions options) {
        Releases.drain();
        try (Scratch scratch = Scratch.take()) {
            long[] file = new long[1];
            scratch.check(Raw.hurray_file_open(PathBytes.terminated(path), options.write(scratch), file, scratch.error));
            return new ModelFile(file[0]);
        }
    }

    /**
     * Opens a file whose bytes are in memory. Its tensors lie in that memory, which must not change while the file, or a tensor of it, is in
     * use. The buffer stays the caller's and may be closed at once.
     *
     * @throws HurrayException as {@link #open(Path, FileOptions)}; UNSUPPORTED: memory that the CPU cannot read
     */
    public static ModelFile open(TensorBuffer image, FileOptions options) {
        Releases.drain();
        long buffer = image.acquire();
        try (Scratch scratch = Scratch.take()) {
            long[] file = new long[1];
            scratch.check(Raw.hurray_file_open_buffer(buffer, options.write(scratch), file, scratch.error));
            return new ModelFile(file[0]);
        } finally {
            image.release();
        }
    }

    /** The same over the remaining bytes of a direct buffer, which is kept reachable as long as the file or a tensor of it is in use. */
    public static ModelFile open(ByteBuffer image, FileOptions options) {
        try (TensorBuffer buffer = TensorBuffer.wrap(image, null).buffer()) {
            return open(buffer, options);
        }
    }

    /** Facts about the file. */
    public FileInfo info() {
        long handle = acquire();
        try (Scratch scratch = Scratch.take()) {
            scratch.check(Raw.hurray_file_info(handle, scratch.sized(Structs.FileInfo.SIZE), scratch.error));
            return new FileInfo(
                    FileFormat.of(scratch.readInt(Structs.FileInfo.FORMAT)),
                    scratch.readLong(Structs.FileInfo.TENSOR_COUNT),
                    scratch.readLong(Structs.FileInfo.METADATA_COUNT),
                    scratch.readLong(Structs.FileInfo.FILE_SIZE),
                    scratch.readLong(Structs.FileInfo.COPIED_BYTES));
        } finally {
            release();
        }
    }

    /** Number of tensors. */
    public long size() {
        return info().tensorCount();
    }

    /** Name, type, shape and place of a tensor; the order is that of the file's header. */
    public FileTensorInfo tensorInfo(long index) {
        long handle = acquire();
        try (Scratch scratch = Scratch.take()) {
            scratch.check(Raw.hurray_file_tensor_info(handle, index, scratch.sized(Structs.FileTensorInfo.SIZE), scratch.error));
            byte[] name =
                    NativeMemory.copy(
                            scratch.readLong(Structs.FileTensorInfo.NAME), scratch.readLong(Structs.FileTensorInfo.NAME_LENGTH));
            return new FileTensorInfo(scratch, name, shapeOf(scratch));
        } finally {
            release();
        }
    }

    private static long[] shapeOf(Scratch scratch) {
        int rank = scratch.readInt(Structs.FileTensorInfo.RANK);
        byte[] bytes = NativeMemory.copy(scratch.readLong(Structs.FileTensorInfo.SHAPE), 8L * rank);
        long[] shape = new long[rank];
        ByteBuffer.wrap(bytes).order(java.nio.ByteOrder.nativeOrder()).asLongBuffer().get(shape);
        return shape;
    }

    /** All tensors, in the order of the file's header. */
    public List<FileTensorInfo> tensorInfos() {
        long size = size();
        List<FileTensorInfo> infos = new ArrayList<>();
        for (long i = 0; i < size; ++i) {
            infos.add(tensorInfo(i));
        }
        return List.copyOf(infos);
    }

    /** All names, in the order of the file's header. */
    public List<String> names() {
        return tensorInfos().stream().map(FileTensorInfo::name).toList();
    }

    /**
     * Index of the tensor of that name.
     *
     * @throws HurrayException NOT_FOUND
     */
    public long find(String name) {
        return find(Utf8.bytes(name));
    }

    /** The same for a name in UTF-8. */
    public long find(byte[] name) {
        long handle = acquire();
        try (Scratch scratch = Scratch.take()) {
            long[] index = new long[1];
            scratch.check(Raw.hurray_file_find(handle, NativeMemory.direct(name), name.length, index, scratch.error));
            return index[0];
        } finally {
            release();
        }
    }

    /**
     * The descriptor of a tensor, without touching its data. Where data that is not aligned is handed over as it lies, the tensor's own may
     * differ from it in byte_offset and in the size of buffer 0, by the bytes in front.
     *
     * @throws HurrayException INDEX_OUT_OF_BOUNDS; HRRY: those of {@link Descriptor#decode(byte[])}
     */
    public Descriptor descriptor(long index) {
        long handle = acquire();
        try (Scratch scratch = Scratch.take()) {
            long[] descriptor = new long[1];
            scratch.check(Raw.hurray_file_descriptor(handle, index, descriptor, scratch.error));
            return Descriptor.takeOver(descriptor, scratch);
        } finally {
            release();
        }
    }

    /** Where in a file something lies, in bytes. */
    public record Range(long offset, long size) {}

    /**
     * Where in the file the bytes of a tensor's buffer come from; what is repacked or compressed has its range as it lies there.
     *
     * @param buffer below the number of buffers of the tensor's descriptor
     * @throws HurrayException INDEX_OUT_OF_BOUNDS
     */
    public Range bufferRange(long index, long buffer) {
        long handle = acquire();
        try (Scratch scratch = Scratch.take()) {
            long[] offset = new long[1];
            long[] size = new long[1];
            scratch.check(Raw.hurray_file_buffer_range(handle, index, buffer, offset, size, scratch.error));
            return new Range(offset[0], size[0]);
        } finally {
            release();
        }
    }

    /**
     * Makes a tensor over the mapped bytes. Nothing is copied, except where the file's form is not that of the format (booleans of a byte
     * each, blocks that are repacked, big-endian numbers, compressed data) and what {@link FileOptions#alignment()} and {@link
     * FileOptions#access()} ask for; {@link FileInfo#copiedBytes} counts.
     *
     * @throws HurrayException INDEX_OUT_OF_BOUNDS; MISALIGNED: under {@link AlignmentPolicy#REQUIRE}; INVALID_FORMAT: data that is none
     *     of its type, such as a boolean that is neither 0 nor 1; UNSUPPORTED; IO: under {@link FileAccess#READ}
     */
    public Tensor tensor(long index) {
        long handle = acquire();
        try (Scratch scratch = Scratch.take()) {
            long[] tensor = new long[1];
            scratch.check(Raw.hurray_file_tensor(handle, index, tensor, scratch.error));
            return new Tensor(tensor[0]);
        } finally {
            release();
        }
    }

    /**
     * Makes a composite of its head and all its members. It keeps the mapping alive.
     *
     * @param index of the head
     * @throws HurrayException as {@link #tensor(long)}; INVALID_ARGUMENT: no head of a composite; INVALID_COMPOSITE
     */
    public Composite composite(long index) {
        long handle = acquire();
        try (Scratch scratch = Scratch.take()) {
            long[] composite = new long[1];
            scratch.check(Raw.hurray_file_composite(handle, index, composite, scratch.error));
            return new Composite(composite[0]);
        } finally {
            release();
        }
    }

    /** The composite of that name. */
    public Composite composite(String name) {
        return composite(find(name));
    }

    /** The name of a format, for messages: "safetensors", ".hrry", "GGUF". */
    public static String formatName(FileFormat format) {
        Library.ready();
        return Raw.hurray_format_name(format.value());
    }

    /** The tensor of that name. */
    public Tensor tensor(String name) {
        return tensor(find(name));
    }

    /** Metadata, in the order of the file. Arrays are read as a whole: see {@link #metadata(String)} for one entry. */
    public Map<String, MetadataValue> metadata() {
        Map<String, MetadataValue> entries = new LinkedHashMap<>();
        long count = info().metadataCount();
        long handle = acquire();
        try (Scratch scratch = Scratch.take()) {
            for (long i = 0; i < count; ++i) {
                scratch.check(Raw.hurray_file_metadata(handle, i, scratch.sized(Structs.FileMetadata.SIZE), scratch.error));
                entries.put(MetadataCodec.key(scratch), MetadataCodec.read(handle, i, scratch));
            }
        } finally {
            release();
        }
        return entries;
    }

    /** The metadata entry of that key; empty without one. */
    public Optional<MetadataValue> metadata(String key) {
        byte[] bytes = Utf8.bytes(key);
        long handle = acquire();
        try (Scratch scratch = Scratch.take()) {
            long[] index = new long[1];
            int status =
                    Raw.hurray_file_find_metadata(handle, NativeMemory.direct(bytes), bytes.length, index, scratch.error);
            if (status == StatusCode.NOT_FOUND.value()) {
                return Optional.empty();
            }
            scratch.check(status);
            scratch.check(Raw.hurray_file_metadata(handle, index[0], scratch.sized(Structs.FileMetadata.SIZE), scratch.error));
            return Optional.of(MetadataCodec.read(handle, index[0], scratch));
        } finally {
            release();
        }
    }
}
