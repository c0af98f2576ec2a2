"""Programs in C and C++ that have nothing but the package: with CMake and with pkg-config, in empty folders."""

from __future__ import annotations

import dataclasses
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from bindings.cpp.tests.models import Layer
from tools.packaging.cpp.package import root_of
from tools.packaging.inspect import LIBRARY, check_package
from tools.packaging.metadata import load
from tools.packaging.publish.cpp import publish

METADATA = load()
ROOT = root_of(METADATA, "linux-x86_64")
PACKAGE = Path("bindings/cpp") / f"{ROOT}.tar.gz"
SOURCES = [Path("bindings/cpp/samples/CMakeLists.txt"), Path("tests/packages/cpp/print_tensor.c"), Path("bindings/cpp/samples/model_layer.cpp")]
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]


class InAnEmptyFolder(unittest.TestCase):
    def setUp(self) -> None:
        # Where the runfiles are not: nothing of the repository can be found by a relative path.
        folder = tempfile.TemporaryDirectory(dir=os.environ["TEST_TMPDIR"], prefix="away ")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name).resolve()
        publish([PACKAGE.resolve()], self.folder / "registry")
        for source in SOURCES:
            shutil.copyfile(source, self.folder / source.name)
        self.layer = Layer("l\u00e4yer")
        self.model = self.folder / "model.safetensors"
        self.layer.write_safetensors(self.model)
        (self.folder / "home").mkdir()

    def environment(self, **more: str) -> dict[str, str]:
        return {"PATH": "/usr/bin:/bin", "HOME": str(self.folder / "home"), "LC_ALL": "C.UTF-8", **more}

    def unpack(self, name: str) -> Path:
        place = self.folder / name
        place.mkdir()
        self.run_tool("tar", "--extract", "--file", self.folder / "registry" / PACKAGE.name, "--directory", place)
        return place / ROOT

    def run_tool(self, *words: str | Path, **more: str) -> str:
        done = subprocess.run(
            [str(word) for word in words], cwd=self.folder, env=self.environment(**more), capture_output=True, text=True, check=False
        )
        self.assertEqual(done.returncode, 0, f"{words[0]}: {done.stdout}{done.stderr}")
        return done.stdout

    def check_layer(self, program: Path) -> None:
        got = [float(line) for line in self.run_tool(program, self.model, self.layer.name).split()]
        self.assertEqual(len(got), len(self.layer.bias))
        for ours, theirs in zip(got, self.layer.result()):
            self.assertAlmostEqual(ours, theirs, delta=1e-5 * max(1, abs(theirs)))

    def check_bias(self, program: Path) -> None:
        got = [float(line) for line in self.run_tool(program, self.model, self.layer.name + ".bias").split()]
        self.assertEqual(len(got), len(self.layer.bias))
        for ours, theirs in zip(got, self.layer.bias):
            self.assertAlmostEqual(ours, theirs, delta=1e-7)

    def test_cmake_finds_the_package_where_it_was_moved_to(self) -> None:
        moved = self.folder / "a place with spaces" / "hurray"
        moved.parent.mkdir()
        self.unpack("first").rename(moved)
        self.run_tool("cmake", "-G", "Unix Makefiles", "-S", ".", "-B", "build", f"-Dhurray_DIR={moved / 'lib/cmake/hurray'}")
        self.run_tool("cmake", "--build", "build")
        programs = ["", "_static"] if (moved / "lib/libhurray.a").exists() else [""]
        for kind in programs:
            self.check_layer(self.folder / f"build/model_layer{kind}")
            self.check_bias(self.folder / f"build/print_tensor{kind}")

    def test_cmake_refuses_another_version(self) -> None:
        config = self.unpack("first")
        project = self.folder / "other"
        for wanted, fits in ((METADATA.version, True), ("0.2", False), ("1.0", False), ("99", False), ("", True)):
            shutil.rmtree(project, ignore_errors=True)
            project.mkdir()
            (project / "CMakeLists.txt").write_text(
                f"cmake_minimum_required(VERSION 3.16)\nproject(x NONE)\nfind_package(hurray {wanted} QUIET)\n"
                'message(STATUS "found: ${hurray_FOUND} ${hurray_VERSION}.")\n'
            )
            said = self.run_tool("cmake", "-S", project, "-B", project / "build", f"-DCMAKE_PREFIX_PATH={config}")
            self.assertIn(f"found: 1 {METADATA.version}." if fits else "found: 0", said, wanted)

    def test_pkg_config_serves_c_and_cpp(self) -> None:
        # pkg-config parts its words at spaces, so this one lies where there are none.
        with tempfile.TemporaryDirectory(dir="/tmp", prefix="hurray-") as plain:
            root = Path(plain) / "moved"
            shutil.move(self.unpack("first"), root)
            path = {"PKG_CONFIG_PATH": str(root / "lib/pkgconfig")}
            self.assertEqual(self.run_tool("pkg-config", "--modversion", "hurray", **path).strip(), METADATA.version)
            flags = self.run_tool("pkg-config", "--cflags", "--libs", "hurray", **path).split()
            rpath = f"-Wl,-rpath,{root / 'lib'}"
            self.run_tool("gcc", "-std=c99", *STRICT, "print_tensor.c", "-o", "c_program", *flags, rpath)
            self.check_bias(self.folder / "c_program")
            for standard in ("17", "23"):
                self.run_tool("g++", f"-std=c++{standard}", *STRICT, "model_layer.cpp", "-o", "cpp_program", *flags, rpath)
                self.check_layer(self.folder / "cpp_program")


class Inspection(unittest.TestCase):
    def test_the_compiled_files_are_where_they_are_looked_for_and_carry_nothing_else(self) -> None:
        natives = {
            f"{ROOT}/lib/libhurray.so.1": dataclasses.replace(LIBRARY, name="libhurray.so.1"),
            f"{ROOT}/lib/libhurray.a": LIBRARY,
        }
        files = [f"{ROOT}/{name}" for name in ("LICENSE", "README.md", "lib/pkgconfig/hurray.pc", "lib/cmake/hurray/hurray-config.cmake")]
        self.assertEqual(check_package(PACKAGE, natives, files=files), [])


if __name__ == "__main__":
    unittest.main()
