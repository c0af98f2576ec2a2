"""Which binding offers which function of the C ABI: bindings/<folder>/coverage.json, checked against abi.json and the
binding's own sources, and the page that is made of them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from . import languages

PAGE = "docs/coverage.md"
_LEFT_OUT = "-"
_NAME = re.compile(r"~?\w+(?:(?:\.|::)~?\w+)*")


@dataclass(frozen=True)
class Table:
    """A binding's table: function -> names of the binding, and function -> why it is not offered."""

    language: languages.Language
    names: dict[str, list[str]]
    reasons: dict[str, str]


class CoverageError(Exception):
    """What is wrong, one line a problem."""


def load(root: Path, language: languages.Language) -> Table:
    """Reads a table; raises CoverageError when its form is wrong."""
    file = f"bindings/{language.folder}/coverage.json"
    try:
        text = (root / file).read_text(encoding="utf-8")
    except OSError as error:
        raise CoverageError(f"{file}: cannot be read: {error.strerror}") from error
    try:
        content = json.loads(text, object_pairs_hook=lambda pairs: _object(file, pairs))
    except json.JSONDecodeError as error:
        raise CoverageError(f"{file}:{error.lineno}: no JSON: {error.msg}") from error
    if not isinstance(content, dict) or not isinstance(content.get(_LEFT_OUT), dict):
        raise CoverageError(f'{file}: expected an object with an object "{_LEFT_OUT}" of what is not offered')
    reasons = content.pop(_LEFT_OUT)
    problems = [f"{file}: {function}: expected a text" for table in (content, reasons) for function, value in table.items()
                if not isinstance(value, str)]
    if problems:
        raise CoverageError("\n".join(problems))
    return Table(language, {function: value.split(", ") for function, value in content.items()}, reasons)


def _object(file: str, pairs: list[tuple[str, object]]) -> dict[str, object]:
    result = dict(pairs)
    if len(result) != len(pairs):
        keys = [key for key, _ in pairs]
        raise CoverageError(f"{file}: {next(key for key in keys if keys.count(key) > 1)} stands there twice")
    return result


def problems(root: Path, functions: list[str], table: Table) -> list[str]:
    """What is untrue in a table. Each function stands in exactly one half; what a name is made of is declared in the
    binding's public sources; its hand-written layer calls a function exactly when it is offered, or it ends handles."""
    language, file = table.language, f"bindings/{table.language.folder}/coverage.json"
    public, called = language.public_names(root), language.called(root)
    reached = called | language.ended_with(root)
    found = [f"{function} is no function of the C ABI" for function in [*table.names, *table.reasons] if function not in functions]
    for function in functions:
        offered, left_out = function in table.names, function in table.reasons
        if offered == left_out:
            found.append(f"{function} stands in {'both halves' if offered else 'neither half'}; expected in exactly one")
        elif offered:
            found += _name_problems(function, table.names[function], public)
            if languages.spelled(function) not in reached:
                found.append(f"{function}: is said to be offered, but the hand-written sources do not call it")
        else:
            if len(table.reasons[function].split()) < 3:
                found.append(f"{function}: the reason {table.reasons[function]!r} says nothing; expected why it is not offered")
            if languages.spelled(function) in called:
                found.append(f"{function}: is said not to be offered, but the hand-written sources call it")
    return [f"{file}: {text}" for text in found]


def _name_problems(function: str, names: list[str], public: set[str]) -> list[str]:
    found = []
    for name in names:
        if not _NAME.fullmatch(name):
            found.append(f"{function}: {name!r} is no name; expected names with ', ' between them")
            continue
        missing = [part for part in re.split(r"\.|::", name) if part not in public]
        found += [f"{function}: {name}: the public sources declare no {part}" for part in missing]
    return found


def page(abi: dict, tables: list[Table], banner: str) -> str:
    """The text of docs/coverage.md."""
    functions = abi["functions"]
    titles = [table.language.title for table in tables]
    out = [banner, "\n# What each binding offers\n\n"
           "Every function that the library exports, and what a binding reaches it through. The tables\n"
           "`bindings/*/coverage.json` are written by hand; a test compares them with the sources: each function is either offered or\n"
           "left out with a reason, each name is declared, and the binding's own layer calls what it offers and nothing else. A type\n"
           "alone means that its objects do it by themselves, such as when they are collected.\n\n"
           f"| | {' | '.join(titles)} |\n|---|{'---|' * len(tables)}\n"]
    for header in abi["headers"]:
        here = [f["name"] for f in functions if f["header"] == header]
        counts = (f"{sum(name in table.names for name in here)} of {len(here)}" for table in tables)
        out.append(f"| [{header}](#{_anchor(header)}) | {' | '.join(counts)} |\n")
    totals = (f"{sum(f['name'] in table.names for f in functions)} of {len(functions)}" for table in tables)
    out.append(f"| all | {' | '.join(totals)} |\n")
    for header in abi["headers"]:
        out.append(f"\n## {header}\n\n| function | {' | '.join(titles)} |\n|---|{'---|' * len(tables)}\n")
        for function in (f["name"] for f in functions if f["header"] == header):
            cells = (", ".join(f"`{name}`" for name in table.names[function]) if function in table.names else "–" for table in tables)
            out.append(f"| `{function}` | {' | '.join(cells)} |\n")
    out.append("\n## Left out\n")
    for table in tables:
        out.append(f"\n### {table.language.title}\n\n")
        by_reason: dict[str, list[str]] = {}
        for function in (f["name"] for f in functions):
            if function in table.reasons:
                by_reason.setdefault(table.reasons[function], []).append(function)
        out += [f"- {', '.join(f'`{name}`' for name in names)}: {reason}\n" for reason, names in by_reason.items()]
        if not by_reason:
            out.append("Nothing.\n")
    return "".join(out)


def _anchor(title: str) -> str:
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def generate(root: Path, abi: dict, banner: str) -> dict[str, str]:
    """The page; raises CoverageError when any table is untrue."""
    tables, wrong = [], []
    functions = [f["name"] for f in abi["functions"]]
    for language in languages.LANGUAGES:
        try:
            table = load(root, language)
        except CoverageError as error:
            wrong.append(str(error))
            continue
        tables.append(table)
        wrong += problems(root, functions, table)
    if wrong:
        raise CoverageError("\n".join(wrong))
    return {PAGE: page(abi, tables, banner)}
