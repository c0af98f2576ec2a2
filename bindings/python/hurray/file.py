"""Model files of every supported format: opened by mapping, read without copying."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, NamedTuple, Union

from . import _native
from ._constants import (
    AlignmentPolicy,
    ElementType,
    FileAccess,
    FileFlags,
    FileFormat,
    HandleKind,
    InexactBlocks,
    Layout,
    MetadataType,
)
from ._structs import FileInfo, FileMetadata, FileOptions, FileTensorInfo
from .buffer import Buffer
from .composite import Composite
from .descriptor import Descriptor, known_layout
from .dtypes import known_type
from .metadata import MetadataEntry, MetadataValue, value_of
from .tensor import Tensor

__all__ = ["File", "TensorInfo"]

Path = Union[str, bytes, "os.PathLike[str]"]


class TensorInfo(NamedTuple):
    """What a file says of one of its tensors; its data is not touched."""

    name: str
    dtype: ElementType | int
    shape: tuple[int, ...]
    #: Bits of one element, as the tensor will have them.
    bits: int
    #: Offset of the data in the file, in bytes.
    file_offset: int
    #: Bytes that the data takes in the file.
    byte_size: int
    layout: Layout | int = Layout.ROW_MAJOR
    #: Tag of its quantization scheme; 0: none.
    scheme: int = 0
    #: The format's own word for the type ("F32", "Q4_K", "<f4"); empty in .hrry files.
    stored_type: str = ""


class File(_native.Handle):
    """An open model file: a mapping of names to tensors. safetensors, .hrry, GGUF, .npy and .npz, known by their content.

    `file[name]` makes a tensor over the mapped bytes, the caller's to close; it keeps the mapping alive, also after the
    file is closed. The file must not change while it, or a tensor of it, is in use: somebody who cuts it makes its readers
    end with SIGBUS (see `access`). Thread rule: one thread at a time. (format: file)
    """

    __slots__ = ()

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        format: FileFormat = FileFormat.AUTO,
        alignment: AlignmentPolicy = AlignmentPolicy.OFFSET,
        header_limit: int = 0,
        access: FileAccess = FileAccess.MAP,
        inexact_blocks: InexactBlocks = InexactBlocks.RAW,
        exact_schemes: bool = True,
        private_tags: bool = False,
        permissive: bool = False,
    ) -> File:
        """Opens a file and checks every name, type, shape and range in it.

        `alignment` says what happens with data that does not start at a multiple of 64 bytes: handed over as it lies,
        with a byte_offset (OFFSET); copied, counted in `copied_bytes` (COPY); refused (REQUIRE). `header_limit` is the
        longest header accepted, in bytes; 0 means the format's own (safetensors: 100,000,000). `access` READ reads into
        memory instead of mapping, counted: for files that others may cut, which is an error then and no signal.
        `inexact_blocks` says what becomes of GGUF's blocks that are no scheme of the format; `exact_schemes=False` treats
        all blocks so. `private_tags` and `permissive` are those of Descriptor.decode, for .hrry files.

        Raises HurrayError: INVALID_FORMAT with the byte offset of the fault, NOT_FOUND, IO, LIMIT_EXCEEDED, UNSUPPORTED.
        """
        return _native.file_open(path, _options(format, alignment, header_limit, access, inexact_blocks, exact_schemes,
                                                private_tags, permissive))

    @classmethod
    def from_memory(
        cls,
        data: Any,
        *,
        format: FileFormat = FileFormat.AUTO,
        alignment: AlignmentPolicy = AlignmentPolicy.OFFSET,
        header_limit: int = 0,
        inexact_blocks: InexactBlocks = InexactBlocks.RAW,
        exact_schemes: bool = True,
        private_tags: bool = False,
        permissive: bool = False,
    ) -> File:
        """Opens a file whose bytes are in memory: a Buffer, or any object with the buffer protocol, which is kept and must
        not change. Tensors lie in that memory. Options and errors are those of `open`."""
        options = _options(format, alignment, header_limit, FileAccess.MAP, inexact_blocks, exact_schemes, private_tags,
                           permissive)
        if isinstance(data, Buffer):
            return _native.file_open_buffer(data, options)
        buffer, _ = Buffer.wrap(data, readonly=True)
        with buffer:
            return _native.file_open_buffer(buffer, options)

    @property
    def info(self) -> FileInfo:
        """Format, counts, size and bytes copied so far."""
        return FileInfo._make(_native.file_info(self))

    @property
    def format(self) -> FileFormat:
        """The format that the content was recognised as."""
        return FileFormat(self.info.format)

    @property
    def copied_bytes(self) -> int:
        """Bytes of tensor data copied so far on behalf of this file; 0 as long as all is mapped."""
        return self.info.copied_bytes

    def __len__(self) -> int:
        return self.info.tensor_count

    def __bool__(self) -> bool:
        return True

    # --- Tensors -----------------------------------------------------------------------------------------------

    def _index(self, which: int | str | bytes) -> int:
        return which if isinstance(which, int) else self.find(which)

    def tensor_info(self, which: int | str | bytes) -> TensorInfo:
        """What the file says of a tensor, by index or name."""
        info = FileTensorInfo._make(_native.file_tensor_info(self, self._index(which)))
        return TensorInfo(info.name.decode("utf-8"), known_type(info.element_type), info.shape or (), info.bits,
                          info.file_offset, info.byte_size, known_layout(info.layout), info.scheme,
                          info.stored_type.decode("utf-8", "replace"))

    def infos(self) -> Iterator[TensorInfo]:
        """All tensors, in the order of the file's header."""
        return (self.tensor_info(i) for i in range(len(self)))

    def __iter__(self) -> Iterator[str]:
        return (info.name for info in self.infos())

    def keys(self) -> list[str]:
        """The names, in the order of the file's header."""
        return list(self)

    def find(self, name: str | bytes) -> int:
        """Index of a tensor. Raises NotFoundError, which is a KeyError."""
        return _native.file_find(self, name)

    def __contains__(self, name: object) -> bool:
        from .errors import NotFoundError

        try:
            self.find(name)  # type: ignore[arg-type]
        except NotFoundError:
            return False
        return True

    def tensor(self, which: int | str | bytes) -> Tensor:
        """A tensor over the mapped bytes, by index or name. The head of a composite is one without data: see `composite`."""
        return _native.file_tensor(self, self._index(which))

    def __getitem__(self, name: str | bytes) -> Tensor:
        return self.tensor(self.find(name))

    def composite(self, which: int | str | bytes) -> Composite:
        """A composite with all its members, by index or name of its head. Raises HurrayError: INVALID_ARGUMENT when the
        tensor is no head, INVALID_COMPOSITE when the members do not fit. (format: composite)"""
        return _native.file_composite(self, self._index(which))

    def descriptor(self, which: int | str | bytes) -> Descriptor:
        """The descriptor of a tensor, without touching its data; byte_offset and the size of buffer 0 are those of the
        file, which a tensor over data that is not aligned does not have."""
        return _native.file_descriptor(self, self._index(which))

    def buffer_range(self, which: int | str | bytes, buffer: int = 0) -> tuple[int, int]:
        """Where in the file the bytes of a buffer of a tensor lie: offset and length, for programs that fetch the range
        themselves. What is compressed or repacked has its range as it lies there."""
        return _native.file_buffer_range(self, self._index(which), buffer)

    # --- Metadata ----------------------------------------------------------------------------------------------

    def _entry(self, index: int) -> MetadataEntry:
        entry = FileMetadata._make(_native.file_metadata(self, index))
        kind = MetadataType(entry.type)
        value = value_of(entry, lambda i: FileMetadata._make(_native.file_metadata_element(self, index, i)))
        element_type = MetadataType(entry.element_type) if kind is MetadataType.ARRAY else None
        return MetadataEntry(entry.key.decode("utf-8"), kind, element_type, value)

    def metadata_entry(self, which: int | str | bytes) -> MetadataEntry:
        """A metadata entry with its types, by index or key. Raises NotFoundError, which is a KeyError."""
        return self._entry(which if isinstance(which, int) else _native.file_find_metadata(self, which))

    def metadata_entries(self) -> Iterator[MetadataEntry]:
        """All metadata entries with their types, in the order of the file."""
        return (self._entry(i) for i in range(self.info.metadata_count))

    @property
    def metadata(self) -> dict[str, MetadataValue]:
        """The metadata, in the order of the file: text (all of safetensors'), numbers, truth values, bytes and lists."""
        return {entry.key: entry.value for entry in self.metadata_entries()}


def _options(format: int, alignment: int, header_limit: int, access: int, inexact_blocks: int, exact_schemes: bool,
             private_tags: bool, permissive: bool) -> FileOptions:
    flags = (0 if exact_schemes else FileFlags.NO_EXACT_SCHEMES) | (FileFlags.PRIVATE_TAGS if private_tags else 0) \
        | (FileFlags.PERMISSIVE if permissive else 0)
    return FileOptions(format, alignment, access, header_limit, inexact_blocks, flags)


_native.set_class(HandleKind.FILE, File)
