"""What a program of version N needs of the library: all that its frozen header declares, and nothing of a later version."""

import json
import re
import subprocess
import unittest
from pathlib import Path

ROOT = Path.cwd()
VERSIONS = (1, 2, 3, 4)
LIBRARY = "libhurray.so.1"


def needed(program: Path) -> dict[str, str]:
    """Undefined hurray_ symbols of a program, each with the version node in which the linker found it."""
    run = subprocess.run(["objdump", "-T", str(program)], capture_output=True, text=True, check=True)
    found = {}
    for line in run.stdout.splitlines():
        match = re.search(r"\*UND\*\s+[0-9a-f]+\s+(?:\(?(\w+)\)?\s+)?(hurray_\w+)$", line)
        if match:
            found[match[2]] = match[1] or ""
    return found


def nodes_by_library(program: Path) -> dict[str, set[str]]:
    """The version nodes that the loader asks each library for before it starts the program."""
    run = subprocess.run(["readelf", "-V", "--wide", str(program)], capture_output=True, text=True, check=True)
    found: dict[str, set[str]] = {}
    library = ""
    for line in run.stdout.splitlines():
        if match := re.search(r"Version: \d+\s+File: (\S+)", line):
            library = match[1]
            found[library] = set()
        elif match := re.search(r"Name: (\S+)\s+Flags:", line):
            found[library].add(match[1])
    return found


class Symbols(unittest.TestCase):
    def test_each_program_needs_what_its_version_declares_and_no_more(self):
        for version in VERSIONS:
            with self.subTest(version=version):
                header = (ROOT / f"abi/frozen/v{version}/hurray.h").read_text(encoding="utf-8")
                declared = set(re.findall(r"^\w+ (hurray_\w+)\(", header, re.MULTILINE))
                self.assertGreaterEqual(len(declared), 3)
                self.assertEqual(set(needed(self.program(version))), declared)

    def test_symbols_come_from_the_nodes_of_their_versions(self):
        since = {f["name"]: f["since"] for f in json.loads((ROOT / "abi/abi.json").read_text(encoding="utf-8"))["functions"]}
        for version in VERSIONS:
            with self.subTest(version=version):
                for name, node in needed(self.program(version)).items():
                    self.assertEqual(node, f"HURRAY_{since[name]}", name)
                    self.assertLessEqual(since[name], version, name)

    def test_loader_is_asked_for_nodes_up_to_the_version(self):
        for version in VERSIONS:
            with self.subTest(version=version):
                self.assertEqual(nodes_by_library(self.program(version))[LIBRARY],
                                 {f"HURRAY_{v}" for v in range(1, version + 1)})

    def test_each_version_brought_something_of_its_own(self):
        programs = [set(needed(self.program(version))) for version in VERSIONS]
        for older, newer in zip(programs, programs[1:]):
            self.assertLess(older, newer)

    @staticmethod
    def program(version: int) -> Path:
        return ROOT / f"abi/tests/frozen/v{version}_program"


if __name__ == "__main__":
    unittest.main()
