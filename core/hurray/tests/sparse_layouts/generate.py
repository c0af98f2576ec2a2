#!/usr/bin/env python3
"""Writes vectors.json; with --check says whether the file on disk is what it would write.

For each valid vector: the encoded descriptor, its fields, the bytes of its buffers, the elements in the order of storage as
pairs of index and bits, and all elements packed in row-major order. For each tensor of faulty data: the offset of the fault
in its buffer, both null where the data is right after all.
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

import faulty_data  # noqa: E402
import sparse  # noqa: E402
import vectors  # noqa: E402


def fields(name, tensor):
    return {
        "name": name,
        "bytes": tensor.encoded().hex(),
        "layout_tag": tensor.layout_tag,
        "type_tag": tensor.type_tag,
        "shape": tensor.shape,
        "layout_fields": tensor.as_json(),
    }


def valid(name, tensor):
    entry = fields(name, tensor)
    entry["buffers"] = [content.hex() for content in tensor.contents()]
    # Up to 128 bits: more than a number of JSON has.
    entry["elements"] = [[index, f"{tensor.elements[index]:x}"] for index in tensor.stored()]
    entry["dense"] = sparse.dense(tensor.type_tag, tensor.shape, tensor.elements).hex()
    return entry


def invalid(name, tensor, field):
    encoded = tensor.encoded()
    if tensor.length is not None:
        encoded = encoded[: tensor.length]
    offset = tensor.offset_of(field) if field != "statistics nnz" else tensor.offset_of("computed_mask") + 8
    # The name that a message has: without index and table.
    plain = re.sub(r"statistics |buffers\[\d+\]\.|\[\d+\]", "", field)
    if field == "parent_shape[0]":
        plain = "shard"
    quantization = field == "scale_buffer"
    return {
        "name": name,
        "bytes": encoded.hex(),
        "code": -19 if quantization else -3,
        "offset": offset,
        "field": "index" if quantization else plain,
    }


def faulty(name, tensor, buffer, entry, expected):
    result = fields(name, tensor)
    result["buffers"] = [content.hex() for content in tensor.contents()]
    result["offset"] = None if entry is None else 8 * entry
    result["message"] = None if entry is None else f"buffer {buffer} "
    result["expected"] = expected
    return result


def text():
    lists = {
        "valid": [valid(name, tensor) for name, tensor in vectors.valid()],
        "large": [fields(name, tensor) for name, tensor in vectors.large()],
        "invalid": [invalid(*entry) for entry in vectors.all_invalid()],
        "faulty": [faulty(*entry) for entry in faulty_data.found_on_the_way()],
        "duplicates": [faulty(*entry) for entry in faulty_data.found_by_comparing_all()],
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
