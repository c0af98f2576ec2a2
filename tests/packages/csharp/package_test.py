"""A program in an empty folder, made with the tools of .NET, that has nothing but a folder feed with the package."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from bindings.cpp.tests.models import Layer
from tools.packaging import inspect
from tools.packaging.csharp.package import package_id
from tools.packaging.metadata import load
from tools.packaging.publish.csharp import publish

METADATA = load()
NAME = f"{package_id(METADATA)}.{METADATA.version}"
HERE = Path("bindings/csharp/here").resolve()
PROGRAM = Path("bindings/csharp/samples/ModelLayer/Program.cs").resolve()
DOTNET = os.environ["HURRAY_TEST_DOTNET"]
# What a public feed has beside ours: the dependency, and the reference assemblies of an older framework.
PUBLIC = ["system.numerics.tensors", "microsoft.netcore.app.ref", "microsoft.aspnetcore.app.ref"]
PROJECT = """<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup>
    <OutputType>Exe</OutputType>
    <TargetFramework>{framework}</TargetFramework>
    <Nullable>enable</Nullable>
    <UseAppHost>false</UseAppHost>
  </PropertyGroup>
</Project>
"""
SOURCES = """<configuration>
  <packageSources><clear /><add key="ours" value="{feed}" /><add key="public" value="{public}" /></packageSources>
</configuration>
"""


class InAnEmptyFolder(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(dir=os.environ["TEST_TMPDIR"], prefix="away ")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name).resolve()
        self.feed = self.folder / "feed"
        publish([HERE / f"{NAME}.nupkg", HERE / f"{NAME}.snupkg"], self.feed)
        public = self.folder / "public"
        public.mkdir()
        for name in PUBLIC:
            for package in Path(os.environ["HURRAY_TEST_PACKAGES"], name).glob("*/*.nupkg"):
                shutil.copyfile(package, public / package.name)
        (self.folder / "nuget.config").write_text(SOURCES.format(feed=self.feed, public=public))
        self.home = self.folder / "home"
        # NuGet takes a lock of the whole machine when it sees a home for the first time; this one says that it was seen.
        migrations = self.home / ".local/share/NuGet/Migrations"
        migrations.mkdir(parents=True)
        (migrations / "1").touch()
        (self.folder / "tmp").mkdir()
        self.layer = Layer("l\u00e4yer")
        self.model = self.folder / "model.safetensors"
        self.layer.write_safetensors(self.model)

    def run_tool(self, *words: str | Path, cwd: Path) -> str:
        environment = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(self.home),
            "TMPDIR": str(self.folder / "tmp"),
            "DOTNET_CLI_HOME": str(self.home),
            "DOTNET_CLI_TELEMETRY_OPTOUT": "1",
            "DOTNET_NOLOGO": "1",
            "DOTNET_SKIP_FIRST_TIME_EXPERIENCE": "1",
            "DOTNET_CLI_WORKLOAD_UPDATE_NOTIFY_DISABLE": "true",
            "DOTNET_CLI_USE_MSBUILD_SERVER": "0",
            "DOTNET_EnableDiagnostics": "0",
            "DOTNET_EnableWriteXorExecute": "0",
            # The machine may have the newest runtime only.
            "DOTNET_ROLL_FORWARD": "Major",
            "MSBUILDDISABLENODEREUSE": "1",
            "NuGetAudit": "false",
        }
        done = subprocess.run([str(word) for word in words], cwd=cwd, env=environment, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, f"{words}: {done.stdout}{done.stderr}")
        return done.stdout

    def check_program(self, framework: str) -> None:
        place = self.folder / f"program {framework}"
        place.mkdir()
        (place / "Program.csproj").write_text(PROJECT.format(framework=framework))
        shutil.copyfile(PROGRAM, place / "Program.cs")
        self.run_tool(DOTNET, "add", "package", package_id(METADATA), "--version", METADATA.version, cwd=place)
        build = [DOTNET, "build", "-c", "Release", "-o", place / "out", "--nologo", "-nodeReuse:false", "-p:UseSharedCompilation=false"]
        self.run_tool(*build, cwd=place)
        native = place / "out/runtimes/linux-x64/native/libhurray.so.1"
        self.assertTrue(native.exists())
        got = [float(line) for line in self.run_tool(DOTNET, place / "out/Program.dll", self.model, self.layer.name, cwd=self.folder).split()]
        self.assertEqual(len(got), len(self.layer.bias))
        for ours, theirs in zip(got, self.layer.result()):
            self.assertAlmostEqual(ours, theirs, delta=1e-5 * max(1, abs(theirs)))
        # It was this library, and no other of the machine.
        native.unlink()
        with self.assertRaisesRegex(AssertionError, "libhurray.so.1"):
            self.run_tool(DOTNET, place / "out/Program.dll", self.model, self.layer.name, cwd=self.folder)

    def test_program_of_dotnet_10(self) -> None:
        self.check_program("net10.0")

    def test_program_of_dotnet_8_needs_nothing_else(self) -> None:
        self.check_program("net8.0")
        self.assertFalse((self.home / ".nuget/packages/system.numerics.tensors").exists())


class Inspected(unittest.TestCase):
    def setUp(self) -> None:
        self.files = inspect.files_in(HERE / f"{NAME}.nupkg")
        self.symbols = inspect.files_in(HERE / f"{NAME}.snupkg")

    def test_natives_lie_where_the_loader_looks_and_are_clean(self) -> None:
        natives = [name for name in self.files if name.startswith("runtimes/")]
        self.assertEqual(natives, ["runtimes/linux-x64/native/libhurray.so.1"])
        self.assertEqual(inspect.check(self.files[natives[0]], inspect.LIBRARY), [])

    def test_assemblies_documentation_licence_and_readme_are_there(self) -> None:
        wanted = [f"lib/{framework}/Hurray.{ending}" for framework in ("net10.0", "net8.0") for ending in ("dll", "xml")]
        for name in [*wanted, "README.md", "LICENSE"]:
            self.assertTrue(self.files.get(name), name)
        self.assertEqual(
            [name for name in self.symbols if name.startswith("lib/")], ["lib/net10.0/Hurray.pdb", "lib/net8.0/Hurray.pdb"]
        )

    def test_nothing_names_a_place_of_the_machine_that_built_it(self) -> None:
        for name, data in {**self.files, **self.symbols}.items():
            if name.endswith((".dll", ".pdb")):
                self.assertEqual(inspect.absolute_paths(data), [], name)


if __name__ == "__main__":
    unittest.main()
