"""The same entries give the same bytes, whatever else differs, and no entry can leave the archive."""

import gzip
import io
import os
import random
import tarfile
import tempfile
import unittest
import zipfile
from pathlib import Path

from tools.packaging.archives import ArchiveError, Entry, entries_below, entry_of, write_tar_gz, write_zip

ENTRIES = [
    Entry("b/lib.so", bytes(range(256)) * 40),
    Entry("b/tool", b"#!/bin/sh\n", executable=True),
    Entry("a.txt", b""),
    Entry("META-INF/MANIFEST.MF", b"Manifest-Version: 1.0\n"),
    Entry("z/größe.txt", b"names beyond ASCII"),
    Entry("long/" + "n" * 150, b"longer than a plain tar header"),
]


class ArchivesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def zipped(self, entries, **options):
        write_zip(self.folder / "out.zip", entries, **options)
        return (self.folder / "out.zip").read_bytes()

    def tarred(self, entries, **options):
        write_tar_gz(self.folder / "out.tar.gz", entries, **options)
        return (self.folder / "out.tar.gz").read_bytes()

    def test_order_of_entries_does_not_change_the_bytes(self):
        for write in (self.zipped, self.tarred):
            expected = write(ENTRIES)
            for seed in range(5):
                shuffled = ENTRIES[:]
                random.Random(seed).shuffle(shuffled)
                self.assertEqual(write(shuffled), expected)

    def test_times_modes_and_place_of_the_inputs_do_not_change_the_bytes(self):
        results = []
        for place, time, mode in [("one", 1_000_000_000, 0o600), ("two/deeper", 1_700_000_000, 0o664)]:
            source = self.folder / place / "tree"
            (source / "sub").mkdir(parents=True)
            for name in ["x", "sub/y"]:
                (source / name).write_bytes(name.encode())
                os.chmod(source / name, mode)
                os.utime(source / name, (time, time))
            entries = entries_below(source, "in/")
            results.append((self.zipped(entries), self.tarred(entries, root="root")))
        self.assertEqual(results[0], results[1])

    def test_bytes_do_not_depend_on_the_time_zone(self):
        expected = self.zipped(ENTRIES), self.tarred(ENTRIES)
        import time

        before = os.environ.get("TZ")
        try:
            os.environ["TZ"] = "Pacific/Kiritimati"
            time.tzset()
            self.assertEqual((self.zipped(ENTRIES), self.tarred(ENTRIES)), expected)
        finally:
            os.environ.pop("TZ")
            if before is not None:
                os.environ["TZ"] = before
            time.tzset()

    def test_a_changed_byte_changes_the_archive(self):
        changed = [Entry("a", b"1"), Entry("b", b"2")]
        other = [Entry("a", b"1"), Entry("b", b"3")]
        self.assertNotEqual(self.zipped(changed), self.zipped(other))
        self.assertNotEqual(self.tarred(changed), self.tarred(other))

    def test_zip_holds_what_was_given(self):
        with zipfile.ZipFile(io.BytesIO(self.zipped(ENTRIES, first=["META-INF/MANIFEST.MF"]))) as archive:
            self.assertIsNone(archive.testzip())
            names = archive.namelist()
            self.assertEqual(names[0], "META-INF/MANIFEST.MF")
            self.assertEqual(names[1:], sorted(names[1:]))
            for entry in ENTRIES:
                info = archive.getinfo(entry.name)
                self.assertEqual(archive.read(info), entry.data)
                self.assertEqual(info.date_time, (1980, 1, 1, 0, 0, 0))
                self.assertEqual(info.external_attr >> 16, 0o100755 if entry.executable else 0o100644)

    def test_stored_zip_is_not_compressed(self):
        with zipfile.ZipFile(io.BytesIO(self.zipped(ENTRIES, store=True))) as archive:
            self.assertEqual({info.compress_type for info in archive.infolist()}, {zipfile.ZIP_STORED})

    def test_tar_holds_what_was_given(self):
        data = self.tarred([*ENTRIES, Entry("b/link.so", link="lib.so")], root="hurray-1.2.3")
        self.assertEqual(data[4:8], bytes(4), "gzip's time")
        with tarfile.open(fileobj=io.BytesIO(gzip.decompress(data))) as archive:
            for entry in ENTRIES:
                info = archive.getmember("hurray-1.2.3/" + entry.name)
                self.assertEqual(archive.extractfile(info).read(), entry.data)
                self.assertEqual((info.mtime, info.uid, info.gid, info.uname, info.gname), (315532800, 0, 0, "", ""))
                self.assertEqual(info.mode, 0o755 if entry.executable else 0o644)
            self.assertEqual(archive.getmember("hurray-1.2.3/b/link.so").linkname, "lib.so")

    def test_names_that_leave_the_archive_are_refused(self):
        for name in ["", "/etc/passwd", "../up", "a/../../up", "a//b", "./a", "a/", "a\\b", "C:a", "a\0b", "a\nb"]:
            for write in (self.zipped, self.tarred):
                with self.subTest(name=name), self.assertRaises(ArchiveError):
                    write([Entry(name, b"x")])

    def test_links_that_leave_the_archive_are_refused(self):
        for target in ["/etc/passwd", "../../up", "", "a/../../../up"]:
            with self.subTest(target=target), self.assertRaises(ArchiveError):
                self.tarred([Entry("b/link", link=target)])
        with self.assertRaises(ArchiveError):
            self.zipped([Entry("b/link", link="x")])

    def test_one_name_twice_is_refused(self):
        for names in [("a", "a"), ("A", "a"), ("a", "a/b")]:
            with self.subTest(names=names), self.assertRaises(ArchiveError):
                self.zipped([Entry(name, b"") for name in names])

    def test_a_first_entry_that_is_not_there_is_refused(self):
        with self.assertRaises(ArchiveError):
            self.zipped([Entry("a")], first=["META-INF/MANIFEST.MF"])

    def test_a_file_comes_in_under_the_name_that_is_asked_for(self):
        file = self.folder / "libhurray.so.1"
        file.write_bytes(b"\x7fELF")
        self.assertEqual(entry_of("native/libhurray.so", file), Entry("native/libhurray.so", b"\x7fELF"))


if __name__ == "__main__":
    unittest.main()
