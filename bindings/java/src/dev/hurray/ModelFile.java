package dev.hurray;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * An opened model file, mapped read-only. The file must not change while it, or a tensor of it, is in use: a mapped file that is cut
 * makes the operating system end whoever reads it.
 *
 * <p>Tensors stay valid after the file is closed: they keep the mapping.
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
            return Raw.hurray_file_destroy(new long[] {handle});
        }

        @Override
        void abandon(long handle) {
            // Any thread may: the mapping is the library's own memory.
            Raw.hurray_file_destroy(new long[] {handle});
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
            ByteBuffer struct = scratch.sized(Structs.FileOptions.SIZE);
            struct.putInt(Structs.FileOptions.FORMAT, options.format().value());
            struct.putInt(Structs.FileOptions.ALIGNMENT, options.alignment().value());
            struct.putLong(Structs.FileOptions.HEADER_LIMIT, options.headerLimit());
            long[] file = new long[1];
            scratch.check(Raw.hurray_file_open(PathBytes.terminated(path), struct, file, scratch.error));
            return new ModelFile(file[0]);
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
     * Makes a tensor over the mapped bytes. Nothing is copied, except booleans (a byte each in a file of safetensors) and what {@link
     * FileOptions#alignment()} asks for.
     *
     * @throws HurrayException INDEX_OUT_OF_BOUNDS; MISALIGNED: under {@link AlignmentPolicy#REQUIRE}; INVALID_FORMAT: a boolean is
     *     neither 0 nor 1
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

    /** The tensor of that name. */
    public Tensor tensor(String name) {
        return tensor(find(name));
    }

    /** Metadata, in the order of the file. */
    public Map<String, String> metadata() {
        long count = info().metadataCount();
        Map<String, String> entries = new LinkedHashMap<>();
        long handle = acquire();
        try (Scratch scratch = Scratch.take()) {
            for (long i = 0; i < count; ++i) {
                scratch.check(Raw.hurray_file_metadata(handle, i, scratch.sized(Structs.FileMetadata.SIZE), scratch.error));
                entries.put(
                        text(scratch, Structs.FileMetadata.KEY, Structs.FileMetadata.KEY_LENGTH),
                        text(scratch, Structs.FileMetadata.VALUE, Structs.FileMetadata.VALUE_LENGTH));
            }
        } finally {
            release();
        }
        return entries;
    }

    private static String text(Scratch scratch, int address, int length) {
        return new String(NativeMemory.copy(scratch.readLong(address), scratch.readLong(length)), StandardCharsets.UTF_8);
    }
}
