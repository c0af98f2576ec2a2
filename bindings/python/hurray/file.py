"""Model files: opened by mapping, read without copying, written in one step."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any, NamedTuple, Union

from . import _native
from ._constants import AlignmentPolicy, ElementType, FileFormat, HandleKind
from ._structs import FileInfo, FileMetadata, FileOptions, FileTensorInfo
from .dtypes import known_type
from .tensor import Tensor

__all__ = ["File", "FileWriter", "TensorInfo", "save_file"]

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


class File(_native.Handle):
    """An open, mapped model file: a mapping of names to tensors.

    `file[name]` makes a tensor over the mapped bytes, the caller's to close; it keeps the mapping alive, also after the
    file is closed. The file must not change while it, or a tensor of it, is in use. Thread rule: one thread at a time.
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
    ) -> File:
        """Opens a file and checks every name, type, shape and range in it.

        `alignment` says what happens with data that does not start at a multiple of 64 bytes: handed over as it lies,
        with a byte_offset (OFFSET); copied, counted in `copied_bytes` (COPY); refused (REQUIRE). `header_limit` is the
        longest header accepted, in bytes; 0 means 100,000,000.

        Raises HurrayError: INVALID_FORMAT with the byte offset of the fault, NOT_FOUND, IO, LIMIT_EXCEEDED.
        """
        return _native.file_open(path, FileOptions(format, alignment, header_limit=header_limit))

    @property
    def info(self) -> FileInfo:
        """Format, counts, size and bytes copied so far."""
        return FileInfo._make(_native.file_info(self))

    @property
    def copied_bytes(self) -> int:
        """Bytes of tensor data copied so far on behalf of this file; 0 as long as all is mapped."""
        return self.info.copied_bytes

    def __len__(self) -> int:
        return self.info.tensor_count

    def __bool__(self) -> bool:
        return True

    def tensor_info(self, which: int | str | bytes) -> TensorInfo:
        """What the file says of a tensor, by index or name."""
        index = which if isinstance(which, int) else self.find(which)
        info = FileTensorInfo._make(_native.file_tensor_info(self, index))
        return TensorInfo(info.name.decode("utf-8"), known_type(info.element_type), info.shape or (), info.bits,
                          info.file_offset, info.byte_size)

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
        """A tensor over the mapped bytes, by index or name."""
        return _native.file_tensor(self, which if isinstance(which, int) else self.find(which))

    def __getitem__(self, name: str | bytes) -> Tensor:
        return self.tensor(self.find(name))

    @property
    def metadata(self) -> dict[str, str]:
        """The metadata entries, in the order of the file."""
        found = {}
        for i in range(self.info.metadata_count):
            entry = FileMetadata._make(_native.file_metadata(self, i))
            found[entry.key.decode("utf-8")] = entry.value.decode("utf-8")
        return found


class FileWriter(_native.Handle):
    """A model file that is being written: complete under its name, or not there at all.

    The end of a `with` block finishes the file; leaving it with an exception abandons it, and a file of that name stays
    as it was. Thread rule: one thread at a time.
    """

    __slots__ = ("_finished",)
    _finished: bool

    @classmethod
    def create(cls, path: Path, *, format: FileFormat = FileFormat.SAFETENSORS) -> FileWriter:
        """Starts a file."""
        writer = _native.file_writer_create(path, format)
        writer._finished = False
        return writer

    def add(self, name: str | bytes, tensor: Tensor) -> None:
        """Adds a tensor. Its memory is shared until the file is finished; the tensor may be closed at once."""
        _native.file_writer_add(self, name, tensor)

    def set_metadata(self, key: str | bytes, value: str | bytes) -> None:
        """Sets a metadata entry; the last value of a key counts."""
        _native.file_writer_set_metadata(self, key, value)

    def finish(self) -> None:
        """Writes the file to disk and puts it under its name in one step."""
        _native.file_writer_finish(self)
        self._finished = True

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            if kind is None and not self._finished:
                self.finish()
        finally:
            self.close()


def save_file(tensors: Mapping[str, Any], path: Path, metadata: Mapping[str, str] | None = None) -> None:
    """Writes tensors, or NumPy arrays, as a safetensors file."""
    with FileWriter.create(path) as writer:
        for key, value in (metadata or {}).items():
            writer.set_metadata(key, value)
        for name, value in tensors.items():
            if isinstance(value, Tensor):
                writer.add(name, value)
                continue
            with Tensor.from_numpy(value) as tensor:
                writer.add(name, tensor)


_native.set_class(HandleKind.FILE, File)
_native.set_class(HandleKind.FILE_WRITER, FileWriter)
