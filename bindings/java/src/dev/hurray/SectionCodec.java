package dev.hurray;

import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.util.OptionalInt;

/** Sections, out of descriptors and into builders. Uses the struct of the scratch. */
final class SectionCodec {
    private SectionCodec() {}

    /** The quantization section and its bytes behind the length. */
    record Section(Quantization scheme, byte[] payload) {}

    /** Copies the quantization section; null when there is none. */
    static Section readQuantization(long descriptor, Scratch scratch) {
        scratch.check(Raw.hurray_descriptor_quantization(descriptor, scratch.sized(Structs.Quantization.SIZE), scratch.error));
        if (scratch.readByte(Structs.Quantization.PRESENT) == 0) {
            return null;
        }
        return new Section(
                readScheme(scratch),
                LayoutCodec.bytes(scratch, Structs.Quantization.PAYLOAD, scratch.readLong(Structs.Quantization.PAYLOAD_LENGTH)));
    }

    private static Quantization readScheme(Scratch scratch) {
        int tag = scratch.readByte(Structs.Quantization.SCHEME);
        int axis = scratch.readInt(Structs.Quantization.AXIS);
        long blockSize = LayoutCodec.unsigned(scratch, Structs.Quantization.BLOCK_SIZE);
        int scales = scratch.readInt(Structs.Quantization.SCALE_BUFFER);
        int zeroPointBuffer = scratch.readInt(Structs.Quantization.ZERO_POINT_BUFFER);
        OptionalInt zeroPoints = zeroPointBuffer == Abi.NO_BUFFER ? OptionalInt.empty() : OptionalInt.of(zeroPointBuffer);
        ElementType scaleType = ElementType.of(scratch.readByte(Structs.Quantization.SCALE_TYPE));
        long padding = LayoutCodec.unsigned(scratch, Structs.Quantization.PADDING);
        return switch (Scheme.of(tag)) {
            case PER_TENSOR_AFFINE ->
                    new Quantization.PerTensorAffine(
                            Float.intBitsToFloat(scratch.readInt(Structs.Quantization.SCALE)),
                            scratch.readInt(Structs.Quantization.ZERO_POINT),
                            padding);
            case PER_CHANNEL_AFFINE -> new Quantization.PerChannelAffine(axis, scales, zeroPoints, scaleType, padding);
            case PER_BLOCK_AFFINE -> new Quantization.PerBlockAffine(axis, blockSize, scales, zeroPoints, scaleType, padding);
            case NF4 -> new Quantization.Nf4(axis, blockSize, scales, padding);
            case MXFP -> new Quantization.Mxfp(axis, blockSize, scales, padding);
            case UNKNOWN ->
                    new Quantization.PrivateScheme(
                            tag,
                            scratch.readByte(Structs.Quantization.VERSION),
                            scratch.readInt(Structs.Quantization.FLAGS) & 0xFFFF,
                            LayoutCodec.bytes(
                                    scratch, Structs.Quantization.PRIVATE_DATA, scratch.readLong(Structs.Quantization.PRIVATE_LENGTH)));
        };
    }

    static Statistics readStatistics(long descriptor, Scratch scratch) {
        scratch.check(Raw.hurray_descriptor_statistics(descriptor, scratch.sized(Structs.Statistics.SIZE), scratch.error));
        return scratch.readByte(Structs.Statistics.PRESENT) == 0 ? null : statistics(scratch);
    }

    /** The statistics in the struct of the scratch. */
    static Statistics statistics(Scratch scratch) {
        return new Statistics(
                scratch.readInt(Structs.Statistics.COMPUTED_MASK),
                scratch.readLong(Structs.Statistics.NNZ),
                real(scratch, Structs.Statistics.SPARSITY_RATIO),
                real(scratch, Structs.Statistics.VALUE_MIN),
                real(scratch, Structs.Statistics.VALUE_MAX),
                real(scratch, Structs.Statistics.VALUE_ABS_MAX),
                real(scratch, Structs.Statistics.VALUE_MEAN),
                real(scratch, Structs.Statistics.VALUE_STDDEV),
                scratch.readByte(Structs.Statistics.NM_N),
                scratch.readByte(Structs.Statistics.NM_M),
                scratch.readByte(Structs.Statistics.HAS_NAN) != 0,
                scratch.readByte(Structs.Statistics.HAS_INF) != 0);
    }

    static ExtensionType readExtensionType(long descriptor, Scratch scratch) {
        scratch.check(Raw.hurray_descriptor_extension_type(descriptor, scratch.sized(Structs.ExtensionType.SIZE), scratch.error));
        if (scratch.readByte(Structs.ExtensionType.PRESENT) == 0) {
            return null;
        }
        return new ExtensionType(
                LayoutCodec.unsigned(scratch, Structs.ExtensionType.BIT_WIDTH),
                scratch.readByte(Structs.ExtensionType.IS_FLOAT) != 0,
                scratch.readByte(Structs.ExtensionType.IS_SIGNED) != 0,
                scratch.readByte(Structs.ExtensionType.SIGN_BITS),
                scratch.readByte(Structs.ExtensionType.EXPONENT_BITS),
                scratch.readByte(Structs.ExtensionType.MANTISSA_BITS),
                LayoutCodec.unsigned(scratch, Structs.ExtensionType.EXPONENT_BIAS),
                scratch.readByte(Structs.ExtensionType.HAS_NAN) != 0,
                scratch.readByte(Structs.ExtensionType.HAS_INF) != 0);
    }

    static MemberRole readMemberRole(long descriptor, Scratch scratch) {
        scratch.check(Raw.hurray_descriptor_composite_member(descriptor, scratch.sized(Structs.CompositeMember.SIZE), scratch.error));
        return scratch.readByte(Structs.CompositeMember.PRESENT) == 0
                ? null
                : MemberRole.of(scratch.readByte(Structs.CompositeMember.MEMBER_ROLE));
    }

    static void write(long builder, Quantization scheme, Scratch scratch) {
        BufferHandle.range("padding", scheme.padding(), 0xFFFF_FFFFL);
        ByteBuffer struct = scratch.sized(Structs.Quantization.SIZE);
        struct.put(Structs.Quantization.PRESENT, (byte) 1);
        struct.put(Structs.Quantization.SCHEME, (byte) scheme.schemeTag());
        struct.put(Structs.Quantization.VERSION, (byte) scheme.version());
        struct.putInt(Structs.Quantization.PADDING, (int) scheme.padding());
        struct.putInt(Structs.Quantization.SCALE_BUFFER, Abi.NO_BUFFER);
        struct.putInt(Structs.Quantization.ZERO_POINT_BUFFER, Abi.NO_BUFFER);
        ByteBuffer data = null;
        if (scheme instanceof Quantization.PerTensorAffine s) {
            struct.putInt(Structs.Quantization.SCALE, Float.floatToRawIntBits(s.scale()));
            struct.putInt(Structs.Quantization.ZERO_POINT, s.zeroPoint());
        } else if (scheme instanceof Quantization.PerChannelAffine s) {
            struct.putInt(Structs.Quantization.AXIS, s.axis());
            putParameters(struct, s.scaleBuffer(), s.zeroPointBuffer(), s.scaleType());
        } else if (scheme instanceof Quantization.PerBlockAffine s) {
            putBlocks(struct, s.axis(), s.blockSize(), s.scaleBuffer());
            putParameters(struct, s.scaleBuffer(), s.zeroPointBuffer(), s.scaleType());
        } else if (scheme instanceof Quantization.Nf4 s) {
            putBlocks(struct, s.axis(), s.blockSize(), s.scaleBuffer());
        } else if (scheme instanceof Quantization.Mxfp s) {
            putBlocks(struct, s.axis(), s.blockSize(), s.scaleBuffer());
        } else if (scheme instanceof Quantization.PrivateScheme s) {
            struct.putShort(Structs.Quantization.FLAGS, (short) s.flags());
            data = LayoutCodec.pointTo(struct, Structs.Quantization.PRIVATE_DATA, s.data());
            struct.putLong(Structs.Quantization.PRIVATE_LENGTH, data.capacity());
        }
        scratch.check(Raw.hurray_descriptor_builder_set_quantization(builder, struct, scratch.error));
        Reference.reachabilityFence(data);
    }

    private static void putParameters(ByteBuffer struct, int scales, OptionalInt zeroPoints, ElementType scaleType) {
        BufferHandle.range("scaleType", scaleType.value(), 0xFF);
        struct.putShort(Structs.Quantization.FLAGS, (short) (zeroPoints.isPresent() ? 0 : Abi.QUANTIZATION_SYMMETRIC));
        struct.putInt(Structs.Quantization.SCALE_BUFFER, scales);
        struct.putInt(Structs.Quantization.ZERO_POINT_BUFFER, zeroPoints.orElse(Abi.NO_BUFFER));
        struct.put(Structs.Quantization.SCALE_TYPE, (byte) scaleType.value());
    }

    private static void putBlocks(ByteBuffer struct, int axis, long blockSize, int scales) {
        BufferHandle.range("blockSize", blockSize, 0xFFFF_FFFFL);
        struct.putInt(Structs.Quantization.AXIS, axis);
        struct.putInt(Structs.Quantization.BLOCK_SIZE, (int) blockSize);
        struct.putInt(Structs.Quantization.SCALE_BUFFER, scales);
    }

    static void write(long builder, Statistics statistics, Scratch scratch) {
        ByteBuffer struct = scratch.sized(Structs.Statistics.SIZE);
        struct.put(Structs.Statistics.PRESENT, (byte) 1);
        struct.putInt(Structs.Statistics.COMPUTED_MASK, statistics.computed());
        struct.putLong(Structs.Statistics.NNZ, statistics.nnz());
        put(struct, Structs.Statistics.SPARSITY_RATIO, statistics.sparsityRatio());
        put(struct, Structs.Statistics.VALUE_MIN, statistics.min());
        put(struct, Structs.Statistics.VALUE_MAX, statistics.max());
        put(struct, Structs.Statistics.VALUE_ABS_MAX, statistics.absMax());
        put(struct, Structs.Statistics.VALUE_MEAN, statistics.mean());
        put(struct, Structs.Statistics.VALUE_STDDEV, statistics.stdDev());
        struct.put(Structs.Statistics.NM_N, (byte) statistics.nmN());
        struct.put(Structs.Statistics.NM_M, (byte) statistics.nmM());
        put(struct, Structs.Statistics.HAS_NAN, statistics.hasNaN());
        put(struct, Structs.Statistics.HAS_INF, statistics.hasInfinity());
        scratch.check(Raw.hurray_descriptor_builder_set_statistics(builder, struct, scratch.error));
    }

    static void write(long builder, ExtensionType type, Scratch scratch) {
        ByteBuffer struct = scratch.sized(Structs.ExtensionType.SIZE);
        struct.put(Structs.ExtensionType.PRESENT, (byte) 1);
        struct.putInt(Structs.ExtensionType.BIT_WIDTH, (int) type.bitWidth());
        struct.put(Structs.ExtensionType.PACKING_FACTOR, (byte) type.packingFactor());
        put(struct, Structs.ExtensionType.IS_FLOAT, type.isFloat());
        put(struct, Structs.ExtensionType.IS_SIGNED, type.isSigned());
        struct.put(Structs.ExtensionType.SIGN_BITS, (byte) type.signBits());
        struct.put(Structs.ExtensionType.EXPONENT_BITS, (byte) type.exponentBits());
        struct.put(Structs.ExtensionType.MANTISSA_BITS, (byte) type.mantissaBits());
        struct.putInt(Structs.ExtensionType.EXPONENT_BIAS, (int) type.exponentBias());
        put(struct, Structs.ExtensionType.HAS_NAN, type.hasNaN());
        put(struct, Structs.ExtensionType.HAS_INF, type.hasInfinity());
        scratch.check(Raw.hurray_descriptor_builder_set_extension_type(builder, struct, scratch.error));
    }

    static void write(long builder, MemberRole role, Scratch scratch) {
        BufferHandle.range("memberRole", role.value(), 0xFF);
        ByteBuffer struct = scratch.sized(Structs.CompositeMember.SIZE);
        struct.put(Structs.CompositeMember.PRESENT, (byte) 1);
        struct.put(Structs.CompositeMember.MEMBER_ROLE, (byte) role.value());
        scratch.check(Raw.hurray_descriptor_builder_set_composite_member(builder, struct, scratch.error));
    }

    private static double real(Scratch scratch, int field) {
        return Double.longBitsToDouble(scratch.readLong(field));
    }

    // The bits of a NaN, too.
    private static void put(ByteBuffer struct, int field, double value) {
        struct.putLong(field, Double.doubleToRawLongBits(value));
    }

    private static void put(ByteBuffer struct, int field, boolean value) {
        struct.put(field, (byte) (value ? 1 : 0));
    }
}
