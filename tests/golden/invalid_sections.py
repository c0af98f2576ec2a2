"""Sections that every strict reader must refuse: name, descriptor, code and field at fault."""

import dataclasses

from invalid_descriptors import COMPOSITE, QUANTIZATION, STRUCTURE, TYPE
from sections import (
    FLOAT24,
    INTEGERS,
    MX_TYPES,
    NO_BUFFER,
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
from wire import DYNAMIC, Descriptor, Handle


def wrong_quantization():
    nan = b"\x00\x00\xc0\x7f"
    for name, scale in (("0", 0.0), ("minus_0", -0.0), ("inf", float("inf")), ("minus_inf", -float("inf")), ("nan", nan)):
        yield f"scale_{name}", quantized("int8", (4,), per_tensor(scale)), QUANTIZATION, "scale"
    for name, low, high in (("int2", -2, 1), ("uint2", 0, 3), ("int8", -128, 127), ("uint16", 0, 65535)):
        for zero_point in (low - 1, high + 1):
            wrong = quantized(name, (4,), per_tensor(1, zero_point))
            yield f"zero_point_{name}_{zero_point}", wrong, QUANTIZATION, "zero_point"
    yield "zero_point_uint32", quantized("uint32", (4,), per_tensor(1, -1)), QUANTIZATION, "zero_point"
    for scheme in (0, 6, 0x3F, 0x40, 0x5F, 0x60, 0x7F, 0x80, 0xEF, 0xF0, 0xFE, 0xFF):
        wrong = quantized("int8", (4,), section(scheme, [("rest", bytes(12))]))
        yield f"scheme_{scheme:02x}", wrong, QUANTIZATION, "scheme"
    good = {
        1: lambda **other: ((4, 4), per_tensor(**other), ()),
        2: lambda **other: ((4, 4), per_channel(**other), (16,)),
        3: lambda **other: ((4, 4), per_block(**other), (16,)),
        4: lambda **other: ((8, 4), blocks_only(4, 0, 8, **other), (16,)),
        5: lambda **other: ((32, 4), blocks_only(5, 0, 32, **other), (4,)),
    }
    accepted = {1: INTEGERS, 2: INTEGERS, 3: SMALL_INTEGERS, 4: ("uint4",), 5: MX_TYPES}
    for scheme, make in good.items():
        for name in T:
            if name in accepted[scheme]:
                continue
            shape, payload, parameters = make()
            yield f"type_{scheme}_{name}", quantized(name, shape, payload, *parameters), QUANTIZATION, "scheme"
        name = accepted[scheme][0]

        def wrong(scheme=scheme, name=name, make=make, **other):
            shape, payload, parameters = make(**other)
            return quantized(name, shape, payload, *parameters)

        for version in (0, 2, 255):
            yield f"version_{scheme}_{version}", wrong(version=version), QUANTIZATION, "version"
        for bit in range(16):
            if bit == 0 and scheme in (2, 3):
                continue
            flags = 1 << bit | (1 if scheme in (2, 3) else 0)
            yield f"flags_{scheme}_{bit}", wrong(flags=flags), QUANTIZATION, "scheme_flags"
        yield f"length_{scheme}_short", wrong(length=15), QUANTIZATION, "quantization_length"
        yield f"length_{scheme}_3", wrong(length=3), QUANTIZATION, "quantization_length"
        yield f"length_{scheme}_0", wrong(length=0), QUANTIZATION, "quantization_length"
        yield f"length_{scheme}_beyond", wrong(length=64), STRUCTURE, "quantization_length"
        yield f"length_{scheme}_largest", wrong(length=2**32 - 1), STRUCTURE, "quantization_length"
        yield f"padding_{scheme}", wrong(padding=b"\x01\0\0"), QUANTIZATION, "padding"
        shape, payload, parameters = make()
        more = quantized(name, shape, payload, *parameters, 4)
        yield f"buffer_of_nothing_{scheme}", more, STRUCTURE, "buffer_count"
        if parameters:
            fewer = quantized(name, shape, payload)
            yield f"buffer_missing_{scheme}", fewer, STRUCTURE, "buffer_count"
            for delta in (-1, 1):
                size = quantized(name, shape, payload, parameters[0] + delta)
                yield f"parameter_size_{scheme}_{delta}", size, QUANTIZATION, "scale_buffer"
    for scheme, payload in ((1, per_tensor(reserved=b"\x01\0\0\0")), (2, per_channel(reserved=b"\x01\0\0"))):
        table = (16,) if scheme == 2 else ()
        yield f"reserved_{scheme}", quantized("int8", (4, 4), payload, *table), QUANTIZATION, "reserved"
    yield "reserved_3", quantized("int8", (4, 4), per_block(reserved=b"\x80\0\0"), 16), QUANTIZATION, "reserved"
    for scale_type in (0, 1, 2, 4, 0xFF):
        wrong = quantized("int8", (4, 4), per_channel(scale_type=scale_type), 16)
        yield f"scale_type_2_{scale_type}", wrong, QUANTIZATION, "scale_type"
    for scale_type in (0, 4, 0x10, 0xFF):
        wrong = quantized("int8", (4, 4), per_block(scale_type=scale_type), 16)
        yield f"scale_type_3_{scale_type}", wrong, QUANTIZATION, "scale_type"
    for axis in (2, 2**32 - 1):
        yield f"axis_2_{axis}", quantized("int8", (4, 4), per_channel(axis), 16), QUANTIZATION, "axis"
        yield f"axis_3_{axis}", quantized("int8", (4, 4), per_block(axis), 16), QUANTIZATION, "axis"
        yield f"axis_4_{axis}", quantized("uint4", (8, 8), blocks_only(4, axis, 8), 32), QUANTIZATION, "axis"
        yield f"axis_5_{axis}", quantized("int8", (32, 4), blocks_only(5, axis), 4), QUANTIZATION, "axis"
    yield "axis_of_scalar", quantized("int8", (), per_channel(0), 4), QUANTIZATION, "axis"
    for make in (per_channel, per_block):
        wrong = quantized("int8", (DYNAMIC, 4), make(0), 16, stored=(4, 4))
        yield f"axis_dynamic_{make.__name__}", wrong, QUANTIZATION, "axis"
    for block in (0, 1, 3, 5, 6, 2**31 + 1, 2**32 - 1):
        yield f"block_{block}", quantized("int8", (8,), per_block(0, block), 8), QUANTIZATION, "block_size"
    for block in (0, 1, 2, 4, 12):
        yield f"block_nf4_{block}", quantized("uint4", (16,), blocks_only(4, 0, block), 8), QUANTIZATION, "block_size"
    for block in (0, 8, 24, 4096):
        wrong = quantized("int8", (4096,), blocks_only(5, 0, block), 8)
        yield f"block_mxfp_{block}", wrong, QUANTIZATION, "block_size"
    yield "block_above_axis", quantized("int8", (4,), per_block(0, 8), 4), QUANTIZATION, "block_size"
    yield "block_above_axis_nf4", quantized("uint4", (7,), blocks_only(4, 0, 8), 4), QUANTIZATION, "block_size"
    yield "block_mxfp_short", quantized("int8", (48,), blocks_only(5, 0, 32), 2), QUANTIZATION, "block_size"
    yield "block_mxfp_empty", quantized("int8", (0,), blocks_only(5, 0, 32), 0), QUANTIZATION, "block_size"
    yield "no_room_for_short_block", quantized(
        "int8", (3, 9), per_block(1, 4), 36, stored=(1, 35)
    ), QUANTIZATION, "block_size"
    yield "no_room_behind_offset", quantized(
        "int8", (3, 9), per_block(1, 4), buffers=(Handle(36), Handle(36)), byte_offset=1
    ), QUANTIZATION, "block_size"
    for index in (0, 2, 2**31, NO_BUFFER):
        yield f"scale_index_2_{index}", quantized("int8", (4,), per_channel(0, index), 16), QUANTIZATION, "scale_buffer"
        yield f"scale_index_3_{index}", quantized("int8", (4,), per_block(0, 4, index), 4), QUANTIZATION, "scale_buffer"
        wrong = quantized("uint4", (8,), blocks_only(4, 0, 8, index), 4)
        yield f"scale_index_4_{index}", wrong, QUANTIZATION, "scale_buffer"
        wrong = quantized("int8", (32,), blocks_only(5, 0, 32, index), 1)
        yield f"scale_index_5_{index}", wrong, QUANTIZATION, "scale_buffer"
    for index in (0, 3, NO_BUFFER):
        wrong = quantized("int8", (4,), per_channel(0, 1, index, flags=0), 16, 16)
        yield f"zero_point_index_2_{index}", wrong, QUANTIZATION, "zero_point_buffer"
        wrong = quantized("int8", (4,), per_block(0, 4, 1, index, flags=0), 4, 4)
        yield f"zero_point_index_3_{index}", wrong, QUANTIZATION, "zero_point_buffer"
    for index in (0, 1, 2):
        wrong = quantized("int8", (4,), per_channel(0, 1, index), 16)
        yield f"symmetric_index_{index}", wrong, QUANTIZATION, "zero_point_buffer"
    both = per_channel(0, 1, 2, flags=0)
    for size in (0, 15, 17):
        yield f"zero_points_{size}", quantized("int8", (4,), both, 16, size), QUANTIZATION, "zero_point_buffer"
    shared = per_channel(0, 1, 1, flags=0)
    for size in (16, 31, 33):
        yield f"shared_{size}", quantized("int8", (4,), shared, size), QUANTIZATION, "scale_buffer"
    huge = (Handle(0), Handle(2**64 - 4))
    wrong = quantized("int8", (2**62 + 1, 0), per_channel(0), buffers=huge)
    yield "parameter_size_wraps", wrong, QUANTIZATION, "scale_buffer"
    yield "table_count_before_scheme", quantized("float32", (4,), per_tensor(0.0), 4), STRUCTURE, "buffer_count"
    yield "shard_after_quantization", quantized(
        "int8", (4,), per_tensor(0.0), parent_shape=(1,), shard_offset=(0,)
    ), QUANTIZATION, "scale"


def wrong_statistics():
    def make(**other):
        return Descriptor(T["float32"], (4,), statistics=statistics(**other))

    for bit in (6, 7, 16, 31):
        yield f"mask_bit_{bit}", make(mask=1 << bit), STRUCTURE, "computed_mask"
    yield "statistics_reserved", make(reserved=1), STRUCTURE, "reserved"
    for name, ratio in (("below", -0.125), ("above", 1.125), ("nan", float("nan")), ("inf", float("inf"))):
        wrong = make(mask=2, numbers=(ratio, 0, 0, 0, 0, 0))
        yield f"sparsity_{name}", wrong, STRUCTURE, "sparsity_ratio"
    for name, stddev in (("negative", -1.0), ("nan", float("nan"))):
        wrong = make(mask=8, numbers=(0, 0, 0, 0, 0, stddev))
        yield f"stddev_{name}", wrong, STRUCTURE, "value_stddev"
    yield "nm", make(mask=16, nm=(5, 4)), STRUCTURE, "nm_m"
    yield "has_nan", make(mask=32, flags=(2, 0)), STRUCTURE, "has_nan"
    yield "has_inf", make(mask=32, flags=(1, 255)), STRUCTURE, "has_inf"
    yield "statistics_reserved2", make(reserved2=b"\x01\0\0\0"), STRUCTURE, "reserved2"


def wrong_extension():
    integer = {"bit_width": 8, "packing_factor": 1}
    for bits in (0, 3, 5, 6, 7, 9, 12, 2**32 - 1):
        yield f"bit_width_{bits}", private(2**40, bit_width=bits, packing_factor=1), TYPE, "bit_width"
    for bits, factor in ((1, 1), (1, 4), (2, 8), (4, 1), (8, 0), (8, 2), (16, 2)):
        wrong = private(64, bit_width=bits, packing_factor=factor)
        yield f"packing_{bits}_{factor}", wrong, TYPE, "packing_factor"
    for name in ("is_float", "is_signed"):
        yield f"{name}_2", private(64, **integer, **{name: 2}), TYPE, name
    for name in ("sign_bits", "exponent_bits", "mantissa_bits", "exponent_bias", "has_nan", "has_inf"):
        yield f"integer_{name}", private(64, **integer, **{name: 1}), TYPE, name
    for name in ("is_signed", "reserved", "reserved2"):
        yield f"float_{name}", private(64, **{**FLOAT24, name: 1}), TYPE, name
    for name in ("sign_bits", "has_nan", "has_inf"):
        yield f"float_{name}_2", private(64, **{**FLOAT24, name: 2}), TYPE, name
    yield "float24_no_room", private(8, **FLOAT24), STRUCTURE, "buffers[0].byte_size"
    yield "private_1_no_room", private(1, (9,), bit_width=1, packing_factor=8), STRUCTURE, "buffers[0].byte_size"
    wide = private(2**33, (2**33,), bit_width=2**32 - 8, packing_factor=1)
    yield "private_bytes_wrap", wide, STRUCTURE, "buffers[0].byte_size"
    public = Descriptor(T["int8"], (3,), extension_type=extension(**integer))
    yield "extension_of_public_type", public, TYPE, "type_tag"
    yield "private_without_extension", Descriptor(0xF0, (3,), buffers=(Handle(64),)), TYPE, "type_tag"
    for tag in (0x00, 0x47, 0x80, 0xEF, 0xFF):
        wrong = dataclasses.replace(private(64, **integer), type_tag=tag)
        yield f"extension_of_{tag:02x}", wrong, TYPE, "type_tag"
    payload = per_tensor()
    yield "private_quantized", dataclasses.replace(private(64, **integer), quantization=payload), QUANTIZATION, "scheme"


def wrong_member():
    for role in (2, 0x7F, 0xFF):
        yield f"role_{role}", Descriptor(T["int8"], (4,), composite_member=member(role)), COMPOSITE, "member_role"
    reserved = member(1, b"\x01" + bytes(14))
    yield "member_reserved", Descriptor(T["int8"], (4,), composite_member=reserved), COMPOSITE, "member_reserved"


def all_wrong():
    for group in (wrong_quantization, wrong_statistics, wrong_extension, wrong_member):
        yield from group()
