"""Wheels: their lists, the same bytes from any order and any time, what is refused; and the index they are laid into."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import os
import stat
import tempfile
import unittest
import zipfile
from email.parser import BytesParser
from pathlib import Path
from unittest import mock

from tools.packaging.archives import Entry
from tools.packaging.metadata import load
from tools.packaging.publish import python as registry
from tools.packaging.python import package

METADATA = load()
PLATFORM = "manylinux_2_31_x86_64"
NAME = package.file_name(METADATA, PLATFORM)
FILES = [Entry("__init__.py", b"x = 1\n"), Entry("py.typed"), Entry("_native.abi3.so", b"\x7fELF", True), Entry("libhurray.so.1", b"\x7fELF", True)]


class FolderTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def wheel(self, folder: str = "a", files=FILES, readme: str = "# Read me\n") -> Path:
        out = self.folder / folder / NAME
        out.parent.mkdir(exist_ok=True)
        package.write_wheel(out, METADATA, PLATFORM, files, readme)
        return out


class WheelTest(FolderTest):
    def test_the_lists(self) -> None:
        with zipfile.ZipFile(self.wheel()) as archive:
            info = f"hurray-{METADATA.version}.dist-info"
            files = {name: archive.read(name) for name in archive.namelist()}
        rows = list(csv.reader(io.StringIO(files[f"{info}/RECORD"].decode())))
        self.assertEqual({row[0] for row in rows}, set(files))
        for name, digest, size in rows:
            if name == f"{info}/RECORD":
                self.assertEqual((digest, size), ("", ""))
                continue
            expected = base64.urlsafe_b64encode(hashlib.sha256(files[name]).digest()).rstrip(b"=").decode()
            self.assertEqual((digest, size), (f"sha256={expected}", str(len(files[name]))))
        self.assertIn(f"Tag: cp311-abi3-{PLATFORM}\n", files[f"{info}/WHEEL"].decode())
        header = BytesParser().parsebytes(files[f"{info}/METADATA"])
        self.assertEqual((header["Name"], header["Version"], header["License"], header["Requires-Python"]),
                         (METADATA.name, METADATA.version, METADATA.licence, ">=3.11"))
        self.assertEqual(header.get_payload(), "# Read me\n")
        self.assertIsNone(header.defects or None)
        self.assertEqual(files[f"{info}/LICENSE"], METADATA.licence_text)

    def test_nothing_is_needed_that_was_not_asked_for(self) -> None:
        text = package.metadata_text(METADATA, PLATFORM, "")
        needed = [line for line in text.splitlines() if line.startswith("Requires-Dist")]
        self.assertTrue(needed and all("extra ==" in line for line in needed))

    def test_the_same_bytes_from_any_order_and_time(self) -> None:
        first = self.wheel("a").read_bytes()
        self.assertEqual(first, self.wheel("b", FILES[::-1]).read_bytes())
        folders = []
        for number, order in ((1, 1), (2, -1)):
            folder = self.folder / f"source{number}"
            folder.mkdir()
            paths = []
            for entry in FILES[:2]:
                path = folder / entry.name
                path.write_bytes(entry.data)
                os.utime(path, (number * 10**8, number * 10**8))
                path.chmod(0o600 if number == 1 else 0o777)
                paths.append(str(path))
            native = folder / f"native{number}.so"
            native.write_bytes(b"\x7fELF")
            readme = folder / "README.md"
            readme.write_text("# Read me\n", encoding="utf-8")
            out = folder / NAME
            arguments = ["--platform", PLATFORM, "--out", str(out), "--readme", str(readme), "--native", f"_native.abi3.so={native}"]
            self.assertEqual(package.main(arguments + paths[::order]), 0)
            folders.append(out.read_bytes())
        self.assertEqual(*folders)

    def test_what_is_no_wheel(self) -> None:
        with self.assertRaises(package.PackageError):
            package.write_wheel(self.folder / "other.whl", METADATA, PLATFORM, FILES, "")
        for missing in range(3):
            with self.assertRaises(package.PackageError):
                self.wheel(files=FILES[:missing] + FILES[missing + 1:])
        with self.assertRaises(package.PackageError):
            package.metadata_text(METADATA, "any", "")
        with mock.patch("sys.stderr", io.StringIO()) as error:
            self.assertEqual(package.main(["--platform", PLATFORM, "--out", str(self.folder / NAME), "--readme", "/nowhere", "x"]), 2)
            self.assertIn("package:", error.getvalue())


class IndexTest(FolderTest):
    def test_pages_and_hashes(self) -> None:
        wheel = self.wheel()
        registry.publish([wheel], self.folder / "index")
        page = (self.folder / "index/simple/hurray/index.html").read_text(encoding="utf-8")
        digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
        self.assertIn(f'href="{NAME}#sha256={digest}" data-requires-python="&gt;=3.11"', page)
        self.assertIn('href="hurray/"', (self.folder / "index/simple/index.html").read_text(encoding="utf-8"))
        self.assertEqual((self.folder / "index/simple/hurray" / NAME).read_bytes(), wheel.read_bytes())

    def test_publishing_again_changes_nothing_and_other_bytes_are_refused(self) -> None:
        registry.publish([self.wheel()], self.folder / "index")
        before = {path: path.read_bytes() for path in (self.folder / "index").rglob("*") if path.is_file()}
        registry.publish([self.wheel()], self.folder / "index")
        self.assertEqual(before, {path: path.read_bytes() for path in (self.folder / "index").rglob("*") if path.is_file()})
        with self.assertRaisesRegex(registry.PublishError, "other bytes"):
            registry.publish([self.wheel("c", readme="another")], self.folder / "index")

    def test_what_is_no_wheel_is_refused(self) -> None:
        for name, data in (("hurray.whl", b""), (NAME, b"no zip")):
            path = self.folder / name
            path.write_bytes(data)
            with self.assertRaises(registry.PublishError):
                registry.publish([path], self.folder / "index")
        self.assertFalse((self.folder / "index").exists())

    def test_a_url_goes_to_twine_or_is_refused(self) -> None:
        wheel = self.wheel()
        with mock.patch.dict(os.environ, {"PATH": str(self.folder)}):
            with self.assertRaisesRegex(registry.PublishError, "twine is not installed"):
                registry.publish([wheel], "https://index.example/upload/")
            said = self.folder / "said"
            twine = self.folder / "twine"
            twine.write_text(f'#!/bin/sh\necho "$@" >{said}\n', encoding="utf-8")
            twine.chmod(twine.stat().st_mode | stat.S_IXUSR)
            registry.publish([wheel], Path("https://index.example/upload/"))
            self.assertIn(f"--repository-url https://index.example/upload {wheel}", said.read_text(encoding="utf-8"))
            twine.write_text("#!/bin/sh\necho no credentials >&2\nexit 1\n", encoding="utf-8")
            with self.assertRaisesRegex(registry.PublishError, "no credentials"):
                registry.publish([wheel], "https://index.example/upload/")


if __name__ == "__main__":
    unittest.main()
