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

    private static final int SECTIONS_ASKED =
            Abi.SECTION_QUANTIZATION | Abi.SECTION_STATISTICS | Abi.SECTION_EXTENSION_TYPE | Abi.SECTION_COMPOSITE_MEMBER;

    // What was decoded or built once passes again; private tags were agreed upon then.
    private static final DecodeOptions AGAIN = new DecodeOptions(true, false, 0xFFFF_FFFFL);

    private final byte[] encoded;
    private final int versionMajor;
    private final int versionMinor;
    private final int flags;
    private final long byteOffset;
    private final long[] strides;
    private final Shard shard;
    private final List<BufferHandle> buffers;
    private final int reading;
    private final byte[] trailing;
    private final LayoutFields layoutFields;
    private final Quantization quantization;
    private final byte[] quantizationPayload;
    private final Statistics statistics;
    private final ExtensionType extensionType;
    private final MemberRole memberRole;

    private Descriptor(long descriptor, byte[] encoded, Scratch scratch) {
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
        reading = scratch.readInt(Structs.DescriptorInfo.READING);
        trailing = LayoutCodec.bytes(scratch, Structs.DescriptorInfo.TRAILING, scratch.readLong(Structs.DescriptorInfo.TRAILING_LENGTH));

        // What follows uses the struct of the scratch for itself. Most descriptors have no such fields, and then nothing more is asked.
        boolean plain = layoutTag == Layout.ROW_MAJOR.value() || layoutTag == Layout.COL_MAJOR.value();
        layoutFields = plain || isUnread() ? null : LayoutCodec.read(descriptor, scratch);
        boolean asked = (flags & SECTIONS_ASKED) != 0;
        SectionCodec.Section section = asked ? SectionCodec.readQuantization(descriptor, scratch) : null;
        quantization = section == null ? null : section.scheme();
        quantizationPayload = section == null ? new byte[0] : section.payload();
        statistics = asked ? SectionCodec.readStatistics(descriptor, scratch) : null;
        extensionType = asked ? SectionCodec.readExtensionType(descriptor, scratch) : null;
        memberRole = asked ? SectionCodec.readMemberRole(descriptor, scratch) : null;
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
        return decode(bytes, DecodeOptions.DEFAULT);
    }

    /**
     * Decodes a descriptor by the options of the caller.
     *
     * @throws HurrayException as {@link #decode(byte[])}; LIMIT_EXCEEDED: it is longer than the options allow
     */
    public static Descriptor decode(byte[] bytes, DecodeOptions options) {
        return decode(ByteBuffer.wrap(bytes), options);
    }

    /**
     * Decodes the descriptor at the buffer's position by the options of the caller.
     *
     * @throws HurrayException as {@link #decode(byte[], DecodeOptions)}
     */
    public static Descriptor decode(ByteBuffer bytes, DecodeOptions options) {
        Library.ready();
        ByteBuffer source = direct(bytes);
        try (Scratch scratch = Scratch.take()) {
            long[] handle = new long[1];
            scratch.check(
                    Raw.hurray_descriptor_decode_options(source, source.remaining(), options.write(scratch), handle, scratch.error));
            return takeOver(handle, scratch);
        } finally {
            java.lang.ref.Reference.reachabilityFence(bytes);
        }
    }

    /**
     * How long the descriptor is that starts at the buffer's position, which stays, in bytes: for readers that take it out of a stream by
     * themselves.
     *
     * @param bytes its first 20 bytes at least; the rest need not be there
     * @throws HurrayException as {@link #decode(byte[])}, for the fixed header
     */
    public static long peekLength(ByteBuffer bytes) {
        Library.ready();
        ByteBuffer source = direct(bytes);
        try (Scratch scratch = Scratch.take()) {
            long[] length = new long[1];
            scratch.check(Raw.hurray_descriptor_peek_length(source, source.remaining(), length, scratch.error));
            return length[0];
        } finally {
            java.lang.ref.Reference.reachabilityFence(bytes);
        }
    }

    private static ByteBuffer direct(ByteBuffer bytes) {
        return bytes.isDirect() ? bytes.slice() : NativeMemory.allocate(bytes.remaining()).put(bytes.duplicate()).flip();
    }

    /** Reads everything of a descriptor handle and ends it. */
    static Descriptor takeOver(long[] handle, Scratch scratch) {
        try {
            return borrowed(handle[0], scratch);
        } finally {
            Errors.check(Raw.hurray_descriptor_destroy(handle));
        }
    }

    /** The descriptor of a tensor handle. */
    static Descriptor ofTensor(long tensor) {
        try (Scratch scratch = Scratch.take()) {
            long[] descriptor = new long[1];
            scratch.check(Raw.hurray_tensor_descriptor(tensor, descriptor, scratch.error));
            return borrowed(descriptor[0], scratch);
        }
    }

    /** Reads everything of a descriptor handle, which stays somebody else's. */
    static Descriptor borrowed(long handle, Scratch scratch) {
        byte[] encoded = NativeDescriptor.read(handle, scratch.memory);
        if (encoded == null) {
            throw scratch.failure();
        }
        return new Descriptor(handle, encoded, scratch);
    }

    /** A native handle of this descriptor, in an array of one, which the caller ends. */
    long[] newHandle(Scratch scratch) {
        long[] handle = new long[1];
        ByteBuffer options = AGAIN.withPermissive(isOpaque()).write(scratch);
        scratch.check(
                Raw.hurray_descriptor_decode_options(NativeMemory.direct(encoded), encoded.length, options, handle, scratch.error));
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

    /** The fields of the layout; empty for row-major and column-major, which have none. */
    public Optional<LayoutFields> layoutFields() {
        return Optional.ofNullable(layoutFields);
    }

    /** How the elements are quantized; empty when they are not. */
    public Optional<Quantization> quantization() {
        return Optional.ofNullable(quantization);
    }

    /** The bytes of the quantization section behind its length, a new array; empty when there is none. */
    public byte[] quantizationPayload() {
        return quantizationPayload.clone();
    }

    /** What the writer said about the values. */
    public Optional<Statistics> statistics() {
        return Optional.ofNullable(statistics);
    }

    /** What the elements are, when their type is a private one. */
    public Optional<ExtensionType> extensionType() {
        return Optional.ofNullable(extensionType);
    }

    /** The role of a member of an overlay. */
    public Optional<MemberRole> memberRole() {
        return Optional.ofNullable(memberRole);
    }

    /** Whether a permissive reader met a tag that it does not know: nobody may touch the data then. */
    public boolean isOpaque() {
        return (reading & Abi.DESCRIPTOR_OPAQUE) != 0;
    }

    /**
     * Whether it is the layout that is not known. There are no layout fields, buffers and sections then, whatever {@link #flags()} says: all
     * of that is in {@link #trailing()}.
     */
    public boolean isUnread() {
        return (reading & Abi.DESCRIPTOR_UNREAD) != 0;
    }

    /** What a later minor version put behind the sections, or what is unread; a new array. It is encoded again as it was. */
    public byte[] trailing() {
        return trailing.clone();
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
        private LayoutFields layoutFields;
        private Quantization quantization;
        private Statistics statistics;
        private ExtensionType extensionType;
        private MemberRole memberRole;
        private boolean privateTags;

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

        /**
         * Sets the fields of the layout; for the strided one {@link #strides} does the same. Fields of another layout than the
         * builder's are refused by {@link #build()} with INVALID_ARGUMENT.
         */
        public Builder layoutFields(LayoutFields fields) {
            layoutFields = java.util.Objects.requireNonNull(fields);
            return this;
        }

        /** Says how the elements are quantized; the buffers with scales and zero points are added as others are. */
        public Builder quantization(Quantization scheme) {
            quantization = java.util.Objects.requireNonNull(scheme);
            return this;
        }

        /** Says something about the values. */
        public Builder statistics(Statistics values) {
            statistics = java.util.Objects.requireNonNull(values);
            return this;
        }

        /** Says what the elements are; the element type is a private one then. */
        public Builder extensionType(ExtensionType type) {
            extensionType = java.util.Objects.requireNonNull(type);
            return this;
        }

        /** Makes the tensor a member of an overlay. */
        public Builder memberRole(MemberRole role) {
            memberRole = java.util.Objects.requireNonNull(role);
            return this;
        }

        /**
         * Accepts private layouts, composition rules, quantization schemes, devices and memory classes, upon which the readers have agreed.
         */
        public Builder allowPrivateTags() {
            privateTags = true;
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
            if (privateTags) {
                scratch.check(Raw.hurray_descriptor_builder_allow_private_tags(builder, scratch.error));
            }
            scratch.check(Raw.hurray_descriptor_builder_set_byte_offset(builder, byteOffset, scratch.error));
            if (layoutFields != null) {
                LayoutCodec.write(builder, layoutTag, layoutFields, scratch);
            }
            fillSections(builder, scratch);
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

        private void fillSections(long builder, Scratch scratch) {
            if (quantization != null) {
                SectionCodec.write(builder, quantization, scratch);
            }
            if (statistics != null) {
                SectionCodec.write(builder, statistics, scratch);
            }
            if (extensionType != null) {
                SectionCodec.write(builder, extensionType, scratch);
            }
            if (memberRole != null) {
                SectionCodec.write(builder, memberRole, scratch);
            }
        }
    }
}
