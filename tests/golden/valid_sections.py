"""Descriptors with sections that every reader must accept."""

import struct

from sections import (
    FLOAT24,
    INTEGERS,
    MX_TYPES,
    SMALL_INTEGERS,
    T,
    blocks_only,
    extension,
    member,
    per_block,
    per_channel,
    per_tensor,
    private,
    quantized,
    section,
    statistics,
)
from wire import COL_MAJOR, DYNAMIC, STRIDED, Descriptor, Handle

NUMBERS = (0.25, -2.5, 3.5, 3.5, 0.125, 1.75)


def quantization():
    for name in INTEGERS:
        yield f"tensor_{name}", quantized(name, (5, 3), per_tensor(0.25, 1))
        yield f"channel_{name}", quantized(name, (5, 3), per_channel(1), 12)
    for name in SMALL_INTEGERS:
        for scale_type, width in ((1, 2), (2, 2), (3, 4)):
            payload = per_block(1, 4, 1, 2, scale_type, flags=0)
            yield f"block_{name}_{scale_type}", quantized(name, (3, 8), payload, 6 * width, 24)
    for name in MX_TYPES:
        yield f"mxfp_{name}", quantized(name, (2, 64), blocks_only(5, 1, 32), 4)
    yield "nf4", quantized("uint4", (16, 5), blocks_only(4, 0, 8), 40)
    yield "nf4_short_block", quantized("uint4", (12, 5), blocks_only(4, 0, 8), 40, stored=(16, 5))
    yield "block_short", quantized("int8", (3, 9), per_block(1, 4), 36, stored=(3, 12))
    yield "block_short_col_major", quantized("int8", (9, 3), per_block(0, 4), 36, stored=(12, 3), layout_tag=COL_MAJOR)
    yield "block_strided", quantized("int8", (3, 8), per_block(1, 4), 24, layout_tag=STRIDED, strides=(8, 1))
    yield "block_whole_axis", quantized("int4", (8,), per_block(0, 8), 4)
    yield "block_empty_axis", quantized("int8", (3, 0), per_block(1, 64), 0)
    yield "block_empty_other", quantized("int8", (0, 8), per_block(1, 4), 0)
    yield "block_largest", quantized("int8", (2**31,), per_block(0, 2**31), 4)
    yield "block_dynamic_other", quantized("int8", (DYNAMIC, 8), per_block(1, 4), 4242, stored=(8, 8))
    yield "block_shared", quantized("int8", (8,), per_block(0, 4, 1, 1, 1, flags=0), 12)
    yield "channel_empty", quantized("int8", (0, 3), per_channel(0), 0)
    yield "channel_both", quantized("int8", (5, 3), per_channel(0, 2, 1, flags=0), 20, 20)
    yield "channel_shared", quantized("int8", (5, 3), per_channel(0, 1, 1, flags=0), 40)
    for name, low, high in (("int2", -2, 1), ("uint2", 0, 3), ("int16", -(2**15), 2**15 - 1), ("uint32", 0, 2**31 - 1)):
        for zero_point in (low, high):
            yield f"zero_point_{name}_{zero_point}", quantized(name, (4,), per_tensor(-1, zero_point))
    yield "zero_point_int32_lowest", quantized("int32", (4,), per_tensor(1, -(2**31)))
    for block in (16, 64, 2048):
        yield f"mxfp_block_{block}", quantized("float8_e4m3", (block, 3), blocks_only(5, 0, block), 3)
    for block in (2, 1024):
        yield f"block_of_{block}", quantized("uint8", (block, 3), per_block(0, block), 12)
    yield "nf4_rank_4", quantized("uint4", (2, 3, 8, 5), blocks_only(4, 2, 8), 2 * 3 * 5 * 4)
    yield "mxfp_padded", quantized("int4", (64,), blocks_only(5, 0, 32, padding=bytes(300)), 2)
    yield "scale_largest", quantized("int8", (4,), per_tensor(bytes.fromhex("ffff7fff")))
    yield "scale_least", quantized("int8", (4,), per_tensor(bytes.fromhex("01000080")))
    yield "scale_third", quantized("int8", (4,), per_tensor(1 / 3))
    yield "tensor_scalar", quantized("int8", (), per_tensor(1e-45))
    yield "tensor_padded", quantized("int8", (4,), per_tensor(2, padding=bytes(5)))
    yield "tensor_later_minor", quantized("int8", (4,), per_tensor(2), minor=3, trailing=b"later")
    yield "offset_and_shard", quantized("int8", (4,), per_tensor(2), byte_offset=3, parent_shape=(9,), shard_offset=(5,))
    yield "quantized_device", quantized(
        "int8", (4,), per_channel(0), buffers=(Handle(4, 256, 1, 1, 1), Handle(16, 64, 1, 2, 1))
    )
    yield "quantized_dynamic", quantized("int8", (DYNAMIC,), per_tensor(0.5), stored=(4,))


def other_sections():
    full = statistics(63, 0, NUMBERS, 3, (2, 4), (1, 0))
    yield "statistics", Descriptor(T["float32"], (4,), statistics=full)
    yield "statistics_nothing_computed", Descriptor(
        T["float32"], (4,), statistics=statistics(0, 0, (7, 1, 2, 3, 4, -5), 9, (8, 1), (9, 9))
    )
    yield "statistics_edges", Descriptor(T["float32"], (), statistics=statistics(10, 0, (1, 0, 0, 0, 0, 0)))
    infinite = float("inf")
    yield "statistics_infinite", Descriptor(
        T["float64"], (4,), statistics=statistics(4 + 8 + 32, 0, (0, -infinite, infinite, infinite, infinite, infinite))
    )
    nan = struct.unpack("<d", bytes.fromhex("efbeadde0000f8ff"))[0]
    yield "statistics_nan", Descriptor(T["float16"], (4,), statistics=statistics(4, 0, (nan,) * 6))
    yield "statistics_largest", Descriptor(
        T["uint8"],
        (4,),
        statistics=statistics(1, 0, (5e-324, -1.7976931348623157e308, 1.7976931348623157e308, 0.1, -0.0, 2.5e-310), 2**64 - 1),
    )
    for bit in range(6):
        yield f"statistics_bit_{bit}", Descriptor(
            T["float32"], (4,), statistics=statistics(1 << bit, 0, NUMBERS, 3, (255, 255), (0, 1))
        )
    yield "float24", private(9, **FLOAT24)
    for bits, factor, size in ((1, 8, 2), (2, 4, 3), (4, 2, 5), (8, 1, 9), (4096, 1, 9 * 512)):
        yield f"private_{bits}", private(size, (9,), bit_width=bits, packing_factor=factor, is_signed=1)
    yield "private_widest", private(2**29 - 1, (1,), bit_width=2**32 - 8, packing_factor=1)
    yield "private_odd_float", private(
        5,
        (5,),
        bit_width=8,
        packing_factor=1,
        is_float=1,
        exponent_bits=255,
        mantissa_bits=255,
        exponent_bias=2**32 - 1,
    )
    for role in (0, 1):
        yield f"member_{role}", Descriptor(T["int8"], (4,), composite_member=member(role))
    for tag in range(0xF1, 0xFE):
        yield f"private_type_{tag:02x}", Descriptor(
            tag, (2, 3), buffers=(Handle(18),), extension_type=extension(**FLOAT24)
        )


def with_private_scheme():
    """These need a reader that is told to allow private tags."""
    for tag in (0xF0, 0xFE):
        yield f"everything_{tag:02x}", Descriptor(
            tag,
            (4,),
            buffers=(Handle(12), Handle(1)),
            parent_shape=(4,),
            shard_offset=(0,),
            quantization=section(0xF3, [("private", b"own")], version=9, flags=0xFFFF),
            statistics=statistics(63, 0, NUMBERS, 3, (2, 4), (1, 0)),
            extension_type=extension(**FLOAT24),
            composite_member=member(1),
        )


# In wire order.
SECTIONS = {
    "quantization": {"quantization": per_channel(1)},
    "shard": {"parent_shape": (9, 9), "shard_offset": (4, 6)},
    "statistics": {"statistics": statistics(63, 0, NUMBERS, 12, (1, 2), (0, 1))},
    "member": {"composite_member": member(1)},
}


def combinations():
    """All sections that a public type has with each other."""
    for mask in range(1, 1 << len(SECTIONS)):
        chosen = [name for bit, name in enumerate(SECTIONS) if mask >> bit & 1]
        if len(chosen) == 1:
            continue
        parts = {}
        for name in chosen:
            parts.update(SECTIONS[name])
        table = (Handle(15), Handle(12)) if "quantization" in chosen else (Handle(15),)
        yield "with_" + "_and_".join(chosen), Descriptor(T["int8"], (5, 3), buffers=table, **parts)
    yield "all_sections_later_minor", Descriptor(
        T["int8"],
        (5, 3),
        buffers=(Handle(15), Handle(12)),
        minor=7,
        trailing=b"HRRY\1",
        **{key: value for parts in SECTIONS.values() for key, value in parts.items()},
    )
    yield "all_sections_strided", Descriptor(
        T["int8"],
        (5, 3),
        STRIDED,
        14,
        (-3, -1),
        buffers=(Handle(15), Handle(12)),
        **{key: value for parts in SECTIONS.values() for key, value in parts.items()},
    )


def all_valid():
    for group in (quantization, other_sections, combinations):
        yield from group()
