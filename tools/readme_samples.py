#!/usr/bin/env python3
"""Keeps the code in READMEs equal to samples that a test compiles and runs.

In a README, a marker stands right above a fenced block:

    <!-- sample: samples/first.go#open -->
    ```go
    ...
    ```

The block must be the region `open` of that file (a path relative to the README), which stands there between two comment
lines, in whatever comment syntax the language has:

    // sample: open
    ...
    // end sample

without the indentation that its lines have in common. A block in a programming language without a marker is refused: nobody
tests it. Shell and plain text need none.

    readme_samples.py README...           checks, and fails with what differs
    readme_samples.py --write README...   writes the regions into the READMEs
"""

from __future__ import annotations

import argparse
import difflib
import re
import sys
import textwrap
from pathlib import Path

_MARKER = re.compile(r"<!-- sample: (?P<path>[^#\s]+)#(?P<region>[\w-]+) -->\s*")
_BEGIN = re.compile(r"\W*\bsample: (?P<region>[\w-]+)\W*")
_END = re.compile(r"\W*\bend sample\W*")
_FREE = {"", "sh", "console", "text"}


class SampleError(Exception):
    """What is wrong, with file and line."""


def regions(path: Path) -> dict[str, str]:
    """The regions of a sample file by name."""
    found: dict[str, str] = {}
    name: str | None = None
    lines: list[str] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        begin, end = _BEGIN.fullmatch(line), _END.fullmatch(line)
        if begin:
            if name is not None:
                raise SampleError(f"{path}:{number}: region {begin['region']} begins within region {name}")
            name, lines = begin["region"], []
            if name in found:
                raise SampleError(f"{path}:{number}: region {name} stands here for the second time")
        elif end:
            if name is None:
                raise SampleError(f"{path}:{number}: a region ends, but none began")
            found[name] = textwrap.dedent("\n".join(lines)).strip("\n")
            name = None
        else:
            lines.append(line)
    if name is not None:
        raise SampleError(f"{path}: region {name} has no end")
    return found


def spliced(readme: Path) -> str:
    """The text of a README with every marked block taken from its sample."""
    lines = readme.read_text(encoding="utf-8").splitlines()
    out: list[str] = []
    marker: re.Match[str] | None = None
    index = 0
    while index < len(lines):
        line = lines[index]
        if marker is not None and not line.startswith("```"):
            raise SampleError(f"{readme}:{index + 1}: expected a fenced block right below the marker")
        if not line.startswith("```"):
            marker = _MARKER.fullmatch(line)
            if marker is None and "<!-- sample" in line:
                raise SampleError(f"{readme}:{index + 1}: expected <!-- sample: path#region -->")
            out.append(line)
            index += 1
            continue
        end = next((i for i in range(index + 1, len(lines)) if lines[i].rstrip() == "```"), None)
        if end is None:
            raise SampleError(f"{readme}:{index + 1}: the fenced block has no end")
        language = line[3:].strip()
        if marker is None and language not in _FREE:
            raise SampleError(f"{readme}:{index + 1}: a block of {language} without a marker, so nobody tests it")
        body = lines[index + 1:end]
        if marker is not None:
            sample = readme.parent / marker["path"]
            if not sample.is_file():
                raise SampleError(f"{readme}:{index}: there is no file {marker['path']}")
            known = regions(sample)
            if marker["region"] not in known:
                raise SampleError(f"{readme}:{index}: {marker['path']} has no region {marker['region']}")
            body = known[marker["region"]].splitlines()
        out += [line, *body, lines[end]]
        marker = None
        index = end + 1
    if marker is not None:
        raise SampleError(f"{readme}: ends with a marker")
    return "\n".join(out) + "\n"


def main(arguments: list[str]) -> int:
    """Runs the command; returns its exit code."""
    parser = argparse.ArgumentParser(description="Code in READMEs equals tested samples.")
    parser.add_argument("--write", action="store_true", help="write the samples into the READMEs")
    parser.add_argument("readme", nargs="+", type=Path)
    options = parser.parse_args(arguments)
    failed = False
    for readme in options.readme:
        try:
            old, new = readme.read_text(encoding="utf-8"), spliced(readme)
        except (OSError, SampleError) as error:
            print(error, file=sys.stderr)
            failed = True
            continue
        if old == new:
            continue
        if options.write:
            readme.write_text(new, encoding="utf-8")
            print(f"wrote {readme}")
            continue
        failed = True
        sys.stderr.writelines(difflib.unified_diff(
            old.splitlines(keepends=True), new.splitlines(keepends=True), str(readme), f"{readme} (samples)"))
        print(f"{readme}: differs from its samples; run tools/readme_samples.py --write {readme}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
