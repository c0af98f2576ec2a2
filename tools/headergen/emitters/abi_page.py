"""The generated parts of docs/abi.md: the ownership table, and which test proves which sentence of the contract."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).absolute().parents[2] / "requirements"))

from contract import cli, document  # noqa: E402


def emit(abi: dict, root: Path) -> dict[str, str]:
    """The page with fresh parts; all else in it is written by hand."""
    try:
        return document.generate(root, abi)
    except cli.ERRORS as error:
        sys.exit(f"refresh: {error}")
