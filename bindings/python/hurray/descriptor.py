"""Descriptors: what the bytes of a tensor are."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any, NamedTuple

from . import _native, layouts, sections
from ._constants import (
    DIMENSION_DYNAMIC,
    DecodeFlags,
    DescriptorFlags,
    Device,
    ElementType,
    HandleKind,
    Layout,
    MemberRole,
    MemoryClass,
    SyncMode,
)
from ._structs import CompositeMember, DecodeOptions, DescriptorInfo
from .dtypes import DType, element_type, known_type, type_name
from .layouts import AnyLayout
from .sections import AnyQuantization, ExtensionType, Shard, Statistics

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
    def decode(cls, data: Any, *, private_tags: bool = False, permissive: bool = False, max_length: int = 0) -> Descriptor:
        """Decodes bytes; what follows the descriptor in them is not looked at.

        A strict reader refuses tags that it does not know. `private_tags` accepts private layouts, quantization schemes,
        devices and memory classes, upon which writer and reader have agreed. A `permissive` reader accepts unknown
        element types, layouts and schemes: the descriptor is opaque then, and nobody may touch the data.
        `max_length` is the longest descriptor accepted, in bytes; 0 means 16 MiB.

        Raises HurrayError with the byte offset of the fault and what was expected there.
        """
        flags = (DecodeFlags.PRIVATE_TAGS if private_tags else 0) | (DecodeFlags.PERMISSIVE if permissive else 0)
        if not flags and not max_length:
            return _native.descriptor_decode(data)
        return _native.descriptor_decode_options(data, DecodeOptions(flags, max_length))

    @classmethod
    def build(
        cls,
        dtype: DType,
        shape: Iterable[int],
        *,
        layout: AnyLayout | int = Layout.ROW_MAJOR,
        strides: Iterable[int] | None = None,
        byte_offset: int = 0,
        shard: Shard | None = None,
        quantization: AnyQuantization | None = None,
        statistics: Statistics | None = None,
        extension_type: ExtensionType | None = None,
        member_role: MemberRole | None = None,
        private_tags: bool = False,
        buffers: Iterable[BufferHandle] = (),
    ) -> Descriptor:
        """Makes a descriptor of its fields; see DescriptorBuilder. `layout` is a Layout without fields, or the fields of
        one, such as `Csr(nnz=5)`; of the strided one the strides may be given for themselves."""
        builder = DescriptorBuilder(dtype, layouts.layout_tag(layout), shape).set_byte_offset(byte_offset)
        if private_tags:
            builder.allow_private_tags()
        if layout is not None and not isinstance(layout, int):
            builder.set_layout(layout)
        if strides is not None:
            builder.set_strides(strides)
        if shard is not None:
            builder.set_shard(*shard)
        if quantization is not None:
            builder.set_quantization(quantization)
        if statistics is not None:
            builder.set_statistics(statistics)
        if extension_type is not None:
            builder.set_extension_type(extension_type)
        if member_role is not None:
            builder.set_member_role(member_role)
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
    def layout_fields(self) -> AnyLayout:
        """The fields of the layout, such as `Csr(nnz=5)`; None for row-major and column-major, which have none."""
        return layouts.layout_fields(self)

    @property
    def shard(self) -> Shard | None:
        """Where it lies in a larger tensor, if it is a part of one."""
        info = self.info
        if info.parent_shape is None:
            return None
        return Shard(info.parent_shape, info.shard_offset or ())

    @property
    def quantization(self) -> AnyQuantization | None:
        """How the elements are quantized, if they are."""
        return sections.quantization(self)

    @property
    def quantization_payload(self) -> bytes:
        """The bytes of the quantization section behind its length; empty when there is none."""
        return sections.quantization_payload(self)

    @property
    def statistics(self) -> Statistics | None:
        """What the writer said about the values."""
        return sections.statistics(self)

    @property
    def extension_type(self) -> ExtensionType | None:
        """What the elements are, when their type is a private one."""
        return sections.extension_type(self)

    @property
    def member_role(self) -> MemberRole | None:
        """The role in an overlay, for its members."""
        member = CompositeMember._make(_native.descriptor_composite_member(self))
        return MemberRole(member.member_role) if member.present else None

    @property
    def is_opaque(self) -> bool:
        """Whether a permissive reader met a tag that it does not know: nobody may touch the data then."""
        return bool(self.info.reading & DescriptorFlags.OPAQUE)

    @property
    def is_unread(self) -> bool:
        """Whether it is the layout that is not known. There are no layout fields, buffers and sections then, whatever
        `flags` says: all of that is in `trailing`."""
        return bool(self.info.reading & DescriptorFlags.UNREAD)

    @property
    def trailing(self) -> bytes:
        """What a higher minor version put behind the sections, or what is unread; encoded again as it was."""
        return self.info.trailing

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
        return (_decode_again, (self.encode(), self.is_opaque))


def _decode_again(data: bytes, permissive: bool) -> Descriptor:
    # It was decoded once, by a reader who agreed to private tags, if there are any.
    return Descriptor.decode(data, private_tags=True, permissive=permissive)


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

    def set_layout(self, fields: AnyLayout) -> DescriptorBuilder:
        """The fields of the layout, which must be the one that the builder was made for."""
        layouts.set_layout(self, fields)
        return self

    def set_shard(self, parent_shape: Iterable[int], shard_offset: Iterable[int]) -> DescriptorBuilder:
        """Makes the tensor a part of a larger one."""
        _native.descriptor_builder_set_shard(self, parent_shape, shard_offset)
        return self

    def set_quantization(self, scheme: AnyQuantization) -> DescriptorBuilder:
        """Says how the elements are quantized; the buffers with scales and zero points are added as others are."""
        sections.set_quantization(self, scheme)
        return self

    def set_statistics(self, statistics: Statistics) -> DescriptorBuilder:
        """Says something about the values."""
        sections.set_statistics(self, statistics)
        return self

    def set_extension_type(self, fields: ExtensionType) -> DescriptorBuilder:
        """Says what the elements are; the element type is a private one then."""
        sections.set_extension_type(self, fields)
        return self

    def set_member_role(self, role: MemberRole | int) -> DescriptorBuilder:
        """Makes the tensor a member of an overlay."""
        _native.descriptor_builder_set_composite_member(self, CompositeMember(1, role))
        return self

    def allow_private_tags(self) -> DescriptorBuilder:
        """Accepts private layouts, quantization schemes, devices and memory classes; before buffers of such are added."""
        _native.descriptor_builder_allow_private_tags(self)
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
