"""The package for Java: what is packed and what is refused; the same bytes whatever the order and the time of the input."""

from __future__ import annotations

import os
import tempfile
import unittest
import zipfile
from pathlib import Path

from tools.packaging.java import jdk, natives, package
from tools.packaging.java.pom import pom
from tools.packaging.metadata import load

TOOLS = jdk.Jdk(Path(os.environ["JDK"]))
MODULE = "/** Hurray. */\nmodule dev.hurray {\n    exports dev.hurray;\n    exports dev.hurray.spi;\n}\n"
SERVICE = """package dev.hurray.spi;

/** A service. */
public interface NativeLibrary {
    /** One. */
    String platform();

    /** Two. */
    String fileName();

    /** Three. */
    String sha256();

    /** Four. */
    java.io.InputStream open() throws java.io.IOException;
}
"""
TENSOR = "package dev.hurray;\n\n/** A tensor. */\npublic final class Tensor {\n    /** Makes one. */\n    public Tensor() {}\n}\n"


class PackageTest(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)
        self.sources = {
            "src/module-info.java": MODULE,
            "src/dev/hurray/spi/NativeLibrary.java": SERVICE,
            "gen/dev/hurray/Tensor.java": TENSOR,
        }

    def parts(self, name: str = "parts", *, newer: bool = True, seconds: int = 0) -> package.Parts:
        folder = self.folder / name
        files = []
        for place, text in sorted(self.sources.items(), reverse=bool(seconds)):
            file = folder / place
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            os.utime(file, (1_000_000_000 + seconds,) * 2)
            files.append(file)
        entries = TOOLS.compile({place.split("/", 1)[1]: text for place, text in self.sources.items()}, folder / "compiled", [])
        jar = folder / "hurray.jar"
        with zipfile.ZipFile(jar, "w") as archive:
            for entry in sorted(entries, key=lambda entry: entry.name, reverse=bool(seconds)):
                archive.writestr(zipfile.ZipInfo(entry.name, (2001, 1, 1, 1, 1, seconds)), entry.data)
            if newer:
                archive.writestr("META-INF/versions/22/dev/hurray/Tensor.class", b"newer")
        extra = folder / "newer/dev/hurray/Tensor.java"
        extra.parent.mkdir(parents=True)
        extra.write_text(TENSOR, encoding="utf-8")
        library = folder / "library.so"
        library.write_bytes(b"\x7fELF")
        readme = folder / "README.md"
        readme.write_text("# Hurray\n", encoding="utf-8")
        return package.Parts(jar, readme, files, [extra], {"linux-x86_64": library})

    def make(self, parts: package.Parts, name: str = "out") -> Path:
        out = self.folder / name
        out.mkdir()
        package.make(load(), TOOLS, parts, out)
        return out

    def test_the_same_input_gives_the_same_bytes(self) -> None:
        first = self.make(self.parts("a"), "first")
        second = self.make(self.parts("b", seconds=8), "second")
        names = sorted(file.name for file in first.iterdir())
        self.assertEqual(len(names), 5)
        self.assertEqual(names, sorted(file.name for file in second.iterdir()))
        for name in names:
            self.assertEqual((first / name).read_bytes(), (second / name).read_bytes(), name)

    def test_a_jar_begins_with_its_manifest(self) -> None:
        for file in self.make(self.parts()).glob("*.jar"):
            with zipfile.ZipFile(file) as archive:
                self.assertEqual(archive.namelist()[0], package.MANIFEST, file.name)

    def test_a_public_thing_without_a_comment_is_refused(self) -> None:
        self.sources["gen/dev/hurray/Tensor.java"] = TENSOR.replace("    /** Makes one. */\n", "")
        with self.assertRaisesRegex(jdk.ToolError, r"Tensor.java:\d+: warning: no comment"):
            self.make(self.parts())

    def test_a_link_that_leads_nowhere_is_refused(self) -> None:
        self.sources["gen/dev/hurray/Tensor.java"] = TENSOR.replace("Makes one.", "See {@link Nothing}.")
        with self.assertRaisesRegex(jdk.ToolError, "reference not found"):
            self.make(self.parts())

    def test_a_jar_without_the_classes_for_newer_javas_is_not_released(self) -> None:
        with self.assertRaisesRegex(package.PackageError, "no classes for Java 22"):
            self.make(self.parts(newer=False))

    def test_sources_lie_in_known_folders_and_are_there_once(self) -> None:
        parts = self.parts()
        stranger = self.folder / "Stranger.java"
        stranger.write_text("", encoding="utf-8")
        with self.assertRaisesRegex(package.PackageError, "lies in none"):
            package.sources_of([stranger])
        with self.assertRaisesRegex(package.PackageError, "is there twice"):
            package.sources_of(parts.sources + parts.sources[:1])

    def test_classifiers_say_what_the_file_is_called(self) -> None:
        self.assertEqual(natives.file_name_of("linux-musl-aarch_64"), "libhurray_jni.so")
        self.assertEqual(natives.file_name_of("osx-aarch_64"), "libhurray_jni.dylib")
        self.assertEqual(natives.file_name_of("windows-x86_64"), "hurray_jni.dll")
        self.assertEqual(natives.package_of("linux-musl-x86_64"), "dev.hurray.natives.linux_musl_x86_64")
        for wrong in ("linux", "beos-x86", "linux-../x", ""):
            with self.assertRaises(natives.NativesError):
                natives.file_name_of(wrong)

    def test_the_pom_says_what_the_metadata_say(self) -> None:
        about = load()
        text = pom(about).decode()
        for word in (about.version, about.java_group, about.licence_url, about.url):
            self.assertIn(f">{word}<", text)


if __name__ == "__main__":
    unittest.main()
