"""The sample model_layer against a computation without the library."""

from __future__ import annotations

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from bindings.cpp.tests.models import Layer

PROGRAM = Path("bindings/cpp/model_layer")
NAME = "l\u00e4yer.0"


class ModelLayer(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(dir=os.environ["TEST_TMPDIR"])
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.layer = Layer(NAME)

    def run_program(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False, timeout=60)

    def check_layer(self, model: Path) -> None:
        done = self.run_program(str(model), NAME)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        got = [float(line) for line in done.stdout.split()]
        self.assertEqual(len(got), len(self.layer.result()))
        for ours, theirs in zip(got, self.layer.result()):
            self.assertAlmostEqual(ours, theirs, delta=1e-5 * max(1, abs(theirs)))

    def test_a_safetensors_model_of_float32(self) -> None:
        self.layer.write_safetensors(self.folder / "model.safetensors")
        self.check_layer(self.folder / "model.safetensors")

    def test_a_gguf_model_with_quantized_weights(self) -> None:
        self.layer.write_gguf(self.folder / "model.gguf")
        self.check_layer(self.folder / "model.gguf")

    def test_errors_tell_their_code(self) -> None:
        missing = self.run_program(str(self.folder / "none.gguf"), NAME)
        self.assertEqual(missing.returncode, 1)
        self.assertTrue(missing.stderr.startswith("NOT_FOUND: "), missing.stderr)
        self.layer.write_safetensors(self.folder / "model.safetensors")
        other = self.run_program(str(self.folder / "model.safetensors"), "other")
        self.assertEqual(other.returncode, 1)
        self.assertTrue(other.stderr.startswith("NOT_FOUND: "), other.stderr)


if __name__ == "__main__":
    unittest.main()
