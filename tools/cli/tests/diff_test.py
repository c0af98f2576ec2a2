"""diff: structure, values with a tolerance, descriptors, exit codes."""

import math
import pathlib
import unittest

import support

GOLDEN = pathlib.Path("tests/golden/descriptors")


class DiffTest(support.CliTest):
    def file(self, name, tensors, **more):
        return self.write(name, support.safetensors(tensors, **more))

    def differences(self, *arguments, code=support.FINDING):
        got = support.json_of("diff", "--json", *arguments, check=code)
        self.assertEqual(got["same"], code == support.GOOD)
        return [(d["tensor"], d["what"]) for d in got["differences"]]

    def test_the_same_is_the_same(self):
        tensors = {"x": ("F32", (3,), [1, math.nan, -0.0]), "i": ("I64", (1,), [2**63 - 1])}
        a, b = self.file("a.safetensors", tensors), self.file("b.safetensors", tensors, align=64)
        self.assertIn("no differences", support.output("diff", a, b))
        self.assertEqual(self.differences(a, b, code=support.GOOD), [])

    def test_structure(self):
        a = self.file("a.safetensors", {"x": ("F32", (2,), [1, 2]), "y": ("F32", (2, 1), [1, 2]), "l": ("I8", (1,), [1])},
                      metadata={"k": "1", "a": "b"})
        b = self.file("b.safetensors", {"x": ("F64", (2,), [1, 2]), "y": ("F32", (1, 2), [1, 2]), "r": ("I8", (1,), [1])},
                      metadata={"k": "2"})
        self.assertEqual(set(self.differences(a, b)), {("x", "type"), ("y", "shape"), ("l", "missing_right"), ("r", "missing_left"),
                                                       ("", "metadata k"), ("", "metadata a")})
        self.assertEqual(self.differences("--values-only", "--only", "x", a, b, code=support.GOOD), [])

    def test_values_and_tolerance(self):
        a = self.file("a.safetensors", {"x": ("F32", (2, 2), [1, 2, 3, 100])})
        b = self.file("b.safetensors", {"x": ("F32", (2, 2), [1, 2.25, 3, 101])})
        text = support.output("diff", a, b, check=support.FINDING)
        self.assertIn("2 of 4 elements differ, most at [1, 1]: 100 and 101 (by 1)", text)
        self.assertEqual(self.differences(a, b), [("x", "values")])
        self.differences("--atol", "1", a, b, code=support.GOOD)
        self.differences("--rtol", "0.01", a, b)
        self.differences("--rtol", "0.01", "--atol", "0.25", a, b, code=support.GOOD)
        self.differences("--structure-only", a, b, code=support.GOOD)

    def test_nan_infinity_and_large_integers(self):
        a = self.file("a.safetensors", {"n": ("F32", (1,), [math.nan]), "f": ("F32", (1,), [math.inf]), "i": ("I64", (1,), [2**62])})
        b = self.file("b.safetensors", {"n": ("F32", (1,), [0]), "f": ("F32", (1,), [-math.inf]), "i": ("I64", (1,), [2**62 + 1])})
        self.assertEqual(self.differences("--atol", "1e30", a, b), [("n", "values"), ("f", "values")])
        self.assertEqual(self.differences(a, b), [("n", "values"), ("f", "values"), ("i", "values")])

    def test_streams_by_place(self):
        a = self.file("a.safetensors", {"x": ("F32", (1,), [1]), "y": ("F32", (1,), [2])})
        support.output("convert", a, self.folder / "a.stream")
        self.differences(a, self.folder / "a.stream", code=support.GOOD)
        support.output("convert", "--only", "x", a, self.folder / "b.stream")
        self.assertEqual(self.differences(self.folder / "a.stream", self.folder / "b.stream"), [("#1", "missing_right")])

    def test_descriptors_field_by_field(self):
        one, two = GOLDEN / "valid/type_float16.bin", GOLDEN / "valid/type_int8.bin"
        self.assertEqual(self.differences(one, one, code=support.GOOD), [])
        self.assertIn(("", "type_tag"), self.differences(one, two))

    def test_wrong_usage_and_input(self):
        a = self.file("a.safetensors", {})
        self.assert_fails(support.USAGE, "diff", a)
        self.assert_fails(support.USAGE, "diff", "-", "-")
        self.assert_fails(support.USAGE, "diff", "--atol", "-1", a, a)
        self.assert_fails(support.UNREADABLE, "diff", a, self.folder / "missing")


if __name__ == "__main__":
    unittest.main()
