"""Tiled, Morton and Hilbert descriptors: those that every strict reader must take, and those that it must refuse."""

import dataclasses

from layouts import COL_MAJOR, ROW_MAJOR, STRIDED, Dense, Hilbert, Morton, Tiles
from wire import DYNAMIC, TAG_OF_TYPE, Handle

F32 = TAG_OF_TYPE["float32"]
F64 = TAG_OF_TYPE["float64"]
BOOL = TAG_OF_TYPE["bool"]
INT4 = TAG_OF_TYPE["int4"]
UINT2 = TAG_OF_TYPE["uint2"]
F6 = TAG_OF_TYPE["float6_e3m2"]
U8 = TAG_OF_TYPE["uint8"]
C128 = TAG_OF_TYPE["complex128"]
SIZE = "buffers[0].byte_size"


def nest(*shapes, **last):
    """Levels of tiles of these shapes, row-major but for what the last one is given."""
    tiles = None
    for shape in reversed(shapes):
        tiles = Tiles(shape, **last) if tiles is None else Tiles(shape, nested=tiles)
    return tiles


def tiled():
    yield "tiled_2x4_of_6x8", Dense(F32, (6, 8), Tiles((2, 4)))
    yield "tiled_edges", Dense(F32, (5, 7), Tiles((2, 4)))
    for outer in (ROW_MAJOR, COL_MAJOR):
        for inner in (ROW_MAJOR, COL_MAJOR):
            yield f"tiled_outer_{outer}_inner_{inner}", Dense(F32, (5, 6), Tiles((2, 3), outer, inner))
    yield "tiled_rank_1", Dense(U8, (10,), Tiles((4,)))
    yield "tiled_rank_3", Dense(INT4, (3, 4, 5), Tiles((2, 3, 2), COL_MAJOR))
    yield "tiled_rank_64", Dense(U8, (1,) * 62 + (3, 3), Tiles((1,) * 62 + (2, 2)))
    yield "tiled_larger_than_tensor", Dense(F32, (2, 3), Tiles((4, 4), inner=COL_MAJOR))
    yield "tiled_single_elements", Dense(F32, (3, 2), Tiles((1, 1), COL_MAJOR))
    yield "tiled_outer_strides", Dense(F32, (4, 6), Tiles((2, 3), STRIDED, outer_strides=(1, 3)))
    yield "tiled_outer_strides_negative", Dense(F32, (4, 6), Tiles((2, 3), STRIDED, outer_strides=(-2, 1)))
    yield "tiled_outer_broadcast", Dense(F32, (4, 6), Tiles((2, 3), STRIDED, outer_strides=(0, 1)))
    yield "tiled_inner_strides", Dense(F32, (4, 6), Tiles((2, 3), COL_MAJOR, STRIDED, inner_strides=(1, 2)))
    yield "tiled_inner_strides_negative", Dense(F32, (4, 6), Tiles((2, 3), inner=STRIDED, inner_strides=(-3, 1)))
    yield "tiled_inner_strides_wide", Dense(F32, (4, 3), Tiles((2, 3), STRIDED, STRIDED, (4,) * 2, (9, 2)))
    yield "tiled_strides_of_both", Dense(
        U8, (3, 5), Tiles((2, 2), STRIDED, STRIDED, outer_strides=(3, -1), inner_strides=(1, 2))
    )
    yield "tiled_2_levels", Dense(F32, (8, 8), nest((4, 4), (2, 2), inner=COL_MAJOR))
    yield "tiled_2_levels_edges", Dense(F32, (7, 9), nest((4, 6), (2, 3)))
    yield "tiled_3_levels_strided", Dense(
        U8, (12, 8), nest((6, 8), (6, 4), (3, 2), outer=STRIDED, outer_strides=(1, 2), inner=COL_MAJOR)
    )
    yield "tiled_8_levels", Dense(U8, (300,), nest((256,), (128,), (64,), (32,), (16,), (8,), (4,), (2,)))
    yield "tiled_8_levels_rank_2", Dense(BOOL, (9, 10), nest(*((2**k, 8) for k in range(7, -1, -1))))
    yield "tiled_misfit_is_read", Dense(F32, (6, 4), nest((3, 4), (2, 4)))
    yield "tiled_bool", Dense(BOOL, (5, 6), Tiles((2, 3)))
    yield "tiled_bool_negative", Dense(BOOL, (4, 6), Tiles((2, 3), STRIDED, outer_strides=(-2, 1)))
    yield "tiled_float6", Dense(F6, (5, 3), Tiles((2, 2), COL_MAJOR))
    yield "tiled_uint2", Dense(UINT2, (5, 3), Tiles((3, 2), inner=COL_MAJOR))
    yield "tiled_byte_offset", Dense(F32, (5, 3), Tiles((2, 2)), byte_offset=20)
    yield "tiled_empty", Dense(F32, (0, 3), Tiles((2, 2)))
    yield "tiled_empty_with_huge_tiles", Dense(F32, (0, 3), Tiles((2**40, 2**40)))
    yield "tiled_dynamic", Dense(F32, (DYNAMIC, 3), Tiles((2, 2)), byte_size=4)
    yield "tiled_shard", Dense(F32, (4, 4), Tiles((2, 2)), shard=((8, 8), (4, 0)))


def morton():
    yield "morton_4x4", Dense(F32, (4, 4), Morton((2, 2)))
    yield "morton_3x5", Dense(F32, (3, 5), Morton((2, 3)))
    yield "morton_5x3", Dense(F32, (5, 3), Morton((3, 2)))
    yield "morton_rank_1", Dense(F32, (11,), Morton((4,)))
    yield "morton_rank_3", Dense(F64, (3, 4, 2), Morton((2, 2, 2)))
    yield "morton_rank_3_unequal", Dense(U8, (2, 7, 3), Morton((1, 3, 2)))
    yield "morton_more_bits_than_needed", Dense(F32, (2, 2), Morton((3, 3)))
    yield "morton_size_1", Dense(F32, (1, 1), Morton((1, 1)))
    yield "morton_one_long", Dense(U8, (1, 60), Morton((1, 6)))
    yield "morton_long_first", Dense(U8, (60, 1), Morton((6, 1)))
    yield "morton_22_bits_of_rank_3", Dense(U8, (2, 1, 1), Morton((22, 1, 1)))
    yield "morton_21_bits_of_rank_3", Dense(U8, (3, 2, 2), Morton((2, 21, 1)))
    yield "morton_rank_10", Dense(U8, (2,) * 5 + (1,) * 5, Morton((1,) * 10))
    yield "morton_bool", Dense(BOOL, (5, 6), Morton((3, 3)))
    yield "morton_int4", Dense(INT4, (3, 3), Morton((2, 2)))
    yield "morton_float6", Dense(F6, (3, 2, 2), Morton((2, 1, 1)))
    yield "morton_complex128", Dense(C128, (2, 3), Morton((1, 2)))
    yield "morton_byte_offset", Dense(F32, (3, 3), Morton((2, 2)), byte_offset=8)
    yield "morton_empty", Dense(F32, (0, 4), Morton((1, 2)))
    yield "morton_empty_64_bits", Dense(F32, (0,), Morton((64,)))
    yield "morton_empty_rank_64", Dense(F32, (0,) * 64, Morton((1,) * 64))
    yield "morton_dynamic", Dense(F32, (DYNAMIC, 4), Morton((1, 2)), byte_size=0)
    yield "morton_shard", Dense(F32, (3, 3), Morton((2, 2)), shard=((4, 4), (1, 1)))


def hilbert():
    for order in (1, 2, 3, 4):
        yield f"hilbert_2d_order_{order}", Dense(F32, (2**order,) * 2, Hilbert(order, 2))
    for order in (1, 2, 3):
        yield f"hilbert_3d_order_{order}", Dense(U8, (2**order,) * 3, Hilbert(order, 3))
    yield "hilbert_4d_order_2", Dense(U8, (4,) * 4, Hilbert(2, 4))
    yield "hilbert_10d_order_1", Dense(BOOL, (2,) * 10, Hilbert(1, 10))
    yield "hilbert_bool", Dense(BOOL, (8, 8), Hilbert(3, 2))
    yield "hilbert_float6", Dense(F6, (2, 2, 2), Hilbert(1, 3))
    yield "hilbert_int4_byte_offset", Dense(INT4, (4, 4), Hilbert(2, 2), byte_offset=3)
    yield "hilbert_complex128", Dense(C128, (4, 4), Hilbert(2, 2))
    yield "hilbert_shard", Dense(F32, (4, 4), Hilbert(2, 2), shard=((4, 8), (0, 4)))


# Descriptors that decode as well, of which no element is looked at: they are too large for a table of offsets.
def large():
    yield "tiled_over_4_gib", Dense(U8, (2**20, 2**13), Tiles((2**19, 2**12)), byte_offset=0, byte_size=2**33)
    yield "tiled_far_strides", Dense(
        U8, (4, 2), Tiles((2, 2), STRIDED, outer_strides=(2**61 - 1, 0)), byte_offset=0, byte_size=2**63
    )
    yield "tiled_size_1_wild_strides", Dense(
        F32, (2, 2), Tiles((2, 2), STRIDED, outer_strides=(-(2**63), 2**63 - 1)), byte_offset=0, byte_size=16
    )
    yield "tiled_empty_wild_strides", Dense(
        F32, (0, 9), Tiles((2, 2), STRIDED, outer_strides=(-(2**63), 2**63 - 1)), byte_offset=0, byte_size=0
    )
    yield "morton_32_bits_each", Dense(BOOL, (2**31, 2**31), Morton((31, 31)), byte_offset=0, byte_size=2**59)
    yield "morton_63_bits", Dense(BOOL, (1,), Morton((63,)), byte_offset=0, byte_size=2**60)
    yield "hilbert_31_bits_each", Dense(BOOL, (2**31, 2**31), Hilbert(31, 2), byte_offset=0, byte_size=2**59)
    yield "hilbert_63d", Dense(BOOL, (2,) * 63, Hilbert(1, 63), byte_offset=0, byte_size=2**60)


def all_valid():
    for group in (tiled, morton, hilbert):
        yield from group()


def short_by_one(dense):
    return dataclasses.replace(dense, byte_size=dense.size() - 1, byte_offset=dense.start())


def low_by_one(dense):
    return dataclasses.replace(dense, byte_offset=dense.start() - 1, byte_size=dense.size())


def cut(dense, field, kept=0):
    """A descriptor that says itself that it ends within a field, of which `kept` bytes are there."""
    return dataclasses.replace(dense, length=dense.offset_of(field) + kept)


def invalid_tiled():
    plain = Dense(F32, (6, 8), Tiles((2, 4)))
    yield "tiled_short", short_by_one(plain), SIZE
    for name, dense in tiled():
        below, above = dense.room()
        if above > 0 and name != "tiled_8_levels":
            yield f"{name}_short_by_one", short_by_one(dense), SIZE
        if below > 0:
            yield f"{name}_low_by_one", low_by_one(dense), "byte_offset"
    for k in range(2):
        shape = tuple(0 if i == k else 2 for i in range(2))
        yield f"tiled_zero_tile_{k}", Dense(F32, (6, 8), Tiles(shape), 0, 4096), f"level 1: tile_shape[{k}]"
        yield f"tiled_zero_tile_{k}_empty", Dense(F32, (0, 8), Tiles(shape), 0, 0), f"level 1: tile_shape[{k}]"
        yield f"tiled_zero_tile_{k}_level_2", Dense(
            F32, (6, 8), nest((4, 4), shape), 0, 4096
        ), f"level 2: tile_shape[{k}]"
    for outer in (0x00, 0x04, 0x05, 0x40, 0xFF):
        yield f"tiled_outer_{outer:02x}", Dense(F32, (6, 8), Tiles((2, 4), outer), 0, 4096), "level 1: outer_layout"
    for inner in (0x00, 0x05, 0x40, 0xF0, 0xFF):
        yield f"tiled_inner_{inner:02x}", Dense(
            F32, (6, 8), Tiles((2, 4), inner=inner), 0, 4096
        ), "level 1: inner_layout"
    for reserved in (b"\x01\0", b"\0\x80"):
        yield f"tiled_reserved_{reserved.hex()}", Dense(
            F32, (6, 8), Tiles((2, 4), reserved=reserved), 0, 4096
        ), "level 1: reserved"
    yield "tiled_reserved_level_2", Dense(
        F32, (6, 8), nest((2, 4), (1, 2), reserved=b"\0\1"), 0, 4096
    ), "level 2: reserved"
    yield "tiled_9_levels", Dense(U8, (8,), nest(*[(1,)] * 9), 0, 4096), "level 8: inner_layout"
    yield "tiled_9_levels_cut", cut(
        Dense(U8, (8,), nest(*[(1,)] * 9), 0, 4096), "level 9: tile_shape[0]"
    ), "level 8: inner_layout"
    yield "tiled_two_buffers", dataclasses.replace(plain, buffers=(Handle(4096),) * 2), "buffer_count"
    yield "tiled_no_buffer", dataclasses.replace(plain, buffers=()), "buffer_count"
    yield "tiled_tile_wraps", Dense(U8, (1, 1), Tiles((2**40, 2**40)), 0, 2**64 - 1), SIZE
    yield "tiled_tile_wraps_to_0", Dense(U8, (1, 1), Tiles((2**32, 2**32)), 0, 2**64 - 1), SIZE
    yield "tiled_tiles_wrap", Dense(U8, (2**33, 2**30), Tiles((2**32 + 1, 2**31)), 0, 2**63), SIZE
    yield "tiled_bytes_wrap", Dense(F64, (2**60,), Tiles((2**61,)), 0, 2**64 - 1), SIZE
    yield "tiled_outer_stride_wraps", Dense(
        U8, (8,), Tiles((4,), STRIDED, outer_strides=(2**62,)), 0, 2**64 - 1
    ), SIZE
    yield "tiled_outer_stride_wraps_below", Dense(
        U8, (8,), Tiles((4,), STRIDED, outer_strides=(-(2**62),)), 64, 2**64 - 1
    ), "byte_offset"
    yield "tiled_outer_most_negative", Dense(
        U8, (3,), Tiles((1,), STRIDED, outer_strides=(-(2**63),)), 64, 2**64 - 1
    ), "byte_offset"
    yield "tiled_byte_offset_over", dataclasses.replace(plain, byte_offset=4097, byte_size=4096), "byte_offset"
    yield "tiled_byte_offset_before_tile", Dense(F32, (6, 8), Tiles((0, 4)), 65, 64), "byte_offset"
    yield "tiled_low_before_reserved", Dense(
        F32, (4, 6), Tiles((2, 3), STRIDED, outer_strides=(-2, 1), reserved=b"\1\1"), 0, 4096
    ), "byte_offset"
    yield "tiled_tile_before_outer", Dense(F32, (6, 8), Tiles((2, 0), outer=9), 0, 4096), "level 1: tile_shape[1]"
    yield "tiled_outer_before_inner", Dense(
        F32, (6, 8), Tiles((2, 2), outer=9, inner=9), 0, 4096
    ), "level 1: outer_layout"
    yield "tiled_reserved_before_count", dataclasses.replace(
        Dense(F32, (6, 8), Tiles((2, 2), reserved=b"\1\0")), buffers=(Handle(4096),) * 2
    ), "level 1: reserved"
    yield "tiled_tile_before_end", cut(Dense(F32, (6, 8), Tiles((0, 4)), 0, 64), "level 1: tile_shape[1]", 3), (
        "level 1: tile_shape[0]"
    )
    yield "tiled_reserved_before_end", cut(
        Dense(F32, (6, 8), Tiles((2, 4), reserved=b"\1\0"), 0, 64), "level 1: reserved", 1
    ), "level 1: reserved"
    deep = Dense(F32, (4, 4), nest((4, 4), (2, 2), outer=STRIDED, inner=STRIDED, outer_strides=(2, 1), inner_strides=(2, 1)))
    for field in dict(deep.layout.fields()):
        for kept in range(len(dict(deep.layout.fields())[field])):
            yield f"tiled_cut_{field.replace(': ', '_').replace(' ', '_')}_{kept}", cut(deep, field, kept), field


def invalid_morton():
    for name, dense in morton():
        if dense.room()[1] > 0:
            yield f"{name}_short_by_one", short_by_one(dense), SIZE
    for k in range(2):
        bits = tuple(0 if i == k else 3 for i in range(2))
        yield f"morton_no_bits_{k}", Dense(F32, (1, 1), Morton(bits), 0, 4096), f"morton_bits[{k}]"
        yield f"morton_no_bits_{k}_empty", Dense(F32, (0, 0), Morton(bits), 0, 0), f"morton_bits[{k}]"
    yield "morton_too_few_bits", Dense(F32, (4, 5), Morton((2, 2)), 0, 4096), "morton_bits[1]"
    yield "morton_too_few_bits_empty", Dense(F32, (5, 0), Morton((2, 2)), 0, 4096), "morton_bits[0]"
    yield "morton_far_too_few_bits", Dense(U8, (2**40,), Morton((1,)), 0, 2**41), "morton_bits[0]"
    yield "morton_shift_64_rank_1", Dense(F32, (1,), Morton((65,)), 0, 4096), "morton_bits[0]"
    yield "morton_shift_64_rank_2", Dense(F32, (1, 1), Morton((33, 1)), 0, 4096), "morton_bits[0]"
    yield "morton_shift_65_rank_2", Dense(F32, (1, 1), Morton((1, 33)), 0, 4096), "morton_bits[1]"
    yield "morton_shift_64_rank_3", Dense(F32, (1, 1, 1), Morton((1, 22, 1)), 0, 4096), "morton_bits[1]"
    yield "morton_shift_66_rank_3", Dense(F32, (1, 1, 1), Morton((23, 1, 1)), 0, 4096), "morton_bits[0]"
    yield "morton_shift_65_rank_3", Dense(F32, (1, 1, 1), Morton((1, 1, 22)), 0, 4096), "morton_bits[2]"
    yield "morton_shift_64_rank_64", Dense(U8, (1,) * 64, Morton((2,) + (1,) * 63), 0, 4096), "morton_bits[0]"
    yield "morton_shift_wraps", Dense(F32, (1, 1), Morton((2**31 + 1, 1)), 0, 4096), "morton_bits[0]"
    yield "morton_most_bits", Dense(F32, (1,), Morton((2**32 - 1,)), 0, 4096), "morton_bits[0]"
    yield "morton_64_bits_do_not_fit", Dense(U8, (1, 1), Morton((32, 32)), 0, 2**64 - 1), SIZE
    yield "morton_64_bits_do_not_fit_rank_1", Dense(BOOL, (1,), Morton((64,)), 0, 2**64 - 1), SIZE
    yield "morton_bytes_wrap", Dense(F64, (1,), Morton((61,)), 0, 2**64 - 1), SIZE
    yield "morton_sum_of_bits_only", Dense(F32, (1, 8), Morton((1, 3)), 0, 4 * 16), SIZE
    yield "morton_two_buffers", Dense(F32, (4, 4), Morton((2, 2)), buffers=(Handle(64),) * 2), "buffer_count"
    yield "morton_byte_offset_over", Dense(F32, (4, 4), Morton((0, 0)), 65, 64), "byte_offset"
    yield "morton_bits_before_count", Dense(
        F32, (4, 4), Morton((2, 1)), 0, 64, buffers=(Handle(64),) * 2
    ), "morton_bits[1]"
    yield "morton_bits_before_end", cut(Dense(F32, (4, 4), Morton((0, 2)), 0, 64), "morton_bits[1]", 2), "morton_bits[0]"
    for k in range(2):
        for kept in range(4):
            yield f"morton_cut_bits_{k}_{kept}", cut(Dense(F32, (4, 4), Morton((2, 2))), f"morton_bits[{k}]", kept), (
                f"morton_bits[{k}]"
            )


def invalid_hilbert():
    for name, dense in hilbert():
        yield f"{name}_short_by_one", short_by_one(dense), SIZE
    yield "hilbert_order_0", Dense(F32, (1, 1), Hilbert(0, 2), 0, 4096), "hilbert_order"
    yield "hilbert_order_too_large", Dense(F32, (4, 4), Hilbert(3, 2), 0, 4096), "hilbert_order"
    yield "hilbert_order_too_small", Dense(F32, (4, 4), Hilbert(1, 2), 0, 4096), "hilbert_order"
    yield "hilbert_order_64", Dense(F32, (1, 1), Hilbert(64, 2), 0, 4096), "hilbert_order"
    yield "hilbert_order_66", Dense(F32, (4, 4), Hilbert(66, 2), 0, 4096), "hilbert_order"
    yield "hilbert_order_most", Dense(F32, (4, 4), Hilbert(2**32 - 1, 2), 0, 4096), "hilbert_order"
    yield "hilbert_not_a_cube", Dense(F32, (4, 8), Hilbert(2, 2), 0, 4096), "hilbert_order"
    yield "hilbert_no_power", Dense(F32, (6, 6), Hilbert(2, 2), 0, 4096), "hilbert_order"
    yield "hilbert_empty", Dense(F32, (0, 4), Hilbert(2, 2), 0, 4096), "hilbert_order"
    yield "hilbert_dynamic", Dense(F32, (4, DYNAMIC), Hilbert(2, 2), 0, 4096), "hilbert_order"
    yield "hilbert_rank_3_of_2", Dense(F32, (4, 4), Hilbert(2, 3), 0, 4096), "hilbert_rank"
    yield "hilbert_rank_0", Dense(F32, (4, 4), Hilbert(2, 0), 0, 4096), "hilbert_rank"
    yield "hilbert_rank_1", Dense(F32, (4,), Hilbert(2, 1), 0, 4096), "rank"
    yield "hilbert_rank_most", Dense(F32, (4, 4), Hilbert(2, 2**32 - 1), 0, 4096), "hilbert_rank"
    yield "hilbert_order_before_rank", Dense(F32, (4, 4), Hilbert(3, 3), 0, 4096), "hilbert_order"
    yield "hilbert_rank_before_count", Dense(
        F32, (4, 4), Hilbert(2, 3), 0, 64, buffers=(Handle(64),) * 2
    ), "hilbert_rank"
    yield "hilbert_two_buffers", Dense(F32, (4, 4), Hilbert(2, 2), buffers=(Handle(64),) * 2), "buffer_count"
    yield "hilbert_byte_offset_over", Dense(F32, (4, 4), Hilbert(0, 0), 65, 64), "byte_offset"
    yield "hilbert_shape_wraps", Dense(U8, (2**32, 2**32), Hilbert(32, 2), 0, 2**64 - 1), "shape[1]"
    yield "hilbert_order_before_end", cut(Dense(F32, (4, 4), Hilbert(3, 2), 0, 64), "hilbert_rank", 1), "hilbert_order"
    for field in ("hilbert_order", "hilbert_rank"):
        for kept in range(4):
            yield f"{field}_cut_{kept}", cut(Dense(F32, (4, 4), Hilbert(2, 2)), field, kept), field


def all_invalid():
    for group in (invalid_tiled, invalid_morton, invalid_hilbert):
        yield from group()
