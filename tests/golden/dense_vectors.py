"""Tiled, Morton and Hilbert descriptors: those that every strict reader must take, and those that it must refuse."""

import dataclasses

from dense_layouts import COL_MAJOR, ROW_MAJOR, STRIDED, Hilbert, Morton, Tiles, dense, room
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
    yield "tiled_2x4_of_6x8", dense(F32, (6, 8), Tiles((2, 4)))
    yield "tiled_edges", dense(F32, (5, 7), Tiles((2, 4)))
    for outer in (ROW_MAJOR, COL_MAJOR):
        for inner in (ROW_MAJOR, COL_MAJOR):
            yield f"tiled_outer_{outer}_inner_{inner}", dense(F32, (5, 6), Tiles((2, 3), outer, inner))
    yield "tiled_rank_1", dense(U8, (10,), Tiles((4,)))
    yield "tiled_rank_3", dense(INT4, (3, 4, 5), Tiles((2, 3, 2), COL_MAJOR))
    yield "tiled_rank_64", dense(U8, (1,) * 62 + (3, 3), Tiles((1,) * 62 + (2, 2)))
    yield "tiled_larger_than_tensor", dense(F32, (2, 3), Tiles((4, 4), inner=COL_MAJOR))
    yield "tiled_single_elements", dense(F32, (3, 2), Tiles((1, 1), COL_MAJOR))
    yield "tiled_outer_strides", dense(F32, (4, 6), Tiles((2, 3), STRIDED, outer_strides=(1, 3)))
    yield "tiled_outer_strides_negative", dense(F32, (4, 6), Tiles((2, 3), STRIDED, outer_strides=(-2, 1)))
    yield "tiled_outer_broadcast", dense(F32, (4, 6), Tiles((2, 3), STRIDED, outer_strides=(0, 1)))
    yield "tiled_inner_strides", dense(F32, (4, 6), Tiles((2, 3), COL_MAJOR, STRIDED, inner_strides=(1, 2)))
    yield "tiled_inner_strides_negative", dense(F32, (4, 6), Tiles((2, 3), inner=STRIDED, inner_strides=(-3, 1)))
    yield "tiled_inner_strides_wide", dense(F32, (4, 3), Tiles((2, 3), STRIDED, STRIDED, (4,) * 2, (9, 2)))
    yield "tiled_strides_of_both", dense(
        U8, (3, 5), Tiles((2, 2), STRIDED, STRIDED, outer_strides=(3, -1), inner_strides=(1, 2))
    )
    yield "tiled_2_levels", dense(F32, (8, 8), nest((4, 4), (2, 2), inner=COL_MAJOR))
    yield "tiled_2_levels_edges", dense(F32, (7, 9), nest((4, 6), (2, 3)))
    yield "tiled_3_levels_strided", dense(
        U8, (12, 8), nest((6, 8), (6, 4), (3, 2), outer=STRIDED, outer_strides=(1, 2), inner=COL_MAJOR)
    )
    yield "tiled_8_levels", dense(U8, (300,), nest((256,), (128,), (64,), (32,), (16,), (8,), (4,), (2,)))
    yield "tiled_8_levels_rank_2", dense(BOOL, (9, 10), nest(*((2**k, 8) for k in range(7, -1, -1))))
    yield "tiled_misfit_is_read", dense(F32, (6, 4), nest((3, 4), (2, 4)))
    yield "tiled_bool", dense(BOOL, (5, 6), Tiles((2, 3)))
    yield "tiled_bool_negative", dense(BOOL, (4, 6), Tiles((2, 3), STRIDED, outer_strides=(-2, 1)))
    yield "tiled_float6", dense(F6, (5, 3), Tiles((2, 2), COL_MAJOR))
    yield "tiled_uint2", dense(UINT2, (5, 3), Tiles((3, 2), inner=COL_MAJOR))
    yield "tiled_byte_offset", dense(F32, (5, 3), Tiles((2, 2)), byte_offset=20)
    yield "tiled_empty", dense(F32, (0, 3), Tiles((2, 2)))
    yield "tiled_empty_with_huge_tiles", dense(F32, (0, 3), Tiles((2**40, 2**40)))
    yield "tiled_dynamic", dense(F32, (DYNAMIC, 3), Tiles((2, 2)), byte_size=4)
    yield "tiled_shard", dense(F32, (4, 4), Tiles((2, 2)), parent_shape=(8, 8), shard_offset=(4, 0))


def morton():
    yield "morton_4x4", dense(F32, (4, 4), Morton((2, 2)))
    yield "morton_3x5", dense(F32, (3, 5), Morton((2, 3)))
    yield "morton_5x3", dense(F32, (5, 3), Morton((3, 2)))
    yield "morton_rank_1", dense(F32, (11,), Morton((4,)))
    yield "morton_rank_3", dense(F64, (3, 4, 2), Morton((2, 2, 2)))
    yield "morton_rank_3_unequal", dense(U8, (2, 7, 3), Morton((1, 3, 2)))
    yield "morton_more_bits_than_needed", dense(F32, (2, 2), Morton((3, 3)))
    yield "morton_size_1", dense(F32, (1, 1), Morton((1, 1)))
    yield "morton_one_long", dense(U8, (1, 60), Morton((1, 6)))
    yield "morton_long_first", dense(U8, (60, 1), Morton((6, 1)))
    yield "morton_22_bits_of_rank_3", dense(U8, (2, 1, 1), Morton((22, 1, 1)))
    yield "morton_21_bits_of_rank_3", dense(U8, (3, 2, 2), Morton((2, 21, 1)))
    yield "morton_rank_10", dense(U8, (2,) * 5 + (1,) * 5, Morton((1,) * 10))
    yield "morton_bool", dense(BOOL, (5, 6), Morton((3, 3)))
    yield "morton_int4", dense(INT4, (3, 3), Morton((2, 2)))
    yield "morton_float6", dense(F6, (3, 2, 2), Morton((2, 1, 1)))
    yield "morton_complex128", dense(C128, (2, 3), Morton((1, 2)))
    yield "morton_byte_offset", dense(F32, (3, 3), Morton((2, 2)), byte_offset=8)
    yield "morton_empty", dense(F32, (0, 4), Morton((1, 2)))
    yield "morton_empty_64_bits", dense(F32, (0,), Morton((64,)))
    yield "morton_empty_rank_64", dense(F32, (0,) * 64, Morton((1,) * 64))
    yield "morton_dynamic", dense(F32, (DYNAMIC, 4), Morton((1, 2)), byte_size=0)
    yield "morton_shard", dense(F32, (3, 3), Morton((2, 2)), parent_shape=(4, 4), shard_offset=(1, 1))


def hilbert():
    for order in (1, 2, 3, 4):
        yield f"hilbert_2d_order_{order}", dense(F32, (2**order,) * 2, Hilbert(order, 2))
    for order in (1, 2, 3):
        yield f"hilbert_3d_order_{order}", dense(U8, (2**order,) * 3, Hilbert(order, 3))
    yield "hilbert_4d_order_2", dense(U8, (4,) * 4, Hilbert(2, 4))
    yield "hilbert_10d_order_1", dense(BOOL, (2,) * 10, Hilbert(1, 10))
    yield "hilbert_bool", dense(BOOL, (8, 8), Hilbert(3, 2))
    yield "hilbert_float6", dense(F6, (2, 2, 2), Hilbert(1, 3))
    yield "hilbert_int4_byte_offset", dense(INT4, (4, 4), Hilbert(2, 2), byte_offset=3)
    yield "hilbert_complex128", dense(C128, (4, 4), Hilbert(2, 2))
    yield "hilbert_shard", dense(F32, (4, 4), Hilbert(2, 2), parent_shape=(4, 8), shard_offset=(0, 4))


# Descriptors that decode as well, of which no element is looked at: they are too large for a table of offsets.
def large():
    yield "tiled_over_4_gib", dense(U8, (2**20, 2**13), Tiles((2**19, 2**12)), byte_offset=0, byte_size=2**33)
    yield "tiled_far_strides", dense(
        U8, (4, 2), Tiles((2, 2), STRIDED, outer_strides=(2**61 - 1, 0)), byte_offset=0, byte_size=2**63
    )
    yield "tiled_size_1_wild_strides", dense(
        F32, (2, 2), Tiles((2, 2), STRIDED, outer_strides=(-(2**63), 2**63 - 1)), byte_offset=0, byte_size=16
    )
    yield "tiled_empty_wild_strides", dense(
        F32, (0, 9), Tiles((2, 2), STRIDED, outer_strides=(-(2**63), 2**63 - 1)), byte_offset=0, byte_size=0
    )
    yield "morton_32_bits_each", dense(BOOL, (2**31, 2**31), Morton((31, 31)), byte_offset=0, byte_size=2**59)
    yield "morton_63_bits", dense(BOOL, (1,), Morton((63,)), byte_offset=0, byte_size=2**60)
    yield "hilbert_31_bits_each", dense(BOOL, (2**31, 2**31), Hilbert(31, 2), byte_offset=0, byte_size=2**59)
    yield "hilbert_63d", dense(BOOL, (2,) * 63, Hilbert(1, 63), byte_offset=0, byte_size=2**60)


def all_valid():
    for group in (tiled, morton, hilbert):
        yield from group()


def room_of(descriptor):
    return room(descriptor.layout, descriptor.type_tag, descriptor.shape)


def short_by_one(descriptor):
    return dataclasses.replace(descriptor, buffers=(Handle(descriptor.buffers[0].byte_size - 1),))


def low_by_one(descriptor):
    return dataclasses.replace(descriptor, byte_offset=descriptor.byte_offset - 1)


def cut(descriptor, field, kept=0):
    """A descriptor that says itself that it ends within a field, of which `kept` bytes are there."""
    return dataclasses.replace(descriptor, length=descriptor.offset_of(field) + kept)


def invalid_tiled():
    plain = dense(F32, (6, 8), Tiles((2, 4)))
    for name, whole in tiled():
        below, above = room_of(whole)
        if above > 0 and name != "tiled_8_levels":
            yield f"{name}_short_by_one", short_by_one(whole), SIZE
        if below > 0:
            yield f"{name}_low_by_one", low_by_one(whole), "byte_offset"
    for k in range(2):
        shape = tuple(0 if i == k else 2 for i in range(2))
        yield f"tiled_zero_tile_{k}", dense(F32, (6, 8), Tiles(shape), 0, 4096), f"level 1: tile_shape[{k}]"
        yield f"tiled_zero_tile_{k}_empty", dense(F32, (0, 8), Tiles(shape), 0, 0), f"level 1: tile_shape[{k}]"
        yield f"tiled_zero_tile_{k}_level_2", dense(
            F32, (6, 8), nest((4, 4), shape), 0, 4096
        ), f"level 2: tile_shape[{k}]"
    for outer in (0x00, 0x04, 0x05, 0x40, 0xFF):
        yield f"tiled_outer_{outer:02x}", dense(F32, (6, 8), Tiles((2, 4), outer), 0, 4096), "level 1: outer_layout"
    for inner in (0x00, 0x05, 0x40, 0xF0, 0xFF):
        yield f"tiled_inner_{inner:02x}", dense(
            F32, (6, 8), Tiles((2, 4), inner=inner), 0, 4096
        ), "level 1: inner_layout"
    for reserved in (b"\x01\0", b"\0\x80"):
        yield f"tiled_reserved_{reserved.hex()}", dense(
            F32, (6, 8), Tiles((2, 4), reserved=reserved), 0, 4096
        ), "level 1: reserved"
    yield "tiled_reserved_level_2", dense(
        F32, (6, 8), nest((2, 4), (1, 2), reserved=b"\0\1"), 0, 4096
    ), "level 2: reserved"
    yield "tiled_9_levels", dense(U8, (8,), nest(*[(1,)] * 9), 0, 4096), "level 8: inner_layout"
    yield "tiled_9_levels_cut", cut(
        dense(U8, (8,), nest(*[(1,)] * 9), 0, 4096), "level 9: tile_shape[0]"
    ), "level 8: inner_layout"
    yield "tiled_two_buffers", dataclasses.replace(plain, buffers=(Handle(4096),) * 2), "buffer_count"
    yield "tiled_no_buffer", dataclasses.replace(plain, buffers=()), "buffer_count"
    yield "tiled_tile_wraps", dense(U8, (1, 1), Tiles((2**40, 2**40)), 0, 2**64 - 1), SIZE
    yield "tiled_tile_wraps_to_0", dense(U8, (1, 1), Tiles((2**32, 2**32)), 0, 2**64 - 1), SIZE
    yield "tiled_tiles_wrap", dense(U8, (2**33, 2**30), Tiles((2**32 + 1, 2**31)), 0, 2**63), SIZE
    yield "tiled_bytes_wrap", dense(F64, (2**60,), Tiles((2**61,)), 0, 2**64 - 1), SIZE
    yield "tiled_outer_stride_wraps", dense(
        U8, (8,), Tiles((4,), STRIDED, outer_strides=(2**62,)), 0, 2**64 - 1
    ), SIZE
    yield "tiled_outer_stride_wraps_below", dense(
        U8, (8,), Tiles((4,), STRIDED, outer_strides=(-(2**62),)), 64, 2**64 - 1
    ), "byte_offset"
    yield "tiled_outer_most_negative", dense(
        U8, (3,), Tiles((1,), STRIDED, outer_strides=(-(2**63),)), 64, 2**64 - 1
    ), "byte_offset"
    yield "tiled_byte_offset_over", dataclasses.replace(plain, byte_offset=4097, buffers=(Handle(4096),)), "byte_offset"
    yield "tiled_byte_offset_before_tile", dense(F32, (6, 8), Tiles((0, 4)), 65, 64), "byte_offset"
    yield "tiled_low_before_reserved", dense(
        F32, (4, 6), Tiles((2, 3), STRIDED, outer_strides=(-2, 1), reserved=b"\1\1"), 0, 4096
    ), "byte_offset"
    yield "tiled_tile_before_outer", dense(F32, (6, 8), Tiles((2, 0), outer=9), 0, 4096), "level 1: tile_shape[1]"
    yield "tiled_outer_before_inner", dense(
        F32, (6, 8), Tiles((2, 2), outer=9, inner=9), 0, 4096
    ), "level 1: outer_layout"
    yield "tiled_reserved_before_count", dataclasses.replace(
        dense(F32, (6, 8), Tiles((2, 2), reserved=b"\1\0")), buffers=(Handle(4096),) * 2
    ), "level 1: reserved"
    yield "tiled_tile_before_end", cut(dense(F32, (6, 8), Tiles((0, 4)), 0, 64), "level 1: tile_shape[1]", 3), (
        "level 1: tile_shape[0]"
    )
    yield "tiled_reserved_before_end", cut(
        dense(F32, (6, 8), Tiles((2, 4), reserved=b"\1\0"), 0, 64), "level 1: reserved", 1
    ), "level 1: reserved"
    deep = dense(F32, (4, 4), nest((4, 4), (2, 2), outer=STRIDED, inner=STRIDED, outer_strides=(2, 1), inner_strides=(2, 1)))
    for field in dict(deep.layout.fields()):
        for kept in range(len(dict(deep.layout.fields())[field])):
            yield f"tiled_cut_{field.replace(': ', '_').replace(' ', '_')}_{kept}", cut(deep, field, kept), field


def invalid_morton():
    for name, whole in morton():
        if room_of(whole)[1] > 0:
            yield f"{name}_short_by_one", short_by_one(whole), SIZE
    for k in range(2):
        bits = tuple(0 if i == k else 3 for i in range(2))
        yield f"morton_no_bits_{k}", dense(F32, (1, 1), Morton(bits), 0, 4096), f"morton_bits[{k}]"
        yield f"morton_no_bits_{k}_empty", dense(F32, (0, 0), Morton(bits), 0, 0), f"morton_bits[{k}]"
    yield "morton_too_few_bits", dense(F32, (4, 5), Morton((2, 2)), 0, 4096), "morton_bits[1]"
    yield "morton_too_few_bits_empty", dense(F32, (5, 0), Morton((2, 2)), 0, 4096), "morton_bits[0]"
    yield "morton_far_too_few_bits", dense(U8, (2**40,), Morton((1,)), 0, 2**41), "morton_bits[0]"
    yield "morton_shift_64_rank_1", dense(F32, (1,), Morton((65,)), 0, 4096), "morton_bits[0]"
    yield "morton_shift_64_rank_2", dense(F32, (1, 1), Morton((33, 1)), 0, 4096), "morton_bits[0]"
    yield "morton_shift_65_rank_2", dense(F32, (1, 1), Morton((1, 33)), 0, 4096), "morton_bits[1]"
    yield "morton_shift_64_rank_3", dense(F32, (1, 1, 1), Morton((1, 22, 1)), 0, 4096), "morton_bits[1]"
    yield "morton_shift_66_rank_3", dense(F32, (1, 1, 1), Morton((23, 1, 1)), 0, 4096), "morton_bits[0]"
    yield "morton_shift_65_rank_3", dense(F32, (1, 1, 1), Morton((1, 1, 22)), 0, 4096), "morton_bits[2]"
    yield "morton_shift_64_rank_64", dense(U8, (1,) * 64, Morton((2,) + (1,) * 63), 0, 4096), "morton_bits[0]"
    yield "morton_shift_wraps", dense(F32, (1, 1), Morton((2**31 + 1, 1)), 0, 4096), "morton_bits[0]"
    yield "morton_most_bits", dense(F32, (1,), Morton((2**32 - 1,)), 0, 4096), "morton_bits[0]"
    yield "morton_64_bits_do_not_fit", dense(U8, (1, 1), Morton((32, 32)), 0, 2**64 - 1), SIZE
    yield "morton_64_bits_do_not_fit_rank_1", dense(BOOL, (1,), Morton((64,)), 0, 2**64 - 1), SIZE
    yield "morton_bytes_wrap", dense(F64, (1,), Morton((61,)), 0, 2**64 - 1), SIZE
    yield "morton_sum_of_bits_only", dense(F32, (1, 8), Morton((1, 3)), 0, 4 * 16), SIZE
    yield "morton_two_buffers", dense(F32, (4, 4), Morton((2, 2)), buffers=(Handle(64),) * 2), "buffer_count"
    yield "morton_byte_offset_over", dense(F32, (4, 4), Morton((0, 0)), 65, 64), "byte_offset"
    yield "morton_bits_before_count", dense(
        F32, (4, 4), Morton((2, 1)), 0, 64, buffers=(Handle(64),) * 2
    ), "morton_bits[1]"
    yield "morton_bits_before_end", cut(dense(F32, (4, 4), Morton((0, 2)), 0, 64), "morton_bits[1]", 2), "morton_bits[0]"
    for k in range(2):
        for kept in range(4):
            yield f"morton_cut_bits_{k}_{kept}", cut(dense(F32, (4, 4), Morton((2, 2))), f"morton_bits[{k}]", kept), (
                f"morton_bits[{k}]"
            )


def invalid_hilbert():
    for name, whole in hilbert():
        yield f"{name}_short_by_one", short_by_one(whole), SIZE
    yield "hilbert_order_0", dense(F32, (1, 1), Hilbert(0, 2), 0, 4096), "hilbert_order"
    yield "hilbert_order_too_large", dense(F32, (4, 4), Hilbert(3, 2), 0, 4096), "hilbert_order"
    yield "hilbert_order_too_small", dense(F32, (4, 4), Hilbert(1, 2), 0, 4096), "hilbert_order"
    yield "hilbert_order_64", dense(F32, (1, 1), Hilbert(64, 2), 0, 4096), "hilbert_order"
    yield "hilbert_order_66", dense(F32, (4, 4), Hilbert(66, 2), 0, 4096), "hilbert_order"
    yield "hilbert_order_most", dense(F32, (4, 4), Hilbert(2**32 - 1, 2), 0, 4096), "hilbert_order"
    yield "hilbert_not_a_cube", dense(F32, (4, 8), Hilbert(2, 2), 0, 4096), "hilbert_order"
    yield "hilbert_no_power", dense(F32, (6, 6), Hilbert(2, 2), 0, 4096), "hilbert_order"
    yield "hilbert_empty", dense(F32, (0, 4), Hilbert(2, 2), 0, 4096), "hilbert_order"
    yield "hilbert_dynamic", dense(F32, (4, DYNAMIC), Hilbert(2, 2), 0, 4096), "hilbert_order"
    yield "hilbert_rank_3_of_2", dense(F32, (4, 4), Hilbert(2, 3), 0, 4096), "hilbert_rank"
    yield "hilbert_rank_0", dense(F32, (4, 4), Hilbert(2, 0), 0, 4096), "hilbert_rank"
    yield "hilbert_rank_1", dense(F32, (4,), Hilbert(2, 1), 0, 4096), "rank"
    yield "hilbert_rank_most", dense(F32, (4, 4), Hilbert(2, 2**32 - 1), 0, 4096), "hilbert_rank"
    yield "hilbert_order_before_rank", dense(F32, (4, 4), Hilbert(3, 3), 0, 4096), "hilbert_order"
    yield "hilbert_rank_before_count", dense(
        F32, (4, 4), Hilbert(2, 3), 0, 64, buffers=(Handle(64),) * 2
    ), "hilbert_rank"
    yield "hilbert_two_buffers", dense(F32, (4, 4), Hilbert(2, 2), buffers=(Handle(64),) * 2), "buffer_count"
    yield "hilbert_byte_offset_over", dense(F32, (4, 4), Hilbert(0, 0), 65, 64), "byte_offset"
    yield "hilbert_shape_wraps", dense(U8, (2**32, 2**32), Hilbert(32, 2), 0, 2**64 - 1), "shape[1]"
    yield "hilbert_order_before_end", cut(dense(F32, (4, 4), Hilbert(3, 2), 0, 64), "hilbert_rank", 1), "hilbert_order"
    for field in ("hilbert_order", "hilbert_rank"):
        for kept in range(4):
            yield f"{field}_cut_{kept}", cut(dense(F32, (4, 4), Hilbert(2, 2)), field, kept), field


def all_invalid():
    for group in (invalid_tiled, invalid_morton, invalid_hilbert):
        yield from group()
