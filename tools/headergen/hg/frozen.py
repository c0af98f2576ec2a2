"""The frozen headers of earlier versions: read by libclang, as C, and compared with what abi.json says today.

A frozen header is what programs were compiled against; nobody edits it. Whatever it declares, today's library must still
have, with the same types, values and layouts, in the symbol version node of that version or an earlier one.
"""

from __future__ import annotations

import os
from pathlib import Path

from . import facts, nodes, types
from .clang import Evaluator
from .convert import Converter
from .problems import Problems
from .profile import Profile

BANNER = "/* FROZEN: never edited."


class Reader:
    """The facts of one header; what is not plain C of fixed widths becomes a problem."""

    def __init__(self, cindex, profile: Profile):
        self.ci = cindex
        self.profile = profile
        self.index = cindex.Index.create()
        self.evaluator = Evaluator(cindex)

    def read(self, path: Path) -> tuple[dict, list[str]]:
        """(facts, problems)."""
        problems = Problems()
        found = {"functions": {}, "constants": {}, "typedefs": {}, "callbacks": {}, "handles": {}, "structs": {}}
        options = self.ci.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD
        unit = self.index.parse(str(path), args=["-x", "c", "-std=c99", "-Wall", "-Wpedantic", "-fno-color-diagnostics"],
                                options=options)
        for diagnostic in unit.diagnostics:
            problems.add((path.name, diagnostic.location.line), "parse", diagnostic.spelling)
        if not path.read_text(encoding="utf-8").startswith(BANNER):
            problems.add((path.name, 1), "banner", f"expected to begin with {BANNER!r}")
        if not problems:
            self._declarations(unit, path, found, problems)
            self._constants(unit, path, found, problems)
        return found, problems.report().splitlines() if problems else []

    def _here(self, cursor, path: Path) -> bool:
        return cursor.location.file is not None and os.path.samefile(cursor.location.file.name, path)

    def _declarations(self, unit, path: Path, found: dict, problems: Problems) -> None:
        K, T = self.ci.CursorKind, self.ci.TypeKind
        converter = Converter(self.ci, self.profile, problems)
        preprocessor = (K.MACRO_DEFINITION, K.MACRO_INSTANTIATION, K.INCLUSION_DIRECTIVE)
        top = [c for c in unit.cursor.get_children() if c.kind not in preprocessor and self._here(c, path)]
        full = {c.spelling for c in top if c.kind == K.STRUCT_DECL and c.is_definition()}
        for cursor in top:
            where = (path.name, cursor.location.line)
            name = cursor.spelling
            if cursor.kind == K.STRUCT_DECL:
                if name in full and not cursor.is_definition():
                    continue
                kind = "struct" if name in full else "handle"
                converter.known[name] = {"kind": kind, "name": name}
                if kind == "handle":
                    found["handles"][name] = "opaque"
                else:
                    found["structs"][name] = self._struct(cursor, converter, where)
            elif cursor.kind == K.TYPEDEF_DECL:
                target = cursor.underlying_typedef_type
                if target.get_canonical().kind == T.RECORD:
                    continue  # typedef struct X X
                if target.kind == T.POINTER and target.get_pointee().get_canonical().kind == T.FUNCTIONPROTO:
                    converter.known[name] = {"kind": "callback", "name": name}
                    found["callbacks"][name] = self._signature(
                        target.get_pointee().get_result(), [c.type for c in cursor.get_children() if c.kind == K.PARM_DECL],
                        converter, where, name)
                    continue
                to = converter.convert(target, where, name)
                if to is not None:
                    converter.known[name] = {"kind": "alias", "name": name, "to": types.strip_alias(to)}
                    found["typedefs"][name] = types.spell(types.strip_alias(to))
            elif cursor.kind == K.FUNCTION_DECL:
                found["functions"][name] = self._signature(cursor.result_type, [c.type for c in cursor.get_arguments()],
                                                           converter, where, name)
            else:
                problems.add(where, "frozen", f"{name or cursor.kind.name}: not a struct, typedef, constant or function")

    def _signature(self, result, parameters, converter: Converter, where, name: str) -> str:
        converted = [converter.convert(t, where, name) for t in (result, *parameters)]
        returned, *rest = ["?" if t is None else types.spell(t) for t in converted]
        return f"{returned} ({', '.join(rest) or 'void'})"

    def _struct(self, cursor, converter: Converter, where) -> dict:
        fields = []
        for field in cursor.type.get_fields():
            converted = converter.convert(field.type, where, f"{cursor.spelling}.{field.spelling}", in_struct=True)
            if converted is not None:
                fields.append([field.spelling, types.spell(converted, field.spelling),
                               cursor.type.get_offset(field.spelling) // 8])
        return {"size": cursor.type.get_size(), "align": cursor.type.get_align(), "fields": fields}

    def _constants(self, unit, path: Path, found: dict, problems: Problems) -> None:
        """The values of the macros, as the compiler sees them."""
        K = self.ci.CursorKind
        names = [c.spelling for c in unit.cursor.get_children()
                 if c.kind == K.MACRO_DEFINITION and self._here(c, path) and len(list(c.get_tokens())) > 1]
        text = f'#include "{path.absolute()}"\n' + "".join(f"constexpr long long value_of_{n} = {n};\n" for n in names)
        values = self.index.parse("values.cpp", args=["-x", "c++", "-std=c++17"], unsaved_files=[("values.cpp", text)])
        by_name = {c.spelling: c for c in values.cursor.get_children() if c.kind == K.VAR_DECL}
        for name in names:
            value = self.evaluator.value(by_name[f"value_of_{name}"]) if f"value_of_{name}" in by_name else None
            if not isinstance(value, int):
                problems.add((path.name, 1), "constant", f"{name}: is no whole number")
                continue
            found["constants"][name] = {"value": value}


def today(abi: dict) -> dict:
    """The same facts of abi.json."""
    everything = facts.of(abi)

    def signature(f: dict) -> str:
        return f"{f['c_return']} ({', '.join(types.spell(p['type']) for p in f['params']) or 'void'})"

    return {
        **{kind: everything[kind] for kind in ("typedefs", "handles", "structs")},
        "functions": {f["name"]: signature(f) for f in abi["functions"]},
        "callbacks": {c["name"]: signature(c) for c in abi["callbacks"]},
        "constants": {c["name"]: {"value": c["value"]} for c in abi["constants"]},
    }


def compare(version: int, frozen: dict, abi: dict, profile: Profile) -> list[str]:
    """What today's ABI breaks of the frozen header of `version`; empty when programs of that version are safe."""
    wrong = _compare(version, frozen, version, today(abi), profile)
    constant = profile.version_constant
    if frozen["constants"].get(constant) != {"value": version}:
        wrong.append(f"constant {constant}: expected {version}, got {frozen['constants'].get(constant)}")
    by_name = {f["name"]: f for f in abi["functions"]}
    # The node of a version holds what that version had. Only the newest one still grows, until it is released.
    for name in frozen["functions"]:
        if name in by_name and by_name[name]["since"] > version:
            node = nodes.node_of(by_name[name], profile.version_nodes)
            wrong.append(f"function {name}: in node {node} today, so that programs of version {version} find it in none")
    if version < abi["abi_version"]:
        wrong += [f"function {f['name']}: @since {f['since']}, but version {version} did not have it"
                  for f in abi["functions"] if f["since"] <= version and f["name"] not in frozen["functions"]]
    return wrong


def compare_versions(older: int, before: dict, newer: int, after: dict, profile: Profile) -> list[str]:
    """What a frozen header lost or changed of an earlier one: versions only add."""
    return _compare(older, before, newer, after, profile)


def _compare(older: int, before: dict, newer: int, after: dict, profile: Profile) -> list[str]:
    def dated(found: dict, version: int) -> dict:
        return {**found, "abi_version": version, "generation": profile.generation}

    return facts.compare(dated(before, older), dated(after, newer), version_constant=profile.version_constant,
                         released=False)[0]
