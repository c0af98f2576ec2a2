#!/usr/bin/env python3
"""Writes vectors.json; with --check says whether the file on disk is what it would write.

For each valid vector: the encoded descriptor, its fields, the bytes that it needs before and from element (0, ..., 0) on,
and the offset of each element, in elements from byte_offset, in row-major order of the indices.
"""

import argparse
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
for folder in (HERE, HERE.parents[3] / "tests" / "golden"):
    if folder.is_dir():
        sys.path.insert(0, str(folder))

import layouts  # noqa: E402
import vectors  # noqa: E402


def valid(name, dense, addressed):
    below, above = dense.room() if addressed else (0, 0)
    fields = dense.layout.as_json()
    entry = {
        "name": name,
        "bytes": dense.encoded().hex(),
        "layout_tag": dense.layout_tag(),
        "type_tag": dense.type_tag,
        "shape": dense.shape,
        "byte_offset": dense.start(),
        "layout_fields": fields,
        "below": below,
        "above": above,
    }
    if addressed and layouts.wire.DYNAMIC not in dense.shape:
        entry["offsets"] = [dense.layout.offset(dense.shape, index) for index in layouts.indices(dense.shape)]
    return entry


def invalid(name, dense, field):
    encoded = dense.encoded()
    if dense.length is not None:
        encoded = encoded[: dense.length]
    # The name that a message has: without level, index and table.
    plain = re.sub(r"level \d+: |buffers\[\d+\]\.|\[\d+\]", "", field)
    return {"name": name, "bytes": encoded.hex(), "offset": dense.offset_of(field), "field": plain}


def text():
    lists = {
        "valid": [valid(name, dense, True) for name, dense in vectors.all_valid()],
        "large": [valid(name, dense, False) for name, dense in vectors.large()],
        "invalid": [invalid(*entry) for entry in vectors.all_invalid()],
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
