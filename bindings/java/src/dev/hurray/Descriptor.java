package dev.hurray;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * What a tensor is: element type, layout, shape and buffers (format: tensor descriptor). An immutable value: nothing to close, and any
 * thread may use it. Always valid: it was decoded or built, and checked.
 */
public final class Descriptor extends TensorFacts {
    /** A dimension whose size is not known (dynamic). */
    public static final long DYNAMIC = Abi.DIMENSION_DYNAMIC;

    /** The largest rank. */
    public static final int MAX_RANK = Abi.MAX_RANK;

    private final byte[] encoded;
    private final int versionMajor;
    private final int versionMinor;
    private final int flags;
    private final long byteOffset;
    private final long[] strides;
    private final Shard shard;
    private final List<BufferHandle> buffers;

    private Descriptor(byte[] encoded, Scratch scratch) {
        super(
                scratch.readByte(Structs.DescriptorInfo.ELEMENT_TYPE),
                scratch.readByte(Structs.DescriptorInfo.LAYOUT),
                scratch.readInt(Structs.DescriptorInfo.BITS),
                scratch.readArray(0, scratch.readInt(Structs.DescriptorInfo.RANK)),
                scratch.readLong(Structs.DescriptorInfo.ELEMENT_COUNT));
        this.encoded = encoded;
        versionMajor = scratch.readByte(Structs.DescriptorInfo.VERSION_MAJOR);
        versionMinor = scratch.readByte(Structs.DescriptorInfo.VERSION_MINOR);
        flags = scratch.readInt(Structs.DescriptorInfo.FLAGS);
        byteOffset = scratch.readLong(Structs.DescriptorInfo.BYTE_OFFSET);
        boolean strided = scratch.readLong(Structs.DescriptorInfo.STRIDES) != 0;
        strides = strided ? scratch.readArray(1, shape.length) : null;
        boolean sharded = scratch.readLong(Structs.DescriptorInfo.PARENT_SHAPE) != 0;
        shard = sharded ? new Shard(scratch.readArray(2, shape.length), scratch.readArray(3, shape.length)) : null;
        List<BufferHandle> table = new ArrayList<>();
        for (int i = 0; i < scratch.readInt(Structs.DescriptorInfo.BUFFER_COUNT); ++i) {
            table.add(scratch.readHandle(i));
        }
        buffers = List.copyOf(table);
    }

    /**
     * Decodes and fully validates a descriptor. Bytes behind its end are not looked at: see {@link #encodedLength()}.
     *
     * @throws HurrayException with the place of the fault in {@link HurrayException#byteOffset()}
     */
    public static Descriptor decode(byte[] bytes) {
        return decode(ByteBuffer.wrap(bytes));
    }

    /**
     * Decodes and fully validates the descriptor at the buffer's position, which stays. A direct buffer is read where it is, others
     * are copied.
     *
     * @throws HurrayException with the place of the fault, counted from the position, in {@link HurrayException#byteOffset()}
     */
    public static Descriptor decode(ByteBuffer bytes) {
        Library.ready();
        ByteBuffer source = bytes.isDirect() ? bytes.slice() : NativeMemory.allocate(bytes.remaining()).put(bytes.duplicate()).flip();
        try (Scratch scratch = Scratch.take()) {
            long[] handle = new long[1];
            scratch.check(Raw.hurray_descriptor_decode(source, source.remaining(), handle, scratch.error));
            return takeOver(handle, scratch);
        } finally {
            java.lang.ref.Reference.reachabilityFence(bytes);
        }
    }

    /** Reads everything of a descriptor handle and ends it. */
    private static Descriptor takeOver(long[] handle, Scratch scratch) {
        try {
            byte[] encoded = NativeDescriptor.read(handle[0], scratch.memory);
            if (encoded == null) {
                throw scratch.failure();
            }
            return new Descriptor(encoded, scratch);
        } finally {
            Errors.check(Raw.hurray_descriptor_destroy(handle));
        }
    }

    /** The descriptor of a tensor handle. */
    static Descriptor ofTensor(long tensor) {
        try (Scratch scratch = Scratch.take()) {
            byte[] encoded = NativeDescriptor.ofTensor(tensor, scratch.memory);
            if (encoded == null) {
                throw scratch.failure();
            }
            return new Descriptor(encoded, scratch);
        }
    }

    /** A native handle of this descriptor, in an array of one, which the caller ends. */
    long[] newHandle(Scratch scratch) {
        long[] handle = new long[1];
        scratch.check(Raw.hurray_descriptor_decode(NativeMemory.direct(encoded), encoded.length, handle, scratch.error));
        return handle;
    }

    /** The encoded form, a new array. */
    public byte[] encode() {
        return encoded.clone();
    }

    /** Length of the encoded form in bytes. */
    public int encodedLength() {
        return encoded.length;
    }

    /** Major version of the format. */
    public int versionMajor() {
        return versionMajor;
    }

    /** Minor version of the format. */
    public int versionMinor() {
        return versionMinor;
    }

    /** Flag bits of the fixed header. */
    public int flags() {
        return flags;
    }

    /** Strides in elements, of the strided layout only. */
    public Optional<long[]> strides() {
        return strides == null ? Optional.empty() : Optional.of(strides.clone());
    }

    /** Offset of the first element in buffer 0, in bytes. */
    public long byteOffset() {
        return byteOffset;
    }

    /** The buffer table. */
    public List<BufferHandle> buffers() {
        return buffers;
    }

    /** Place in a larger tensor, when it is a part of one. */
    public Optional<Shard> shard() {
        return Optional.ofNullable(shard);
    }

    /** Whether both have the same encoded form. */
    @Override
    public boolean equals(Object other) {
        return other instanceof Descriptor that && Arrays.equals(encoded, that.encoded);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(encoded);
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder("Descriptor[").append(elementType()).append(' ').append(layout()).append(" [");
        for (int i = 0; i < shape.length; ++i) {
            text.append(i == 0 ? "" : ", ").append(shape[i] == DYNAMIC ? "?" : Long.toUnsignedString(shape[i]));
        }
        return text.append("]]").toString();
    }

    /** Starts a descriptor. */
    public static Builder builder(ElementType elementType, Layout layout, long... shape) {
        return new Builder(elementType.value(), layout.value(), shape);
    }

    /** Starts a descriptor with tags as numbers, which may be private ones. */
    public static Builder builder(int elementTypeTag, int layoutTag, long... shape) {
        return new Builder(elementTypeTag, layoutTag, shape);
    }

    /** Collects the fields of a descriptor; {@link #build()} checks them. */
    public static final class Builder {
        private final int elementTypeTag;
        private final int layoutTag;
        private final long[] shape;
        private final List<BufferHandle> buffers = new ArrayList<>();
        private long byteOffset;
        private long[] strides;
        private long[] parentShape;
        private long[] shardOffset;

        private Builder(int elementTypeTag, int layoutTag, long[] shape) {
            this.elementTypeTag = tag("elementType", elementTypeTag);
            this.layoutTag = tag("layout", layoutTag);
            this.shape = dimensions("shape", shape);
        }

        private static int tag(String field, int value) {
            if (value < 0 || value > 0xFF) {
                throw Errors.argument(field + ": expected a tag from 0 to 255, got " + value);
            }
            return value;
        }

        private static long[] dimensions(String field, long[] values) {
            if (values.length > MAX_RANK) {
                throw Errors.argument(field + ": expected a rank of at most " + MAX_RANK + ", got " + values.length);
            }
            return values.clone();
        }

        private void sameRank(String field, long[] values) {
            if (values.length != shape.length) {
                throw Errors.argument(field + ": expected " + shape.length + " values as in the shape, got " + values.length);
            }
        }

        /** Sets the offset of the first element in buffer 0, in bytes. */
        public Builder byteOffset(long bytes) {
            byteOffset = bytes;
            return this;
        }

        /** Sets the strides of the strided layout, in elements; zero and negative ones are legal. */
        public Builder strides(long... elements) {
            sameRank("strides", elements);
            strides = elements.clone();
            return this;
        }

        /** Makes the tensor a part of a larger one. */
        public Builder shard(long[] parentShape, long[] offset) {
            sameRank("parentShape", parentShape);
            sameRank("offset", offset);
            this.parentShape = parentShape.clone();
            this.shardOffset = offset.clone();
            return this;
        }

        /** Appends an entry to the buffer table. */
        public Builder addBuffer(BufferHandle handle) {
            buffers.add(java.util.Objects.requireNonNull(handle));
            return this;
        }

        /**
         * Checks what was collected and makes the descriptor. The builder may be used again.
         *
         * @throws HurrayException as {@link Descriptor#decode(byte[])}
         */
        public Descriptor build() {
            Library.ready();
            try (Scratch scratch = Scratch.take()) {
                long[] builder = new long[1];
                scratch.writeArray(0, shape);
                scratch.check(
                        Raw.hurray_descriptor_builder_new(
                                elementTypeTag, layoutTag, scratch.array(0), shape.length, builder, scratch.error));
                try {
                    fill(builder[0], scratch);
                    long[] descriptor = new long[1];
                    scratch.check(Raw.hurray_descriptor_builder_build(builder[0], descriptor, scratch.error));
                    return takeOver(descriptor, scratch);
                } finally {
                    Errors.check(Raw.hurray_descriptor_builder_destroy(builder));
                }
            }
        }

        private void fill(long builder, Scratch scratch) {
            scratch.check(Raw.hurray_descriptor_builder_set_byte_offset(builder, byteOffset, scratch.error));
            if (strides != null) {
                scratch.writeArray(1, strides);
                scratch.check(Raw.hurray_descriptor_builder_set_strides(builder, scratch.array(1), shape.length, scratch.error));
            }
            if (parentShape != null) {
                scratch.writeArray(2, parentShape);
                scratch.writeArray(3, shardOffset);
                scratch.check(
                        Raw.hurray_descriptor_builder_set_shard(
                                builder, scratch.array(2), scratch.array(3), shape.length, scratch.error));
            }
            for (BufferHandle buffer : buffers) {
                buffer.write(scratch.memory, Scratch.STRUCT);
                scratch.check(Raw.hurray_descriptor_builder_add_buffer(builder, scratch.struct, scratch.error));
            }
        }
    }
}
