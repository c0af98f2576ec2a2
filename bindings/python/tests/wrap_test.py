"""Python memory as tensors: every buffer format, every shape that breaks readers, and what is refused."""

import array
import ctypes
import itertools
import mmap
import os
import tempfile
import unittest

import numpy as np

import hurray
from hurray import AlignmentPolicy, ElementType, Layout, Tensor
from support import BaseLine, lent

NUMPY_TYPES = [name for name in ("float16", "float32", "float64", "int8", "uint8", "int16", "uint16", "int32", "uint32",
                                 "int64", "uint64", "complex64", "complex128")]


def arrays(dtype):
    """Name and array: the trap list."""
    base = np.arange(1, 61).astype(dtype)
    yield "scalar", base[7:8].reshape(())
    yield "vector", base
    yield "empty", base[:0]
    yield "empty middle", base[:0].reshape(3, 0, 2)
    yield "row major", base.reshape(3, 4, 5)
    yield "column major", np.asfortranarray(base.reshape(3, 4, 5))
    yield "transposed", base.reshape(3, 4, 5).transpose(1, 0, 2)
    yield "every second", base[::2]
    yield "reversed", base[::-1]
    yield "all reversed", base.reshape(3, 4, 5)[::-1, ::-1, ::-1]
    yield "mixed signs", base.reshape(3, 4, 5)[::-1, :, ::2]
    yield "broadcast", np.broadcast_to(base[:5], (4, 5))
    yield "broadcast scalar", np.broadcast_to(base[3:4].reshape(()), (2, 3))
    yield "ones", base[:5].reshape(1, 5, 1, 1)
    yield "rank 32", base[:2].reshape([2] + [1] * 31)
    unaligned = np.frombuffer(bytearray(base.nbytes + 1), np.uint8)[1:]
    unaligned[:] = base.view(np.uint8)
    yield "unaligned", unaligned.view(dtype)
    readonly = base.copy()
    readonly.flags.writeable = False
    yield "read-only", readonly


class TrapListTest(BaseLine):
    def test_every_type_and_shape_comes_back_as_the_same_view(self):
        count = 0
        for dtype in NUMPY_TYPES:
            for name, source in arrays(dtype):
                with self.subTest(f"{dtype} {name}"):
                    with Tensor.wrap(source) as tensor:
                        self.assertEqual(tensor.dtype.name.lower(), dtype)
                        self.assertEqual(tensor.shape, source.shape)
                        self.assertEqual(tensor.size, source.size)
                        self.assertEqual(tensor.ndim, source.ndim)
                        self.assertEqual(tensor.readonly, not source.flags.writeable)
                        self.assertEqual(tensor.copied_bytes, 0)
                        back = tensor.numpy()
                        self.assertEqual(back.dtype, source.dtype)
                        np.testing.assert_array_equal(back, source)
                        if source.size:
                            self.assertEqual(back.ctypes.data, source.ctypes.data, "was copied")
                        self.assertEqual(back.flags.writeable, source.flags.writeable)
                        with self.assertRaises(BufferError):
                            tensor.close()
                        del back
                        count += 1
        self.assertEqual(count, len(NUMPY_TYPES) * 17)

    def test_layouts(self):
        base = np.arange(12, dtype=np.int16).reshape(3, 4)
        for source, layout, strides in [
            (base, Layout.ROW_MAJOR, None),
            (np.asfortranarray(base), Layout.COL_MAJOR, (1, 3)),
            (base[::-1], Layout.STRIDED, (-4, 1)),
            (base[:, ::2], Layout.STRIDED, (4, 2)),
            (np.broadcast_to(base[0], (5, 4)), Layout.STRIDED, (0, 1)),
        ]:
            with Tensor.wrap(source) as tensor:
                self.assertIs(tensor.layout, layout)
                self.assertEqual(tensor.strides, strides)

    def test_writes_are_seen_on_both_sides(self):
        source = np.zeros((2, 3), np.int32)
        with Tensor.wrap(source) as tensor:
            tensor.numpy()[1, 2] = 42
            self.assertEqual(source[1, 2], 42)
            source[0, 0] = 7
            self.assertEqual(tensor.tolist(), [[7, 0, 0], [0, 0, 42]])

    def test_any_object_with_the_buffer_protocol(self):
        for source, dtype, shape in [
            (b"abc", "uint8", (3,)),
            (bytearray(b"abcd"), "uint8", (4,)),
            (memoryview(b"abcdef")[::2], "uint8", (3,)),
            (array.array("d", [1, 2]), "float64", (2,)),
            (array.array("h", [1, 2, 3]), "int16", (3,)),
            (array.array("L", [1]), f"uint{ctypes.sizeof(ctypes.c_long) * 8}", (1,)),
            ((ctypes.c_float * 3)(1, 2, 3), "float32", (3,)),
            (((ctypes.c_int64 * 2) * 3)(), "int64", (3, 2)),
            (memoryview(bytes(24)).cast("I", [2, 3]), "uint32", (2, 3)),
        ]:
            with self.subTest(repr(source)):
                with Tensor.wrap(source) as tensor:
                    self.assertEqual((tensor.dtype.name.lower(), tensor.shape), (dtype, shape))
                    self.assertEqual(bytes(memoryview(tensor)), bytes(memoryview(source)))

    def test_more_dimensions_than_numpy_takes(self):
        source = memoryview(bytes(2)).cast("B", [1] * 63 + [2])
        with Tensor.wrap(source) as tensor:
            self.assertEqual(tensor.ndim, 64)
            self.assertEqual(memoryview(tensor).shape, source.shape)
            if int(np.__version__.split(".")[0]) < 2:
                self.refused("UNSUPPORTED", tensor.numpy)

    def test_bytes_as_what_they_are_said_to_be(self):
        raw = bytearray(range(64))
        with Tensor.wrap(raw, "uint16", [2, 3], byte_offset=3) as tensor:
            self.assertEqual(tensor.numpy().tobytes(), raw[3:15])
        with Tensor.wrap(raw, "int8", [4], strides=[-2], byte_offset=10) as tensor:
            self.assertEqual(tensor.tolist(), [10, 8, 6, 4])
        with Tensor.wrap(raw, "uint8", [2, 3], layout=Layout.COL_MAJOR) as tensor:
            self.assertEqual(tensor.tolist(), [[0, 2, 4], [1, 3, 5]])
        with Tensor.wrap(raw, "float32", []) as tensor:
            self.assertEqual(tensor.shape, ())
        with Tensor.wrap(b"", "float32", [0, 7]) as tensor:
            self.assertEqual(tensor.numpy().shape, (0, 7))
        with Tensor.wrap(np.arange(4, dtype=np.uint16), ElementType.BFLOAT16) as tensor:
            self.assertIs(tensor.dtype, ElementType.BFLOAT16)

    def test_more_than_2_gib(self):
        size = (1 << 31) + 4096
        with tempfile.TemporaryFile() as file:
            file.truncate(size)
            os.pwrite(file.fileno(), b"\x2a", size - 1)
            with mmap.mmap(file.fileno(), size, prot=mmap.PROT_READ, flags=mmap.MAP_SHARED) as memory:
                with Tensor.wrap(memory) as tensor:
                    self.assertEqual(tensor.shape, (size,))
                    array = tensor.numpy()
                    self.assertEqual(array[-1], 42)
                    self.assertEqual(memoryview(tensor)[size - 1], 42)
                    del array
                with Tensor.wrap(memory, "uint16", [(size >> 1) - 1, 1], strides=[1, 0], byte_offset=1) as tensor:
                    self.assertEqual(tensor.numpy().shape, ((size >> 1) - 1, 1))
                with Tensor.wrap(memory, "uint8", [3], strides=[-(1 << 30)], byte_offset=size - 1) as tensor:
                    self.assertEqual(tensor.tolist(), [42, 0, 0])


class RefusalTest(BaseLine):
    def refused_and_released(self, name, source, *arguments, **keywords):
        before = lent()
        error = self.refused(name, Tensor.wrap, source, *arguments, **keywords)
        self.assertEqual(lent(), before, "the failed call kept the buffer")
        return error

    def test_types_that_have_no_element_type(self):
        for source in [
            np.array([True]),
            np.zeros(1, ">i4"),
            np.zeros(1, "S3"),
            np.zeros(1, "U3"),
            np.zeros(1, [("a", "i4"), ("b", "f4")]),
            np.zeros(1, np.longdouble),
            memoryview(b"abc").cast("c"),
        ]:
            with self.subTest(str(source.dtype) if isinstance(source, np.ndarray) else source.format):
                self.refused_and_released("INVALID_TYPE", source)

    def test_booleans_say_what_to_do(self):
        self.assertIn("pack", str(self.refused_and_released("INVALID_TYPE", np.array([True]))))

    def test_objects_without_a_buffer(self):
        for source in ("text", 17, None, [1, 2], object()):
            with self.assertRaises(TypeError):
                Tensor.wrap(source)

    def test_named_type_of_another_width(self):
        self.refused_and_released("INVALID_TYPE", np.zeros(2, np.uint8), "bfloat16")
        self.refused_and_released("INVALID_TYPE", np.zeros(2, np.uint8), "bool")
        self.refused_and_released("INVALID_TYPE", np.zeros(2, np.uint8), "int4")

    def test_strides_that_are_no_multiple_of_the_element(self):
        raw = np.zeros(64, np.uint8)
        source = np.ndarray((3,), np.int32, raw, strides=(6,))
        self.refused_and_released("INVALID_LAYOUT", source)

    def test_memory_that_is_too_small(self):
        raw = bytearray(16)
        for shape, keywords in [
            ([17], {}),
            ([16], {"byte_offset": 1}),
            ([2], {"strides": [16]}),
            ([2], {"strides": [-1]}),
            ([2**63, 2], {}),
            ([2**62, 2**62], {}),
            ([2], {"strides": [2**62]}),
            ([2], {"strides": [-(2**63)]}),
            ([1], {"byte_offset": 2**64 - 1}),
        ]:
            with self.subTest((shape, keywords)):
                before = lent()
                with self.assertRaises(hurray.HurrayError):
                    Tensor.wrap(raw, "uint8", shape, **keywords)
                self.assertEqual(lent(), before)
        raw.append(1)  # would raise BufferError if a buffer were still out

    def test_unknown_names_and_numbers(self):
        raw = bytearray(16)
        self.refused_and_released("INVALID_TYPE", raw, "float31", [1])
        self.refused_and_released("INVALID_TYPE", raw, 0x47, [1])
        self.refused_and_released("INVALID_ARGUMENT", raw, "uint8", [-1])
        self.refused_and_released("INVALID_ARGUMENT", raw, "uint8", [1], strides=[1, 2])
        self.refused_and_released("INVALID_ARGUMENT", raw, "uint8", [1] * 65)
        self.refused_and_released("INVALID_ARGUMENT", raw, None, [1])
        self.refused_and_released("INVALID_ARGUMENT", raw, "uint8", byte_offset=1)
        for layout in (0, 6, 255):
            before = lent()
            with self.assertRaises(hurray.HurrayError):
                Tensor.wrap(raw, "uint8", [1], layout=layout)
            self.assertEqual(lent(), before)

    def test_bytes_that_are_not_contiguous(self):
        with self.assertRaises((BufferError, ValueError)):
            Tensor.wrap(np.zeros(8, np.uint8)[::2], "uint8", [4])

    def test_an_index_that_misbehaves(self):
        raw = bytearray(16)

        class Evil:
            def __index__(self):
                raise ZeroDivisionError

        with self.assertRaises(ZeroDivisionError):
            Tensor.wrap(raw, "uint8", [Evil()])
        raw.append(1)


class AlignmentTest(BaseLine):
    def memory(self, misalignment):
        raw = np.zeros(256, np.uint8)
        start = -raw.ctypes.data % 64 + misalignment
        return raw[start : start + 64]

    def test_offset_names_the_prefix(self):
        for misalignment in (0, 1, 8, 63):
            with Tensor.wrap(self.memory(misalignment)) as tensor:
                self.assertEqual(tensor.byte_offset, misalignment)
                self.assertEqual(tensor.buffers[0].prefix, misalignment)
                self.assertEqual(tensor.buffers[0].info.data % 64, 0)

    def test_copy_copies_only_what_is_not_aligned(self):
        for misalignment, copied in ((0, 0), (1, 64), (32, 64)):
            source = self.memory(misalignment)
            source[:] = np.arange(64)
            with Tensor.wrap(source, alignment=AlignmentPolicy.COPY) as tensor:
                self.assertEqual(tensor.copied_bytes, copied)
                self.assertEqual(tensor.byte_offset, 0)
                np.testing.assert_array_equal(tensor.numpy(), source)

    def test_require_refuses(self):
        with Tensor.wrap(self.memory(0), alignment=AlignmentPolicy.REQUIRE):
            pass
        before = lent()
        self.refused("MISALIGNED", Tensor.wrap, self.memory(16), alignment=AlignmentPolicy.REQUIRE)
        self.refused("INVALID_ARGUMENT", Tensor.wrap, self.memory(16), alignment=99)
        self.assertEqual(lent(), before)

    def test_new_memory_is_aligned_and_zero(self):
        for alignment, shape, dtype in itertools.product((64, 4096), ((), (3, 5), (0, 2)), ("float32", "bool", "int4", "float6_e2m3")):
            with Tensor.zeros(dtype, shape, alignment=alignment) as tensor:
                self.assertEqual(tensor.buffers[0].info.alignment >= alignment or not tensor.size, True)
                self.assertEqual(bytes(tensor.raw_bytes()).strip(b"\0"), b"")
                self.assertFalse(tensor.readonly)
        self.refused("INVALID_LAYOUT", Tensor.zeros, "int8", [4], alignment=65)
        self.refused("INVALID_ARGUMENT", Tensor.zeros, "int8", [2**63])
        self.refused("OUT_OF_MEMORY", Tensor.zeros, "int8", [2**62])


if __name__ == "__main__":
    unittest.main()
