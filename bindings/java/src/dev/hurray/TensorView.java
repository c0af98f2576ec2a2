package dev.hurray;

import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.nio.ShortBuffer;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The elements of a dense tensor, without copying. A view owns a share of the memory: it stays valid after the tensor is closed, and
 * the memory stays allocated until the view and all of its ByteBuffers are unreachable. Any thread may read through it.
 *
 * <p>Positions in the ByteBuffers count from the lowest byte that an element reaches, which with negative strides is not element (0,
 * ..., 0): {@link #position(long...)} tells where an element lies.
 */
public final class TensorView extends TensorFacts {
    private static final int CHUNK_SHIFT = 30;

    private final int deviceTag;
    private final int flags;
    private final long[] strides;
    private final long byteSize;
    private final long bytesBelow;
    private final long lowest;

    // The first 2^31-1 bytes, and the share that lives as long as they do.
    private final ByteBuffer root;
    private final MemoryShare share;
    // Windows on the rest, made when needed; each overlaps the next by an element.
    private final AtomicReferenceArray<ByteBuffer> chunks;

    TensorView(Scratch scratch, ByteBuffer root) {
        super(
                scratch.readByte(Structs.View.ELEMENT_TYPE),
                scratch.readByte(Structs.View.LAYOUT),
                scratch.readInt(Structs.View.BITS),
                scratch.readArray(0, scratch.readByte(Structs.View.RANK)),
                scratch.readLong(Structs.View.ELEMENT_COUNT));
        deviceTag = scratch.readByte(Structs.View.DEVICE);
        flags = scratch.readInt(Structs.View.FLAGS);
        byteSize = scratch.readLong(Structs.View.BYTE_SIZE);
        bytesBelow = scratch.readLong(Structs.View.BYTES_BELOW);
        lowest = scratch.readLong(Structs.View.DATA) - bytesBelow;
        strides = scratch.readLong(Structs.View.STRIDES) != 0 ? scratch.readArray(1, shape.length) : contiguousStrides(shape);
        if (root != null) {
            this.share = MemoryShare.attach(root, scratch.share());
            this.root = root.order(ByteOrder.LITTLE_ENDIAN);
        } else {
            this.share = null;
            this.root = deviceTag == Device.CPU.value() ? ByteBuffer.allocateDirect(0).order(ByteOrder.LITTLE_ENDIAN) : null;
        }
        long count = byteSize > Integer.MAX_VALUE ? (byteSize - 1 >>> CHUNK_SHIFT) + 1 : 0;
        chunks = new AtomicReferenceArray<>((int) Math.min(count, Integer.MAX_VALUE - 8));
    }

    private static long[] contiguousStrides(long[] shape) {
        long[] strides = new long[shape.length];
        long step = 1;
        for (int k = shape.length - 1; k >= 0; --k) {
            strides[k] = step;
            // Without elements no stride is ever used, and sizes may be anything.
            step *= Math.max(1, shape[k]);
        }
        return strides;
    }

    // --- Facts ----------------------------------------------------------------------------------------------------------------------

    /** The device whose memory it is; {@link Device#UNKNOWN} for a private one. */
    public Device device() {
        return Device.of(deviceTag);
    }

    /** Strides in elements, also those that the layout implies; a new array. */
    public long[] strides() {
        return strides.clone();
    }

    /** Bytes from the lowest to the end of the highest element. */
    public long byteSize() {
        return byteSize;
    }

    /** How many of these bytes lie below element (0, ..., 0); not 0 only with negative strides. */
    public long bytesBelow() {
        return bytesBelow;
    }

    /**
     * Where element (0, ..., 0) lies in memory, for native code; the address is good as long as this view, or a ByteBuffer of it, is reachable.
     * 0 without memory.
     */
    public long address() {
        return byteSize == 0 ? 0 : lowest + bytesBelow;
    }

    /** Whether the memory must not be written: its ByteBuffers are read-only. */
    public boolean isReadOnly() {
        return (flags & Abi.VIEW_READ_ONLY) != 0;
    }

    /** Whether the elements follow one another in row-major order without gaps. */
    public boolean isContiguous() {
        return (flags & Abi.VIEW_CONTIGUOUS) != 0;
    }

    /** Whether elements are smaller than a byte and packed, least significant bit first. */
    public boolean isPacked() {
        return (flags & Abi.VIEW_PACKED) != 0;
    }

    /** Whether the tensor is quantized: elements are the stored values, to which {@link Descriptor#quantization()} is not applied. */
    public boolean isQuantized() {
        return (flags & Abi.VIEW_QUANTIZED) != 0;
    }

    // --- Buffers ----------------------------------------------------------------------------------------------------------------------

    /**
     * All bytes, little-endian; read-only when the memory is.
     *
     * @throws HurrayException LIMIT_EXCEEDED: more than 2^31-1 bytes (see {@link #bytes(long, int)}); UNSUPPORTED: memory of a device
     */
    public ByteBuffer bytes() {
        requireHost();
        if (byteSize > Integer.MAX_VALUE) {
            throw new HurrayException(
                    StatusCode.LIMIT_EXCEEDED, "view: " + byteSize + " bytes are more than one ByteBuffer holds; take windows of it");
        }
        return Windows.present(root, isReadOnly());
    }

    /**
     * A window on the bytes, of tensors of any size.
     *
     * @param offset first byte, counted from the lowest
     * @param length how many bytes
     * @throws HurrayException INDEX_OUT_OF_BOUNDS: not within {@link #byteSize()}; UNSUPPORTED: memory of a device
     */
    public ByteBuffer bytes(long offset, int length) {
        requireHost();
        if (offset < 0 || length < 0 || offset > byteSize || length > byteSize - offset) {
            throw new HurrayException(
                    StatusCode.INDEX_OUT_OF_BOUNDS,
                    "offset " + offset + " and length " + length + ": expected a range within " + byteSize + " bytes");
        }
        if (offset + length <= root.capacity()) {
            return Windows.present(root.slice((int) offset, length), isReadOnly());
        }
        return Windows.present(open(offset, length), isReadOnly());
    }

    private ByteBuffer open(long offset, int length) {
        long buffer = share.acquire();
        try (Scratch scratch = Scratch.take()) {
            return Windows.open(buffer, lowest + offset, length, scratch);
        } finally {
            share.release();
            // The share ends when nobody reaches the root.
            Reference.reachabilityFence(root);
        }
    }

    private void requireHost() {
        if (root == null) {
            throw new HurrayException(StatusCode.UNSUPPORTED, "view: expected host memory, got device " + deviceTag);
        }
    }

    private ByteBuffer typed(String what, ElementType... accepted) {
        for (ElementType type : accepted) {
            if (type.value() == elementTypeTag) {
                return bytes();
            }
        }
        throw new HurrayException(StatusCode.INVALID_TYPE, "view: " + elementType() + " elements are no " + what);
    }

    /** The elements of a float32 tensor in the order of memory; see {@link #position(long...)}. */
    public FloatBuffer floats() {
        return typed("floats", ElementType.FLOAT32).asFloatBuffer();
    }

    /** The elements of a float64 tensor in the order of memory. */
    public DoubleBuffer doubles() {
        return typed("doubles", ElementType.FLOAT64).asDoubleBuffer();
    }

    /** The elements of an int64 or uint64 tensor in the order of memory. */
    public LongBuffer longs() {
        return typed("longs", ElementType.INT64, ElementType.UINT64).asLongBuffer();
    }

    /** The elements of an int32 or uint32 tensor in the order of memory. */
    public IntBuffer ints() {
        return typed("ints", ElementType.INT32, ElementType.UINT32).asIntBuffer();
    }

    /** The elements of an int16, uint16, float16 or bfloat16 tensor (see {@link Float16}) in the order of memory. */
    public ShortBuffer shorts() {
        return typed("shorts", ElementType.INT16, ElementType.UINT16, ElementType.FLOAT16, ElementType.BFLOAT16).asShortBuffer();
    }

    // --- Elements -----------------------------------------------------------------------------------------------------------------------

    /**
     * Where an element lies, in elements from the lowest byte.
     *
     * @throws HurrayException INDEX_OUT_OF_BOUNDS: the index has another rank or is not within the shape
     */
    public long position(long... index) {
        if (index.length != shape.length) {
            throw new HurrayException(
                    StatusCode.INDEX_OUT_OF_BOUNDS, "index: expected " + shape.length + " numbers, got " + index.length);
        }
        long position = bytesBelow * 8 / bits;
        for (int k = 0; k < index.length; ++k) {
            if (index[k] < 0 || index[k] >= shape[k]) {
                throw new HurrayException(
                        StatusCode.INDEX_OUT_OF_BOUNDS,
                        "index[" + k + "]: expected 0 to " + (shape[k] - 1) + ", got " + index[k]);
            }
            position += index[k] * strides[k];
        }
        return position;
    }

    /** The buffer in which `size` bytes at `offset` lie. */
    private ByteBuffer around(long offset, int size) {
        requireHost();
        if (offset + size <= root.capacity()) {
            return root;
        }
        int chunk = (int) (offset >>> CHUNK_SHIFT);
        ByteBuffer window = chunks.get(chunk);
        if (window == null) {
            long start = (long) chunk << CHUNK_SHIFT;
            window = open(start, (int) Math.min(byteSize - start, (1L << CHUNK_SHIFT) + 8)).order(ByteOrder.LITTLE_ENDIAN);
            chunks.set(chunk, window);
        }
        return window;
    }

    private int local(ByteBuffer window, long offset) {
        return (int) (window == root ? offset : offset & (1L << CHUNK_SHIFT) - 1);
    }

    /**
     * An element as a double: rounded when it is an integer beyond 2^53, 0 or 1 for a truth value.
     *
     * @throws HurrayException INVALID_TYPE: no number of up to 64 bits of tier 1
     */
    public double getDouble(long... index) {
        ElementType type = elementType();
        long position = position(index);
        switch (type) {
            case FLOAT32:
                return Float.intBitsToFloat((int) word(position, 4));
            case FLOAT64:
                return Double.longBitsToDouble(word(position, 8));
            case FLOAT16:
                return Float16.fromBits((short) word(position, 2));
            case BFLOAT16:
                return Float16.fromBfloat16Bits((short) word(position, 2));
            case UINT64:
                return unsignedToDouble(word(position, 8));
            default:
                return integer(type, position);
        }
    }

    /**
     * An element as a long: the bits of an unsigned one, 0 or 1 for a truth value.
     *
     * @throws HurrayException INVALID_TYPE: no integer or truth value of tier 1
     */
    public long getLong(long... index) {
        return integer(elementType(), position(index));
    }

    /**
     * An element of a bool tensor.
     *
     * @throws HurrayException INVALID_TYPE: not a bool tensor
     */
    public boolean getBoolean(long... index) {
        if (elementType() != ElementType.BOOL) {
            throw new HurrayException(StatusCode.INVALID_TYPE, "view: " + elementType() + " elements are no truth values");
        }
        return bit(position(index)) != 0;
    }

    private long integer(ElementType type, long position) {
        switch (type) {
            case BOOL:
                return bit(position);
            case INT8:
                return (byte) word(position, 1);
            case UINT8:
                return word(position, 1) & 0xFF;
            case INT16:
                return (short) word(position, 2);
            case UINT16:
                return word(position, 2) & 0xFFFF;
            case INT32:
                return (int) word(position, 4);
            case UINT32:
                return word(position, 4) & 0xFFFF_FFFFL;
            case INT64:
            case UINT64:
                return word(position, 8);
            default:
                throw new HurrayException(StatusCode.INVALID_TYPE, "view: " + type + " elements are no numbers of Java");
        }
    }

    private long word(long position, int size) {
        long offset = position * size;
        ByteBuffer window = around(offset, size);
        int at = local(window, offset);
        switch (size) {
            case 1:
                return window.get(at);
            case 2:
                return window.getShort(at);
            case 4:
                return window.getInt(at);
            default:
                return window.getLong(at);
        }
    }

    private long bit(long position) {
        long offset = position >> 3;
        ByteBuffer window = around(offset, 1);
        return window.get(local(window, offset)) >> (position & 7) & 1;
    }

    private static double unsignedToDouble(long bits) {
        if (bits >= 0) {
            return bits;
        }
        // Halved with the lost bit kept, so that rounding sees it.
        return (double) (bits >>> 1 | bits & 1) * 2;
    }
}
