"""Symbol version nodes: one for each version of the ABI, a function in the one that introduced it."""

from __future__ import annotations


def node_of(function: dict, version_nodes: dict) -> str:
    return f"{version_nodes['prefix']}{function['since']}"


def nodes(abi: dict, version_nodes: dict) -> list[tuple[str, list[str]]]:
    """(node, its functions) from the first version to the current one; a version may have added no function."""
    return [(f"{version_nodes['prefix']}{version}",
             [f["name"] for f in abi["functions"] if f["since"] == version])
            for version in range(version_nodes["first"], abi["abi_version"] + 1)]
