"""Compares the entries with the contract's sentences and with the tests that there are. Problems are lines of text."""

from __future__ import annotations

from pathlib import Path

from . import build_files, test_names
from .entries import Proof, Requirements
from .sentences import Sentence, digest


def sentences(requirements: Requirements, contract: list[Sentence]) -> list[str]:
    """Every sentence that obliges has an entry, and every entry is about a sentence and says what it is."""
    problems: list[str] = []
    by_digest = {sentence.digest: sentence for sentence in contract}
    known = {entry.digest for entry in requirements.entries}
    for sentence in by_digest.values():
        if sentence.strengths and sentence.digest not in known:
            problems.append(f"no entry for a sentence of \"{sentence.section}\" with {' and '.join(sentence.strengths)}, which "
                            f"begins \"{sentence.text[:60]}\" (sha256 {sentence.digest})")
    for entry in requirements.entries:
        sentence = by_digest.get(entry.digest)
        if sentence is None:
            problems.append(f"{entry.id}: no sentence of the contract has the sha256 {entry.digest}")
            continue
        if entry.section != sentence.section:
            problems.append(f"{entry.id}: section \"{entry.section}\", but the sentence stands in \"{sentence.section}\"")
        if entry.strengths != sentence.strengths:
            problems.append(f"{entry.id}: strength {list(entry.strengths)}, but the sentence has {list(sentence.strengths)}")
        if digest(entry.requirement) == entry.digest:
            problems.append(f"{entry.id}: repeats the contract's words; say what they mean here")
    return problems


def proofs(requirements: Requirements, root: Path) -> list[str]:
    """Every entry has a test, and every test that is named is there and runs."""
    workspace = build_files.Workspace(root)
    problems: list[str] = []
    used: set[str] = set()
    for entry in requirements.entries:
        if not entry.proofs:
            problems.append(f"{entry.id}: no test proves it")
        for proof in entry.proofs:
            if not proof.name:
                used.add(proof.target)
            problems += [f"{entry.id}: {problem}" for problem in _proof(requirements, workspace, proof)]
    for target, reason in requirements.whole_targets.items():
        if target not in used:
            problems.append(f"whole_targets: nothing uses {target}")
        if not isinstance(reason, str) or not reason.strip():
            problems.append(f"whole_targets: {target}: say why the whole target is the proof")
    return problems


def _proof(requirements: Requirements, workspace: build_files.Workspace, proof: Proof) -> list[str]:
    try:
        target = workspace.target(proof.target)
        if "test" not in target.rule:
            return [f"{proof.target} is a {target.rule}, not a test"]
        if "manual" in target.attributes.get("tags", []):
            return [f"{proof.target} is manual: nothing runs it"]
        files = workspace.files(target)
    except build_files.BuildError as error:
        return [str(error)]
    if not proof.name:
        return [] if proof.target in requirements.whole_targets else [
            f"{proof.target}: name a test in it, or say under whole_targets why all of it is the proof"]
    if target.rule == "zig_test":
        package, name = build_files.split(target.attributes["root"], target.package)
        files = test_names.zig_files(workspace.root / package / name)
    if target.rule == "go_test":
        folder = workspace.root / target.package / target.attributes.get("package", ".")
        files = [path for path in files if path.parent == folder]
    names = {name for path in files for name in test_names.of_file(path)}
    if proof.name not in names:
        return [f"{proof.target} has no test {proof.name}"]
    return []
