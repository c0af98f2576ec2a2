"""Programs in Go that have nothing but the published module: in empty folders, with an empty home, from a proxy in a folder."""

from __future__ import annotations

import ctypes
import json
import math
import os
import platform
import random
import shutil
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

from tools.packaging.go.package import root_of, version_of
from tools.packaging.inspect import LIBRARY, check_package
from tools.packaging.metadata import load
from tools.packaging.publish.go import publish

METADATA = load()
VERSION = version_of(METADATA)
PACKAGE = Path("bindings/go/hurray-go-here.zip")
LAYER = Path("bindings/go/samples/layer/main.go")
SHARED = Path("tests/packages/go/shared.go")
HEADER = Path("abi/include")
SHARED_LIBRARY = Path("abi/libhurray.so.1")
GO = Path(os.environ["HURRAY_TEST_GO"])


class Model:
    """A layer of a model, and a safetensors file of it, which is written here byte by byte."""

    def __init__(self) -> None:
        numbers = random.Random(7)
        self.rows, self.columns = 6, 33
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
            start, data = len(data), data + struct.pack(f"<{len(values)}f", *values)
            header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [start, len(data)]}
        text = json.dumps(header).encode()
        path.write_bytes(struct.pack("<Q", len(text)) + text + data)

    def result(self) -> list[float]:
        sums = [
            math.fsum(self.weight[i * self.columns + j] * self.input[j] for j in range(self.columns)) + self.bias[i] for i in range(self.rows)
        ]
        return [z * (1 + math.erf(z / math.sqrt(2))) / 2 for z in sums]


class InAnEmptyFolder(unittest.TestCase):
    def setUp(self) -> None:
        # Where the runfiles are not. Go wants no spaces in the paths of C compilers' options.
        folder = tempfile.TemporaryDirectory(prefix="hurray-go-")
        self.addCleanup(self.clean, folder)
        self.folder = Path(folder.name).resolve()
        self.app = self.folder / "app"
        self.app.mkdir()
        publish([PACKAGE.resolve()], self.folder / "proxy")
        self.model = Model()
        self.model.write(self.folder / "model.safetensors")

    @staticmethod
    def clean(folder: tempfile.TemporaryDirectory) -> None:
        # Go takes the right to write from what it unpacks.
        subprocess.run(["chmod", "-R", "u+w", folder.name], check=False)
        folder.cleanup()

    def run_tool(self, *words: str | Path, fails: bool = False, **more: str) -> str:
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        environment = {
            "PATH": f"{GO.parent}:/usr/bin:/bin",
            "HOME": str(home),
            "GOPATH": str(home / "go"),
            "GOMODCACHE": str(home / "go/pkg/mod"),
            "GOPROXY": f"file://{self.folder}/proxy",
            # No database of sums has seen this module; there is no network to ask one.
            "GONOSUMDB": "*",
            "GOTOOLCHAIN": "local",
            "GOENV": "off",
            "GOFLAGS": "-mod=mod",
            "CGO_ENABLED": "1",
            # The standard library, compiled by others before: it is Go's own and takes minutes.
            "GOCACHE": self.cache(),
            **more,
        }
        done = subprocess.run([str(word) for word in words], cwd=self.app, env=environment, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode != 0, fails, f"{' '.join(str(word) for word in words)}: {done.stdout}{done.stderr}")
        return done.stdout + (done.stderr if fails else "")

    def cache(self) -> str:
        shared = Path(os.environ.get("HURRAY_TEST_GO_CACHE") or "/nowhere")
        return str(shared if os.access(shared, os.W_OK) else self.folder / "home/cache")

    def get(self, program: Path) -> None:
        shutil.copyfile(program, self.app / "main.go")
        self.run_tool("go", "mod", "init", "example.org/app")
        self.run_tool("go", "get", f"{METADATA.go_module}@latest")
        self.assertIn(f"{METADATA.go_module} {VERSION}", self.run_tool("go", "list", "-m", "all"))

    def check_layer(self, program: str | Path = "./app", **more: str) -> None:
        got = [float(line) for line in self.run_tool(program, self.folder / "model.safetensors", **more).split()]
        wanted = self.model.result()
        self.assertEqual(len(got), len(wanted))
        for ours, theirs in zip(got, wanted):
            self.assertAlmostEqual(ours, theirs, delta=1e-5 * max(1, abs(theirs)))

    def dynamic(self, file: str | Path, what: str) -> str:
        return self.run_tool("readelf", "--wide", what, file)

    def test_go_get_and_go_build_just_work(self) -> None:
        self.get(LAYER)
        self.run_tool("go", "mod", "verify")
        self.run_tool("go", "build", "-o", "app", ".")
        self.check_layer()
        # The library is in the program: nothing is looked for, and nobody else sees it.
        self.assertNotIn("hurray", self.dynamic("app", "--dynamic"))
        self.assertNotIn("hurray_", self.dynamic("app", "--dyn-syms"))
        self.assertIn("hurray_c_abi_version", self.run_tool("nm", "app"))

        # The sample in the module is the same program.
        self.run_tool("go", "build", "-o", "sample", f"{METADATA.go_module}/samples/layer")
        self.check_layer("./sample")

        # Go's copies of modules in a folder of the program's own have all that is needed.
        self.run_tool("go", "mod", "vendor")
        shutil.rmtree(self.folder / "proxy")
        self.run_tool("chmod", "-R", "u+w", self.folder / "home/go")
        shutil.rmtree(self.folder / "home/go")
        self.run_tool("go", "build", "-mod=vendor", "-o", "vendored", ".", GOFLAGS="")
        self.check_layer("./vendored")

    def test_the_archive_is_where_cgo_looks_and_shows_nothing_else(self) -> None:
        root = root_of(METADATA)
        natives = {f"{root}/internal/archive/libhurray-linux-x86_64.a": LIBRARY}
        self.assertEqual(check_package(PACKAGE, natives, files=[f"{root}/{name}" for name in ("LICENSE", "README.md", "go.mod")]), [])

    def test_the_shared_library_by_a_tag(self) -> None:
        self.get(LAYER)
        place = self.folder / "prefix"
        place.mkdir()
        shutil.copyfile(SHARED_LIBRARY, place / "libhurray.so.1")
        (place / "libhurray.so").symlink_to("libhurray.so.1")
        (place / "hurray.pc").write_text(
            f"Name: hurray\nDescription: of this test\nVersion: {METADATA.version}\nLibs: -L{place} -lhurray\nCflags: -I{HEADER.resolve()}\n"
        )
        self.run_tool("go", "build", "-tags", "hurray_pkgconfig", "-o", "app", ".", PKG_CONFIG_PATH=str(place))
        self.assertIn("[libhurray.so.1]", self.dynamic("app", "--dynamic"))
        self.check_layer(LD_LIBRARY_PATH=str(place))
        self.run_tool("./app", self.folder / "model.safetensors", fails=True)

    def test_a_platform_without_an_archive_is_told_what_to_do(self) -> None:
        self.get(LAYER)

        def chosen(tags: str, **target: str) -> str:
            return self.run_tool("go", "list", "-tags", tags, "-f", "{{.CgoFiles}}", f"{METADATA.go_module}/internal/archive", **target).strip()

        for name, arch in (("x86_64", "amd64"), ("aarch64", "arm64")):
            if name == platform.machine():
                self.assertEqual(chosen("", GOARCH=arch), "[archive.go]")
        self.assertEqual(chosen("hurray_pkgconfig"), "[shared.go]")
        for target in ({"GOARCH": "riscv64"}, {"GOOS": "freebsd", "GOARCH": "amd64"}):
            self.assertEqual(chosen("", **target), "[archive.go unsupported.go]")
            self.assertEqual(chosen("hurray_pkgconfig", **target), "[shared.go]")
        # What such a build says. This module has no archive for musl.
        said = self.run_tool("go", "build", "-tags", "musl", ".", fails=True)
        self.assertIn("build with -tags hurray_pkgconfig", said)

    def test_a_library_for_other_languages(self) -> None:
        self.get(SHARED)
        self.run_tool("go", "build", "-buildmode=c-shared", "-o", "libfirst.so", ".")
        names = self.dynamic("libfirst.so", "--dyn-syms")
        self.assertIn("firstOf", names)
        self.assertNotIn(" hurray_c_abi_version", names)
        first = ctypes.CDLL(str(self.app / "libfirst.so")).firstOf
        first.restype, first.argtypes = ctypes.c_double, [ctypes.c_char_p, ctypes.c_char_p]
        path = str(self.folder / "model.safetensors").encode()
        self.assertEqual(first(path, b"bias"), self.model.bias[0])
        self.assertEqual(first(path, b"none"), -2)


if __name__ == "__main__":
    unittest.main()
