package dev.hurray.conformance;

import dev.hurray.ElementType;
import dev.hurray.Float16;
import dev.hurray.TensorView;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.nio.ShortBuffer;
import java.util.zip.CRC32;

/** CRC-32 of the elements in row-major order of their indices, and the float64 sum of their values in the same order. */
final class ElementDigest {
    private static final int BLOCK = 1 << 24;
    private static final float[] HALVES = new float[1 << 16];

    static {
        for (int bits = 0; bits < HALVES.length; ++bits) {
            HALVES[bits] = Float16.fromBits((short) bits);
        }
    }

    private final TensorView view;
    private final CRC32 crc = new CRC32();
    private double sum;
    private boolean summable = true;
    private long bytes;

    // The window that the last scattered element came from.
    private ByteBuffer window;
    private long windowStart;

    private ElementDigest(TensorView view) {
        this.view = view;
    }

    static ElementDigest of(TensorView view) {
        ElementDigest digest = new ElementDigest(view);
        if (view.elementType() == ElementType.BOOL && view.isContiguous()) {
            digest.contiguousBits();
        } else if (view.elementBits() % 8 != 0) {
            digest.packed();
        } else if (view.isContiguous()) {
            digest.contiguous();
        } else {
            digest.scattered();
        }
        return digest;
    }

    /** Element bytes that went into the checksum. */
    long bytes() {
        return bytes;
    }

    String crc32() {
        return String.format("%08x", crc.getValue());
    }

    /** The sum; null when the type has no plain values or the sum is not finite. */
    Double sum() {
        return summable && Double.isFinite(sum) ? sum : null;
    }

    /** Its IEEE bits; null when the type has no plain values. */
    String sumBits() {
        return summable ? String.format("%016x", Double.doubleToLongBits(sum)) : null;
    }

    // --- Elements of whole bytes ------------------------------------------------------------------------------------------------------

    private void contiguous() {
        long size = view.elementCount() * (view.elementBits() / 8);
        add(ByteBuffer.allocate(0));
        for (long offset = 0; offset < size; offset += BLOCK) {
            add(view.bytes(offset, (int) Math.min(BLOCK, size - offset)));
        }
    }

    private void scattered() {
        int width = view.elementBits() / 8;
        ByteBuffer block = ByteBuffer.allocate((1 << 16) / width * width).order(ByteOrder.LITTLE_ENDIAN);
        add(ByteBuffer.allocate(0));
        forEachPosition(
                position -> {
                    ByteBuffer from = around(position * width, width);
                    int at = (int) (position * width - windowStart);
                    for (int i = 0; i < width; ++i) {
                        block.put(from.get(at + i));
                    }
                    if (!block.hasRemaining()) {
                        add(block.flip());
                        block.clear();
                    }
                });
        add(block.flip());
    }

    private ByteBuffer around(long offset, int width) {
        if (window == null || offset < windowStart || offset + width > windowStart + window.capacity()) {
            windowStart = offset / BLOCK * BLOCK;
            window = view.bytes(windowStart, (int) Math.min(view.byteSize() - windowStart, BLOCK + 16L));
        }
        return window;
    }

    private interface PositionVisitor {
        void visit(long position);
    }

    /** Positions, in elements from the lowest byte, in row-major order of the indices. */
    private void forEachPosition(PositionVisitor visitor) {
        if (view.elementCount() == 0) {
            return;
        }
        long[] shape = view.shape();
        long[] strides = view.strides();
        long[] index = new long[shape.length];
        long position = view.bytesBelow() * 8 / view.elementBits();
        for (long n = view.elementCount(); n > 0; --n) {
            visitor.visit(position);
            for (int k = shape.length - 1; k >= 0; --k) {
                position += strides[k];
                if (++index[k] < shape[k]) {
                    break;
                }
                position -= strides[k] * shape[k];
                index[k] = 0;
            }
        }
    }

    private void add(ByteBuffer block) {
        block.order(ByteOrder.LITTLE_ENDIAN);
        bytes += block.remaining();
        sum = summed(block.duplicate().order(ByteOrder.LITTLE_ENDIAN), sum);
        crc.update(block);
    }

    private double summed(ByteBuffer block, double start) {
        double total = start;
        switch (view.elementType()) {
            case FLOAT32:
                for (FloatBuffer values = block.asFloatBuffer(); values.hasRemaining(); ) {
                    total += values.get();
                }
                break;
            case FLOAT64:
                for (DoubleBuffer values = block.asDoubleBuffer(); values.hasRemaining(); ) {
                    total += values.get();
                }
                break;
            case FLOAT16:
                for (ShortBuffer values = block.asShortBuffer(); values.hasRemaining(); ) {
                    total += HALVES[values.get() & 0xFFFF];
                }
                break;
            case BFLOAT16:
                for (ShortBuffer values = block.asShortBuffer(); values.hasRemaining(); ) {
                    total += Float16.fromBfloat16Bits(values.get());
                }
                break;
            case INT8:
                while (block.hasRemaining()) {
                    total += block.get();
                }
                break;
            case UINT8:
                while (block.hasRemaining()) {
                    total += block.get() & 0xFF;
                }
                break;
            case INT16:
                for (ShortBuffer values = block.asShortBuffer(); values.hasRemaining(); ) {
                    total += values.get();
                }
                break;
            case UINT16:
                for (ShortBuffer values = block.asShortBuffer(); values.hasRemaining(); ) {
                    total += values.get() & 0xFFFF;
                }
                break;
            case INT32:
                for (IntBuffer values = block.asIntBuffer(); values.hasRemaining(); ) {
                    total += values.get();
                }
                break;
            case UINT32:
                for (IntBuffer values = block.asIntBuffer(); values.hasRemaining(); ) {
                    total += values.get() & 0xFFFF_FFFFL;
                }
                break;
            case INT64:
                for (LongBuffer values = block.asLongBuffer(); values.hasRemaining(); ) {
                    total += values.get();
                }
                break;
            case UINT64:
                for (LongBuffer values = block.asLongBuffer(); values.hasRemaining(); ) {
                    total += unsigned(values.get());
                }
                break;
            default:
                summable = false;
        }
        return total;
    }

    private static double unsigned(long bits) {
        // Halved with the lost bit kept, so that rounding sees it.
        return bits >= 0 ? bits : (double) (bits >>> 1 | bits & 1) * 2;
    }

    // --- Elements smaller than a byte -----------------------------------------------------------------------------------------------------

    /** Truth values that lie packed as the checksum wants them, except for what follows the last one in its byte. */
    private void contiguousBits() {
        long count = view.elementCount();
        long size = (count + 7) / 8;
        // Ones are few enough to be counted exactly, in whatever order they are added.
        long ones = 0;
        for (long offset = 0; offset < size; offset += BLOCK) {
            byte[] block = new byte[(int) Math.min(BLOCK, size - offset)];
            view.bytes(offset, block.length).get(block);
            if (offset + block.length == size && count % 8 != 0) {
                block[block.length - 1] &= (byte) ((1 << count % 8) - 1);
            }
            for (byte eight : block) {
                ones += Integer.bitCount(eight & 0xFF);
            }
            crc.update(block);
            bytes += block.length;
        }
        sum = ones;
    }

    /** Packs the elements anew in row-major order, bit by bit. */
    private void packed() {
        int bits = view.elementBits();
        summable = view.elementType() == ElementType.BOOL;
        Packer packer = new Packer();
        forEachPosition(
                position -> {
                    long from = position * bits;
                    for (int b = 0; b < bits; ++b, ++from) {
                        ByteBuffer bytesAround = around(from >> 3, 1);
                        int bit = bytesAround.get((int) ((from >> 3) - windowStart)) >> (from & 7) & 1;
                        packer.add(bit);
                    }
                });
        packer.end(bits == 6 ? (view.elementCount() + 3) / 4 * 3 : (view.elementCount() * bits + 7) / 8);
        sum = packer.ones;
    }

    private final class Packer {
        private final byte[] block = new byte[1 << 16];
        private long position;
        private double ones;

        void add(int bit) {
            int at = (int) (position >> 3 & block.length - 1);
            block[at] |= (byte) (bit << (position & 7));
            // Ones are few enough to be counted exactly, in whatever order they are added.
            ones += bit;
            if (++position % (8L * block.length) == 0) {
                flush(block.length);
            }
        }

        private void flush(int length) {
            crc.update(block, 0, length);
            bytes += length;
            java.util.Arrays.fill(block, (byte) 0);
        }

        /** Adds what is left, and zeros up to the size of the whole. */
        void end(long size) {
            flush((int) (size - bytes));
        }
    }
}
