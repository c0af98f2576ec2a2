"""The commands that docs/cli.md shows do what it says."""

import math
import os
import pathlib
import subprocess
import unittest

import numpy

import support


class TourTest(support.CliTest):
    def test_the_tour(self):
        weight = [math.sin(i) for i in range(64 * 64)]
        self.write("model.safetensors", support.safetensors(
            {"layers.0.weight": ("F32", (64, 64), weight), "layers.0.bias": ("F32", (64,), weight[:64])}))
        commands = self.folder / "bin"
        commands.mkdir()
        (commands / "hurray").symlink_to(pathlib.Path(support.PROGRAM).resolve())
        env = support.environment()
        env["PATH"] = f"{commands}:{env['PATH']}"
        script = pathlib.Path("tools/cli/samples/tour.sh").resolve()
        done = subprocess.run(["bash", script], cwd=self.folder, env=env, capture_output=True, text=True, check=False,
                              timeout=support.SECONDS)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("model.hrry is good", done.stdout)
        self.assertEqual(numpy.load(self.folder / "weight.npy").shape, (64, 64))
        for name in ("model.hrry", "int8.hrry", "half.safetensors", "tiled.hrry", "copy.hrry"):
            self.assertTrue((self.folder / name).is_file(), name)


if __name__ == "__main__":
    unittest.main()
