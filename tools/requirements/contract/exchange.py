"""The table of functions behind an exchange handle, entry by entry, from the one list that the library is made of."""

from __future__ import annotations

import re

SOURCE = "abi/src/internal/exchange.hpp"

_LIST = re.compile(r"#define HURRAY_EXCHANGE_FUNCTIONS\(ENTRY\)(?P<entries>(?:.*\\\n)+.*\n)")
_ENTRY = re.compile(r"\bENTRY\((\w+), ")
# In front of the functions of the list; on machines whose pointers have 8 bytes.
_HEAD = [(0, "`size`", "`uint32_t`: size of the table in bytes; nothing is read at or behind it"),
         (4, "`c_abi_version`", "`uint32_t`: the version of the copy that the table belongs to"),
         (8, "`supports`", "`hurray_c_abi_supports`: whether the copy vouches for a version"),
         (16, "`build_id`", "`hurray_build_id`")]


class ExchangeError(Exception):
    """The list is not where it is looked for, or names what is no public function."""


def entries(source: str) -> list[str]:
    """The names in the list, without hurray_, in their order."""
    found = _LIST.search(source)
    if found is None:
        raise ExchangeError(f"{SOURCE}: no HURRAY_EXCHANGE_FUNCTIONS")
    return _ENTRY.findall(found["entries"])


def table(source: str, abi: dict) -> str:
    """A row for each field of the table: its offset and what it is."""
    public = {function["name"] for function in abi["functions"]}
    lines = ["| offset | field | what it is |", "|---|---|---|"]
    lines += [f"| {offset} | {field} | {text} |" for offset, field, text in _HEAD]
    offset = _HEAD[-1][0] + 8
    for name in entries(source):
        if f"hurray_{name}" not in public:
            raise ExchangeError(f"{SOURCE}: hurray_{name} is no public function")
        lines.append(f"| {offset} | `{name}` | `hurray_{name}` |")
        offset += 8
    return "\n".join(lines) + "\n"
