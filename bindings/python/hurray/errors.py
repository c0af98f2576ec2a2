"""The exceptions of hurray. All derive from HurrayError, which carries the status code of the C ABI."""

from __future__ import annotations

import re

from ._constants import Status

__all__ = [
    "BusyError",
    "ClosedError",
    "HurrayError",
    "LibraryLoadError",
    "LibraryVersionError",
    "NotFoundError",
    "OutOfBoundsError",
]

_OFFSET = re.compile(r" \[byte ([0-9]+)\]\Z")


class HurrayError(Exception):
    """A call failed: what is wrong, where, and what was expected."""

    def __init__(self, code: int, message: str, function: str | None = None) -> None:
        super().__init__(code, message, function)
        try:
            self.code: Status | int = Status(code)
        except ValueError:
            # A newer library may know more codes: a failure of unknown kind.
            self.code = code
        #: Text of the failure, as the library wrote it.
        self.message = message
        #: Function of the C ABI that failed; None where the binding itself refused.
        self.function = function
        found = _OFFSET.search(message)
        #: Byte offset of the fault in the input, or None.
        self.offset: int | None = int(found[1]) if found else None

    @property
    def name(self) -> str:
        """Name of the code, such as "INVALID_LAYOUT"; "UNKNOWN" for one that this package does not know."""
        return self.code.name if isinstance(self.code, Status) else "UNKNOWN"

    def __str__(self) -> str:
        return f"{self.name} ({int(self.code)}): {self.message}"


class ClosedError(HurrayError, ValueError):
    """Use of a handle that is closed or was handed over."""


class BusyError(HurrayError, RuntimeError):
    """Use of a handle while another thread is in a call with it."""


class NotFoundError(HurrayError, KeyError):
    """There is no tensor, key or file of that name."""

    __str__ = HurrayError.__str__  # KeyError would print the repr of its argument


class OutOfBoundsError(HurrayError, IndexError):
    """An index is not below the length of what it indexes."""


class LibraryLoadError(HurrayError, ImportError):  # type: ignore[misc]  # name is the code's, not a module's
    """The shared library could not be loaded."""

    def __init__(self, code: int, message: str, function: str | None = None, path: str = "") -> None:
        super().__init__(code, message, function)
        #: File that was tried.
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (int(self.code), self.message, self.function, self.path))


class LibraryVersionError(LibraryLoadError):
    """The shared library speaks a version of the C ABI that this package was not built for."""

    def __init__(self, code: int, message: str, function: str | None = None, path: str = "", expected: int = 0,
                 found: int = 0) -> None:
        super().__init__(code, message, function, path)
        #: Version that this package was built for.
        self.expected = expected
        #: Version that the library answered.
        self.found = found

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (int(self.code), self.message, self.function, self.path, self.expected, self.found))


_CLASSES: dict[int, type[HurrayError]] = {
    Status.NOT_FOUND: NotFoundError,
    Status.INDEX_OUT_OF_BOUNDS: OutOfBoundsError,
}


def make_error(status: int, message: str | None, function: str | None, special: str) -> HurrayError:
    """The exception for a failed call of the extension."""
    if message is None:
        # The seed's functions report a code and nothing else.
        error = HurrayError(status, "", function)
        message = f"{function} failed with {error.name}"
    if special == "closed":
        return ClosedError(status, message, function)
    if special == "busy":
        return BusyError(status, message, function)
    return _CLASSES.get(status, HurrayError)(status, message, function)


def make_load_error(path: str, reason: str, expected: int | None, found: int | None) -> LibraryLoadError:
    """The exception for a library that could not be loaded."""
    message = f"{path}: {reason}"
    if expected is None or found is None:
        return LibraryLoadError(Status.IO, message, None, path)
    return LibraryVersionError(Status.VERSION_MISMATCH, message, None, path, expected, found)
