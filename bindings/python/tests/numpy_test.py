"""NumPy arrays of every element type: views, copies of packed types, ml_dtypes with and without it."""

import sys
import types
import unittest
from unittest import mock

import numpy as np

import hurray
from hurray import ElementType, Layout, Tensor, dtypes
from support import BaseLine

try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None

BYTE_TYPES = {"bfloat16": "uint16", "float8_e4m3": "uint8", "float8_e5m2": "uint8", "float8_e8m0": "uint8"}
PACKED = {"bool": 1, "int4": 4, "uint4": 4, "int2": 2, "uint2": 2, "float4_e2m1": 4, "float6_e2m3": 6, "float6_e3m2": 6}


def packed_bytes(values, width):
    """The format's packing, bit by bit."""
    count = len(values)
    size = -(-count // 4) * 3 if width == 6 else -(-count * width // 8)
    out = bytearray(size)
    for i, value in enumerate(values):
        for bit in range(width):
            at = i * width + bit
            out[at // 8] |= (value >> bit & 1) << at % 8
    return bytes(out)


class TypeTest(unittest.TestCase):
    def test_names(self):
        for member in ElementType:
            self.assertIs(dtypes.element_type(member.name.lower()), member)
            self.assertIs(dtypes.element_type(int(member)), member)
            self.assertIs(dtypes.element_type(member), member)
        for given, name in [(np.float32, "FLOAT32"), (np.dtype("u2"), "UINT16"), (float, "FLOAT64"), ("float8_e4m3fn", "FLOAT8_E4M3"),
                            (np.bool_, "BOOL"), (np.complex64, "COMPLEX64")]:
            self.assertIs(dtypes.element_type(given), ElementType[name])

    def test_bits(self):
        expected = {"bool": 1, "bfloat16": 16, "float8_e4m3": 8, "float6_e2m3": 6, "float4_e2m1": 4, "int2": 2, "float128": 128,
                    "complex64": 64, "complex128": 128, "uint64": 64}
        for name, bits in expected.items():
            self.assertEqual(dtypes.bits_of(ElementType[name.upper()]), bits)

    def test_what_names_no_type(self):
        for wrong in ("nothing", "", 0, 255, -1, 1 << 70, np.dtype(">f4"), np.dtype("S3"), object, None, True):
            with self.subTest(wrong):
                if wrong is None:
                    continue  # NumPy's default type is float64
                with self.assertRaises(hurray.HurrayError) as caught:
                    dtypes.element_type(wrong)
                self.assertEqual(caught.exception.name, "INVALID_TYPE")


class ViewTest(BaseLine):
    def test_copy_true_copies_and_leaves_no_view(self):
        source = np.arange(4)
        with Tensor.wrap(source) as tensor:
            array = tensor.numpy(copy=True)
            self.assertEqual(tensor.exports, 0)
            source[0] = 9
            self.assertEqual(array[0], 0)
            self.assertTrue(array.flags.owndata)

    def test_bits_of_every_whole_byte_type(self):
        data = bytes(range(16))
        for member in ElementType:
            width = dtypes.bits_of(member)
            if width % 8 or width > 64:
                continue
            with Tensor.wrap(data, member, [128 // width]) as tensor:
                array = tensor.numpy(bits=True)
                self.assertEqual(array.dtype, np.dtype(f"u{width // 8}"))
                self.assertEqual(array.tobytes(), data)
                del array

    def test_types_of_numpy(self):
        data = np.arange(1, 17, dtype=np.uint8)
        for name in ("float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
                     "complex64", "complex128"):
            expected = data.view(name)
            with Tensor.wrap(data, name, [expected.size]) as tensor:
                np.testing.assert_array_equal(tensor.numpy(), expected)

    def test_types_without_a_form(self):
        with Tensor.wrap(bytes(16), "float128", [1]) as tensor:
            self.refused("UNSUPPORTED", tensor.numpy)
            self.refused("UNSUPPORTED", tensor.numpy, bits=True)
            self.assertEqual(bytes(tensor.raw_bytes()), bytes(16))

    def test_from_numpy(self):
        for source in (np.arange(6.0).reshape(2, 3), np.arange(6)[::-2], np.float32(3), [1, 2, 3]):
            with Tensor.from_numpy(source) as tensor:
                np.testing.assert_array_equal(tensor.numpy(), source)
                self.assertEqual(tensor.copied_bytes, 0)
        source = np.arange(4, dtype=np.int32)
        with Tensor.from_numpy(source, copy=True) as tensor:
            source[0] = 5
            self.assertEqual(tensor.tolist(), [0, 1, 2, 3])
            self.assertEqual(tensor.copied_bytes, 16)
        self.refused("INVALID_TYPE", Tensor.from_numpy, np.array(["a"]))
        self.refused("INVALID_TYPE", Tensor.from_numpy, np.zeros(2, ">f8"))


class PackedTest(BaseLine):
    def values(self, width, count):
        return [(i * 7 + 3) % (1 << width) for i in range(count)]

    def test_contiguous(self):
        for name, width in PACKED.items():
            for shape in ([], [1], [7], [8], [9], [3, 5], [0], [2, 0, 3], [4, 4, 4]):
                with self.subTest((name, shape)):
                    count = int(np.prod(shape))
                    values = self.values(width, count)
                    with Tensor.wrap(packed_bytes(values, width), name, shape) as tensor:
                        self.assertEqual(tensor.numpy(bits=True).tolist(), np.array(values).reshape(shape).tolist())
                        self.assertEqual(tensor.exports, 0)
                        self.refused("UNSUPPORTED", tensor.numpy, copy=False)
                        self.assertEqual(bytes(tensor.raw_bytes())[: len(packed_bytes(values, width))],
                                         packed_bytes(values, width))

    def test_other_layouts(self):
        for name, width in PACKED.items():
            if width == 6:
                continue  # 24 bits hold four: a stride in elements is not a place in memory
            values = np.array(self.values(width, 24), np.uint8)
            data = packed_bytes(values, width)
            with self.subTest(name):
                with Tensor.wrap(data, name, [4, 6], layout=Layout.COL_MAJOR) as tensor:
                    self.assertEqual(tensor.numpy(bits=True).tolist(), values.reshape(6, 4).T.tolist())
                with Tensor.wrap(data, name, [3, 4], strides=[8, 2]) as tensor:
                    self.assertEqual(tensor.numpy(bits=True).tolist(), values.reshape(3, 8)[:, ::2].tolist())
                with Tensor.wrap(data, name, [5, 3], strides=[0, 1]) as tensor:
                    self.assertEqual(tensor.numpy(bits=True).tolist(), [values[:3].tolist()] * 5)
                per_byte = 8 // width
                with Tensor.wrap(data, name, [per_byte + 1], strides=[-1], byte_offset=2) as tensor:
                    start = 2 * per_byte
                    self.assertEqual(tensor.numpy(bits=True).tolist(), [int(values[start - i]) for i in range(per_byte + 1)])

    def test_booleans(self):
        for shape in ([], [1], [8], [13], [3, 7], [0, 4]):
            source = (np.arange(int(np.prod(shape))) % 3 == 0).reshape(shape)
            with Tensor.from_numpy(source) as tensor:
                self.assertIs(tensor.dtype, ElementType.BOOL)
                self.assertEqual(tensor.copied_bytes, -(-source.size // 8))
                back = tensor.numpy()
                self.assertEqual(back.dtype, np.bool_)
                np.testing.assert_array_equal(back, source)
                self.assertEqual(bytes(tensor.raw_bytes()), np.packbits(source, bitorder="little").tobytes())
            self.refused("UNSUPPORTED", Tensor.from_numpy, source, copy=False)
        with Tensor.from_numpy(np.ones((2, 3), bool).T[::-1]) as tensor:
            self.assertEqual(tensor.numpy().tolist(), [[True, True]] * 3)

    def test_pack_bits_is_the_formats(self):
        from hurray._numpy import pack_bits

        for width in (1, 2, 4, 6):
            for count in range(20):
                values = self.values(width, count)
                self.assertEqual(pack_bits(np.array(values, np.uint8), width).tobytes(), packed_bytes(values, width))
        self.assertEqual(pack_bits(np.array([1, 2, 4, 8], np.uint8), 6).tobytes(), bytes.fromhex("814020"))


class WithoutMlDtypesTest(BaseLine):
    def setUp(self):
        super().setUp()
        patch = mock.patch.dict(sys.modules, {"ml_dtypes": None})
        patch.start()
        self.addCleanup(patch.stop)

    def test_a_typed_error_says_what_to_do(self):
        for name in [*BYTE_TYPES, *(n for n in PACKED if n != "bool")]:
            with Tensor.wrap(bytes(48), name, [4]) as tensor:
                error = self.refused("UNSUPPORTED", tensor.numpy)
                self.assertIn("ml_dtypes", error.message)
                self.assertIn(name, error.message)
                self.assertEqual(tensor.numpy(bits=True).tolist(), [0, 0, 0, 0])


class StandInMlDtypesTest(BaseLine):
    """ml_dtypes' names over NumPy's own types of the same size: the right name is asked for and every bit arrives."""

    def setUp(self):
        super().setUp()
        module = types.ModuleType("ml_dtypes")
        module.bfloat16 = np.dtype("V2")
        for name in ("float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu", "float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn"):
            setattr(module, name, np.dtype("V1"))
        module.int4 = module.int2 = np.dtype("int8")
        module.uint4 = np.dtype("uint16")  # another than the unpacked one, so that a conversion is seen
        module.uint2 = np.dtype("uint16")
        patch = mock.patch.dict(sys.modules, {"ml_dtypes": module})
        patch.start()
        self.addCleanup(patch.stop)

    def test_whole_bytes_are_views(self):
        data = bytes(range(1, 9))
        for name, bits in BYTE_TYPES.items():
            size = np.dtype(bits).itemsize
            with Tensor.wrap(data, name, [8 // size]) as tensor:
                array = tensor.numpy()
                self.assertEqual((array.dtype, array.tobytes()), (np.dtype(f"V{size}"), data))
                self.assertEqual(tensor.exports, 1)
                del array

    def test_packed_ones_are_unpacked(self):
        values = [(i * 5 + 1) % 16 for i in range(16)]
        for name, width in PACKED.items():
            if name == "bool":
                continue
            low = [v & ((1 << width) - 1) for v in values]
            with Tensor.wrap(packed_bytes(low, width), name, [16]) as tensor:
                array = tensor.numpy()
                if name.startswith("float"):
                    self.assertEqual(array.tobytes(), bytes(low))
                elif name.startswith("u"):
                    self.assertEqual((array.dtype, array.tolist()), (np.dtype("uint16"), low))
                else:
                    half = 1 << (width - 1)
                    self.assertEqual(array.tolist(), [v - 2 * half if v >= half else v for v in low])

    def test_a_version_of_it_that_lacks_a_type(self):
        del sys.modules["ml_dtypes"].float8_e8m0fnu
        with Tensor.wrap(bytes(4), "float8_e8m0", [4]) as tensor:
            self.refused("UNSUPPORTED", tensor.numpy)


@unittest.skipIf(ml_dtypes is None, "the package ml_dtypes is not installed")
class MlDtypesTest(BaseLine):
    def test_there_and_back(self):
        values = np.arange(12).reshape(3, 4) % 4
        for name in [*BYTE_TYPES, *(n for n in PACKED if n != "bool")]:
            dtype = dtypes.numpy_dtype(ElementType[name.upper()])
            self.assertIsNotNone(dtype, name)
            source = values.astype(dtype)
            with self.subTest(name):
                with Tensor.from_numpy(source) as tensor:
                    self.assertEqual(tensor.dtype.name.lower(), name)
                    back = tensor.numpy()
                    self.assertEqual(back.dtype, dtype)
                    self.assertEqual(back.tobytes(), source.tobytes())
                    if name in BYTE_TYPES:
                        self.assertEqual(back.ctypes.data, source.ctypes.data)
                    del back

    def test_negative_integers(self):
        for name in ("int4", "int2"):
            dtype = dtypes.numpy_dtype(ElementType[name.upper()])
            source = np.array([-1, 0, 1, -2], np.int8).astype(dtype)
            with Tensor.from_numpy(source) as tensor:
                self.assertEqual(tensor.numpy().astype(np.int8).tolist(), [-1, 0, 1, -2])


if __name__ == "__main__":
    unittest.main()
