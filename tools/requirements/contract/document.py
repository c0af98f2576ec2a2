"""Writes the generated parts of docs/abi.md: between two comments that name the part, everything is generated.

    <!-- generated: requirements -->
    ...
    <!-- end generated: requirements -->
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from . import entries, exchange, ownership, versions
from .entries import Entry, Requirements

PAGE = "docs/abi.md"
ENTRIES = "docs/abi/requirements.json"
ABI = "abi/abi.json"
PROFILE = "abi/headergen.json"

_PART = re.compile(r"(?P<begin><!-- generated: (?P<name>[\w-]+) -->\n).*?(?P<end><!-- end generated: (?P=name) -->\n)", re.DOTALL)
_MARKER = re.compile(r"<!-- (?:end )?generated: ")


class DocumentError(Exception):
    """A part that nobody generates, one that is missing, or a marker without its counterpart."""


def generate(root: Path, abi: dict | None = None) -> dict[str, str]:
    """The page with fresh parts, by its path. `abi`: what abi.json will say, when that is not yet written."""
    if abi is None:
        abi = json.loads((root / ABI).read_text(encoding="utf-8"))
    profile = json.loads((root / PROFILE).read_text(encoding="utf-8"))
    requirements = entries.load(root / ENTRIES)
    source = (root / exchange.SOURCE).read_text(encoding="utf-8")
    parts = {
        "exchange-table": exchange.table(source, abi),
        "ownership": ownership.table(abi, profile),
        "requirements": table(requirements),
        "versions": versions.table(abi),
    }
    return {PAGE: splice((root / PAGE).read_text(encoding="utf-8"), parts)}


def splice(page: str, parts: dict[str, str]) -> str:
    """The page with every part between its markers."""
    seen: list[str] = []

    def part(match: re.Match[str]) -> str:
        name = match["name"]
        if name not in parts:
            raise DocumentError(f"{PAGE}: nothing generates the part {name}")
        seen.append(name)
        return f"{match['begin']}\n{parts[name].strip()}\n\n{match['end']}"

    text = _PART.sub(part, page)
    for name in parts:
        if seen.count(name) != 1:
            raise DocumentError(f"{PAGE}: expected the part {name} once, found it {seen.count(name)} times")
    if len(_MARKER.findall(page)) != 2 * len(seen):
        raise DocumentError(f"{PAGE}: a marker of a generated part has no counterpart")
    return text


def table(requirements: Requirements) -> str:
    """Requirements and their tests, a table for each section of the contract."""
    lines: list[str] = []
    section = None
    for entry in requirements.entries:
        if entry.section != section:
            section = entry.section
            lines += ["", f"### {section}", "", "| id | strength | requirement | proven by |", "|---|---|---|---|"]
        strength = ", ".join(entry.strengths) or "states"
        lines.append(f"| {entry.id} | {strength} | {_cell(entry.requirement)} | {_tests(entry)} |")
    if requirements.whole_targets:
        lines += ["", "Targets that are a proof as a whole:", ""]
        lines += [f"- `{target}`: {reason}" for target, reason in requirements.whole_targets.items()]
    return "\n".join(lines) + "\n"


def _tests(entry: Entry) -> str:
    targets: dict[str, list[str]] = {}
    for proof in entry.proofs:
        targets.setdefault(proof.target, []).extend([proof.name] if proof.name else [])
    return "<br>".join(": ".join([f"`{target}`", ", ".join(map(_cell, names))] if names else [f"`{target}`"])
                       for target, names in targets.items())


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
