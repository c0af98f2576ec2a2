"""Makes the package for C and C++: headers, libraries, a pkg-config file and a CMake config, in one tar.gz a platform.

    package.py --platform linux-x86_64 --library libhurray.so.1 [--archive libhurray.a] [--import-library hurray.lib]
               --header FILE ... --readme FILE --out hurray-0.1.0-linux-x86_64.tar.gz

A header's place in the package is what follows the last "include/" of its path. Nothing in the package says where it lies:
it may be unpacked anywhere and moved.
"""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from tools.packaging.archives import Entry, entry_of, write_tar_gz
from tools.packaging.metadata import Metadata, load

_TEMPLATES = Path(__file__).parent


@dataclass(frozen=True)
class _System:
    """What an operating system calls things.

    library: where the shared library goes; links: further names of it beside it.
    import_library: where the file goes that programs are linked with, where that is another one.
    needs: what a static archive needs of the system.
    """

    library: str
    links: tuple[str, ...]
    import_library: str | None
    archive: str
    needs: tuple[str, ...]


_SYSTEMS = {
    "linux": _System("lib/libhurray.so.1", ("lib/libhurray.so",), None, "lib/libhurray.a", ("pthread", "dl", "m")),
    "macos": _System("lib/libhurray.1.dylib", ("lib/libhurray.dylib",), None, "lib/libhurray.a", ()),
    "windows": _System("bin/hurray.dll", (), "lib/hurray.lib", "lib/libhurray_static.a", ()),
}


class PackageError(ValueError):
    """What is to be packed is not what a package needs. The message says what."""


def system_of(platform: str) -> _System:
    """The system of a platform of tools/bazel/platforms.bzl, such as linux-musl-x86_64."""
    system = _SYSTEMS.get(platform.split("-")[0])
    if system is None:
        raise PackageError(f"{platform}: expected a platform of {', '.join(sorted(_SYSTEMS))}")
    return system


def root_of(metadata: Metadata, platform: str) -> str:
    """Name of the package's one folder, and of its file without .tar.gz."""
    return f"{metadata.name}-{metadata.version}-{platform}"


def entries(
    metadata: Metadata,
    platform: str,
    library: Path,
    headers: list[Path],
    readme: Path,
    archive: Path | None = None,
    import_library: Path | None = None,
) -> list[Entry]:
    """All files of the package, in its one folder."""
    system = system_of(platform)
    if (import_library is None) != (system.import_library is None):
        raise PackageError(f"{platform}: an import library is {'missing' if system.import_library else 'for Windows only'}")
    found = [entry_of(system.library, library, executable=True)]
    found += [Entry(link, link=Path(system.library).name) for link in system.links]
    if import_library is not None and system.import_library is not None:
        found.append(entry_of(system.import_library, import_library))
    if archive is not None:
        found.append(entry_of(system.archive, archive))
    found += [entry_of(_place_of(header), header) for header in headers]
    names = {entry.name for entry in found}
    for needed in ("include/hurray.h", "include/hurray.hpp"):
        if needed not in names:
            raise PackageError(f"{needed} is not among the headers")
    found.append(Entry("LICENSE", metadata.licence_text))
    found.append(entry_of("README.md", readme))
    values = _values(metadata, system)
    found.append(_filled("hurray.pc", "lib/pkgconfig/hurray.pc", values))
    found.append(_filled("hurray-config.cmake", "lib/cmake/hurray/hurray-config.cmake", values))
    found.append(_filled("hurray-config-version.cmake", "lib/cmake/hurray/hurray-config-version.cmake", values))
    return found


def _place_of(header: Path) -> str:
    _, mark, rest = header.as_posix().rpartition("include/")
    if not mark:
        raise PackageError(f"{header}: a header lies in a folder include")
    return "include/" + rest


def _values(metadata: Metadata, system: _System) -> dict[str, str]:
    major, minor, _ = metadata.version.split(".")
    if system.import_library is not None:
        library_property = f'IMPORTED_IMPLIB "${{_hurray_root}}/{system.import_library}"'
    else:
        name = Path(system.library).name
        soname = name if name.startswith("libhurray.so") else f"@rpath/{name}"
        library_property = f'IMPORTED_SONAME "{soname}"'
    return {
        "name": metadata.name,
        "description": metadata.description,
        "url": metadata.url,
        "version": metadata.version,
        "major": major,
        "minor": minor,
        "library": system.library,
        "library_property": library_property,
        "archive": system.archive,
        "static_needs": ";".join(system.needs),
        "private_libraries": " ".join("-l" + name for name in system.needs),
    }


def _filled(template: str, place: str, values: dict[str, str]) -> Entry:
    text = (_TEMPLATES / (template + ".in")).read_text(encoding="utf-8")
    # pcfiledir has an at sign nowhere, and CMake's own variables are written ${...}.
    filled = re.sub(r"@([a-z_]+)@", lambda found: values[found[1]], text)
    return Entry(place, "\n".join(line.rstrip() for line in filled.splitlines()).encode() + b"\n")


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--platform", required=True)
    parser.add_argument("--library", required=True, type=Path)
    parser.add_argument("--archive", type=Path)
    parser.add_argument("--import-library", type=Path)
    parser.add_argument("--header", required=True, type=Path, action="append")
    parser.add_argument("--readme", required=True, type=Path)
    parser.add_argument("--out", required=True, type=Path)
    given = parser.parse_args(arguments)
    metadata = load()
    packed = entries(
        metadata, given.platform, given.library, given.header, given.readme, given.archive, given.import_library
    )
    write_tar_gz(given.out, packed, root=root_of(metadata, given.platform))


if __name__ == "__main__":
    main(sys.argv[1:])
