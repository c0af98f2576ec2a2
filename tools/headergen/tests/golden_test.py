"""The sample becomes exactly the files in golden/. `golden_test.py --update` rewrites them, for a reader to judge."""

import json
import subprocess
import sys
import unittest

from sample import GOLDEN, SampleTest


class Golden(SampleTest):
    maxDiff = None

    def test_files(self):
        files = self.files()
        self.assertEqual(sorted(files), sorted(f.relative_to(GOLDEN).as_posix() for f in GOLDEN.rglob("*") if f.is_file()))
        for path, text in files.items():
            with self.subTest(path):
                self.assertMultiLineEqual((GOLDEN / path).read_text(encoding="utf-8"), text)

    def test_compiles_as_c99_and_cpp17(self):
        self.assertEqual(self.headergen()[0], 0)
        for command in (["gcc", "-std=c99", "-xc"], ["g++", "-std=c++17", "-xc++"]):
            for header in ("sample.h", "sample/box.h", "sample/more.h"):
                subprocess.run([*command, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-Iinclude", "-"],
                               input=f'#include "{header}"\n', text=True, check=True, cwd=self.root)

    def test_values_and_layout(self):
        abi = json.loads(self.files()["abi.json"])
        values = {c["name"]: c["value"] for c in abi["constants"]}
        self.assertEqual(values["HURRAY_WIDTH_MAX"], 2**64 - 1)
        self.assertEqual(values["HURRAY_COLDEST"], -(2**63))
        self.assertEqual(values["HURRAY_COLOUR_BLUE"], 254)
        self.assertEqual(values["HURRAY_HIGH_BIT"], 2**31)
        self.assertEqual(values["HURRAY_NAME"], "sample")
        info = next(s for s in abi["structs"] if s["name"] == "HurrayBoxInfo")
        self.assertEqual((info["size"], info["align"]), (32, 8))
        self.assertEqual([f["offset"] for f in info["fields"]], [0, 4, 5, 8, 16, 24])

    def test_is_deterministic(self):
        self.assertEqual(self.files(), self.files())


if __name__ == "__main__":
    if "--update" in sys.argv:
        case = Golden("test_files")
        case.setUp()
        for path, text in case.files().items():
            (GOLDEN / path).parent.mkdir(parents=True, exist_ok=True)
            (GOLDEN / path).write_text(text, encoding="utf-8")
        case.doCleanups()
    else:
        unittest.main()
