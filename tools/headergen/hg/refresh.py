"""The command tools/refresh: every generated file of the repository, written or checked."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import emitters

from . import clang, cli, emit, output, profile, run


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="refresh", description="Rewrites all generated files: headers, abi.json, and "
                                                                 "what the emitters make of it.")
    parser.add_argument("--check", action="store_true", help="change nothing; fail with a diff when something is stale")
    parser.add_argument("--without", metavar="EMITTER", help="leave out what this emitter makes")
    parser.add_argument("--root", type=Path, default=cli.repository(), help="root of the repository")
    options = parser.parse_args(arguments)
    root = options.root.absolute()
    cindex = clang.require()
    files: dict[str, str] = {}
    folders: list[str] = []
    for file in emitters.EMITTERS:
        try:
            chosen = profile.load(root, file)
            abi = run.read_abi(cindex, root, chosen)
        except (profile.ProfileError, run.Refused) as error:
            return _fail(f"{error}\nrefresh: refused, nothing was written")
        broken = cli.snapshot_problems(root, chosen, abi)
        if broken:
            return _fail("\n".join(broken))
        files.update(run.generate(root, chosen, abi))
        emitted, owned = emit.emit_all(root, file, files[chosen.abi_json], options.without)
        files.update(emitted)
        folders += owned
    if options.check:
        difference = output.differences(root, files)
        sys.stdout.write(difference)
        stray = output.leftovers(root, folders, files)
        for path in stray:
            print(f"{path}: stands in a folder of generated files, but nothing generates it")
        if difference or stray:
            return _fail("refresh: generated files are stale; run tools/refresh")
        print(f"refresh: {len(files)} files are fresh")
        return 0
    for path in output.write(root, files):
        print(f"refresh: wrote {path}")
    for path in output.leftovers(root, folders, files):
        (root / path).unlink()
        print(f"refresh: removed {path}")
    return 0


def _fail(text: str) -> int:
    print(text, file=sys.stderr)
    return 1
