"""The benchmark measures what it says; its figures mean nothing here."""

from __future__ import annotations

import json
import subprocess
import unittest


class BenchTest(unittest.TestCase):
    def test_every_comparison_is_a_line_with_its_figures(self) -> None:
        done = subprocess.run(["bindings/csharp/arrow_bench", "--smoke"], capture_output=True, text=True, check=True)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(
            [line["name"] for line in lines],
            [
                "csharp/exchange_vs_arrow_with_schema",
                "csharp/exchange_vs_arrow_array_alone",
                "csharp/exchange_of_pointers_vs_arrow_array_alone",
            ],
        )
        for line in lines:
            self.assertGreater(line["ours_ns"], 0)
            self.assertGreater(line["theirs_ns"], 0)
            # Allocations, unlike times, are the same in every run.
            self.assertLessEqual(line["our_bytes"], line["their_bytes"])

    def test_other_arguments_are_refused(self) -> None:
        done = subprocess.run(["bindings/csharp/arrow_bench", "--fast"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("usage", done.stderr)


if __name__ == "__main__":
    unittest.main()
