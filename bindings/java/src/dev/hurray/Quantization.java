package dev.hurray;

import java.util.Arrays;
import java.util.OptionalInt;

/**
 * How the elements of a tensor are quantized (format: quantization). The buffers with scales and zero points are entries of the buffer
 * table, and named by their number in it. Immutable values: copied out of a descriptor, compared by content, and for any thread.
 *
 * @since C ABI version 4
 */
public sealed interface Quantization {
    /** The number of the scheme. */
    int schemeTag();

    /** The scheme; {@link Scheme#UNKNOWN} for a private one. */
    default Scheme scheme() {
        return Scheme.of(schemeTag());
    }

    /** Version of the scheme: 1, or what a private scheme says. */
    default int version() {
        return 1;
    }

    /** Zero bytes that the writer put behind the fields; 0 to 2^32-1. */
    long padding();

    /**
     * One scale and zero point: value = scale * (q - zeroPoint).
     *
     * @param scale finite and not 0
     * @param zeroPoint a value of the storage type
     * @param padding see {@link Quantization#padding()}
     */
    record PerTensorAffine(float scale, int zeroPoint, long padding) implements Quantization {
        /** Without padding. */
        public PerTensorAffine(float scale, int zeroPoint) {
            this(scale, zeroPoint, 0);
        }

        @Override
        public int schemeTag() {
            return Scheme.PER_TENSOR_AFFINE.value();
        }
    }

    /**
     * A scale, and a zero point, for each index of an axis.
     *
     * @param axis the dimension
     * @param scaleBuffer number of the buffer with the scales
     * @param zeroPointBuffer number of the buffer with the zero points, that of the scales when they follow there; empty: all are 0
     * @param scaleType FLOAT32
     * @param padding see {@link Quantization#padding()}
     */
    record PerChannelAffine(int axis, int scaleBuffer, OptionalInt zeroPointBuffer, ElementType scaleType, long padding)
            implements Quantization {
        /** Symmetric, with scales of FLOAT32. */
        public PerChannelAffine(int axis, int scaleBuffer) {
            this(axis, scaleBuffer, OptionalInt.empty(), ElementType.FLOAT32, 0);
        }

        /** With zero points, and scales of FLOAT32. */
        public PerChannelAffine(int axis, int scaleBuffer, int zeroPointBuffer) {
            this(axis, scaleBuffer, OptionalInt.of(zeroPointBuffer), ElementType.FLOAT32, 0);
        }

        @Override
        public int schemeTag() {
            return Scheme.PER_CHANNEL_AFFINE.value();
        }
    }

    /**
     * A scale, and a zero point, for each block along an axis.
     *
     * @param axis the dimension
     * @param blockSize elements of a block: a power of 2 below 2^32
     * @param scaleBuffer number of the buffer with the scales
     * @param zeroPointBuffer as of {@link PerChannelAffine}
     * @param scaleType FLOAT16, BFLOAT16 or FLOAT32
     * @param padding see {@link Quantization#padding()}
     */
    record PerBlockAffine(
            int axis, long blockSize, int scaleBuffer, OptionalInt zeroPointBuffer, ElementType scaleType, long padding)
            implements Quantization {
        /** Without padding. */
        public PerBlockAffine(int axis, long blockSize, int scaleBuffer, OptionalInt zeroPointBuffer, ElementType scaleType) {
            this(axis, blockSize, scaleBuffer, zeroPointBuffer, scaleType, 0);
        }

        @Override
        public int schemeTag() {
            return Scheme.PER_BLOCK_AFFINE.value();
        }
    }

    /**
     * 4-bit quantiles of the normal distribution, times the largest magnitude of the block.
     *
     * @param axis the dimension
     * @param blockSize elements of a block: a power of 2 below 2^32
     * @param scaleBuffer number of the buffer with the magnitudes
     * @param padding see {@link Quantization#padding()}
     */
    record Nf4(int axis, long blockSize, int scaleBuffer, long padding) implements Quantization {
        /** Without padding. */
        public Nf4(int axis, long blockSize, int scaleBuffer) {
            this(axis, blockSize, scaleBuffer, 0);
        }

        @Override
        public int schemeTag() {
            return Scheme.NF4.value();
        }
    }

    /**
     * Small floating-point numbers with an exponent that a block shares.
     *
     * @param axis the dimension
     * @param blockSize elements of a block: a power of 2 below 2^32
     * @param scaleBuffer number of the buffer with the exponents
     * @param padding see {@link Quantization#padding()}
     */
    record Mxfp(int axis, long blockSize, int scaleBuffer, long padding) implements Quantization {
        /** Without padding. */
        public Mxfp(int axis, long blockSize, int scaleBuffer) {
            this(axis, blockSize, scaleBuffer, 0);
        }

        @Override
        public int schemeTag() {
            return Scheme.MXFP.value();
        }
    }

    /**
     * A scheme upon which writer and reader have agreed, or one that a permissive reader does not know.
     *
     * @param schemeTag number of the scheme
     * @param version version of the scheme
     * @param flags its flags, 16 bits
     * @param data what follows its first 4 bytes
     */
    record PrivateScheme(int schemeTag, int version, int flags, byte[] data) implements Quantization {
        /**
         * Copies the bytes.
         *
         * @throws HurrayException INVALID_ARGUMENT: a number is out of its field's range
         */
        public PrivateScheme {
            BufferHandle.range("schemeTag", schemeTag, 0xFF);
            BufferHandle.range("version", version, 0xFF);
            BufferHandle.range("flags", flags, 0xFFFF);
            data = data.clone();
        }

        /** What follows its first 4 bytes; a new array. */
        @Override
        public byte[] data() {
            return data.clone();
        }

        /** 0: all that the scheme has is in {@link #data()}. */
        @Override
        public long padding() {
            return 0;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof PrivateScheme that
                    && schemeTag == that.schemeTag
                    && version == that.version
                    && flags == that.flags
                    && Arrays.equals(data, that.data);
        }

        @Override
        public int hashCode() {
            return java.util.Objects.hash(schemeTag, version, flags, Arrays.hashCode(data));
        }

        @Override
        public String toString() {
            return "PrivateScheme[schemeTag=" + schemeTag + ", version=" + version + ", flags=" + flags + ", " + data.length + " bytes]";
        }
    }
}
