package dev.hurray;

import java.nio.ByteBuffer;

/**
 * What a reader of descriptors accepts. Immutable; start with {@link #DEFAULT}, a strict reader.
 *
 * @param privateTags accepts private layouts, composition rules, quantization schemes, devices and memory classes, upon which writer and
 *     reader have agreed
 * @param permissive accepts element types, layouts and quantization schemes that are not known: the descriptor is opaque then, see {@link
 *     Descriptor#isOpaque()}
 * @param maxLength longest descriptor accepted, in bytes, below 2^32; 0 means 16 MiB
 * @since C ABI version 4
 */
public record DecodeOptions(boolean privateTags, boolean permissive, long maxLength) {
    /** Nothing private, nothing unknown, and at most 16 MiB. */
    public static final DecodeOptions DEFAULT = new DecodeOptions(false, false, 0);

    /** The same, and whether private tags are accepted. */
    public DecodeOptions withPrivateTags(boolean accepted) {
        return new DecodeOptions(accepted, permissive, maxLength);
    }

    /** The same, and whether unknown tags are accepted. */
    public DecodeOptions withPermissive(boolean accepted) {
        return new DecodeOptions(privateTags, accepted, maxLength);
    }

    /** The same with another limit, in bytes. */
    public DecodeOptions withMaxLength(long bytes) {
        return new DecodeOptions(privateTags, permissive, bytes);
    }

    ByteBuffer write(Scratch scratch) {
        ByteBuffer struct = scratch.sized(Structs.DecodeOptions.SIZE);
        struct.putInt(
                Structs.DecodeOptions.FLAGS, (privateTags ? Abi.DECODE_PRIVATE_TAGS : 0) | (permissive ? Abi.DECODE_PERMISSIVE : 0));
        struct.putLong(Structs.DecodeOptions.MAX_LENGTH, maxLength);
        return struct;
    }
}
