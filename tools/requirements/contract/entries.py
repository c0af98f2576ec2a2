"""The entries of docs/abi/requirements.json: one for each sentence that obliges, with the tests that prove it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

STRENGTHS = ("MUST", "MUST NOT", "SHOULD", "SHOULD NOT", "MAY")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_ID = re.compile(r"[A-Z][A-Z0-9]*-\d+")
_TARGET = re.compile(r"//[^:\s]*:[^:\s]+")


class EntryError(Exception):
    """What is wrong with the file of entries."""


@dataclass(frozen=True)
class Proof:
    """A test: a target, and the test's name in it; no name when the whole target is the proof."""

    target: str
    name: str

    @classmethod
    def parse(cls, text: str) -> Proof:
        target, _, name = text.partition(" ")
        if not _TARGET.fullmatch(target):
            raise EntryError(f"{text!r}: expected //package:target, and the name of a test behind a blank")
        return cls(target, name.strip())

    def __str__(self) -> str:
        return f"{self.target} {self.name}".rstrip()


@dataclass(frozen=True)
class Entry:
    """One requirement. `strengths` is empty for a sentence that states something without a word of obligation."""

    id: str
    section: str
    strengths: tuple[str, ...]
    digest: str
    requirement: str
    proofs: tuple[Proof, ...]


@dataclass(frozen=True)
class Requirements:
    """The whole file: where the contract lies among the shared data, and why some targets are proofs as a whole."""

    contract: str
    whole_targets: dict[str, str]
    entries: tuple[Entry, ...]


def load(path: Path) -> Requirements:
    """Reads the file; what is not as it should be is an EntryError that names the entry."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise EntryError(f"{path.name}: {error}") from error
    _fields(path.name, content, {"contract": str, "whole_targets": dict, "requirements": list})
    entries = tuple(_entry(index, value) for index, value in enumerate(content["requirements"]))
    for field in ("id", "digest"):
        values = [getattr(entry, field) for entry in entries]
        for value in dict.fromkeys(values):
            if values.count(value) > 1:
                owners = ", ".join(entry.id for entry in entries if getattr(entry, field) == value)
                raise EntryError(f"{field} {value} stands in {values.count(value)} entries: {owners}")
    return Requirements(content["contract"], content["whole_targets"], entries)


def _entry(index: int, value: dict) -> Entry:
    where = f"requirement {value.get('id', index) if isinstance(value, dict) else index}"
    _fields(where, value, {"id": str, "section": str, "strength": list, "sentence": str, "requirement": str, "tests": list})
    if not _ID.fullmatch(value["id"]):
        raise EntryError(f"{where}: an id is like LISTS-3")
    if not _DIGEST.fullmatch(value["sentence"]):
        raise EntryError(f"{where}: sentence is the SHA-256 of the contract's sentence, 64 hexadecimal digits")
    unknown = [strength for strength in value["strength"] if strength not in STRENGTHS]
    if unknown:
        raise EntryError(f"{where}: strength {unknown[0]!r} is none of {', '.join(STRENGTHS)}")
    if not value["requirement"].strip():
        raise EntryError(f"{where}: the requirement is empty")
    try:
        proofs = tuple(Proof.parse(test) for test in value["tests"])
    except EntryError as error:
        raise EntryError(f"{where}: {error}") from error
    for proof in proofs:
        if proofs.count(proof) > 1:
            raise EntryError(f"{where}: {proof} stands there twice")
    return Entry(value["id"], value["section"], tuple(value["strength"]), value["sentence"], value["requirement"], proofs)


def _fields(where: str, value: object, wanted: dict[str, type]) -> None:
    if not isinstance(value, dict):
        raise EntryError(f"{where}: expected an object")
    for name, kind in wanted.items():
        if not isinstance(value.get(name), kind):
            raise EntryError(f"{where}: expected {name}, a {kind.__name__}")
    for name in value:
        if name not in wanted:
            raise EntryError(f"{where}: unknown field {name}")
