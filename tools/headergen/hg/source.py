"""Reads the C++ sources with libclang into declarations that still carry clang's types. Judges nothing but what is needed
to go on; rules.py and build.py do the rest."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from . import docs
from .clang import Evaluator
from .problems import Problems
from .profile import Profile

_MARK = "hurray:"


@dataclass
class Declaration:
    kind: str  # handle, struct, typedef, constant, function
    name: str
    where: tuple[str, int]
    cursor: object
    doc: docs.Doc
    source: str
    group: docs.Group | None = None
    annotations: list[str] = field(default_factory=list)
    value: object = None


@dataclass
class Sources:
    declarations: list[Declaration]
    groups: list[tuple[str, docs.Group]]  # (source, group) in order


class Reader:
    def __init__(self, cindex, root: Path, profile: Profile, problems: Problems):
        self.ci = cindex
        self.root = root
        self.profile = profile
        self.problems = problems
        self.index = cindex.Index.create()
        self.evaluator = Evaluator(cindex)
        self.units = []  # keeps clang's objects alive
        self.arguments = ["-x", "c++", f"-std={profile.standard}", "-DHURRAY_HEADERGEN", "-fno-color-diagnostics", "-w",
                          *(f"-I{folder}" for folder in profile.include), *(f"-D{d}" for d in profile.defines)]

    def read(self) -> Sources:
        """Must run with the repository's root as working folder: clang then names files relative to it."""
        listed = self.profile.all_sources
        for name in sorted({s for s in listed if listed.count(s) > 1}):
            self.problems.add((self.profile.file, 1), "profile", f"{name} is listed twice")
        paths = {s: os.path.join(self.profile.sources, s) for s in listed}
        missing = [p for p in paths.values() if not (self.root / p).is_file()]
        for path in missing:
            self.problems.add((self.profile.file, 1), "profile", f"{path} is listed but does not exist")
        self._unlisted(set(paths.values()))
        if missing:
            return Sources([], [])
        declarations: dict[str, list[Declaration]] = {path: [] for path in paths.values()}
        groups: dict[str, list[docs.Group]] = {path: [] for path in paths.values()}
        headers = [p for p in paths.values() if p.endswith((".hpp", ".h"))]
        if headers:
            text = "".join(f'#include "{os.path.abspath(h)}"\n' for h in headers)
            unit = self._parse("headergen_public_types.cpp", [("headergen_public_types.cpp", text)])
            for path in headers:
                declarations[path], groups[path] = self._types(unit, path)
        for path in paths.values():
            if path not in headers:
                declarations[path] = self._functions(self._parse(path, None), path)
        result = Sources([], [])
        for path in paths.values():
            result.declarations += declarations[path]
            result.groups += [(path, g) for g in groups[path]]
        return result

    def _unlisted(self, listed: set[str]) -> None:
        folder = self.root / self.profile.sources
        for file in sorted(folder.rglob("*.cpp")):
            path = os.path.relpath(file, self.root)
            if path not in listed and "HURRAY_API" in file.read_text(encoding="utf-8", errors="replace"):
                self.problems.add((path, 1), "profile",
                                  f"defines public functions, but no header in {self.profile.file} takes it")

    def _parse(self, path: str, unsaved):
        options = self.ci.TranslationUnit.PARSE_SKIP_FUNCTION_BODIES
        unit = self.index.parse(path, args=self.arguments, unsaved_files=unsaved, options=options)
        self.units.append(unit)
        for diagnostic in unit.diagnostics:
            if diagnostic.severity >= self.ci.Diagnostic.Error:
                self.problems.add(self._where(diagnostic), "parse", diagnostic.spelling)
        return unit

    def _relative(self, name: str) -> str:
        path = os.path.normpath(name)
        if os.path.isabs(path):
            relative = os.path.relpath(path, os.getcwd())
            if not relative.startswith(".."):
                return relative
        return path

    def _where(self, thing) -> tuple[str, int]:
        location = thing.location
        return (self._relative(location.file.name) if location.file else "?", location.line)

    # --- Public types and constants --------------------------------------------------------------------------

    def _types(self, unit, path: str) -> tuple[list[Declaration], list[docs.Group]]:
        K = self.ci.CursorKind
        found: list[Declaration] = []
        top = [c for c in unit.cursor.get_children()
               if c.location.file and self._relative(c.location.file.name) == path]
        marks = self._groups(unit, path, top)
        group_of = self._group_lookup(marks)
        for cursor in top:
            where = self._where(cursor)
            doc = docs.parse(cursor.raw_comment)
            if cursor.kind in (K.STRUCT_DECL, K.CLASS_DECL):
                if cursor.kind == K.CLASS_DECL:
                    self.problems.add(where, "public-type", f"{cursor.spelling}: a class; public types are plain structs")
                    continue
                kind = "struct" if cursor.is_definition() else "handle"
                found.append(Declaration(kind, cursor.spelling, where, cursor, doc, path))
            elif cursor.kind in (K.TYPEDEF_DECL, K.TYPE_ALIAS_DECL):
                found.append(Declaration("typedef", cursor.spelling, where, cursor, doc, path))
            elif cursor.kind == K.VAR_DECL:
                found.append(Declaration("constant", cursor.spelling, where, cursor, doc, path,
                                         group=group_of(where[1]), value=self._value(cursor)))
            elif cursor.kind == K.ENUM_DECL:
                self.problems.add(where, "enum", f"{cursor.spelling or 'an enum'}: enums have no fixed form in C; use a "
                                                 "fixed-width typedef and constants")
            elif cursor.kind in (K.STATIC_ASSERT, K.USING_DECLARATION, K.USING_DIRECTIVE):
                pass
            else:
                self.problems.add(where, "public-type", f"{cursor.spelling or cursor.kind.name}: only structs, typedefs and "
                                                        "constants may stand in a file of public types")
        return found, [g for _, g in marks if g is not None]

    def _groups(self, unit, path: str, top):
        file = self.ci.File.from_name(unit, str(top[0].location.file.name)) if top else None
        if file is None:
            return []
        size = (self.root / path).stat().st_size
        start = self.ci.SourceLocation.from_offset(unit, file, 0)
        end = self.ci.SourceLocation.from_offset(unit, file, size)
        extent = self.ci.SourceRange.from_locations(start, end)
        comments = [(t.extent.start.line, t.extent.end.line, t.spelling)
                    for t in unit.get_tokens(extent=extent) if t.kind == self.ci.TokenKind.COMMENT]
        marks = docs.groups(comments, {c.extent.start.line for c in top})
        for _, group in marks:
            if group is not None and (not group.name or not group.title):
                self.problems.add((path, group.line), "doc", "@group needs a name and a title: `/// @group HurrayX Title`")
        return marks

    @staticmethod
    def _group_lookup(marks):
        def lookup(line: int):
            current = None
            for first, group in marks:
                if first < line:
                    current = group
            return current
        return lookup

    def _value(self, cursor):
        K = self.ci.CursorKind
        canonical = cursor.type.get_canonical()
        if canonical.kind in (self.ci.TypeKind.CONSTANTARRAY, self.ci.TypeKind.POINTER):
            for child in cursor.walk_preorder():
                if child.kind == K.STRING_LITERAL:
                    return child.spelling[1:-1]
            return None
        value = self.evaluator.value(cursor)
        if isinstance(value, int):
            # libclang reports small unsigned types as signed bits; the declared type decides.
            bits = canonical.get_size() * 8
            unsigned = canonical.kind in (self.ci.TypeKind.UCHAR, self.ci.TypeKind.USHORT, self.ci.TypeKind.UINT,
                                          self.ci.TypeKind.ULONG, self.ci.TypeKind.ULONGLONG)
            if unsigned:
                return value & ((1 << bits) - 1)
            value &= (1 << bits) - 1
            return value - (1 << bits) if value >> (bits - 1) else value
        return value

    # --- Functions -------------------------------------------------------------------------------------------

    def _functions(self, unit, path: str) -> list[Declaration]:
        found = []
        for cursor in self._functions_of(unit.cursor, path):
            annotations = self.annotations(cursor)
            if "api" not in annotations:
                self.problems.add(self._where(cursor), "exported", f"{cursor.spelling}: extern \"C\" without HURRAY_API")
                continue
            found.append(Declaration("function", cursor.spelling, self._where(cursor), cursor, docs.parse(cursor.raw_comment),
                                     path, annotations=annotations))
        return found

    def _functions_of(self, parent, path: str):
        """Functions with C linkage, or marked as public, that stand in the file itself."""
        K = self.ci.CursorKind
        for cursor in parent.get_children():
            if not cursor.location.file or self._relative(cursor.location.file.name) != path:
                continue
            if cursor.kind == K.LINKAGE_SPEC or cursor.kind == K.UNEXPOSED_DECL:
                yield from self._functions_of(cursor, path)
            elif cursor.kind == K.FUNCTION_DECL:
                if parent.kind == K.LINKAGE_SPEC or "api" in self.annotations(cursor):
                    yield cursor

    def annotations(self, cursor) -> list[str]:
        return annotations(self.ci, cursor)


def annotations(cindex, cursor) -> list[str]:
    """What HG_ANNOTATE said about a function or parameter."""
    return [c.spelling[len(_MARK):] for c in cursor.get_children()
            if c.kind == cindex.CursorKind.ANNOTATE_ATTR and c.spelling.startswith(_MARK)]
