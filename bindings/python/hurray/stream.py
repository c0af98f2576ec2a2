"""Streams: tensors one after the other, over a file descriptor, an object of Python, or in memory. (format: stream)"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import _native
from ._callbacks import Callbacks, Sink, Source, call
from ._constants import HandleKind, StreamFlags
from ._structs import StreamOptions
from .buffer import Buffer
from .composite import Composite
from .descriptor import Descriptor
from .tensor import Tensor

__all__ = ["Reader", "Writer"]


def _fd(source: Any) -> int:
    return source if isinstance(source, int) else int(source.fileno())


def _options(max_descriptor_length: int, max_tensor_bytes: int, max_alignment: int, hrry: bool, private_tags: bool,
             permissive: bool, close_fd: bool = False) -> StreamOptions:
    flags = (StreamFlags.CLOSE_FD if close_fd else 0) | (StreamFlags.HRRY_FILE if hrry else 0) \
        | (StreamFlags.PRIVATE_TAGS if private_tags else 0) | (StreamFlags.PERMISSIVE if permissive else 0)
    return StreamOptions(flags, max_descriptor_length, max_tensor_bytes, max_alignment)


class Reader(_native.Handle):
    """Reads a stream, or with `hrry` a .hrry file from its start to its end, as it comes from a pipe.

    Iterating gives its tensors, each the caller's to close. A limit of 0 is the default: descriptors up to 16 MiB, tensors of
    any size, alignments up to 2 MiB. `private_tags` and `permissive` are those of Descriptor.decode. After an error the reader
    can only be closed. Thread rule: one thread at a time; other Python threads run while it waits for data. A wait on a
    file descriptor ends with data or the end of the stream, not with a signal.
    """

    __slots__ = ("_callbacks",)
    _callbacks: Callbacks

    @classmethod
    def from_fd(cls, source: Any, *, close_fd: bool = False, max_descriptor_length: int = 0, max_tensor_bytes: int = 0,
                max_alignment: int = 0, hrry: bool = False, private_tags: bool = False, permissive: bool = False) -> Reader:
        """Reads a file descriptor, or an object with fileno(), from where it stands; what Python has buffered of it is
        not seen."""
        return _native.reader_from_fd(_fd(source), _options(max_descriptor_length, max_tensor_bytes, max_alignment, hrry,
                                                            private_tags, permissive, close_fd))

    @classmethod
    def from_file(cls, source: Source, *, max_descriptor_length: int = 0, max_tensor_bytes: int = 0, max_alignment: int = 0,
                  hrry: bool = False, private_tags: bool = False, permissive: bool = False) -> Reader:
        """Reads an object with `readinto` or `read`, or a function that is called with a number of bytes and returns at most
        as many: a gzip file, an HTTP response, ... It is never asked for bytes beyond the tensor that is read, and up to
        1 MiB at a time. What it raises goes on as it is, and ends the reader."""
        callbacks = Callbacks()
        reader = _native.reader_from_callback(callbacks.source(source), _options(
            max_descriptor_length, max_tensor_bytes, max_alignment, hrry, private_tags, permissive))
        reader._callbacks = callbacks
        return reader

    @classmethod
    def from_memory(cls, data: Any, *, max_descriptor_length: int = 0, max_tensor_bytes: int = 0, max_alignment: int = 0,
                    hrry: bool = False, private_tags: bool = False, permissive: bool = False) -> Reader:
        """Reads a stream that lies in memory, which is kept until the reader is closed. Tensors are copied out of it."""
        return _native.reader_from_memory(data, _options(max_descriptor_length, max_tensor_bytes, max_alignment, hrry,
                                                         private_tags, permissive))

    def next(self) -> Tensor | None:
        """The next tensor; None at the clean end of the stream. A stream that ends within a tensor is an error."""
        return call(self, _native.reader_next)

    def __iter__(self) -> Iterator[Tensor]:
        return self

    def __next__(self) -> Tensor:
        tensor = self.next()
        if tensor is None:
            raise StopIteration
        return tensor

    def next_item(self) -> Tensor | Composite | None:
        """The next tensor or, where a head comes, the whole composite; None at the clean end. A reader is used with this or
        with `next`, which gives heads and members as tensors. (format: composite)"""
        tensor, composite = call(self, _native.reader_next_item)
        return composite if tensor is None else tensor

    def items(self) -> Iterator[Tensor | Composite]:
        """Tensors and composites up to the end of the stream, each the caller's to close."""
        while (item := self.next_item()) is not None:
            yield item

    def begin(self) -> Descriptor | None:
        """The descriptor of the next tensor, before any of its data is there; None at the clean end. Its data follows with
        `readinto`, or is passed over with `skip`; one of them must have reached its end before the next tensor. The head of
        a composite has no data."""
        return call(self, _native.reader_begin)

    def readinto(self, buffer: Any) -> int:
        """Reads the next bytes of the tensor that was begun into a writable buffer: those of its buffers in the order of its
        table, never of two in one call. Waits for the first byte; 0: the tensor is complete."""
        return call(self, _native.reader_read, buffer)

    def skip(self) -> None:
        """Passes over what is left of the tensor that was begun; in a regular file nothing is read for it."""
        call(self, _native.reader_skip)

    def name(self, index: int) -> str:
        """The name of a tensor of a .hrry file (`hrry=True`), in the order of reading: known once the end was reached."""
        return call(self, _native.reader_name, index).decode("utf-8")


class Writer(_native.Handle):
    """Writes a stream. Thread rule: as Reader."""

    __slots__ = ("_callbacks",)
    _callbacks: Callbacks

    @classmethod
    def to_fd(cls, target: Any, *, close_fd: bool = False) -> Writer:
        """Writes to a file descriptor, or an object with fileno() that Python has nothing buffered for."""
        return _native.writer_to_fd(_fd(target), StreamOptions(StreamFlags.CLOSE_FD if close_fd else 0))

    @classmethod
    def to_file(cls, target: Sink) -> Writer:
        """Writes to an object with `write`, or to a function that takes bytes, in pieces of up to 1 MiB, each copied. What it
        raises goes on as it is, and ends the writer."""
        callbacks = Callbacks()
        writer = _native.writer_to_callback(callbacks.sink(target), None)
        writer._callbacks = callbacks
        return writer

    @classmethod
    def to_memory(cls) -> Writer:
        """Writes into memory that grows; see `take`."""
        return _native.writer_to_memory()

    def write(self, tensor: Tensor | Composite) -> None:
        """Writes a tensor, its descriptor and the bytes of its buffers; or a composite, its head and all members. It stays
        the caller's."""
        if isinstance(tensor, Composite):
            call(self, _native.writer_write_composite, tensor)
        else:
            call(self, _native.writer_write, tensor)

    def take(self) -> Buffer:
        """What was written into memory so far; the writer goes on with an empty one."""
        return _native.writer_take(self)

    def take_bytes(self) -> bytes:
        """As `take`, as a copy."""
        with self.take() as buffer:
            return buffer.tobytes()


_native.set_class(HandleKind.READER, Reader)
_native.set_class(HandleKind.WRITER, Writer)
