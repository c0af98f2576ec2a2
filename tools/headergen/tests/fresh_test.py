"""The repository's generated files are what the sources say. The command that mends it: tools/refresh."""

import subprocess
import sys
import unittest

from sample import ROOT


class Fresh(unittest.TestCase):
    def test_all_generated_files(self):
        # docs/coverage.md depends on every source of the bindings: coverage_test looks at it, which is quicker.
        run = subprocess.run([sys.executable, str(ROOT / "tools/refresh"), "--check", "--without", "coverage_page"],
                             capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 0, f"\n{run.stdout}\n{run.stderr}")
        self.assertIn("files are fresh", run.stdout)


if __name__ == "__main__":
    unittest.main()
