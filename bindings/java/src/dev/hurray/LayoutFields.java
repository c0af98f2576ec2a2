package dev.hurray;

import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;

/**
 * The fields of a layout that has any; row-major and column-major have none (format: memory layout). Immutable values: copied out of a
 * descriptor, compared by content, and for any thread. Numbers of 64 bits are unsigned unless they are strides.
 *
 * @since C ABI version 4
 */
public sealed interface LayoutFields {
    /** The number of the layout to which the fields belong; that of a private one is the descriptor's, and 0 here. */
    int layoutTag();

    /**
     * A step for each dimension.
     *
     * @param strides one a dimension, in elements; negative and zero ones are legal
     */
    record Strided(long... strides) implements LayoutFields {
        /** Copies the strides. */
        public Strided {
            strides = strides.clone();
        }

        /** One a dimension, in elements; a new array. */
        @Override
        public long[] strides() {
            return strides.clone();
        }

        @Override
        public int layoutTag() {
            return Layout.STRIDED.value();
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Strided that && Arrays.equals(strides, that.strides);
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(strides);
        }

        @Override
        public String toString() {
            return "Strided" + Arrays.toString(strides);
        }
    }

    /**
     * Tiles, or tiles of tiles.
     *
     * @param levels the outermost first; at most {@link #MAX_LEVELS}
     */
    record Tiled(List<TileLevel> levels) implements LayoutFields {
        /** How deep tiles of tiles may go. */
        public static final int MAX_LEVELS = Abi.MAX_TILE_LEVELS;

        /** Copies the list. */
        public Tiled {
            levels = List.copyOf(levels);
        }

        /** The same of levels one by one, the outermost first. */
        public static Tiled of(TileLevel... levels) {
            return new Tiled(List.of(levels));
        }

        @Override
        public int layoutTag() {
            return Layout.TILED.value();
        }
    }

    /**
     * Elements in the order of their Morton codes.
     *
     * @param bits bits of each index in the code, one number a dimension, each below 2^32
     */
    record Morton(long... bits) implements LayoutFields {
        /** Copies the numbers. */
        public Morton {
            bits = bits.clone();
        }

        /** Bits of each index in the code, one number a dimension; a new array. */
        @Override
        public long[] bits() {
            return bits.clone();
        }

        @Override
        public int layoutTag() {
            return Layout.MORTON.value();
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Morton that && Arrays.equals(bits, that.bits);
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(bits);
        }

        @Override
        public String toString() {
            return "Morton" + Arrays.toString(bits);
        }
    }

    /**
     * Elements along a Hilbert curve.
     *
     * @param order binary logarithm of every dimension's size
     */
    record Hilbert(int order) implements LayoutFields {
        @Override
        public int layoutTag() {
            return Layout.HILBERT.value();
        }
    }

    /**
     * Stored elements with an index each. Buffers: values, indices.
     *
     * @param nnz number of stored elements
     * @param sorted whether the indices ascend
     */
    record Coo(long nnz, boolean sorted) implements LayoutFields {
        @Override
        public int layoutTag() {
            return Layout.COO.value();
        }
    }

    /**
     * Sparse rows. Buffers: values, column indices, row pointers.
     *
     * @param nnz number of stored elements
     */
    record Csr(long nnz) implements LayoutFields {
        @Override
        public int layoutTag() {
            return Layout.CSR.value();
        }
    }

    /**
     * Sparse columns. Buffers: values, row indices, column pointers.
     *
     * @param nnz number of stored elements
     */
    record Csc(long nnz) implements LayoutFields {
        @Override
        public int layoutTag() {
            return Layout.CSC.value();
        }
    }

    /**
     * Compressed sparse fibers. Buffers: values, then positions and coordinates of each level.
     *
     * @param nnz number of stored elements
     * @param modeOrder the dimensions in the order of the levels, one number a dimension
     */
    record Csf(long nnz, long... modeOrder) implements LayoutFields {
        /** Copies the order. */
        public Csf {
            modeOrder = modeOrder.clone();
        }

        /** The dimensions in the order of the levels; a new array. */
        @Override
        public long[] modeOrder() {
            return modeOrder.clone();
        }

        @Override
        public int layoutTag() {
            return Layout.CSF.value();
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Csf that && nnz == that.nnz && Arrays.equals(modeOrder, that.modeOrder);
        }

        @Override
        public int hashCode() {
            return 31 * Long.hashCode(nnz) + Arrays.hashCode(modeOrder);
        }

        @Override
        public String toString() {
            return "Csf[nnz=" + Long.toUnsignedString(nnz) + ", modeOrder=" + Arrays.toString(modeOrder) + "]";
        }
    }

    /**
     * Pages of tokens. Buffers: page pool, block table, sequence pointers.
     *
     * @param pageSize tokens of a page, 0 to 2^32-1
     * @param numPages pages in the pool
     * @param pagedAxis the dimension that is cut into pages: 0
     * @param numSeqs number of sequences, 0 to 2^32-1
     * @param kvRole what the pages hold
     * @param layerIndex number of the layer, 0 to 2^32-2; empty when it is not said
     * @param indexType type of the page numbers in the block table
     */
    record BlockPaged(
            long pageSize, long numPages, int pagedAxis, long numSeqs, KvRole kvRole, OptionalLong layerIndex, TableIndex indexType)
            implements LayoutFields {
        /**
         * Checks that the numbers fit their fields.
         *
         * @throws HurrayException INVALID_ARGUMENT: a number is out of its field's range, or a choice is UNKNOWN
         */
        public BlockPaged {
            BufferHandle.range("pageSize", pageSize, 0xFFFF_FFFFL);
            BufferHandle.range("pagedAxis", pagedAxis, Integer.MAX_VALUE);
            BufferHandle.range("numSeqs", numSeqs, 0xFFFF_FFFFL);
            BufferHandle.range("kvRole", kvRole.value(), 0xFF);
            layerIndex.ifPresent(layer -> BufferHandle.range("layerIndex", layer, 0xFFFF_FFFEL));
            BufferHandle.range("indexType", indexType.value(), 0xFF);
        }

        /** Pages of no certain role and layer, whose numbers are UINT32. */
        public BlockPaged(long pageSize, long numPages, long numSeqs) {
            this(pageSize, numPages, 0, numSeqs, KvRole.OTHER, OptionalLong.empty(), TableIndex.UINT32);
        }

        @Override
        public int layoutTag() {
            return Layout.BLOCK_PAGED.value();
        }
    }

    /**
     * The head of a composite, whose members follow it in a stream or file. No buffers.
     *
     * @param ruleTag number of a {@link CompositionRule}, or a private one
     * @param combineOpTag number of a {@link CombineOp}, or one that belongs to a private rule
     * @param memberCount how many members there are, 0 to 2^32-1
     */
    record Composite(int ruleTag, int combineOpTag, long memberCount) implements LayoutFields {
        /**
         * Checks that the numbers fit their fields.
         *
         * @throws HurrayException INVALID_ARGUMENT: a number is out of its field's range
         */
        public Composite {
            BufferHandle.range("ruleTag", ruleTag, 0xFF);
            BufferHandle.range("combineOpTag", combineOpTag, 0xFF);
            BufferHandle.range("memberCount", memberCount, 0xFFFF_FFFFL);
        }

        /** The same of named values; {@link CombineOp#NONE} unless it is an overlay. */
        public Composite(CompositionRule rule, CombineOp combineOp, long memberCount) {
            this(rule.value(), combineOp.value(), memberCount);
        }

        /** How the members make a whole; {@link CompositionRule#UNKNOWN} for a private rule. */
        public CompositionRule rule() {
            return CompositionRule.of(ruleTag);
        }

        /** Of overlays: how values of members are combined. */
        public CombineOp combineOp() {
            return CombineOp.of(combineOpTag);
        }

        @Override
        public int layoutTag() {
            return Layout.COMPOSITE.value();
        }
    }

    /**
     * The fields of a layout upon which writer and reader have agreed.
     *
     * @param id the layout's number
     * @param data its own fields
     */
    record PrivateLayout(long id, byte[] data) implements LayoutFields {
        /** Copies the bytes. */
        public PrivateLayout {
            data = data.clone();
        }

        /** Its own fields; a new array. */
        @Override
        public byte[] data() {
            return data.clone();
        }

        @Override
        public int layoutTag() {
            return 0;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof PrivateLayout that && id == that.id && Arrays.equals(data, that.data);
        }

        @Override
        public int hashCode() {
            return 31 * Long.hashCode(id) + Arrays.hashCode(data);
        }

        @Override
        public String toString() {
            return "PrivateLayout[id=" + Long.toUnsignedString(id) + ", " + data.length + " bytes]";
        }
    }
}
