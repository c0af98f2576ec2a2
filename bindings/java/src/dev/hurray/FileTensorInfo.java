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

    FileTensorInfo(Scratch scratch, byte[] name, long[] shape) {
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

    /** Bytes that the data takes in the file. */
    public long byteSize() {
        return byteSize;
    }

    @Override
    public String toString() {
        return name() + ": " + elementType() + " " + java.util.Arrays.toString(shape);
    }
}
