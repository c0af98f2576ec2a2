"""What a binding offers in its sources: the names that its users can write, and the functions of the C ABI that it calls."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Language:
    """One binding. Patterns are of paths below bindings/<folder>; comments are cut before anything is looked for."""

    folder: str
    title: str
    public: tuple[str, ...]
    names: Callable[[str], set[str]]
    calling: tuple[str, ...]
    calls: Callable[[str, str], set[str]]
    without: tuple[str, ...] = ()
    # Generated code that ends handles, for those types of handles that the hand-written layer uses.
    ending: tuple[str, ...] = ()

    def public_names(self, root: Path) -> set[str]:
        """Every name that the public sources declare for users."""
        return set().union(*(self.names(text) for _, text in self._texts(root, self.public)))

    def called(self, root: Path) -> set[str]:
        """The functions of the C ABI that the hand-written layer calls, each spelled by `spelled`."""
        return self._calls(root, self.calling)

    def ended_with(self, root: Path) -> set[str]:
        """The functions that generated code ends handles with."""
        return self._calls(root, self.ending)

    def _calls(self, root: Path, patterns: Iterable[str]) -> set[str]:
        return set().union(*(self.calls(path.suffix, text) for path, text in self._texts(root, patterns)))

    def _texts(self, root: Path, patterns: Iterable[str]) -> Iterable[tuple[Path, str]]:
        folder = root / "bindings" / self.folder
        for path in sorted({path for pattern in patterns for path in folder.glob(pattern)}):
            if path.is_file() and not any(path.match(pattern) for pattern in self.without):
                yield path, without_comments(path.suffix, path.read_text(encoding="utf-8"))


def spelled(function: str) -> str:
    """A function's name as all languages spell it: without prefix, case and underscores."""
    return function.removeprefix("hurray_").replace("_", "").lower()


def without_comments(suffix: str, text: str) -> str:
    """The code of a source; what stands in strings stays."""
    if suffix == ".py":
        return text
    text = re.sub(r"(?<!:)//[^\n]*", "", text)
    return text if suffix == ".zig" else re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)


def _all(pattern: str, text: str) -> set[str]:
    return set(re.findall(pattern, text, flags=re.MULTILINE))


def _cpp_names(text: str) -> set[str]:
    names = _all(r"\b(?:class|struct)\s+(\w+)\b(?!\s*;)", text) | _all(r"\busing\s+(?:\w+::)?(\w+)\s*[=;]", text)
    # A function: at the head of a line its specifiers and type, then the name; a statement begins with other words.
    declared = r"^[ \t]*(?!return\b|if\b|else\b|while\b|for\b|case\b|auto\b|delete\b)(?:[\w:<>,&*\[\]]+[ \t]+[&*]*)+(~?\w+)\("
    names |= _all(declared, text) | _all(r"^[ \t]*(~?\w+)\([^;\n]*\)[^;\n]*(?:\{|= default)", text)
    return {name for name in names if not name.endswith("_")}


def _csharp_names(text: str) -> set[str]:
    modifier = r"(?!(?:static|unsafe|override|readonly|async|new|virtual|abstract|sealed|extern|required|ref)\b)"
    names = _all(rf"\bpublic\s(?:\([^()]*\)|[^;={{}}()])*?\b{modifier}(\w+)\s*(?:<[\w, ]+>)?\s*(?:\(|\{{|=|;|:|$)", text)
    names |= _all(r"\bpublic\s(?:[\w]+\s)*(?:class|struct|interface|enum|record)\s+(?:struct\s+)?(\w+)", text)
    if re.search(r"\bpublic\s(?:\w+\s)*interface\b", text):
        names |= _all(r"^\s+[\w<>?\[\]., ]+?\s(\w+)\s*\([^;]*\);", text)
    return names


def _java_names(text: str) -> set[str]:
    names = _all(r"\bpublic\s(?:[\w.<>\[\], ?&@]+\s)?(\w+)\s*\(", text)
    names |= _all(r"\bpublic\s(?:\w+\s)*(?:class|interface|enum|record)\s+(\w+)", text)
    if re.search(r"\bpublic\s(?:\w+\s)*interface\b", text):
        names |= _all(r"^\s+(?:default\s|static\s)?[\w<>?\[\]., ]+?\s(\w+)\s*\([^;{]*\)\s*(?:throws [\w., ]+)?[;{]", text)
    return names


def _go_names(text: str) -> set[str]:
    return (_all(r"^func\s+(?:\([^)]*\)\s*)?([A-Z]\w*)\s*[\[(]", text) | _all(r"^type\s+([A-Z]\w*)", text)
            | _all(r"^\s+([A-Z]\w*)\([^)]*\)", text) | _all(r"^\s+([A-Z]\w*)\s+[\w.\[\]*]+\s*$", text))


def _zig_names(text: str) -> set[str]:
    return _all(r"\bpub\s+(?:inline\s+)?fn\s+(\w+)", text) | _all(r"\bpub\s+(?:const|var)\s+(\w+)", text)


def _python_names(text: str) -> set[str]:
    kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    names = {node.name for node in ast.walk(ast.parse(text)) if isinstance(node, kinds)}
    return {name for name in names if not name.startswith("_") or (name.startswith("__") and name.endswith("__"))}


def _c_calls(suffix: str, text: str) -> set[str]:
    del suffix
    return {spelled(name) for name in _all(r"\b(hurray_\w+)\b", text)}


def _csharp_calls(suffix: str, text: str) -> set[str]:
    return {spelled(name) for name in _all(r"\bNativeMethods\.(\w+)", text)} | _c_calls(suffix, text)


def _go_calls(suffix: str, text: str) -> set[str]:
    return {spelled(name) for name in _all(r"\bcapi\.Call(\w+)", text)} | _c_calls(suffix, text)


def _zig_calls(suffix: str, text: str) -> set[str]:
    names = {spelled(name) for name in _all(r"\btable\.(\w+)", text) | _all(r"\bprefix \+\+ \"(\w+)\"", text)}
    # An owned handle is given the name of the function that ends it; handle.zig adds _deferred.
    ends = _all(r"\bHandle\([\w.]+, \"(\w+_destroy)\"", text)
    return names | {spelled(name + end) for name in ends for end in ("", "_deferred")} | _c_calls(suffix, text)


def _python_calls(suffix: str, text: str) -> set[str]:
    if suffix == ".py":
        return {spelled(name) for name in _all(r"\b_native\.(\w+)", text)}
    # Of the generated wrappers only what ends handles counts: the rest is there whether somebody uses it or not.
    ends = re.search(r"^HurrayStatus hpy_destroy\(.*?^}", text, flags=re.MULTILINE | re.DOTALL)
    return _c_calls(suffix, ends[0] if ends else text)


LANGUAGES = (
    Language("cpp", "C++", ("include/**/*.hpp",), _cpp_names, ("include/**/*.hpp",), _c_calls),
    Language("java", "Java", ("src/**/*.java", "newer/**/*.java"), _java_names,
             ("src/**/*.java", "newer/**/*.java", "jni/*.cpp"), _c_calls),
    Language("csharp", "C#", ("Hurray/*.cs",), _csharp_names, ("Hurray/**/*.cs",), _csharp_calls,
             ending=("gen/SafeHandles.g.cs",)),
    Language("go", "Go", ("*.go",), _go_names, ("*.go", "internal/native/*"), _go_calls, without=("*_test.go",)),
    Language("zig", "Zig", ("src/*.zig",), _zig_names, ("src/*.zig",), _zig_calls),
    Language("python", "Python", ("hurray/*.py",), _python_names, ("hurray/*.py", "native/*.c"), _python_calls,
             ending=("gen/wrappers.c",)),
)
