package dev.hurray;

import java.util.concurrent.atomic.AtomicIntegerArray;

/** Sizes of elements and of what they need together. */
final class Elements {
    private static final AtomicIntegerArray BITS = new AtomicIntegerArray(256);

    private Elements() {}

    /** Bits of one element, asked of the library once a type. */
    static int bits(ElementType type) {
        if (type == ElementType.UNKNOWN) {
            throw Errors.argument("elementType: expected one that exists");
        }
        int bits = BITS.get(type.value());
        if (bits == 0) {
            bits = Descriptor.builder(type, Layout.ROW_MAJOR, 0).addBuffer(BufferHandle.host(0)).build().elementBits();
            BITS.set(type.value(), bits);
        }
        return bits;
    }

    /** Product of the sizes. */
    static long count(long... shape) {
        long count = 1;
        for (long size : shape) {
            if (size < 0) {
                throw Errors.argument("shape: expected sizes from 0 up to 2^63-1, got " + Long.toUnsignedString(size));
            }
            if (size == 0) {
                return 0;
            }
        }
        for (long size : shape) {
            try {
                count = Math.multiplyExact(count, size);
            } catch (ArithmeticException overflow) {
                throw Errors.argument("shape: the number of elements exceeds 2^63-1");
            }
        }
        return count;
    }

    /** Bytes of packed elements: 6-bit ones come four to three bytes, others fill the last byte with zeros. */
    static long packedSize(ElementType type, long... shape) {
        long count = count(shape);
        int bits = bits(type);
        try {
            if (bits % 8 == 0) {
                return Math.multiplyExact(count, (long) bits / 8);
            }
            int group = bits == 6 ? 4 : 8 / bits;
            int groupBytes = bits == 6 ? 3 : 1;
            return Math.multiplyExact(count / group + (count % group == 0 ? 0 : 1), (long) groupBytes);
        } catch (ArithmeticException overflow) {
            throw Errors.argument("shape: the elements take more than 2^63-1 bytes");
        }
    }

    /** Checks that a shape has that many elements. */
    static void matching(int length, long[] shape) {
        if (count(shape) != length) {
            throw Errors.argument("values: expected " + count(shape) + " as the shape says, got " + length);
        }
    }

    /** Eight truth values a byte, least significant bit first. */
    static byte[] pack(boolean[] values) {
        byte[] packed = new byte[(int) ((values.length + 7L) / 8)];
        for (int i = 0; i < values.length; ++i) {
            if (values[i]) {
                packed[i >> 3] |= (byte) (1 << (i & 7));
            }
        }
        return packed;
    }
}
