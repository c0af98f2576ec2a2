#!/usr/bin/env python3
"""Writes the golden descriptors and their manifest; with --check says whether those on disk are what it would write.

An independent implementation in plain Python (see wire.py): the C++ library must agree with it byte for byte.
"""

import argparse
import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import dense_vectors  # noqa: E402
import invalid_descriptors  # noqa: E402
import invalid_layouts  # noqa: E402
import invalid_sections  # noqa: E402
import invalid_with_options  # noqa: E402
import rebuilt  # noqa: E402
import valid_descriptors  # noqa: E402
import valid_layouts  # noqa: E402
import valid_sections  # noqa: E402
import valid_with_options  # noqa: E402
from invalid_descriptors import STRUCTURE, Refused  # noqa: E402

def in_words(name):
    return name.replace("_", " ")


def all_valid():
    """Name, description, descriptor and options of the reader."""
    for name, description, descriptor in valid_descriptors.all_valid():
        yield name, description, descriptor, []
    for group in (valid_sections, valid_layouts):
        for name, descriptor in group.all_valid():
            yield name, in_words(name), descriptor, []
    for name, descriptor, options in valid_with_options.all_valid():
        yield name, in_words(name), descriptor, options


def all_invalid():
    """Inputs with their errors, and options of the reader."""
    for wrong in invalid_descriptors.all_invalid():
        yield wrong, []
    for group in (invalid_sections, invalid_layouts):
        for name, descriptor, code, field in group.all_wrong():
            yield refused(name, descriptor, code, field), []
    for name, descriptor, field in dense_vectors.all_invalid():
        yield refused(name, descriptor, STRUCTURE, field), []
    for name, descriptor, code, field, options in invalid_with_options.all_wrong():
        yield refused(name, descriptor, code, field), options


def refused(name, descriptor, code, field):
    # A length that was given says where the input ends.
    data = descriptor.encoded()[: descriptor.length]
    named = None if field.startswith("@") else field
    return Refused(name, in_words(name), data, code, descriptor.offset_of(field.lstrip("@")), named)


def field_in_message(field):
    """The name that a message has: without level, index, table, and what tells fields of one name apart."""
    return re.sub(r"statistics |scheme_(?=flags)|member_(?=reserved)|(?<=reserved)2|level \d+: |buffers\[\d+\]\.|\[\d+\]", "", field)


def files():
    """All files by their path below the folder, with their content."""
    result = {}
    manifest = {"format_version": "1.0", "valid": [], "invalid": []}

    def add(kind, name, data, entry):
        path = f"{kind}/{name}.bin"
        if path in result:
            raise ValueError(f"{path}: two vectors of this name")
        result[path] = data
        manifest[kind].append({"name": name, "file": path, **entry})

    for name, description, descriptor, options in all_valid():
        entry = {"description": description, "descriptor": descriptor.as_json()}
        if options:
            entry["options"] = options
        entry.update(rebuilt.expected(descriptor, options))
        add("valid", name, descriptor.encoded(), entry)
    for wrong, options in all_invalid():
        error = {"code": wrong.code, "name": invalid_descriptors.NAMES[wrong.code], "offset": wrong.offset}
        entry = {"description": wrong.description, "error": error}
        if wrong.field is not None:
            entry["field"] = field_in_message(wrong.field)
        if options:
            entry["options"] = options
        add("invalid", wrong.name, wrong.data, entry)
    text = ",\n".join(json.dumps(key) + ": " + section(value) for key, value in manifest.items())
    result["manifest.json"] = ("{\n" + text + "\n}\n").encode()
    return result


def section(value):
    """JSON with one line a vector, so that a change of one is a change of one line."""
    if isinstance(value, str):
        return json.dumps(value)
    return "[\n" + ",\n".join("  " + json.dumps(entry) for entry in value) + "\n]"


def on_disk(folder):
    return {
        str(path.relative_to(folder).as_posix()): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix in (".bin", ".json")
    }


def check(folder, wanted):
    """Prints every difference; true when there is none."""
    found = on_disk(folder)
    problems = [f"missing: {path}" for path in sorted(wanted.keys() - found.keys())]
    problems += [f"not made by the generator: {path}" for path in sorted(found.keys() - wanted.keys())]
    problems += [f"stale: {path}" for path in sorted(wanted.keys() & found.keys()) if wanted[path] != found[path]]
    for problem in problems:
        print(problem)
    if problems:
        print("run tests/golden/generate.py")
    return not problems


def write(folder, wanted):
    for path in on_disk(folder).keys() - wanted.keys():
        (folder / path).unlink()
    for path, data in wanted.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 when something is stale")
    parser.add_argument(
        "--folder",
        type=pathlib.Path,
        default=pathlib.Path(__file__).resolve().parent / "descriptors",
        help="where the vectors are (default: descriptors beside this program)",
    )
    arguments = parser.parse_args()
    wanted = files()
    if arguments.check:
        return 0 if check(arguments.folder, wanted) else 1
    write(arguments.folder, wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main())
