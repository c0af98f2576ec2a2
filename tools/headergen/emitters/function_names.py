"""function_names.hpp: the names of all functions, for tests that must have a case for each of them."""

from __future__ import annotations

from pathlib import Path

from . import common


def emit(abi: dict, root: Path) -> dict[str, str]:
    del root
    names = "".join(f'    "{f["name"]}",\n' for f in abi["functions"])
    return {f"{abi['gen']}/function_names.hpp":
            f"{common.banner()}#pragma once\n\n/// Every function of the C ABI, in the order of the headers.\n"
            f"inline constexpr const char* {abi['library']}_function_names[] = {{\n{names}}};\n"}
