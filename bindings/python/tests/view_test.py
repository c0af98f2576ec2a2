"""The buffer protocol of tensors: what each kind of consumer gets, and what it is refused."""

import ctypes
import hashlib
import io
import unittest
import zlib

import numpy as np

import hurray
from hurray import ElementType, Layout, Tensor
from support import BaseLine

SIMPLE, WRITABLE, FORMAT, ND = 0, 1, 4, 8
STRIDES = 0x10 | ND
C_CONTIGUOUS, F_CONTIGUOUS, ANY_CONTIGUOUS = 0x20 | STRIDES, 0x40 | STRIDES, 0x80 | STRIDES


class PyBuffer(ctypes.Structure):
    _fields_ = [
        ("buf", ctypes.c_void_p), ("obj", ctypes.c_void_p), ("len", ctypes.c_ssize_t), ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int), ("ndim", ctypes.c_int), ("format", ctypes.c_char_p),
        ("shape", ctypes.POINTER(ctypes.c_ssize_t)), ("strides", ctypes.POINTER(ctypes.c_ssize_t)),
        ("suboffsets", ctypes.c_void_p), ("internal", ctypes.c_void_p),
    ]


def request(source, flags):
    """Asks for a buffer as a C consumer does: (len, itemsize, readonly, format, shape, strides)."""
    view = PyBuffer()
    ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(source), ctypes.byref(view), flags)
    try:
        shape = view.shape[: view.ndim] if view.shape else None
        strides = view.strides[: view.ndim] if view.strides else None
        return view.len, view.itemsize, view.readonly, view.format, shape, strides
    finally:
        ctypes.pythonapi.PyBuffer_Release(ctypes.byref(view))


ctypes.pythonapi.PyObject_GetBuffer.argtypes = [ctypes.py_object, ctypes.c_void_p, ctypes.c_int]
ctypes.pythonapi.PyBuffer_Release.argtypes = [ctypes.c_void_p]
ctypes.pythonapi.PyBuffer_Release.restype = None


class RequestTest(BaseLine):
    def test_contiguous(self):
        with Tensor.wrap(np.zeros((2, 3), np.int16)) as tensor:
            self.assertEqual(request(tensor, SIMPLE), (12, 1, 0, None, None, None))
            self.assertEqual(request(tensor, WRITABLE), (12, 1, 0, None, None, None))
            self.assertEqual(request(tensor, ND), (12, 2, 0, None, [2, 3], None))
            self.assertEqual(request(tensor, STRIDES), (12, 2, 0, None, [2, 3], [6, 2]))
            self.assertEqual(request(tensor, STRIDES | FORMAT), (12, 2, 0, b"h", [2, 3], [6, 2]))
            self.assertEqual(request(tensor, C_CONTIGUOUS)[4], [2, 3])
            self.assertEqual(request(tensor, ANY_CONTIGUOUS)[4], [2, 3])
            with self.assertRaises(BufferError):
                request(tensor, F_CONTIGUOUS)
            self.assertEqual(tensor.exports, 0)

    def test_column_major(self):
        with Tensor.wrap(np.zeros((2, 3), np.int16, "F")) as tensor:
            self.assertEqual(request(tensor, STRIDES), (12, 2, 0, None, [2, 3], [2, 4]))
            self.assertEqual(request(tensor, F_CONTIGUOUS)[5], [2, 4])
            self.assertEqual(request(tensor, ANY_CONTIGUOUS)[5], [2, 4])
            for flags in (SIMPLE, ND, C_CONTIGUOUS):
                with self.assertRaises(BufferError):
                    request(tensor, flags)

    def test_strided(self):
        with Tensor.wrap(np.zeros((4, 6), np.int16)[::-2, ::3]) as tensor:
            self.assertEqual(request(tensor, STRIDES), (8, 2, 0, None, [2, 2], [-24, 6]))
            for flags in (SIMPLE, ND, C_CONTIGUOUS, F_CONTIGUOUS, ANY_CONTIGUOUS):
                with self.assertRaises(BufferError):
                    request(tensor, flags)

    def test_read_only_is_kept(self):
        for make in (lambda: Tensor.wrap(b"abc"), lambda: Tensor.wrap(bytearray(b"abc"), readonly=True)):
            with make() as tensor:
                self.assertEqual(request(tensor, SIMPLE)[2], 1)
                with self.assertRaises(BufferError):
                    request(tensor, WRITABLE)
                self.assertTrue(memoryview(tensor).readonly)
                with self.assertRaises(ValueError):
                    tensor.numpy()[0] = 1

    def test_scalars_and_nothing(self):
        with Tensor.wrap(np.float64(2.5)) as tensor:
            self.assertEqual(request(tensor, STRIDES | FORMAT), (8, 8, 1, b"d", None, None))
            self.assertEqual(memoryview(tensor).tolist(), 2.5)
        for shape in ([0], [0, 2**40, 2**40], [2**40, 0]):
            with Tensor.wrap(b"", "float64", shape) as tensor:
                self.assertEqual(request(tensor, STRIDES)[0], 0)
                self.assertEqual(request(tensor, STRIDES)[4], shape)
                self.assertEqual(memoryview(tensor).nbytes, 0)

    def test_types_without_a_letter(self):
        with Tensor.wrap(bytes(8), "bfloat16", [2, 2]) as tensor:
            self.assertEqual(request(tensor, STRIDES), (8, 2, 1, None, [2, 2], [4, 2]))
            with self.assertRaises(BufferError) as caught:
                memoryview(tensor)
            self.assertIn("raw", str(caught.exception))
            raw = tensor.raw()
            self.assertEqual((raw.format, raw.shape), ("H", (2, 2)))
            raw.release()

    def test_packed_types(self):
        with Tensor.wrap(b"\xa5\x03", "bool", [10]) as tensor:
            self.assertEqual(request(tensor, SIMPLE), (2, 1, 1, None, None, None))
            for view in (memoryview, lambda t: t.raw()):
                with self.assertRaises(BufferError):
                    view(tensor)
            self.assertEqual(bytes(tensor.raw_bytes()), b"\xa5\x03")

    def test_the_span_of_a_strided_tensor(self):
        raw = bytes(range(20))
        with Tensor.wrap(raw, "uint8", [3], strides=[-4], byte_offset=10) as tensor:
            self.assertEqual(bytes(tensor.raw_bytes()), raw[2:11])
            self.assertEqual(tensor.nbytes, 9)


class ConsumerTest(BaseLine):
    def test_those_that_take_bytes(self):
        data = np.arange(1000, dtype=np.float32)
        with Tensor.wrap(data) as tensor:
            self.assertEqual(bytes(tensor), data.tobytes())
            self.assertEqual(zlib.crc32(tensor), zlib.crc32(data))
            self.assertEqual(hashlib.sha256(tensor).digest(), hashlib.sha256(data).digest())
            file = io.BytesIO()
            file.write(tensor)
            self.assertEqual(file.getvalue(), data.tobytes())
            self.assertEqual(tensor.exports, 0)

    def test_readinto_writes_into_a_tensor(self):
        with Tensor.zeros("uint8", [4]) as tensor:
            io.BytesIO(b"\x01\x02\x03\x04").readinto(tensor)
            self.assertEqual(tensor.tolist(), [1, 2, 3, 4])

    def test_memoryview(self):
        with Tensor.wrap(np.arange(6, dtype=np.int32).reshape(2, 3)) as tensor:
            with tensor.memoryview() as view:
                self.assertEqual(view.tolist(), [[0, 1, 2], [3, 4, 5]])
                self.assertEqual(view[1, 2], 5)
                self.assertIs(view.obj, tensor)
                view[0, 1] = 9
            self.assertEqual(tensor.tolist()[0][1], 9)

    def test_numpy_finds_the_buffer_and_the_errors(self):
        with Tensor.wrap(np.arange(3, dtype=np.int32)) as tensor:
            self.assertEqual(np.asarray(tensor).tolist(), [0, 1, 2])
            self.assertEqual(np.array(tensor, dtype=np.float64).tolist(), [0.0, 1.0, 2.0])
        with self.assertRaises(hurray.ClosedError):
            np.asarray(tensor)

    def test_a_slice_of_a_view_keeps_the_tensor(self):
        tensor = Tensor.wrap(np.arange(100))
        part = memoryview(tensor)[10:20]
        small = tensor.numpy()[5:6]
        self.assertGreaterEqual(tensor.exports, 2)
        with self.assertRaises(BufferError) as caught:
            tensor.close()
        self.assertIn("2 views", str(caught.exception))
        self.assertFalse(tensor.closed)
        part.release()
        del small
        tensor.close()

    def test_ctypes_can_hold_it(self):
        with Tensor.zeros("int32", [4]) as tensor:
            held = (ctypes.c_int32 * 4).from_buffer(tensor)
            held[2] = 5
            with self.assertRaises(BufferError):
                tensor.close()
            del held
            self.assertEqual(tensor.tolist(), [0, 0, 5, 0])

    def test_dynamic_shapes_have_no_view(self):
        # A tensor of a dynamic shape needs buffers of a known size, and then still has no view.
        descriptor = hurray.Descriptor.build("int8", [hurray.DIMENSION_DYNAMIC], buffers=[hurray.BufferHandle(64)])
        with hurray.Buffer.allocate(64) as buffer, Tensor.from_buffers(descriptor, [buffer]) as tensor:
            self.refused("UNSUPPORTED", memoryview, tensor)
            self.refused("UNSUPPORTED", tensor.numpy)
            self.assertEqual(tensor.shape, (2**64 - 1,))


class PropertiesTest(BaseLine):
    def test_all(self):
        with Tensor.wrap(np.zeros((2, 3), np.float32), readonly=True) as tensor:
            self.assertIs(tensor.dtype, ElementType.FLOAT32)
            self.assertIs(tensor.layout, Layout.ROW_MAJOR)
            self.assertEqual((tensor.ndim, tensor.size, tensor.nbytes, tensor.device), (2, 6, 24, 0))
            self.assertTrue(tensor.contiguous)
            self.assertIsNone(tensor.shard)
            self.assertEqual(tensor.descriptor.shape, (2, 3))
            self.assertIn("float32 [2, 3] row_major", repr(tensor))

    def test_the_descriptor_outlives_the_tensor(self):
        tensor = Tensor.wrap(b"abc")
        descriptor = tensor.descriptor
        tensor.close()
        self.assertEqual(descriptor.shape, (3,))


if __name__ == "__main__":
    unittest.main()
