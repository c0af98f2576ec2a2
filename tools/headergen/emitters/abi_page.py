"""The generated parts of docs/abi.md: the ownership table, and which test proves which sentence of the contract. Beside it the page of
the tests of files, streams and channels."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).absolute().parents[2] / "requirements"))

from contract import cli, document, pages  # noqa: E402


def emit(abi: dict, root: Path) -> dict[str, str]:
    """The page with fresh parts; all else in it is written by hand."""
    try:
        return {**document.generate(root, abi), **pages.generate(root)}
    except cli.ERRORS as error:
        sys.exit(f"refresh: {error}")
