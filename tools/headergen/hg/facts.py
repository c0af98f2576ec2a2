"""The facts of an ABI that a built program depends on, and the frozen copy of them."""

from __future__ import annotations

import json
from pathlib import Path

from . import types


def of(abi: dict) -> dict:
    """Symbols, signatures, constants, typedefs, callbacks and layouts; no documentation."""
    return {
        "library": abi["library"],
        "abi_version": abi["abi_version"],
        "generation": abi["generation"],
        "functions": {f["name"]: {"signature": signature(f), "since": f["since"]} for f in abi["functions"]},
        "constants": {c["name"]: {"type": types.spell(c["type"]), "value": c["value"]} for c in abi["constants"]},
        "typedefs": {t["name"]: types.spell(t["type"]) for t in abi["typedefs"]},
        "callbacks": {c["name"]: signature(c) for c in abi["callbacks"]},
        "handles": {h["name"]: "opaque" for h in abi["handles"]},
        "structs": {s["name"]: {"size": s["size"], "align": s["align"],
                                "fields": [[f["name"], f["c"], f["offset"]] for f in s["fields"]]}
                    for s in abi["structs"]},
    }


def signature(f: dict) -> str:
    """Types and, for pointers, who owns what; the names of parameters may change."""
    parameters = [types.spell(p["type"]) + (f" [{p['ownership']}]" if "ownership" in p else "") for p in f["params"]]
    return f"{f['c_return']} ({', '.join(parameters) or 'void'})"


_KINDS = ("functions", "constants", "typedefs", "callbacks", "handles", "structs")
# A sized struct may grow at its end: callers say with struct_size how much of it they know.
_GROWS = "struct_size"


def compare(frozen: dict, now: dict, *, version_constant: str, released: bool) -> tuple[list[str], list[str]]:
    """(what breaks the frozen ABI, what is allowed and new)."""
    broken: list[str] = []
    added: list[str] = []
    if now["generation"] > frozen["generation"] and now["abi_version"] > frozen["abi_version"]:
        return [], [f"generation {frozen['generation']} -> {now['generation']}: everything may change"]
    if now["abi_version"] < frozen["abi_version"] or now["generation"] < frozen["generation"]:
        broken.append("the version or the generation went back")
    for kind in _KINDS:
        one = kind[:-1]
        for name, old in frozen[kind].items():
            new = now[kind].get(name)
            if name == version_constant and new is not None and new["value"] >= old["value"]:
                continue
            if new is None:
                broken.append(f"{one} {name}: removed (was {_text(old)})")
            elif new != old:
                if kind == "structs" and _grew(old, new):
                    added.append(f"struct {name}: grew at its end")
                else:
                    broken.append(f"{one} {name}: changed from {_text(old)} to {_text(new)}")
        added += [f"{one} {name}: new" for name in now[kind] if name not in frozen[kind]]
    if released and added and now["abi_version"] <= frozen["abi_version"]:
        broken += [f"{text}, but the version is still {now['abi_version']}: an addition raises {version_constant}"
                   for text in added]
    return broken, added


def _grew(old: dict, new: dict) -> bool:
    count = len(old["fields"])
    return (old["fields"][0][0] == _GROWS and new["align"] == old["align"] and new["size"] > old["size"]
            and new["fields"][:count] == old["fields"] and all(f[2] >= old["size"] for f in new["fields"][count:]))


def _text(fact) -> str:
    return fact if isinstance(fact, str) else json.dumps(fact)


def load(root: Path, path: str) -> dict | None:
    file = root / path
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else None


def dump(facts: dict) -> str:
    return json.dumps(facts, indent=1, ensure_ascii=False) + "\n"
