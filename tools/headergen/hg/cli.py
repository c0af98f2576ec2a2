"""The command headergen."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from . import clang, facts, output, profile, run, symbols


def repository() -> Path:
    """The root of the repository (or of a test's runfiles) that this file belongs to; symbolic links are not followed."""
    return Path(__file__).absolute().parents[3]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="headergen", description="Generates C headers and abi.json from the annotated C++ sources of the C ABI.")
    parser.add_argument("--profile", default="abi/headergen.json", help="profile file (default: %(default)s)")
    parser.add_argument("--root", type=Path, default=repository(), help="root of the repository")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--check", action="store_true", help="change nothing; fail with a diff when a generated file is stale")
    what.add_argument("--symbols", type=Path, metavar="LIBRARY",
                      help="change nothing; fail when the library does not export exactly what the headers declare")
    what.add_argument("--freeze", action="store_true", help="make the present ABI the frozen one (the snapshot)")
    options = parser.parse_args(arguments)
    root = options.root.absolute()
    try:
        chosen = profile.load(root, options.profile)
        abi = run.read_abi(clang.require(), root, chosen)
    except profile.ProfileError as error:
        return _fail(str(error))
    except run.Refused as refused:
        return _fail(f"{refused}\nheadergen: refused, nothing was written")
    if options.symbols:
        return _symbols(options.symbols, abi, chosen)
    if options.freeze:
        return _freeze(root, chosen, abi)
    broken = snapshot_problems(root, chosen, abi)
    if broken:
        return _fail("\n".join(broken))
    files = run.generate(root, chosen, abi)
    if options.check:
        difference = output.differences(root, files)
        if difference:
            sys.stdout.write(difference)
            return _fail("headergen: generated files are stale; run tools/refresh")
        print(f"headergen: {len(files)} files are fresh")
        return 0
    for path in output.write(root, files):
        print(f"headergen: wrote {path}")
    return 0


def snapshot_problems(root: Path, chosen: profile.Profile, abi: dict) -> list[str]:
    """What the sources break of the frozen ABI."""
    frozen = facts.load(root, chosen.snapshot)
    if frozen is None:
        return [f"{chosen.snapshot}: the frozen ABI is missing; headergen --freeze makes it"]
    broken, _ = facts.compare(frozen, facts.of(abi), version_constant=chosen.version_constant, released=chosen.released)
    if not broken:
        return []
    return [*(f"{chosen.snapshot}: {text}" for text in broken),
            f"headergen: the sources break the frozen ABI (version {frozen['abi_version']}, generation {frozen['generation']}); "
            f"a removal or change needs a higher {chosen.version_constant} and generation (abi.generation in {chosen.file})"]


def _symbols(library: Path, abi: dict, chosen: profile.Profile) -> int:
    try:
        wrong = symbols.compare(library, abi, chosen.version_nodes)
    except symbols.SymbolError as error:
        return _fail(f"headergen: {error}")
    if wrong:
        return _fail("\n".join([*wrong, "headergen: library and headers disagree"]))
    print(f"headergen: {library.name} exports exactly the {len(abi['functions'])} declared functions")
    return 0


def _freeze(root: Path, chosen: profile.Profile, abi: dict) -> int:
    now = facts.of(abi)
    frozen = facts.load(root, chosen.snapshot)
    if frozen is not None:
        broken, added = facts.compare(frozen, now, version_constant=chosen.version_constant, released=chosen.released)
        for text in [*broken, *added]:
            print(f"headergen: {text}")
        if broken and chosen.released:
            return _fail("headergen: refused: what was released cannot be changed within its generation")
    output.write(root, {chosen.snapshot: facts.dump(now)})
    print(f"headergen: froze version {now['abi_version']} in {chosen.snapshot}")
    return 0


def _fail(text: str) -> int:
    print(text, file=sys.stderr)
    return 1
