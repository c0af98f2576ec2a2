"""The command tools/requirements/requirements: see --help."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from . import check, document, entries, exchange, ownership, pages, sentences

SHARED = "HURRAY_SHARED"
ERRORS = (entries.EntryError, document.DocumentError, exchange.ExchangeError, ownership.OwnershipError)


def contract_of(requirements: entries.Requirements, root: Path) -> Path | None:
    """The contract's text: in the folder of shared data, or in `shared` beside the project. None where it is not here."""
    given = os.environ.get(SHARED)
    path = (Path(given) if given else root.parent / "shared") / requirements.contract
    return path if path.is_file() else None


def problems(root: Path) -> list[str]:
    """All that is wrong, in the order: file, tests, sentences, page. Says on standard output when the contract is not here."""
    try:
        requirements = entries.load(root / document.ENTRIES)
        found = check.proofs(requirements, root)
        contract = contract_of(requirements, root)
        if contract is None:
            print(f"{document.ENTRIES}: the contract is not here, so sentences were not compared; {SHARED} names the folder of "
                  f"{requirements.contract}")
        else:
            found += check.sentences(requirements, sentences.parse(contract.read_text(encoding="utf-8")))
        for path, text in document.generate(root).items():
            if (root / path).read_text(encoding="utf-8") != text:
                found.append(f"{path}: a generated part is stale; run tools/refresh")
    except ERRORS as error:
        return [str(error)]
    return found


def main(arguments: list[str], root: Path) -> int:
    """Runs the command; returns its exit code."""
    parser = argparse.ArgumentParser(prog="requirements",
                                     description="Which test proves which sentence of the C ABI's contract.")
    parser.add_argument("command", choices=("check", "write", "sentences"),
                        help=f"check: fail with what is wrong; write: the generated parts of {document.PAGE}, and {pages.PAGE} "
                        "(tools/refresh does it, too); sentences: print each sentence with its entry, sha256, section and words of obligation")
    options = parser.parse_args(arguments)
    if options.command == "check":
        found = problems(root) + pages.problems(root)
        for problem in found:
            print(problem, file=sys.stderr)
        return 1 if found else 0
    try:
        if options.command == "write":
            for path, text in {**document.generate(root), **pages.generate(root)}.items():
                (root / path).write_text(text, encoding="utf-8")
            return 0
        return _print_sentences(root)
    except ERRORS as error:
        print(error, file=sys.stderr)
        return 1


def _print_sentences(root: Path) -> int:
    requirements = entries.load(root / document.ENTRIES)
    contract = contract_of(requirements, root)
    if contract is None:
        print(f"{requirements.contract} is not here; set {SHARED}", file=sys.stderr)
        return 1
    ids = {entry.digest: entry.id for entry in requirements.entries}
    for sentence in sentences.parse(contract.read_text(encoding="utf-8")):
        words = ", ".join(sentence.strengths)
        print(f"{ids.get(sentence.digest, '-'):14} {sentence.digest} {sentence.section} [{words}] {sentence.text}")
    return 0
