"""cat: text, .npy and raw bytes; slices as NumPy has them."""

import io
import struct
import unittest

import numpy

import support


class CatTest(support.CliTest):
    def setUp(self):
        super().setUp()
        self.array = numpy.arange(24, dtype=numpy.float32).reshape(2, 3, 4) / 4
        self.path = self.write("m.safetensors", support.safetensors(
            {"a": ("F32", (2, 3, 4), self.array.tobytes()), "i": ("I64", (2,), [2**63 - 1, -(2**63)]),
             "s": ("F64", (), [0.1]), "b": ("BOOL", (10,), [1, 0, 1, 1, 0, 0, 0, 0, 1, 1]), "e": ("I8", (0, 3), [])}))

    def npy(self, *arguments):
        return numpy.load(io.BytesIO(support.run("cat", "-f", "npy", self.path, *arguments, check=0).stdout), allow_pickle=False)

    def test_text_reads_back(self):
        text = support.output("cat", self.path, "a")
        rows = [line for line in text.splitlines() if line and not line.startswith("#")]
        got = numpy.array([[float(x) for x in row.split()] for row in rows], dtype=numpy.float32).reshape(2, 3, 4)
        self.assertTrue((got == self.array).all())
        self.assertIn("# [1, :, :]", text)

    def test_integers_of_64_bits_are_exact_and_scalars_are_one_line(self):
        self.assertEqual(support.output("cat", self.path, "i"), f"{2**63 - 1} {-2**63}\n")
        self.assertEqual(support.output("cat", self.path, "s"), "0.1\n")
        self.assertEqual(support.output("cat", self.path, "e"), "")
        self.assertEqual(support.output("cat", self.path, "b"), "1 0 1 1 0 0 0 0 1 1\n")

    def test_slices_are_numpys(self):
        for text in ("0", "-1", ":, 1", "..., 2", "0, ...", "::-1", ":, ::2, 1:-1", "1:1", "0, 1, 2", ":, 5:0:-2, ::3",
                     "-100:100", "[1, :, ::-3]", "...", ":, :, -4:"):
            with self.subTest(text):
                expected = eval(f"self.array[{text.strip('[]')}]")  # noqa: S307: the texts above
                got = self.npy("a", "--slice", text)
                self.assertEqual(got.shape, expected.shape)
                self.assertTrue((got == expected).all())
                raw = support.run("cat", "-f", "raw", self.path, "a", "-s", text, check=0).stdout
                self.assertEqual(raw, numpy.ascontiguousarray(expected).tobytes())

    def test_slices_that_are_none(self):
        for text in ("2", "-3", "a", "1:2:0", "..., ...", "0,0,0,0", "1:2:3:4", "0.5", "99999999999999999999", ","):
            with self.subTest(text):
                self.assert_fails(support.USAGE, "cat", self.path, "a", "--slice=" + text, says="--slice")

    def test_types_in_npy(self):
        self.assertEqual(self.npy("b").dtype, numpy.dtype("bool"))
        self.assertEqual(self.npy("b").tolist(), [True, False, True, True, False, False, False, False, True, True])
        self.assertEqual(self.npy("e").shape, (0, 3))
        self.assertEqual(self.npy("s").shape, ())
        self.assertEqual(self.npy("i").tolist(), [2**63 - 1, -(2**63)])

    def test_raw_bits_are_packed(self):
        raw = support.run("cat", "-f", "raw", self.path, "b", check=0).stdout
        self.assertEqual(raw, bytes([0b00001101, 0b11]))
        # Backwards: 1 1 0 0 0 0 1 1 | 0 1
        raw = support.run("cat", "-f", "raw", self.path, "b", "-s", "::-1", check=0).stdout
        self.assertEqual(raw, bytes([0b11000011, 0b10]))

    def test_dump_is_the_same(self):
        self.assertEqual(support.output("dump", self.path, "i"), support.output("cat", self.path, "i"))

    def test_a_name_is_needed_where_there_are_several(self):
        self.assert_fails(support.USAGE, "cat", self.path, says="several tensors")
        one = self.write("one.safetensors", support.safetensors({"x": ("U8", (2,), [3, 4])}))
        self.assertEqual(support.output("cat", one), "3 4\n")
        self.assertEqual(support.output("cat", "-", stdin=one.read_bytes()), "3 4\n")

    def test_quantized_numbers_and_stored_codes(self):
        source = self.write("w.safetensors", support.safetensors({"w": ("F32", (2, 32), struct.pack("<64f", *range(64)))}))
        path = self.folder / "q.stream"
        support.output("convert", "-q", "--quantize", "per_channel_affine:int8", source, path)
        numbers = [float(x) for x in support.output("cat", path).split()]
        self.assertLess(max(abs(x - y) for x, y in zip(numbers, range(64))), 0.2)
        codes = [int(x) for x in support.output("cat", "--stored", path).split()]
        self.assertTrue(all(-128 <= code <= 127 for code in codes))
        self.assertNotEqual(codes, numbers)


if __name__ == "__main__":
    unittest.main()
