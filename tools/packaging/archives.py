"""Archives whose bytes depend on what is in them and on nothing else.

The same entries give the same bytes: their order is that of their names (with chosen ones in front), every time is the
first moment of 1980 (the earliest that a zip can hold), owners are nobody and modes are one of two. Names are refused that
would leave the folder where somebody unpacks the archive, or that two kinds of file systems read differently.
"""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

# 1980-01-01 00:00:00 UTC.
EPOCH = 315532800
_ZIP_TIME = (1980, 1, 1, 0, 0, 0)
# zlib's own default could change with its version; the level cannot.
_LEVEL = 9
_FORBIDDEN = '\\:*?"<>|'


class ArchiveError(ValueError):
    """An entry that no archive may hold. The message names it and says why."""


@dataclass(frozen=True)
class Entry:
    """One file of an archive.

    name: path in the archive, parted by slashes.
    data: its bytes; empty for a link.
    executable: mode 0755 instead of 0644.
    link: only in tar: a symbolic link to this name, which is relative to the entry's folder.
    """

    name: str
    data: bytes = b""
    executable: bool = False
    link: str | None = None


def entry_of(name: str, file: Path, *, executable: bool = False) -> Entry:
    """A file's bytes under a name; the file's own name, time and mode do not matter."""
    return Entry(name, Path(file).read_bytes(), executable)


def entries_below(folder: Path, prefix: str = "") -> list[Entry]:
    """All files below a folder, under their relative paths behind prefix; a file's executable bit is kept."""
    folder = Path(folder)
    found = []
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            executable = bool(file.stat().st_mode & 0o100)
            found.append(entry_of(prefix + file.relative_to(folder).as_posix(), file, executable=executable))
    return found


def write_zip(out: Path, entries: Iterable[Entry], *, first: Sequence[str] = (), store: bool = False) -> None:
    """Writes a zip: jar, nupkg, wheel, Go module.

    first: names that come before all others, in this order (a jar's manifest).
    store: without compression.
    """
    method = zipfile.ZIP_STORED if store else zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(out, "w", method, allowZip64=True, compresslevel=None if store else _LEVEL) as archive:
        for entry in _ordered(entries, first):
            if entry.link is not None:
                raise ArchiveError(f"{entry.name}: a zip is unpacked in places that have no links")
            info = zipfile.ZipInfo(entry.name, _ZIP_TIME)
            info.compress_type = method
            # Unix, so that the mode below is read; the machine's own would be written otherwise.
            info.create_system = 3
            info.external_attr = (0o100000 | _mode(entry)) << 16
            archive.writestr(info, entry.data)


def write_tar_gz(out: Path, entries: Iterable[Entry], *, root: str = "") -> None:
    """Writes a tar.gz.

    root: a folder, such as hurray-0.1.0, in which all entries lie.
    """
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT, encoding="utf-8") as archive:
        for entry in _ordered(entries, ()):
            name = f"{root}/{entry.name}" if root else entry.name
            info = tarfile.TarInfo(name)
            info.mtime = EPOCH
            info.mode = _mode(entry)
            if entry.link is not None:
                _check_link(entry)
                info.type = tarfile.SYMTYPE
                info.linkname = entry.link
                info.mode = 0o777
                archive.addfile(info)
            else:
                info.size = len(entry.data)
                archive.addfile(info, io.BytesIO(entry.data))
    # Neither a name nor a time in gzip's header.
    with open(out, "wb") as file, gzip.GzipFile("", "wb", _LEVEL, file, mtime=0) as packed:
        packed.write(plain.getvalue())


def _mode(entry: Entry) -> int:
    return 0o755 if entry.executable else 0o644


def _ordered(entries: Iterable[Entry], first: Sequence[str]) -> list[Entry]:
    by_name: dict[str, Entry] = {}
    folded: dict[str, str] = {}
    for entry in entries:
        _check_name(entry.name)
        other = folded.setdefault(entry.name.casefold(), entry.name)
        if entry.name in by_name:
            raise ArchiveError(f"{entry.name}: is there twice")
        if other != entry.name:
            raise ArchiveError(f"{entry.name}: is {other} where case does not count")
        by_name[entry.name] = entry
    for name in by_name:
        parts = name.split("/")
        for end in range(1, len(parts)):
            if "/".join(parts[:end]) in by_name:
                raise ArchiveError(f"{name}: lies below {'/'.join(parts[:end])}, which is a file")
    missing = [name for name in first if name not in by_name]
    if missing:
        raise ArchiveError(f"{missing[0]}: is to come first, but is not there")
    rest = sorted(name for name in by_name if name not in set(first))
    return [by_name[name] for name in [*first, *rest]]


def _check_name(name: str) -> None:
    if not name:
        raise ArchiveError("an entry without a name")
    for part in name.split("/"):
        if part in ("", ".", ".."):
            raise ArchiveError(f"{name}: a path has neither empty parts nor . nor ..")
    for character in name:
        if character in _FORBIDDEN or ord(character) < 32 or ord(character) == 127:
            raise ArchiveError(f"{name!r}: {character!r} is no character for a name that is unpacked everywhere")


def _check_link(entry: Entry) -> None:
    target = entry.link or ""
    if entry.data:
        raise ArchiveError(f"{entry.name}: a link has no bytes")
    depth = entry.name.count("/")
    if not target or target.startswith("/"):
        raise ArchiveError(f"{entry.name}: a link's target is a relative path")
    for part in target.split("/"):
        if part == "..":
            depth -= 1
        elif part in ("", "."):
            raise ArchiveError(f"{entry.name}: a path has neither empty parts nor .")
        else:
            depth += 1
        if depth < 0:
            raise ArchiveError(f"{entry.name}: the link leaves the archive")
