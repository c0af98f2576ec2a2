"""The package for Java, from a local Maven repository into empty projects: javac and java, with the class path and the module path."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import struct
import subprocess
import tempfile
import unittest
import zipfile
from pathlib import Path
from unittest import mock

from tests.packages.java.repository import Repository
from tools.packaging import inspect, metadata
from tools.packaging.archives import Entry, write_zip
from tools.packaging.publish import java as publishing

ROOT = Path.cwd()
HERE = ROOT / "tests/packages/java"
PACKAGE = ROOT / "bindings/java/package_here"
JDK = Path(os.environ["JDK"])
NEWER_JDK = Path(os.environ["NEWER_JDK"])
CLASSIFIER = "linux-x86_64"
WEIGHT = [[1.0, 0.5, -2.0], [0.25, 4.0, 1.0], [-1.0, 0.0, -8.0], [2.0, 2.0, 2.0]]
BIAS = [0.5, -1.0, 0.25, 0.0]
X = [2.0, -1.5, 0.125]


def safetensors(tensors: dict[str, tuple[list[int], list[float]]]) -> bytes:
    header, data = {}, b""
    for name, (shape, values) in tensors.items():
        packed = struct.pack(f"<{len(values)}f", *values)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(packed)]}
        data += packed
    text = json.dumps(header, ensure_ascii=False).encode()
    return struct.pack("<Q", len(text)) + text + data


def layer() -> list[float]:
    """The answer, worked out here."""
    return [max(0.0, bias + sum(w * x for w, x in zip(row, X, strict=True))) for row, bias in zip(WEIGHT, BIAS, strict=True)]


class PackageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.scratch = Path(tempfile.mkdtemp(prefix="java-package-"))
        cls.addClassCleanup(shutil.rmtree, cls.scratch, ignore_errors=True)
        cls.repository = Repository(cls.scratch / "repository")
        publishing.publish([PACKAGE], cls.repository.folder)
        cls.about = metadata.load()
        cls.coordinates = f"{cls.about.java_group}:hurray:{cls.about.version}"
        cls.jar = cls.repository.file(cls.coordinates)
        cls.natives = cls.repository.file(f"{cls.coordinates}:{CLASSIFIER}")
        cls.model = cls.scratch / "model.safetensors"
        flat = [value for row in WEIGHT for value in row]
        cls.model.write_bytes(safetensors({"läyer.weight": ([4, 3], flat), "läyer.bias": ([4], BIAS)}))
        cls.classes = cls.scratch / "classes"
        cls._javac(JDK, cls.classes, ["--release", "17", "-cp", str(cls.jar)], [HERE / "app/Layer.java", HERE / "app/Facts.java"])

    def setUp(self) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="home-", dir=self.scratch))

    @staticmethod
    def _environment(home: Path) -> dict[str, str]:
        return {"PATH": "/usr/bin:/bin", "HOME": str(home), "LC_ALL": "C.UTF-8"}

    @classmethod
    def _javac(cls, jdk: Path, out: Path, options: list[str], files: list[Path]) -> None:
        done = subprocess.run(
            [jdk / "bin/javac", "-J-XX:-UsePerfData", "-encoding", "UTF-8", "-Xlint:all", "-Werror", *options, "-d", out, *files],
            env=cls._environment(cls.scratch), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, text=True,
        )
        if done.returncode != 0:
            raise AssertionError(done.stdout)

    def java(self, arguments: list, jdk: Path = JDK, code: int = 0, home: Path | None = None, stderr: str | None = "") -> str:
        """Runs a program in an empty folder; what it prints. stderr: all that it may print there; None for anything."""
        home = home or self.home
        with tempfile.TemporaryDirectory(dir=self.scratch) as empty:
            done = subprocess.run(
                [jdk / "bin/java", "-XX:-UsePerfData", f"-Duser.home={home}", *map(str, arguments)],
                env=self._environment(home), cwd=empty, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, text=True,
            )
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        if stderr is not None:
            self.assertEqual(done.stderr, stderr)
        return done.stdout

    def class_path(self, *more: Path) -> str:
        return ":".join(map(str, [self.jar, self.natives, self.classes, *more]))

    def facts(self, *options: str, code: int = 0, natives: Path | None = None, home: Path | None = None, stderr: str | None = "") -> str:
        path = ":".join(map(str, [self.jar, natives or self.natives, self.classes]))
        return self.java([*options, "-cp", path, "app.Facts"], code=code, home=home, stderr=stderr).strip()

    def check(self, printed: str) -> None:
        self.assertEqual([float(word) for word in printed.split()], layer())

    # --- The repository

    def test_the_repository_is_laid_out_as_build_tools_look_for_it(self) -> None:
        self.assertEqual(self.repository.versions(self.about.java_group, "hurray"), [self.about.version])
        for classifier in ("sources", "javadoc", CLASSIFIER):
            self.repository.file(f"{self.coordinates}:{classifier}")
        self.assertEqual(
            publishing.coordinates(self.repository.file(self.coordinates, "pom")), tuple(self.coordinates.split(":"))
        )

    def test_the_same_package_can_be_published_again_and_another_one_cannot(self) -> None:
        folder = self.scratch / "again"
        publishing.publish([PACKAGE], folder)
        before = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
        publishing.publish([PACKAGE], folder)
        self.assertEqual({file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}, before)
        other = self.scratch / "other"
        shutil.copytree(PACKAGE, other)
        for file in other.iterdir():
            file.chmod(0o644)
        (other / self.jar.name).write_bytes(b"another")
        with self.assertRaisesRegex(publishing.PublishError, "with other bytes"):
            publishing.publish([other], folder)
        (other / "stranger.jar").write_bytes(b"")
        with self.assertRaisesRegex(publishing.PublishError, "stranger.jar: does not belong"):
            publishing.publish([other], folder)

    def test_urls_need_https_the_tool_and_credentials(self) -> None:
        with self.assertRaisesRegex(publishing.PublishError, "https only"):
            publishing.publish([PACKAGE], "http://repository.invalid/maven")
        with mock.patch.dict(os.environ, {"PATH": str(self.home)}), self.assertRaisesRegex(publishing.PublishError, "mvn is not installed"):
            publishing.publish([PACKAGE], "https://repository.invalid/maven")
        maven = self.home / "mvn"
        maven.write_text('#!/bin/sh\nprintf "%s\\n" "$@" > "$0.seen"\n', encoding="ascii")
        maven.chmod(0o755)
        with mock.patch.dict(os.environ, {"PATH": f"{self.home}:/usr/bin:/bin"}):
            with self.assertRaisesRegex(publishing.PublishError, "HURRAY_MAVEN_REPOSITORY_ID"):
                publishing.publish([PACKAGE], "https://repository.invalid/maven")
            with mock.patch.dict(os.environ, {"HURRAY_MAVEN_REPOSITORY_ID": "central"}):
                publishing.publish([PACKAGE], "https://repository.invalid/maven")
        seen = (self.home / "mvn.seen").read_text(encoding="utf-8")
        self.assertIn("deploy:deploy-file", seen)
        self.assertIn("-DrepositoryId=central", seen)
        self.assertIn(CLASSIFIER, seen)

    # --- Programs

    def test_a_program_on_the_class_path_runs_a_layer_of_a_model(self) -> None:
        for jdk in (JDK, NEWER_JDK):
            options = ["--enable-native-access=ALL-UNNAMED"] if jdk == NEWER_JDK else []
            self.check(self.java([*options, "-cp", self.class_path(), "app.Layer", self.model, *X], jdk=jdk))

    def test_a_program_in_a_jar_runs_a_layer_of_a_model(self) -> None:
        program = self.scratch / "layer.jar"
        # Lines of a manifest have 72 bytes: the jar tool folds them.
        manifest = self.scratch / "manifest"
        manifest.write_text(
            f"Main-Class: app.Layer\nEnable-Native-Access: ALL-UNNAMED\nClass-Path: {self.jar.as_uri()} {self.natives.as_uri()}\n", encoding="utf-8"
        )
        subprocess.run([JDK / "bin/jar", "-J-XX:-UsePerfData", "-c", "-f", program, "-m", manifest, "-C", self.classes, "."], check=True)
        for jdk in (JDK, NEWER_JDK):
            self.check(self.java(["-jar", program, self.model, *X], jdk=jdk))

    def test_a_program_on_the_module_path_runs_a_layer_of_a_model(self) -> None:
        modules = self.scratch / "modules"
        self._javac(JDK, modules, ["--release", "17", "-p", str(self.jar)], [HERE / "app/Layer.java", HERE / "app/module-info.java"])
        for jdk in (JDK, NEWER_JDK):
            path = f"{self.jar}:{self.natives}:{modules}"
            options = ["--enable-native-access=dev.hurray"] if jdk == NEWER_JDK else []
            self.check(self.java([*options, "-p", path, "-m", "app/app.Layer", self.model, *X], jdk=jdk))

    def test_memory_segments_with_newer_javas(self) -> None:
        out = self.scratch / "segments"
        self._javac(NEWER_JDK, out, ["-cp", str(self.jar)], [HERE / "Segments.java"])
        printed = self.java(["--enable-native-access=ALL-UNNAMED", "-cp", self.class_path(out), "Segments"], jdk=NEWER_JDK)
        self.assertEqual(printed.strip(), "true 7.0")

    def test_a_program_that_ends_with_live_tensors_ends_well(self) -> None:
        self.assertTrue(self.facts().endswith("/libhurray_jni.so"))

    def test_two_class_loaders_have_a_copy_each_and_exchange_tensors(self) -> None:
        out = self.scratch / "loaders"
        self._javac(JDK, out, ["--release", "17"], [HERE / "Loaders.java"])
        for jdk in (JDK, NEWER_JDK):
            lines = self.java(["-cp", out, "Loaders", self.jar, self.natives], jdk=jdk, stderr=None).split()
            self.assertEqual(len(lines), 3, lines)
            self.assertNotEqual(lines[0], lines[1])
            self.assertEqual(lines[2], "7.0")
        self.assertEqual([file.name for file in (self.home / ".cache/hurray").rglob("*") if file.is_file()], ["libhurray_jni.so"],
                         "the copies are gone")

    def test_with_one_file_for_all_the_second_class_loader_is_refused_clearly(self) -> None:
        out = self.scratch / "refused"
        self._javac(JDK, out, ["--release", "17"], [HERE / "Loaders.java"])
        library = self.home / "mine.so"
        with zipfile.ZipFile(self.natives) as archive:
            library.write_bytes(archive.read("dev/hurray/natives/linux_x86_64/libhurray_jni.so"))
        command = [JDK / "bin/java", "-XX:-UsePerfData", f"-Ddev.hurray.jni={library}", "-cp", out, "Loaders", self.jar]
        done = subprocess.run(command, env=self._environment(self.home), stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout.strip(), str(library), "the first one has it")
        self.assertRegex(done.stderr, r"LibraryLoadException: .*already loaded in another classloader")

    # --- The loader

    def test_without_the_jar_for_the_platform_the_error_names_it(self) -> None:
        said = self.java(["-cp", f"{self.jar}:{self.classes}", "app.Facts"], code=3)
        self.assertTrue(said.startswith("LibraryLoadException: "), said)
        for word in (CLASSIFIER, "-Ddev.hurray.jni=FILE"):
            self.assertIn(word, said)

    def test_the_cache_is_the_users_alone_and_named_by_the_hash(self) -> None:
        path = Path(self.facts())
        with zipfile.ZipFile(self.natives) as archive:
            library = archive.read("dev/hurray/natives/linux_x86_64/libhurray_jni.so")
        self.assertEqual(path, self.home / ".cache/hurray" / hashlib.sha256(library).hexdigest() / "libhurray_jni.so")
        self.assertEqual(path.read_bytes(), library)
        for folder in (path.parent, path.parent.parent):
            self.assertEqual(stat.S_IMODE(folder.stat().st_mode), 0o700)
        inode = path.stat().st_ino
        self.assertEqual(self.facts(), str(path))
        self.assertEqual(path.stat().st_ino, inode, "it is not written again")

    def test_a_file_of_the_cache_that_was_changed_is_replaced(self) -> None:
        path = Path(self.facts())
        whole = path.read_bytes()
        path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        self.facts()
        self.assertEqual(path.read_bytes(), whole)
        path.unlink()
        path.symlink_to("/dev/zero")
        self.facts()
        self.assertEqual(path.read_bytes(), whole)
        self.assertFalse(path.is_symlink())

    def test_a_folder_that_others_may_write_to_is_not_used(self) -> None:
        folder = self.home / "open"
        folder.mkdir()
        folder.chmod(0o777)
        path = self.facts(f"-Ddev.hurray.cache={folder}", f"-Djava.io.tmpdir={self.home}")
        self.assertEqual(list(folder.iterdir()), [])
        self.assertNotIn("/open/", path)
        self.assertEqual(list(self.home.glob("hurray-*")), [], "the temporary copy is gone")

    def test_without_a_home_a_temporary_copy_is_loaded(self) -> None:
        path = self.facts(f"-Djava.io.tmpdir={self.home}", home=Path("/dev/null/nowhere"))
        self.assertTrue(path.startswith(str(self.home)), path)
        self.assertEqual(list(self.home.iterdir()), [])

    def test_processes_that_begin_at_once_do_not_disturb_each_other(self) -> None:
        command = [JDK / "bin/java", "-XX:-UsePerfData", f"-Duser.home={self.home}", "-cp", self.class_path(), "app.Facts"]
        running = [subprocess.Popen(command, env=self._environment(self.home), stdout=subprocess.PIPE) for _ in range(4)]
        self.assertEqual(len({process.communicate()[0] for process in running}), 1)
        self.assertEqual([process.returncode for process in running], [0] * 4)

    def changed_natives(self, library: bytes, *, with_hash: bool) -> Path:
        """The jar with other native code; with_hash: its class says so."""
        out = self.scratch / f"changed-{with_hash}.jar"
        with zipfile.ZipFile(self.natives) as archive:
            entries = [Entry(name, archive.read(name)) for name in archive.namelist()]
        old = next(entry.data for entry in entries if entry.name.endswith(".so"))
        changed = []
        for entry in entries:
            data = library if entry.name.endswith(".so") else entry.data
            if with_hash and entry.name.endswith(".class"):
                data = data.replace(hashlib.sha256(old).hexdigest().encode(), hashlib.sha256(library).hexdigest().encode())
            changed.append(Entry(entry.name, data))
        write_zip(out, changed)
        return out

    def test_a_damaged_jar_is_not_loaded(self) -> None:
        said = self.facts(code=3, natives=self.changed_natives(b"\x7fELF and nothing else", with_hash=False))
        self.assertIn("the jar is damaged: SHA-256", said)
        self.assertEqual([file for file in self.home.rglob("*") if file.is_file()], [])

    def test_a_library_that_the_system_does_not_map_names_both_overrides(self) -> None:
        # As on a file system that is mounted noexec: the file is there, and is right, and cannot be mapped.
        said = self.facts(code=3, natives=self.changed_natives(b"no library at all", with_hash=True), stderr=None)
        self.assertTrue(said.startswith("LibraryLoadException: "), said)
        for word in ("noexec", "-Ddev.hurray.cache=FOLDER", "-Ddev.hurray.jni=FILE", str(self.home)):
            self.assertIn(word, said)

    def test_the_override_comes_before_the_jar(self) -> None:
        library = self.home / "mine.so"
        with zipfile.ZipFile(self.natives) as archive:
            library.write_bytes(archive.read("dev/hurray/natives/linux_x86_64/libhurray_jni.so"))
        self.assertEqual(self.facts(f"-Ddev.hurray.jni={library}"), str(library))
        self.assertFalse((self.home / ".cache").exists())
        said = self.facts(f"-Ddev.hurray.jni={self.home}/none.so", code=3)
        self.assertIn("none.so", said)

    # --- What is in the jars

    def test_every_jar_has_the_licence_and_no_time_of_its_own(self) -> None:
        for classifier in ("", ":sources", ":javadoc", f":{CLASSIFIER}"):
            with zipfile.ZipFile(self.repository.file(self.coordinates + classifier)) as archive:
                self.assertEqual(archive.read("META-INF/LICENSE"), self.about.licence_text)
                self.assertEqual({info.date_time for info in archive.infolist()}, {(1980, 1, 1, 0, 0, 0)})

    def test_the_readme_is_there_and_speaks_of_this_version(self) -> None:
        with zipfile.ZipFile(self.jar) as archive:
            text = archive.read("META-INF/README.md").decode()
        self.assertIn(f'implementation("{self.coordinates}")', text)
        self.assertIn(f"<version>{self.about.version}</version>", text)

    def test_the_sources_are_those_of_the_classes(self) -> None:
        with zipfile.ZipFile(self.repository.file(f"{self.coordinates}:sources")) as archive:
            sources = {name[:-5] for name in archive.namelist() if name.endswith(".java")}
        with zipfile.ZipFile(self.jar) as archive:
            classes = {name[:-6] for name in archive.namelist() if name.endswith(".class") and "$" not in name}
            self.assertIn("META-INF/native-image/dev.hurray/hurray/jni-config.json", archive.namelist())
        self.assertEqual(sources - {"dev/hurray/package-info", "dev/hurray/spi/package-info"}, classes)

    def test_the_documentation_has_every_public_class(self) -> None:
        with zipfile.ZipFile(self.repository.file(f"{self.coordinates}:javadoc")) as archive:
            names = set(archive.namelist())
        for page in ("index.html", "dev.hurray/dev/hurray/Tensor.html", "dev.hurray/dev/hurray/Composite.html"):
            self.assertIn(page, names)

    def test_the_native_library_exports_javas_functions_and_needs_the_system_alone(self) -> None:
        requirements = inspect.Requirements(
            exports=("Java_dev_hurray_*", "JNI_OnLoad", "JNI_OnUnload"), format="elf", machine="x86_64", name=""
        )
        with zipfile.ZipFile(self.natives) as archive:
            natives = [name for name in archive.namelist() if inspect.is_native(archive.read(name))]
            self.assertEqual(natives, ["dev/hurray/natives/linux_x86_64/libhurray_jni.so"])
            self.assertEqual(inspect.check(archive.read(natives[0]), requirements), [])
        with zipfile.ZipFile(self.jar) as archive:
            self.assertEqual([name for name in archive.namelist() if inspect.is_native(archive.read(name))], [])


if __name__ == "__main__":
    unittest.main()
