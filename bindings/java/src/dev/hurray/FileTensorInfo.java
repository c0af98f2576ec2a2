package dev.hurray;

import java.nio.charset.StandardCharsets;

/** One tensor of a model file, without its data. */
public final class FileTensorInfo {
    private final byte[] name;
    private final int elementTypeTag;
    private final int layoutTag;
    private final int elementBits;
    private final long[] shape;
    private final long fileOffset;
    private final long byteSize;
    private final int schemeTag;
    private final String storedType;

    FileTensorInfo(Scratch scratch, byte[] name, long[] shape) {
        schemeTag = scratch.readByte(Structs.FileTensorInfo.SCHEME);
        storedType = MetadataCodec.text(scratch, Structs.FileTensorInfo.STORED_TYPE, Structs.FileTensorInfo.STORED_TYPE_LENGTH);
        this.name = name;
        this.shape = shape;
        elementTypeTag = scratch.readByte(Structs.FileTensorInfo.ELEMENT_TYPE);
        layoutTag = scratch.readByte(Structs.FileTensorInfo.LAYOUT);
        elementBits = scratch.readInt(Structs.FileTensorInfo.BITS);
        fileOffset = scratch.readLong(Structs.FileTensorInfo.FILE_OFFSET);
        byteSize = scratch.readLong(Structs.FileTensorInfo.BYTE_SIZE);
    }

    /** The name; it may hold NUL characters. */
    public String name() {
        return new String(name, StandardCharsets.UTF_8);
    }

    /** The name in UTF-8, as the file has it; a new array. */
    public byte[] nameBytes() {
        return name.clone();
    }

    /** The element type. */
    public ElementType elementType() {
        return ElementType.of(elementTypeTag);
    }

    /** The layout. */
    public Layout layout() {
        return Layout.of(layoutTag);
    }

    /** The quantization scheme; empty without one, and {@link Scheme#UNKNOWN} for a private one. */
    public java.util.Optional<Scheme> scheme() {
        return schemeTag == 0 ? java.util.Optional.empty() : java.util.Optional.of(Scheme.of(schemeTag));
    }

    /** The number of the quantization scheme; 0 without one. */
    public int schemeTag() {
        return schemeTag;
    }

    /** The format's own word for the type, such as F32, Q4_K or &lt;f4; empty for HRRY. */
    public String storedType() {
        return storedType;
    }

    /** Bits of one element, as the tensor will have them. */
    public int elementBits() {
        return elementBits;
    }

    /** Sizes in elements; a new array. */
    public long[] shape() {
        return shape.clone();
    }

    /** Where the data starts in the file, in bytes. */
    public long fileOffset() {
        return fileOffset;
    }

    /** Bytes that the data takes in the file, padding between buffers included; compressed data as it lies there. */
    public long byteSize() {
        return byteSize;
    }

    @Override
    public String toString() {
        return name() + ": " + elementType() + " " + java.util.Arrays.toString(shape);
    }
}
