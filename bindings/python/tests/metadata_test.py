"""Metadata of files with its types, options of opening and writing, and what a file says of its tensors."""

import io
import math
import os
import tempfile
import unittest

import numpy as np

import hurray
from hurray import AlignmentPolicy, Buffer, File, FileAccess, FileFormat, FileWriter, MetadataType, Tensor, safetensors, save_file
from support import BaseLine

VALUES = {
    "text": "ä\0😀", "empty text": "", "small": -5, "least": -(1 << 63), "most": (1 << 64) - 1, "float": 0.1, "inf": math.inf, "true": True,
    "false": False, "bytes": b"\0\xff", "texts": ["a", "", "ä\0"], "numbers": [1, -2, 3], "large": [1, (1 << 64) - 1], "floats": [1, 2.5],
    "truths": [True, False], "blobs": [b"", b"\xff"], "ключ\0": "key",
}
TYPES = {"text": MetadataType.STRING, "small": MetadataType.INT64, "most": MetadataType.UINT64, "float": MetadataType.FLOAT64,
         "true": MetadataType.BOOL, "bytes": MetadataType.BYTES}


def image(format=FileFormat.HRRY, fill=None, **options):
    target = io.BytesIO()
    with FileWriter.to_file(target, format=format, **options) as writer:
        if fill:
            fill(writer)
        with Tensor.wrap(np.arange(32, dtype=np.float32)) as tensor:
            writer.add("data" if format is FileFormat.NPY else "weights", tensor)
    return target.getvalue()


class MetadataTest(BaseLine):
    def test_every_type_there_and_back(self):
        def fill(writer):
            for key, value in VALUES.items():
                writer.set_metadata(key, value)
            writer.set_metadata("none", [], element_type=MetadataType.INT64)

        with File.from_memory(image(fill=fill)) as file:
            self.assertEqual(file.metadata, {**VALUES, "none": []})
            for key, kind in TYPES.items():
                entry = file.metadata_entry(key)
                self.assertEqual((entry.key, entry.type, entry.element_type, entry.value), (key, kind, None, VALUES[key]))
            entry = file.metadata_entry("none")
            self.assertEqual((entry.type, entry.element_type), (MetadataType.ARRAY, MetadataType.INT64))
            self.assertEqual(file.metadata_entry("floats").element_type, MetadataType.FLOAT64)
            self.assertEqual(file.metadata_entry("large").element_type, MetadataType.UINT64)
            self.assertEqual([entry.key for entry in file.metadata_entries()], [*VALUES, "none"])
            self.assertEqual(file.metadata_entry(0).key, "text")
            with self.assertRaises(KeyError):
                file.metadata_entry("missing")
            with self.assertRaises(IndexError):
                file.metadata_entry(1000)

    def test_types_by_choice(self):
        def fill(writer):
            writer.set_metadata("u", 5, type=MetadataType.UINT64)
            writer.set_metadata("f", 5, type=MetadataType.FLOAT64)
            writer.set_metadata("a", [1, 2], element_type=MetadataType.UINT64)
            writer.set_metadata("last counts", 1)
            writer.set_metadata("last counts", "two")

        with File.from_memory(image(fill=fill)) as file:
            self.assertEqual(file.metadata_entry("u").type, MetadataType.UINT64)
            self.assertEqual(file.metadata_entry("f").type, MetadataType.FLOAT64)
            self.assertEqual(file.metadata_entry("a").element_type, MetadataType.UINT64)
            self.assertEqual(file.metadata["last counts"], "two")

    def test_gguf(self):
        def fill(writer):
            writer.set_metadata("general.name", "model")
            writer.set_metadata("tokens", ["a", "b"])

        with File.from_memory(image(FileFormat.GGUF, fill)) as file:
            self.assertEqual((file.metadata["general.name"], file.metadata["tokens"]), ("model", ["a", "b"]))

    def test_what_is_refused(self):
        def fill(writer):
            for value in (-(1 << 63) - 1, 1 << 64, [1, "a"], [[1]], [], [-1, (1 << 64) - 1]):
                with self.subTest(value=value):
                    self.refused("INVALID_ARGUMENT", writer.set_metadata, "key", value)
            for value, kind in ((-1, MetadataType.UINT64), ("x", MetadataType.INT64), (True, MetadataType.STRING), (1, MetadataType.BOOL)):
                self.refused("INVALID_ARGUMENT", writer.set_metadata, "key", value, type=kind)
            for value in (None, object(), {}):
                with self.assertRaises(TypeError):
                    writer.set_metadata("key", value)
            with self.assertRaises(TypeError):
                writer.set_metadata("key", 5, element_type=MetadataType.INT64)

        with File.from_memory(image(fill=fill)) as file:
            self.assertEqual(file.metadata, {})
        image(FileFormat.SAFETENSORS, lambda writer: self.refused("UNSUPPORTED", writer.set_metadata, "key", 5))


class OptionTest(BaseLine):
    def test_writing(self):
        self.assertLess(len(image(FileFormat.NPZ, compress=True)), len(image(FileFormat.NPZ)))
        with File.from_memory(image(data_alignment=1 << 16)) as file:
            self.assertEqual(file.buffer_range("weights")[0] % (1 << 16), 0)
        with File.from_memory(image(sorted_index=False)) as file:
            self.assertIn("weights", file)
        for format, options in ((FileFormat.SAFETENSORS, {"compress": True}), (FileFormat.NPY, {"data_alignment": 64}),
                                (FileFormat.HRRY, {"data_alignment": 3}), (FileFormat.AUTO, {})):
            self.refused("INVALID_ARGUMENT", FileWriter.to_file, io.BytesIO(), format=format, **options)

    def test_reading_without_a_map(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model")
            save_file({"a": np.arange(100.0)}, path, format=FileFormat.HRRY)
            with File.open(path, access=FileAccess.READ) as file, file["a"] as tensor:
                self.assertEqual(file.copied_bytes, 800)
                os.truncate(path, 0)  # an error then, and no signal
                self.assertEqual(tensor.element([99]), 99)

    def test_what_a_file_says_of_its_tensors(self):
        with File.from_memory(image()) as file:
            info = file.tensor_info("weights")
            self.assertEqual((info.layout, info.scheme, info.stored_type), (hurray.Layout.ROW_MAJOR, 0, ""))
            self.assertEqual(file.descriptor("weights").shape, (32,))
            offset, size = file.buffer_range("weights", 0)
            self.assertEqual((offset, size), (info.file_offset, 128))
            with self.assertRaises(IndexError):
                file.buffer_range("weights", 1)
        with File.from_memory(image(FileFormat.SAFETENSORS)) as file:
            self.assertEqual(file.tensor_info("weights").stored_type, "F32")


class MemoryTest(BaseLine):
    def test_tensors_lie_in_the_memory(self):
        for format in (FileFormat.SAFETENSORS, FileFormat.HRRY, FileFormat.GGUF, FileFormat.NPY, FileFormat.NPZ):
            for shift in (0, 1):
                data = bytearray(shift) + bytearray(image(format))
                name = "data" if format is FileFormat.NPY else "weights"
                with self.subTest(format.name, shift=shift), File.from_memory(memoryview(data)[shift:]) as file:
                    self.assertEqual(file.format, format)
                    with file[name] as tensor:
                        self.assertEqual(tensor.tolist(), list(range(32)))
                        self.assertTrue(tensor.readonly)
                    self.assertEqual(file.copied_bytes, 0)

    def test_the_memory_is_kept(self):
        data = bytearray(image())
        file = File.from_memory(data)
        tensor = file["weights"]
        file.close()
        with self.assertRaises(BufferError):
            data.append(1)
        tensor.close()
        data.append(1)

    def test_buffers_and_policies(self):
        data = image(FileFormat.SAFETENSORS)
        buffer, _ = Buffer.wrap(data)
        with buffer, File.from_memory(buffer, alignment=AlignmentPolicy.COPY) as file, file["weights"] as tensor:
            self.assertEqual(tensor.element([31]), 31)
        self.refused("INVALID_FORMAT", File.from_memory, b"x" * 100)
        with self.assertRaises(TypeError):
            File.from_memory(17)


class SafetensorsTest(BaseLine):
    def test_save_and_load(self):
        arrays = {"a": np.arange(6.0).reshape(2, 3), "ä\0": np.float32(2), "empty": np.zeros((0, 2), np.int8)}
        data = safetensors.save(arrays, {"k": "v"})
        loaded = safetensors.load(data)
        self.assertEqual(set(loaded), set(arrays))
        with tempfile.NamedTemporaryFile() as file:
            file.write(data)
            file.flush()
            mapped = safetensors.load_file(file.name)
        for name, array in arrays.items():
            np.testing.assert_array_equal(loaded[name], array)
            np.testing.assert_array_equal(mapped[name], array)
        with Tensor.wrap(arrays["a"]) as tensor:
            self.assertEqual(safetensors.load(safetensors.save({"a": tensor}))["a"].tolist(), arrays["a"].tolist())
        del loaded, mapped


if __name__ == "__main__":
    unittest.main()
