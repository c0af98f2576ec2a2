"""Streams over pipes, files and memory."""

import os
import socket
import tempfile
import threading
import unittest

import numpy as np

import hurray
from hurray import Reader, Tensor, Writer
from support import BaseLine


def sources():
    yield np.arange(5, dtype=np.float32)
    yield np.arange(24, dtype=np.int16).reshape(2, 3, 4)[:, ::-1]
    yield np.asfortranarray(np.arange(6, dtype=np.uint64).reshape(2, 3))
    yield np.zeros((3, 0), np.int8)
    yield np.float64(1.5)
    yield np.array([True, False] * 5)


def written():
    """A stream of the sources."""
    with Writer.to_memory() as writer:
        for source in sources():
            with Tensor.from_numpy(source) as tensor:
                writer.write(tensor)
        return writer.take_bytes()


class MemoryTest(BaseLine):
    def test_there_and_back(self):
        data = written()
        with Reader.from_memory(data) as reader:
            for source in sources():
                with reader.next() as tensor:
                    np.testing.assert_array_equal(tensor.numpy(), source)
            self.assertIsNone(reader.next())
            self.assertIsNone(reader.next())

    def test_iteration(self):
        count = 0
        with Reader.from_memory(written()) as reader:
            for tensor in reader:
                with tensor:
                    count += 1
        self.assertEqual(count, len(list(sources())))

    def test_tensors_outlive_the_reader_and_the_memory(self):
        data = bytearray(written())
        with Reader.from_memory(data) as reader:
            first = reader.next()
        data[:] = bytes(len(data))
        data.append(1)
        self.assertEqual(first.tolist(), [0, 1, 2, 3, 4])
        first.close()

    def test_the_memory_is_kept_until_the_reader_is_closed(self):
        data = bytearray(written())
        reader = Reader.from_memory(data)
        with self.assertRaises(BufferError):
            data.append(1)
        reader.close()
        data.append(1)

    def test_empty(self):
        with Reader.from_memory(b"") as reader:
            self.assertIsNone(reader.next())
        with Writer.to_memory() as writer:
            self.assertEqual(writer.take_bytes(), b"")

    def test_a_prefix_does_not_leave_the_process(self):
        raw = np.frombuffer(bytearray(b"SECRET SECRET SECRET SECRET SECRET SECRET SECRET SECRET 12345678"), np.uint8)
        with Tensor.wrap(raw[56:]) as tensor, Writer.to_memory() as writer:
            writer.write(tensor)
            data = writer.take_bytes()
        self.assertNotIn(b"SECRET", data)
        self.assertTrue(data.endswith(b"12345678"))

    def test_the_writer_goes_on_after_take(self):
        with Writer.to_memory() as writer, Tensor.wrap(b"abc") as tensor:
            writer.write(tensor)
            first = writer.take_bytes()
            writer.write(tensor)
            self.assertEqual(writer.take_bytes(), first)


class HostileTest(BaseLine):
    def test_every_cut_is_an_error_with_its_place(self):
        with Writer.to_memory() as writer, Tensor.wrap(b"abc") as tensor:
            writer.write(tensor)
            data = writer.take_bytes()
        for cut in range(1, len(data)):
            with Reader.from_memory(data[:cut]) as reader:
                error = self.refused("INVALID_FORMAT", reader.next)
                self.assertIsNotNone(error.offset)
                with self.assertRaises(hurray.HurrayError):
                    reader.next()  # stays broken

    def test_garbage(self):
        for data in (b"x" * 100, b"HRRY" + b"\xff" * 100, bytes(100)):
            with Reader.from_memory(data) as reader, self.assertRaises(hurray.HurrayError):
                reader.next()

    def test_limits(self):
        data = written()
        with Reader.from_memory(data, max_tensor_bytes=19) as reader:
            self.refused("LIMIT_EXCEEDED", reader.next)
        with Reader.from_memory(data, max_tensor_bytes=20) as reader:
            reader.next().close()
        with Reader.from_memory(data, max_descriptor_length=30) as reader:
            self.refused("LIMIT_EXCEEDED", reader.next)

    def test_arguments(self):
        self.refused("INVALID_ARGUMENT", Reader.from_fd, -1)
        self.refused("INVALID_ARGUMENT", Reader.from_fd, 1 << 40)
        self.refused("INVALID_ARGUMENT", Reader.from_memory, b"", max_tensor_bytes=-1)
        for wrong in ("x", None, 1.5):
            with self.assertRaises((TypeError, AttributeError)):
                Reader.from_fd(wrong)
        with self.assertRaises(TypeError):
            Reader.from_memory(17)
        with Writer.to_memory() as writer, self.assertRaises(TypeError):
            writer.write(b"no tensor")
        read_end, write_end = os.pipe()
        with Writer.to_fd(write_end, close_fd=True) as writer:
            self.refused("INVALID_ARGUMENT", writer.take)
        os.close(read_end)

    def test_a_closed_descriptor_is_an_error(self):
        read_end, write_end = os.pipe()
        os.close(write_end)
        os.close(read_end)
        with Reader.from_fd(read_end) as reader:
            self.refused("IO", reader.next)

    def test_a_pipe_that_nobody_reads_is_an_error_and_no_signal(self):
        read_end, write_end = os.pipe()
        os.close(read_end)
        with Writer.to_fd(write_end, close_fd=True) as writer, Tensor.zeros("uint8", [1 << 20]) as tensor:
            self.refused("IO", writer.write, tensor)


class DescriptorTest(BaseLine):
    def test_pipe(self):
        read_end, write_end = os.pipe()

        def write():
            with Writer.to_fd(write_end, close_fd=True) as writer:
                for source in sources():
                    with Tensor.from_numpy(source) as tensor:
                        writer.write(tensor)

        thread = threading.Thread(target=write)
        thread.start()
        with Reader.from_fd(read_end, close_fd=True) as reader:
            for source in sources():
                with reader.next() as tensor:
                    np.testing.assert_array_equal(tensor.numpy(), source)
            self.assertIsNone(reader.next())
        thread.join()
        for fd in (read_end, write_end):
            with self.assertRaises(OSError):
                os.fstat(fd)

    def test_descriptors_stay_the_callers(self):
        with tempfile.TemporaryFile() as file:
            with Writer.to_fd(file) as writer, Tensor.wrap(b"abc") as tensor:
                writer.write(tensor)
            file.seek(0)
            with Reader.from_fd(file) as reader, reader.next() as tensor:
                self.assertEqual(bytes(tensor), b"abc")
            os.fstat(file.fileno())

    def test_sockets(self):
        left, right = socket.socketpair()
        with left, right:
            with Writer.to_fd(left) as writer, Reader.from_fd(right) as reader:
                with Tensor.wrap(b"abc") as tensor:
                    writer.write(tensor)
                with reader.next() as tensor:
                    self.assertEqual(bytes(tensor), b"abc")


if __name__ == "__main__":
    unittest.main()
