"""Each check of the inspection passes what is right, and refuses what it is there to refuse."""

import os
import struct
import tempfile
import unittest
from pathlib import Path

from tools.packaging import inspect
from tools.packaging.archives import Entry, write_tar_gz, write_zip
from tools.packaging.binaries import ar
from tools.packaging.inspect import Requirements

FIXTURE = Path("tools/packaging/tests/fixture")
ALL = {
    "linux-x86_64": (".so", "elf", "x86_64"),
    "macos-aarch64": (".dylib", "mach-o", "aarch64"),
    "windows-x86_64": (".dll", "pe", "x86_64"),
}
# Which of them this test has files of: the C runtime of Windows takes minutes to compile.
PLATFORMS = {name: ALL[name] for name in os.environ["HURRAY_FIXTURES"].split()}
NAMES = {
    "linux-x86_64": "libgood.so.1",
    "macos-aarch64": "@rpath/libgood.1.dylib",
    "windows-x86_64": "good.dll",
}


def built(name, platform):
    return (FIXTURE / f"{name}-{platform}" / (name + PLATFORMS[platform][0])).read_bytes()


class InspectTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.development = (FIXTURE / "libbad.so").read_bytes()

    def assertSays(self, problems, text):
        self.assertTrue(any(text in problem for problem in problems), f"{text!r} is not in {problems}")

    def test_a_library_as_it_should_be_passes_on_every_platform(self):
        for platform, (_, form, machine) in PLATFORMS.items():
            with self.subTest(platform=platform):
                wanted = Requirements(exports=("hurray_fixture",), format=form, machine=machine)
                self.assertEqual(inspect.check(built("good", platform), wanted), [])

    def test_a_stray_export_is_found_on_every_platform(self):
        for platform in PLATFORMS:
            with self.subTest(platform=platform):
                problems = inspect.check(built("bad", platform), inspect.LIBRARY)
                self.assertSays(problems, "exports stray")
                self.assertFalse(any("exports hurray_" in problem for problem in problems), problems)

    def test_a_missing_export_is_found_on_every_platform(self):
        for platform in PLATFORMS:
            with self.subTest(platform=platform):
                wanted = Requirements(exports=("hurray_fixture", "hurray_gone"))
                self.assertEqual(inspect.check(built("good", platform), wanted), ["does not export hurray_gone"])

    def test_a_path_of_the_building_machine_is_found_on_every_platform(self):
        for platform in PLATFORMS:
            with self.subTest(platform=platform):
                self.assertSays(inspect.check(built("bad", platform), inspect.LIBRARY), "names /home/somebody/project/bad.c")

    def test_a_library_that_users_lack_is_found_on_every_platform(self):
        for platform in PLATFORMS:
            with self.subTest(platform=platform):
                wanted = Requirements(exports=("hurray_fixture",), needed=("nothing",))
                self.assertSays(inspect.check(built("good", platform), wanted), "needs ")

    def test_another_machine_format_or_name_is_found(self):
        for change in ({"machine": "riscv64"}, {"format": "coff"}, {"name": "libother.so.1"}):
            for platform in PLATFORMS:
                with self.subTest(change=change, platform=platform):
                    wanted = Requirements(exports=("hurray_fixture",), **change)
                    self.assertEqual(len(inspect.check(built("good", platform), wanted)), 1)

    def test_names_follow_the_platform(self):
        names = {platform: inspect.read(built("good", platform))[0].name for platform in PLATFORMS}
        self.assertEqual(names, {platform: NAMES[platform] for platform in PLATFORMS})

    def test_needs_run_paths_and_later_glibc_of_a_development_build_are_found(self):
        problems = inspect.check(self.development, inspect.LIBRARY)
        self.assertSays(problems, "needs libresolv.so.2")
        self.assertSays(problems, "has the loader look in /home/somebody/lib")
        good = (FIXTURE / "libgood.so").read_bytes()
        wanted = Requirements(exports=("hurray_*",), glibc="2.2")
        self.assertSays(inspect.check(good, wanted), "asks for GLIBC_2.2.5, later than glibc 2.2")
        self.assertEqual(inspect.check(good, Requirements(exports=("hurray_*",), glibc="2.2.5")), [])

    def test_glibc_versions_compare_as_numbers(self):
        self.assertGreater(inspect.version_of("2.31"), inspect.version_of("2.4"))

    def test_a_missing_version_node_is_found(self):
        wanted = Requirements(exports=("hurray_fixture",), nodes=("HURRAY_1", "HURRAY_2"))
        self.assertEqual(inspect.check(built("good", "linux-x86_64"), wanted), ["does not define the version HURRAY_2"])

    def test_paths_of_the_system_are_no_paths_of_a_build(self):
        for text in [b"/proc/self/fd/3", b"/dev/shm", b"/etc/localtime", b"/lib64/ld-linux-x86-64.so.2", b"core/hurray/io/a.cpp"]:
            self.assertEqual(inspect.absolute_paths(b"\0" + text + b"\0"), [])
        for text in [b"/home/u/a", b"/root/.x/y", b"/usr/include/a.h", b"bazel-out/k8-opt/a", b"/build/z.c", b"C:\\Users\\me"]:
            self.assertEqual(inspect.absolute_paths(b"\0" + text + b"\0"), [text.decode()])
        self.assertEqual(inspect.absolute_paths(b"x /somewhere y", ["/somewhere"]), ["/somewhere"])

    def test_truncated_files_are_refused_at_every_length(self):
        for platform in PLATFORMS:
            data = built("good", platform)
            for length in [0, 1, 4, 20, 63, 64, 100, 200, 500, 1000]:
                with self.subTest(platform=platform, length=length):
                    self.assertSays(inspect.check(data[:length], inspect.LIBRARY), "")

    def test_a_table_outside_the_file_is_refused(self):
        data = bytearray(built("good", "linux-x86_64"))
        struct.pack_into("<Q", data, 32, len(data) + 1)
        self.assertSays(inspect.check(bytes(data), inspect.LIBRARY), "cannot be read")

    def test_natives_where_the_loader_looks(self):
        good, bad = built("good", "linux-x86_64"), built("bad", "linux-x86_64")
        wanted = {"native/libgood.so": Requirements(exports=("hurray_fixture",))}
        for write in (write_zip, write_tar_gz):
            out = self.folder / "package"
            with self.subTest(write=write.__name__):
                write(out, [Entry("native/libgood.so", good), Entry("LICENSE", b"text")])
                self.assertEqual(inspect.check_package(out, wanted, files=["LICENSE"]), [])
                self.assertSays(inspect.check_package(out, wanted, files=["README.md"]), "README.md is not there")
                write(out, [Entry("elsewhere/libgood.so", good)])
                problems = inspect.check_package(out, wanted)
                self.assertSays(problems, "native/libgood.so is not there")
                self.assertSays(problems, "elsewhere/libgood.so is a compiled file that nobody expects")
                write(out, [Entry("native/libgood.so", bad)])
                self.assertSays(inspect.check_package(out, wanted), "exports stray")
                write(out, [Entry("native/libgood.so", good), Entry("a.txt", b"see bazel-out/k8-opt/bin/a.cpp")])
                self.assertSays(inspect.check_package(out, wanted), "a.txt names bazel-out/k8-opt/bin/a.cpp")

    def test_members_of_a_static_archive_are_inspected(self):
        def member(name, data):
            return f"{name:<16}{0:<12}{0:<6}{0:<6}{'100644':<8}{len(data):<10}`\n".encode() + data + b"\n" * (len(data) & 1)

        def archive(*members):
            return ar.MAGIC + b"".join(member(*each) for each in members)

        good, bad = built("good", "linux-x86_64"), built("bad", "linux-x86_64")
        self.assertEqual(inspect.check(archive(("a.o/", good)), Requirements(exports=("hurray_*",))), [])
        self.assertSays(inspect.check(archive(("a.o/", good), ("b.o/", bad)), inspect.LIBRARY), "exports stray")
        self.assertSays(inspect.check(archive(("a.txt/", b"text")), inspect.LIBRARY), "holds no compiled file")
        self.assertSays(inspect.check(archive(("a.o/", good))[:-5], inspect.LIBRARY), "cannot be read")
        long_names = archive(("//", b"a-name-longer-than-a-header.o/\n"), ("/0", good))
        self.assertEqual(list(ar.members(long_names)), ["a-name-longer-than-a-header.o"])


if __name__ == "__main__":
    unittest.main()
