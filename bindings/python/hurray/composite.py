"""Composites: tensors that make a whole, and are read as one. (format: composite)"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from . import _native
from ._constants import HandleKind
from ._structs import CompositeInfo, ElementBits
from .compute import Progress
from .descriptor import Descriptor
from .tensor import Tensor

__all__ = ["Composite", "CompositeBuilder"]


class Composite(_native.Handle):
    """A head and its members, checked to fit. Iterating gives the members, each the caller's to close.

    It shares the members' memory. Thread rule: one thread at a time.
    """

    __slots__ = ()

    @property
    def info(self) -> CompositeInfo:
        """The facts, as the C ABI has them."""
        return CompositeInfo._make(_native.composite_info(self))

    @property
    def head(self) -> Descriptor:
        """Shape and type of the whole; it lives as long as the composite."""
        return _native.composite_head(self)

    def __len__(self) -> int:
        return self.info.member_count

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, index: int) -> Tensor | Composite:
        """A member, which is the caller's to close."""
        if index < 0:
            index += len(self)
        if not 0 <= index < len(self):
            raise IndexError("member of a composite")
        tensor, composite = _native.composite_member(self, index)
        if composite is not None:
            return composite
        assert tensor is not None
        return tensor

    def __iter__(self) -> Iterator[Tensor | Composite]:
        for index in range(len(self)):
            yield self[index]

    def member_at(self, index: Iterable[int]) -> int:
        """The number of the member of a partition that an element lies in; no data is touched."""
        return _native.composite_member_at(self, index)

    def element(self, index: Iterable[int]) -> float:
        """An element of a partition or an overlay: dequantized where its member is quantized, corrections applied."""
        return _native.composite_element_float64(self, index)

    def element_complex(self, index: Iterable[int]) -> complex:
        """As `element`, for complex types, too."""
        return complex(*_native.composite_element_complex128(self, index))

    def element_bits(self, index: Iterable[int]) -> int:
        """The bits of an element, as an unsigned number."""
        bits = ElementBits._make(_native.composite_element_bits(self, index))
        return bits.high << 64 | bits.low

    def merged(self, *, memory_limit: int = 0, progress: Progress | None = None) -> Tensor:
        """All elements in one new row-major tensor of the head's shape and type. `memory_limit` is the most bytes of new
        memory, 0 for no limit; where `progress` returns False the work ends with CANCELLED."""
        return _native.composite_merged(self, (memory_limit, progress))


class CompositeBuilder(_native.Handle):
    """Collects the members of a composite; `build` checks everything together."""

    __slots__ = ()

    def __new__(cls, head: Descriptor) -> CompositeBuilder:
        """Starts a composite of a head's descriptor, whose layout is a CompositeHead."""
        return _native.composite_builder_new(head)

    def add(self, member: Tensor | Composite) -> CompositeBuilder:
        """Adds the next member, which is shared and stays the caller's to close."""
        if isinstance(member, Composite):
            _native.composite_builder_add_composite(self, member)
        else:
            _native.composite_builder_add_tensor(self, member)
        return self

    def build(self) -> Composite:
        """Checks that the members fit, and makes the composite. The builder stays as it is and may be used again."""
        return _native.composite_builder_build(self)


_native.set_class(HandleKind.COMPOSITE, Composite)
_native.set_class(HandleKind.COMPOSITE_BUILDER, CompositeBuilder)
