"""Python objects as sources and sinks of bytes, and as makers of tensors, for readers and writers."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any, TypeVar, Union

from ._constants import Status
from .errors import HurrayError

__all__ = ["Callbacks", "Sink", "Source", "call"]

#: An object with `readinto` or `read`, or a function that is called with a number of bytes and returns at most as many.
Source = Any
#: An object with `write`, or a function that is called with bytes; None, or how many of them were taken, comes back.
Sink = Any

_PIECE = 1 << 20
_Result = TypeVar("_Result")


class Callbacks:
    """What one reader or writer calls in Python. It keeps the callables as long as it lives, and what one of them raised
    for the method that is under way: the C library passes codes on, not exceptions."""

    __slots__ = ("_kept", "_raised")

    def __init__(self) -> None:
        self._kept: list[Callable[..., Any]] = []
        self._raised: BaseException | None = None

    def _guarded(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def guard(*arguments: Any) -> Any:
            try:
                return function(*arguments)
            except BaseException as error:
                self._raised = error
                return int(error.code) if isinstance(error, HurrayError) and int(error.code) < 0 else int(Status.IO)

        self._kept.append(guard)
        return guard

    @property
    def raised(self) -> bool:
        """Whether a callable raised something that nobody has taken."""
        return self._raised is not None

    def take(self) -> BaseException:
        """What a callable raised."""
        error, self._raised = self._raised, None
        assert error is not None
        return error

    def source(self, stream: Source) -> Callable[[int], Union[bytes, memoryview, int]]:
        """What the extension calls to read."""
        readinto = getattr(stream, "readinto", None)
        if readinto is not None:
            return self._guarded(_reading_into(readinto))
        read = getattr(stream, "read", stream)
        if not callable(read):
            raise TypeError(f"source: expected an object with readinto or read, or a function, got {type(stream).__name__}")
        return self._guarded(_reading(read))

    def sink(self, stream: Sink) -> Callable[[bytes], Union[None, int]]:
        """What the extension calls to write."""
        write = getattr(stream, "write", stream)
        if not callable(write):
            raise TypeError(f"target: expected an object with write, or a function, got {type(stream).__name__}")
        return self._guarded(_writing(write, isinstance(stream, io.RawIOBase)))

    def maker(self, make: Callable[[], Any]) -> Callable[[], Any]:
        """What the extension calls for a tensor; an array becomes one."""
        if not callable(make):
            raise TypeError(f"make: expected a function, got {type(make).__name__}")

        def made() -> Any:
            from .tensor import Tensor

            result = make()
            return result if isinstance(result, Tensor) else Tensor.from_numpy(result)

        return self._guarded(made)


def call(handle: Any, function: Callable[..., _Result], *arguments: Any) -> _Result:
    """Calls a function of the extension on a handle whose slot `_callbacks`, where it is set, has its Callbacks. What one of
    those raised goes on as it is."""
    try:
        return function(handle, *arguments)
    except HurrayError:
        callbacks = getattr(handle, "_callbacks", None)
        if callbacks is None or not callbacks.raised:
            raise
    raise callbacks.take()


def _blocked() -> BlockingIOError:
    return BlockingIOError("a stream that does not wait is no source or target")


def _reading_into(readinto: Callable[[Any], Any]) -> Callable[[int], memoryview]:
    # Not the library's own memory: a stream may keep what it was given.
    view = memoryview(bytearray(_PIECE))

    def read(capacity: int) -> memoryview:
        room = view[:capacity]
        count = readinto(room)
        if count is None:
            raise _blocked()
        if not 0 <= count <= len(room):
            raise ValueError(f"source: readinto returned {count} for {len(room)} bytes")
        return view[:count]

    return read


def _reading(function: Callable[[int], Any]) -> Callable[[int], Any]:
    def read(capacity: int) -> Any:
        data = function(capacity)
        if data is None:
            raise _blocked()
        if isinstance(data, (str, int)):
            raise TypeError(f"source: expected bytes, got {type(data).__name__}")
        if len(data) > capacity:
            raise ValueError(f"source: gave {len(data)} bytes where {capacity} were asked for")
        return data

    return read


def _writing(write: Callable[[Any], Any], raw: bool) -> Callable[[bytes], None]:
    def put(data: bytes) -> None:
        rest: Any = data
        while True:
            count = write(rest)
            if count is None:
                if raw:
                    raise _blocked()
                return  # a function that returns nothing took all
            if not 0 < count <= len(rest):
                raise ValueError(f"target: write returned {count} for {len(rest)} bytes")
            if count == len(rest):
                return
            rest = memoryview(rest)[count:]

    return put
