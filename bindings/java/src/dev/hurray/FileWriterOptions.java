package dev.hurray;

import java.nio.ByteBuffer;

/**
 * How to write a model file. Immutable; start with {@link #of}.
 *
 * @param format not {@link FileFormat#AUTO}
 * @param dataAlignment HRRY: alignment of every buffer in the file, in bytes, a power of two from 4096 to 2 MiB; GGUF: a power of two, at
 *     least 8; 0: the default of the format, and the only choice of the others
 * @param unsortedIndex HRRY: keeps the index in the order in which the tensors were added; readers then need a table to find a name
 * @param compress NPZ: compresses with deflate
 */
public record FileWriterOptions(FileFormat format, int dataAlignment, boolean unsortedIndex, boolean compress) {
    /** Checks that the format is there. */
    public FileWriterOptions {
        if (format == FileFormat.UNKNOWN) {
            throw Errors.argument("format: expected one that exists");
        }
        java.util.Objects.requireNonNull(format);
    }

    /** The defaults of a format. */
    public static FileWriterOptions of(FileFormat format) {
        return new FileWriterOptions(format, 0, false, false);
    }

    /** The same with another alignment of the data, in bytes. */
    public FileWriterOptions withDataAlignment(int bytes) {
        return new FileWriterOptions(format, bytes, unsortedIndex, compress);
    }

    /** The same, and whether the index stays unsorted. */
    public FileWriterOptions withUnsortedIndex(boolean unsorted) {
        return new FileWriterOptions(format, dataAlignment, unsorted, compress);
    }

    /** The same, and whether the data is compressed. */
    public FileWriterOptions withCompress(boolean compressed) {
        return new FileWriterOptions(format, dataAlignment, unsortedIndex, compressed);
    }

    ByteBuffer write(Scratch scratch) {
        ByteBuffer struct = scratch.sized(Structs.FileWriterOptions.SIZE);
        struct.putInt(Structs.FileWriterOptions.FORMAT, format.value());
        struct.putInt(Structs.FileWriterOptions.DATA_ALIGNMENT, dataAlignment);
        struct.putInt(
                Structs.FileWriterOptions.FLAGS,
                (unsortedIndex ? Abi.FILE_WRITER_UNSORTED_INDEX : 0) | (compress ? Abi.FILE_WRITER_COMPRESS : 0));
        return struct;
    }
}
