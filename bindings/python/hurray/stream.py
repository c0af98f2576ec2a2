"""Streams: tensors one after the other, over a file descriptor or in memory. (format: stream)"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import _native
from ._constants import HandleKind, StreamFlags
from ._structs import StreamOptions
from .buffer import Buffer
from .tensor import Tensor

__all__ = ["Reader", "Writer"]


def _fd(source: Any) -> int:
    return source if isinstance(source, int) else int(source.fileno())


class Reader(_native.Handle):
    """Reads a stream. Iterating gives its tensors, each the caller's to close.

    Thread rule: one thread at a time; other Python threads run while it waits for data. A wait ends with data or the
    end of the stream, not with a signal.
    """

    __slots__ = ()

    @classmethod
    def from_fd(cls, source: Any, *, close_fd: bool = False, max_descriptor_length: int = 0,
                max_tensor_bytes: int = 0) -> Reader:
        """Reads a file descriptor, or an object with fileno(), from where it stands; what Python has buffered of it is
        not seen. A limit of 0 is the default: descriptors up to 16 MiB, tensors of any size."""
        flags = StreamFlags.CLOSE_FD if close_fd else 0
        return _native.reader_from_fd(_fd(source), StreamOptions(flags, max_descriptor_length, max_tensor_bytes))

    @classmethod
    def from_memory(cls, data: Any, *, max_descriptor_length: int = 0, max_tensor_bytes: int = 0) -> Reader:
        """Reads a stream that lies in memory, which is kept until the reader is closed. Tensors are copied out of it."""
        return _native.reader_from_memory(data, StreamOptions(0, max_descriptor_length, max_tensor_bytes))

    def next(self) -> Tensor | None:
        """The next tensor; None at the clean end of the stream. A stream that ends within a tensor is an error, and
        after an error the reader can only be closed."""
        return _native.reader_next(self)

    def __iter__(self) -> Iterator[Tensor]:
        return self

    def __next__(self) -> Tensor:
        tensor = self.next()
        if tensor is None:
            raise StopIteration
        return tensor


class Writer(_native.Handle):
    """Writes a stream. Thread rule: as Reader."""

    __slots__ = ()

    @classmethod
    def to_fd(cls, target: Any, *, close_fd: bool = False) -> Writer:
        """Writes to a file descriptor, or an object with fileno() that Python has nothing buffered for."""
        return _native.writer_to_fd(_fd(target), StreamOptions(StreamFlags.CLOSE_FD if close_fd else 0))

    @classmethod
    def to_memory(cls) -> Writer:
        """Writes into memory that grows; see `take`."""
        return _native.writer_to_memory()

    def write(self, tensor: Tensor) -> None:
        """Writes a tensor: its descriptor and the bytes of its buffers. The tensor stays the caller's."""
        _native.writer_write(self, tensor)

    def take(self) -> Buffer:
        """What was written into memory so far; the writer goes on with an empty one."""
        return _native.writer_take(self)

    def take_bytes(self) -> bytes:
        """As `take`, as a copy."""
        with self.take() as buffer:
            return buffer.tobytes()


_native.set_class(HandleKind.READER, Reader)
_native.set_class(HandleKind.WRITER, Writer)
