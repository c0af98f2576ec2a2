"""What package.py refuses, and what the packages say."""

from __future__ import annotations

import os
import tempfile
import time
import unittest
import zipfile
from pathlib import Path
from unittest import mock
from xml.etree import ElementTree

from tools.packaging.archives import Entry
from tools.packaging.csharp import package
from tools.packaging.metadata import load
from tools.packaging.publish.csharp import PublishError, publish

PROJECT = """<Project><ItemGroup>
<PackageReference Include="B" Version="2.0.0" Condition="'$(TargetFramework)' == 'net10.0'" />
<PackageReference Include="A" Version="1.0.0" />
{more}
</ItemGroup></Project>"""


class PackageTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.project = self.folder / "Project.csproj"
        self.project.write_text(PROJECT.format(more=""))

    def make(self, name: str, data: bytes = b"bytes") -> Path:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        return file

    def pack(self, out: str, frameworks: list[str]) -> Path:
        arguments = ["--project", str(self.project), "--readme", str(self.make("R.md")), "--out", str(self.folder / out)]
        arguments += ["--symbols", str(self.folder / (out + ".s")), "--native", f"linux-x64={self.make('libhurray.so.1')}"]
        for framework in frameworks:
            for ending in ("dll", "xml", "pdb"):
                self.make(f"{framework}/Hurray.{ending}", ending.encode())
            arguments += ["--assemblies", f"{framework}={self.folder / framework}"]
        self.assertEqual(package.main(arguments), 0)
        return self.folder / out

    def test_dependencies_are_those_of_the_framework(self) -> None:
        self.assertEqual(package.dependencies(self.project, "net8.0"), [("A", "1.0.0")])
        self.assertEqual(package.dependencies(self.project, "net10.0"), [("A", "1.0.0"), ("B", "2.0.0")])

    def test_condition_that_is_not_understood_is_refused(self) -> None:
        self.project.write_text(PROJECT.format(more='<PackageReference Include="C" Version="1" Condition="\'$(X)\' != \'y\'" />'))
        with self.assertRaisesRegex(package.PackageError, "condition"):
            package.dependencies(self.project, "net8.0")

    def test_strange_frameworks_and_runtimes_are_refused(self) -> None:
        with self.assertRaisesRegex(package.PackageError, "netstandard2.0"):
            package.assemblies(load(), "netstandard2.0", self.folder, [])
        with self.assertRaisesRegex(package.PackageError, "linux-x86_64"):
            package.native("linux-x86_64", self.folder)

    def test_kind_of_file_without_a_content_type_is_refused(self) -> None:
        with self.assertRaisesRegex(package.PackageError, ".exe"):
            package.write(self.folder / "x", load(), package.nuspec(load(), {}), [Entry("a.exe")])

    def test_order_and_time_of_the_inputs_do_not_matter(self) -> None:
        one = self.pack("one", ["net8.0", "net10.0"])
        before, symbols = one.read_bytes(), (self.folder / "one.s").read_bytes()
        for file in self.folder.rglob("*"):
            os.utime(file, (time.time() - 100000, time.time() - 100000))
        self.assertEqual(self.pack("two", ["net10.0", "net8.0"]).read_bytes(), before)
        self.assertEqual((self.folder / "two.s").read_bytes(), symbols)
        self.make("libhurray.so.1")

    def test_package_says_who_it_is(self) -> None:
        with zipfile.ZipFile(self.pack("one", ["net8.0", "net10.0"])) as archive:
            names = archive.namelist()
            root = ElementTree.fromstring(archive.read("Hurray.nuspec"))
            types = archive.read("[Content_Types].xml").decode()
        self.assertEqual(names[:3], ["[Content_Types].xml", "_rels/.rels", "Hurray.nuspec"])
        self.assertIn("runtimes/linux-x64/native/libhurray.so.1", names)
        texts = {element.tag.rpartition("}")[2]: element.text for element in root.iter()}
        self.assertEqual((texts["id"], texts["version"], texts["license"]), ("Hurray", load().version, load().licence))
        self.assertEqual([group.get("targetFramework") for group in root.iter() if group.tag.endswith("}group")], ["net10.0", "net8.0"])
        self.assertIn('Extension="1"', types)
        self.assertIn('PartName="/LICENSE"', types)

    def test_feed_keeps_what_was_published(self) -> None:
        first = self.make("Hurray.0.1.0.nupkg", b"1")
        publish([first], self.folder / "feed")
        publish([first], self.folder / "feed")
        with self.assertRaisesRegex(PublishError, "other bytes"):
            publish([self.make("again/Hurray.0.1.0.nupkg", b"2")], self.folder / "feed")
        self.assertEqual((self.folder / "feed/Hurray.0.1.0.nupkg").read_bytes(), b"1")
        with self.assertRaisesRegex(PublishError, "expected a nupkg"):
            publish([self.make("x.zip")], self.folder / "feed")

    def test_push_needs_https_a_tool_and_a_key(self) -> None:
        file = self.make("Hurray.0.1.0.nupkg")
        with self.assertRaisesRegex(PublishError, "https"):
            publish([file], "http://feed.invalid/index.json")
        with mock.patch.dict(os.environ, {"PATH": str(self.folder)}), self.assertRaisesRegex(PublishError, "dotnet"):
            publish([file], "https://feed.invalid/index.json")
        tool = self.make("dotnet", b"#!/bin/sh\nexit 0\n")
        tool.chmod(0o755)
        with mock.patch.dict(os.environ, {"PATH": str(self.folder)}):
            os.environ.pop("NUGET_API_KEY", None)
            with self.assertRaisesRegex(PublishError, "NUGET_API_KEY"):
                publish([file], "https://feed.invalid/index.json")

    def test_push_runs_nugets_own_command_and_tells_its_failure_without_the_key(self) -> None:
        nupkg, snupkg = self.make("Hurray.0.1.0.nupkg"), self.make("Hurray.0.1.0.snupkg")
        tool = self.make("dotnet", f'#!/bin/sh\necho "$@" >> {self.folder}/said\n'.encode())
        tool.chmod(0o755)
        with mock.patch.dict(os.environ, {"PATH": f"{self.folder}:/bin", "NUGET_API_KEY": "secret"}):
            publish([nupkg, snupkg], Path("https://feed.invalid/index.json"))
            said = (self.folder / "said").read_text()
            self.assertEqual(said.splitlines(), [f"nuget push {nupkg} --source https://feed.invalid/index.json --api-key secret"])
            self.make("dotnet", b'#!/bin/sh\necho "refused: $@"\nexit 1\n')
            with self.assertRaises(PublishError) as refused:
                publish([nupkg], "https://feed.invalid/index.json")
        self.assertIn("refused", str(refused.exception))
        self.assertNotIn("secret", str(refused.exception))


if __name__ == "__main__":
    unittest.main()
