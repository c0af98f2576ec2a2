"""Writing model files: in one step under their name, or front to back to a descriptor or an object with `write`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any

from . import _native, metadata
from ._callbacks import Callbacks, Sink, call
from ._constants import FileFormat, FileWriterFlags, HandleKind, MetadataType
from ._structs import FileWriterOptions
from .composite import Composite
from .descriptor import Descriptor
from .file import Path
from .metadata import MetadataValue
from .tensor import Tensor

__all__ = ["FileWriter", "save_file"]


class FileWriter(_native.Handle):
    """A model file that is being written. With a path: complete under its name, or not there at all.

    The end of a `with` block finishes the file; leaving it with an exception abandons it, and a file of that name stays
    as it was. What a `make` function or an object with `write` raises goes on as it is, and ends the writer. Thread rule: one
    thread at a time. (format: file)
    """

    __slots__ = ("_callbacks", "_finished")
    _callbacks: Callbacks
    _finished: bool

    @classmethod
    def create(cls, path: Path, *, format: FileFormat = FileFormat.SAFETENSORS, data_alignment: int = 0,
               sorted_index: bool = True, compress: bool = False) -> FileWriter:
        """Starts a file under a path.

        `data_alignment`: bytes, a power of two; .hrry: 4096 to 2 MiB, GGUF: at least 8; 0: the format's own.
        `sorted_index=False`: a .hrry file keeps its index in the order of writing. `compress`: an .npz is deflated.

        Raises HurrayError: INVALID_ARGUMENT for options that are not the format's, IO, NOT_FOUND.
        """
        return _new(_native.file_writer_create_with(path, _options(format, data_alignment, sorted_index, compress)))

    @classmethod
    def to_fd(cls, target: Any, *, format: FileFormat = FileFormat.SAFETENSORS, data_alignment: int = 0,
              sorted_index: bool = True, compress: bool = False) -> FileWriter:
        """Writes to a file descriptor, or an object with fileno() that Python has nothing buffered for: a pipe or socket,
        too. It must stay open until the writer is closed. What was written stays written."""
        fd = target if isinstance(target, int) else int(target.fileno())
        return _new(_native.file_writer_to_fd(fd, _options(format, data_alignment, sorted_index, compress)))

    @classmethod
    def to_file(cls, target: Sink, *, format: FileFormat = FileFormat.SAFETENSORS, data_alignment: int = 0,
                sorted_index: bool = True, compress: bool = False) -> FileWriter:
        """Writes to an object with `write`, or to a function that takes bytes, front to back, in pieces of up to 1 MiB,
        each copied."""
        callbacks = Callbacks()
        options = _options(format, data_alignment, sorted_index, compress)
        return _new(_native.file_writer_to_callback(callbacks.sink(target), options), callbacks)

    def add(self, name: str | bytes, tensor: Tensor | Composite) -> None:
        """Adds a tensor, whose memory is shared until the file is finished; it may be closed at once. Or a composite, with
        its members as name/0, name/1, ... (.hrry only)."""
        if isinstance(tensor, Composite):
            call(self, _native.file_writer_add_composite, name, tensor)
        else:
            call(self, _native.file_writer_add, name, tensor)

    def add_source(self, name: str | bytes, descriptor: Descriptor, make: Callable[[], Any]) -> None:
        """Announces a tensor that `make()` gives when it is written: so a conversion holds one tensor at a time.

        It is called at most once, here or in `finish`, on that thread, and returns a Tensor, which is taken over and closed,
        or a NumPy array. Type, layout, shape, sections and buffer sizes must be those of `descriptor`, without the bytes of others
        in front of memory that is not aligned: build it, rather than take that of a wrapped array. It must not use the writer. Raises as `add` does; INVALID_ARGUMENT for another tensor than the announced one.
        """
        call(self, _native.file_writer_add_source, name, descriptor, self._callbacks.maker(make))

    def set_metadata(self, key: str | bytes, value: MetadataValue, *, type: MetadataType | None = None,
                     element_type: MetadataType | None = None) -> None:
        """Sets a metadata entry; the last value of a key counts.

        The type is the value's: of integers INT64 where it fits, else UINT64, unless `type` says otherwise. A list is an array
        of values of one type; `element_type` says which, and must for an empty one. Raises HurrayError: UNSUPPORTED where
        the format has no such values (safetensors: text only), INVALID_ARGUMENT.
        """
        kind = type if type is not None else MetadataType.ARRAY if element_type is not None else metadata.type_of(value)
        if kind == MetadataType.ARRAY:
            if not isinstance(value, (list, tuple)):
                raise TypeError(f"value: expected a list, got {value.__class__.__name__}")
            call(self, _native.file_writer_set_array, key, *metadata.array(value, element_type))
        elif kind == MetadataType.STRING and isinstance(value, (str, bytes)):
            call(self, _native.file_writer_set_metadata, key, value)
        else:
            call(self, _native.file_writer_set_value, key, metadata.scalar(value, MetadataType(kind)))

    @property
    def copied_bytes(self) -> int:
        """Bytes of tensor data copied so far because the format wants them otherwise than they lie."""
        return _native.file_writer_copied_bytes(self)

    def finish(self) -> None:
        """Writes what is left; a file with a path comes to disk and under its name in one step."""
        call(self, _native.file_writer_finish)
        self._finished = True

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            if kind is None and not self._finished:
                self.finish()
        finally:
            self.close()


def _options(format: int, data_alignment: int, sorted_index: bool, compress: bool) -> FileWriterOptions:
    flags = (0 if sorted_index else FileWriterFlags.UNSORTED_INDEX) | (FileWriterFlags.COMPRESS if compress else 0)
    return FileWriterOptions(format, data_alignment, flags)


def _new(writer: FileWriter, callbacks: Callbacks | None = None) -> FileWriter:
    writer._callbacks = callbacks or Callbacks()
    writer._finished = False
    return writer


def save_file(tensors: Mapping[str, Any], path: Path, metadata: Mapping[str, MetadataValue] | None = None, *,
              format: FileFormat = FileFormat.SAFETENSORS) -> None:
    """Writes tensors, composites or NumPy arrays as a model file."""
    with FileWriter.create(path, format=format) as writer:
        for key, value in (metadata or {}).items():
            writer.set_metadata(key, value)
        for name, value in tensors.items():
            if isinstance(value, (Tensor, Composite)):
                writer.add(name, value)
                continue
            with Tensor.from_numpy(value) as tensor:
                writer.add(name, tensor)


_native.set_class(HandleKind.FILE_WRITER, FileWriter)
