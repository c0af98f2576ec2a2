package dev.hurray;

import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/** The fields of layouts, out of descriptors and into builders. Uses the struct of the scratch. */
final class LayoutCodec {
    private LayoutCodec() {}

    /** Copies the fields of a descriptor's layout; null where there are none. */
    static LayoutFields read(long descriptor, Scratch scratch) {
        scratch.check(Raw.hurray_descriptor_layout_fields(descriptor, scratch.sized(Structs.LayoutFields.SIZE), scratch.error));
        int tag = scratch.readByte(Structs.LayoutFields.LAYOUT);
        if (isPrivate(tag)) {
            return new LayoutFields.PrivateLayout(
                    scratch.readLong(Structs.LayoutFields.PRIVATE_ID),
                    bytes(scratch, Structs.LayoutFields.PRIVATE_DATA, scratch.readLong(Structs.LayoutFields.PRIVATE_LENGTH)));
        }
        int rank = scratch.readInt(Structs.LayoutFields.RANK);
        long nnz = scratch.readLong(Structs.LayoutFields.NNZ);
        return switch (Layout.of(tag)) {
            case STRIDED -> new LayoutFields.Strided(longs(scratch, Structs.LayoutFields.STRIDES, rank));
            case TILED -> readTiles(descriptor, scratch.readInt(Structs.LayoutFields.TILE_LEVEL_COUNT), scratch);
            case MORTON -> new LayoutFields.Morton(longs(scratch, Structs.LayoutFields.MORTON_BITS, rank));
            case HILBERT -> new LayoutFields.Hilbert(scratch.readInt(Structs.LayoutFields.HILBERT_ORDER));
            case COO -> new LayoutFields.Coo(nnz, scratch.readByte(Structs.LayoutFields.IS_SORTED) != 0);
            case CSR -> new LayoutFields.Csr(nnz);
            case CSC -> new LayoutFields.Csc(nnz);
            case CSF -> new LayoutFields.Csf(nnz, longs(scratch, Structs.LayoutFields.MODE_ORDER, rank));
            case BLOCK_PAGED -> readPages(scratch);
            case COMPOSITE ->
                    new LayoutFields.Composite(
                            scratch.readByte(Structs.LayoutFields.COMPOSITION_RULE),
                            scratch.readByte(Structs.LayoutFields.COMBINE_OP),
                            unsigned(scratch, Structs.LayoutFields.MEMBER_COUNT));
            case ROW_MAJOR, COL_MAJOR, UNKNOWN -> null;
        };
    }

    private static LayoutFields readPages(Scratch scratch) {
        int layer = scratch.readInt(Structs.LayoutFields.LAYER_INDEX);
        return new LayoutFields.BlockPaged(
                unsigned(scratch, Structs.LayoutFields.PAGE_SIZE),
                scratch.readLong(Structs.LayoutFields.NUM_PAGES),
                scratch.readInt(Structs.LayoutFields.PAGED_AXIS),
                unsigned(scratch, Structs.LayoutFields.NUM_SEQS),
                KvRole.of(scratch.readByte(Structs.LayoutFields.KV_ROLE)),
                layer == Abi.NO_LAYER ? OptionalLong.empty() : OptionalLong.of(Integer.toUnsignedLong(layer)),
                TableIndex.of(scratch.readByte(Structs.LayoutFields.INDEX_TYPE)));
    }

    private static LayoutFields readTiles(long descriptor, int count, Scratch scratch) {
        List<TileLevel> levels = new ArrayList<>();
        for (int i = 0; i < count; ++i) {
            scratch.check(Raw.hurray_descriptor_tile_level(descriptor, i, scratch.sized(Structs.TileLevel.SIZE), scratch.error));
            int rank = scratch.readInt(Structs.TileLevel.RANK);
            levels.add(
                    new TileLevel(
                            longs(scratch, Structs.TileLevel.TILE_SHAPE, rank),
                            Layout.of(scratch.readByte(Structs.TileLevel.OUTER_LAYOUT)),
                            Layout.of(scratch.readByte(Structs.TileLevel.INNER_LAYOUT)),
                            longs(scratch, Structs.TileLevel.OUTER_STRIDES, rank),
                            longs(scratch, Structs.TileLevel.INNER_STRIDES, rank)));
        }
        return new LayoutFields.Tiled(levels);
    }

    /** Gives fields to a builder of the layout with that number. */
    static void write(long builder, int layoutTag, LayoutFields fields, Scratch scratch) {
        boolean belongs = fields instanceof LayoutFields.PrivateLayout ? isPrivate(layoutTag) : fields.layoutTag() == layoutTag;
        if (!belongs) {
            throw Errors.argument(
                    "layout fields: " + fields.getClass().getSimpleName() + " do not belong to layout " + layoutTag);
        }
        if (fields instanceof LayoutFields.Tiled tiled) {
            for (TileLevel level : tiled.levels()) {
                write(builder, level, scratch);
            }
            return;
        }
        ByteBuffer struct = scratch.sized(Structs.LayoutFields.SIZE);
        struct.put(Structs.LayoutFields.LAYOUT, (byte) layoutTag);
        ByteBuffer array = null;
        if (fields instanceof LayoutFields.Strided strided) {
            array = pointTo(struct, Structs.LayoutFields.STRIDES, Structs.LayoutFields.RANK, strided.strides());
        } else if (fields instanceof LayoutFields.Morton morton) {
            array = pointTo(struct, Structs.LayoutFields.MORTON_BITS, Structs.LayoutFields.RANK, morton.bits());
        } else if (fields instanceof LayoutFields.Csf csf) {
            struct.putLong(Structs.LayoutFields.NNZ, csf.nnz());
            array = pointTo(struct, Structs.LayoutFields.MODE_ORDER, Structs.LayoutFields.RANK, csf.modeOrder());
        } else if (fields instanceof LayoutFields.PrivateLayout agreed) {
            struct.putLong(Structs.LayoutFields.PRIVATE_ID, agreed.id());
            array = pointTo(struct, Structs.LayoutFields.PRIVATE_DATA, agreed.data());
            struct.putLong(Structs.LayoutFields.PRIVATE_LENGTH, array.capacity());
        } else {
            fill(struct, fields);
        }
        scratch.check(Raw.hurray_descriptor_builder_set_layout_fields(builder, struct, scratch.error));
        Reference.reachabilityFence(array);
    }

    // Of layouts whose fields are numbers only.
    private static void fill(ByteBuffer struct, LayoutFields fields) {
        if (fields instanceof LayoutFields.Hilbert hilbert) {
            struct.putInt(Structs.LayoutFields.HILBERT_ORDER, hilbert.order());
        } else if (fields instanceof LayoutFields.Coo coo) {
            struct.putLong(Structs.LayoutFields.NNZ, coo.nnz());
            struct.put(Structs.LayoutFields.IS_SORTED, (byte) (coo.sorted() ? 1 : 0));
        } else if (fields instanceof LayoutFields.Csr csr) {
            struct.putLong(Structs.LayoutFields.NNZ, csr.nnz());
        } else if (fields instanceof LayoutFields.Csc csc) {
            struct.putLong(Structs.LayoutFields.NNZ, csc.nnz());
        } else if (fields instanceof LayoutFields.BlockPaged pages) {
            struct.putInt(Structs.LayoutFields.PAGE_SIZE, (int) pages.pageSize());
            struct.putLong(Structs.LayoutFields.NUM_PAGES, pages.numPages());
            struct.putInt(Structs.LayoutFields.PAGED_AXIS, pages.pagedAxis());
            struct.putInt(Structs.LayoutFields.NUM_SEQS, (int) pages.numSeqs());
            struct.put(Structs.LayoutFields.KV_ROLE, (byte) pages.kvRole().value());
            struct.putInt(Structs.LayoutFields.LAYER_INDEX, (int) pages.layerIndex().orElse(Abi.NO_LAYER));
            struct.put(Structs.LayoutFields.INDEX_TYPE, (byte) pages.indexType().value());
        } else if (fields instanceof LayoutFields.Composite composite) {
            struct.put(Structs.LayoutFields.COMPOSITION_RULE, (byte) composite.ruleTag());
            struct.put(Structs.LayoutFields.COMBINE_OP, (byte) composite.combineOpTag());
            struct.putInt(Structs.LayoutFields.MEMBER_COUNT, (int) composite.memberCount());
        }
    }

    private static void write(long builder, TileLevel level, Scratch scratch) {
        ByteBuffer struct = scratch.sized(Structs.TileLevel.SIZE);
        ByteBuffer shape = pointTo(struct, Structs.TileLevel.TILE_SHAPE, Structs.TileLevel.RANK, level.tileShape());
        long[] outer = level.outerStrides();
        long[] inner = level.innerStrides();
        ByteBuffer outerArray = outer.length == 0 ? null : pointTo(struct, Structs.TileLevel.OUTER_STRIDES, Structs.TileLevel.RANK, outer);
        ByteBuffer innerArray = inner.length == 0 ? null : pointTo(struct, Structs.TileLevel.INNER_STRIDES, Structs.TileLevel.RANK, inner);
        struct.put(Structs.TileLevel.OUTER_LAYOUT, (byte) level.outerLayout().value());
        struct.put(Structs.TileLevel.INNER_LAYOUT, (byte) level.innerLayout().value());
        scratch.check(Raw.hurray_descriptor_builder_add_tile_level(builder, struct, scratch.error));
        Reference.reachabilityFence(shape);
        Reference.reachabilityFence(outerArray);
        Reference.reachabilityFence(innerArray);
    }

    static boolean isPrivate(int tag) {
        return tag >= 0xF0 && tag <= 0xFE;
    }

    static long unsigned(Scratch scratch, int field) {
        return Integer.toUnsignedLong(scratch.readInt(field));
    }

    /** Bytes to which a field of the scratch's struct points. */
    static byte[] bytes(Scratch scratch, int field, long length) {
        return length == 0 ? new byte[0] : NativeMemory.copy(scratch.readLong(field), length);
    }

    /** Numbers to which a field of the scratch's struct points; empty when it is null. */
    private static long[] longs(Scratch scratch, int field, int count) {
        long[] values = new long[scratch.readLong(field) == 0 ? 0 : count];
        ByteBuffer.wrap(bytes(scratch, field, 8L * values.length)).order(ByteOrder.nativeOrder()).asLongBuffer().get(values);
        return values;
    }

    /** Lets a field point to bytes, which live as long as what is returned. */
    static ByteBuffer pointTo(ByteBuffer struct, int field, byte[] bytes) {
        ByteBuffer memory = NativeMemory.direct(bytes);
        struct.putLong(field, bytes.length == 0 ? 0 : NativeMemory.address(memory));
        return memory;
    }

    // The same for numbers, and says how many.
    private static ByteBuffer pointTo(ByteBuffer struct, int field, int rank, long[] values) {
        ByteBuffer memory = NativeMemory.allocate(8 * values.length);
        memory.asLongBuffer().put(values);
        struct.putLong(field, values.length == 0 ? 0 : NativeMemory.address(memory));
        struct.putInt(rank, values.length);
        return memory;
    }
}
