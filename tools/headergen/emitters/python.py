"""Python: constants and structs in Python; the table of calls and the mechanical wrappers in C (python_native.py)."""

from __future__ import annotations

from pathlib import Path

from . import common, python_native

FOLDERS = ["bindings/python/gen"]

# Groups that are single numbers and no choice of one value: plain constants.
_PLAIN = {"HurrayVersion", "HurrayShapeLimit", "HurrayFieldLimit"}


def emit(abi: dict, root: Path) -> dict[str, str]:
    del root
    files = {"constants.py": _constants(abi), "structs.py": _structs(abi), **python_native.emit(abi)}
    return {f"{FOLDERS[0]}/{name}": text for name, text in files.items()}


def _docstring(text: str, indent: str = "") -> str:
    """A docstring of one or more paragraphs."""
    escaped = text.replace("\\", "\\\\").replace('"""', "'''")
    lines = common.comment(escaped, prefix="", width=110, indent=indent).rstrip("\n").split("\n")
    lines[0] = f'{indent}"""{lines[0].strip()}'
    if len(lines) == 1:
        return lines[0] + '"""\n'
    return "\n".join(lines) + f'\n{indent}"""\n'


# --- Constants --------------------------------------------------------------------------------------------------


def _constants(abi: dict) -> str:
    plain = [g for g in abi["groups"] if g["name"] in _PLAIN]
    enums = [g for g in abi["groups"] if g["name"] not in _PLAIN]
    names = [_enum_name(g) for g in enums] + [_plain_name(c) for g in plain for c in common.constants_of(abi, g["name"])]
    out = [common.banner("#"), _docstring("Constants of the C ABI."), "\nimport enum\n\n__all__ = [\n",
           "".join(f'    "{n}",\n' for n in sorted(names)), "]\n"]
    for group in plain:
        out.append("\n")
        for constant in common.constants_of(abi, group["name"]):
            out.append(common.comment(constant["doc"], prefix="#: "))
            out.append(f"{_plain_name(constant)} = {_value(constant)}\n")
    for group in enums:
        out.append(_enum(abi, group))
    return "".join(out)


def _plain_name(constant: dict) -> str:
    return common.strip_prefix(constant["name"], "HURRAY_")


def _value(constant: dict) -> str:
    if constant["type"]["kind"] == "pointer":
        return repr(constant["value"])
    return f"0x{constant['value']:02X}" if "0x" in constant["text"].lower() else str(constant["value"])


def _enum_name(group: dict) -> str:
    name = common.strip_prefix(group["name"], "Hurray")
    return name + "s" if name.endswith("Flag") else name


def _enum(abi: dict, group: dict) -> str:
    base = "enum.IntFlag" if group["name"].endswith("Flag") else "enum.IntEnum"
    constants = common.constants_of(abi, group["name"])
    # One name alone does not show what names of its family have in common.
    stem = common.screaming(common.strip_prefix(group["name"], "Hurray").removesuffix("Flag"))
    prefix = common.group_prefix(abi, group) if len(constants) > 1 else f"HURRAY_{stem}_"
    out = [f"\n\nclass {_enum_name(group)}({base}):\n",
           _docstring(group["title"] + "." + (f"\n\n{group['doc']}" if group["doc"] else ""), "    ")]
    for constant in constants:
        out.append("\n" + common.comment(constant["doc"], prefix="#: ", indent="    "))
        out.append(f"    {common.strip_prefix(constant['name'], prefix, 'HURRAY_')} = {_value(constant)}\n")
    return "".join(out)


# --- Structs ----------------------------------------------------------------------------------------------------


def _structs(abi: dict) -> str:
    structs = [s for s in python_native.converted_structs(abi)]
    out = [common.banner("#"), _docstring("Structs of the C ABI as named tuples, in the order of the wrappers' tuples."),
           "\nfrom __future__ import annotations\n\nfrom typing import NamedTuple\n\n__all__ = [\n",
           "".join(f'    "{common.strip_prefix(s["name"], "Hurray")}",\n' for s in structs), "]\n"]
    for struct in structs:
        given = struct["name"] in python_native.input_structs(abi)
        out.append(f"\n\nclass {common.strip_prefix(struct['name'], 'Hurray')}(NamedTuple):\n")
        out.append(_docstring(struct["doc"], "    "))
        for field in python_native.visible_fields(struct):
            out.append("\n" + common.comment(field["doc"], prefix="#: ", indent="    "))
            out.append(f"    {field['name']}: {python_native.python_type(struct, field)}"
                       f"{python_native.python_default(struct, field) if given else ''}\n")
    return "".join(out)
