"""NumPy and Hurray read each other's .npy and .npz files: every dtype, byte order, memory order and shape, stored and deflate."""

import io
import os
import struct
import subprocess
import tempfile
import unittest
import zipfile
import zlib

import numpy

PEER = "core/hurray/io/npz/tests/numpy_peer"
ROW_MAJOR, COL_MAJOR = 1, 2
UNSUPPORTED, INVALID_FORMAT = -15, -22

TAGS = {
    "b1": 0x20, "i1": 0x10, "u1": 0x11, "i2": 0x12, "u2": 0x13, "i4": 0x14, "u4": 0x15, "i8": 0x16, "u8": 0x17,
    "f2": 0x01, "f4": 0x03, "f8": 0x04, "c8": 0x50, "c16": 0x51,
}
SHAPES = [(), (1,), (5,), (17,), (0,), (2, 3), (3, 0, 4), (4, 5, 6), (1, 7, 1), (2, 1, 3, 2, 1, 2)]


class Refused(Exception):
    def __init__(self, line):
        code, offset, message = line.split(" ", 2)
        super().__init__(message)
        self.code = int(code)
        self.offset = int(offset)


def peer(*arguments):
    done = subprocess.run([PEER, *arguments], capture_output=True, check=False)
    if done.returncode == 3:
        raise Refused(done.stderr.decode())
    assert done.returncode == 0, done
    return done.stdout.decode()


def values(dtype, shape, seed=1):
    """Numbers with every byte different, of any dtype."""
    generator = numpy.random.default_rng(seed)
    dtype = numpy.dtype(dtype)
    count = int(numpy.prod(shape, dtype=numpy.int64))
    if dtype.kind == "b":
        return generator.integers(0, 2, count).astype(bool).reshape(shape)
    return numpy.frombuffer(generator.bytes(count * dtype.itemsize), dtype=dtype).reshape(shape)


class Peer(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def read(self, path, access="map"):
        """The tensors of a file as Hurray hands them out, and how many bytes it copied."""
        lines = peer("read", access, path, self.folder).splitlines()
        tensors = {}
        for number, line in enumerate(lines[:-1]):
            name, stored_type, tag, layout, shape = line.split(" ")
            shape = tuple(int(size) for size in shape[1:-1].split(",") if size)
            with open(self.path(str(number)), "rb") as file:
                data = file.read()
            kind = next(kind for kind, known in TAGS.items() if known == int(tag))
            count = int(numpy.prod(shape, dtype=numpy.int64))
            if kind == "b1":
                bits = numpy.frombuffer(data, dtype=numpy.uint8)
                array = numpy.unpackbits(bits, count=count, bitorder="little").astype(bool)
                self.assertEqual(len(data), (count + 7) // 8)
            else:
                array = numpy.frombuffer(data, dtype="<" + kind)
            array = array.reshape(shape, order="F" if int(layout) == COL_MAJOR else "C")
            tensors[bytes.fromhex(name).decode()] = (array, stored_type, int(layout))
        return tensors, int(lines[-1].split(" ")[1])

    def assert_same(self, got, expected):
        self.assertEqual(got.shape, expected.shape)
        self.assertEqual(got.dtype.newbyteorder("<"), expected.dtype.newbyteorder("<"))
        # Bit for bit, NaN included.
        self.assertEqual(numpy.ascontiguousarray(got).astype(got.dtype.newbyteorder("<")).tobytes(),
                         numpy.ascontiguousarray(expected).astype(expected.dtype.newbyteorder("<")).tobytes())


class Npy(Peer):
    def test_every_dtype_order_and_shape_that_numpy_saves(self):
        for kind in TAGS:
            for order in "<>":
                dtype = numpy.dtype(order + kind)
                arrays = [values(dtype, shape) for shape in SHAPES]
                arrays += [numpy.asfortranarray(array) for array in arrays]
                with open(self.path("all.npz"), "wb") as file:
                    numpy.savez(file, *arrays)
                for access in ("map", "read"):
                    tensors, copied = self.read(self.path("all.npz"), access)
                    self.assertEqual(len(tensors), len(arrays))
                    for number, array in enumerate(arrays):
                        got, stored_type, layout = tensors[f"arr_{number}"]
                        self.assert_same(got, array)
                        self.assertEqual(stored_type, array.dtype.str)
                        self.assertEqual(layout, ROW_MAJOR if array.flags.c_contiguous else COL_MAJOR)
                    if access == "map" and kind != "b1" and (order == "<" or dtype.itemsize == 1):
                        self.assertEqual(copied, 0)
                    else:
                        self.assertEqual(copied, sum((array.size + 7) // 8 if kind == "b1" else array.nbytes for array in arrays))

    def test_versions_2_and_3(self):
        array = values("<f4", (3, 4))
        for version in ((1, 0), (2, 0), (3, 0)):
            with open(self.path("v.npy"), "wb") as file:
                numpy.lib.format.write_array(file, array, version=version)
            tensors, _ = self.read(self.path("v.npy"))
            self.assert_same(tensors["data"][0], array)

    def test_written_files_are_numpys_own_byte_for_byte(self):
        for kind in TAGS:
            for shape in SHAPES + [(10**6,), (10**5, 3)]:
                for array in (values("<" + kind, shape), numpy.asfortranarray(values("<" + kind, shape))):
                    numpy.save(self.path("theirs.npy"), array)
                    peer("write", self.path("theirs.npy"), self.path("ours.npy"), "npy")
                    with open(self.path("theirs.npy"), "rb") as theirs, open(self.path("ours.npy"), "rb") as ours:
                        self.assertEqual(ours.read(), theirs.read())

    def test_big_endian_arrays_are_written_little_endian(self):
        array = values(">c16", (4, 5))
        numpy.save(self.path("big.npy"), array)
        peer("write", self.path("big.npy"), self.path("little.npy"), "npy")
        got = numpy.load(self.path("little.npy"), allow_pickle=False)
        self.assertEqual(got.dtype.str, "<c16")
        self.assert_same(got, array)

    def test_a_second_array_in_the_file_is_ignored_as_numpy_does(self):
        with open(self.path("two.npy"), "wb") as file:
            numpy.save(file, values("<i4", (3,), 1))
            numpy.save(file, values("<i4", (4,), 2))
        self.assert_same(self.read(self.path("two.npy"))[0]["data"][0], numpy.load(self.path("two.npy"), allow_pickle=False))

    def test_what_hurray_cannot_hold_is_refused_and_never_unpickled(self):
        class Bomb:
            def __reduce__(self):
                return (open, (os.devnull + "/unpickled", "w"))

        objects = numpy.empty(1, dtype=object)
        objects[0] = Bomb()
        for array in (objects, numpy.array(["text"]), numpy.array([b"bytes"]), numpy.zeros(2, "M8[ns]"),
                      numpy.zeros(2, [("a", "<f4")]), numpy.zeros(2, numpy.longdouble), numpy.zeros(2, numpy.clongdouble),
                      numpy.zeros(2, "V2")):
            numpy.save(self.path("a.npy"), array)
            numpy.savez_compressed(self.path("a.npz"), array)
            for name in ("a.npy", "a.npz"):
                with self.assertRaises(Refused) as refused:
                    self.read(self.path(name))
                self.assertEqual(refused.exception.code, UNSUPPORTED)


class Npz(Peer):
    def arrays(self):
        return {
            "plain": values("<f4", (100, 30)), "columns": numpy.asfortranarray(values("<f8", (30, 40))),
            "big": values(">i8", (5, 5)), "bools": values("b1", (1001,)), "scalar": values("<u2", ()), "none": values("<c8", (0, 3)),
            "sub/folder/name": values("u1", (70000,)), "größe-テンソル": values("i1", (3,)), "": values("<i4", (2,)),
            "zeros": numpy.zeros((1 << 20,), numpy.float32), "ends.npy": values("<i2", (4,)),
        }

    def test_savez_and_savez_compressed(self):
        for save in (numpy.savez, numpy.savez_compressed):
            save(self.path("a.npz"), **self.arrays())
            for access in ("map", "read"):
                tensors, _ = self.read(self.path("a.npz"), access)
                self.assertEqual(list(tensors), list(self.arrays()))
                for name, array in self.arrays().items():
                    self.assert_same(tensors[name][0], array)

    def test_numpy_reads_what_was_written(self):
        numpy.savez(self.path("theirs.npz"), **self.arrays())
        for form in ("npz", "npz-compressed"):
            peer("write", self.path("theirs.npz"), self.path("ours.npz"), form)
            with zipfile.ZipFile(self.path("ours.npz")) as archive:
                self.assertIsNone(archive.testzip())
                self.assertEqual({info.compress_type for info in archive.infolist()}, {zipfile.ZIP_STORED if form == "npz" else zipfile.ZIP_DEFLATED})
            with numpy.load(self.path("ours.npz"), allow_pickle=False) as loaded:
                self.assertEqual(set(loaded.files), set(self.arrays()))
                for name, array in self.arrays().items():
                    self.assert_same(loaded[name], array)
                    if array.ndim > 1 and array.size:
                        self.assertEqual(loaded[name].flags.f_contiguous, array.flags.f_contiguous)
            tensors, _ = self.read(self.path("ours.npz"))
            for name, array in self.arrays().items():
                self.assert_same(tensors[name][0], array)

    def test_stored_data_is_written_aligned_and_maps_in_place(self):
        arrays = {name: array for name, array in self.arrays().items() if name not in ("big", "bools")}
        numpy.savez(self.path("theirs.npz"), **arrays)
        peer("write", self.path("theirs.npz"), self.path("ours.npz"), "npz")
        self.assertEqual(self.read(self.path("ours.npz"))[1], 0)
        with zipfile.ZipFile(self.path("ours.npz")) as archive, open(self.path("ours.npz"), "rb") as file:
            for info in archive.infolist():
                file.seek(info.header_offset + 26)
                name_length, extra_length = struct.unpack("<HH", file.read(4))
                self.assertEqual((info.header_offset + 30 + name_length + extra_length) % 64, 0)

    def test_equal_tensors_make_equal_files(self):
        numpy.savez(self.path("theirs.npz"), **self.arrays())
        for form in ("npz", "npz-compressed"):
            images = []
            for name in ("one.npz", "two.npz"):
                peer("write", self.path("theirs.npz"), self.path(name), form)
                with open(self.path(name), "rb") as file:
                    images.append(file.read())
            self.assertEqual(*images)

    def test_archives_that_other_programs_write(self):
        array = values("<f4", (1000,))
        npy = io.BytesIO()
        numpy.save(npy, array)

        class Pipe(io.RawIOBase):
            """Cannot seek: the sizes come behind the data."""

            def __init__(self):
                super().__init__()
                self.written = b""

            def writable(self):
                return True

            def write(self, data):
                self.written += bytes(data)
                return len(data)

        for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            for zip64 in (False, True):
                pipe = Pipe()
                with zipfile.ZipFile(pipe, "w", method) as archive:
                    archive.comment = b"a comment"
                    with archive.open("x.npy", "w", force_zip64=zip64) as member:
                        member.write(npy.getvalue())
                    with archive.open("y.npy", "w", force_zip64=zip64) as member:
                        member.write(npy.getvalue())
                with open(self.path("pipe.npz"), "wb") as file:
                    file.write(pipe.written)
                tensors, _ = self.read(self.path("pipe.npz"))
                self.assert_same(tensors["x"][0], array)
                self.assert_same(tensors["y"][0], array)

    def test_members_that_are_deleted_leave_gaps(self):
        numpy.savez(self.path("a.npz"), a=values("<f4", (10,)), b=values("<f4", (20,)))
        with open(self.path("a.npz"), "rb") as file:
            image = file.read()
        directory = image.index(b"PK\x01\x02")
        second = image.index(b"PK\x01\x02", directory + 4)
        end = image.index(b"PK\x05\x06")
        kept = image[second:end]
        record = struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, 1, 1, len(kept), directory, 0)
        with open(self.path("b.npz"), "wb") as file:
            file.write(image[:directory] + kept + record)
        tensors, _ = self.read(self.path("b.npz"))
        self.assertEqual(list(tensors), ["b"])
        self.assert_same(tensors["b"][0], values("<f4", (20,)))

    def test_no_members(self):
        numpy.savez(self.path("none.npz"))
        self.assertEqual(self.read(self.path("none.npz")), ({}, 0))
        peer("write", self.path("none.npz"), self.path("ours.npz"), "npz")
        with numpy.load(self.path("ours.npz"), allow_pickle=False) as loaded:
            self.assertEqual(loaded.files, [])

    def test_seventy_thousand_members(self):
        count = 70000
        npy = io.BytesIO()
        numpy.save(npy, values("<i4", (2,)))
        with zipfile.ZipFile(self.path("many.npz"), "w") as archive:
            for number in range(count):
                archive.writestr(f"{number}.npy", npy.getvalue())
        peer("write", self.path("many.npz"), self.path("ours.npz"), "npz")
        with zipfile.ZipFile(self.path("ours.npz")) as archive:
            self.assertEqual(len(archive.infolist()), count)
            self.assertEqual(archive.read("69999.npy"), npy.getvalue())

    def test_every_byte_of_a_compressed_member_is_checked(self):
        numpy.savez_compressed(self.path("a.npz"), a=numpy.arange(500, dtype="<f4") % 7)
        with open(self.path("a.npz"), "rb") as file:
            image = file.read()
        end_of_members = image.index(b"PK\x01\x02")
        with zipfile.ZipFile(self.path("a.npz")) as archive:
            info = archive.infolist()[0]
        name_length, extra_length = struct.unpack("<HH", image[info.header_offset + 26:info.header_offset + 30])
        start = info.header_offset + 30 + name_length + extra_length
        for at in range(start, end_of_members, 13):
            broken = bytearray(image)
            broken[at] ^= 0x10
            with open(self.path("broken.npz"), "wb") as file:
                file.write(broken)
            with self.assertRaises(Refused) as refused:
                self.read(self.path("broken.npz"))
            self.assertIn(refused.exception.code, (INVALID_FORMAT, UNSUPPORTED))

    def test_a_compressed_stream_of_another_length_is_refused(self):
        npy = io.BytesIO()
        numpy.save(npy, values("<f4", (100,)))
        contents = npy.getvalue()

        def archive(packed, size, crc):
            local = struct.pack("<IHHHHHIIIHH", 0x04034B50, 20, 0, 8, 0, 33, crc, len(packed), size, 5, 0) + b"a.npy" + packed
            central = struct.pack("<IHHHHHHIIIHHHHHII", 0x02014B50, 20, 20, 0, 8, 0, 33, crc, len(packed), size, 5, 0, 0, 0, 0, 0, 0) + b"a.npy"
            return local + central + struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, 1, 1, len(central), len(local), 0)

        def deflate(data):
            packer = zlib.compressobj(wbits=-15)
            return packer.compress(data) + packer.flush()

        crc = zlib.crc32(contents)
        cases = {
            "right": (deflate(contents), len(contents), crc, None),
            "longer": (deflate(contents + b"more"), len(contents), crc, "unpacks to more than"),
            "shorter": (deflate(contents[:-1]), len(contents), crc, "ends after 527 bytes, expected 528"),
            "bytes behind": (deflate(contents) + b"x", len(contents), crc, "1 bytes behind the end"),
            "no end": (deflate(contents)[:-2], len(contents), crc, "member"),
            "other CRC-32": (deflate(contents), len(contents), crc ^ 1, "CRC-32"),
            "more than deflate makes": (deflate(bytes(10**6))[:64], 10**6, 0, "more than deflate makes"),
            "empty": (b"", 0, 0, "magic"),
        }
        for what, (packed, size, checksum, message) in cases.items():
            with self.subTest(what):
                with open(self.path("a.npz"), "wb") as file:
                    file.write(archive(packed, size, checksum))
                if message is None:
                    self.read(self.path("a.npz"))
                    continue
                with self.assertRaises(Refused) as refused:
                    self.read(self.path("a.npz"))
                self.assertEqual(refused.exception.code, INVALID_FORMAT)
                self.assertIn(message, str(refused.exception))

    def test_members_that_are_no_arrays_are_refused_by_name(self):
        for name in ("readme.txt", "a.npy/", "A.NPY"):
            with zipfile.ZipFile(self.path("a.npz"), "w") as archive:
                archive.writestr(name, b"")
            with self.assertRaises(Refused) as refused:
                self.read(self.path("a.npz"))
            self.assertEqual(refused.exception.code, UNSUPPORTED)
            self.assertIn(name, str(refused.exception))

    def test_other_methods_are_refused(self):
        for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
            with zipfile.ZipFile(self.path("a.npz"), "w", method) as archive:
                archive.writestr("a.npy", b"x" * 100)
            with self.assertRaises(Refused) as refused:
                self.read(self.path("a.npz"))
            self.assertEqual(refused.exception.code, UNSUPPORTED)
            self.assertIn("method", str(refused.exception))


if __name__ == "__main__":
    unittest.main()
