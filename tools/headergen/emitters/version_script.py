"""LIBRARY.map: the linker's version script. What is not declared is not exported."""

from __future__ import annotations

from pathlib import Path

from hg import nodes

from . import common


def emit(abi: dict, root: Path) -> dict[str, str]:
    del root
    path = f"{abi['gen']}/{abi['library']}.map"
    if not abi["version_nodes"]:
        names = "".join(f"    {f['name']};\n" for f in sorted(abi["functions"], key=lambda f: f["name"]))
        return {path: f"{common.banner('#')}{{\nglobal:\n{names}local:\n    *;\n}};\n"}
    out = [common.banner("#"),
           "# A node holds what its version of the C ABI added; versions that added no function have an empty one.\n"]
    previous = ""
    for index, (node, functions) in enumerate(nodes.nodes(abi, abi["version_nodes"])):
        out.append(f"\n{node} {{\n")
        if functions:
            out.append("global:\n" + "".join(f"    {name};\n" for name in sorted(functions)))
        if index == 0:
            out.append("local:\n    *;\n")
        out.append(f"}}{' ' + previous if previous else ''};\n")
        previous = node
    return {path: "".join(out)}
