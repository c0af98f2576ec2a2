"""bindings/zig/gen: constants (enums and flags), the error set of the status codes, the table of functions, layout checks.

The types of structs and handles come from the C header through @cImport (module hurray_c). The table says more than the
header can: which pointer may be null, which leads to many elements, which string is terminated.
"""

from __future__ import annotations

from pathlib import Path

from . import common

FOLDERS = ["bindings/zig/gen"]

_KEYWORDS = {
    "addrspace", "align", "allowzero", "and", "anyframe", "anytype", "asm", "break", "callconv", "catch", "comptime",
    "const", "continue", "defer", "else", "enum", "errdefer", "error", "export", "extern", "fn", "for", "if", "inline",
    "linksection", "noalias", "noinline", "nosuspend", "opaque", "or", "orelse", "packed", "pub", "resume", "return",
    "struct", "suspend", "switch", "test", "threadlocal", "try", "union", "unreachable", "var", "volatile", "while",
}


def emit(abi: dict, root: Path) -> dict[str, str]:
    del root
    folder = FOLDERS[0]
    return {
        f"{folder}/abi.zig": _module(),
        f"{folder}/constants.zig": _constants(abi),
        f"{folder}/errors.zig": _errors(abi),
        f"{folder}/table.zig": _table(abi),
        f"{folder}/layout.zig": _layout(abi),
    }


def _identifier(name: str) -> str:
    return f'@"{name}"' if name in _KEYWORDS else name


def _bare(name: str) -> str:
    return common.strip_prefix(name, "Hurray")


def _doc(text: str, indent: str = "") -> str:
    return common.comment(text, prefix="/// ", indent=indent)


# --- The module's root ------------------------------------------------------------------------------------------


def _module() -> str:
    return (common.banner() +
            "//! The C ABI as Zig sees it. `c` holds the structs and handles of the header, `Table` the functions.\n\n"
            'const raw = @import("hurray_c");\n\n'
            "/// What the C header declares. The module hurray_c is either a file with a declaration `c`, made by @cImport, or\n"
            "/// the header itself, translated by the build (addTranslateC).\n"
            'pub const c = if (@hasDecl(raw, "c")) raw.c else raw;\n\n'
            'pub const constants = @import("constants.zig");\n'
            'pub const errors = @import("errors.zig");\n'
            'pub const Table = @import("table.zig").Table;\n'
            'pub const callbacks = @import("table.zig").callbacks;\n\n'
            "comptime {\n    _ = @import(\"layout.zig\");\n}\n")


# --- Constants --------------------------------------------------------------------------------------------------


def _constants(abi: dict) -> str:
    out = [common.banner(), "//! Constants of the C ABI.\n"]
    for group in abi["groups"]:
        members = common.constants_of(abi, group["name"])
        if group["name"].endswith("Flag"):
            out.append(_flags(group, members))
        elif not common.is_choice(group, members) or len(members) == 1:
            out.append(_loose(members))
        else:
            out.append(_enum(abi, group, members))
    return "".join(out)


def _title(group: dict) -> str:
    return group["title"] + "." + (f"\n\n{group['doc']}" if group["doc"] else "")


def _scalar(t: dict) -> str:
    t = common.strip_alias(t)
    if t["kind"] == "int":
        return ("i" if t["signed"] else "u") + str(t["bits"])
    if t["kind"] == "float":
        return f"f{t['bits']}"
    raise ValueError(f"no Zig form of {t}")


def _loose(members: list[dict]) -> str:
    out = []
    for member in members:
        name = _identifier(common.snake(common.strip_prefix(member["name"], "HURRAY_")))
        out.append("\n" + _doc(member["doc"]))
        if member["type"]["kind"] == "pointer":
            out.append(f'pub const {name} = "{member["value"]}";\n')
        else:
            out.append(f"pub const {name}: {_scalar(member['type'])} = {member['value']};\n")
    return "".join(out)


def _member(abi: dict, group: dict, member: dict) -> str:
    return common.strip_prefix(member["name"], common.group_prefix(abi, group), "HURRAY_").lower()


def _enum(abi: dict, group: dict, members: list[dict]) -> str:
    out = ["\n", _doc(_title(group)), f"pub const {_bare(group['name'])} = enum({_scalar(group['type'])}) {{\n"]
    for member in members:
        value = member["value"]
        if "0x" in member["text"].lower():
            value = f"0x{value:02x}"
        out.append(_doc(member["doc"], "    ") + f"    {_identifier(_member(abi, group, member))} = {value},\n")
    out.append("    /// A value that this package does not know.\n    _,\n};\n")
    return "".join(out)


def _flags(group: dict, members: list[dict]) -> str:
    """A packed struct of booleans; every flag must be a bit of its own."""
    scalar = common.strip_alias(group["type"])
    if scalar["signed"] or len({m["value"] for m in members}) != len(members):
        raise ValueError(f"{group['name']}: flags are distinct unsigned values")
    prefix = f"HURRAY_{common.words(_bare(group['name']))[0].upper()}_"
    out = ["\n", _doc(_title(group)), f"pub const {_bare(group['name'])}s = packed struct({_scalar(scalar)}) {{\n"]
    position = unnamed = 0
    for member in sorted(members, key=lambda m: m["value"]):
        value = member["value"]
        if value <= 0 or value & (value - 1):
            raise ValueError(f"{member['name']}: a flag is one bit")
        bit = value.bit_length() - 1
        if bit > position:
            out.append(f"    unnamed{unnamed}: u{bit - position} = 0,\n")
            unnamed += 1
        name = _identifier(common.strip_prefix(member["name"], prefix, "HURRAY_").lower())
        out.append(_doc(member["doc"], "    ") + f"    {name}: bool = false,\n")
        position = bit + 1
    if position < scalar["bits"]:
        out.append(f"    /// Bits that this package does not know.\n    rest: u{scalar['bits'] - position} = 0,\n")
    out.append("};\n")
    return "".join(out)


# --- Errors -----------------------------------------------------------------------------------------------------


def _errors(abi: dict) -> str:
    status = next(g for g in abi["groups"] if g["name"] == abi["status_type"])
    failures = [(f"Hurray{common.pascal(_member(abi, status, m))}", m)
                for m in common.constants_of(abi, abi["status_type"]) if m["value"] != 0]
    out = [common.banner(), "//! The status codes as an error set.\n\n",
           _doc("A failure that the library reports: an error for each status code."),
           "pub const StatusError = error{\n"]
    for name, member in failures:
        out.append(_doc(member["doc"], "    ") + f"    {name},\n")
    out.append("    /// A status code that this package does not know; the diagnostics hold it.\n    HurrayUnknownStatus,\n};\n\n")
    out.append(_doc("The error of a status code that is not 0."))
    out.append("pub fn errorOf(status: i32) StatusError {\n    return switch (status) {\n")
    for name, member in failures:
        out.append(f"        {member['value']} => error.{name},\n")
    out.append("        else => error.HurrayUnknownStatus,\n    };\n}\n\n")
    out.append(_doc("The status code of an error; null for HurrayUnknownStatus, which stands for many."))
    out.append("pub fn statusOf(err: StatusError) ?i32 {\n    return switch (err) {\n")
    for name, member in failures:
        out.append(f"        error.{name} => {member['value']},\n")
    out.append("        error.HurrayUnknownStatus => null,\n    };\n}\n")
    return "".join(out)


# --- The table of functions -------------------------------------------------------------------------------------


def _table(abi: dict) -> str:
    out = [common.banner(),
           "//! The functions of the library, found by name at run time.\n\n"
           'const c = @import("abi.zig").c;\n\n'
           "/// Types of the callbacks.\npub const callbacks = struct {\n"]
    for callback in abi["callbacks"]:
        parameters = ", ".join(f"{_identifier(p['name'])}: {_plain(p['type'])}" for p in callback["params"])
        out.append(_doc(callback["summary"], "    "))
        out.append(f"    pub const {_bare(callback['name'])} = *const fn ({parameters}) callconv(.c) "
                   f"{_plain(callback['return'])};\n")
    out.append("};\n\n")
    out.append(_doc("One field a function: its name without the prefix, its parameters with what the header cannot say."))
    out.append("pub const Table = struct {\n")
    for f in abi["functions"]:
        parameters = ", ".join(f"{_identifier(p['name'])}: {_parameter(p)}" for p in f["params"])
        returned = f["return"]
        if returned["kind"] == "pointer" and returned["to"]["kind"] == "char":
            result = "[*:0]const u8"
        else:
            result = _plain(returned)
        out.append(_doc(f["summary"], "    "))
        out.append(f"    {_identifier(common.strip_prefix(f['name'], 'hurray_'))}: "
                   f"*const fn ({parameters}) callconv(.c) {result},\n")
    out.append("\n" + _doc("What the names of the functions begin with in the library.", "    "))
    out.append('    pub const prefix = "hurray_";\n\n')
    out.append(_doc("The function that answers the version of the C ABI: the first one to be called.", "    "))
    out.append(f'    pub const version_function = "{common.strip_prefix(abi["version_function"], "hurray_")}";\n\n')
    out.append(_doc("Fills a table. `finder.find(name)` gives the address of a symbol, or null. Returns the name of the first "
                    "function that is missing, or null when all are there; the table is complete only then.", "    "))
    out.append("    pub fn resolve(table: *Table, finder: anytype) ?[:0]const u8 {\n"
               "        inline for (@typeInfo(Table).@\"struct\".fields) |field| {\n"
               "            const name: [:0]const u8 = prefix ++ field.name;\n"
               "            const address = finder.find(name) orelse return name;\n"
               "            @field(table, field.name) = @ptrCast(@alignCast(address));\n"
               "        }\n"
               "        return null;\n"
               "    }\n};\n")
    return "".join(out)


def _plain(t: dict) -> str:
    """A type about which no annotation says more."""
    kind = t["kind"]
    if kind == "void":
        return "void"
    if kind == "pointer":
        to = t["to"]
        const = "const " if t["const"] else ""
        if to["kind"] == "void":
            return f"?*{const}anyopaque"
        if to["kind"] == "char":
            return f"?[*:0]{const}u8"
        return f"?*{const}{_plain(to)}"
    if kind in ("handle", "struct"):
        return f"c.{t['name']}"
    if kind == "callback":
        return f"?callbacks.{_bare(t['name'])}"
    return _scalar(t)


def _parameter(p: dict) -> str:
    t = p["type"]
    annotation = p.get("annotation")
    if annotation is None:
        return _plain(t)
    if annotation == "callback":
        return f"callbacks.{_bare(t['name'])}"
    if annotation == "callback_opt":
        return f"?callbacks.{_bare(t['name'])}"
    if annotation in ("opaque", "error"):
        return _plain(t)
    if annotation == "in_string":
        return "[*:0]const u8"
    to = t["to"]
    const = "const " if t["const"] else ""
    optional = "" if p["nullable"] == "no" else "?"
    if annotation in ("in_array", "out_array", "kept"):
        if to["kind"] == "void":
            return f"?*{const}anyopaque"
        return f"{optional}[*]{const}{'u8' if to['kind'] == 'char' else _plain(to)}"
    if to["kind"] == "pointer":
        # A variable of the caller that holds a pointer, or receives one.
        inner = to["to"]
        inner_const = "const " if to["const"] else ""
        if inner["kind"] in ("handle", "struct"):
            return f"{optional}*?*{inner_const}c.{inner['name']}"
        if inner["kind"] == "void":
            return f"{optional}*?*{inner_const}anyopaque"
        return f"{optional}*?[*]{inner_const}{_plain(inner)}"
    return f"{optional}*{const}{_plain(to)}"


# --- Layouts ----------------------------------------------------------------------------------------------------


def _layout(abi: dict) -> str:
    out = [common.banner(),
           "//! Where the compiler laid the fields, and what it takes the constants for, beside what the C ABI says.\n\n"
           'const c = @import("abi.zig").c;\n\n'
           "fn check(ok: bool, comptime what: []const u8) void {\n"
           "    if (!ok) @compileError(what ++ \" is not as the C ABI has it\");\n}\n\n"
           "comptime {\n    @setEvalBranchQuota(20_000);\n"
           "    check(@sizeOf(*anyopaque) == 8, \"the size of a pointer\");\n"]
    for s in abi["structs"]:
        name = s["name"]
        out.append(f'    check(@sizeOf(c.{name}) == {s["size"]}, "{name}: the size");\n')
        out.append(f'    check(@alignOf(c.{name}) == {s["align"]}, "{name}: the alignment");\n')
        for f in s["fields"]:
            out.append(f'    check(@offsetOf(c.{name}, "{f["name"]}") == {f["offset"]}, "{name}.{f["name"]}: the offset");\n')
    for constant in abi["constants"]:
        if constant["type"]["kind"] != "pointer":
            out.append(f'    check(c.{constant["name"]} == {constant["value"]}, "{constant["name"]}: the value");\n')
    out.append("}\n")
    return "".join(out)
