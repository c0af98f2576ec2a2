package dev.hurray;

/** Conversions of the 16-bit floating-point types, whose elements are shorts to Java. */
public final class Float16 {
    private Float16() {}

    /** IEEE binary16 bits as a float; exact. */
    public static float fromBits(short bits) {
        int sign = (bits & 0x8000) << 16;
        int exponent = (bits >> 10) & 0x1F;
        int mantissa = bits & 0x3FF;
        if (exponent == 0x1F) {
            return Float.intBitsToFloat(sign | 0x7F80_0000 | mantissa << 13);
        }
        if (exponent == 0) {
            // Subnormal: a multiple of 2^-24.
            float magnitude = mantissa * 0x1p-24f;
            return Float.intBitsToFloat(sign | Float.floatToRawIntBits(magnitude));
        }
        return Float.intBitsToFloat(sign | (exponent + 112) << 23 | mantissa << 13);
    }

    /** bfloat16 bits as a float; exact. */
    public static float fromBfloat16Bits(short bits) {
        return Float.intBitsToFloat(bits << 16);
    }

    /** The binary16 nearest to a float, ties to even, as its bits. A NaN keeps the upper bits of its payload and stays one. */
    public static short toBits(float value) {
        int bits = Float.floatToRawIntBits(value);
        int sign = bits >>> 16 & 0x8000;
        int magnitude = bits & 0x7FFF_FFFF;
        if (magnitude > 0x7F80_0000) {
            return (short) (sign | 0x7C00 | Math.max(1, magnitude >>> 13 & 0x3FF));
        }
        if (magnitude >= 0x4780_0000) {
            return (short) (sign | 0x7C00);
        }
        if (magnitude < 0x3880_0000) {
            // Below 2^-14: a multiple of 2^-24, by the rounding of the float addition itself.
            float shifted = Float.intBitsToFloat(magnitude) + 0x1p-1f;
            return (short) (sign | Float.floatToRawIntBits(shifted) - Float.floatToRawIntBits(0x1p-1f));
        }
        int rounded = magnitude + 0xFFF + (magnitude >>> 13 & 1);
        return (short) (sign | rounded - (112 << 23) >>> 13);
    }

    /** The bfloat16 nearest to a float, ties to even, as its bits. A NaN keeps the upper bits of its payload and stays one. */
    public static short toBfloat16Bits(float value) {
        int bits = Float.floatToRawIntBits(value);
        if ((bits & 0x7FFF_FFFF) > 0x7F80_0000) {
            int upper = bits >>> 16;
            return (short) ((upper & 0x7F) == 0 ? upper | 1 : upper);
        }
        return (short) (bits + 0x7FFF + (bits >>> 16 & 1) >>> 16);
    }
}
