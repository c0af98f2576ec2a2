package dev.hurray;

import java.util.Objects;

/**
 * How to quantize: see {@link Tensor#quantize}. Immutable.
 *
 * @param scheme the scheme
 * @param storageType type of the stored elements
 * @param scaleType type of the scales; null for the one that the scheme has
 * @param symmetric affine schemes only: all zero points are 0, and steps reach as far down as up
 * @param axis the dimension along which channels or blocks follow one another; 0 for the per-tensor scheme
 * @param blockSize elements of a block along the axis; 0 for schemes without blocks
 * @since C ABI version 4
 */
public record QuantizeSpec(Scheme scheme, ElementType storageType, ElementType scaleType, boolean symmetric, int axis, long blockSize) {
    /** Checks that nothing is unknown or out of its range. */
    public QuantizeSpec {
        if (Objects.requireNonNull(scheme) == Scheme.UNKNOWN
                || Objects.requireNonNull(storageType) == ElementType.UNKNOWN
                || scaleType == ElementType.UNKNOWN) {
            throw Errors.argument("scheme, storageType, scaleType: expected values that exist");
        }
        BufferHandle.range("axis", axis, Descriptor.MAX_RANK);
        BufferHandle.range("blockSize", blockSize, 0xFFFF_FFFFL);
    }

    /** One scale and zero point for all. */
    public static QuantizeSpec perTensor(ElementType storageType) {
        return new QuantizeSpec(Scheme.PER_TENSOR_AFFINE, storageType, null, false, 0, 0);
    }

    /** One scale and zero point for each index of the axis. */
    public static QuantizeSpec perChannel(ElementType storageType, int axis) {
        return new QuantizeSpec(Scheme.PER_CHANNEL_AFFINE, storageType, null, false, axis, 0);
    }

    /** One scale and zero point for each block along the axis. */
    public static QuantizeSpec perBlock(ElementType storageType, int axis, long blockSize) {
        return new QuantizeSpec(Scheme.PER_BLOCK_AFFINE, storageType, null, false, axis, blockSize);
    }

    /** Quantiles of the normal distribution, stored in UINT4. */
    public static QuantizeSpec nf4(int axis, long blockSize) {
        return new QuantizeSpec(Scheme.NF4, ElementType.UINT4, null, false, axis, blockSize);
    }

    /** Small floating-point numbers with an exponent that a block shares. */
    public static QuantizeSpec mxfp(ElementType storageType, int axis, long blockSize) {
        return new QuantizeSpec(Scheme.MXFP, storageType, null, false, axis, blockSize);
    }

    /** The same, and whether all zero points are 0. */
    public QuantizeSpec withSymmetric(boolean wanted) {
        return new QuantizeSpec(scheme, storageType, scaleType, wanted, axis, blockSize);
    }

    /** The same with scales of another type. */
    public QuantizeSpec withScaleType(ElementType type) {
        return new QuantizeSpec(scheme, storageType, type, symmetric, axis, blockSize);
    }

    void write(Scratch scratch) {
        java.nio.ByteBuffer struct = scratch.sized(Structs.QuantizeSpec.SIZE);
        struct.put(Structs.QuantizeSpec.SCHEME, (byte) scheme.value());
        struct.put(Structs.QuantizeSpec.STORAGE_TYPE, (byte) storageType.value());
        struct.put(Structs.QuantizeSpec.SCALE_TYPE, (byte) (scaleType == null ? 0 : scaleType.value()));
        struct.put(Structs.QuantizeSpec.SYMMETRIC, (byte) (symmetric ? 1 : 0));
        struct.putInt(Structs.QuantizeSpec.AXIS, axis);
        struct.putInt(Structs.QuantizeSpec.BLOCK_SIZE, (int) blockSize);
    }
}
