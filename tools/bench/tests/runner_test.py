"""What the runner makes of the programs' output."""

import json
import unittest

from runner import instructions, ratios
from runner.rows import Row, chosen, table


def result(name, family, ratio, **other):
    return {
        "name": name,
        "run_name": name + "/manual_time",
        "run_type": "iteration",
        "family_index": family,
        "label": "memset",
        "ratio": ratio,
        "at_least": 0.5,
        "subject_ns": 100.0 / ratio,
        "baseline_ns": 100.0,
        "bytes_per_second": 1.0,
        **other,
    }


class RatiosTest(unittest.TestCase):
    def test_median_of_repetitions_in_the_programs_order(self):
        results = [result("b", 1, 0.3), result("a", 0, 0.9), result("a", 0, 0.2), result("b", 1, 0.4), result("a", 0, 0.6)]
        results.append(result("a_mean", 0, 7.0, run_type="aggregate"))
        first, second = ratios.rows_of(json.dumps({"benchmarks": results}))
        self.assertEqual((first.name, first.value, first.met), ("a", 0.6, True))
        self.assertEqual((first.details["lowest_ratio"], first.details["highest_ratio"]), (0.2, 0.9))
        self.assertEqual((second.name, second.met), ("b", False))
        self.assertAlmostEqual(second.value, 0.35)

    def test_error_of_a_benchmark(self):
        failed = result("a", 0, 1.0, error_occurred=True, error_message="no memory")
        with self.assertRaisesRegex(ratios.BenchmarkFailed, "a: no memory"):
            ratios.rows_of(json.dumps({"benchmarks": [failed]}))

    def test_program_that_fails(self):
        with self.assertRaises(ratios.BenchmarkFailed):
            ratios.run("/bin/false", None, smoke=True)


class RowsTest(unittest.TestCase):
    def test_met(self):
        self.assertTrue(Row("a", "ratio", 0.5, 0.5).met)
        self.assertFalse(Row("a", "ratio", 0.49, 0.5).met)
        self.assertTrue(Row("a", "instructions", 600, 600).met)
        self.assertFalse(Row("a", "instructions", 601, 600).met)
        self.assertFalse(Row("a", "instructions", None, 600).met)
        self.assertIsNone(Row("a", "ratio", 0.5, 0).met)

    def test_chosen(self):
        self.assertTrue(chosen("decode/csr", []))
        self.assertTrue(chosen("decode/csr", ["csr"]))
        self.assertTrue(chosen("decode/csr", ["encode", "decode/*"]))
        self.assertFalse(chosen("decode/csr", ["encode"]))

    def test_table(self):
        details = {"subject_ns": 2000.0, "baseline_ns": 1000.0, "baseline": "memcpy"}
        informs = Row("other", "ratio", 2.0, 0, details)
        self.assertEqual(table([informs]).splitlines()[1].split(), "other 2.00 2.0 us against 1.0 us of memcpy".split())
        text = table([Row("slow", "ratio", 0.5, 0.6, details), Row("unknown", "instructions", None, 5, note="UNSUPPORTED")])
        _, slow, unknown = text.splitlines()
        self.assertEqual(slow.split(), "slow 0.50 >= 0.60 NO 2.0 us against 1.0 us of memcpy".split())
        self.assertEqual(unknown.split(), ["unknown", "-", "<=", "5", "NO", "UNSUPPORTED"])


class InstructionsTest(unittest.TestCase):
    def test_descriptors(self):
        self.assertEqual(len(instructions.ROW_MAJOR), 61)
        for count in instructions.COUNTS:
            self.assertEqual(count.descriptor[:4], b"HRRY")
            self.assertEqual(int.from_bytes(count.descriptor[6:10], "little"), len(count.descriptor))


if __name__ == "__main__":
    unittest.main()
