"""Elements, quantization, other layouts, validation and statistics, against NumPy."""

import unittest

import numpy as np

import hurray
from hurray import Layout, Scheme, StatisticsFlags, Status, Tensor, ValidationLevel
from support import BaseLine

VALUES = np.linspace(-3, 5, 24, dtype=np.float32).reshape(4, 6)


class ElementTest(BaseLine):
    def test_elements_of_every_layout(self):
        for layout in (Layout.ROW_MAJOR, Layout.COL_MAJOR, Layout.MORTON, hurray.Tiled((hurray.Tile((2, 3)),)), Layout.CSR, Layout.CSC, Layout.COO):
            with self.subTest(str(layout)), Tensor.wrap(VALUES) as source, source.transcode(layout) as tensor:
                for index in ((0, 0), (3, 5), (1, 2)):
                    self.assertEqual(tensor.element(index), VALUES[index])
                    self.assertEqual(tensor.element_complex(index), VALUES[index])
                    self.assertEqual(tensor.element_bits(index), VALUES.view(np.uint32)[index])

    def test_rank_0_negative_strides_and_offsets(self):
        with Tensor.wrap(np.float32(7)) as tensor:
            self.assertEqual(tensor.element([]), 7)
        with Tensor.wrap(VALUES[::-1, ::2]) as tensor:
            self.assertEqual(tensor.element([0, 1]), VALUES[::-1, ::2][0, 1])
            address = tensor.element_address([1, 0])
            self.assertEqual((address.bits, address.present, address.bit_offset), (32, 1, 0))
            self.assertEqual(address.byte_offset - tensor.element_address([0, 0]).byte_offset, VALUES[::-1, ::2].strides[0])

    def test_packed_types(self):
        flags = np.arange(20) % 3 == 0
        with Tensor.from_numpy(flags) as tensor:
            self.assertEqual([tensor.element([i]) for i in range(20)], flags.tolist())
            self.assertEqual(tensor.element_address([9]).bit_offset, 1)

    def test_complex(self):
        with Tensor.wrap(np.array([1 + 2j, 3])) as tensor:
            self.assertEqual(tensor.element_complex([0]), 1 + 2j)
            self.assertEqual(tensor.element_bits([1]), int(np.array(3.0).view(np.uint64)))
            self.refused("UNSUPPORTED", tensor.element, [0])

    def test_what_is_out_of_bounds(self):
        with Tensor.wrap(VALUES) as tensor:
            with self.assertRaises(IndexError):
                tensor.element([4, 0])
            self.refused("INVALID_ARGUMENT", tensor.element, [0])
            self.refused("INVALID_ARGUMENT", tensor.element, [-1, 0])
        with Tensor.wrap(np.zeros((3, 0))) as tensor, self.assertRaises(hurray.OutOfBoundsError):
            tensor.element([0, 0])


class QuantizationTest(BaseLine):
    def test_per_tensor_there_and_back(self):
        with Tensor.wrap(VALUES) as source, source.quantize(Scheme.PER_TENSOR_AFFINE, "int8") as tensor:
            section = tensor.descriptor.quantization
            self.assertTrue(tensor.quantized)
            expected = (tensor.numpy().astype(np.float32) - section.zero_point) * np.float32(section.scale)
            with tensor.dequantize() as back:
                np.testing.assert_array_equal(back.numpy(), expected)
                self.assertLessEqual(np.abs(back.numpy() - VALUES).max(), section.scale)
                self.assertFalse(back.quantized)
            self.assertEqual(tensor.element([1, 2]), expected[1, 2])
            self.assertEqual(tensor.element_stored([1, 2]), tensor.numpy()[1, 2])

    def test_every_scheme(self):
        wide = np.linspace(-1, 1, 4 * 64, dtype=np.float32).reshape(4, 64)
        cases = [(Scheme.PER_CHANNEL_AFFINE, "uint8", {"axis": 0}), (Scheme.PER_BLOCK_AFFINE, "int8", {"axis": 1, "block_size": 32}),
                 (Scheme.PER_BLOCK_AFFINE, "int4", {"axis": 1, "block_size": 32, "symmetric": True, "scale": "float16"}),
                 (Scheme.NF4, "uint4", {"axis": 1, "block_size": 64}), (Scheme.MXFP, "float8_e4m3", {"axis": 1, "block_size": 32})]
        for scheme, storage, options in cases:
            with self.subTest(scheme.name, storage=storage), Tensor.wrap(wide) as source:
                with source.quantize(scheme, storage, **options) as tensor, tensor.dequantize() as back:
                    self.assertLess(np.abs(back.numpy() - wide).max(), 0.2)
                    tensor.validate()

    def test_what_has_no_place_is_refused_with_its_index(self):
        values = VALUES.copy()
        values[1, 2] = np.nan
        with Tensor.wrap(values) as tensor:
            error = self.refused("INVALID_ARGUMENT", tensor.quantize, Scheme.PER_TENSOR_AFFINE, "int8")
            self.assertIn("8", error.message)
            self.refused("INVALID_ARGUMENT", tensor.dequantize)
            self.refused("INVALID_TYPE", tensor.quantize, Scheme.PER_TENSOR_AFFINE, "no type")

    def test_target_types(self):
        with Tensor.wrap(VALUES) as source, source.quantize(Scheme.PER_TENSOR_AFFINE, "int8") as tensor:
            with tensor.dequantize("float64") as back, tensor.dequantize("float16") as half:
                np.testing.assert_array_equal(back.numpy().astype(np.float16), half.numpy())
            self.refused("INVALID_ARGUMENT", tensor.dequantize, "int8")


class WorkTest(BaseLine):
    def test_progress_may_stop_the_work_and_what_it_raises_goes_on(self):
        with Tensor.zeros("float32", [1 << 20]) as tensor:
            told = []
            tensor.transcode(Layout.COL_MAJOR, progress=lambda done, total: told.append((done, total)) or True).close()
            self.assertEqual(told[-1][0], told[-1][1])
            self.refused("CANCELLED", tensor.statistics, progress=lambda done, total: False)

            def raises(done, total):
                raise KeyboardInterrupt

            with self.assertRaises(KeyboardInterrupt):
                tensor.quantize(Scheme.PER_TENSOR_AFFINE, "int8", progress=raises)

    def test_the_limit_on_memory(self):
        with Tensor.zeros("float32", [1024, 1024]) as tensor:
            self.refused("LIMIT_EXCEEDED", tensor.transcode, Layout.COL_MAJOR, memory_limit=1000)


class TranscodeTest(BaseLine):
    def test_there_and_back(self):
        for layout in (Layout.COL_MAJOR, Layout.CSR, Layout.COO, Layout.CSC, Layout.MORTON, hurray.Strided((1, 4))):
            with self.subTest(str(layout)), Tensor.wrap(VALUES) as source, source.transcode(layout) as tensor:
                with tensor.transcode(Layout.ROW_MAJOR, alignment=4096) as back:
                    np.testing.assert_array_equal(back.numpy(), VALUES)
                    self.assertEqual(back.buffers[0].info.data % 4096, 0)

    def test_fields_that_a_layout_refuses(self):
        cube = VALUES.reshape(2, 3, 4)
        with Tensor.wrap(cube) as source:
            with source.transcode(hurray.Csf(0, (2, 0, 1))) as tensor, tensor.transcode(Layout.ROW_MAJOR) as back:
                self.assertEqual(tensor.descriptor.layout_fields.mode_order, (2, 0, 1))
                np.testing.assert_array_equal(back.numpy(), cube)
            self.refused("INVALID_ARGUMENT", source.transcode, hurray.Csf(0, (1, 1, 2)))

    def test_a_pair_that_there_is_not(self):
        with Tensor.wrap(VALUES) as tensor:
            self.refused("UNSUPPORTED", tensor.transcode, Layout.BLOCK_PAGED)
            self.refused("INVALID_ARGUMENT", tensor.transcode, hurray.Csf(0, (1, 0)))  # of three dimensions and more
            with self.assertRaises(TypeError):
                tensor.transcode("row_major")


class ValidateTest(BaseLine):
    def test_levels(self):
        with Tensor.wrap(np.eye(4, dtype=np.float32)) as source, source.transcode(Layout.CSR) as tensor:
            for level in ValidationLevel:
                tensor.validate(level)
            with Tensor.from_bytes_of(tensor.buffers[1]) as pointers:
                memory = pointers.numpy()
                memory[-8:] = 255
                del memory
            tensor.validate(ValidationLevel.BUFFERS)
            self.refused("INVALID_LAYOUT", tensor.validate)
            self.refused("INVALID_ARGUMENT", tensor.validate, 9)


class StatisticsTest(BaseLine):
    def test_against_numpy(self):
        values = VALUES.copy()
        values[0] = 0
        for layout in (Layout.ROW_MAJOR, Layout.CSR):
            with Tensor.wrap(values) as source, source.transcode(layout) as tensor:
                found = tensor.statistics()
                self.assertEqual((found.nnz, found.min, found.max), (np.count_nonzero(values), values.min(), values.max()))
                self.assertAlmostEqual(found.mean, values.mean(dtype=float), 5)
                self.assertAlmostEqual(found.stddev, values.std(dtype=float), 5)
                self.assertEqual((found.has_nan, found.has_inf), (False, False))

    def test_what_was_asked_for(self):
        with Tensor.wrap(np.array([1, np.inf], np.float32)) as tensor:
            found = tensor.statistics(StatisticsFlags.NAN_INF)
            self.assertEqual((found.computed, found.has_inf), (StatisticsFlags.NAN_INF, True))
            self.refused("INVALID_ARGUMENT", tensor.statistics, 1 << 10)

    def test_they_go_into_a_descriptor(self):
        with Tensor.wrap(VALUES) as tensor:
            built = hurray.Descriptor.build("float32", VALUES.shape, statistics=tensor.statistics(),
                                            buffers=[buffer.handle for buffer in tensor.buffers])
            self.assertEqual(built.statistics.nnz, 24)


class RuntimeTest(BaseLine):
    def test_names_and_versions(self):
        self.assertIn("LAYOUT", hurray.status_name(Status.INVALID_LAYOUT).upper())
        self.assertEqual(hurray.format_name(hurray.FileFormat.GGUF).lower(), "gguf")
        self.assertTrue(hurray.c_abi_supports(hurray.C_ABI_VERSION))
        self.assertFalse(hurray.c_abi_supports(1 << 20))

    def test_import_with_options(self):
        with Tensor.wrap(VALUES) as source:
            with Tensor.from_pair(*source.export(), permissive=True) as tensor:
                self.assertEqual(tensor.tolist(), VALUES.tolist())
            buffers, context = source.export_pair()
            with self.assertRaises(TypeError):
                Tensor.from_pair(buffers, context, private_tags=True)
            Tensor.from_pair(buffers, context).close()


if __name__ == "__main__":
    unittest.main()
