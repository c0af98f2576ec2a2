"""null_mutants.cpp: every way in which a function could break what null_test.cpp checks, to prove that it checks it.

Each function that the NULL tests call is wrapped. A wrapper calls the library and, when its mutant is the active one,
spoils the answer: another status, an output that is not zeroed, a callback that ran, a variable that changed, a handle
that was taken, a report that is wrong. abi/tests/null_mutants_test.cpp activates one after the other; for each of them
the NULL tests of the function must fail.
"""

from __future__ import annotations

from pathlib import Path

from hg import header

from . import common

_OUTPUTS = ("out", "out_opt", "out_owned", "out_borrowed")


def emit(abi: dict, root: Path) -> dict[str, str]:
    del root
    sized = {s["name"] for s in abi["structs"] if s["sized"]}
    structs = {s["name"]: s for s in abi["structs"]}
    destroy = {h["name"]: h["destroy"] for h in abi["handles"]}
    wrappers, table = [], []
    for f in abi["functions"]:
        lines, kinds = _wrapper(f, sized, structs, destroy)
        if kinds:
            wrappers.append("".join(lines))
            table += [f'    {{"{f["name"]}", "{kind}", "{parameter}"}},\n' for kind, parameter in kinds]
    return {f"{abi['gen']}/null_mutants.cpp": "".join([
        common.banner(),
        '#include "abi/tests/null_mutants.hpp"\n\nusing hurray_null::Before;\nusing hurray_null::Call;\n\n',
        "const std::vector<hurray_null::Mutant>& hurray_null::all_mutants() {\n"
        "    static const std::vector<Mutant> mutants{\n",
        *(f"    {line}" for line in table),
        "    };\n    return mutants;\n}\n",
        *wrappers])}


def _wrapper(f: dict, sized: set[str], structs: dict, destroy: dict) -> tuple[list[str], list[tuple[str, str]]]:
    """(source of the wrapper, the mutants in it as (kind, parameter)); no mutants when no NULL test calls the function."""
    required = common.required_pointers(f)
    before: list[str] = []
    after: list[str] = []
    kinds: list[tuple[str, str]] = []

    def mutant(kind: str, parameter: str, action: str, condition: str = "") -> None:
        kinds.append((kind, parameter))
        condition = condition or f"{parameter} != nullptr"
        after.append(f'    if ({condition} && call.is("{kind}", "{parameter}")) {action}\n')

    no_op = [p for p in f["params"] if p.get("annotation") == "destroyed_var"]
    for p in no_op:
        before.append(f"    const bool null_{p['name']} = {p['name']} == nullptr;\n"
                      f"    const bool holds_null_{p['name']} = !null_{p['name']} && *{p['name']} == nullptr;\n")
    for p in f["params"]:
        name, annotation = p["name"], p.get("annotation")
        # What a test can only see when another parameter is the one that is NULL.
        if any(q is not p for q in required):
            if annotation in _OUTPUTS:
                before.append(f"    const Before {name}_before({name});\n")
                mutant("zeroed", name, f"{name}_before.restore({name});")
                if p["type"]["to"].get("name") in sized:
                    mutant("struct_size", name, f"{name}->struct_size = 0;")
            if annotation in ("callback", "callback_opt"):
                mutant("callback", name, f"hurray_null::run({name});")
            if annotation in ("consumed_var", "destroyed_var"):
                mutant("variable", name, f"*{name} = nullptr;")
            if annotation in ("consumed", "consumed_var"):
                mutant("taken", name, *_end(p, destroy))
            for field in _callbacks(p, structs) if annotation in ("in", "in_opt", "inout") else []:
                mutant("callback", f"{name}->{field}", f"hurray_null::run({name}->{field});",
                       f"{name} != nullptr && {name}->{field} != nullptr")
        if annotation == "error" and required:
            mutant("report_code", name, f"{name}->code = HURRAY_OK;")
            mutant("report_empty", name, f"{name}->message[0] = '\\0';")
            mutant("report_endless", name, f"hurray_null::endless({name});")
    if required:
        kinds.append(("status", ""))
    arguments = ", ".join(p["name"] for p in f["params"])
    lines = [f"\n{header.prototype(f)} {{\n    const Call call(\"{f['name']}\");\n", *before,
             f"    const HurrayStatus status = call.real(&{f['name']})({arguments});\n"]
    for p in no_op:
        lines.append(f'    if (null_{p["name"]} && call.is("no_op_of_null", "{p["name"]}")) return HURRAY_ERR_NULL_POINTER;\n'
                     f'    if (holds_null_{p["name"]} && call.is("no_op_of_null_variable", "{p["name"]}")) '
                     "return HURRAY_ERR_NULL_POINTER;\n")
        kinds += [("no_op_of_null", p["name"]), ("no_op_of_null_variable", p["name"])]
    if required:
        lines += ["    if (status != HURRAY_ERR_NULL_POINTER) return status;\n", *after,
                  '    if (call.is("status", "")) return HURRAY_OK;\n']
    lines.append("    return status;\n}\n")
    return lines, kinds


def _callbacks(p: dict, structs: dict) -> list[str]:
    """The fields of a struct parameter that are callbacks."""
    struct = structs.get(p["type"]["to"].get("name")) if p["type"]["kind"] == "pointer" else None
    return [field["name"] for field in struct["fields"] if field["type"]["kind"] == "callback"] if struct else []


def _end(p: dict, destroy: dict) -> tuple[str, str]:
    """(what ends a handle that the caller still owns, and whether there is one)."""
    handle, condition = p["name"], f"{p['name']} != nullptr"
    if common.target(p["type"])["name"] not in destroy:  # a struct that brings its own end
        return f"{handle}->deleter({handle});", condition
    ended = destroy[common.target(p["type"])["name"]]
    if p["annotation"] == "consumed_var":
        handle, condition = f"*{handle}", f"{condition} && *{handle} != nullptr"
    if ended["style"] == "value":
        return f"(void){ended['function']}({handle});", condition
    return f"{{\n        auto* taken = {handle};\n        (void){ended['function']}(&taken);\n    }}", condition
