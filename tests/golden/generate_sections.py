#!/usr/bin/env python3
"""Writes sections.json, the vectors of sections.py; with --check says whether the file is what it would write."""

import argparse
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import sections  # noqa: E402


def text():
    """JSON with one line a vector, so that a change of one is a change of one line."""
    parts = [
        json.dumps(kind) + ": [\n" + ",\n".join("  " + json.dumps(entry) for entry in entries) + "\n]"
        for kind, entries in sections.document().items()
    ]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 when the file is stale")
    default = pathlib.Path(__file__).resolve().parent / "sections.json"
    parser.add_argument("--file", type=pathlib.Path, default=default, help="where the vectors are")
    arguments = parser.parse_args()
    if arguments.check:
        if arguments.file.is_file() and arguments.file.read_text(encoding="utf-8") == text():
            return 0
        print(f"stale: {arguments.file}; run tests/golden/generate_sections.py")
        return 1
    arguments.file.write_text(text(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
