"""Finds and loads the shared library, when it is first needed."""

from __future__ import annotations

import os
import threading

from . import _native

_NAME = "libhurray.so.1"
_lock = threading.RLock()


def library_candidate() -> str:
    """What would be loaded: the file that HURRAY_LIBRARY names; else the one in this package; else the one that the
    system's loader finds under the library's soname."""
    override = os.environ.get("HURRAY_LIBRARY")
    if override:
        return override
    packaged = os.path.join(os.path.dirname(os.path.abspath(__file__)), _NAME)
    return packaged if os.path.exists(packaged) else _NAME


def load() -> None:
    """Loads the shared library now, instead of at its first use. Does nothing when it is loaded.

    Raises LibraryVersionError when the library's version of the C ABI is not the one that this package was built for
    and the library does not vouch for that one; LibraryLoadError when it cannot be loaded at all. The version is asked
    for before anything else of the library is resolved or called. Thread rule: any thread.
    """
    with _lock:
        if not _native.loaded():
            _native.load(library_candidate())
