"""The ownership table of all functions, from abi.json: for each pointer, who owns what, before and after."""

from __future__ import annotations


class OwnershipError(Exception):
    """An annotation that this table does not know."""


# annotation: (before, after success, after failure); {destroy}, {owner} and {length} come from the parameter
_STATES = {
    "in": ("caller's", "caller's; nothing keeps it", "caller's"),
    "in_opt": ("caller's, or NULL", "caller's; nothing keeps it", "caller's"),
    "in_array": ("caller's, `{length}` elements", "caller's; nothing keeps it", "caller's"),
    "in_string": ("caller's text", "caller's; nothing keeps it", "caller's"),
    "inout": ("caller's", "caller's; changed", "caller's; unchanged"),
    "out": ("caller's variable", "filled", "zeroed"),
    "out_opt": ("caller's variable, or NULL", "filled", "zeroed"),
    "out_array": ("caller's, room for `{length}`", "filled", "nothing written"),
    "out_owned": ("caller's variable", "**new handle, the caller's**; ends with `{destroy}`", "NULL"),
    "out_borrowed": ("caller's variable", "borrow of `{owner}`, valid while that lives", "NULL"),
    "consumed": ("caller's handle", "**the callee's**", "caller's"),
    "consumed_var": ("caller's handle in a variable", "**the callee's**; variable NULL", "caller's; variable as it was"),
    "destroyed": ("caller's handle", "**ended**", "caller's (see below)"),
    "destroyed_opt": ("caller's handle, or NULL", "**ended**", "caller's (see below)"),
    "destroyed_var": ("caller's handle in a variable", "**ended**; variable NULL", "caller's; variable as it was (see below)"),
    "kept": ("caller's memory", "**lent** until its release", "caller's; no release runs"),
    "opaque": ("caller's", "kept for the callback, never looked at", "caller's; not kept"),
    "callback": ("caller's", "kept", "not kept, does not run"),
    "callback_opt": ("caller's, or NULL", "kept", "not kept, does not run"),
}
_HEADER = ["| function | pointer | before | after success | after failure | thread | since |", "|---|---|---|---|---|---|---|"]


def table(abi: dict, profile: dict) -> str:
    """A table for each section of the headers; the report `error` is everywhere the caller's and in no row."""
    lines: list[str] = []
    for title, functions in _sections(abi, profile):
        lines += ["", f"### {title}", "", *_HEADER]
        for function in functions:
            lines += _rows(function)
    return "\n".join(lines) + "\n"


def _sections(abi: dict, profile: dict) -> list[tuple[str, list[dict]]]:
    left = {function["name"]: function for function in abi["functions"]}
    sections = []
    for header in profile["headers"]:
        for section in header["sections"]:
            sources = {f"{profile['sources']}/{source}" for source in section["sources"]}
            functions = [each for each in abi["functions"] if each["source"] in sources and left.pop(each["name"], None)]
            if functions:
                sections.append((section["title"], functions))
    if left:
        raise OwnershipError(f"in no section of a header: {', '.join(left)}")
    return sections


def _rows(function: dict) -> list[str]:
    pointers = [parameter for parameter in function["params"] if "annotation" in parameter and parameter["annotation"] != "error"]
    name, thread = f"`{function['name']}`", _cell(function.get("thread", ""))
    since = str(function["since"])
    if not pointers:
        return [f"| {name} | | | | | {thread} | {since} |"]
    rows = []
    for parameter in pointers:
        states = _STATES.get(parameter["annotation"])
        if states is None:
            raise OwnershipError(f"{function['name']}: {parameter['name']}: no row for the annotation {parameter['annotation']}")
        names = {key: parameter.get(key) for key in ("length", "destroy", "owner")}
        filled = [state.format(**names) for state in states]
        rows.append(f"| {name} | `{parameter['name']}` | {' | '.join(filled)} | {thread} | {since} |")
        name = thread = since = ""
    return rows


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
