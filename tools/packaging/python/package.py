"""Writes a wheel of the Python package: one platform's, for every CPython from 3.11 on (the limited API).

Without a build backend: a wheel is a zip of the package's files and a folder with three lists. libhurray lies beside the
extension, which finds it there by its full path, so that neither the loader's paths nor a RUNPATH matter.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import re
import sys
from collections.abc import Iterable
from pathlib import Path

from tools.packaging.archives import Entry, entry_of, write_zip
from tools.packaging.metadata import Metadata, load

PYTHON = "cp311"
LEAST_PYTHON = "3.11"
# What the package asks for where it is wanted, and not otherwise.
_EXTRAS = {"numpy": ["numpy>=1.24"], "ml-dtypes": ["ml-dtypes>=0.5", "numpy>=1.24"]}
_CLASSIFIERS = [
    "Development Status :: 3 - Alpha",
    "Intended Audience :: Developers",
    "Intended Audience :: Science/Research",
    "License :: OSI Approved :: Apache Software License",
    "Programming Language :: C",
    "Programming Language :: Python :: 3",
    "Programming Language :: Python :: Implementation :: CPython",
    "Topic :: Scientific/Engineering",
    "Typing :: Typed",
]
_SYSTEMS = {"linux": "Operating System :: POSIX :: Linux", "macosx": "Operating System :: MacOS", "win": "Operating System :: Microsoft :: Windows"}


class PackageError(ValueError):
    """The files make no wheel. The message says why."""


def file_name(metadata: Metadata, platform: str) -> str:
    """Name of the wheel for a platform tag, such as manylinux_2_31_x86_64."""
    return f"{metadata.name}-{metadata.version}-{PYTHON}-abi3-{platform}.whl"


def metadata_text(metadata: Metadata, platform: str, readme: str) -> str:
    """The file METADATA."""
    system = next((_SYSTEMS[name] for name in ("linux", "macosx", "win") if name in platform), None)
    if system is None:
        raise PackageError(f"{platform}: is a platform tag of no system that is known here")
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {metadata.name}",
        f"Version: {metadata.version}",
        f"Summary: {metadata.description}",
        f"Home-page: {metadata.url}",
        f"Author: {', '.join(metadata.authors)}",
        f"License: {metadata.licence}",
        "License-File: LICENSE",
        f"Keywords: {','.join(metadata.keywords)}",
        *(f"Classifier: {text}" for text in sorted([*_CLASSIFIERS, system])),
        f"Requires-Python: >={LEAST_PYTHON}",
    ]
    for extra, needed in sorted(_EXTRAS.items()):
        lines.append(f"Provides-Extra: {extra}")
        lines += [f'Requires-Dist: {requirement}; extra == "{extra}"' for requirement in needed]
    lines.append("Description-Content-Type: text/markdown")
    return "\n".join(lines) + "\n\n" + readme


def _wheel_text(platform: str) -> str:
    return f"Wheel-Version: 1.0\nGenerator: hurray\nRoot-Is-Purelib: false\nTag: {PYTHON}-abi3-{platform}\n"


def record_text(entries: Iterable[Entry], own_name: str) -> str:
    """The file RECORD: every file with its hash and length; itself without."""
    lines = []
    for entry in sorted(entries, key=lambda entry: entry.name):
        digest = base64.urlsafe_b64encode(hashlib.sha256(entry.data).digest()).rstrip(b"=").decode("ascii")
        lines.append(f"{entry.name},sha256={digest},{len(entry.data)}\n")
    return "".join(lines) + f"{own_name},,\n"


def write_wheel(out: Path, metadata: Metadata, platform: str, files: Iterable[Entry], readme: str) -> None:
    """Writes a wheel.

    out: its name must be the one that file_name gives, since installers read it.
    files: the package's own, by their names in it.
    """
    if Path(out).name != file_name(metadata, platform):
        raise PackageError(f"{Path(out).name}: expected the name {file_name(metadata, platform)}")
    info = f"{metadata.name}-{metadata.version}.dist-info"
    entries = [
        *(Entry(f"{metadata.name}/{entry.name}", entry.data, entry.executable) for entry in files),
        Entry(f"{info}/METADATA", metadata_text(metadata, platform, readme).encode("utf-8")),
        Entry(f"{info}/WHEEL", _wheel_text(platform).encode("ascii")),
        Entry(f"{info}/LICENSE", metadata.licence_text),
        Entry(f"{info}/top_level.txt", f"{metadata.name}\n".encode("ascii")),
    ]
    names = {entry.name for entry in entries}
    for needed in ("__init__.py", "_native.abi3.so", "py.typed"):
        if f"{metadata.name}/{needed}" not in names:
            raise PackageError(f"{needed}: is missing from the package")
    record = f"{info}/RECORD"
    write_zip(out, [*entries, Entry(record, record_text(entries, record).encode("utf-8"))])


def _entries(arguments: argparse.Namespace) -> list[Entry]:
    # What the extension is for: another configuration's stands among the sources under the same name.
    sources = [Path(file) for file in arguments.sources if not file.endswith(".so")]
    found = [entry_of(file.name, file) for file in sources]
    for pair in arguments.native:
        name, equals, file = pair.partition("=")
        if not equals or re.search(r"[/\\]", name):
            raise PackageError(f"{pair}: expected NAME=FILE")
        found.append(entry_of(name, Path(file), executable=True))
    return found


def main(arguments: list[str]) -> int:
    """Writes one wheel; 2 with a line on standard error where that cannot be."""
    parser = argparse.ArgumentParser(prog="package", description="Writes a wheel of the Python package.")
    parser.add_argument("--platform", required=True, help="platform tag, such as manylinux_2_31_x86_64")
    parser.add_argument("--out", required=True, type=Path, help="the wheel")
    parser.add_argument("--readme", required=True, type=Path, help="the long description, in Markdown")
    parser.add_argument("--native", action="append", default=[], metavar="NAME=FILE", help="a compiled file, and its name in the package")
    parser.add_argument("sources", nargs="+", help="the package's Python files, hints and marker")
    options = parser.parse_args(arguments)
    try:
        write_wheel(options.out, load(), options.platform, _entries(options), options.readme.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        print(f"package: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
