#!/usr/bin/env python3
"""Writes vectors.json; with --check says whether the file on disk is what it would write.

For each valid descriptor of tests/golden/dense_vectors.py: its bytes and fields, the bytes that it needs before and from
element (0, ..., 0) on, and the offset of each element, in elements from byte_offset, in row-major order of the indices.
"""

import argparse
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
for folder in (HERE, HERE.parents[3] / "tests" / "golden"):
    if folder.is_dir():
        sys.path.insert(0, str(folder))

import dense_layouts  # noqa: E402
import dense_vectors  # noqa: E402
from wire import DYNAMIC  # noqa: E402


def valid(name, tensor, addressed):
    layout, shape = tensor.layout, tensor.shape
    below, above = dense_layouts.room(layout, tensor.type_tag, shape) if addressed else (0, 0)
    entry = {
        "name": name,
        "bytes": tensor.encoded().hex(),
        "layout_tag": tensor.layout_tag,
        "type_tag": tensor.type_tag,
        "shape": shape,
        "byte_offset": tensor.byte_offset,
        "layout_fields": layout.as_json(),
        "below": below,
        "above": above,
    }
    if addressed and DYNAMIC not in shape:
        entry["offsets"] = [layout.offset(shape, index) for index in dense_layouts.indices(shape)]
    return entry


def text():
    lists = {
        "valid": [valid(name, tensor, True) for name, tensor in dense_vectors.all_valid()],
        "large": [valid(name, tensor, False) for name, tensor in dense_vectors.large()],
    }
    for entries in lists.values():
        names = [entry["name"] for entry in entries]
        if len(set(names)) != len(names):
            raise ValueError("two vectors of one name")
    # One line a vector, so that a change of one is a change of one line.
    parts = [
        json.dumps(key) + ": [\n" + ",\n".join("  " + json.dumps(entry) for entry in entries) + "\n]"
        for key, entries in lists.items()
    ]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 when the file is stale")
    path = HERE / "vectors.json"
    if parser.parse_args().check:
        return 0 if path.read_text() == text() else 1
    path.write_text(text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
