package dev.hurray;

/**
 * What the writer says about the values, dequantized ones where they are quantized (format: statistics). Nobody may rely on it; what
 * {@link #computed()} does not name has no meaning. An immutable value; start with {@link #NONE}.
 *
 * @param computed which fields say something: bits such as {@link #NNZ}
 * @param nnz elements other than 0, unsigned
 * @param sparsityRatio fraction of elements that are 0
 * @param min least value
 * @param max greatest value
 * @param absMax greatest magnitude
 * @param mean mean
 * @param stdDev standard deviation of the whole population
 * @param nmN at most so many of each nmM elements that follow one another are not 0
 * @param nmM see nmN
 * @param hasNaN whether an element is NaN
 * @param hasInfinity whether an element is infinite
 * @since C ABI version 4
 */
public record Statistics(
        int computed,
        long nnz,
        double sparsityRatio,
        double min,
        double max,
        double absMax,
        double mean,
        double stdDev,
        int nmN,
        int nmM,
        boolean hasNaN,
        boolean hasInfinity) {
    /** Bit of {@link #nnz()}. */
    public static final int NNZ = Abi.STATISTICS_NNZ;

    /** Bit of {@link #sparsityRatio()}. */
    public static final int SPARSITY = Abi.STATISTICS_SPARSITY;

    /** Bit of {@link #min()}, {@link #max()} and {@link #absMax()}. */
    public static final int RANGE = Abi.STATISTICS_RANGE;

    /** Bit of {@link #mean()} and {@link #stdDev()}. */
    public static final int MOMENTS = Abi.STATISTICS_MOMENTS;

    /** Bit of {@link #nmN()} and {@link #nmM()}. */
    public static final int NM_SPARSITY = Abi.STATISTICS_NM_SPARSITY;

    /** Bit of {@link #hasNaN()} and {@link #hasInfinity()}. */
    public static final int NAN_INF = Abi.STATISTICS_NAN_INF;

    /** Says nothing. */
    public static final Statistics NONE = new Statistics(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, false, false);

    /**
     * Checks that the numbers fit their fields.
     *
     * @throws HurrayException INVALID_ARGUMENT: a number is out of its field's range
     */
    public Statistics {
        BufferHandle.range("nmN", nmN, 0xFF);
        BufferHandle.range("nmM", nmM, 0xFF);
    }

    /** The same with a number of elements other than 0. */
    public Statistics withNnz(long elements) {
        return new Statistics(
                computed | NNZ, elements, sparsityRatio, min, max, absMax, mean, stdDev, nmN, nmM, hasNaN, hasInfinity);
    }

    /** The same with a fraction of elements that are 0. */
    public Statistics withSparsityRatio(double ratio) {
        return new Statistics(computed | SPARSITY, nnz, ratio, min, max, absMax, mean, stdDev, nmN, nmM, hasNaN, hasInfinity);
    }

    /** The same with least and greatest value and the greatest magnitude. */
    public Statistics withRange(double least, double greatest, double magnitude) {
        return new Statistics(
                computed | RANGE, nnz, sparsityRatio, least, greatest, magnitude, mean, stdDev, nmN, nmM, hasNaN, hasInfinity);
    }

    /** The same with mean and standard deviation of the whole population. */
    public Statistics withMoments(double average, double deviation) {
        return new Statistics(
                computed | MOMENTS, nnz, sparsityRatio, min, max, absMax, average, deviation, nmN, nmM, hasNaN, hasInfinity);
    }

    /**
     * The same with a pattern: at most n of each m elements that follow one another are not 0.
     *
     * @throws HurrayException INVALID_ARGUMENT: n or m is not 0 to 255
     */
    public Statistics withNmSparsity(int n, int m) {
        return new Statistics(
                computed | NM_SPARSITY, nnz, sparsityRatio, min, max, absMax, mean, stdDev, n, m, hasNaN, hasInfinity);
    }

    /** The same with whether there are NaN and infinite elements. */
    public Statistics withNaNAndInfinity(boolean nan, boolean infinity) {
        return new Statistics(computed | NAN_INF, nnz, sparsityRatio, min, max, absMax, mean, stdDev, nmN, nmM, nan, infinity);
    }
}
