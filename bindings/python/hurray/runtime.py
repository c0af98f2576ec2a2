"""Facts about the loaded library, and what it holds."""

from __future__ import annotations

from typing import NamedTuple

from . import _native
from ._constants import HandleKind
from ._structs import Error, RuntimeInfo

__all__ = ["LiveHandles", "diagnostics", "drain", "live_handles", "runtime_info", "set_handle_checks"]


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
