"""Which functions each version of the C ABI brought, from abi.json."""

from __future__ import annotations


def table(abi: dict) -> str:
    """A row a version; the latest is named by its number of functions only."""
    latest = abi["abi_version"]
    lines = ["| version | functions |", "|---|---|"]
    for version in range(1, latest + 1):
        names = [function["name"] for function in abi["functions"] if function["since"] == version]
        listed = ", ".join(f"`{name}`" for name in names) if version < latest else f"the {len(names)} others"
        lines.append(f"| {version} | {listed} |")
    return "\n".join(lines) + "\n"
