package dev.hurray;

import java.nio.ByteBuffer;

/**
 * How to open a model file. Immutable; start with {@link #DEFAULT}.
 *
 * @param format {@link FileFormat#AUTO} recognises it by content
 * @param alignment what becomes of data that is not aligned to 64 bytes: OFFSET hands it over as it lies, COPY copies it (counted in
 *     {@link FileInfo#copiedBytes}), REQUIRE refuses it
 * @param headerLimit longest header, index or metadata section accepted, in bytes; 0 means the default of the format
 * @param access MAP maps the file, which must not change while it is in use; READ reads what is asked for, which is counted as copied: for
 *     network file systems, and for files that somebody else may cut
 * @param inexactBlocks what becomes of quantized blocks that are no exact scheme of the format (GGUF)
 * @param privateTags accepts private layouts and quantization schemes (HRRY)
 * @param permissive accepts element types, layouts and quantization schemes that are not known (HRRY)
 * @param noExactSchemes treats blocks that are a scheme of the format as {@code inexactBlocks} says, too (GGUF)
 */
public record FileOptions(
        FileFormat format,
        AlignmentPolicy alignment,
        long headerLimit,
        FileAccess access,
        InexactBlocks inexactBlocks,
        boolean privateTags,
        boolean permissive,
        boolean noExactSchemes) {
    /** Recognise the format, map, hand over data as it lies, the format's own limit, strict. */
    public static final FileOptions DEFAULT =
            new FileOptions(FileFormat.AUTO, AlignmentPolicy.OFFSET, 0, FileAccess.MAP, InexactBlocks.RAW, false, false, false);

    /** Checks that nothing is null or unknown. */
    public FileOptions {
        if (format == FileFormat.UNKNOWN || access == FileAccess.UNKNOWN || inexactBlocks == InexactBlocks.UNKNOWN) {
            throw Errors.argument("format, access, inexactBlocks: expected values that exist");
        }
        java.util.Objects.requireNonNull(format);
        java.util.Objects.requireNonNull(alignment);
        java.util.Objects.requireNonNull(access);
        java.util.Objects.requireNonNull(inexactBlocks);
    }

    /** The same with another format. */
    public FileOptions withFormat(FileFormat other) {
        return new FileOptions(other, alignment, headerLimit, access, inexactBlocks, privateTags, permissive, noExactSchemes);
    }

    /** The same with another alignment policy. */
    public FileOptions withAlignment(AlignmentPolicy other) {
        return new FileOptions(format, other, headerLimit, access, inexactBlocks, privateTags, permissive, noExactSchemes);
    }

    /** The same with another header limit in bytes. */
    public FileOptions withHeaderLimit(long bytes) {
        return new FileOptions(format, alignment, bytes, access, inexactBlocks, privateTags, permissive, noExactSchemes);
    }

    /** The same with another way to get at the bytes. */
    public FileOptions withAccess(FileAccess other) {
        return new FileOptions(format, alignment, headerLimit, other, inexactBlocks, privateTags, permissive, noExactSchemes);
    }

    /** The same with another treatment of blocks that are no exact scheme of the format. */
    public FileOptions withInexactBlocks(InexactBlocks other) {
        return new FileOptions(format, alignment, headerLimit, access, other, privateTags, permissive, noExactSchemes);
    }

    /** The same, and whether private tags are accepted. */
    public FileOptions withPrivateTags(boolean accepted) {
        return new FileOptions(format, alignment, headerLimit, access, inexactBlocks, accepted, permissive, noExactSchemes);
    }

    /** The same, and whether unknown tags are accepted. */
    public FileOptions withPermissive(boolean accepted) {
        return new FileOptions(format, alignment, headerLimit, access, inexactBlocks, privateTags, accepted, noExactSchemes);
    }

    /** The same, and whether exact schemes are treated as inexact ones. */
    public FileOptions withNoExactSchemes(boolean none) {
        return new FileOptions(format, alignment, headerLimit, access, inexactBlocks, privateTags, permissive, none);
    }

    ByteBuffer write(Scratch scratch) {
        ByteBuffer struct = scratch.sized(Structs.FileOptions.SIZE);
        struct.putInt(Structs.FileOptions.FORMAT, format.value());
        struct.putInt(Structs.FileOptions.ALIGNMENT, alignment.value());
        struct.putInt(Structs.FileOptions.ACCESS, access.value());
        struct.putLong(Structs.FileOptions.HEADER_LIMIT, headerLimit);
        struct.putInt(Structs.FileOptions.INEXACT_BLOCKS, inexactBlocks.value());
        struct.putInt(
                Structs.FileOptions.FLAGS,
                (privateTags ? Abi.FILE_PRIVATE_TAGS : 0)
                        | (permissive ? Abi.FILE_PERMISSIVE : 0)
                        | (noExactSchemes ? Abi.FILE_NO_EXACT_SCHEMES : 0));
        return struct;
    }
}
