package dev.hurray;

import java.util.Arrays;

/**
 * One level of tiles: element i lies in tile i / tileShape of the level's grid, at i mod tileShape in it (format: tiled layout). An
 * immutable value, compared by content.
 *
 * @param tileShape one size a dimension, in elements
 * @param outerLayout order of the tiles: ROW_MAJOR, COL_MAJOR or STRIDED
 * @param innerLayout order inside a tile: likewise, or TILED, then the next level says it
 * @param outerStrides in tiles, of a strided outer layout; else empty
 * @param innerStrides in elements, of a strided inner layout; else empty
 * @since C ABI version 4
 */
public record TileLevel(long[] tileShape, Layout outerLayout, Layout innerLayout, long[] outerStrides, long[] innerStrides) {
    private static final long[] NONE = {};

    /**
     * Copies the arrays.
     *
     * @throws HurrayException INVALID_ARGUMENT: a layout is UNKNOWN, or there are strides, but not one a dimension of the tile
     */
    public TileLevel {
        BufferHandle.range("outerLayout", outerLayout.value(), 0xFF);
        BufferHandle.range("innerLayout", innerLayout.value(), 0xFF);
        tileShape = tileShape.clone();
        outerStrides = strides("outerStrides", outerStrides, tileShape.length);
        innerStrides = strides("innerStrides", innerStrides, tileShape.length);
    }

    /** A level without strides. */
    public TileLevel(Layout outerLayout, Layout innerLayout, long... tileShape) {
        this(tileShape, outerLayout, innerLayout, NONE, NONE);
    }

    private static long[] strides(String field, long[] values, int rank) {
        if (values.length != 0 && values.length != rank) {
            throw Errors.argument(field + ": expected " + rank + " strides, as the tile has dimensions, got " + values.length);
        }
        return values.clone();
    }

    /** Sizes of a tile, in elements; a new array. */
    @Override
    public long[] tileShape() {
        return tileShape.clone();
    }

    /** In tiles; empty unless the outer layout is strided; a new array. */
    @Override
    public long[] outerStrides() {
        return outerStrides.clone();
    }

    /** In elements; empty unless the inner layout is strided; a new array. */
    @Override
    public long[] innerStrides() {
        return innerStrides.clone();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof TileLevel that
                && Arrays.equals(tileShape, that.tileShape)
                && outerLayout == that.outerLayout
                && innerLayout == that.innerLayout
                && Arrays.equals(outerStrides, that.outerStrides)
                && Arrays.equals(innerStrides, that.innerStrides);
    }

    @Override
    public int hashCode() {
        return java.util.Objects.hash(Arrays.hashCode(tileShape), outerLayout, innerLayout);
    }

    @Override
    public String toString() {
        return "TileLevel[" + Arrays.toString(tileShape) + " " + outerLayout + "/" + innerLayout + "]";
    }
}
