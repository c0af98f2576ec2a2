"""Quantization, statistics, extension type and composite member sections as pairs of a field's name and its bytes, and
descriptors that have one. Written from the format's text alone, see wire.py.
"""

import struct

from wire import TAG_OF_TYPE, Descriptor, Handle, packed_bytes

NO_BUFFER = 0xFFFFFFFF

T = TAG_OF_TYPE
INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int4", "uint4", "int2", "uint2")
SMALL_INTEGERS = ("int8", "uint8", "int4", "uint4", "int2", "uint2")
MX_TYPES = ("float8_e4m3", "float8_e5m2", "float4_e2m1", "float6_e2m3", "float6_e3m2", "int8", "int4")


def u8(value):
    return struct.pack("<B", value)


def u32(value):
    return struct.pack("<I", value)


def section(scheme, fields, version=1, flags=0, padding=b"", length=None):
    body = [("scheme", u8(scheme)), ("version", u8(version)), ("scheme_flags", struct.pack("<H", flags))] + fields
    if padding:
        body.append(("padding", padding))
    size = sum(len(encoded) for _, encoded in body) if length is None else length
    return (("quantization_length", u32(size)), *body)


def per_tensor(scale=0.5, zero_point=0, reserved=bytes(4), **other):
    scale = scale if isinstance(scale, bytes) else struct.pack("<f", scale)
    fields = [("scale", scale), ("zero_point", struct.pack("<i", zero_point)), ("reserved", reserved)]
    return section(1, fields, **other)


def per_channel(axis=0, scales=1, zeros=NO_BUFFER, scale_type=3, reserved=bytes(3), flags=1, **other):
    fields = [("axis", u32(axis)), ("scale_buffer", u32(scales)), ("zero_point_buffer", u32(zeros))]
    return section(2, fields + [("scale_type", u8(scale_type)), ("reserved", reserved)], flags=flags, **other)


def per_block(axis=0, block=4, scales=1, zeros=NO_BUFFER, scale_type=3, reserved=bytes(3), flags=1, **other):
    fields = [("axis", u32(axis)), ("block_size", u32(block)), ("scale_buffer", u32(scales))]
    fields += [("zero_point_buffer", u32(zeros)), ("scale_type", u8(scale_type)), ("reserved", reserved)]
    return section(3, fields, flags=flags, **other)


def blocks_only(scheme, axis=0, block=32, scales=1, **other):
    return section(scheme, [("axis", u32(axis)), ("block_size", u32(block)), ("scale_buffer", u32(scales))], **other)


def statistics(mask=0, reserved=0, numbers=(0, 0, 0, 0, 0, 0), nnz=0, nm=(0, 0), flags=(0, 0), reserved2=bytes(4)):
    names = ("sparsity_ratio", "value_min", "value_max", "value_abs_max", "value_mean", "value_stddev")
    fields = [("computed_mask", u32(mask)), ("reserved", u32(reserved)), ("nnz", struct.pack("<Q", nnz))]
    fields += [(name, struct.pack("<d", number)) for name, number in zip(names, numbers)]
    fields += [("nm_n", u8(nm[0])), ("nm_m", u8(nm[1])), ("has_nan", u8(flags[0])), ("has_inf", u8(flags[1]))]
    return tuple(fields) + (("reserved2", reserved2),)


EXTENSION_FIELDS = {
    "bit_width": "<I",
    "packing_factor": "<B",
    "is_float": "<B",
    "is_signed": "<B",
    "sign_bits": "<B",
    "exponent_bits": "<B",
    "mantissa_bits": "<B",
    "reserved": "<H",
    "exponent_bias": "<I",
    "has_nan": "<B",
    "has_inf": "<B",
    "reserved2": "<H",
}
FLOAT24 = {
    "bit_width": 24,
    "packing_factor": 1,
    "is_float": 1,
    "sign_bits": 1,
    "exponent_bits": 8,
    "mantissa_bits": 15,
    "exponent_bias": 127,
    "has_nan": 1,
    "has_inf": 1,
}


def extension(**values):
    return tuple((name, struct.pack(form, values.get(name, 0))) for name, form in EXTENSION_FIELDS.items())


def member(role, reserved=bytes(15)):
    return (("member_role", u8(role)), ("member_reserved", reserved))


def quantized(type_name, shape, payload, *parameters, stored=None, **other):
    """A tensor with its data buffer and buffers of parameters."""
    count = 1
    for size in shape if stored is None else stored:
        count *= size
    data = Handle(packed_bytes(T[type_name], count) + other.get("byte_offset", 0))
    table = (data, *(Handle(size) for size in parameters))
    return Descriptor(T[type_name], shape, buffers=other.pop("buffers", table), quantization=payload, **other)


def private(size, shape=(3,), **values):
    return Descriptor(0xF0, shape, buffers=(Handle(size),), extension_type=extension(**values))
