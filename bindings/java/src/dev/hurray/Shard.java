package dev.hurray;

import java.util.Arrays;

/** Place of a tensor in a larger one (format: shard). Sizes and offsets are in elements, one a dimension. */
public final class Shard {
    private final long[] parentShape;
    private final long[] offset;

    Shard(long[] parentShape, long[] offset) {
        this.parentShape = parentShape;
        this.offset = offset;
    }

    /** Shape of the whole tensor. */
    public long[] parentShape() {
        return parentShape.clone();
    }

    /** Index in the whole tensor of this one's first element. */
    public long[] offset() {
        return offset.clone();
    }

    @Override
    public String toString() {
        return "Shard[offset " + Arrays.toString(offset) + " in " + Arrays.toString(parentShape) + "]";
    }
}
