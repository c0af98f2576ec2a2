package dev.hurray;

import java.util.Objects;

/**
 * How to open a model file. Immutable; start with {@link #DEFAULT}.
 *
 * @param format {@link FileFormat#AUTO} recognises it by content
 * @param alignment what becomes of data that is not aligned to 64 bytes: OFFSET hands it over as it lies, COPY copies it (counted in
 *     {@link FileInfo#copiedBytes}), REQUIRE refuses it
 * @param headerLimit longest header accepted, in bytes; 0 means 100,000,000
 */
public record FileOptions(FileFormat format, AlignmentPolicy alignment, long headerLimit) {
    /** Recognise the format, hand over data as it lies, headers up to 100,000,000 bytes. */
    public static final FileOptions DEFAULT = new FileOptions(FileFormat.AUTO, AlignmentPolicy.OFFSET, 0);

    /** Checks that nothing is null or unknown. */
    public FileOptions {
        Objects.requireNonNull(format);
        Objects.requireNonNull(alignment);
        if (format == FileFormat.UNKNOWN) {
            throw Errors.argument("format: expected one that exists");
        }
    }

    /** The same with another format. */
    public FileOptions withFormat(FileFormat other) {
        return new FileOptions(other, alignment, headerLimit);
    }

    /** The same with another alignment policy. */
    public FileOptions withAlignment(AlignmentPolicy other) {
        return new FileOptions(format, other, headerLimit);
    }

    /** The same with another header limit in bytes. */
    public FileOptions withHeaderLimit(long bytes) {
        return new FileOptions(format, alignment, bytes);
    }
}
