"""The names of the tests in source files, as each language's runner prints them."""

from __future__ import annotations

import ast
import re
from pathlib import Path

_GTEST = re.compile(r"^\s*TEST(?:_F|_P)?\(\s*(\w+)\s*,\s*(\w+)\s*\)", re.MULTILINE)
_GO = re.compile(r"^func (?:((?:Test|Fuzz)\w+)\(\w+ \*testing\.[TF]\)|(Example\w*)\(\))", re.MULTILINE)
_ZIG = re.compile(r'^\s*test "((?:[^"\\]|\\.)*)" \{', re.MULTILINE)
_ZIG_IMPORT = re.compile(r'@import\("([^"]+\.zig)"\)')
# The annotation, others on lines below it, and the method's name on the next line or the same one.
_JAVA = re.compile(
    r"^\s*@(?:Test|ParameterizedTest|RepeatedTest)\b(?P<more>[^\n]*?(?:\n\s*[@\"}][^\n]*)*?(?:\n[^\n]*?)?)\bvoid (?P<name>\w+)\(",
    re.MULTILINE)
_CSHARP = re.compile(
    r"^(?P<indent>[ \t]*)\[(?:Fact|Theory)\b(?P<more>[^\n]*?(?:\n\s*\[[^\n]*)*?(?:\n[^\n]*?)?)\b(?:void|Task) (?P<name>\w+)\(",
    re.MULTILINE)
_CSHARP_CLASS = re.compile(r"^(?P<indent>[ \t]*)[a-z ]*\bclass (?P<name>\w+)", re.MULTILINE)


def of_file(path: Path) -> set[str]:
    """The tests in a file: Suite.Name, Class.method, TestName, or Zig's text. Those that are switched off are none."""
    reader = _READERS.get("_test.go" if path.name.endswith("_test.go") else path.suffix)
    return reader(path, path.read_text(encoding="utf-8")) if reader else set()


def zig_files(root: Path) -> list[Path]:
    """The root file of a Zig test and the files that it imports, directly or not: only their tests run."""
    found = [root]
    for path in found:
        for name in _ZIG_IMPORT.findall(path.read_text(encoding="utf-8")):
            other = path.parent / name
            if other.is_file() and other not in found:
                found.append(other)
    return found


def _cpp(_: Path, text: str) -> set[str]:
    return {f"{suite}.{name}" for suite, name in _GTEST.findall(text) if not suite.startswith("DISABLED_")
            and not name.startswith("DISABLED_")}


def _python(path: Path, text: str) -> set[str]:
    found = set()
    for node in ast.parse(text, str(path)).body:
        if isinstance(node, ast.ClassDef):
            for part in node.body:
                if isinstance(part, ast.FunctionDef) and part.name.startswith("test") and not _skipped(part) and not _skipped(node):
                    found.add(f"{node.name}.{part.name}")
    return found


def _skipped(node) -> bool:
    return any(ast.unparse(each).startswith("unittest.skip(") for each in node.decorator_list)


def _java(path: Path, text: str) -> set[str]:
    return {f"{path.stem}.{match['name']}" for match in _JAVA.finditer(text) if "@Disabled" not in match["more"]}


def _csharp(_: Path, text: str) -> set[str]:
    classes = list(_CSHARP_CLASS.finditer(text))
    found = set()
    for match in _CSHARP.finditer(text):
        # A class that stands deeper is a helper which ended before.
        around = [each["name"] for each in classes if each.start() < match.start() and len(each["indent"]) < len(match["indent"])]
        if around and "Skip" not in match["more"]:
            found.add(f"{around[-1]}.{match['name']}")
    return found


_READERS = {
    ".cc": _cpp,
    ".cpp": _cpp,
    ".cs": _csharp,
    ".java": _java,
    ".py": _python,
    ".zig": lambda _, text: {name.replace('\\"', '"') for name in _ZIG.findall(text)},
    "_test.go": lambda _, text: {test or example for test, example in _GO.findall(text)},
}
