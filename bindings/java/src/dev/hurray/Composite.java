package dev.hurray;

import java.util.List;

/**
 * Several tensors that are one (format: composite): shards of a larger one, a base and its corrections, or a group. Shares the memory of its
 * members, which may be composites themselves. Members that were given out live on after {@link #close()}.
 */
public final class Composite extends NativeResource implements TensorItem {
    private static final class State extends NativeState {
        State(long handle) {
            super(handle);
        }

        @Override
        String kind() {
            return "composite";
        }

        @Override
        int destroy(long handle) {
            int status = Raw.hurray_composite_destroy(new long[] {handle});
            Releases.drain();
            return status;
        }

        @Override
        void abandon(long handle) {
            Raw.hurray_composite_destroy_deferred(new long[] {handle}, null);
        }
    }

    Composite(long handle) {
        super(new State(handle));
    }

    /**
     * Puts a head and its members together. The members stay the caller's, and may be closed at once.
     *
     * @param head of layout {@link Layout#COMPOSITE}, with {@link LayoutFields.Composite}
     * @throws HurrayException INVALID_ARGUMENT: the head is none; INVALID_COMPOSITE: members that do not fit it, which the message names: their
     *     number, shapes, types, sections, or shards that leave gaps or overlap
     */
    public static Composite of(Descriptor head, TensorItem... members) {
        return of(head, List.of(members));
    }

    /** The same with a list. */
    public static Composite of(Descriptor head, List<? extends TensorItem> members) {
        Releases.drain();
        try (Scratch scratch = Scratch.take()) {
            long[] builder = new long[1];
            long[] descriptor = head.newHandle(scratch);
            try {
                scratch.check(Raw.hurray_composite_builder_new(descriptor[0], builder, scratch.error));
                for (TensorItem member : members) {
                    add(builder[0], member, scratch);
                }
                long[] composite = new long[1];
                scratch.check(Raw.hurray_composite_builder_build(builder[0], composite, scratch.error));
                return new Composite(composite[0]);
            } finally {
                Errors.check(Raw.hurray_composite_builder_destroy(builder));
                Errors.check(Raw.hurray_descriptor_destroy(descriptor));
            }
        }
    }

    private static void add(long builder, TensorItem member, Scratch scratch) {
        NativeResource resource = (NativeResource) member;
        long handle = resource.acquire();
        try {
            scratch.check(
                    member instanceof Tensor
                            ? Raw.hurray_composite_builder_add_tensor(builder, handle, scratch.error)
                            : Raw.hurray_composite_builder_add_composite(builder, handle, scratch.error));
        } finally {
            resource.release();
        }
    }

    /** Facts about it. */
    public CompositeInfo info() {
        long handle = acquire();
        try (Scratch scratch = Scratch.take()) {
            scratch.check(Raw.hurray_composite_info(handle, scratch.sized(Structs.CompositeInfo.SIZE), scratch.error));
            return new CompositeInfo(
                    LayoutCodec.unsigned(scratch, Structs.CompositeInfo.MEMBER_COUNT),
                    scratch.readLong(Structs.CompositeInfo.DESCRIPTOR_COUNT),
                    scratch.readInt(Structs.CompositeInfo.DEPTH),
                    scratch.readByte(Structs.CompositeInfo.COMPOSITION_RULE),
                    scratch.readByte(Structs.CompositeInfo.COMBINE_OP),
                    scratch.readByte(Structs.CompositeInfo.HAS_ELEMENTS) != 0);
        } finally {
            release();
        }
    }

    /** The head: shape and type of the whole. It outlives the composite. */
    @Override
    public Descriptor descriptor() {
        long handle = acquire();
        try (Scratch scratch = Scratch.take()) {
            long[] head = new long[1];
            scratch.check(Raw.hurray_composite_head(handle, head, scratch.error));
            return Descriptor.borrowed(head[0], scratch);
        } finally {
            release();
        }
    }

    /**
     * A member: a new object over the same memory, which the caller closes.
     *
     * @param index below {@link CompositeInfo#memberCount()}
     * @throws HurrayException INDEX_OUT_OF_BOUNDS
     */
    public TensorItem member(long index) {
        if (index < 0 || index > 0xFFFF_FFFFL) {
            throw new HurrayException(StatusCode.INDEX_OUT_OF_BOUNDS, "index: expected one from 0 to 2^32-1, got " + index);
        }
        long handle = acquire();
        try (Scratch scratch = Scratch.take()) {
            long[] tensor = new long[1];
            long[] composite = new long[1];
            scratch.check(Raw.hurray_composite_member(handle, (int) index, tensor, composite, scratch.error));
            return item(tensor[0], composite[0]);
        } finally {
            release();
        }
    }

    /** The one of both that there is; null when there is none. */
    static TensorItem item(long tensor, long composite) {
        if (composite != 0) {
            return new Composite(composite);
        }
        return tensor == 0 ? null : new Tensor(tensor);
    }

    /**
     * The member of a partition that an element lies in; no data is touched.
     *
     * @throws HurrayException INVALID_ARGUMENT: not one value a dimension; INDEX_OUT_OF_BOUNDS; UNSUPPORTED: no partition
     */
    public long memberAt(long... index) {
        long handle = acquire();
        try {
            return Integer.toUnsignedLong(ElementCalls.number(handle, index, Raw::hurray_composite_member_at));
        } finally {
            release();
        }
    }

    /**
     * Reads an element of a partition or an overlay: that of the member in which it lies, dequantized where that is quantized; of overlays the
     * last correction that has it, or the sum of all.
     *
     * @param index one value a dimension
     * @throws HurrayException INVALID_ARGUMENT: not one value a dimension; INDEX_OUT_OF_BOUNDS; UNSUPPORTED: a group, a private rule, a complex
     *     type, memory that the CPU cannot read
     */
    public double elementDouble(long... index) {
        long handle = acquire();
        try {
            return ElementCalls.real(handle, index, Raw::hurray_composite_element_float64);
        } finally {
            release();
        }
    }

    /** Reads an element as a complex number: see {@link #elementDouble}. */
    public Complex elementComplex(long... index) {
        long handle = acquire();
        try {
            return ElementCalls.complex(handle, index, Raw::hurray_composite_element_complex128);
        } finally {
            release();
        }
    }

    /** Reads an element as bits of the head's type: see {@link #elementDouble}. */
    public ElementBits elementBits(long... index) {
        long handle = acquire();
        try {
            return ElementCalls.bits(handle, index, Raw::hurray_composite_element_bits);
        } finally {
            release();
        }
    }

    /** Copies all elements of a partition or an overlay into one tensor: see {@link #merged(WorkOptions)}. */
    public Tensor merged() {
        return merged(WorkOptions.DEFAULT);
    }

    /**
     * Copies all elements of a partition or an overlay into one new tensor of the head's shape and type, row-major. Quantized members are
     * dequantized, corrections applied in their order. The unit of progress is bytes put in place.
     *
     * @throws HurrayException UNSUPPORTED: a group, a private rule, an opaque member, memory that the CPU cannot read; INVALID_LAYOUT: index
     *     arrays that break a rule; LIMIT_EXCEEDED; OUT_OF_MEMORY; CANCELLED
     */
    public Tensor merged(WorkOptions options) {
        long handle = acquire();
        try {
            return Work.tensor(options, (limit, progress, scratch) -> NativeWork.merged(handle, limit, progress, scratch.memory));
        } finally {
            release();
        }
    }
}
