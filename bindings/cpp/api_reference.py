"""The API reference of hurray.hpp: bindings/cpp/API.md, made from the headers' own comments.

    api_reference.py            fails when the page is stale or something public has no comment
    api_reference.py --write    writes the page

Public is what namespace hurray declares in the headers, but for hurray::detail: classes with their public members, functions,
constants and aliases. Constructors, operators and destructors that do what the language says need no comment.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from clang import cindex

HERE = Path(__file__).parent
PAGE = HERE / "API.md"
_KINDS = cindex.CursorKind
_CLASSES = {_KINDS.CLASS_DECL, _KINDS.STRUCT_DECL, _KINDS.CLASS_TEMPLATE, _KINDS.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION}
_FUNCTIONS = {_KINDS.FUNCTION_DECL, _KINDS.FUNCTION_TEMPLATE, _KINDS.CXX_METHOD, _KINDS.CONSTRUCTOR, _KINDS.CONVERSION_FUNCTION}
_VALUES = {_KINDS.FIELD_DECL, _KINDS.VAR_DECL, _KINDS.TYPE_ALIAS_DECL, _KINDS.TYPE_ALIAS_TEMPLATE_DECL}


@dataclass
class Item:
    """Something public. `text`: its comment; `code`: its declaration, without a body."""

    name: str
    code: str
    text: str
    where: str
    members: list[Item] = field(default_factory=list)
    needs_comment: bool = True


def parse(header: Path, includes: list[Path], parts: list[Path]) -> list[list[Item]]:
    """The public declarations of the headers `parts`, which `header` includes or is. ValueError: it does not compile."""
    arguments = ["-x", "c++", "-std=c++17", f"-resource-dir={resources()}", *[f"-I{folder}" for folder in includes]]
    unit = cindex.Index.create().parse(str(header), args=arguments)
    errors = [str(note) for note in unit.diagnostics if note.severity >= cindex.Diagnostic.Error]
    if errors:
        raise ValueError(f"{header}: {errors[0]}")
    spaces = [cursor for cursor in unit.cursor.get_children() if cursor.kind == _KINDS.NAMESPACE and cursor.spelling == "hurray"]
    return [[item for space in spaces if _is_in(space, part) for item in _items_of_space(space, part)] for part in parts]


def _items_of_space(space: cindex.Cursor, header: Path) -> list[Item]:
    # What several classes share stands in bases that nobody names.
    shared = [item for inner in space.get_children() if inner.spelling == "detail" for item in _shared(inner, header)]
    return shared + _items(space, header)


def resources() -> str:
    """The folder of clang's own headers, which its Python module does not find by itself."""
    known = os.environ.get("HURRAY_CLANG_RESOURCES")
    if known:
        return known
    return subprocess.run(["clang-19", "-print-resource-dir"], capture_output=True, text=True, check=True).stdout.strip()


def undocumented(items: list[Item]) -> list[str]:
    """What has no comment, one line each."""
    found = []
    for item in items:
        if item.needs_comment and not item.text:
            found.append(f"{item.where}: {item.name} has no comment")
        found += undocumented(item.members)
    return found


def _shared(detail: cindex.Cursor, header: Path) -> list[Item]:
    shared = [item for item in _items(detail, header) if item.name.endswith("Fields")]
    for item in shared:
        item.name = item.name.removesuffix("Fields") + " and " + item.name.removesuffix("Fields") + "Ref"
    return shared


def _is_in(cursor: cindex.Cursor, header: Path) -> bool:
    return cursor.location.file is not None and Path(cursor.location.file.name).resolve() == header.resolve()


def _items(scope: cindex.Cursor, header: Path) -> list[Item]:
    found = []
    for cursor in scope.get_children():
        if not _is_in(cursor, header) or not _is_public(cursor):
            continue
        if cursor.kind in _CLASSES and cursor.is_definition():
            found.append(Item(cursor.spelling, _code(cursor), _text(cursor), _where(cursor), _items(cursor, header)))
        elif cursor.kind in _FUNCTIONS and not _is_deleted(cursor) and not cursor.spelling.startswith("~"):
            found.append(Item(cursor.spelling, _code(cursor), _text(cursor), _where(cursor), needs_comment=not _is_plain(cursor)))
        elif cursor.kind in _VALUES and not cursor.spelling.startswith("_"):
            found.append(Item(cursor.spelling, _code(cursor), _text(cursor), _where(cursor)))
    # A member that is declared in a class and defined behind it is one.
    seen: dict[tuple[str, str], Item] = {}
    return [item for item in found if seen.setdefault((item.name, item.code), item) is item]


def _is_public(cursor: cindex.Cursor) -> bool:
    if cursor.semantic_parent is not None and cursor.semantic_parent != cursor.lexical_parent:
        return False  # the definition of a member
    return cursor.access_specifier in (cindex.AccessSpecifier.PUBLIC, cindex.AccessSpecifier.INVALID)


def _is_deleted(cursor: cindex.Cursor) -> bool:
    return any(token.spelling == "delete" for token in list(cursor.get_tokens())[-3:])


def _is_plain(cursor: cindex.Cursor) -> bool:
    """What does as the language says: special members, operators, iteration."""
    name = cursor.spelling
    special = cursor.kind in (_KINDS.CONSTRUCTOR, _KINDS.CONVERSION_FUNCTION) or _is_constructor_template(cursor)
    return special or name.startswith("operator") or name in ("begin", "end")


def _is_constructor_template(cursor: cindex.Cursor) -> bool:
    parent = cursor.semantic_parent
    return cursor.kind == _KINDS.FUNCTION_TEMPLATE and parent is not None and cursor.spelling.split("<")[0] == parent.spelling.split("<")[0]


def _where(cursor: cindex.Cursor) -> str:
    return f"{Path(cursor.location.file.name).name}:{cursor.location.line}"


def _text(cursor: cindex.Cursor) -> str:
    lines = [line.strip() for line in (cursor.raw_comment or "").splitlines()]
    return " ".join(re.sub(r"^///\s?", "", line) for line in lines if line.startswith("///")).strip()


def _code(cursor: cindex.Cursor) -> str:
    """The declaration as it stands there, without its body and initializers."""
    source = Path(cursor.location.file.name).read_text(encoding="utf-8").encode()
    code = source[cursor.extent.start.offset : cursor.extent.end.offset].decode()
    code = re.sub(r"//[^\n]*", "", code)
    depth, end = 0, len(code)
    for place, character in enumerate(code):
        if character in "(<[":
            depth += 1
        elif character in ")>]" and code[place - 1 : place + 1] != "->":
            depth -= 1
        elif depth == 0 and (code[place : place + 2] == " =" or character in "{;" or _is_initializer(cursor, code, place)):
            end = place
            break
    return " ".join(code[:end].split())


def _is_initializer(cursor: cindex.Cursor, code: str, place: int) -> bool:
    """Whether the initializers of a constructor begin there, or a line that wraps them."""
    return cursor.kind in _FUNCTIONS and re.match(r"\s: ", code[place:]) is not None


def page(headers: list[tuple[str, str, list[Item]]]) -> str:
    """The text of API.md. Each header: its name, what it is about, what it declares."""
    out = ["<!-- Generated by bindings/cpp/api_reference.py from the headers. Do not edit; run it with --write. -->", "", "# hurray.hpp: reference", ""]
    for name, about, items in headers:
        if not items:
            continue
        out += [f"## {name}", "", about, ""]
        for item in items:
            out += [f"### {item.name}" if item.members else f"**`{item.code}`**", ""]
            if item.members:
                out += ["```cpp", item.code, "```", ""]
            if item.text:
                out += [item.text, ""]
            out += [f"- `{member.code}`" + (f": {member.text}" if member.text else "") for member in item.members]
            out += [""] if item.members else []
    return "\n".join(out)


def about(header: Path) -> str:
    """The comment at a header's top."""
    lines = header.read_text(encoding="utf-8").splitlines()
    end = next(number for number, line in enumerate(lines) if not line.startswith("//"))
    return " ".join(line[2:].strip() for line in lines[:end])


def read_all(root: Path) -> list[tuple[str, str, list[Item]]]:
    """All headers below the repository's root."""
    folders = [root / "bindings/cpp/include", root / "abi/include"]
    headers = sorted((folders[0] / "hurray").glob("*.hpp"))
    found = parse(folders[0] / "hurray.hpp", folders, headers)
    return [(f"hurray/{header.name}", about(header), items) for header, items in zip(headers, found)]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args(arguments)
    headers = read_all(HERE.parent.parent)
    missing = [line for _, _, items in headers for line in undocumented(items)]
    if missing:
        print("\n".join(missing), file=sys.stderr)
        return 1
    text = page(headers)
    if given.write:
        PAGE.write_text(text, encoding="utf-8")
    elif PAGE.read_text(encoding="utf-8") != text:
        print(f"{PAGE}: is stale; run bindings/cpp/api_reference.py --write", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
