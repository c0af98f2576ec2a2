"""The golden vectors on disk are those that the generator makes, and the check says so when they are not."""

import contextlib
import io
import json
import pathlib
import tempfile
import unittest

import generate

FOLDER = pathlib.Path("tests/golden/descriptors")


def check(folder, wanted):
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        return generate.check(folder, wanted), output.getvalue()


class GeneratorTest(unittest.TestCase):
    def test_vectors_are_not_stale(self):
        fresh, output = check(FOLDER, generate.files())
        self.assertTrue(fresh, output)

    def test_check_names_stale_missing_and_foreign_files(self):
        wanted = generate.files()
        paths = sorted(wanted)
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            generate.write(folder, wanted)
            self.assertEqual(check(folder, wanted), (True, ""))
            (folder / paths[0]).write_bytes(b"changed")
            (folder / paths[1]).unlink()
            (folder / "valid" / "foreign.bin").write_bytes(b"")
            fresh, output = check(folder, wanted)
            self.assertFalse(fresh)
            self.assertIn(f"stale: {paths[0]}", output)
            self.assertIn(f"missing: {paths[1]}", output)
            self.assertIn("not made by the generator: valid/foreign.bin", output)
            generate.write(folder, wanted)
            self.assertEqual(check(folder, wanted), (True, ""))

    def test_there_are_at_least_400_of_each(self):
        manifest = json.loads(generate.files()["manifest.json"])
        self.assertGreaterEqual(len(manifest["valid"]), 400)
        self.assertGreaterEqual(len(manifest["invalid"]), 400)

    def test_all_inputs_differ(self):
        data = [content for path, content in generate.files().items() if path.endswith(".bin")]
        self.assertEqual(len(data), len(set(data)))


if __name__ == "__main__":
    unittest.main()
