"""stub.c: a library that exports everything and can do nothing, for tests of what bindings do with a stranger.

-DHURRAY_STUB_VERSION=N chooses the version that it answers. It vouches for no other version.
"""

from __future__ import annotations

from pathlib import Path

from hg import header

from . import common


def emit(abi: dict, root: Path) -> dict[str, str]:
    del root
    macro = abi["import_macro"]
    out = [common.banner(),
           "// Exports every function of the C ABI and fails in each, so that a binding's version check can be tested: the\n"
           "// answer of the version function is HURRAY_STUB_VERSION.\n"
           f"#if defined(_WIN32)\n#define {macro} __declspec(dllexport)\n#else\n"
           f'#define {macro} __attribute__((visibility("default")))\n#endif\n\n#include <{abi["umbrella"]}>\n\n'
           "#ifndef HURRAY_STUB_VERSION\n#define HURRAY_STUB_VERSION 5\n#endif\n"]
    for f in abi["functions"]:
        unused = "".join(f"    (void)({p['name']});\n" for p in f["params"])
        out.append(f"\n{header.prototype(f)} {{\n{unused}    return {_answer(abi, f)};\n}}\n")
    return {f"{abi['gen']}/stub.c": "".join(out)}


def _answer(abi: dict, f: dict) -> str:
    if f["name"] == abi["version_function"]:
        return "HURRAY_STUB_VERSION"
    if f["fallible"]:
        return "HURRAY_ERR_VERSION_MISMATCH"
    returned = common.strip_alias(f["return"])
    if returned["kind"] == "pointer":
        return '"stub"' if returned["to"]["kind"] == "char" else "0"
    return "0"
