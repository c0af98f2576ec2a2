"""Descriptors that every reader must accept."""

from wire import COL_MAJOR, DYNAMIC, LAYOUTS, ROW_MAJOR, STRIDED, TAG_OF_TYPE, TYPES, Descriptor, Handle

F32 = TAG_OF_TYPE["float32"]
BOOL = TAG_OF_TYPE["bool"]
INT4 = TAG_OF_TYPE["int4"]
UINT2 = TAG_OF_TYPE["uint2"]
F6 = TAG_OF_TYPE["float6_e2m3"]
U8 = TAG_OF_TYPE["uint8"]

DEVICES = ("cpu", "cuda", "rocm", "metal", "vulkan", "webgpu", "hexagon", "level_zero", "opencl")
CLASSES = ("standard", "host_pinned", "unified", "peer")
# The memory classes that each device has.
CLASSES_OF_DEVICE = {
    "cpu": (0, 1, 2),
    "cuda": (0, 1, 2, 3),
    "rocm": (0, 1, 2, 3),
    "metal": (0, 1, 2),
    "vulkan": (0, 1, 2, 3),
    "webgpu": (0,),
    "hexagon": (0, 1, 2),
    "level_zero": (0, 1, 2, 3),
    "opencl": (0, 1, 2),
}


def types():
    for tag, (name, _, _) in TYPES.items():
        yield f"type_{name}", f"{name}, whose 7 elements may end within a byte", Descriptor(tag, (7,))
        yield f"strided_{name}", f"every other column of {name}", Descriptor(tag, (3, 5), STRIDED, strides=(10, 2))


def shapes():
    for layout in (ROW_MAJOR, COL_MAJOR):
        name = LAYOUTS[layout]
        yield f"{name}_2x3", f"two dimensions, {name}", Descriptor(F32, (2, 3), layout)
        yield f"{name}_rank_4", f"four dimensions, {name}", Descriptor(F32, (2, 3, 4, 5), layout)
        yield f"{name}_rank_64", f"the highest rank, {name}", Descriptor(U8, (1,) * 62 + (2, 3), layout)
        yield f"{name}_empty_first", f"no elements, {name}", Descriptor(F32, (0, 4), layout)
        yield f"{name}_empty_last", f"no elements, {name}", Descriptor(F32, (4, 0), layout)
        yield f"{name}_dynamic", f"a dimension that is not known, {name}", Descriptor(
            F32, (DYNAMIC, 4), layout, buffers=(Handle(4096),)
        )
    yield "scalar", "rank 0 has one element", Descriptor(F32, ())
    yield "scalar_bool", "one bit in one byte", Descriptor(BOOL, ())
    yield "scalar_with_byte_offset", "rank 0 away from the start", Descriptor(F32, (), byte_offset=12)
    yield "rank_1_size_1", "a single element with a dimension", Descriptor(F32, (1,))
    yield "rank_5", "one more dimension than most", Descriptor(F32, (1, 2, 1, 2, 3))
    yield "empty_all", "every dimension is 0", Descriptor(F32, (0, 0, 0))
    yield "empty_with_huge_dimensions", "a product of 0 never overflows", Descriptor(F32, (2**62, 2**62, 0))
    yield "dynamic_all", "no dimension is known", Descriptor(F32, (DYNAMIC, DYNAMIC), buffers=(Handle(0),))
    yield "dynamic_and_huge", "sizes are not multiplied while one is unknown", Descriptor(
        F32, (2**40, DYNAMIC, 2**40), buffers=(Handle(64),)
    )
    yield "dynamic_and_empty", "an unknown and a zero dimension", Descriptor(F32, (DYNAMIC, 0), buffers=(Handle(0),))
    yield "over_2_gib", "2^31 + 64 bytes", Descriptor(U8, (2**31 + 64,))
    yield "over_4_gib", "more than 32 bits of bytes", Descriptor(F32, (3, 2**30))
    yield "largest_byte_count", "2^64 - 1 bytes", Descriptor(U8, (3, (2**64 - 1) // 3))
    yield "largest_dimension", "2^64 - 2 elements", Descriptor(BOOL, (2**64 - 2,))


def byte_offsets():
    yield "byte_offset_4", "elements start behind four bytes", Descriptor(F32, (3, 4), byte_offset=4)
    yield "byte_offset_odd", "elements need no alignment", Descriptor(F32, (3,), byte_offset=63)
    yield "byte_offset_at_end_of_empty", "byte_offset equals the size of the buffer", Descriptor(
        F32, (0,), byte_offset=128
    )
    yield "byte_offset_over_4_gib", "a far offset", Descriptor(U8, (16,), byte_offset=2**33 + 1)
    yield "buffer_larger_than_needed", "room behind the elements", Descriptor(F32, (2,), buffers=(Handle(4096),))
    yield "dynamic_byte_offset_at_end", "room is not checked, the offset is", Descriptor(
        F32, (DYNAMIC,), byte_offset=64, buffers=(Handle(64),)
    )


def strided():
    def make(type_tag, shape, strides, byte_offset=0, **other):
        return Descriptor(type_tag, shape, STRIDED, byte_offset, strides, **other)

    yield "strided_row_major", "the strides of row-major", make(F32, (3, 4), (4, 1))
    yield "strided_transposed", "the strides of column-major", make(F32, (3, 4), (1, 3))
    yield "strided_broadcast_row", "stride 0 repeats a row", make(F32, (1000, 4), (0, 1))
    yield "strided_broadcast_all", "one element everywhere", make(F32, (2**31, 2**31), (0, 0))
    yield "strided_reversed", "a negative stride from the last element", make(F32, (5,), (-1,), 16)
    yield "strided_reversed_rows", "rows in reverse order", make(F32, (3, 4), (-4, 1), 32)
    yield "strided_reversed_both", "all in reverse order", make(F32, (3, 4), (-4, -1), 44)
    yield "strided_reversed_with_slack", "more room before than needed", make(F32, (3,), (-2,), 100)
    yield "strided_mixed_signs", "three dimensions of every sign", make(F32, (2, 3, 4), (12, -4, 0), 32)
    yield "strided_size_1_wild_stride", "the stride of a dimension of size 1 does not matter", make(
        F32, (1, 3), (-(2**63), 1)
    )
    yield "strided_size_1_largest_stride", "likewise", make(F32, (3, 1), (1, 2**63 - 1))
    yield "strided_empty_wild_strides", "without elements no stride matters", make(
        F32, (0, 7), (2**63 - 1, -(2**63))
    )
    yield "strided_overlapping", "windows that overlap", make(F32, (6, 3), (1, 1))
    yield "strided_bool_reversed", "negative strides of packed bits", make(BOOL, (10,), (-1,), 2)
    yield "strided_bool_reversed_far", "9 bits before byte_offset take two bytes", make(BOOL, (10,), (-1,), 7)
    yield "strided_bool_columns", "bits in steps of 3", make(BOOL, (3, 5), (16, 3))
    yield "strided_int4_reversed", "negative strides of nibbles", make(INT4, (2, 3), (-4, 1), 2)
    yield "strided_uint2_broadcast", "one packed element", make(UINT2, (9,), (0,))
    yield "strided_float6_reversed", "negative strides by groups of four", make(F6, (6,), (-1,), 6)
    yield "strided_dynamic", "reach is not checked while a dimension is unknown", make(
        F32, (DYNAMIC, 4), (2**62, 1), buffers=(Handle(16),)
    )
    yield "strided_rank_4", "four dimensions", make(F32, (2, 3, 4, 5), (60, 20, 5, 1))
    yield "strided_rank_5", "five dimensions", make(F32, (2, 1, 3, 4, 5), (60, 7, 20, 5, 1))
    yield "strided_rank_64", "the highest rank", make(U8, (2,) + (1,) * 63, (-9,) + (0,) * 63, 9)
    yield "strided_far", "the largest reach below 2^63 bytes", make(U8, (2,), (2**63 - 2,))
    yield "strided_farthest", "a reach of 2^64 - 2 elements", make(U8, (3, 2), (2**62, 2**63 - 2))


def buffers():
    for device, name in enumerate(DEVICES):
        for memory in CLASSES_OF_DEVICE[name]:
            yield f"device_{name}_{CLASSES[memory]}", f"{name} memory of class {CLASSES[memory]}", Descriptor(
                F32, (16,), buffers=(Handle(64, 4096, device, 0, memory),)
            )
    yield "sync_event", "a device buffer with an event", Descriptor(F32, (16,), buffers=(Handle(64, 256, 1, 1, 0),))
    yield "sync_consumer_stream", "a device buffer on the consumer's stream", Descriptor(
        F32, (16,), buffers=(Handle(64, 256, 2, 2, 1),)
    )
    for power in (7, 12, 21, 31):
        yield f"alignment_2_{power}", f"an alignment of {2**power}", Descriptor(
            F32, (1,), buffers=(Handle(4, 2**power),)
        )
    for power in (0, 5, 31):
        yield f"empty_alignment_2_{power}", f"an empty buffer may have an alignment of {2**power}", Descriptor(
            F32, (0,), buffers=(Handle(0, 2**power),)
        )
    yield "empty_device_event", "an empty buffer of a device, with an event", Descriptor(
        F32, (0,), buffers=(Handle(0, 1, 1, 1, 3),)
    )


def shards():
    def make(shape, parent, offset, **other):
        return Descriptor(F32, shape, parent_shape=parent, shard_offset=offset, **other)

    yield "shard_columns", "half of the columns", make((8, 4), (8, 8), (0, 4))
    yield "shard_whole", "a shard that is its parent", make((3, 4), (3, 4), (0, 0))
    yield "shard_last_element", "the last corner", make((1, 1), (100, 200), (99, 199))
    yield "shard_scalar", "rank 0 has a section without bytes", make((), (), ())
    yield "shard_empty_at_end", "a shard without elements behind the last", make((0,), (10,), (10,))
    yield "shard_of_empty", "nothing of nothing", make((0, 3), (0, 3), (0, 0))
    yield "shard_of_huge_parent", "a parent of more than 2^64 elements", make(
        (2, 2), (2**63, 2**64 - 2), (2**63 - 2, 2**64 - 4)
    )
    yield "shard_rank_4", "four dimensions", make((1, 2, 3, 4), (10, 20, 30, 40), (9, 18, 27, 36))
    yield "shard_rank_64", "the highest rank", make((1,) * 64, (2,) * 64, (1,) * 64)
    yield "shard_col_major", "a column-major shard", make((2, 3), (4, 6), (2, 3), layout_tag=COL_MAJOR)
    yield "shard_strided", "a strided shard with byte_offset", make(
        (2, 3), (4, 6), (2, 3), layout_tag=STRIDED, strides=(-3, 1), byte_offset=20
    )


def versions():
    yield "minor_1", "a later minor version without news", Descriptor(F32, (3,), minor=1)
    yield "minor_255_trailing_1", "one byte of a later minor version", Descriptor(
        F32, (3,), minor=255, trailing=b"\x80"
    )
    yield "minor_1_trailing_300", "many bytes of a later minor version", Descriptor(
        F32, (3, 4), minor=1, trailing=bytes(k * 7 % 256 for k in range(300))
    )
    yield "minor_2_trailing_after_shard", "bytes of a later minor version behind a section", Descriptor(
        F32, (2,), parent_shape=(4,), shard_offset=(2,), minor=2, trailing=b"HRRY"
    )


def inputs():
    yield "followed_by_data", "the input goes on after the descriptor", Descriptor(F32, (1,), after=b"\x00\x00\x80\x3f")
    yield "followed_by_descriptor", "another descriptor follows", Descriptor(
        F32, (2,), after=Descriptor(F32, (1,)).encoded()
    )


def all_valid():
    """Triples of name, description and descriptor."""
    for group in (types, shapes, byte_offsets, strided, buffers, shards, versions, inputs):
        yield from group()
