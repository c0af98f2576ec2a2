"""bindings/java/gen: constants (public enums), struct layouts, SWIG's interface file, and the forwarders to the library.

The mechanical layer is SWIG's: handles are longs, a handle variable or an out parameter is an array of one element, and
structs and arrays are direct ByteBuffers whose capacity the wrapper checks (bindings/java/swig/memory.swg has the
typemaps). Functions that take a callback are left to the hand-written JNI sources.

forward.c defines every function of the C ABI once more, hidden in the JNI library, as a jump through a table that
is filled by name at run time: so the version functions can be asked before any other symbol has to exist.
"""

from __future__ import annotations

from pathlib import Path

from . import common

FOLDERS = ["bindings/java/gen"]

_PACKAGE = "dev.hurray"
# Groups that are single numbers and no choice of one value, and flags: constants of the package-private class Abi.
_PLAIN = {"HurrayVersion", "HurrayShapeLimit", "HurrayFieldLimit"}
# Choices that only ever go into the library: no member for what the binding does not know.
_INPUT_ONLY = {"HurrayHandleKind", "HurrayAlignmentPolicy"}
_CLASS_NAMES = {"HurrayStatus": "StatusCode"}


def emit(abi: dict, root: Path) -> dict[str, str]:
    del root
    folder = FOLDERS[0]
    java = f"{folder}/{_PACKAGE.replace('.', '/')}"
    files = {
        f"{java}/Abi.java": _constants(abi),
        f"{java}/Structs.java": _structs(abi),
        f"{folder}/hurray.i": _interface(abi),
        f"{folder}/forward.c": _forwarders(abi),
    }
    for group in abi["groups"]:
        if not _is_plain(group):
            files[f"{java}/{_class_name(group['name'])}.java"] = _enum(abi, group)
    return files


def _head() -> str:
    return f"{common.banner()}package {_PACKAGE};\n"


def _is_plain(group: dict) -> bool:
    return group["name"] in _PLAIN or group["name"].endswith("Flag") or group["type"]["kind"] == "mixed"


def _class_name(name: str) -> str:
    return _CLASS_NAMES.get(name, name[len("Hurray"):])


def _javadoc(text: str, indent: str = "") -> str:
    escaped = common.xml_escape(text).replace("*/", "*&#47;").replace("@", "&#64;")
    if "\n" not in escaped and len(indent) + len(escaped) < 110:
        return f"{indent}/** {escaped} */\n"
    paragraphs = escaped.split("\n\n")
    body = "\n\n".join([paragraphs[0]] + ["<p>" + p for p in paragraphs[1:]])
    return f"{indent}/**\n{common.comment(body, prefix=' * ', indent=indent)}{indent} */\n"


# --- Constants --------------------------------------------------------------------------------------------------


def _literal(constant: dict) -> str:
    """As a Java literal of the type that holds all of its bits."""
    scalar = common.strip_alias(constant["type"])
    value = constant["value"]
    if scalar["kind"] == "pointer":
        return f'"{value}"'
    if scalar["bits"] == 64:
        return f"{value - (1 << 64) if value >= 1 << 63 else value}L"
    if scalar["bits"] == 32 and not scalar["signed"] and value >= 1 << 31:
        return str(value - (1 << 32))
    return f"0x{value:02X}" if "0x" in constant["text"].lower() and value >= 0 else str(value)


def _java_type(t: dict) -> str:
    scalar = common.strip_alias(t)
    if scalar["kind"] == "pointer":
        return "String"
    return "long" if scalar["bits"] == 64 else "int"


def _constants(abi: dict) -> str:
    out = [_head(), "\n/** Numbers of the C ABI that are no choice of one value. Unsigned ones keep their bits. */\n"
                    "final class Abi {\n    private Abi() {}\n"]
    for group in abi["groups"]:
        if not _is_plain(group):
            continue
        for c in common.constants_of(abi, group["name"]):
            out.append("\n" + _javadoc(c["doc"], "    "))
            out.append(f"    static final {_java_type(c['type'])} {c['name'][len('HURRAY_'):]} = {_literal(c)};\n")
    return "".join(out) + "}\n"


def _enum(abi: dict, group: dict) -> str:
    name = _class_name(group["name"])
    prefix = common.group_prefix(abi, group)
    title = group["title"].rstrip(".") + "." + (" " + group["doc"] if group["doc"] else "")
    known_only = group["name"] in _INPUT_ONLY
    out = [_head(), "\n", _javadoc(title), f"public enum {name} {{\n"]
    members = []
    for c in common.constants_of(abi, group["name"]):
        member = common.strip_prefix(c["name"], prefix, "HURRAY_")
        members.append(f"{_javadoc(c['doc'], '    ')}    {member}({_literal(c)})")
    if not known_only:
        members.append("    /** A value that this version of the binding does not know; what it was is reported beside. */\n"
                       "    UNKNOWN(Integer.MIN_VALUE)")
    out.append(",\n\n".join(members) + ";\n\n    private final int value;\n\n"
               f"    {name}(int value) {{\n        this.value = value;\n    }}\n\n"
               "    /** The number that stands for it in the C ABI"
               + ("" if known_only else "; of no meaning for {@link #UNKNOWN}") + ". */\n"
               "    public int value() {\n        return value;\n    }\n")
    if not known_only:
        out.append(f"\n    private static final {name}[] ALL = values();\n\n"
                   "    /** The member for a number of the C ABI, {@link #UNKNOWN} when there is none. */\n"
                   f"    public static {name} of(int value) {{\n"
                   f"        for ({name} member : ALL) {{\n            if (member.value == value) {{\n"
                   "                return member;\n            }\n        }\n        return UNKNOWN;\n    }\n")
    return "".join(out) + "}\n"


# --- Structs ----------------------------------------------------------------------------------------------------


def _structs(abi: dict) -> str:
    out = [_head(), "\n/** Sizes of the structs of the C ABI, and offsets of their fields, in bytes. */\n"
                    "final class Structs {\n    private Structs() {}\n"]
    for s in abi["structs"]:
        out.append(f"\n    /** {s['name']}. */\n    static final class {s['name'][len('Hurray'):]} {{\n"
                   f"        private {s['name'][len('Hurray'):]}() {{}}\n\n"
                   f"        /** Size of the whole struct. */\n        static final int SIZE = {s['size']};\n")
        for f in s["fields"]:
            out.append("\n" + _javadoc(f["doc"], "        "))
            out.append(f"        static final int {common.screaming(f['name'])} = {f['offset']};\n")
        out.append("    }\n")
    return "".join(out) + "}\n"


# --- SWIG -------------------------------------------------------------------------------------------------------


def _has_callback(abi: dict, f: dict) -> bool:
    """Whether it takes a callback, or a struct with one: what those are in Java is not mechanical."""
    calling = {s["name"] for s in abi["structs"] if any(field["type"]["kind"] == "callback" for field in s["fields"])}
    return any(p["type"]["kind"] == "callback" or common.target(p["type"]).get("name") in calling for p in f["params"])


def _interface(abi: dict) -> str:
    out = [common.banner(),
           "%module(jniclassname=\"RawJNI\") Raw\n\n"
           "// Not for users: bounds of memory are checked here, life times are not.\n"
           "%pragma(java) moduleclassmodifiers=\"final class\"\n"
           "%pragma(java) jniclassclassmodifiers=\"final class\"\n\n"
           "%{\n#include <hurray.h>\n%}\n\n"
           "%include \"bindings/java/swig/memory.swg\"\n\n"]
    for t in abi["typedefs"]:
        out.append(f"typedef {t['type']['name']} {t['name']};\n")
    out.append("\n")
    out += [f"HURRAY_HANDLE({h['name']})\n" for h in abi["handles"]]
    out.append("\n")
    out += [f"HURRAY_STRUCT({s['name']})\n" for s in abi["structs"]]
    left_out = []
    for f in abi["functions"]:
        if _has_callback(abi, f):
            left_out.append(f["name"])
        else:
            out.append("\n" + _declaration(abi, f))
    out.append("\n// With a callback, and so hand-written in bindings/java/jni:\n")
    out += [f"//   {name}\n" for name in left_out]
    return "".join(out)


def _element_size(abi: dict, element: dict) -> int:
    if element["kind"] == "struct":
        return next(s["size"] for s in abi["structs"] if s["name"] == element["name"])
    return 1 if element["kind"] in ("char", "void") else common.strip_alias(element)["bits"] // 8


def _declaration(abi: dict, f: dict) -> str:
    """The function with parameter names that choose the typemap, and the typemaps that need its other parameters."""
    position = {p["name"]: i for i, p in enumerate(f["params"], 1)}
    out = []
    for p in f["params"]:
        _require_typemap(f, p)
        if "length" in p and p["annotation"] in ("in_array", "out_array", "kept"):
            out.append(f"HURRAY_ARRAY({p['c']}, {_element_size(abi, common.target(p['type']))}, jarg{position[p['length']]})\n")
        elif p.get("annotation") == "in_string":
            out.append(f"HURRAY_STRING({p['c']})\n")
    parameters = ", ".join(p["c"] for p in f["params"]) or "void"
    out.append(f"{common.spell(f['return'], f['name'])}({parameters});\n")
    return "".join(out)


def _require_typemap(f: dict, p: dict) -> None:
    """SWIG would make a class of its own of a pointer that memory.swg has nothing for; that stops here instead."""
    t = p["type"]
    if not common.is_pointer(t) or "length" in p or p["annotation"] == "in_string":
        return
    target, depth = common.target(t), common.depth(t)
    scalar = common.strip_alias(target)
    covered = (target["kind"] == "handle" or (target["kind"] == "struct" and depth == 1)
               or (p["annotation"] == "out" and depth == 1 and scalar.get("name") in ("uint8_t", "int32_t", "uint32_t", "uint64_t", "double"))
               or (p["annotation"].startswith("out") and depth == 2 and target["kind"] == "void")
               or (p["annotation"] == "out_borrowed" and depth == 2 and scalar.get("name") == "uint8_t"))
    if not covered:
        raise ValueError(f"java: {f['name']}: {p['c']}: bindings/java/swig/memory.swg has no typemap for it")


# --- Forwarders -------------------------------------------------------------------------------------------------


def _forwarders(abi: dict) -> str:
    out = [common.banner(),
           "// Every function of the C ABI as a jump to the one of the library that was loaded at run time.\n"
           "#include \"bindings/java/jni/forward.h\"\n\n"
           "#include <stddef.h>\n#include <string.h>\n\n#include <hurray.h>\n\n"
           "static struct {\n"]
    for f in abi["functions"]:
        out.append(f"    {f['c_return']}{'' if f['c_return'].endswith('*') else ' '}(*{f['name']})({_parameters(f)});\n")
    out.append("} bound;\n\nstatic const struct {\n    const char *name;\n    void *slot;\n} entries[] = {\n")
    out += [f"    {{\"{f['name']}\", &bound.{f['name']}}},\n" for f in abi["functions"]]
    out.append("};\n\nconst char *hurray_jni_bind(void *(*find)(const char *name)) {\n"
               "    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; ++i) {\n"
               "        void *symbol = find(entries[i].name);\n"
               "        if (symbol == NULL) return entries[i].name;\n"
               "        memcpy(entries[i].slot, &symbol, sizeof symbol);\n    }\n    return NULL;\n}\n")
    for f in abi["functions"]:
        arguments = ", ".join(p["name"] for p in f["params"])
        out.append(f"\n{f['c_return']}{'' if f['c_return'].endswith('*') else ' '}{f['name']}({_parameters(f)}) {{\n"
                   f"    return bound.{f['name']}({arguments});\n}}\n")
    return "".join(out)


def _parameters(f: dict) -> str:
    return ", ".join(p["c"] for p in f["params"]) or "void"
