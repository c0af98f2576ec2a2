"""What an exchange costs: calls into C that are counted, and memory that stays flat over 10,000 tensors of every kind."""

import gc
import io
import os
import sys
import unittest

import numpy as np

import hurray
from hurray import FileFormat, FileWriter, Layout, Reader, Scheme, Tensor, Writer
from support import BaseLine

sys.path.insert(0, os.environ["HURRAY_BENCH_FOLDER"])
import exchange  # noqa: E402


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


class CostTest(BaseLine):
    def test_import_view_and_close_make_at_most_six_calls_into_c(self):
        with Tensor.wrap(exchange.ARRAY) as exchange.SOURCE:
            for function in (exchange.hurray_dlpack, exchange.hurray_wrap, exchange.hurray_capsule):
                with self.subTest(function.__name__):
                    self.assertGreater(exchange.calls(function), 0)
                    self.assertLessEqual(exchange.calls(function), 6)

    def test_the_benchmark_runs(self):
        with Tensor.wrap(exchange.ARRAY) as exchange.SOURCE:
            names = [row["name"] for row in exchange.measure(smoke=True)]
        self.assertEqual(names[:2], ["numpy_dlpack", "hurray_dlpack"])


class FlatTest(BaseLine):
    def flat(self, function, loops=10_000):
        for _ in range(200):
            function()
        gc.collect()
        before = resident()
        for _ in range(loops):
            function()
        gc.collect()
        hurray.drain()
        self.assertLess(resident() - before, 4 << 20)

    def test_ten_thousand_dlpack_imports_and_exports(self):
        array = np.arange(256.0)

        def both():
            with hurray.from_dlpack(array) as tensor:
                view = np.from_dlpack(tensor)
                del view

        self.flat(both)

    def test_ten_thousand_refused_imports(self):
        array = np.arange(256.0)

        def refused():
            capsule = array.__dlpack__()
            hurray.from_dlpack(capsule).close()
            with self.assertRaises(hurray.HurrayError):
                hurray.from_dlpack(capsule)

        self.flat(refused)

    def test_ten_thousand_forgotten_tensors(self):
        array = np.arange(256.0)

        def forgotten():
            hurray.from_dlpack(array)._quiet = True

        self.flat(forgotten)

    def test_two_thousand_streams_and_files_through_python(self):
        array = np.arange(256.0)

        def there_and_back():
            target = io.BytesIO()
            with Writer.to_file(target) as writer, Tensor.wrap(array) as tensor:
                writer.write(tensor)
            with Reader.from_file(io.BytesIO(target.getvalue())) as reader, reader.next() as tensor:
                descriptor = tensor.descriptor
            with FileWriter.to_file(io.BytesIO().write, format=FileFormat.NPY) as writer:
                writer.add_source("data", descriptor, lambda: array)

        self.flat(there_and_back, 2000)


class StormTest(BaseLine):
    def test_collections_during_every_kind_of_call(self):
        array = np.arange(64, dtype=np.float32).reshape(8, 8)
        announced = hurray.Descriptor.build("float32", array.shape, buffers=[hurray.BufferHandle(array.nbytes, 64)])
        thresholds = gc.get_threshold()
        gc.set_threshold(1, 1, 1)
        try:
            for _ in range(20):
                with Tensor.wrap(array) as tensor, tensor.quantize(Scheme.PER_TENSOR_AFFINE, "int8") as small, small.dequantize() as back:
                    small.validate()
                    self.assertEqual(back.statistics(progress=lambda done, total: gc.collect() >= 0).nnz, np.count_nonzero(back.numpy()))
                    with tensor.transcode(Layout.CSR) as sparse:
                        self.assertEqual(sparse.element([1, 1]), 9)
                    target = io.BytesIO()
                    with FileWriter.to_file(target, format=FileFormat.HRRY) as writer:
                        writer.set_metadata("list", ["a", "b"])
                        writer.add_source("a", announced, lambda: array.copy())
                        writer.add("b", small)
                    with hurray.File.from_memory(target.getvalue()) as file, file["a"] as read:
                        self.assertEqual(file.metadata, {"list": ["a", "b"]})
                        self.assertEqual(read.tolist(), array.tolist())
        finally:
            gc.set_threshold(*thresholds)


if __name__ == "__main__":
    unittest.main()
