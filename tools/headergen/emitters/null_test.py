"""null_test.cpp: passes NULL in turn to every required pointer of every function.

Each test expects HURRAY_ERR_NULL_POINTER with and without an error report, every other output zeroed, no callback run,
and ownership where it was (the fixtures end their handles afterwards). Handles that are live, and whatever else a call
needs, come from abi/tests/null_fixtures.hpp, which is written by hand: a new kind of handle does not compile until it
has a factory there.
"""

from __future__ import annotations

from pathlib import Path

from . import common


def emit(abi: dict, root: Path) -> dict[str, str]:
    del root
    sized = {s["name"] for s in abi["structs"] if s["sized"]}
    out = [common.banner(), '#include "abi/tests/null_fixtures.hpp"\n\nnamespace {\n\nusing hurray_null::NullPointers;\n'
                            "using hurray_null::Out;\nusing hurray_null::Variable;\n"]
    for f in abi["functions"]:
        for p in common.required_pointers(f):
            out.append(_test(f, p, sized, null_inside=False))
            if p["annotation"] == "consumed_var":
                out.append(_test(f, p, sized, null_inside=True))
        for p in f["params"]:
            if p.get("annotation") == "destroyed_var":
                out.append(_no_op(f, p, sized))
    out.append("\n}  // namespace\n")
    return {f"{abi['gen']}/null_test.cpp": "".join(out)}


def _test(f: dict, null: dict, sized: set[str], null_inside: bool) -> str:
    setup, arguments, checks = [], [], []
    for p in f["params"]:
        if p is null and not null_inside:
            arguments.append("nullptr")
            continue
        line, argument, check = _argument(f, p, sized)
        if p is null:
            line, check = f"{_handle(p)}* {p['name']} = nullptr;", ""
            argument = f"&{p['name']}"
        setup += [line] if line else []
        checks += [check] if check else []
        arguments.append(argument)
    has_error = any(p.get("annotation") == "error" for p in f["params"])
    body = "".join(f"    {line}\n" for line in setup)
    call = f"{f['name']}({', '.join(arguments)})"
    indent = "    "
    if has_error:
        body += "    for (HurrayError* error : reports()) {\n"
        indent = "        "
    body += f"{indent}EXPECT_EQ({call}, HURRAY_ERR_NULL_POINTER);\n"
    body += "".join(f"{indent}{check}\n" for check in checks)
    body += f"{indent}expect_no_callback();\n"
    if has_error:
        body += f"{indent}expect_reported(error);\n    }}\n"
    suffix = "_holds_null" if null_inside else ""
    return f"\nTEST_F(NullPointers, {f['name']}_{null['name']}{suffix}) {{\n{body}}}\n"


def _no_op(f: dict, destroyed: dict, sized: set[str]) -> str:
    def call(argument: str) -> str:
        arguments = []
        for p in f["params"]:
            arguments.append(argument if p is destroyed else
                             "nullptr" if p.get("annotation") == "error" else _argument(f, p, sized)[1])
        return f"    EXPECT_EQ({f['name']}({', '.join(arguments)}), HURRAY_OK);\n"

    return (f"\nTEST_F(NullPointers, {f['name']}_of_null_is_a_no_op) {{\n{call('nullptr')}"
            f"    {_handle(destroyed)}* {destroyed['name']} = nullptr;\n{call('&' + destroyed['name'])}"
            f"    EXPECT_EQ({destroyed['name']}, nullptr);\n}}\n")


def _handle(p: dict) -> str:
    return common.target(p["type"])["name"]


def _argument(f: dict, p: dict, sized: set[str]) -> tuple[str, str, str]:
    """(declaration before the call, argument, check after it)."""
    name, t = p["name"], p["type"]
    annotation = p.get("annotation")
    if annotation is None:
        return "", f'scalar<{common.spell(t)}>("{name}")', ""
    if annotation == "error":
        return "", "error", ""
    if annotation in ("callback", "callback_opt"):
        return "", f"callback<{t['name']}>()", ""
    if annotation == "opaque":
        return "", "context()", ""
    if annotation == "kept":
        return "", f"memory<{common.spell(common.target(t))}>()", ""
    if annotation == "in_string":
        return "", "text()", ""
    pointee = t["to"]
    if annotation == "in_opt":
        # Not null: what is optional is there, and must not be touched either.
        return "", (f"live<{pointee['name']}>()" if pointee["kind"] == "handle" else f"optional<{common.spell(pointee)}>()"), ""
    if annotation in ("in_array", "out_array"):
        return "", f"memory<{common.spell(pointee)}>()", ""
    if annotation in ("out", "out_opt", "out_owned", "out_borrowed"):
        constant = "const " if t["const"] and pointee["kind"] != "pointer" else ""
        is_sized = ", true" if pointee.get("name") in sized else ""
        return (f"Out<{constant}{common.spell(pointee)}{is_sized}> {name};", f"{name}.get()", f'{name}.expect_zeroed("{name}");')
    if annotation in ("consumed_var", "destroyed_var"):
        handle = _handle(p)
        return (f"Variable<{handle}> {name}(live<{handle}>());", f"{name}.get()", f'{name}.expect_unchanged("{name}");')
    if pointee["kind"] == "handle":
        return "", f"live<{pointee['name']}>()", ""
    if annotation == "consumed":  # a struct that brings its own end
        return "", f"live<{common.spell(pointee)}>()", ""
    return "", f"value<{common.spell(pointee)}>()", ""
