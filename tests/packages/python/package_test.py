"""Programs in Python that have nothing but the published wheel: in empty folders, with an empty home, from an index in a folder."""

from __future__ import annotations

import json
import math
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

from tools.packaging import inspect
from tools.packaging.metadata import load
from tools.packaging.publish.python import publish

METADATA = load()
WHEEL = Path(os.environ["HURRAY_TEST_WHEEL"])
LAYER = Path("bindings/python/samples/layer.py")
NATIVES = {
    "hurray/libhurray.so.1": inspect.Requirements(exports=("hurray_*",), machine="x86_64", name="libhurray.so.1"),
    # What the extension needs of Python comes from the interpreter.
    "hurray/_native.abi3.so": inspect.Requirements(exports=("PyInit__native",), machine="x86_64", name=""),
}


class Model:
    """A layer of a model, and a safetensors file of it, which is written here byte by byte."""

    def __init__(self) -> None:
        numbers = random.Random(11)
        self.rows, self.columns = 7, 29
        self.weight = self._floats(numbers, self.rows * self.columns)
        self.bias = self._floats(numbers, self.rows)
        self.input = self._floats(numbers, self.columns)

    @staticmethod
    def _floats(numbers: random.Random, count: int) -> list[float]:
        return list(struct.unpack(f"<{count}f", struct.pack(f"<{count}f", *(numbers.gauss(0, 1) for _ in range(count)))))

    def write(self, path: Path) -> None:
        header, data = {}, b""
        for name, shape in (("weight", [self.rows, self.columns]), ("bias", [self.rows]), ("input", [self.columns])):
            values = getattr(self, name)
            begin, data = len(data), data + struct.pack(f"<{len(values)}f", *values)
            header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, len(data)]}
        text = json.dumps(header).encode()
        path.write_bytes(struct.pack("<Q", len(text)) + text + data)

    def result(self) -> list[float]:
        sums = [math.fsum(self.weight[i * self.columns + j] * self.input[j] for j in range(self.columns)) + self.bias[i]
                for i in range(self.rows)]
        return [z * (1 + math.erf(z / math.sqrt(2))) / 2 for z in sums]


class InAnEmptyFolder(unittest.TestCase):
    """A virtual environment that sees the system's NumPy and the wheel, and nothing else of ours."""

    @classmethod
    def setUpClass(cls) -> None:
        # Where the runfiles are not.
        cls.temporary = tempfile.TemporaryDirectory(prefix="hurray python ")
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.folder = Path(cls.temporary.name).resolve()
        cls.home = cls.folder / "home"
        cls.home.mkdir()
        cls.index = cls.folder / "index"
        publish([WHEEL.resolve()], cls.index)
        cls.run_tool(sys.executable, "-m", "venv", "--without-pip", "--system-site-packages", str(cls.folder / "venv"))
        cls.python = cls.folder / "venv/bin/python"
        cls.pip = [str(cls.python), "-m", "pip", "--isolated", "--disable-pip-version-check", "--no-cache-dir"]
        cls.run_tool(*cls.pip, "install", "--index-url", f"file://{cls.index}/simple/".replace(" ", "%20"), "hurray")
        cls.model = Model()
        cls.model.write(cls.folder / "model.safetensors")

    @classmethod
    def run_tool(cls, *words: str, fails: bool = False) -> str:
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(cls.home), "LC_ALL": "C.UTF-8"}
        done = subprocess.run(words, cwd=cls.folder, env=environment, capture_output=True, text=True, check=False)
        if (done.returncode != 0) != fails:
            raise AssertionError(f"{' '.join(words)}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout + (done.stderr if fails else "")

    def run_program(self, text: str) -> str:
        return self.run_tool(str(self.python), "-X", "dev", "-W", "error", "-c", text)

    def test_a_program_runs_a_layer_of_a_model(self) -> None:
        shutil.copyfile(LAYER, self.folder / "layer.py")
        found = [float(line) for line in self.run_tool(str(self.python), "layer.py", "model.safetensors").split()]
        wanted = self.model.result()
        self.assertEqual(len(found), len(wanted))
        for ours, theirs in zip(found, wanted):
            self.assertAlmostEqual(ours, theirs, delta=1e-5 * max(1, abs(theirs)))

    def test_the_library_is_the_one_of_the_wheel(self) -> None:
        facts = json.loads(self.run_program(
            "import hurray, json; info = hurray.runtime_info()\n"
            "print(json.dumps([hurray.__file__, info.library_path, info.version, hurray.__version__]))"))
        folder = self.folder / "venv/lib"
        self.assertTrue(all(Path(path).is_relative_to(folder) for path in facts[:2]), facts)
        self.assertEqual(Path(facts[1]).name, "libhurray.so.1")
        self.assertEqual(facts[2:], [METADATA.version, METADATA.version])

    def test_dlpack_quantization_and_streams_through_the_released_library(self) -> None:
        self.assertEqual(self.run_program(
            "import io, hurray, numpy as np\n"
            "hurray.load()\n"
            "before = hurray.live_handles()\n"
            "source = np.arange(64, dtype=np.float32)\n"
            "with hurray.from_dlpack(source) as tensor, tensor.quantize(hurray.Scheme.PER_TENSOR_AFFINE, 'int8') as small:\n"
            "    target = io.BytesIO()\n"
            "    with hurray.Writer.to_file(target) as writer:\n"
            "        writer.write(small)\n"
            "target.seek(0)\n"
            "with hurray.Reader.from_file(target) as reader, reader.next() as small, small.dequantize() as back:\n"
            "    print(np.abs(back.numpy() - source).max() < 0.3, hurray.live_handles() > before)\n"
            "print(hurray.live_handles() == before)\n"), "True True\nTrue\n")

    def test_errors_have_their_types(self) -> None:
        self.assertEqual(self.run_program(
            "import hurray\n"
            "try:\n    hurray.File.open('/nowhere')\n"
            "except KeyError as error:\n    print(type(error).__name__, error.code.name)\n"), "NotFoundError NOT_FOUND\n")

    def test_without_numpy_all_else_works(self) -> None:
        bare = self.folder / "bare"
        self.run_tool(sys.executable, "-m", "venv", "--without-pip", str(bare))
        self.run_tool(*self.pip[:3], "--python", str(bare / "bin/python"), *self.pip[3:], "install", "--no-index", "--find-links",
                      str(self.index / "simple/hurray"), "hurray")
        self.assertEqual(self.run_tool(str(bare / "bin/python"), "-c",
                                       "import hurray\n"
                                       "with hurray.File.open('model.safetensors') as file, file['bias'] as bias:\n"
                                       "    print(len(memoryview(bias)))\n"
                                       "try:\n    import numpy\nexcept ImportError:\n    print('no NumPy')\n"), "7\nno NumPy\n")

    def test_pip_knows_the_package_and_takes_it_away(self) -> None:
        shown = self.run_tool(*self.pip, "show", "--files", "hurray")
        for line in (f"Name: {METADATA.name}", f"Version: {METADATA.version}", f"License: {METADATA.licence}",
                     f"Summary: {METADATA.description}", "hurray/libhurray.so.1", "hurray/py.typed"):
            self.assertIn(line, shown)
        other = self.folder / "other"
        self.run_tool(*self.pip, "install", "--no-index", "--find-links", str(WHEEL.resolve().parent), "--target", str(other), "hurray")
        self.assertTrue((other / "hurray/_native.abi3.so").exists())

    def test_type_checkers_find_the_hints(self) -> None:
        with zipfile.ZipFile(WHEEL) as archive:
            names = archive.namelist()
        for name in ("py.typed", "_native.pyi", "_calls.pyi", "_structs.py", "_constants.py"):
            self.assertIn(f"hurray/{name}", names)


class InspectionTest(unittest.TestCase):
    def test_compiled_files(self) -> None:
        info = f"hurray-{METADATA.version}.dist-info"
        self.assertEqual(inspect.check_package(WHEEL, NATIVES, files=[f"{info}/{name}" for name in ("METADATA", "RECORD", "WHEEL", "LICENSE")]), [])

    def test_the_tag_says_what_the_compiled_files_need(self) -> None:
        ceiling = inspect.version_of(inspect.GLIBC_CEILING)
        self.assertIn(f"manylinux_{ceiling[0]}_{ceiling[1]}_x86_64", WHEEL.name)
        self.assertIn("-cp311-abi3-", WHEEL.name)

    def test_nothing_of_a_cache_or_of_the_tests_is_in_it(self) -> None:
        with zipfile.ZipFile(WHEEL) as archive:
            names = archive.namelist()
        self.assertEqual([name for name in names if "__pycache__" in name or "test" in name or not name.startswith("hurray")], [])


if __name__ == "__main__":
    unittest.main()
