"""C types as abi.json holds them, and how they are spelled in C.

A type is a dict with "kind":
  void | char                                  {"kind"}
  int      a fixed-width integer               {"kind", "name", "bits", "signed"}
  float    float or double                     {"kind", "name", "bits"}
  alias    a public typedef of one of those    {"kind", "name", "to"}
  handle   an opaque public struct             {"kind", "name"}
  struct   a public struct with fields         {"kind", "name"}
  callback a public function pointer typedef   {"kind", "name"}
  pointer  {"kind", "const" (is what it points to const), "to"}
  array    {"kind", "length", "of"}            only as a field of a struct
"""

from __future__ import annotations


def spell(t: dict, name: str = "") -> str:
    """The C declaration of `name` (or the bare type) in the one style of the generated headers."""
    if t["kind"] == "array":
        return f"{spell(t['of'], name)}[{t['length']}]"
    base = _base(t)
    if not name:
        return base
    return base + name if base.endswith("*") else f"{base} {name}"


def _base(t: dict) -> str:
    kind = t["kind"]
    if kind in ("void", "char"):
        return kind
    if kind == "pointer":
        to = t["to"]
        if not t["const"]:
            inner = _base(to)
            return inner + "*" if inner.endswith("*") else inner + " *"
        if to["kind"] == "pointer":
            return _base(to) + "const *"
        return f"const {_base(to)} *"
    if kind == "array":
        return f"{_base(t['of'])}[{t['length']}]"
    return t["name"]


def strip_alias(t: dict) -> dict:
    """The type behind public typedefs of scalars."""
    while t["kind"] == "alias":
        t = t["to"]
    return t


def is_integer(t: dict) -> bool:
    return strip_alias(t)["kind"] == "int"


def is_pointer_like(t: dict) -> bool:
    """Pointers and callbacks: what can be NULL."""
    return t["kind"] in ("pointer", "callback")


def pointee(t: dict) -> dict:
    return t["to"]


def target(t: dict) -> dict:
    """What a pointer or an array leads to in the end: the handle behind `HurrayBuffer **`."""
    while t["kind"] in ("pointer", "array"):
        t = t["to"] if t["kind"] == "pointer" else t["of"]
    return t


def names(t: dict):
    """Every public name that a type needs declared before it."""
    if t["kind"] in ("alias", "handle", "struct", "callback"):
        yield t["name"]
    elif t["kind"] == "pointer":
        yield from names(t["to"])
    elif t["kind"] == "array":
        yield from names(t["of"])
