package dev.hurray;

import java.util.Arrays;

/**
 * Describes a dense tensor over memory of the program. Immutable.
 *
 * <p>Sizes are in elements. The memory may have any alignment: see {@link #alignment(AlignmentPolicy)}.
 */
public final class DenseSpec {
    private final ElementType elementType;
    private final Layout layout;
    private final long[] shape;
    private final long[] strides;
    private final long byteOffset;
    private final boolean readOnly;
    private final AlignmentPolicy alignment;

    private DenseSpec(
            ElementType elementType,
            Layout layout,
            long[] shape,
            long[] strides,
            long byteOffset,
            boolean readOnly,
            AlignmentPolicy alignment) {
        if (elementType == ElementType.UNKNOWN || layout == Layout.UNKNOWN) {
            throw Errors.argument("elementType and layout: expected ones that exist");
        }
        if (shape.length > Descriptor.MAX_RANK) {
            throw Errors.argument("shape: expected a rank of at most " + Descriptor.MAX_RANK + ", got " + shape.length);
        }
        if (strides != null && strides.length != shape.length) {
            throw Errors.argument("strides: expected " + shape.length + " values as in the shape, got " + strides.length);
        }
        this.elementType = elementType;
        this.layout = layout;
        this.shape = shape.clone();
        this.strides = strides == null ? null : strides.clone();
        this.byteOffset = byteOffset;
        this.readOnly = readOnly;
        this.alignment = alignment;
    }

    /** The last dimension is contiguous. */
    public static DenseSpec rowMajor(ElementType elementType, long... shape) {
        return new DenseSpec(elementType, Layout.ROW_MAJOR, shape, null, 0, false, AlignmentPolicy.OFFSET);
    }

    /** The first dimension is contiguous. */
    public static DenseSpec columnMajor(ElementType elementType, long... shape) {
        return new DenseSpec(elementType, Layout.COL_MAJOR, shape, null, 0, false, AlignmentPolicy.OFFSET);
    }

    /** Explicit strides, in elements; zero and negative ones are legal. */
    public static DenseSpec strided(ElementType elementType, long[] shape, long[] strides) {
        return new DenseSpec(elementType, Layout.STRIDED, shape, strides, 0, false, AlignmentPolicy.OFFSET);
    }

    /** The same with element (0, ..., 0) that many bytes after the start of the memory. */
    public DenseSpec byteOffset(long bytes) {
        return new DenseSpec(elementType, layout, shape, strides, bytes, readOnly, alignment);
    }

    /** The same with memory that must not be written. */
    public DenseSpec readOnly() {
        return new DenseSpec(elementType, layout, shape, strides, byteOffset, true, alignment);
    }

    /**
     * The same with another answer to memory that does not start at a multiple of 64 bytes: hand it over as it lies (OFFSET, the
     * default), copy it into aligned memory (COPY), or refuse it (REQUIRE).
     */
    public DenseSpec alignment(AlignmentPolicy policy) {
        return new DenseSpec(elementType, layout, shape, strides, byteOffset, readOnly, policy);
    }

    AlignmentPolicy alignment() {
        return alignment;
    }

    /** Writes the struct and its arrays as {@link NativeTensor#wrap} wants them. */
    void write(Scratch scratch, boolean memoryReadOnly) {
        scratch.sized(Structs.DenseSpec.SIZE);
        scratch.memory.put(Scratch.STRUCT + Structs.DenseSpec.ELEMENT_TYPE, (byte) elementType.value());
        scratch.memory.put(Scratch.STRUCT + Structs.DenseSpec.LAYOUT, (byte) layout.value());
        scratch.memory.put(Scratch.STRUCT + Structs.DenseSpec.READ_ONLY, (byte) (readOnly || memoryReadOnly ? 1 : 0));
        scratch.memory.putInt(Scratch.STRUCT + Structs.DenseSpec.RANK, shape.length);
        scratch.memory.putLong(Scratch.STRUCT + Structs.DenseSpec.BYTE_OFFSET, byteOffset);
        scratch.writeArray(0, shape);
        if (strides != null) {
            scratch.writeArray(1, strides);
        }
    }

    @Override
    public String toString() {
        return "DenseSpec[" + elementType + " " + layout + " " + Arrays.toString(shape) + "]";
    }
}
