"""What a tensor can be asked and turned into: elements, quantization, other layouts, validation, statistics."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from . import _native, layouts
from ._constants import ElementType, Scheme, StatisticsFlags, TranscodeFlags, ValidationLevel
from ._structs import ElementAddress, ElementBits, QuantizeSpec, TranscodeSpec
from ._structs import Statistics as StatisticsStruct
from .dtypes import DType, element_type
from .sections import Statistics, from_statistics_struct

if TYPE_CHECKING:
    from ._structs import DescriptorInfo
    from .layouts import AnyLayout
    from .tensor import Tensor

__all__ = ["Progress", "TensorWork"]

#: Told how far long work is, done and total; returns whether to go on.
Progress = Callable[[int, int], bool]

_ALL_STATISTICS = StatisticsFlags.NNZ | StatisticsFlags.SPARSITY | StatisticsFlags.RANGE | StatisticsFlags.MOMENTS \
    | StatisticsFlags.NM_SPARSITY | StatisticsFlags.NAN_INF


class TensorWork(_native.TensorHandle):
    """The part of hurray.Tensor that reads elements and makes new tensors.

    Long work takes `memory_limit`, the most bytes of new memory that it may hold at one time, 0 for no limit (else
    LIMIT_EXCEEDED), and `progress(done, total)`, where False ends the work with CANCELLED, and what it raises goes on as it
    is. Other Python threads run meanwhile.
    """

    __slots__ = ()

    if TYPE_CHECKING:  # of hurray.Tensor

        @property
        def info(self) -> DescriptorInfo: ...
        @property
        def shape(self) -> tuple[int, ...]: ...
        @property
        def quantized(self) -> bool: ...

    # --- Elements ----------------------------------------------------------------------------------------------

    def element(self, index: Iterable[int]) -> float:
        """An element as a number: of a quantized tensor that which it stands for. In every layout; of one that a sparse
        tensor does not store, 0. One call a number: for all of them use `numpy`, `transcode` or `dequantize`.

        Raises OutOfBoundsError, which is an IndexError; HurrayError: INVALID_ARGUMENT for another number of dimensions,
        UNSUPPORTED for complex types (see `element_complex`), INVALID_TYPE. (format: element address computation)
        """
        read = _native.tensor_element_dequantized if self.quantized else _native.tensor_element_float64
        return read(self, index)

    def element_stored(self, index: Iterable[int]) -> float:
        """As `element`, of a quantized tensor the number that is stored."""
        return _native.tensor_element_float64(self, index)

    def element_complex(self, index: Iterable[int]) -> complex:
        """As `element_stored`, for complex types, too."""
        return complex(*_native.tensor_element_complex128(self, index))

    def element_bits(self, index: Iterable[int]) -> int:
        """The bits of an element as it is stored, as an unsigned number."""
        bits = ElementBits._make(_native.tensor_element_bits(self, index))
        return bits.high << 64 | bits.low

    def element_address(self, index: Iterable[int]) -> ElementAddress:
        """Where an element is: buffer, byte and bit. No memory of dense tensors is read."""
        return ElementAddress._make(_native.tensor_element_address(self, index))

    # --- Work on the whole -------------------------------------------------------------------------------------

    def dequantize(self, dtype: DType = ElementType.FLOAT32, *, memory_limit: int = 0,
                   progress: Progress | None = None) -> Tensor:
        """A new tensor of the numbers that quantized elements stand for, each worked out in float32 and rounded once to
        float16, bfloat16, float32 or float64. Dense ones become row-major (column-major ones stay so), sparse ones keep
        their layout. Raises HurrayError: INVALID_ARGUMENT when not quantized, UNSUPPORTED. (format: quantization)"""
        return _native.tensor_dequantize(self, element_type(dtype), (memory_limit, progress))

    def quantize(self, scheme: Scheme, storage: DType, *, axis: int = 0, block_size: int = 0, symmetric: bool = False,
                 scale: DType | None = None, memory_limit: int = 0, progress: Progress | None = None) -> Tensor:
        """A new quantized row-major tensor of a dense one of float16, bfloat16, float32 or float64, with the scales that its
        numbers need.

        `storage` is the type of the stored elements; `axis` that along which channels or blocks follow one another;
        `block_size` the elements of a block along it; `symmetric` makes all zero points 0; `scale` is the type of the scales
        (None: what the scheme has). Raises HurrayError: INVALID_ARGUMENT, with the index of an element that has no place in
        the scheme (NaN, infinite), INVALID_TYPE, UNSUPPORTED. (format: quantization)
        """
        spec = QuantizeSpec(scheme, element_type(storage), 0 if scale is None else element_type(scale), int(symmetric), axis,
                            block_size)
        return _native.tensor_quantize(self, spec, (memory_limit, progress))

    def transcode(self, layout: AnyLayout | int, *, alignment: int = 0, sequence: int | None = None,
                  token_counts: Iterable[int] | None = None, memory_limit: int = 0,
                  progress: Progress | None = None) -> Tensor:
        """A new tensor with the same elements, bit for bit, in another layout: a Layout, or its fields (Strided, Tiled,
        Morton, Csf, ...) where they matter. Of sparse layouts nnz is counted, not taken from them.

        `alignment` is that of the new buffers in bytes, 0 for 64. Of a block-paged tensor `sequence` asks for one sequence
        only, and `token_counts` says how many tokens each has. Raises HurrayError: UNSUPPORTED for a pair of layouts that
        docs/transcode.md does not list, INVALID_ARGUMENT, INVALID_LAYOUT. (format: memory layout)
        """
        tag = layouts.layout_tag(layout)
        builder = None
        if not isinstance(layout, int):
            builder = _native.descriptor_builder_new(self.info.element_type, tag, self.shape)
            layouts.set_layout(builder, layout)
        spec = TranscodeSpec(0 if sequence is None else TranscodeFlags.SEQUENCE, tag, alignment, sequence or 0,
                             None if token_counts is None else tuple(token_counts))
        return _native.tensor_transcode(self, spec, builder, (memory_limit, progress))

    def validate(self, level: ValidationLevel = ValidationLevel.DATA, *, memory_limit: int = 0,
                 progress: Progress | None = None) -> None:
        """Checks the tensor and raises the first violation as HurrayError: the descriptor, as a strict reader does; that the
        buffers fit it; and what is in them (index arrays, scales, padding, patterns that are no element)."""
        _native.tensor_validate(self, level, (memory_limit, progress))

    def statistics(self, which: StatisticsFlags = _ALL_STATISTICS, *, memory_limit: int = 0,
                   progress: Progress | None = None) -> Statistics:
        """Works out statistics of the elements (dequantized where quantized, those that a sparse tensor does not store
        included) in one pass. `computed` of the result has what these elements have an answer for. (format: statistics)"""
        struct = StatisticsStruct._make(_native.tensor_statistics(self, which, (memory_limit, progress)))
        return from_statistics_struct(struct._replace(present=1))  # type: ignore[return-value]
