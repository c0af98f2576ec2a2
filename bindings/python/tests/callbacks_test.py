"""Streams and files through objects of Python: sources and sinks of bytes, tensors that are made when they are written."""

import gc
import gzip
import io
import os
import tempfile
import threading
import unittest
import weakref

import numpy as np

import hurray
from hurray import Composite, CompositeBuilder, CompositeHead, CompositionRule, Descriptor, File, FileFormat, FileWriter, Reader, Tensor, Writer
from support import BaseLine


def sources():
    yield np.arange(5, dtype=np.float32)
    yield np.arange(24, dtype=np.int16).reshape(2, 3, 4)[:, ::-1]
    yield np.zeros((3, 0), np.int8)
    yield np.float64(1.5)
    yield np.array([True, False] * 5)
    yield np.arange(1 << 19, dtype=np.float64)  # more than goes to Python at one time


def write_all(writer):
    for source in sources():
        with Tensor.from_numpy(source) as tensor:
            writer.write(tensor)


def stream():
    with Writer.to_memory() as writer:
        write_all(writer)
        return writer.take_bytes()


def hrry():
    parts = []
    with FileWriter.to_file(parts.append, format=FileFormat.HRRY) as writer:
        for number, source in enumerate(sources()):
            with Tensor.from_numpy(source) as tensor:
                writer.add(f"t{number}", tensor)
    return b"".join(parts)


def composite():
    """Two halves of a matrix."""
    head = Descriptor.build("float32", [4, 3], layout=CompositeHead(CompositionRule.PARTITION, 2))
    with CompositeBuilder(head) as builder:
        for number in range(2):
            values = np.arange(6, dtype=np.float32).reshape(2, 3) + 6 * number
            with Tensor.wrap(values) as plain:
                descriptor = Descriptor.build("float32", [2, 3], shard=hurray.Shard((4, 3), (2 * number, 0)),
                                              byte_offset=plain.byte_offset, buffers=[b.handle for b in plain.buffers])
                with Tensor.from_buffers(descriptor, plain.buffers) as member:
                    builder.add(member)
        return builder.build()


class Trickle(io.RawIOBase):
    """Gives and takes few bytes at a time."""

    def __init__(self, data=b""):
        self.data = io.BytesIO(data)

    def readable(self):
        return True

    def writable(self):
        return True

    def readinto(self, buffer):
        return self.data.readinto(memoryview(buffer)[:7])

    def write(self, data):
        return self.data.write(bytes(data[:1000]))


class SourceTest(BaseLine):
    def check(self, reader):
        with reader:
            for source in sources():
                with reader.next() as tensor:
                    np.testing.assert_array_equal(tensor.numpy(), source)
            self.assertIsNone(reader.next())

    def test_objects_and_functions(self):
        data = stream()
        self.check(Reader.from_file(io.BytesIO(data)))
        self.check(Reader.from_file(io.BufferedReader(io.BytesIO(data))))
        self.check(Reader.from_file(io.BytesIO(data).read))
        with tempfile.NamedTemporaryFile() as file:
            with gzip.open(file.name, "wb", compresslevel=1) as packed, Writer.to_file(packed) as writer:
                write_all(writer)
            with gzip.open(file.name, "rb") as packed:
                self.check(Reader.from_file(packed))

    def test_few_bytes_at_a_time(self):
        small = stream()[:2000]
        with Reader.from_file(Trickle(small)) as reader, reader.next() as tensor:
            self.assertEqual(tensor.tolist(), [0, 1, 2, 3, 4])

    def test_nothing_beyond_the_tensor_is_asked_for(self):
        with Writer.to_memory() as writer, Tensor.wrap(b"abc") as tensor:
            writer.write(tensor)
            one = writer.take_bytes()
        source = io.BytesIO(one + b"what follows")
        with Reader.from_file(source) as reader:
            reader.next().close()
            self.assertEqual(source.read(), b"what follows")

    def test_what_the_source_raises_goes_on_and_the_reader_is_broken(self):
        for error in (OSError("gone"), KeyboardInterrupt(), ValueError("x"), hurray.HurrayError(hurray.Status.CANCELLED, "stop")):
            def read(count, error=error):
                raise error

            with Reader.from_file(read) as reader:
                with self.assertRaises(type(error)) as caught:
                    reader.next()
                self.assertIs(caught.exception, error)
                with self.assertRaises(hurray.HurrayError):
                    reader.next()

    def test_sources_that_break_the_rules(self):
        rules = {"too long": (lambda count: bytes(count + 1), ValueError), "no bytes": (lambda count: 17, TypeError),
                 "text": (lambda count: "x", TypeError), "waits": (lambda count: None, BlockingIOError)}
        for name, (read, expected) in rules.items():
            with self.subTest(name), Reader.from_file(read) as reader, self.assertRaises(expected):
                reader.next()
        with self.assertRaises(TypeError):
            Reader.from_file(17)
        with self.assertRaises(TypeError):
            Writer.to_file(17)

    def test_a_source_that_ends_early_is_an_error_with_its_place(self):
        with Reader.from_file(io.BytesIO(stream()[:70])) as reader:
            self.refused("INVALID_FORMAT", reader.next, offset=True)

    def test_a_source_keeps_what_it_was_given(self):
        kept = []

        class Keeps(io.BytesIO):
            def readinto(self, buffer):
                kept.append(memoryview(buffer))
                return super().readinto(buffer)

        self.check(Reader.from_file(Keeps(stream())))
        for view in kept:
            view[:] = bytes(len(view))  # its own memory, not the library's

    def test_a_source_may_collect_and_must_not_use_its_reader(self):
        data = io.BytesIO(stream())
        found = []

        def read(count):
            gc.collect()
            try:
                reader.next()
            except hurray.BusyError as error:
                found.append(error)
            return data.read(count)

        reader = Reader.from_file(read)
        self.check(reader)
        self.assertTrue(found)

    def test_the_source_is_kept_as_long_as_the_reader_and_no_longer(self):
        source = io.BytesIO(stream())
        watch = weakref.ref(source)
        reader = Reader.from_file(source)
        del source
        gc.collect()
        reader.next().close()
        self.assertIsNotNone(watch())
        reader.close()
        del reader
        gc.collect()
        self.assertIsNone(watch())

    def test_a_cycle_through_the_source_is_collected(self):
        def make():
            holder = []

            def read(count):
                return holder and b""

            holder.append(Reader.from_file(read))
            return weakref.ref(read)

        with self.assertWarns(ResourceWarning):
            watch = make()
            gc.collect()
        self.assertIsNone(watch())

    def test_reading_on_other_threads(self):
        results = []

        def work():
            with Reader.from_file(io.BytesIO(stream())) as reader:
                for tensor in reader:
                    with tensor:
                        results.append(tensor.shape)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(results), 4 * len(list(sources())))


class SinkTest(BaseLine):
    def test_objects_and_functions(self):
        expected = stream()
        parts = []
        for target, result in ((io.BytesIO(), lambda t: t.getvalue()), (Trickle(), lambda t: t.data.getvalue()), (parts.append, lambda t: b"".join(parts))):
            with Writer.to_file(target) as writer:
                write_all(writer)
            self.assertEqual(result(target), expected)
        self.assertLessEqual(max(map(len, parts)), 1 << 20)

    def test_what_the_target_raises_goes_on(self):
        def full(data):
            raise OSError(28, "full")

        with Writer.to_file(full) as writer, Tensor.wrap(b"abc") as tensor, self.assertRaises(OSError):
            writer.write(tensor)
        for wrong in (lambda data: 0, lambda data: len(data) + 1, lambda data: -1):
            with Writer.to_file(wrong) as writer, Tensor.wrap(b"abc") as tensor, self.assertRaises(ValueError):
                writer.write(tensor)
        with FileWriter.to_file(full, format=FileFormat.NPY) as writer, Tensor.wrap(b"abc") as tensor:
            with self.assertRaises(OSError):
                writer.add("data", tensor)
                writer.finish()
            writer._finished = True

    def test_files_of_every_format(self):
        for format in (FileFormat.SAFETENSORS, FileFormat.HRRY, FileFormat.GGUF, FileFormat.NPZ):
            target = io.BytesIO()
            with FileWriter.to_file(target, format=format) as writer, Tensor.wrap(np.arange(32, dtype=np.float32)) as tensor:
                writer.add("weights", tensor)
            with File.from_memory(target.getvalue()) as file, file["weights"] as tensor:
                self.assertEqual(file.format, format)
                self.assertEqual(tensor.tolist(), list(range(32)))

    def test_a_pipe(self):
        read_end, write_end = os.pipe()

        def write():
            with os.fdopen(write_end, "wb", buffering=0) as pipe, FileWriter.to_fd(pipe, format=FileFormat.HRRY) as writer:
                for number, source in enumerate(sources()):
                    with Tensor.from_numpy(source) as tensor:
                        writer.add(f"t{number}", tensor)

        thread = threading.Thread(target=write)
        thread.start()
        with Reader.from_fd(read_end, close_fd=True, hrry=True) as reader:
            for source in sources():
                with reader.next() as tensor:
                    np.testing.assert_array_equal(tensor.numpy(), source)
            self.refused("INVALID_ARGUMENT", reader.name, 0)
            self.assertIsNone(reader.next())
            self.assertEqual([reader.name(i) for i in range(6)], [f"t{i}" for i in range(6)])
            with self.assertRaises(IndexError):
                reader.name(6)
        thread.join()


class PieceTest(BaseLine):
    def test_data_before_the_tensor_is_complete(self):
        with Reader.from_file(io.BytesIO(stream())) as reader:
            for source in sources():
                descriptor = reader.begin()
                self.assertEqual(descriptor.shape, np.shape(source))
                found = bytearray()
                piece = bytearray(1000)
                while count := reader.readinto(piece):
                    found += piece[:count]
                if descriptor.dtype is not hurray.ElementType.BOOL and np.asarray(source).flags.c_contiguous:
                    self.assertEqual(bytes(found), np.asarray(source).tobytes())
            self.assertIsNone(reader.begin())

    def test_skip_and_what_is_out_of_order(self):
        with Reader.from_memory(stream()) as reader:
            self.refused("INVALID_ARGUMENT", reader.readinto, bytearray(1))
            reader.begin()
            self.refused("INVALID_ARGUMENT", reader.next)
            self.assertEqual(reader.readinto(bytearray(3)), 3)
            reader.skip()
            with reader.next() as tensor:
                self.assertEqual(tensor.shape, (2, 3, 4))
            with self.assertRaises(BufferError):
                reader.readinto(b"read-only")
            with self.assertRaises(TypeError):
                reader.readinto(17)
            self.assertEqual(reader.begin().shape, (3, 0))
            self.assertEqual(reader.readinto(bytearray()), 0)

    def test_composites_in_streams_and_files(self):
        target = io.BytesIO()
        whole = np.arange(12, dtype=np.float32).reshape(4, 3)
        with composite() as made, Writer.to_file(target) as writer, Tensor.wrap(b"abc") as plain:
            writer.write(made)
            writer.write(plain)
        with Reader.from_memory(target.getvalue()) as reader:
            items = list(reader.items())
            self.assertIsInstance(items[0], Composite)
            with items[0] as read, items[1] as plain, read.merged() as merged:
                np.testing.assert_array_equal(merged.numpy(), whole)
                self.assertEqual(bytes(plain), b"abc")
                self.assertEqual((read.element([3, 1]), read.element_complex([3, 1]), read.element_bits([0, 0])), (10, 10, 0))
        target = io.BytesIO()
        with composite() as made, FileWriter.to_file(target, format=FileFormat.HRRY) as writer:
            writer.add("whole", made)
        with File.from_memory(target.getvalue()) as file:
            self.assertEqual(set(file), {"whole", "whole/0", "whole/1"})
            with file.composite("whole") as read, read.merged() as merged:
                np.testing.assert_array_equal(merged.numpy(), whole)
            self.refused("INVALID_ARGUMENT", file.composite, "whole/0")
        with composite() as made, FileWriter.to_file(io.BytesIO()) as writer:
            self.refused("UNSUPPORTED", writer.add, "whole", made)
            writer._finished = True


class MakerTest(BaseLine):
    FORMATS = (FileFormat.SAFETENSORS, FileFormat.HRRY, FileFormat.GGUF, FileFormat.NPZ)

    def descriptor(self, shape=(8, 8), dtype="float32"):
        with Tensor.zeros(dtype, shape) as tensor:
            return tensor.descriptor

    def test_one_tensor_at_a_time(self):
        for format in self.FORMATS:
            alive, most, target = [0], [0], io.BytesIO()

            def make(number):
                alive[0] += 1
                most[0] = max(most[0], alive[0])
                tensor = Tensor.wrap(np.full((8, 8), number, np.float32))
                tensor_end = tensor.buffers[0]
                del tensor_end
                alive[0] -= 1
                return tensor

            with self.subTest(format.name), FileWriter.to_file(target, format=format) as writer:
                for number in range(5):
                    writer.add_source(f"t{number}", self.descriptor(), lambda number=number: make(number))
            self.assertEqual(most[0], 1)
            with File.from_memory(target.getvalue()) as file:
                for number in range(5):
                    with file[f"t{number}"] as tensor:
                        self.assertTrue((tensor.numpy() == number).all())

    def test_arrays_and_the_tensor_that_is_taken_over(self):
        made = []

        def make():
            made.append(Tensor.wrap(np.ones((8, 8), np.float32)))
            return made[0]

        target = io.BytesIO()
        with FileWriter.to_file(target) as writer:
            writer.add_source("a", self.descriptor(), make)
            writer.add_source("b", self.descriptor(), lambda: np.ones((8, 8), np.float32))
            self.assertEqual(made, [])  # safetensors has its header first
        self.assertTrue(made[0].closed)

    def test_failures_end_the_writer_and_leave_no_file(self):
        view = []

        def exported():
            tensor = Tensor.zeros("float32", [8, 8])
            view.append(tensor.numpy())
            view.append(tensor)
            return tensor

        def raises():
            raise KeyError("of its own")

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model")
            for name, make, expected in (("raises", raises, KeyError), ("another", lambda: np.ones(3), hurray.HurrayError),
                                         ("nothing", lambda: None, hurray.HurrayError)):
                with self.subTest(name), self.assertRaises(expected), FileWriter.create(path) as writer:
                    writer.add_source("a", self.descriptor(), make)
                self.assertFalse(os.path.exists(path))
            with self.assertRaises(TypeError), FileWriter.create(path) as writer:
                writer.add_source("a", self.descriptor(), 17)

    def test_a_maker_that_uses_its_writer_is_refused(self):
        found = []

        def make():
            try:
                with Tensor.wrap(b"x") as tensor:
                    writer.add("b", tensor)
            except hurray.BusyError as error:
                found.append(error)
            return np.zeros((8, 8), np.float32)

        with FileWriter.to_file(io.BytesIO()) as writer:
            writer.add_source("a", self.descriptor(), make)
        self.assertEqual(len(found), 1)

    def test_a_maker_that_is_never_asked_is_let_go(self):
        def make():
            raise AssertionError

        watch = weakref.ref(make)
        with self.assertRaises(ValueError), FileWriter.to_file(io.BytesIO()) as writer:
            writer.add_source("a", self.descriptor(), make)
            raise ValueError
        del make, writer
        gc.collect()
        self.assertIsNone(watch())


if __name__ == "__main__":
    unittest.main()
