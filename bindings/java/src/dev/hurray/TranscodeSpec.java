package dev.hurray;

import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.OptionalLong;

/** The layout that a tensor is wanted in: see {@link Tensor#transcode}. Immutable. */
public final class TranscodeSpec {
    private final int layoutTag;
    private final LayoutFields fields;
    private final long alignment;
    private final OptionalLong sequence;
    private final long[] tokenCounts;

    private TranscodeSpec(int layoutTag, LayoutFields fields, long alignment, OptionalLong sequence, long[] tokenCounts) {
        this.layoutTag = layoutTag;
        this.fields = fields;
        this.alignment = alignment;
        this.sequence = sequence;
        this.tokenCounts = tokenCounts;
    }

    /** That layout, with fields that will do; the strided and the tiled one need theirs. */
    public static TranscodeSpec to(Layout layout) {
        BufferHandle.range("layout", layout.value(), 0xFF);
        return new TranscodeSpec(layout.value(), null, 0, OptionalLong.empty(), null);
    }

    /** The layout of these fields. Of sparse layouts the number of entries does not matter: the elements tell it. */
    public static TranscodeSpec to(LayoutFields fields) {
        return new TranscodeSpec(fields.layoutTag(), fields, 0, OptionalLong.empty(), null);
    }

    /** The same with another alignment of the new buffers: a power of two of at least 64, in bytes; 0 means 64. */
    public TranscodeSpec alignment(long bytes) {
        BufferHandle.range("alignment", bytes, 0xFFFF_FFFFL);
        return new TranscodeSpec(layoutTag, fields, bytes, sequence, tokenCounts);
    }

    /** Of a block-paged tensor this sequence alone; without, all of them, one after the other. */
    public TranscodeSpec sequence(long index) {
        BufferHandle.range("sequence", index, 0xFFFF_FFFFL);
        return new TranscodeSpec(layoutTag, fields, alignment, OptionalLong.of(index), tokenCounts);
    }

    /**
     * Of a block-paged tensor the tokens of each sequence, together those of the shape. The format stores pages only: a tensor of several
     * sequences whose last pages are not full needs them.
     */
    public TranscodeSpec tokenCounts(long... counts) {
        return new TranscodeSpec(layoutTag, fields, alignment, sequence, Objects.requireNonNull(counts).clone());
    }

    /** Writes the struct, without the counts. */
    void write(Scratch scratch) {
        ByteBuffer struct = scratch.sized(Structs.TranscodeSpec.SIZE);
        struct.putInt(Structs.TranscodeSpec.FLAGS, sequence.isPresent() ? Abi.TRANSCODE_SEQUENCE : 0);
        struct.put(Structs.TranscodeSpec.LAYOUT, (byte) layoutTag);
        struct.putInt(Structs.TranscodeSpec.ALIGNMENT, (int) alignment);
        struct.putInt(Structs.TranscodeSpec.SEQUENCE, (int) sequence.orElse(0));
    }

    /** The counts in direct memory; null without any. */
    ByteBuffer newTokenCounts() {
        if (tokenCounts == null) {
            return null;
        }
        ByteBuffer memory = NativeMemory.allocate(8 * tokenCounts.length);
        memory.asLongBuffer().put(tokenCounts);
        return memory;
    }

    /** A builder with the fields, for tensors like this one, in an array of one, which the caller ends; 0 without fields. */
    long[] newFields(Descriptor source, Scratch scratch) {
        long[] builder = new long[1];
        if (fields == null) {
            return builder;
        }
        long[] shape = source.shape();
        scratch.writeArray(0, shape);
        scratch.check(
                Raw.hurray_descriptor_builder_new(
                        source.elementTypeTag(), layoutTag, scratch.array(0), shape.length, builder, scratch.error));
        try {
            LayoutCodec.write(builder[0], layoutTag, fields, scratch);
            return builder;
        } catch (RuntimeException | Error failure) {
            Errors.check(Raw.hurray_descriptor_builder_destroy(builder));
            throw failure;
        }
    }
}
