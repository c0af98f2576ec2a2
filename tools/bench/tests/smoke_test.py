"""Runs every benchmark once with tiny sizes: what it prints is complete, whatever the figures are."""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path


class SmokeTest(unittest.TestCase):
    def run_bench(self, *arguments):
        ran = subprocess.run([os.environ["HURRAY_BENCH"], *arguments], capture_output=True, text=True, check=False)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return ran.stdout

    def test_all(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "result.json")
            table = self.run_bench("--smoke", "--json", str(path))
            rows = json.loads(path.read_text())["rows"]
        ratios = [row for row in rows if row["kind"] == "ratio"]
        self.assertTrue(ratios)
        for row in rows:
            self.assertIn(row["name"], table)
            self.assertGreaterEqual(row["target"], 0)
        for row in ratios:
            self.assertGreater(row["value"], 0, row)
            self.assertGreater(row["details"]["subject_ns"], 0, row)
            self.assertGreater(row["details"]["baseline_ns"], 0, row)

    def test_names(self):
        names = self.run_bench("--list").split()
        self.assertEqual(len(names), len(set(names)))
        self.assertIn("decode+destroy/row_major", names)
        # Each figure is for both sizes.
        sized = [name for name in names if name.endswith(("/256KiB", "/64MiB"))]
        self.assertTrue(sized)
        self.assertEqual(len({name.rpartition("/")[0] for name in sized}) * 2, len(sized))

    def test_unknown_name(self):
        ran = subprocess.run([os.environ["HURRAY_BENCH"], "no such name"], capture_output=True, text=True, check=False)
        self.assertEqual(ran.returncode, 2)
        self.assertIn("no benchmark is called no such name", ran.stderr)


if __name__ == "__main__":
    unittest.main()
