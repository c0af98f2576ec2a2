"""Generated files: written, or compared with what is checked in."""

from __future__ import annotations

import difflib
from pathlib import Path


def write(root: Path, files: dict[str, str]) -> list[str]:
    """Writes what differs; returns the paths that changed."""
    changed = []
    for path, text in sorted(files.items()):
        file = root / path
        if file.is_file() and file.read_bytes() == text.encode("utf-8"):
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode("utf-8"))
        changed.append(path)
    return changed


def differences(root: Path, files: dict[str, str]) -> str:
    """A unified diff from what is checked in to what would be generated; empty when all is fresh."""
    out = []
    for path, text in sorted(files.items()):
        file = root / path
        if not file.is_file():
            out.append(f"{path}: is generated, but does not exist\n")
            continue
        try:
            old = file.read_bytes().decode("utf-8")
        except UnicodeDecodeError:
            out.append(f"{path}: is generated text, but what is checked in is no UTF-8\n")
            continue
        if old != text:
            diff = difflib.unified_diff(old.splitlines(keepends=True), text.splitlines(keepends=True),
                                        f"{path} (checked in)", f"{path} (generated)")
            out += [line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in diff]
    return "".join(out)


def leftovers(root: Path, folders: list[str], files: dict[str, str]) -> list[str]:
    """Files in folders that belong to a generator, but which it does not generate any more."""
    return sorted(path for folder in folders for file in (root / folder).rglob("*")
                  if file.is_file() and (path := file.relative_to(root).as_posix()) not in files)
