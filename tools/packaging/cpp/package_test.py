"""The package for C and C++: what is in it, the same bytes twice, and how it is published."""

from __future__ import annotations

import os
import subprocess
import tarfile
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from tools.packaging.archives import write_tar_gz
from tools.packaging.cpp.package import PackageError, entries, main, root_of, system_of
from tools.packaging.metadata import load
from tools.packaging.publish.cpp import PublishError, publish


class Case(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def file(self, name: str, data: bytes = b"x") -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def inputs(self) -> dict[str, object]:
        return {
            "library": self.file("build/libhurray.so.1", b"\x7fELF"),
            "headers": [
                self.file("a/include/hurray.h"),
                self.file("a/include/hurray/abi.h"),
                self.file("b/include/hurray.hpp"),
                self.file("b/include/hurray/tensor.hpp"),
            ],
            "readme": self.file("README.md", b"read me"),
        }


class Contents(Case):
    def test_a_package_for_linux(self) -> None:
        metadata = load()
        found = {entry.name: entry for entry in entries(metadata, "linux-x86_64", **self.inputs())}
        self.assertEqual(
            sorted(found),
            [
                "LICENSE",
                "README.md",
                "include/hurray.h",
                "include/hurray.hpp",
                "include/hurray/abi.h",
                "include/hurray/tensor.hpp",
                "lib/cmake/hurray/hurray-config-version.cmake",
                "lib/cmake/hurray/hurray-config.cmake",
                "lib/libhurray.so",
                "lib/libhurray.so.1",
                "lib/pkgconfig/hurray.pc",
            ],
        )
        self.assertEqual(found["lib/libhurray.so"].link, "libhurray.so.1")
        self.assertTrue(found["lib/libhurray.so.1"].executable)
        self.assertIn(f"Version: {metadata.version}\n", found["lib/pkgconfig/hurray.pc"].data.decode())
        for name in ("lib/cmake/hurray/hurray-config-version.cmake", "lib/cmake/hurray/hurray-config.cmake", "lib/pkgconfig/hurray.pc"):
            text = found[name].data.decode()
            self.assertNotIn("@", text)
            self.assertNotIn(str(self.folder), text)

    def test_other_systems_have_their_own_names(self) -> None:
        inputs = self.inputs()
        mac = {entry.name: entry for entry in entries(load(), "macos-aarch64", **inputs)}
        self.assertEqual(mac["lib/libhurray.dylib"].link, "libhurray.1.dylib")
        self.assertIn("@rpath/libhurray.1.dylib", mac["lib/cmake/hurray/hurray-config.cmake"].data.decode())
        windows = {entry.name for entry in entries(load(), "windows-x86_64", **inputs, import_library=self.file("hurray.lib"))}
        self.assertLessEqual({"bin/hurray.dll", "lib/hurray.lib"}, windows)

    def test_what_is_missing_is_refused(self) -> None:
        inputs = self.inputs()
        with self.assertRaisesRegex(PackageError, "import library is missing"):
            entries(load(), "windows-x86_64", **inputs)
        with self.assertRaisesRegex(PackageError, "for Windows only"):
            entries(load(), "linux-x86_64", **inputs, import_library=self.file("hurray.lib"))
        with self.assertRaisesRegex(PackageError, "expected a platform"):
            system_of("plan9-x86_64")
        inputs["headers"] = inputs["headers"][:2]
        with self.assertRaisesRegex(PackageError, "hurray.hpp is not among"):
            entries(load(), "linux-x86_64", **inputs)

    def test_the_same_bytes_twice_whatever_the_order_and_the_times(self) -> None:
        inputs = self.inputs()
        arguments = ["--platform", "linux-x86_64", "--library", str(inputs["library"]), "--readme", str(inputs["readme"])]
        headers = [str(header) for header in inputs["headers"]]
        outs = []
        for number, order in enumerate((headers, headers[::-1])):
            out = self.folder / f"{number}.tar.gz"
            for file in self.folder.rglob("*"):
                os.utime(file, (10**9 * (number + 1),) * 2)
            main([*arguments, *[word for header in order for word in ("--header", header)], "--out", str(out)])
            outs.append(out.read_bytes())
        self.assertEqual(outs[0], outs[1])
        with tarfile.open(self.folder / "0.tar.gz") as archive:
            self.assertEqual({name.split("/")[0] for name in archive.getnames()}, {root_of(load(), "linux-x86_64")})


class Publishing(Case):
    def package(self, name: str = "hurray-0.1.0-linux-x86_64.tar.gz", data: bytes = b"one") -> Path:
        return self.file("made/" + name, data)

    def test_a_folder_has_sums_that_sha256sum_accepts(self) -> None:
        registry = self.folder / "registry"
        publish([self.package()], registry)
        publish([self.package(), self.package("hurray-0.1.0-linux-aarch64.tar.gz", b"two")], registry)
        done = subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=registry, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(done.stdout.splitlines()), 2)

    def test_what_is_published_stays_as_it_is(self) -> None:
        registry = self.folder / "registry"
        publish([self.package()], registry)
        with self.assertRaisesRegex(PublishError, "published already, with other bytes"):
            publish([self.package(data=b"other")], registry)
        self.assertEqual((registry / self.package().name).read_bytes(), b"one")

    def test_a_file_that_is_no_package_is_refused(self) -> None:
        with self.assertRaisesRegex(PublishError, "expected a tar.gz"):
            publish([self.file("x.zip")], self.folder / "registry")

    def test_an_upload_wants_https_a_tool_and_a_token(self) -> None:
        with self.assertRaisesRegex(PublishError, "by https only"):
            publish([self.package()], "http://example.invalid/x")
        with mock.patch("shutil.which", return_value=None), self.assertRaisesRegex(PublishError, "curl is not installed"):
            publish([self.package()], "https://example.invalid/x")
        with mock.patch("shutil.which", return_value="/usr/bin/curl"), mock.patch.dict(os.environ):
            os.environ.pop("HURRAY_PUBLISH_TOKEN", None)
            with self.assertRaisesRegex(PublishError, "HURRAY_PUBLISH_TOKEN is not set"):
                publish([self.package()], Path("https://example.invalid/x"))

    def test_an_upload_keeps_the_token_out_of_the_arguments(self) -> None:
        calls = []

        def run(command: list[object], **options: object) -> subprocess.CompletedProcess[bytes]:
            calls.append(([str(word) for word in command], options["input"]))
            return subprocess.CompletedProcess(command, 0, b"", b"")

        with (
            mock.patch("shutil.which", return_value="/usr/bin/curl"),
            mock.patch("subprocess.run", run),
            mock.patch.dict(os.environ, {"HURRAY_PUBLISH_TOKEN": "sesame"}),
        ):
            publish([self.package()], "https://example.invalid/x/")
        self.assertEqual([call[0][-1].rsplit("/", 1)[1] for call in calls], [self.package().name, "SHA256SUMS"])
        for words, given in calls:
            self.assertNotIn("sesame", " ".join(words))
            self.assertIn(b"sesame", given)


class Writing(Case):
    def test_links_stay_in_the_package(self) -> None:
        out = self.folder / "x.tar.gz"
        write_tar_gz(out, entries(load(), "linux-x86_64", **self.inputs()), root="r")
        (self.folder / "unpacked").mkdir()
        subprocess.run(["tar", "--extract", "--file", out, "--directory", self.folder / "unpacked"], check=True)
        self.assertEqual((self.folder / "unpacked/r/lib/libhurray.so").read_bytes(), b"\x7fELF")


if __name__ == "__main__":
    unittest.main()
