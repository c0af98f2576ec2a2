"""The samples that run a layer of a model give what plain Python works out from the same numbers."""

from __future__ import annotations

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from bindings.cpp.tests.models import COLUMNS, ROWS, Layer

HERE = Path("bindings/csharp")


class LayerTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(dir=os.environ["TEST_TMPDIR"])
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.layer = Layer("sch\u00edcht")
        self.models = {"safetensors": self.folder / "model.safetensors", "gguf": self.folder / "model.gguf"}
        self.layer.write_safetensors(self.models["safetensors"])
        self.layer.write_gguf(self.models["gguf"])

    def run_sample(self, name: str, *words: str, code: int = 0) -> list[str]:
        done = subprocess.run([HERE / name, *words], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return (done.stdout if code == 0 else done.stderr).splitlines()

    def check(self, lines: list[str]) -> None:
        self.assertEqual(len(lines), ROWS)
        for ours, theirs in zip(lines, self.layer.result()):
            self.assertAlmostEqual(float(ours), theirs, delta=1e-5 * max(1, abs(theirs)))

    def test_layer_of_a_model_in_either_format(self) -> None:
        for model in self.models.values():
            self.check(self.run_sample("model_layer", str(model), self.layer.name))

    def test_what_is_not_there_is_a_typed_error(self) -> None:
        self.assertIn("NOT_FOUND", self.run_sample("model_layer", str(self.models["gguf"]), "nothing", code=1)[0])
        self.assertIn("NOT_FOUND", self.run_sample("model_layer", str(self.folder / "nothing"), "x", code=1)[0])

    def test_layer_in_onnx_runtime_copies_nothing_on_the_way(self) -> None:
        # Spaces behind the header put the data where float32 may be; one more and it is not.
        head = int.from_bytes(self.models["safetensors"].read_bytes()[:8], "little")
        plain = self.models["safetensors"].read_bytes()
        for form, more in (("aligned", -head % 4), ("unaligned", -head % 4 + 1)):
            self.models[form] = self.folder / f"{form}.safetensors"
            self.models[form].write_bytes((head + more).to_bytes(8, "little") + plain[8 : 8 + head] + b" " * more + plain[8 + head :])
        for form, converted in (("aligned", 0), ("unaligned", 4 * ROWS * (COLUMNS + 1)), ("gguf", 4 * ROWS * COLUMNS)):
            *numbers, copies = self.run_sample("onnx_layer", str(self.models[form]), self.layer.name)
            self.check(numbers)
            # The weights of the GGUF file are Q8_0, which the file takes apart and the sample turns into numbers.
            by_file = int(copies.split()[4].rstrip(","))
            self.assertEqual(by_file == 0, form != "gguf", copies)
            self.assertEqual(copies.partition(", ")[2], f"made anew: {converted}, to ONNX Runtime and back: 0")


if __name__ == "__main__":
    unittest.main()
