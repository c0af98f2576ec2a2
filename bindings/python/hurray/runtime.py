"""Facts about the loaded library, and what it holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from . import _native
from ._constants import HandleKind
from ._structs import Error, RuntimeInfo

__all__ = [
    "LiveHandles",
    "c_abi_supports",
    "diagnostics",
    "drain",
    "format_name",
    "live_handles",
    "runtime_info",
    "set_handle_checks",
    "set_log_callback",
    "status_name",
]


class LiveHandles(NamedTuple):
    """Handles of one kind, or all, that are alive in the process."""

    #: How many.
    handles: int
    #: Bytes that they stand for.
    bytes: int


def runtime_info() -> RuntimeInfo:
    """ABI version, build id, version, path and handle checks of the loaded library."""
    return RuntimeInfo._make(_native.runtime_info())


def live_handles(kind: HandleKind = HandleKind.ANY) -> LiveHandles:
    """Counts live handles over the process. A program that has closed all its objects reads what it read before it made
    the first one, once what waits on the release queue is released (`drain`)."""
    return LiveHandles._make(_native.live_handles(kind))


def c_abi_supports(version: int) -> bool:
    """Whether the loaded library vouches for programs that were built for that version of the C ABI."""
    return bool(_native.c_abi_supports(version))


def status_name(code: int) -> str:
    """The library's name of a status code, newer ones than this package knows included."""
    return _native.status_name(code)


def format_name(format: int) -> str:
    """The library's name of a file format."""
    return _native.format_name(format)


def set_handle_checks(enabled: bool) -> None:
    """Turns the library's quarantine of destroyed handles on or off. Python objects refuse use after close in any case;
    the checks are for handles that cross into other languages."""
    _native.handle_checks_set(1 if enabled else 0)


def diagnostics() -> list[Error]:
    """The last messages of exceptions that the library caught and of broken invariants, oldest first."""
    from .errors import OutOfBoundsError

    found: list[Error] = []
    while True:
        try:
            found.append(Error._make(_native.diagnostics_read(len(found))))
        except OutOfBoundsError:
            return found


def set_log_callback(callback: Callable[[int, str], object] | None) -> None:
    """Sets what is told of exceptions that the library caught and of broken invariants, as `callback(code, message)`; None:
    nothing. There is one in a process: setting another replaces it, and what was not told yet goes to the new one.

    It runs on Python's main thread soon after the message arose, on whatever thread that was: the library never waits for
    Python here. What it raises goes to sys.unraisablehook. The child of a fork starts without one.
    """
    _native.set_log_callback(callback)


def drain(*, default: bool = False) -> int:
    """Releases, on this thread, memory whose last handle was dropped by a garbage collector, here or in another
    language. Making and closing objects does so, too. Returns how many releases ran.

    That is what was lent by this package. `default=True` runs what waits on the process's default queue, too: memory
    that somebody lent without a queue of their own, for whose release any thread that says so is right.
    """
    released = _native.drain()
    if default:
        released += _native.release_queue_drain(None, (1 << 64) - 1)
    return released
