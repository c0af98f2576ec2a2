"""What every package says about itself, from one place: VERSION, LICENSE and tools/packaging/project.json."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

_HERE = Path(__file__).parent
# The repository's root, also where Bazel lays out the files of a program.
_ROOT = _HERE.parent.parent
_FIELDS = {
    "name": str,
    "title": str,
    "description": str,
    "licence": str,
    "licence_name": str,
    "licence_url": str,
    "url": str,
    "authors": list,
    "keywords": list,
    "java_group": str,
    "go_module": str,
}


class MetadataError(ValueError):
    """The metadata is not complete or not well-formed. The message says which file and field."""


@dataclass(frozen=True)
class Metadata:
    """Of the project as a whole.

    version: as in VERSION, such as 0.1.0.
    licence: its SPDX identifier; licence_text: the file LICENSE.
    """

    name: str
    title: str
    description: str
    licence: str
    licence_name: str
    licence_url: str
    url: str
    authors: tuple[str, ...]
    keywords: tuple[str, ...]
    java_group: str
    go_module: str
    version: str
    licence_text: bytes


def load(root: Path = _ROOT) -> Metadata:
    """Reads the three files below the repository's root."""
    version = (root / "VERSION").read_text(encoding="ascii").strip()
    if not re.fullmatch(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)", version):
        # Each community writes pre-releases in its own way; this form is the same in all of them.
        raise MetadataError(f"VERSION: {version!r} is not MAJOR.MINOR.PATCH")
    fields = json.loads((root / "tools/packaging/project.json").read_text(encoding="utf-8"))
    for name, kind in _FIELDS.items():
        value = fields.get(name)
        words = value if kind is list else [value]
        if not isinstance(value, kind) or not words or not all(isinstance(word, str) and word for word in words):
            raise MetadataError(f"project.json: {name} is missing or no {'list of texts' if kind is list else 'text'}")
    unknown = sorted(set(fields) - set(_FIELDS))
    if unknown:
        raise MetadataError(f"project.json: no such field: {unknown[0]}")
    licence = (root / "LICENSE").read_bytes()
    if fields["licence"] == "Apache-2.0" and b"Apache License" not in licence:
        raise MetadataError(f"LICENSE: is not the text of {fields['licence']}")
    values = {name: tuple(fields[name]) if kind is list else fields[name] for name, kind in _FIELDS.items()}
    return Metadata(version=version, licence_text=licence, **values)
