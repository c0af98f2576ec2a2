"""Compares what a built ELF library exports with what the header declares, both ways, versions included."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from . import nodes


class SymbolError(Exception):
    pass


def exported(library: Path) -> dict[str, str]:
    """Every defined dynamic symbol with its version node ("" without one); the node names themselves are left out."""
    nm = next((t for t in ("nm", "llvm-nm-19", "llvm-nm") if shutil.which(t)), None)
    if nm is None:
        raise SymbolError("nm is missing; install binutils")
    run = subprocess.run([nm, "-D", "--defined-only", str(library)], capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise SymbolError(run.stderr.strip() or f"nm failed on {library}")
    symbols = {}
    for line in run.stdout.splitlines():
        words = line.split()
        if len(words) < 3:
            continue
        kind, name = words[-2], words[-1]
        base, _, version = name.partition("@")
        version = version.lstrip("@")
        if kind == "A" and (not version or version == base):
            continue  # the version node itself
        symbols[base] = version
    return symbols


def compare(library: Path, abi: dict, version_nodes: dict | None) -> list[str]:
    """What is wrong, a line each; empty when library and header agree."""
    found = exported(library)
    declared = {f["name"]: f for f in abi["functions"]}
    wrong = [f"{name}: declared, but not exported by {library.name}" for name in declared if name not in found]
    wrong += [f"{name}: exported by {library.name}, but not declared in any header" for name in found if name not in declared]
    if version_nodes:
        for name, f in declared.items():
            expected = nodes.node_of(f, version_nodes)
            if name in found and found[name] != expected:
                wrong.append(f"{name}: in version node {found[name] or '(none)'}, expected {expected} (@since {f['since']})")
    return sorted(wrong)
