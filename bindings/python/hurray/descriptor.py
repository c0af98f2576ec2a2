"""Descriptors: what the bytes of a tensor are."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any, NamedTuple

from . import _native
from ._constants import DIMENSION_DYNAMIC, Device, ElementType, HandleKind, Layout, MemoryClass, SyncMode
from ._structs import DescriptorInfo
from .dtypes import DType, element_type, known_type, type_name

__all__ = ["BufferHandle", "Descriptor", "DescriptorBuilder", "Shard", "layout_name", "peek_length"]


class BufferHandle(NamedTuple):
    """An entry of a descriptor's buffer table. (format: buffer table)"""

    #: Length of the buffer in bytes.
    byte_size: int
    #: Alignment of its start in bytes: a power of two, at least 64 unless the buffer is empty.
    alignment: int = 64
    device_tag: int = Device.CPU
    sync_mode: int = SyncMode.PRODUCER_SYNCED
    memory_class: int = MemoryClass.STANDARD

    def encode(self) -> bytes:
        """The 16 bytes of the wire."""
        return _pack(self)

    @classmethod
    def decode(cls, data: bytes) -> BufferHandle:
        """From the 16 bytes of the wire. They are judged when a descriptor is made of them."""
        return cls._make(struct.unpack("<QIBBBx", data))


def _pack(handle: BufferHandle) -> bytes:
    from ._constants import Status
    from .errors import HurrayError

    try:
        return struct.pack("<QIBBBx", *handle)
    except struct.error as error:
        raise HurrayError(Status.INVALID_ARGUMENT, f"buffer handle {tuple(handle)}: {error}") from None


class Shard(NamedTuple):
    """Where a tensor lies in the larger one that it is a part of. (format: shard)"""

    parent_shape: tuple[int, ...]
    shard_offset: tuple[int, ...]


def layout_name(tag: int) -> str:
    """Name of a layout in the format's terms, such as "row_major"."""
    try:
        return Layout(tag).name.lower()
    except ValueError:
        return "private_extension" if 0xF0 <= tag <= 0xFE else f"unknown_{tag:02x}"


def known_layout(tag: int) -> Layout | int:
    """The enum member of a tag, or the tag itself when there is none."""
    try:
        return Layout(tag)
    except ValueError:
        return tag


def peek_length(data: Any) -> int:
    """Length of the descriptor that starts at `data`, from its first 20 bytes."""
    return _native.descriptor_peek_length(data)


class Descriptor(_native.Handle):
    """A decoded, validated, immutable tensor descriptor.

    It holds no resource but a little memory: closing it is possible, and never needed. Thread rule: one thread at a
    time.
    """

    __slots__ = ("_cached",)
    _cached: DescriptorInfo

    @classmethod
    def decode(cls, data: Any) -> Descriptor:
        """Decodes bytes; what follows the descriptor in them is not looked at.

        Raises HurrayError with the byte offset of the fault and what was expected there.
        """
        return _native.descriptor_decode(data)

    @classmethod
    def build(
        cls,
        dtype: DType,
        shape: Iterable[int],
        *,
        layout: int = Layout.ROW_MAJOR,
        strides: Iterable[int] | None = None,
        byte_offset: int = 0,
        shard: Shard | None = None,
        buffers: Iterable[BufferHandle] = (),
    ) -> Descriptor:
        """Makes a descriptor of its fields; see DescriptorBuilder."""
        builder = DescriptorBuilder(dtype, layout, shape).set_byte_offset(byte_offset)
        if strides is not None:
            builder.set_strides(strides)
        if shard is not None:
            builder.set_shard(*shard)
        for buffer in buffers:
            builder.add_buffer(buffer)
        return builder.build()

    def encode(self) -> bytes:
        """The bytes of the wire; those that it was decoded from."""
        return _native.descriptor_encode(self)

    @property
    def info(self) -> DescriptorInfo:
        """All fields but the buffer table, as the C ABI has them."""
        self._require_open()
        try:
            return self._cached
        except AttributeError:
            self._cached = DescriptorInfo._make(_native.descriptor_info(self))
            return self._cached

    @property
    def version(self) -> tuple[int, int]:
        """Major and minor version of the format."""
        return self.info.version_major, self.info.version_minor

    @property
    def flags(self) -> int:
        """Flag bits of the fixed header."""
        return self.info.flags

    @property
    def dtype(self) -> ElementType | int:
        """The element type; a plain tag where the format has no name for it."""
        return known_type(self.info.element_type)

    @property
    def layout(self) -> Layout | int:
        """The layout; a plain tag where the format has no name for it."""
        return known_layout(self.info.layout)

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes; DIMENSION_DYNAMIC for one that is not known."""
        return self.info.shape or ()

    @property
    def is_dynamic(self) -> bool:
        """Whether a size is not known."""
        return DIMENSION_DYNAMIC in self.shape

    @property
    def strides(self) -> tuple[int, ...] | None:
        """Strides in elements, for the strided layout only."""
        return self.info.strides

    @property
    def byte_offset(self) -> int:
        """Offset of the first element in buffer 0, in bytes."""
        return self.info.byte_offset

    @property
    def shard(self) -> Shard | None:
        """Where it lies in a larger tensor, if it is a part of one."""
        info = self.info
        if not info.flags & 2:
            return None
        return Shard(info.parent_shape or (), info.shard_offset or ())

    @property
    def buffers(self) -> tuple[BufferHandle, ...]:
        """The buffer table."""
        return tuple(BufferHandle.decode(_native.descriptor_buffer(self, i)) for i in range(self.info.buffer_count))

    def __len__(self) -> int:
        """Length of the encoded descriptor in bytes."""
        return self.info.descriptor_length

    def __bool__(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Descriptor):
            return NotImplemented
        return self.encode() == other.encode()

    def __hash__(self) -> int:
        return hash(self.encode())

    def __repr__(self) -> str:
        if self.closed:
            return "<hurray.Descriptor closed>"
        return f"<hurray.Descriptor {type_name(self.info.element_type)} {list(self.shape)} {layout_name(self.info.layout)}>"

    def __reduce__(self) -> tuple[object, ...]:
        return (Descriptor.decode, (self.encode(),))


class DescriptorBuilder(_native.Handle):
    """Collects the fields of a descriptor. Each setter returns the builder; `build` checks everything together."""

    __slots__ = ()

    def __new__(cls, dtype: DType, layout: int, shape: Iterable[int]) -> DescriptorBuilder:
        """Starts a descriptor. A tag that the format does not know is refused by `build`."""
        tag = dtype if isinstance(dtype, int) else element_type(dtype)
        return _native.descriptor_builder_new(tag, layout, shape)

    def set_byte_offset(self, byte_offset: int) -> DescriptorBuilder:
        """Offset of the first element in buffer 0, in bytes."""
        _native.descriptor_builder_set_byte_offset(self, byte_offset)
        return self

    def set_strides(self, strides: Iterable[int]) -> DescriptorBuilder:
        """Strides in elements, for the strided layout."""
        _native.descriptor_builder_set_strides(self, strides)
        return self

    def set_shard(self, parent_shape: Iterable[int], shard_offset: Iterable[int]) -> DescriptorBuilder:
        """Makes the tensor a part of a larger one."""
        _native.descriptor_builder_set_shard(self, parent_shape, shard_offset)
        return self

    def add_buffer(self, buffer: BufferHandle) -> DescriptorBuilder:
        """Appends an entry to the buffer table."""
        _native.descriptor_builder_add_buffer(self, buffer.encode())
        return self

    def build(self) -> Descriptor:
        """Validates what was collected. The builder stays as it is and may be used again."""
        return _native.descriptor_builder_build(self)


_native.set_class(HandleKind.DESCRIPTOR, Descriptor)
_native.set_class(HandleKind.DESCRIPTOR_BUILDER, DescriptorBuilder)
