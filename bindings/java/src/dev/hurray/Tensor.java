package dev.hurray;

import java.lang.ref.Reference;
import java.nio.ByteBuffer;

/**
 * A tensor: a {@link Descriptor} and the memory that it describes.
 *
 * <p>Close it when it is no longer needed; the garbage collector is a backup only. ByteBuffers that were handed out stay valid: each
 * owns a share of the memory. One thread uses a tensor at a time; {@link #share()} makes one for another thread.
 */
public final class Tensor extends NativeResource implements TensorItem {
    private static final int FILL_BYTES = 1 << 26;

    private static final class State extends NativeState {
        State(long handle) {
            super(handle);
        }

        @Override
        String kind() {
            return "tensor";
        }

        @Override
        int destroy(long handle) {
            return NativeTensor.destroy(Releases.queue(), handle);
        }

        @Override
        void abandon(long handle) {
            Raw.hurray_tensor_destroy_deferred(new long[] {handle}, null);
        }
    }

    Tensor(long handle) {
        super(new State(handle));
    }

    // --- Making tensors ---------------------------------------------------------------------------------------------------------

    /** Wraps the remaining bytes of a direct buffer: see {@link #wrap(DenseSpec, ByteBuffer, Runnable)}. */
    public static Tensor wrap(DenseSpec spec, ByteBuffer memory) {
        return wrap(spec, memory, null);
    }

    /**
     * Makes a tensor over the remaining bytes of a direct buffer, without copying. The buffer is kept reachable until nobody needs its
     * memory, in whatever language. A read-only buffer makes a read-only tensor.
     *
     * @param spec what lies in the memory
     * @param memory a direct buffer of any alignment; every element must lie in it. Its byte order does not matter: elements are
     *     little-endian
     * @param onRelease run exactly once when nobody needs the memory any more, on a thread of the program: the one that closes the
     *     last user, or one that next makes or closes something after the collector found it; may be null. With {@link
     *     AlignmentPolicy#COPY} and memory that had to be copied it runs before this call returns, and the tensor is row-major
     * @throws HurrayException INVALID_ARGUMENT: no direct buffer; MISALIGNED: under {@link AlignmentPolicy#REQUIRE}; others when the
     *     spec and the memory do not fit. Nothing is kept then, and {@code onRelease} does not run
     */
    public static Tensor wrap(DenseSpec spec, ByteBuffer memory, Runnable onRelease) {
        Library.ready();
        DirectMemory direct = DirectMemory.of(memory);
        return wrap(spec, direct, memory, memory.isReadOnly(), onRelease);
    }

    /** The same over memory at an address that {@code owner} keeps alive. */
    static Tensor wrap(DenseSpec spec, DirectMemory memory, Object owner, boolean readOnly, Runnable onRelease) {
        boolean misaligned = memory.size() != 0 && memory.address() % 64 != 0;
        if (misaligned && spec.alignment() == AlignmentPolicy.REQUIRE) {
            throw new HurrayException(
                    StatusCode.MISALIGNED, "memory: expected a multiple of 64, got address " + Long.toHexString(memory.address()));
        }
        boolean copied = misaligned && spec.alignment() == AlignmentPolicy.COPY;
        Tensor tensor = wrapInPlace(spec, memory, owner, readOnly, copied ? null : onRelease);
        if (!copied) {
            return tensor;
        }
        try (tensor) {
            Tensor copy = tensor.copy(64);
            if (onRelease != null) {
                Releases.run(new Releases.Lent(owner, onRelease));
            }
            return copy;
        }
    }

    private static Tensor wrapInPlace(DenseSpec spec, DirectMemory memory, Object owner, boolean readOnly, Runnable onRelease) {
        long queue = Releases.queue();
        try (Scratch scratch = Scratch.take()) {
            spec.write(scratch, readOnly);
            long handle =
                    NativeTensor.wrap(queue, memory.address(), memory.size(), new Releases.Lent(owner, onRelease), scratch.memory);
            if (handle == 0) {
                throw scratch.failure();
            }
            return new Tensor(handle);
        } finally {
            Reference.reachabilityFence(owner);
        }
    }

    /** Makes a row-major tensor in zeroed, aligned memory of the library; write it through {@link #view()}. */
    public static Tensor allocate(ElementType elementType, long... shape) {
        long size = Elements.packedSize(elementType, shape);
        Descriptor descriptor =
                Descriptor.builder(elementType, Layout.ROW_MAJOR, shape).addBuffer(BufferHandle.host(size)).build();
        try (TensorBuffer memory = TensorBuffer.allocate(size, 64)) {
            return of(descriptor, memory);
        }
    }

    /** Makes a row-major float32 tensor; arrays of the heap can move, so that they are copied. */
    public static Tensor copyOf(float[] values, long... shape) {
        return filled(
                ElementType.FLOAT32, values.length, shape, 4, (window, from, count) -> window.asFloatBuffer().put(values, from, count));
    }

    /** Makes a row-major float64 tensor, copied. */
    public static Tensor copyOf(double[] values, long... shape) {
        return filled(
                ElementType.FLOAT64, values.length, shape, 8, (window, from, count) -> window.asDoubleBuffer().put(values, from, count));
    }

    /** Makes a row-major int64 tensor, copied. */
    public static Tensor copyOf(long[] values, long... shape) {
        return filled(
                ElementType.INT64, values.length, shape, 8, (window, from, count) -> window.asLongBuffer().put(values, from, count));
    }

    /** Makes a row-major int32 tensor, copied. */
    public static Tensor copyOf(int[] values, long... shape) {
        return filled(
                ElementType.INT32, values.length, shape, 4, (window, from, count) -> window.asIntBuffer().put(values, from, count));
    }

    /** Makes a row-major int16 tensor, copied. */
    public static Tensor copyOf(short[] values, long... shape) {
        return filled(
                ElementType.INT16, values.length, shape, 2, (window, from, count) -> window.asShortBuffer().put(values, from, count));
    }

    /** Makes a row-major int8 tensor, copied. */
    public static Tensor copyOf(byte[] values, long... shape) {
        return filled(
                ElementType.INT8, values.length, shape, 1, (window, from, count) -> window.put(values, from, count));
    }

    /** Makes a row-major bool tensor, copied and packed to eight elements a byte, least significant bit first. */
    public static Tensor copyOf(boolean[] values, long... shape) {
        Elements.matching(values.length, shape);
        Tensor tensor = allocate(ElementType.BOOL, shape);
        tensor.view().bytes().put(Elements.pack(values));
        return tensor;
    }

    private interface Filler {
        void put(ByteBuffer window, int from, int count);
    }

    /** A new tensor that is filled window by window: an array can have more bytes than one ByteBuffer holds. */
    private static Tensor filled(ElementType type, int length, long[] shape, int width, Filler filler) {
        Elements.matching(length, shape);
        Tensor tensor = allocate(type, shape);
        TensorView view = tensor.view();
        int step = FILL_BYTES / width;
        for (int from = 0; from < length; from += Math.min(step, length - from)) {
            int count = Math.min(step, length - from);
            filler.put(view.bytes((long) from * width, count * width), from, count);
        }
        return tensor;
    }

    /**
     * Makes a tensor of a descriptor and its buffers.
     *
     * @param list moves into the tensor: it is closed when the call succeeded, and stays the caller's otherwise
     * @throws HurrayException INVALID_LAYOUT: another number of buffers; BUFFER_TOO_SMALL; MISALIGNED; INVALID_TYPE
     */
    public static Tensor of(Descriptor descriptor, BufferList list) {
        Releases.drain();
        try (Scratch scratch = Scratch.take()) {
            long[] descriptorHandle = descriptor.newHandle(scratch);
            try {
                long[] moved = {list.detach()};
                long[] tensor = new long[1];
                int status = Raw.hurray_tensor_new(descriptorHandle[0], moved, tensor, scratch.error);
                if (status != StatusCode.OK.value()) {
                    list.reattach();
                    scratch.check(status);
                }
                list.forget();
                return new Tensor(tensor[0]);
            } finally {
                Errors.check(Raw.hurray_descriptor_destroy(descriptorHandle));
            }
        }
    }

    /** Makes a tensor of a descriptor and shares of its buffers, which stay the caller's. Shares carry no event or stream. */
    public static Tensor of(Descriptor descriptor, TensorBuffer... buffers) {
        try (BufferList list = BufferList.create()) {
            for (TensorBuffer buffer : buffers) {
                TensorBuffer share = buffer.share();
                try {
                    list.push(share);
                } finally {
                    share.close();
                }
            }
            return of(descriptor, list);
        }
    }

    // --- Exchange with other runtimes ---------------------------------------------------------------------------------------------

    /**
     * Takes over a tensor that another runtime exported. The context's version is looked at before anything else of it.
     *
     * @param list closed when the call succeeded; stays the caller's otherwise
     * @param context the same
     * @throws VersionMismatchException the context is of another version of the C ABI, for which the copy of the library that made it does not
     *     vouch
     * @throws HurrayException the descriptor is malformed, or the buffers are not those that it asks for
     */
    public static Tensor importFrom(BufferList list, TensorContext context) {
        return importFrom(list, context, DecodeOptions.DEFAULT);
    }

    /**
     * The same for descriptors that the options accept.
     *
     * @throws VersionMismatchException as {@link #importFrom(BufferList, TensorContext)}
     * @throws HurrayException the same; LIMIT_EXCEEDED: the descriptor is longer than the options allow
     */
    public static Tensor importFrom(BufferList list, TensorContext context, DecodeOptions options) {
        java.util.Objects.requireNonNull(options);
        long queue = Releases.queue();
        long listHandle = list.detach();
        long contextHandle;
        try {
            contextHandle = context.detach();
        } catch (IllegalStateException closed) {
            list.reattach();
            throw closed;
        }
        long handle = 0;
        try (Scratch scratch = Scratch.take()) {
            options.write(scratch);
            handle = NativeTensor.importPair(queue, listHandle, contextHandle, scratch.memory);
            if (handle == 0) {
                HurrayException failure = scratch.failure();
                throw failure.code() == StatusCode.VERSION_MISMATCH && scratch.message().isEmpty()
                        ? TensorContext.mismatch(scratch.memory.getInt(Scratch.ARRAYS))
                        : failure;
            }
        } finally {
            if (handle == 0) {
                list.reattach();
                context.reattach();
            }
        }
        list.forget();
        context.forget();
        return new Tensor(handle);
    }

    /**
     * Exports the tensor as the pair that travels between runtimes. The pair shares the memory; the tensor stays as it is.
     *
     * @throws HurrayException SYNC_MODE_MISMATCH: a buffer has an event or a stream, which shares do not carry: see {@link Handoff}
     */
    public TensorExport export() {
        long handle = acquire();
        try (Scratch scratch = Scratch.take()) {
            long[] list = new long[1];
            long[] context = new long[1];
            scratch.check(Raw.hurray_tensor_export(handle, list, context, scratch.error));
            return new TensorExport(BufferList.fromAddress(list[0]), TensorContext.fromAddress(context[0]));
        } finally {
            release();
        }
    }

    // --- Use ------------------------------------------------------------------------------------------------------------------------

    /** What the tensor is. The descriptor outlives the tensor. */
    @Override
    public Descriptor descriptor() {
        long handle = acquire();
        try {
            return Descriptor.ofTensor(handle);
        } finally {
            release();
        }
    }

    /**
     * Access to the elements of a dense tensor, without copying. The view owns a share of the memory, as every ByteBuffer does that it
     * hands out: they stay valid after {@link #close()}, and the memory stays allocated until they are unreachable.
     *
     * @throws HurrayException UNSUPPORTED: the layout is not dense or the shape is dynamic
     */
    public TensorView view() {
        long handle = acquire();
        try (Scratch scratch = Scratch.take()) {
            ByteBuffer root = NativeTensor.view(handle, scratch.memory);
            if (root == null) {
                scratch.check(scratch.code());
            }
            return new TensorView(scratch, root);
        } finally {
            release();
        }
    }

    /** Number of buffers. */
    public int bufferCount() {
        return descriptor().buffers().size();
    }

    /** A share of one of the tensor's buffers; an event or stream stays with the tensor: see {@link #event} and {@link #stream}. */
    public TensorBuffer buffer(int index) {
        long handle = acquire();
        try {
            return TensorBuffer.shareOf(borrowed(handle, index));
        } finally {
            release();
        }
    }

    /** The event of one of the tensor's buffers: see {@link TensorBuffer#event()}. */
    public DeviceEvent event(int index) {
        long handle = acquire();
        try {
            return BufferSync.event(borrowed(handle, index));
        } finally {
            release();
        }
    }

    /** Gives the event of one of the tensor's buffers back: see {@link TensorBuffer#releaseEvent()}. */
    public void releaseEvent(int index) {
        long handle = acquire();
        try {
            BufferSync.releaseEvent(borrowed(handle, index));
        } finally {
            release();
        }
    }

    /** The stream on which one of the tensor's buffers may be used at once: see {@link TensorBuffer#stream()}. */
    public DeviceStream stream(int index) {
        long handle = acquire();
        try {
            return BufferSync.stream(borrowed(handle, index));
        } finally {
            release();
        }
    }

    private static long borrowed(long tensor, int index) {
        try (Scratch scratch = Scratch.take()) {
            long[] borrowed = new long[1];
            scratch.check(Raw.hurray_tensor_buffer(tensor, index, borrowed, scratch.error));
            return borrowed[0];
        }
    }

    /** A further tensor over the same memory: for another thread, or another owner. */
    public Tensor share() {
        long handle = acquire();
        try (Scratch scratch = Scratch.take()) {
            long[] share = new long[1];
            scratch.check(Raw.hurray_tensor_share(handle, share, scratch.error));
            return new Tensor(share[0]);
        } finally {
            release();
        }
    }

    /**
     * Copies a dense tensor into new memory of the library: row-major, aligned, byte_offset 0.
     *
     * @param alignment a power of two; 0 means 64
     * @throws HurrayException UNSUPPORTED: the layout is not dense, the shape dynamic, or the memory not the host's
     */
    public Tensor copy(int alignment) {
        long handle = acquire();
        try (Scratch scratch = Scratch.take()) {
            long[] copy = new long[1];
            long[] bytes = new long[1];
            scratch.check(Raw.hurray_tensor_copy(handle, alignment, copy, bytes, scratch.error));
            return new Tensor(copy[0]);
        } finally {
            release();
        }
    }

    // --- Single elements ------------------------------------------------------------------------------------------------------------

    /**
     * Reads an element as a number, of any layout with elements, rounded to nearest where float64 cannot hold it. Of a quantized tensor that
     * is the number that is stored: see {@link #elementDequantized}. Many elements are read faster through {@link #view()}, {@link
     * #transcode} and {@link #dequantize}.
     *
     * @param index one value a dimension; of a block-paged tensor three, or four: sequence, token in it, head, element
     * @throws HurrayException INVALID_ARGUMENT: another number of values; INDEX_OUT_OF_BOUNDS; INVALID_TYPE: a pattern that is no element;
     *     INVALID_LAYOUT: a dynamic dimension, index arrays that lead to nowhere; UNSUPPORTED: a complex or private type, a composite head,
     *     memory that the CPU cannot read
     */
    public double elementDouble(long... index) {
        long handle = acquire();
        try {
            return ElementCalls.real(handle, index, Raw::hurray_tensor_element_float64);
        } finally {
            release();
        }
    }

    /** Reads an element as a complex number, of real types with the imaginary part 0: see {@link #elementDouble}. */
    public Complex elementComplex(long... index) {
        long handle = acquire();
        try {
            return ElementCalls.complex(handle, index, Raw::hurray_tensor_element_complex128);
        } finally {
            release();
        }
    }

    /** Reads the bits of an element; all 0 for one of a sparse tensor that is not stored: see {@link #elementDouble}. */
    public ElementBits elementBits(long... index) {
        long handle = acquire();
        try {
            return ElementCalls.bits(handle, index, Raw::hurray_tensor_element_bits);
        } finally {
            release();
        }
    }

    /**
     * Reads the number that a quantized element stands for: see {@link #elementDouble}.
     *
     * @throws HurrayException INVALID_ARGUMENT: not quantized, or another number of values
     */
    public double elementDequantized(long... index) {
        long handle = acquire();
        try {
            return ElementCalls.real(handle, index, Raw::hurray_tensor_element_dequantized);
        } finally {
            release();
        }
    }

    /**
     * Where an element is; empty for one of a sparse tensor that is not stored. Of dense tensors no memory is read, so that it may be
     * anywhere. Fails as {@link #elementDouble} does.
     */
    public java.util.Optional<ElementAddress> elementAddress(long... index) {
        long handle = acquire();
        try {
            return ElementCalls.address(handle, index);
        } finally {
            release();
        }
    }

    // --- Work on all elements -------------------------------------------------------------------------------------------------------

    /** Makes a tensor of the numbers that quantized elements stand for: see {@link #dequantize(ElementType, WorkOptions)}. */
    public Tensor dequantize(ElementType elementType) {
        return dequantize(elementType, WorkOptions.DEFAULT);
    }

    /**
     * Makes a new tensor of the numbers that quantized elements stand for. Sparse and block-paged ones keep their layout, and share all buffers
     * but the values. The unit of progress is elements.
     *
     * @param elementType FLOAT16, BFLOAT16, FLOAT32 or FLOAT64
     * @throws HurrayException INVALID_ARGUMENT: not quantized, another type; UNSUPPORTED: a private scheme, memory that the CPU cannot read;
     *     INVALID_QUANTIZATION: a scale or zero point that the scheme forbids; LIMIT_EXCEEDED; OUT_OF_MEMORY; CANCELLED
     */
    public Tensor dequantize(ElementType elementType, WorkOptions options) {
        long handle = acquire();
        try {
            return Work.dequantized(handle, elementType, options);
        } finally {
            release();
        }
    }

    /** Makes a quantized tensor: see {@link #quantize(QuantizeSpec, WorkOptions)}. */
    public Tensor quantize(QuantizeSpec spec) {
        return quantize(spec, WorkOptions.DEFAULT);
    }

    /**
     * Makes a new quantized tensor of a dense one of floating-point numbers: row-major, with the scales that its numbers need. The unit of
     * progress is elements.
     *
     * @throws HurrayException INVALID_ARGUMENT: a field of the spec, or an element that has no place in it, whose index the message has;
     *     INVALID_TYPE; UNSUPPORTED: not dense, quantized already; LIMIT_EXCEEDED; OUT_OF_MEMORY; CANCELLED
     */
    public Tensor quantize(QuantizeSpec spec, WorkOptions options) {
        long handle = acquire();
        try {
            return Work.quantized(handle, spec, options);
        } finally {
            release();
        }
    }

    /** Makes a tensor with the same elements in another layout: see {@link #transcode(TranscodeSpec, WorkOptions)}. */
    public Tensor transcode(TranscodeSpec spec) {
        return transcode(spec, WorkOptions.DEFAULT);
    }

    /**
     * Makes a new tensor with the same elements, bit for bit, in another layout: dense, sparse (COO, CSR, CSC, CSF) or, as a source only,
     * block-paged. The unit of progress is bytes, elements or entries.
     *
     * @throws HurrayException UNSUPPORTED: a pair of layouts that there is no way between; INVALID_ARGUMENT; INVALID_LAYOUT: fields that the
     *     layout refuses; LIMIT_EXCEEDED; OUT_OF_MEMORY; CANCELLED
     */
    public Tensor transcode(TranscodeSpec spec, WorkOptions options) {
        Descriptor source = descriptor();
        long handle = acquire();
        try {
            return Work.transcoded(handle, source, spec, options);
        } finally {
            release();
        }
    }

    /** Checks the tensor: see {@link #validate(ValidationLevel, WorkOptions)}. */
    public void validate(ValidationLevel level) {
        validate(level, WorkOptions.DEFAULT);
    }

    /**
     * Checks the tensor as far as the level says and throws the first violation: the field, or the buffer and the entry in it, and what was
     * expected. The unit of progress is bytes of the buffers, about.
     *
     * @throws HurrayException those of {@link Descriptor#decode(byte[])} and {@link #of(Descriptor, BufferList)}; INVALID_LAYOUT: index arrays,
     *     unused bits; INVALID_TYPE: a pattern that is no element; INVALID_QUANTIZATION: scales, zero points, padding; CANCELLED
     */
    public void validate(ValidationLevel level, WorkOptions options) {
        long handle = acquire();
        try {
            Work.validate(handle, level, options);
        } finally {
            release();
        }
    }

    /** Works statistics out: see {@link #statistics(int, WorkOptions)}. */
    public Statistics statistics(int mask) {
        return statistics(mask, WorkOptions.DEFAULT);
    }

    /**
     * Works out the statistics that a mask asks for: of quantized elements what they stand for, of sparse tensors with the elements that are
     * not stored. What has no answer is left out of {@link Statistics#computed()}. The unit of progress is bytes of stored elements.
     *
     * @param mask bits such as {@link Statistics#RANGE}
     * @throws HurrayException INVALID_ARGUMENT: other bits; UNSUPPORTED: range or moments of complex numbers and of float128, composite heads,
     *     private layouts; INVALID_TYPE; CANCELLED
     */
    public Statistics statistics(int mask, WorkOptions options) {
        long handle = acquire();
        try {
            return Work.statistics(handle, mask, options);
        } finally {
            release();
        }
    }

    // --- Copies ---------------------------------------------------------------------------------------------------------------------

    /**
     * Copies the tensor, of any layout, into shared memory, which goes through a {@link Channel} without a further copy, as often as it is
     * sent. The copy is read-only.
     *
     * @throws HurrayException UNSUPPORTED: not host memory; OUT_OF_MEMORY; LIMIT_EXCEEDED: no further file descriptor may be opened
     */
    public Tensor copyToShared() {
        Descriptor descriptor = descriptor();
        try (BufferList list = BufferList.create()) {
            for (int i = 0; i < descriptor.buffers().size(); ++i) {
                try (TensorBuffer source = buffer(i);
                        TensorBuffer target = sharedCopy(source, Math.toIntExact(descriptor.buffers().get(i).alignment()))) {
                    list.push(target);
                }
            }
            return of(descriptor, list);
        }
    }

    private static TensorBuffer sharedCopy(TensorBuffer source, int alignment) {
        TensorBuffer.Info info = source.info();
        TensorBuffer target = TensorBuffer.allocateShared(info.byteSize(), alignment);
        try {
            // The prefix is not this tensor's: its place stays, and its bytes are zero.
            long size = info.byteSize() - info.prefix();
            for (long from = 0; from < size; from += FILL_BYTES) {
                int count = (int) Math.min(FILL_BYTES, size - from);
                target.bytes(info.prefix() + from, count).put(source.bytes(from, count));
            }
            target.setReadOnly();
            return target;
        } catch (RuntimeException | Error failure) {
            target.close();
            throw failure;
        }
    }
}
