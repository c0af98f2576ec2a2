"""Clang types to the types of abi.json, refusing what has no fixed form in C."""

from __future__ import annotations

from .problems import Problems
from .profile import FIXED_INTS, Profile


class Converter:
    def __init__(self, cindex, profile: Profile, problems: Problems):
        self.ci = cindex
        self.profile = profile
        self.problems = problems
        self.known: dict[str, dict] = {}  # public name -> its type

    def convert(self, clang_type, where: tuple[str, int], what: str, *, behind_pointer: bool = False,
                in_struct: bool = False) -> dict | None:
        """The type, or None after a problem was added. `what` names the place in the message."""
        T = self.ci.TypeKind
        kind = clang_type.kind
        if kind in (T.ELABORATED, T.TYPEDEF, T.RECORD, T.ENUM):
            return self._named(clang_type, where, what, behind_pointer, in_struct)
        if kind == T.POINTER:
            return self._pointer(clang_type, where, what)
        if kind == T.VOID:
            return {"kind": "void"}
        if kind in (T.CHAR_S, T.CHAR_U):
            if behind_pointer or in_struct:
                return {"kind": "char"}
            return self._refuse(where, what, "char", "its signedness differs between platforms; use int8_t or uint8_t")
        if kind == T.FLOAT:
            return {"kind": "float", "name": "float", "bits": 32}
        if kind == T.DOUBLE:
            return {"kind": "float", "name": "double", "bits": 64}
        if kind == T.CONSTANTARRAY:
            if not in_struct:
                return self._refuse(where, what, clang_type.spelling, "arrays may only be fields; pass a pointer and a length")
            of = self.convert(clang_type.element_type, where, what, in_struct=True)
            return of and {"kind": "array", "length": clang_type.element_count, "of": of}
        spelled = clang_type.spelling
        if spelled in self.profile.extra_types:
            bits, signed = self.profile.extra_types[spelled]
            return {"kind": "int", "name": spelled, "bits": bits, "signed": signed}
        if kind == T.BOOL:
            return self._refuse(where, what, "bool", "its form is not fixed; use uint8_t")
        if kind in (T.LVALUEREFERENCE, T.RVALUEREFERENCE):
            return self._refuse(where, what, spelled, "C has no references; use a pointer")
        return self._refuse(where, what, spelled, "no fixed width; use one of the types of stdint.h")

    def _refuse(self, where, what: str, spelled: str, reason: str, rule: str = "fixed-width") -> None:
        self.problems.add(where, rule, f"{what}: type `{spelled}`: {reason}")

    def _named(self, clang_type, where, what: str, behind_pointer: bool, in_struct: bool) -> dict | None:
        declaration = clang_type.get_declaration()
        name = declaration.spelling
        if name in self.known:
            found = self.known[name]
            if found["kind"] == "handle" and not behind_pointer:
                return self._refuse(where, what, name, "an opaque handle can only be passed by pointer")
            if found["kind"] == "struct" and not behind_pointer and not in_struct:
                return self._refuse(where, what, name, "structs are passed by pointer", "by-value")
            return found
        if name in FIXED_INTS and declaration.kind in (self.ci.CursorKind.TYPEDEF_DECL, self.ci.CursorKind.TYPE_ALIAS_DECL):
            bits, signed = FIXED_INTS[name]
            return {"kind": "int", "name": name, "bits": bits, "signed": signed}
        if name in self.profile.foreign_types:
            return {"kind": "handle", "name": name}
        T = self.ci.TypeKind
        canonical = clang_type.get_canonical()
        if canonical.kind == T.ENUM:
            return self._refuse(where, what, clang_type.spelling, "enums have no fixed form in C; use a fixed-width typedef "
                                                                  "and constants", "enum")
        if canonical.kind == T.RECORD:
            return self._refuse(where, what, clang_type.spelling, "is not declared in any listed file of public types",
                                "undeclared")
        if name.startswith(tuple(self.profile.type_prefixes)):
            return self._refuse(where, what, name, "is not declared in any listed file of public types", "undeclared")
        return self._refuse(where, what, clang_type.spelling, "no fixed width; use one of the types of stdint.h")

    def _pointer(self, clang_type, where, what: str) -> dict | None:
        target = clang_type.get_pointee()
        if target.get_canonical().kind in (self.ci.TypeKind.FUNCTIONPROTO, self.ci.TypeKind.FUNCTIONNOPROTO):
            return self._refuse(where, what, clang_type.spelling, "name the callback with a typedef", "callback")
        to = self.convert(target, where, what, behind_pointer=True)
        if to is None:
            return None
        if to["kind"] == "callback":
            return self._refuse(where, what, clang_type.spelling, "pointers to callbacks are not supported", "callback")
        return {"kind": "pointer", "const": target.is_const_qualified(), "to": to}
