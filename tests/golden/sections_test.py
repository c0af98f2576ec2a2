"""The vectors of sections on disk are those that the generator makes, and no two are the same."""

import json
import pathlib
import unittest

import generate_sections


class SectionsTest(unittest.TestCase):
    def test_vectors_are_not_stale(self):
        found = pathlib.Path("tests/golden/sections.json").read_text(encoding="utf-8")
        self.assertEqual(found == generate_sections.text(), True, "run tests/golden/generate_sections.py")

    def test_names_and_inputs_differ(self):
        document = json.loads(generate_sections.text())
        for kind in ("valid", "invalid"):
            names = [entry["name"] for entry in document[kind]]
            self.assertEqual(len(names), len(set(names)))
        inputs = [entry["bytes"] for kind in ("valid", "invalid") for entry in document[kind]]
        self.assertEqual(len(inputs), len(set(inputs)))


if __name__ == "__main__":
    unittest.main()
