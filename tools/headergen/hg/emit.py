"""Runs the emitters of a profile over the generated abi.json."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import emitters


def emit_all(root: Path, profile_file: str, abi_text: str, without: str | None = None) -> tuple[dict[str, str], list[str]]:
    """(files by path, folders that hold nothing else). Each emitter gets its own copy of what abi.json says. The one named
    by `without` is left out."""
    files: dict[str, str] = {}
    folders: list[str] = []
    for name in emitters.EMITTERS.get(profile_file, []):
        if name == without:
            continue
        module = importlib.import_module(f"emitters.{name}")
        for path, text in module.emit(json.loads(abi_text), root).items():
            path = Path(path).as_posix()
            if path in files:
                raise ValueError(f"emitter {name}: {path} is already emitted by another one")
            files[path] = text
        folders += getattr(module, "FOLDERS", [])
    return files, folders
