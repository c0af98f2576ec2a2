"""Quantized tensors from the format's text alone, with NumPy: what every stored code stands for, where it lies, and which
scale it has. Shares nothing with the C++ code.
"""

import itertools
import struct
from fractions import Fraction

import dense_layouts
import numpy as np
import sections
import wire

T = wire.TAG_OF_TYPE
FLOAT16, BFLOAT16, FLOAT32, FLOAT64 = 1, 2, 3, 4
PER_TENSOR, PER_CHANNEL, PER_BLOCK, NF4, MXFP = 1, 2, 3, 4, 5

NF4_LEVELS = [
    -1.0,
    -0.6961928009986877,
    -0.5250730514526367,
    -0.39491748809814453,
    -0.28444138169288635,
    -0.18477343022823334,
    -0.09105003625154495,
    0.0,
    0.07958029955625534,
    0.16093020141124725,
    0.24611230194568634,
    0.33791524171829224,
    0.44070982933044434,
    0.5626170039176941,
    0.7229568362236023,
    1.0,
]

# name: exponent bits, mantissa bits, bias
SMALL_FLOATS = {
    "float8_e4m3": (4, 3, 7),
    "float8_e5m2": (5, 2, 15),
    "float4_e2m1": (2, 1, 1),
    "float6_e2m3": (2, 3, 1),
    "float6_e3m2": (3, 2, 3),
}
BITS = {
    "int8": 8,
    "uint8": 8,
    "int16": 16,
    "uint16": 16,
    "int32": 32,
    "uint32": 32,
    "int4": 4,
    "uint4": 4,
    "int2": 2,
    "uint2": 2,
    "float8_e4m3": 8,
    "float8_e5m2": 8,
    "float4_e2m1": 4,
    "float6_e2m3": 6,
    "float6_e3m2": 6,
    "float16": 16,
    "bfloat16": 16,
    "float32": 32,
    "float64": 64,
}


def small_float(name, code):
    """What the bits of a small floating-point type mean, as a float64 (all of them are)."""
    exponent_bits, mantissa_bits, bias = SMALL_FLOATS[name]
    sign = -1.0 if code >> (exponent_bits + mantissa_bits) else 1.0
    field = code >> mantissa_bits & (1 << exponent_bits) - 1
    mantissa = code & (1 << mantissa_bits) - 1
    if name == "float8_e4m3" and field == 15 and mantissa == 7:
        return np.copysign(np.nan, sign)
    if name == "float8_e5m2" and field == 31:
        return np.copysign(np.inf if mantissa == 0 else np.nan, sign)
    if field == 0:
        return sign * float(Fraction(mantissa) * Fraction(2) ** (1 - bias - mantissa_bits))
    return sign * float((1 + Fraction(mantissa, 1 << mantissa_bits)) * Fraction(2) ** (field - bias))


def integer(name, code):
    bits = BITS[name]
    return code - (1 << bits) if name.startswith("int") and code >> (bits - 1) else code


def integer_range(name):
    bits = BITS[name]
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if name.startswith("int") else (0, (1 << bits) - 1)


def number_of(scheme, name, code, scale, zero):
    """The float32 that a code stands for, by the formula of the scheme."""
    with np.errstate(all="ignore"):
        if scheme == NF4:
            return np.float32(scale) * np.float32(NF4_LEVELS[code])
        if scheme == MXFP:
            value = small_float(name, code) if name in SMALL_FLOATS else integer(name, code)
            return np.float32(scale) * np.float32(value)
        return np.float32(scale) * np.float32(integer(name, code) - int(zero))


def to_target(numbers, target):
    """float32 as the bytes of a target type."""
    with np.errstate(all="ignore"):
        if target == FLOAT16:
            return numbers.astype("<f2").tobytes()
        if target == FLOAT32:
            return numbers.astype("<f4").tobytes()
        if target == FLOAT64:
            return numbers.astype("<f8").tobytes()
    bits = numbers.astype("<f4").view("<u4").astype(np.uint64)
    rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    cut = bits >> 16
    return np.where(np.isnan(numbers), cut, rounded).astype("<u2").tobytes()


def from_target(data, target):
    """The numbers of a floating-point type as float64."""
    if target == BFLOAT16:
        return (np.frombuffer(data, "<u2").astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return np.frombuffer(data, {FLOAT16: "<f2", FLOAT32: "<f4", FLOAT64: "<f8"}[target]).astype(np.float64)


def pack(codes_at, bits, size):
    """A buffer of `size` bytes with codes at places: the first one in the lowest bits."""
    whole = bytearray(size)
    for place, code in codes_at:
        bit = place * bits
        value = code << bit % 8
        for i in range((bit % 8 + bits + 7) // 8):
            whole[bit // 8 + i] |= value >> 8 * i & 0xFF
    return bytes(whole)


def unpack(data, place, bits):
    bit = place * bits
    value = int.from_bytes(data[bit // 8 : bit // 8 + bits // 8 + 2], "little")
    return value >> bit % 8 & (1 << bits) - 1


def blocks_along(size, block):
    return -(-size // block)


def entry_of(scheme, shape, axis, block, index):
    """The entry of the arrays of parameters that an element belongs to."""
    if scheme == PER_TENSOR:
        return 0
    if scheme == PER_CHANNEL:
        return index[axis]
    outer = 0
    for k, size in enumerate(shape):
        if k != axis:
            outer = outer * size + index[k]
    return outer * blocks_along(shape[axis], block) + index[axis] // block


def entry_count(scheme, shape, axis, block):
    if scheme == PER_TENSOR:
        return 1
    if scheme == PER_CHANNEL:
        return shape[axis]
    count = blocks_along(shape[axis], block)
    for k, size in enumerate(shape):
        count *= size if k != axis else 1
    return count


def encode_scale(scheme, scale_type, scale):
    """The bytes of a scale, and the float32 that they mean."""
    if scheme == MXFP:
        exponent = int(scale)
        return bytes([exponent]), np.float32(2.0) ** np.float32(exponent - 127)
    data = to_target(np.array([scale], np.float32), scale_type)
    return data, np.float32(from_target(data, scale_type)[0])


def section(scheme, axis, block, scale_type, symmetric, scale, zero, scale_buffer=1, zero_buffer=2):
    zeros = sections.NO_BUFFER if symmetric else zero_buffer
    flags = 1 if symmetric else 0
    if scheme == PER_TENSOR:
        return sections.per_tensor(float(scale), zero)
    if scheme == PER_CHANNEL:
        return sections.per_channel(axis, scale_buffer, zeros, flags=flags)
    if scheme == PER_BLOCK:
        return sections.per_block(axis, block, scale_buffer, zeros, scale_type, flags=flags)
    return sections.blocks_only(scheme, axis, block, scale_buffer)


def stored_shape(scheme, shape, axis, block, layout_tag):
    """Row-major and column-major tensors lie as if a short last block were whole."""
    if scheme in (PER_TENSOR, PER_CHANNEL) or layout_tag not in (1, 2) or 0 in shape:
        return tuple(shape)
    return tuple(blocks_along(size, block) * block if k == axis else size for k, size in enumerate(shape))


def indices(shape):
    return list(itertools.product(*(range(size) for size in shape)))


def place_of(layout, shape, stored, index):
    """Where an element lies, in elements from byte_offset."""
    if layout in (1, 2):
        return dense_layouts.linear(layout, stored, (), index)
    if isinstance(layout, tuple):
        return sum(i * step for i, step in zip(index, layout))
    return layout.offset(shape, index)


def tensor_bytes(descriptor, buffers):
    encoded = descriptor.encoded()
    return struct.pack("<I", len(encoded)) + encoded + b"".join(buffers)
