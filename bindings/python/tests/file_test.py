"""Model files: safetensors by mapping, the writer, and safe_open."""

import json
import os
import struct
import tempfile
import unittest

import numpy as np

import hurray
from hurray import AlignmentPolicy, ElementType, File, FileWriter, Tensor, safe_open, save_file
from support import BaseLine, shared_folder

NAMES = ["plain", "with space", "ä→😀", "nul\0inside", "quote\"\\\n", "e\u0301"]


def image(header, data=b"", length=None):
    """A safetensors file of a header (a dictionary or bytes) and data."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def entry(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


class FolderTest(BaseLine):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        super().setUp()

    def path(self, name="model.safetensors"):
        return os.path.join(self.folder, name)

    def written(self, data, name="model.safetensors"):
        with open(self.path(name), "wb") as file:
            file.write(data)
        return self.path(name)


class RoundTripTest(FolderTest):
    def arrays(self):
        base = np.arange(1, 25)
        types = ["float16", "float32", "float64", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
        found = {f"type {name}": base.astype(name).reshape(2, 3, 4) for name in types}
        found["bool"] = (base % 3 == 0).reshape(4, 6)
        found["scalar"] = np.float32(7)
        found["empty"] = np.zeros((3, 0), np.int16)
        found["strided"] = np.arange(10.0)[::-2]
        found["columns"] = np.asfortranarray(np.arange(6, dtype=np.int32).reshape(2, 3))
        for name in NAMES:
            found[name] = np.array([len(name)])
        return found

    def test_all_types_layouts_and_names(self):
        arrays = self.arrays()
        save_file(arrays, self.path(), {"key": "value", "ключ": "ä\0b"})
        with File.open(self.path()) as file:
            self.assertEqual(set(file.keys()), set(arrays))
            self.assertEqual(len(file), len(arrays))
            self.assertEqual(file.metadata, {"key": "value", "ключ": "ä\0b"})
            self.assertIs(hurray.FileFormat(file.info.format), hurray.FileFormat.SAFETENSORS)
            self.assertEqual(file.info.file_size, os.path.getsize(self.path()))
            for name, array in arrays.items():
                with self.subTest(name), file[name] as tensor:
                    info = file.tensor_info(name)
                    self.assertEqual((info.name, info.shape, info.dtype), (name, array.shape, tensor.dtype))
                    np.testing.assert_array_equal(tensor.numpy(), array)
                    self.assertTrue(tensor.readonly)
                self.assertIn(name, file)
                self.assertEqual(file.find(name.encode()), file.find(name))
            # Booleans are packed, the rest is mapped.
            self.assertEqual(file.copied_bytes, 3)
            self.assertEqual([info.name for info in file.infos()], list(file))

    def test_tensors_outlive_the_file(self):
        save_file({"a": np.arange(1000)}, self.path())
        with File.open(self.path()) as file:
            tensor = file["a"]
        os.unlink(self.path())
        self.assertEqual(tensor.numpy()[-1], 999)
        tensor.close()

    def test_writing_over_the_file_that_the_tensors_are_from(self):
        save_file({"a": np.arange(4), "b": np.arange(3)}, self.path())
        with File.open(self.path()) as file, FileWriter.create(self.path()) as writer:
            for name in file:
                with file[name] as tensor:
                    writer.add("new " + name, tensor)
        with File.open(self.path()) as file, file["new a"] as tensor:
            self.assertEqual(tensor.tolist(), [0, 1, 2, 3])

    def test_paths_of_all_kinds(self):
        import pathlib

        for path in (pathlib.Path(self.path("ä ö")), self.path("ü").encode(), self.path("plain")):
            save_file({"a": np.arange(2)}, path)
            with File.open(path) as file:
                self.assertEqual(file.keys(), ["a"])

    def test_an_exception_abandons_the_file(self):
        save_file({"old": np.arange(2)}, self.path())
        with self.assertRaises(ZeroDivisionError):
            with FileWriter.create(self.path()) as writer, Tensor.wrap(b"abc") as tensor:
                writer.add("new", tensor)
                1 / 0
        with File.open(self.path()) as file:
            self.assertEqual(file.keys(), ["old"])
        self.assertEqual(os.listdir(self.folder), ["model.safetensors"])

    def test_a_writer_refuses_what_the_format_cannot_hold(self):
        with FileWriter.create(self.path()) as writer, Tensor.wrap(b"abc") as tensor, Tensor.wrap(bytes(8), "int4", [4]) as odd:
            writer.add("a", tensor)
            self.refused("INVALID_ARGUMENT", writer.add, "a", tensor)
            self.refused("INVALID_ARGUMENT", writer.add, b"\xff", tensor)
            self.refused("UNSUPPORTED", writer.add, "odd", odd)
            with self.assertRaises(UnicodeEncodeError):
                writer.add("\ud800", tensor)
            self.refused("INVALID_ARGUMENT", writer.set_metadata, b"\xff", "x")
            writer.finish()
            self.refused("INVALID_ARGUMENT", writer.finish)
        with self.assertRaises(hurray.ClosedError):
            writer.finish()
        self.refused("NOT_FOUND", FileWriter.create, self.path("no/such/folder"))
        self.refused("INVALID_ARGUMENT", FileWriter.create, self.path(), format=77)

    def test_closed_files(self):
        save_file({"a": np.arange(2)}, self.path())
        file = File.open(self.path())
        file.close()
        file.close()
        for use in (lambda: file["a"], lambda: len(file), lambda: file.keys(), lambda: file.metadata, lambda: "a" in file):
            with self.assertRaises(hurray.ClosedError):
                use()


class AlignmentTest(FolderTest):
    def setUp(self):
        super().setUp()
        # The header is 8 + 71 bytes long, so that nothing is aligned to anything.
        text = json.dumps({"a": entry("F32", [4], 0, 16), "b": entry("U8", [3], 16, 19)}).encode()
        data = struct.pack("<4f", 1, 2, 3, 4) + b"xyz"
        self.data = image(text + b" " * (7 - len(text) % 8), data)
        self.written(self.data)

    def test_offset_copies_nothing(self):
        with File.open(self.path()) as file, file["a"] as tensor:
            self.assertNotEqual(tensor.byte_offset % 4, 0)
            self.assertEqual(tensor.buffers[0].prefix, tensor.byte_offset)
            self.assertEqual(tensor.tolist(), [1, 2, 3, 4])
            self.assertEqual(file.copied_bytes, 0)
            with tensor.copy() as copy:
                self.assertEqual((copy.byte_offset, copy.copied_bytes, copy.tolist()), (0, 16, [1, 2, 3, 4]))

    def test_copy_is_counted(self):
        with File.open(self.path(), alignment=AlignmentPolicy.COPY) as file, file["a"] as tensor:
            self.assertEqual(tensor.byte_offset, 0)
            self.assertEqual(tensor.tolist(), [1, 2, 3, 4])
            self.assertEqual(file.copied_bytes, 16)

    def test_require_refuses(self):
        with File.open(self.path(), alignment=AlignmentPolicy.REQUIRE) as file:
            self.refused("MISALIGNED", file.tensor, "a")

    def test_header_limit(self):
        self.refused("LIMIT_EXCEEDED", File.open, self.path(), header_limit=10)
        File.open(self.path(), header_limit=1000).close()
        self.refused("INVALID_ARGUMENT", File.open, self.path(), alignment=9)
        self.refused("INVALID_ARGUMENT", File.open, self.path(), format=9)


class HostileTest(FolderTest):
    def test_malformed_files(self):
        one = entry("U8", [3], 0, 3)
        cases = {
            "nothing": b"",
            "short": b"\x01\x00",
            "header longer than the file": image({}, length=1 << 40),
            "no json": image(b"{oops"),
            "no object": image(b"[]"),
            "overlap": image({"a": one, "b": entry("U8", [3], 1, 4)}, b"abcd"),
            "gap": image({"a": one, "b": entry("U8", [1], 4, 5)}, b"abcde"),
            "duplicate": image(b'{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},'
                               b'"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}', b"ab"),
            "overflow": image({"a": entry("F64", [2**62, 2**62], 0, 3)}, b"abc"),
            "wrong size": image({"a": entry("F32", [3], 0, 3)}, b"abc"),
            "file too short": image({"a": one}, b"ab"),
            "file too long": image({"a": one}, b"abcd"),
            "backwards": image({"a": entry("U8", [3], 3, 0)}, b"abc"),
            "negative": image({"a": entry("U8", [-3], 0, 3)}, b"abc"),
            "not utf-8": image(b'{"\xff":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}', b"a"),
        }
        for name, data in cases.items():
            with self.subTest(name):
                error = self.refused("INVALID_FORMAT", File.open, self.written(data))
                self.assertGreater(len(error.message), 10)

    def test_unknown_types(self):
        with self.assertRaises(hurray.HurrayError) as caught:
            File.open(self.written(image({"a": entry("F31", [1], 0, 1)}, b"a")))
        self.assertIn("F31", str(caught.exception))

    def test_files_that_cannot_be_opened(self):
        error = self.refused("NOT_FOUND", File.open, self.path("nothing here"))
        self.assertIsInstance(error, KeyError)
        with self.assertRaises(hurray.HurrayError):
            File.open(self.folder)
        with self.assertRaises(ValueError):
            File.open("a\0b")
        with self.assertRaises(TypeError):
            File.open(17)

    def test_booleans_that_are_neither(self):
        self.written(image({"a": entry("BOOL", [3], 0, 3)}, b"\x01\x00\x02"))
        with File.open(self.path()) as file:
            self.refused("INVALID_FORMAT", file.tensor, "a")

    def test_names_that_are_not_there(self):
        save_file({"a": np.arange(2)}, self.path())
        with File.open(self.path()) as file:
            for wrong in ("b", "", "a\0", b"\xff", "ä"):
                with self.assertRaises(KeyError):
                    file[wrong]
                self.assertNotIn(wrong, file)
            with self.assertRaises(IndexError):
                file.tensor(1)
            with self.assertRaises(IndexError):
                file.tensor_info(2**63)
            self.refused("INVALID_ARGUMENT", file.tensor, -1)


class SafeOpenTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.arrays = {"b": np.arange(24, dtype=np.float32).reshape(2, 3, 4), "a": np.array([True, False, True]),
                       "c": np.arange(5, dtype=np.int64)}
        save_file(self.arrays, self.path(), {"origin": "test"})

    def test_the_interface(self):
        with safe_open(self.path(), framework="np", device="cpu") as file:
            self.assertEqual(file.keys(), ["a", "b", "c"])
            self.assertEqual(set(file.offset_keys()), {"a", "b", "c"})
            self.assertEqual(file.metadata(), {"origin": "test"})
            for name, array in self.arrays.items():
                got = file.get_tensor(name)
                self.assertEqual(got.dtype, array.dtype)
                np.testing.assert_array_equal(got, array)
            part = file.get_slice("b")
            self.assertEqual((part.get_shape(), part.get_dtype()), ([2, 3, 4], "F32"))
            np.testing.assert_array_equal(part[:, 1], self.arrays["b"][:, 1])
            np.testing.assert_array_equal(part[..., ::-2], self.arrays["b"][..., ::-2])
            self.assertEqual(file.get_slice("a").get_dtype(), "BOOL")
            with self.assertRaises(KeyError):
                file.get_tensor("d")
            with self.assertRaises(KeyError):
                file.get_slice("d")
            kept = file.get_tensor("b")
        np.testing.assert_array_equal(kept, self.arrays["b"])
        with self.assertRaises(hurray.ClosedError):
            file.keys()

    def test_without_metadata_and_as_tensors(self):
        save_file({"x": np.arange(3)}, self.path())
        with safe_open(self.path(), "hurray") as file:
            self.assertIsNone(file.metadata())
            with file.get_tensor("x") as tensor:
                self.assertIsInstance(tensor, Tensor)
                self.assertEqual(tensor.tolist(), [0, 1, 2])

    def test_what_does_not_exist(self):
        self.refused("UNSUPPORTED", safe_open, self.path(), "jax")
        self.refused("UNSUPPORTED", safe_open, self.path(), "np", "cuda:0")


class SharedFilesTest(BaseLine):
    """Files that others wrote."""

    def test_every_file_reads_as_its_own_header_says(self):
        shared = shared_folder()
        if shared is None:
            self.skipTest("the shared files are not beside the project")
        paths = sorted((shared / "data" / "safetensors").glob("*.safetensors"))
        self.assertTrue(paths)
        for path in paths:
            data = path.read_bytes()
            (length,) = struct.unpack("<Q", data[:8])
            header = json.loads(data[8 : 8 + length])
            header.pop("__metadata__", None)
            with self.subTest(path.name):
                try:
                    file = File.open(path)
                except hurray.HurrayError as error:
                    # A type that this version does not have.
                    self.assertIn(error.name, ("UNSUPPORTED", "INVALID_TYPE", "INVALID_FORMAT"))
                    self.fail(str(error))
                with file:
                    self.assertEqual(set(file.keys()), set(header))
                    packed = 0
                    for name, said in header.items():
                        begin, end = said["data_offsets"]
                        raw = data[8 + length + begin : 8 + length + end]
                        with file[name] as tensor:
                            self.assertEqual(list(tensor.shape), said["shape"])
                            if tensor.dtype is ElementType.BOOL:
                                packed += -(-tensor.size // 8)
                                raw = np.packbits(np.frombuffer(raw, np.uint8), bitorder="little").tobytes()
                            self.assertEqual(bytes(tensor.raw_bytes()), raw)
                    self.assertEqual(file.copied_bytes, packed)


if __name__ == "__main__":
    unittest.main()
