"""The library against hrry_oracle.py: it reads what Python wrote, in every form that a writer may choose, and what it writes
of that is byte for byte what Python makes of the same tensors and metadata."""

import json
import math
import os
import random
import subprocess
import tempfile
import unittest

import hrry_oracle as oracle
from hrry_oracle import Form, Tensor

GOLDEN = "tests/golden/descriptors"
METADATA = [
    ("string", 1, "text \0 größe 重み"),
    ("empty string", 1, ""),
    ("int64", 2, -(2**63)),
    ("uint64", 3, 2**64 - 1),
    ("float64", 4, -0.1),
    ("infinity", 4, math.inf),
    ("true", 5, 1),
    ("false", 5, 0),
    ("bytes", 6, bytes(range(256))),
    ("schlüssel", 1, "k"),
    ("strings", 7, (1, ["a", "", "ß" * 50] * 20)),
    ("int64s", 7, (2, [-1, 0, 2**63 - 1])),
    ("uint64s", 7, (3, [])),
    ("float64s", 7, (4, [1.5, -2.25])),
    ("bools", 7, (5, [1, 0, 1])),
    ("byte strings", 7, (6, [b"", b"\xff\x00"])),
]


def run(mode, source, target, order="sorted", alignment=0):
    program = os.environ["HURRAY_HRRY_PROGRAM"]
    return subprocess.run([program, mode, source, target, order, str(alignment)], capture_output=True, check=False, text=True)


def golden_tensors(rng):
    """A tensor of every valid golden descriptor that a file can hold without private tags."""
    with open(os.path.join(GOLDEN, "manifest.json"), encoding="utf-8") as file:
        manifest = json.load(file)
    for vector in manifest["valid"]:
        fields = vector["descriptor"]
        plain = all(b["device_tag"] == b["sync_mode"] == b["memory_class"] == 0 and b["alignment"] <= 4096 for b in fields["buffers"])
        known = fields["layout"] not in ("composite", "private_extension") and fields["version_minor"] == 0 and "options" not in vector
        size = sum(b["byte_size"] for b in fields["buffers"])
        if not plain or not known or size > 2**18 or 2**64 - 1 in fields["shape"]:
            continue
        with open(os.path.join(GOLDEN, vector["file"]), "rb") as file:
            descriptor = file.read()[:fields["descriptor_length"]]
        yield Tensor(vector["name"], descriptor, [rng.randbytes(b["byte_size"]) for b in fields["buffers"]])


class File(unittest.TestCase):
    maxDiff = 2000

    def setUp(self):
        self.rng = random.Random(20240613)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.source = os.path.join(folder.name, "source.hrry")
        self.target = os.path.join(folder.name, "target.hrry")

    def rewritten(self, data, mode="map", order="sorted", alignment=0):
        with open(self.source, "wb") as file:
            file.write(data)
        done = run(mode, self.source, self.target, order, alignment)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.target, "rb") as file:
            return file.read()

    def check(self, tensors, metadata, form):
        """What was written in the given form is read in every way, and written in ours."""
        data = oracle.encode(tensors, metadata, form)
        sizes = {t.descriptor: [len(b) for b in t.buffers] for t in tensors}
        for mode, order, alignment in (("map", "sorted", 0), ("read", "unsorted", 16384), ("sequence", "sorted", 8192)):
            out = self.rewritten(data, mode, order, alignment)
            ours = Form(alignment=alignment or 4096, sorted_index=order == "sorted", empty_kv=bool(tensors))
            expected = oracle.encode(tensors, metadata, ours)
            self.assertTrue(out == expected, "%s: %d bytes, expected %d" % (mode, len(out), len(expected)))
            self.assertEqual(oracle.decode(out, sizes), (tensors, metadata))

    def test_every_golden_descriptor(self):
        tensors = list(golden_tensors(self.rng))
        self.assertGreater(len(tensors), 300)
        # Their order in the file is not that of their names.
        self.rng.shuffle(tensors)
        for start in range(0, len(tensors), 60):
            self.check(tensors[start:start + 60], METADATA, Form())

    def small(self):
        tensors = []
        for number, shape in enumerate([[3, 5], [0], [], [2, 2, 2], [1000]]):
            size = math.prod(shape) * 4
            tensors.append(Tensor("größe/%d" % (7 - number), oracle.row_major(3, shape, size), [self.rng.randbytes(size)]))
        return tensors

    def test_forms_that_other_writers_choose(self):
        for form in (
            Form(sorted_index=False),
            Form(sorted_index=False, index_order=[3, 1, 4, 0, 2]),
            Form(checksum=False),
            Form(long_padding=False),
            Form(long_padding=False, kv_flag=False, sorted_index=False),
            Form(kv_flag=False),
            Form(alignment=2**21),
            Form(alignment=65536, long_padding=False),
            Form(first_offset=4096),
            Form(first_offset=72, count_hint=5),
            Form(count_hint=77),
        ):
            with self.subTest(form=form):
                self.check(self.small(), METADATA, form)
                self.check(self.small(), [], form)

    def test_files_without_tensors(self):
        for form in (Form(), Form(empty_kv=False), Form(long_padding=False, first_offset=128)):
            with self.subTest(form=form):
                self.check([], METADATA, form)
                self.check([], [], form)

    def test_composites(self):
        half = [self.rng.randbytes(16) for _ in range(4)]
        whole, parts = [4, 4], [2, 2]
        tensors = [Tensor("z", oracle.composite_head(3, whole, 1, 4), [])]
        for number, offset in enumerate([[0, 0], [0, 2], [2, 0], [2, 2]]):
            tensors.append(Tensor("m%d" % (9 - number), oracle.row_major(3, parts, 16, (whole, offset)), [half[number]]))
        tensors.append(Tensor("group", oracle.composite_head(3, [1], 3, 2), []))
        tensors.append(Tensor("inner", oracle.composite_head(3, [1], 3, 0), []))
        tensors.append(Tensor("a", oracle.row_major(0x10, [3], 3), [b"abc"]))
        for form in (Form(), Form(padded_heads=True), Form(long_padding=False), Form(sorted_index=False)):
            with self.subTest(form=form):
                self.check(tensors, METADATA, form)

    def test_names_of_any_length_and_character(self):
        names = ["\0", "a\0b", "\U0010ffff", "n" * 65535, " ", "/", "\n", "-"]
        tensors = [Tensor(n, oracle.row_major(0x11, [len(n) % 7], len(n) % 7), [bytes(len(n) % 7)]) for n in names]
        self.check(tensors, [("k" * 65535, 2, 1), ("\0", 1, "\0")], Form(sorted_index=False))

    def test_what_is_no_file_is_refused(self):
        data = oracle.encode(self.small(), METADATA)
        for length in list(range(0, 200, 13)) + list(range(len(data) - 200, len(data), 7)):
            with open(self.source, "wb") as file:
                file.write(data[:length])
            for mode in ("map", "read", "sequence"):
                done = run(mode, self.source, self.target)
                self.assertEqual(done.returncode, 3, (mode, length, done.stderr))
        self.assertFalse(os.path.exists(self.target))


if __name__ == "__main__":
    unittest.main()
