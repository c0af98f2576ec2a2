"""The metadata is read from its one place, and an incomplete one is refused."""

import json
import tempfile
import unittest
from pathlib import Path

from tools.packaging import metadata

ROOT = Path(__file__).parents[3]


class MetadataTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for name in ["VERSION", "LICENSE", "tools/packaging/project.json"]:
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_bytes((ROOT / name).read_bytes())
        self.fields = json.loads((ROOT / "tools/packaging/project.json").read_text("utf-8"))

    def with_fields(self, **changes):
        fields = {**self.fields, **changes}
        fields = {name: value for name, value in fields.items() if value is not None}
        (self.root / "tools/packaging/project.json").write_text(json.dumps(fields), "utf-8")
        return metadata.load(self.root)

    def test_version_and_licence_are_the_files(self):
        loaded = metadata.load()
        self.assertEqual(loaded.version, (ROOT / "VERSION").read_text().strip())
        self.assertEqual(loaded.licence_text, (ROOT / "LICENSE").read_bytes())
        self.assertEqual(loaded.name, "hurray")

    def test_a_raised_version_is_seen(self):
        (self.root / "VERSION").write_text("2.0.10\n")
        self.assertEqual(metadata.load(self.root).version, "2.0.10")

    def test_versions_that_communities_write_differently_are_refused(self):
        for version in ["1.2", "1.2.3-rc1", "v1.2.3", "01.2.3", ""]:
            (self.root / "VERSION").write_text(version)
            with self.subTest(version=version), self.assertRaises(metadata.MetadataError):
                metadata.load(self.root)

    def test_a_missing_or_wrong_field_is_refused(self):
        for change in [{"url": None}, {"name": ""}, {"authors": "one"}, {"keywords": []}, {"homepage": "x"}]:
            with self.subTest(change=change), self.assertRaises(metadata.MetadataError):
                self.with_fields(**change)

    def test_a_licence_that_is_not_the_text_is_refused(self):
        (self.root / "LICENSE").write_text("All rights reserved.")
        with self.assertRaises(metadata.MetadataError):
            metadata.load(self.root)


if __name__ == "__main__":
    unittest.main()
