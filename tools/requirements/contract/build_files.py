"""What BUILD files say: the targets of a package, and the source files of a target.

A BUILD file is Starlark, and Starlark's expressions are Python's. So the file is run as Python with functions that only
note down how they were called: comprehensions, constants and macros give the same targets here as in Bazel.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

_LABEL = re.compile(r"(?://(?P<package>[^:@]*))?(?::(?P<name>[^:]+))?")
# Folders whose .bzl files define rules: a call of one is one target. Functions of others are macros, which are run.
_RULES = ("tools/bazel/",)
# Attributes that hold what a test is made of.
_SOURCES = ("srcs", "main", "root")
_SHELL_NAMES = {"abs": abs, "all": all, "any": any, "bool": bool, "dict": dict, "enumerate": enumerate, "int": int, "len": len,
                "list": list, "max": max, "min": min, "range": range, "repr": repr, "reversed": reversed, "sorted": sorted,
                "str": str, "tuple": tuple, "zip": zip, "True": True, "False": False, "None": None}


class BuildError(Exception):
    """What cannot be found or read, and where."""


@dataclass(frozen=True)
class Target:
    """One target: its rule and the attributes as the BUILD file gives them."""

    package: str
    name: str
    rule: str
    attributes: dict = field(compare=False, hash=False, repr=False)

    def sources(self) -> list[str]:
        """Labels and file names in the attributes that hold sources."""
        found: list[str] = []
        for attribute in _SOURCES:
            value = self.attributes.get(attribute, [])
            found += [value] if isinstance(value, str) else [entry for entry in value if isinstance(entry, str)]
        return found


def split(label: str, package: str = "") -> tuple[str, str]:
    """Package and name of a label; one without a package is of `package`."""
    match = _LABEL.fullmatch(label)
    if match is None or (match["package"] is None and match["name"] is None):
        return package, label
    if match["package"] is None:
        return package, match["name"]
    return match["package"], match["name"] or match["package"].rpartition("/")[2]


class Loaded(list):
    """Something that another file defines: empty where a list is wanted, and it may be called, indexed or asked."""

    def __call__(self, *arguments, **named):
        return self

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __getitem__(self, key):
        return self

    def __radd__(self, other):
        return other


class Workspace:
    """The BUILD files below a folder, each read when it is asked for."""

    def __init__(self, root: Path):
        self.root = root
        self._packages: dict[str, dict[str, Target]] = {}

    def targets(self, package: str) -> dict[str, Target]:
        """The targets of a package by name."""
        if package not in self._packages:
            self._packages[package] = {}
            self._run(self._file(package, "BUILD.bazel"), package, _Recorder(self, package))
        return self._packages[package]

    def target(self, label: str) -> Target:
        """A target by its label."""
        package, name = split(label)
        found = self.targets(package).get(name)
        if found is None:
            raise BuildError(f"{label}: //{package} has no such target")
        return found

    def files(self, target: Target) -> list[Path]:
        """The source files of a target that are here; sources that are targets themselves stand for theirs."""
        found: dict[Path, None] = {}
        for label in target.sources():
            package, name = split(label, target.package)
            path = self.root / package / name
            if path.is_file():
                found[path] = None
            elif not label.startswith("@") and (self.root / package / "BUILD.bazel").is_file():
                inner = self.targets(package).get(name)
                if inner is not None:
                    found.update(dict.fromkeys(self.files(inner)))
        return list(found)

    def _file(self, package: str, name: str) -> Path:
        path = self.root / package / name
        if not path.is_file():
            raise BuildError(f"//{package}: there is no {package}/{name} here")
        return path

    def _run(self, path: Path, package: str, names: dict) -> None:
        try:
            exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), names)  # pylint: disable=exec-used
        except BuildError:
            raise
        except Exception as error:
            raise BuildError(f"//{package}: {path.name}: {type(error).__name__}: {error}") from error

    def add(self, package: str, rule: str, attributes: dict) -> None:
        """Notes a target down."""
        name = attributes.get("name")
        if isinstance(name, str):
            self._packages[package][name] = Target(package, name, rule, attributes)

    def load(self, label: str, home: str, package: str, names: list[str]) -> dict:
        """What load() gives in a file of `home` that is read for the targets of `package`: macros of this repository are
        run when they are called, all else is only noted down."""
        home, name = split(label, home)
        path = self.root / home / name
        if label.startswith("@") or f"{home}/".startswith(_RULES) or not path.is_file():
            return {each: self.rule(each, package) if each.islower() else Loaded() for each in names}
        module = _Recorder(self, package, home)
        self._run(path, home, module)
        return {each: module[each] for each in names}

    def rule(self, name: str, package: str):
        """A function that notes its calls down as targets of a package."""
        def call(*_, **attributes):
            self.add(package, name, attributes)
            return Loaded()
        return call

    def glob(self, package: str, include: list[str], exclude: list[str]) -> list[str]:
        """Files of a package, not of those below it."""
        folder = self.root / package
        inner = [path.parent for path in folder.glob("*/**/BUILD.bazel")]
        found = []
        for path in sorted(folder.rglob("*")):
            name = path.relative_to(folder).as_posix()
            if path.is_file() and not any(each in path.parents for each in inner) and _matches(name, include):
                if not _matches(name, exclude):
                    found.append(name)
        return found


def _matches(name: str, patterns: list[str]) -> bool:
    for pattern in patterns:
        parts = re.split(r"(\*\*/|\*\*|\*)", pattern)
        regex = "".join({"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*"}.get(part, re.escape(part)) for part in parts)
        if re.fullmatch(regex, name):
            return True
    return False


class _Recorder(dict):
    """The names that a BUILD or .bzl file sees. One that nobody defined is a rule of Bazel's own."""

    def __init__(self, workspace: Workspace, package: str, home: str | None = None):
        super().__init__(_SHELL_NAMES)
        self._workspace = workspace
        self._package = package
        home = package if home is None else home

        def load(label, *names, **renamed):
            self.update(workspace.load(label, home, package, list(names)))
            for new, old in renamed.items():
                self[new] = workspace.load(label, home, package, [old])[old]

        self["__builtins__"] = {}
        self["load"] = load
        self["glob"] = lambda include, exclude=(), **_: workspace.glob(package, list(include), list(exclude))
        self["native"] = _Native(workspace, package)
        for name in ("package", "exports_files", "licenses", "fail", "print", "select", "struct", "attr", "rule", "provider",
                     "depset", "Label", "DefaultInfo"):
            self[name] = Loaded()

    def __missing__(self, name: str):
        return self._workspace.rule(name, self._package)


class _Native:
    def __init__(self, workspace: Workspace, package: str):
        self._workspace, self._package = workspace, package

    def __getattr__(self, name: str):
        return self._workspace.rule(name, self._package)
