"""layout_check.c and layout_check.cpp: pins every size, offset and value, against the C headers and against the C++
definitions they were made from. To compile them is the test."""

from __future__ import annotations

from pathlib import Path

from . import common


def emit(abi: dict, root: Path) -> dict[str, str]:
    del root
    includes = sorted({e["source"] for key in ("constants", "structs", "typedefs") for e in abi[key]})
    c_head = f"#include <stddef.h>\n#include <stdint.h>\n\n#include <{abi['umbrella']}>\n"
    cpp_head = "#include <cstddef>\n#include <cstdint>\n#include <string_view>\n\n" + \
        "".join(f'#include "{i}"\n' for i in includes)
    return {
        f"{abi['gen']}/layout_check.c": common.banner() + c_head + _checks(abi, "_Static_assert", cpp=False)
        + "\nint main(void) { return 0; }\n",
        f"{abi['gen']}/layout_check.cpp": common.banner() + cpp_head + _checks(abi, "static_assert", cpp=True)
        + "\nint main() { return 0; }\n",
    }


def _checks(abi: dict, check: str, cpp: bool) -> str:
    out = ["\n/* Layouts are those of a 64-bit platform; all that are supported are. */\n",
           f'{check}(sizeof(void*) == 8, "pointers have 8 bytes");\n']
    align = "alignof" if cpp else "_Alignof"
    for s in abi["structs"]:
        name = s["name"]
        out.append(f'\n{check}(sizeof({name}) == {s["size"]}, "{name}: size");\n')
        out.append(f'{check}({align}({name}) == {s["align"]}, "{name}: alignment");\n')
        for f in s["fields"]:
            out.append(f'{check}(offsetof({name}, {f["name"]}) == {f["offset"]}, "{name}.{f["name"]}: offset");\n')
            out.append(f'{check}(sizeof((({name}*)0)->{f["name"]}) == {f["size"]}, "{name}.{f["name"]}: size");\n')
    out.append("\n")
    for t in abi["typedefs"]:
        out.append(f'{check}(sizeof({t["name"]}) == {t["type"]["bits"] // 8}, "{t["name"]}: size");\n')
    out.append("\n")
    for c in abi["constants"]:
        if c["type"]["kind"] == "pointer":
            if cpp:
                out.append(f'{check}(std::string_view({c["name"]}) == {c["text"]}, "{c["name"]}: value");\n')
            else:
                out.append(f'{check}(sizeof({c["name"]}) == sizeof({c["text"]}), "{c["name"]}: length");\n')
        else:
            out.append(f'{check}({c["name"]} == {c["text"]}, "{c["name"]}: value");\n')
    return "".join(out)
