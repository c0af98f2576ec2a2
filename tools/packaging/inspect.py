"""Inspects what is about to be released: compiled files, and where they lie in packages.

Every check gives a list of problems in words, which is empty when all is well. tests/packages runs them over each package;
tools/packaging/tests/inspect_test.py shows for each of them a file that it refuses.
"""

from __future__ import annotations

import fnmatch
import re
import tarfile
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tools.packaging.binaries import ar, elf, macho, pe
from tools.packaging.binaries.model import Binary, BinaryError

# What the wheels' tags and the README promise.
GLIBC_CEILING = "2.31"
# What every machine of a kind has. A C++ runtime is not among it: it lies in the library.
SYSTEM_LIBRARIES = (
    "libc.so.6", "libdl.so.2", "libm.so.6", "libpthread.so.0", "librt.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1",
    "libc.so", "ld-musl-x86_64.so.1", "ld-musl-aarch64.so.1", "libc.musl-x86_64.so.1", "libc.musl-aarch64.so.1",
    "/usr/lib/libSystem.B.dylib",
    "KERNEL32.dll", "ntdll.dll", "ADVAPI32.dll", "WS2_32.dll", "bcrypt.dll", "api-ms-win-crt-*.dll", "ucrtbase.dll", "msvcrt.dll",
)
# Folders of a machine on which something is built. The system's own (/proc, /dev, /sys, /etc) are asked for at run time.
_PATHS = re.compile(
    rb"(?:/(?:home|root|Users|work|build|builds|workspace|opt|mnt|srv|nix|tmp|var/tmp|var/lib)/[!-~]+"
    rb"|/usr/(?:include|src|local|lib/gcc)[!-~]*"
    rb"|[!-~]*(?:bazel-out|execroot|/sandbox/|\.cache/)[!-~]*"
    rb"|[A-Za-z]:\\(?:Users|build)[!-~]*)"
)


@dataclass(frozen=True)
class Requirements:
    """What a compiled file has to be.

    exports: patterns (fnmatch) of the names that it may export; at least one name must match each.
    machine, format: as in Binary; None: any.
    name: its soname, install name or DLL name; None: any; "": it must have none.
    needed: patterns of libraries that it may need.
    glibc: the newest version of glibc whose symbols it may ask for.
    nodes: version nodes that it must define.
    """

    exports: tuple[str, ...]
    machine: str | None = None
    format: str | None = None
    name: str | None = None
    needed: tuple[str, ...] = SYSTEM_LIBRARIES
    glibc: str = GLIBC_CEILING
    nodes: tuple[str, ...] = ()


# The library of the C ABI, its static archive, and what only its own language loads.
LIBRARY = Requirements(exports=("hurray_*",))


def is_native(data: bytes) -> bool:
    """Whether these are bytes of a compiled file or a static archive."""
    return data[:4] in (b"\x7fELF", b"\xcf\xfa\xed\xfe") or data[:2] == b"MZ" or data[:8] == ar.MAGIC


def read(data: bytes) -> list[Binary]:
    """Reads a compiled file, or all that are in a static archive."""
    if data[:4] == b"\x7fELF":
        return [elf.read(data)]
    if data[:4] == b"\xcf\xfa\xed\xfe":
        return [macho.read(data)]
    if data[:2] == b"MZ":
        return [pe.read(data)]
    if data[:8] == ar.MAGIC:
        return [binary for member in ar.members(data).values() if is_native(member) for binary in read(member)]
    raise BinaryError("at 0: ELF, Mach-O, PE or an ar archive was expected")


def absolute_paths(data: bytes, also: Iterable[str] = ()) -> list[str]:
    """Places of the building machine that the bytes name; also: more such places."""
    found = {match.group().decode("ascii", "replace") for match in _PATHS.finditer(data)}
    found |= {place for place in also if place and place.encode() in data}
    return sorted(found)


def version_of(text: str) -> tuple[int, ...]:
    """2.31 as (2, 31)."""
    return tuple(int(part) for part in text.split("."))


def check(data: bytes, requirements: Requirements) -> list[str]:
    """Everything that is wrong with a compiled file."""
    try:
        binaries = read(data)
    except BinaryError as error:
        return [f"cannot be read: {error}"]
    problems = [] if binaries else ["holds no compiled file"]
    problems += [f"names {path}, a place of the machine that built it" for path in absolute_paths(data)]
    exports = [name for binary in binaries for name in binary.exports]
    problems += [f"exports {name}" for name in exports if not _matches(name, requirements.exports)]
    for pattern in requirements.exports:
        if not fnmatch.filter(exports, pattern):
            problems.append(f"does not export {pattern}")
    for binary in binaries:
        problems += _check_binary(binary, requirements)
    return problems


def _check_binary(binary: Binary, requirements: Requirements) -> list[str]:
    problems = []
    for what in ("machine", "format"):
        wanted = getattr(requirements, what)
        if wanted is not None and getattr(binary, what) != wanted:
            problems.append(f"has {what} {getattr(binary, what)} instead of {wanted}")
    if requirements.name is not None and (binary.name or "") != requirements.name:
        problems.append(f"calls itself {binary.name} instead of {requirements.name or 'nothing'}")
    problems += [f"needs {name}" for name in binary.needed if not _matches(name, requirements.needed)]
    problems += [f"has the loader look in {folder}" for folder in binary.search if not folder.startswith(("$ORIGIN", "@loader_path"))]
    problems += [f"does not define the version {node}" for node in requirements.nodes if node not in binary.nodes]
    for library, versions in binary.required.items():
        for version in versions:
            number = re.fullmatch(r"GLIBC_(\d+(?:\.\d+)*)", version)
            if number is None:
                problems.append(f"asks {library} for the version {version}")
            elif version_of(number.group(1)) > version_of(requirements.glibc):
                problems.append(f"asks for {version}, later than glibc {requirements.glibc}")
    return problems


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def files_in(package: Path) -> dict[str, bytes]:
    """Files of a package (zip of any name, tar.gz) under their names."""
    if zipfile.is_zipfile(package):
        with zipfile.ZipFile(package) as archive:
            return {info.filename: archive.read(info) for info in archive.infolist() if not info.is_dir()}
    with tarfile.open(package) as archive:
        return {member.name: archive.extractfile(member).read() for member in archive.getmembers() if member.isfile()}


def check_package(package: Path, natives: dict[str, Requirements], *, files: Iterable[str] = ()) -> list[str]:
    """Everything that is wrong with the compiled files of a package.

    natives: the compiled files that it has to hold, by their names in it, which are where the loader looks.
    files: others that it has to hold (licence, README ...).
    """
    there = files_in(package)
    problems = [f"{package.name}: {name} is not there" for name in [*natives, *files] if name not in there]
    for name, data in there.items():
        if is_native(data):
            if name not in natives:
                problems.append(f"{package.name}: {name} is a compiled file that nobody expects")
            else:
                problems += [f"{package.name}: {name}: {problem}" for problem in check(data, natives[name])]
        else:
            problems += [f"{package.name}: {name} names {path}" for path in absolute_paths(data) if _is_of_a_build(path)]
    return problems


# Texts (documentation, samples) may speak of folders such as /tmp/model; a build's own may not be in them.
def _is_of_a_build(path: str) -> bool:
    return any(part in path for part in ("bazel-out", "execroot", "/sandbox/", "/.cache/"))
