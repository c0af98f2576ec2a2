"""Finds clang.cindex and its libclang, wherever this machine keeps them.

Debian's package python3-clang-19 installs for /usr/bin/python3 only, while another python3 may come first on PATH:
`require()` then starts the program again under the system's interpreter.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

_AGAIN = "HEADERGEN_STARTED_AGAIN"
PACKAGES = "python3-clang-19 and libclang1-19 (Debian), or the pip packages clang and libclang"


def require():
    """Returns the module clang.cindex with a working library, or ends the program with what to install."""
    try:
        from clang import cindex
    except ImportError:
        system = "/usr/bin/python3"
        if _AGAIN not in os.environ and os.path.exists(system) and not os.path.samefile(system, sys.executable):
            os.environ[_AGAIN] = "1"
            os.execv(system, [system, *sys.argv])
        sys.exit(f"headergen: the Python module clang.cindex is missing; install {PACKAGES}")
    if _loads(cindex):
        return cindex
    for candidate in _candidates():
        cindex.Config.loaded = False
        cindex.Config.library_file = None
        cindex.Config.set_library_file(str(candidate))
        cindex.conf = cindex.Config()
        if _loads(cindex):
            return cindex
    sys.exit(f"headergen: no libclang that fits clang.cindex was found; install {PACKAGES}")


def _loads(cindex) -> bool:
    try:
        cindex.conf.lib  # noqa: B018  (loading is the side effect that is wanted)
        return True
    except cindex.LibclangError:
        return False


def _candidates():
    for tool in ("llvm-config-19", "llvm-config"):
        if shutil.which(tool):
            folder = subprocess.run([tool, "--libdir"], capture_output=True, text=True, check=False).stdout.strip()
            yield from sorted(Path(folder).glob("libclang*.so*"), reverse=True)
    for folder in sorted(Path("/usr/lib").glob("llvm-*/lib"), reverse=True):
        yield from sorted(folder.glob("libclang*.so*"), reverse=True)


class Evaluator:
    """Values of constants: the part of libclang that clang.cindex does not wrap."""

    INT, FLOAT, STRING = 1, 2, 4

    def __init__(self, cindex):
        self._lib = cindex.conf.lib
        signatures = {
            "clang_Cursor_Evaluate": ([cindex.Cursor], ctypes.c_void_p),
            "clang_EvalResult_getKind": ([ctypes.c_void_p], ctypes.c_int),
            "clang_EvalResult_isUnsignedInt": ([ctypes.c_void_p], ctypes.c_uint),
            "clang_EvalResult_getAsUnsigned": ([ctypes.c_void_p], ctypes.c_ulonglong),
            "clang_EvalResult_getAsLongLong": ([ctypes.c_void_p], ctypes.c_longlong),
            "clang_EvalResult_getAsDouble": ([ctypes.c_void_p], ctypes.c_double),
            "clang_EvalResult_dispose": ([ctypes.c_void_p], None),
        }
        for name, (arguments, result) in signatures.items():
            function = getattr(self._lib, name)
            function.argtypes = arguments
            function.restype = result

    def value(self, cursor):
        """The value of a constexpr variable as int or float, or None when libclang cannot say."""
        lib = self._lib
        result = lib.clang_Cursor_Evaluate(cursor)
        if not result:
            return None
        try:
            kind = lib.clang_EvalResult_getKind(result)
            if kind == self.INT:
                if lib.clang_EvalResult_isUnsignedInt(result):
                    return lib.clang_EvalResult_getAsUnsigned(result)
                return lib.clang_EvalResult_getAsLongLong(result)
            if kind == self.FLOAT:
                return lib.clang_EvalResult_getAsDouble(result)
            return None
        finally:
            lib.clang_EvalResult_dispose(result)
