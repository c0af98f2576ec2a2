"""Everything public in hurray.hpp has a comment, and API.md says what the headers say."""

from __future__ import annotations

import os
import tempfile
import unittest
from pathlib import Path

from bindings.cpp import api_reference


class Headers(unittest.TestCase):
    def test_everything_public_is_documented_and_the_page_is_fresh(self) -> None:
        headers = api_reference.read_all(Path("."))
        self.assertGreater(sum(len(items) for _, _, items in headers), 40)
        self.assertEqual([line for _, _, items in headers for line in api_reference.undocumented(items)], [])
        text = Path("bindings/cpp/API.md").read_text(encoding="utf-8")
        self.assertEqual(text, api_reference.page(headers), "run bindings/cpp/api_reference.py --write")


class Rules(unittest.TestCase):
    def parse(self, code: str) -> list[api_reference.Item]:
        with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as folder:
            header = Path(folder) / "x.hpp"
            header.write_text(code, encoding="utf-8")
            return api_reference.parse(header, [], [header])[0]

    def test_what_has_no_comment_is_found(self) -> None:
        items = self.parse(
            "namespace hurray {\nnamespace detail { struct Hidden {}; }\n/// Told.\nclass A {\n public:\n  A() = default;\n  int told() const;  // not this kind\n"
            "  /// Told.\n  int other() const { return 1; }\n private:\n  int hidden;\n};\nint free_one();\ninline int A::told() const { return 0; }\n}\n"
        )
        self.assertEqual([line.split(": ")[1] for line in api_reference.undocumented(items)], ["told has no comment", "free_one has no comment"])

    def test_declarations_stand_there_without_bodies(self) -> None:
        (item,) = self.parse("namespace hurray {\n/// Told\n/// twice.\ntemplate <typename T>\nT twice(T value = T(1)) { return value + value; }\n}\n")
        self.assertEqual((item.code, item.text), ("template <typename T> T twice(T value = T(1))", "Told twice."))

    def test_a_header_that_does_not_compile_is_an_error(self) -> None:
        with self.assertRaisesRegex(ValueError, "expected"):
            self.parse("namespace hurray { int x( }\n")


if __name__ == "__main__":
    unittest.main()
