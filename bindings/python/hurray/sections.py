"""What a descriptor says of its tensor besides shape and layout: one class a section, and a scheme. (format: sections)

They are plain values: reading them copies them out of the descriptor, and they may outlive it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Union

from . import _native, _structs
from ._constants import NO_BUFFER, ElementType, QuantizationFlags, Scheme, StatisticsFlags
from .dtypes import known_type

__all__ = ["AnyQuantization", "ExtensionType", "Mxfp", "Nf4", "PerBlockAffine", "PerChannelAffine", "PerTensorAffine",
           "PrivateScheme", "Shard", "Statistics", "quantization", "set_quantization"]


class Shard(NamedTuple):
    """Where a tensor lies in the larger one that it is a part of. (format: shard)"""

    parent_shape: tuple[int, ...]
    shard_offset: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PerTensorAffine:
    """One scale and zero point: value = scale * (q - zero_point). (format: per-tensor affine)"""

    #: A float32, finite and not 0.
    scale: float
    zero_point: int = 0
    version: int = 1
    #: Zero bytes that the writer put behind the fields.
    padding: int = 0


@dataclass(frozen=True, slots=True)
class PerChannelAffine:
    """A scale, and a zero point, for each index of an axis. (format: per-channel affine)"""

    axis: int
    #: Number of the buffer with the scales.
    scale_buffer: int
    #: Number of the buffer with the zero points, that of the scales when they follow there; None: all are 0.
    zero_point_buffer: int | None = None
    scale_type: ElementType | int = ElementType.FLOAT32
    version: int = 1
    padding: int = 0


@dataclass(frozen=True, slots=True)
class PerBlockAffine:
    """A scale, and a zero point, for each block along an axis. (format: per-block affine)"""

    axis: int
    #: Elements of a block: a power of 2.
    block_size: int
    scale_buffer: int
    #: As for PerChannelAffine.
    zero_point_buffer: int | None = None
    scale_type: ElementType | int = ElementType.FLOAT32
    version: int = 1
    padding: int = 0


@dataclass(frozen=True, slots=True)
class Nf4:
    """4-bit quantiles of the normal distribution, times the largest magnitude of the block. (format: NF4)"""

    axis: int
    block_size: int
    scale_buffer: int
    version: int = 1
    padding: int = 0


@dataclass(frozen=True, slots=True)
class Mxfp:
    """Small floating-point numbers with an exponent that a block shares. (format: MXFP)"""

    axis: int
    block_size: int
    scale_buffer: int
    version: int = 1
    padding: int = 0


@dataclass(frozen=True, slots=True)
class PrivateScheme:
    """A scheme upon which writer and reader have agreed, or one that a permissive reader does not know."""

    #: Scheme tag; 0xF0 to 0xFE when it is a private one.
    scheme: int
    flags: int = 0
    #: What follows the first 4 bytes.
    data: bytes = b""
    version: int = 1


#: How the elements of a tensor are quantized.
AnyQuantization = Union[PerTensorAffine, PerChannelAffine, PerBlockAffine, Nf4, Mxfp, PrivateScheme]


@dataclass(frozen=True, slots=True)
class Statistics:
    """What the writer says about the values, dequantized ones where they are quantized. Nobody may rely on it. Fields
    whose bit of `computed` is not set have no meaning. (format: statistics)"""

    computed: StatisticsFlags
    #: Elements other than 0.
    nnz: int = 0
    #: Fraction of elements that are 0.
    sparsity_ratio: float = 0.0
    min: float = 0.0
    max: float = 0.0
    abs_max: float = 0.0
    mean: float = 0.0
    #: Of the whole population.
    stddev: float = 0.0
    #: At most nm_n of each nm_m elements that follow one another are not 0.
    nm_n: int = 0
    nm_m: int = 0
    has_nan: bool = False
    has_inf: bool = False


@dataclass(frozen=True, slots=True)
class ExtensionType:
    """What a private element type is. Fields of floating-point types are 0 for integers. (format: extension type)"""

    #: 1, 2, 4, or a multiple of 8.
    bit_width: int
    is_float: bool = False
    is_signed: bool = False
    #: 0 or 1.
    sign_bits: int = 0
    exponent_bits: int = 0
    mantissa_bits: int = 0
    exponent_bias: int = 0
    has_nan: bool = False
    has_inf: bool = False

    @property
    def packing_factor(self) -> int:
        """Elements in a byte; 1 for types of whole bytes."""
        return 8 // self.bit_width if 0 < self.bit_width < 8 else 1


def _buffer(number: int) -> int | None:
    return None if number == NO_BUFFER else number


def quantization(descriptor: _native.Handle) -> AnyQuantization | None:
    """The quantization section of a descriptor."""
    section = _structs.Quantization._make(_native.descriptor_quantization(descriptor))
    if not section.present:
        return None
    end = (section.version, section.padding)
    match section.scheme:
        case Scheme.PER_TENSOR_AFFINE:
            return PerTensorAffine(section.scale, section.zero_point, *end)
        case Scheme.PER_CHANNEL_AFFINE:
            return PerChannelAffine(section.axis, section.scale_buffer, _buffer(section.zero_point_buffer),
                                    known_type(section.scale_type), *end)
        case Scheme.PER_BLOCK_AFFINE:
            return PerBlockAffine(section.axis, section.block_size, section.scale_buffer,
                                  _buffer(section.zero_point_buffer), known_type(section.scale_type), *end)
        case Scheme.NF4:
            return Nf4(section.axis, section.block_size, section.scale_buffer, *end)
        case Scheme.MXFP:
            return Mxfp(section.axis, section.block_size, section.scale_buffer, *end)
    return PrivateScheme(section.scheme, section.flags, section.private_data, section.version)


def quantization_payload(descriptor: _native.Handle) -> bytes:
    """The whole quantization section behind its length, as the wire has it."""
    return _structs.Quantization._make(_native.descriptor_quantization(descriptor)).payload


def set_quantization(builder: _native.Handle, section: AnyQuantization) -> None:
    """Gives a quantization section to a builder."""
    _native.descriptor_builder_set_quantization(builder, _quantization_struct(section))


def _quantization_struct(section: AnyQuantization) -> _structs.Quantization:
    if not isinstance(section, AnyQuantization):
        raise TypeError(f"quantization: expected a scheme, got {type(section).__name__}")
    struct = _structs.Quantization(present=1, version=section.version, scale_buffer=NO_BUFFER,
                                   zero_point_buffer=NO_BUFFER)
    if isinstance(section, PrivateScheme):
        return struct._replace(scheme=section.scheme, flags=section.flags, private_data=section.data)
    struct = struct._replace(padding=section.padding)
    if isinstance(section, PerTensorAffine):
        return struct._replace(scheme=Scheme.PER_TENSOR_AFFINE, scale=section.scale, zero_point=section.zero_point)
    struct = struct._replace(axis=section.axis, scale_buffer=section.scale_buffer)
    match section:
        case Nf4() | Mxfp():
            scheme = Scheme.NF4 if isinstance(section, Nf4) else Scheme.MXFP
            return struct._replace(scheme=scheme, block_size=section.block_size)
        case PerBlockAffine():
            struct = struct._replace(scheme=Scheme.PER_BLOCK_AFFINE, block_size=section.block_size)
        case PerChannelAffine():
            struct = struct._replace(scheme=Scheme.PER_CHANNEL_AFFINE)
    struct = struct._replace(scale_type=section.scale_type)
    if section.zero_point_buffer is None:
        return struct._replace(flags=QuantizationFlags.SYMMETRIC)
    return struct._replace(zero_point_buffer=section.zero_point_buffer)


def statistics(descriptor: _native.Handle) -> Statistics | None:
    """The statistics section of a descriptor."""
    return from_statistics_struct(_structs.Statistics._make(_native.descriptor_statistics(descriptor)))


def from_statistics_struct(section: _structs.Statistics) -> Statistics | None:
    """From the struct of the C ABI."""
    if not section.present:
        return None
    return Statistics(StatisticsFlags(section.computed_mask), section.nnz, section.sparsity_ratio, section.value_min,
                      section.value_max, section.value_abs_max, section.value_mean, section.value_stddev, section.nm_n,
                      section.nm_m, bool(section.has_nan), bool(section.has_inf))


def set_statistics(builder: _native.Handle, section: Statistics) -> None:
    """Gives a statistics section to a builder."""
    _native.descriptor_builder_set_statistics(builder, _structs.Statistics(
        int(section.computed), section.nnz, section.sparsity_ratio, section.min, section.max, section.abs_max,
        section.mean, section.stddev, 1, section.nm_n, section.nm_m, int(section.has_nan), int(section.has_inf)))


def extension_type(descriptor: _native.Handle) -> ExtensionType | None:
    """The extension type section of a descriptor."""
    section = _structs.ExtensionType._make(_native.descriptor_extension_type(descriptor))
    if not section.present:
        return None
    return ExtensionType(section.bit_width, bool(section.is_float), bool(section.is_signed), section.sign_bits,
                         section.exponent_bits, section.mantissa_bits, section.exponent_bias, bool(section.has_nan),
                         bool(section.has_inf))


def set_extension_type(builder: _native.Handle, section: ExtensionType) -> None:
    """Gives an extension type section to a builder."""
    _native.descriptor_builder_set_extension_type(builder, _structs.ExtensionType(
        section.bit_width, section.exponent_bias, 1, section.packing_factor, int(section.is_float),
        int(section.is_signed), section.sign_bits, section.exponent_bits, section.mantissa_bits, int(section.has_nan),
        int(section.has_inf)))
