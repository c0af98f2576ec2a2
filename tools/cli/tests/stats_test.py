"""stats: numbers that NumPy agrees with, and what has none."""

import math
import unittest

import numpy

import support


class StatsTest(support.CliTest):
    def test_numbers_are_numpys(self):
        rng = numpy.random.default_rng(1)
        values = rng.normal(3, 2, 1000).astype(numpy.float32)
        values[::5] = 0
        path = self.write("m.safetensors", support.safetensors({"x": ("F32", (10, 100), values.tobytes())}))
        (tensor,) = support.json_of("stats", "--json", path)["tensors"]
        got = tensor["statistics"]
        self.assertEqual((tensor["name"], tensor["elements"], got["nnz"]), ("x", 1000, 800))
        self.assertEqual(got["value_min"], float(values.min()))
        self.assertEqual(got["value_max"], float(values.max()))
        self.assertAlmostEqual(got["value_mean"], float(values.astype(float).mean()), places=9)
        self.assertAlmostEqual(got["value_stddev"], float(values.astype(float).std()), places=9)
        self.assertEqual(got["sparsity_ratio"], 0.2)
        text = support.output("stats", path)
        self.assertIn("20.0%", text)
        self.assertIn("1000", text)

    def test_nan_infinity_and_nothing(self):
        path = self.write("m.safetensors", support.safetensors(
            {"n": ("F32", (2,), [math.nan, 1]), "i": ("F64", (2,), [math.inf, 1]), "e": ("F32", (0,), []), "s": ("I8", (), [-3])}))
        nan, infinite, empty, scalar = (t["statistics"] for t in support.json_of("stats", "--json", path)["tensors"])
        self.assertEqual((nan["has_nan"], nan["value_max"], nan["value_mean"]), (True, 1.0, None))
        self.assertEqual((infinite["has_inf"], infinite["value_max"]), (True, None))
        self.assertEqual((empty["nnz"], empty["value_min"]), (0, None))
        self.assertEqual(scalar["value_mean"], -3.0)
        self.assertIn("NaN", support.output("stats", path, "n"))

    def test_names_choose(self):
        path = self.write("m.safetensors", support.safetensors({"a": ("I8", (1,), [1]), "b": ("I8", (1,), [1])}))
        self.assertEqual([t["name"] for t in support.json_of("stats", "--json", path, "b")["tensors"]], ["b"])
        self.assert_fails(support.USAGE, "stats", path, "nobody", says="no tensor")

    def test_input_that_cannot_be_read(self):
        bad = self.write("bad.safetensors", support.safetensors({"x": ("BOOL", (1,), [7])}))
        self.assert_fails(support.UNREADABLE, "stats", bad, says="x")
        self.assert_fails(support.UNREADABLE, "stats", self.folder / "missing")


if __name__ == "__main__":
    unittest.main()
