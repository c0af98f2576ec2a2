package dev.hurray;

/**
 * What a private element type is (format: extension type); fields of floating-point types are 0 for integers. An immutable value.
 *
 * @param bitWidth 1, 2, 4, or a multiple of 8; below 2^32
 * @param isFloat whether it is a floating-point type, and not an integer
 * @param isSigned integers: whether there is a sign
 * @param signBits 0 or 1
 * @param exponentBits bits of the exponent
 * @param mantissaBits bits of the mantissa
 * @param exponentBias bias of the exponent, 0 to 2^32-1
 * @param hasNaN whether the type has NaN
 * @param hasInfinity whether the type has infinities
 * @since C ABI version 4
 */
public record ExtensionType(
        long bitWidth,
        boolean isFloat,
        boolean isSigned,
        int signBits,
        int exponentBits,
        int mantissaBits,
        long exponentBias,
        boolean hasNaN,
        boolean hasInfinity) {
    /**
     * Checks that the numbers fit their fields; whether they make sense together is checked when a descriptor is built.
     *
     * @throws HurrayException INVALID_ARGUMENT: a number is out of its field's range
     */
    public ExtensionType {
        BufferHandle.range("bitWidth", bitWidth, 0xFFFF_FFFFL);
        BufferHandle.range("signBits", signBits, 0xFF);
        BufferHandle.range("exponentBits", exponentBits, 0xFF);
        BufferHandle.range("mantissaBits", mantissaBits, 0xFF);
        BufferHandle.range("exponentBias", exponentBias, 0xFFFF_FFFFL);
    }

    /** An integer of that many bits. */
    public static ExtensionType integer(long bitWidth, boolean isSigned) {
        return new ExtensionType(bitWidth, false, isSigned, 0, 0, 0, 0, false, false);
    }

    /** Elements in a byte; 1 for types of whole bytes. */
    public int packingFactor() {
        return bitWidth > 0 && bitWidth < 8 ? (int) (8 / bitWidth) : 1;
    }
}
