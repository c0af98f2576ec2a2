"""Files that other programs wrote: GGUF with every kind of block, .npy, .npz, .hrry of another implementation."""

import io
import struct
import unittest

import numpy

import support


class OtherProgramsTest(support.CliTest):
    def setUp(self):
        super().setUp()
        self.shared = support.shared_folder()
        if self.shared is None or not (self.shared / "data" / "gguf").is_dir():
            print("the files of other programs are not beside the project")
            self.skipTest("the files of other programs are not beside the project")

    def test_numbers_of_every_kind_of_block_are_ggmls(self):
        for path in sorted((self.shared / "data" / "gguf").glob("*.gguf")):
            numbers = path.with_suffix(".f32").read_bytes()
            expected = struct.unpack(f"<{len(numbers) // 4}f", numbers)
            got = []
            for tensor in support.json_of("ls", "--json", path)["tensors"]:
                data = support.run("cat", "-f", "npy", path, tensor["name"], check=0).stdout
                got += numpy.load(io.BytesIO(data), allow_pickle=False).astype(numpy.float32).ravel().tolist()
            with self.subTest(path.name):
                self.assertEqual(len(got), len(expected))
                self.assertEqual(tuple(got), expected)

    def test_blocks_stay_raw_unless_numbers_are_asked_for(self):
        path = self.shared / "data" / "gguf" / "k_quants.gguf"
        kinds = {tensor["stored_type"]: tensor["quantization"] for tensor in support.json_of("ls", "--json", path)["tensors"]}
        self.assertTrue(any("K" in kind and scheme == "private" for kind, scheme in kinds.items()), kinds)
        support.output("verify", path)
        support.output("convert", "--dequantize", "float32", path, self.folder / "n.safetensors")
        support.output("diff", "--values-only", self.folder / "n.safetensors", path)
        support.output("stats", path)

    def test_files_of_numpy_and_candle(self):
        folder = self.shared / "data" / "npy"
        for name in ("candle_test.npy", "candle_test.npz"):
            support.output("verify", folder / name)
            support.output("convert", folder / name, self.folder / "x.hrry")
            support.output("diff", "--values-only", folder / name, self.folder / "x.hrry")
        for name in ("py3-objarr.npy", "py2-objarr.npy"):
            self.assert_fails(support.UNREADABLE, "ls", folder / name)
            self.assert_fails(support.UNREADABLE, "convert", folder / name, self.folder / "y.hrry")

    def test_hrry_of_another_implementation(self):
        path = self.shared / "conformance" / "files" / "basic.hrry"
        got = support.json_of("inspect", "--json", path)
        self.assertEqual({t["name"]: t["descriptor"]["shape"] for t in got["tensors"]}, {"weights": [2, 2], "bias": [3]})
        self.assertEqual({m["key"]: (m["type"], m["value"]) for m in got["metadata"]},
                         {"producer": ("string", "hurray-conformance"), "tensor_count": ("int64", 2)})
        support.output("verify", path)


if __name__ == "__main__":
    unittest.main()
