"""Every layout and section: built, read, refused, and on its way as a tensor."""

import math
import pickle
import unittest

import hurray
from hurray import Buffer, BufferHandle, Descriptor, ElementType, Layout, MemberRole, Reader, StatisticsFlags, Tensor, Tile, Writer
from support import BaseLine

FLOAT_4X4 = [BufferHandle(64)]

# Fields, shape and sizes of the buffers.
LAYOUTS = [
    (hurray.Strided((-4, 0)), [2, 3], [20], {"byte_offset": 16}),
    (hurray.Tiled((Tile((2, 2)),)), [4, 4], [64], {}),
    (hurray.Tiled((Tile((4, 4), Layout.COL_MAJOR, Layout.TILED), Tile((2, 2), Layout.STRIDED, Layout.STRIDED, (2, 1), (1, 2)))),
     [8, 4], [128], {}),
    (hurray.Morton((2, 2)), [4, 3], [64], {}),
    (hurray.Hilbert(2), [4, 4], [64], {}),
    (hurray.Coo(3, False), [4, 5], [12, 48], {}),
    (hurray.Csr(3), [4, 5], [12, 24, 40], {}),
    (hurray.Csc(3), [4, 5], [12, 24, 48], {}),
    (hurray.Csf(1, (2, 0, 1)), [2, 3, 4], [4, 16, 8, 16, 8, 16, 8], {}),
    (hurray.BlockPaged(2, 3, 1, hurray.KvRole.VALUE, 7, hurray.TableIndex.UINT64), [5, 2, 4], [192, 24, 16], {}),
    (hurray.CompositeHead(hurray.CompositionRule.OVERLAY, 2, hurray.CombineOp.ADD), [4, 4], [], {}),
]


def build(layout, shape, sizes, fields):
    return Descriptor.build("float32", shape, layout=layout, buffers=[BufferHandle(size) for size in sizes], **fields)


class LayoutTest(BaseLine):
    def test_fields_of_every_layout_are_built_and_read(self):
        for layout, shape, sizes, fields in LAYOUTS:
            with self.subTest(layout):
                made = build(layout, shape, sizes, fields)
                again = Descriptor.decode(made.encode())
                for descriptor in (made, again):
                    self.assertEqual(descriptor.layout_fields, layout)
                    self.assertEqual(descriptor.shape, tuple(shape))

    def test_fields_outlive_their_descriptor(self):
        for layout, shape, sizes, fields in LAYOUTS:
            with build(layout, shape, sizes, fields) as descriptor:
                read = descriptor.layout_fields
            self.assertEqual(read, layout)

    def test_row_major_and_column_major_have_none(self):
        for tag in (Layout.ROW_MAJOR, Layout.COL_MAJOR):
            self.assertIsNone(Descriptor.build("float32", [4, 4], layout=tag, buffers=FLOAT_4X4).layout_fields)

    def test_a_private_layout_needs_agreement(self):
        private = hurray.PrivateLayout(0xF3, 2**63 + 1, b"any bytes\0")
        arguments = {"layout": private, "buffers": [BufferHandle(5)]}
        self.refused("INVALID_LAYOUT", Descriptor.build, "int8", [5], offset=True, **arguments)
        made = Descriptor.build("int8", [5], private_tags=True, **arguments)
        self.assertEqual(made.layout_fields, private)
        self.assertEqual(made.layout, 0xF3)
        self.refused("INVALID_LAYOUT", Descriptor.decode, made.encode(), offset=True)
        self.assertEqual(Descriptor.decode(made.encode(), private_tags=True), made)
        self.assertEqual(pickle.loads(pickle.dumps(made)), made)

    def test_wrong_fields_are_refused_where_they_are(self):
        cases = [
            (hurray.Hilbert(3), [4, 4], [64]),
            (hurray.Morton((2, 1)), [4, 4], [64]),
            (hurray.Morton((2,)), [4, 4], [64]),
            (hurray.Strided((1,)), [4, 4], [64]),
            (hurray.Tiled(()), [4, 4], [64]),
            (hurray.Tiled((Tile((0, 2)),)), [4, 4], [64]),
            (hurray.Tiled((Tile((2, 2, 2)),)), [4, 4], [64]),
            (hurray.Csr(3), [4, 5, 6], [12, 24, 40]),
            (hurray.Csf(1, (0, 1, 1)), [2, 3, 4], [4, 16, 8, 16, 8, 16, 8]),
            (hurray.BlockPaged(0, 3, 1), [5, 2, 4], [192, 24, 16]),
        ]
        for layout, shape, sizes in cases:
            with self.subTest(layout):
                self.refused("INVALID_LAYOUT", build, layout, shape, sizes, {}, offset=True)
        self.refused("INVALID_ARGUMENT", build, hurray.Coo(-1), [4], [4, 8], {})
        nine = hurray.Tiled(tuple(Tile((1, 1), inner_layout=Layout.TILED) for _ in range(9)))
        self.refused("INVALID_LAYOUT", build, nine, [4, 4], [64], {})
        with self.assertRaises(TypeError):
            Descriptor.build("float32", [4], layout="row_major")
        builder = hurray.DescriptorBuilder("float32", Layout.CSR, [4, 5])
        self.refused("INVALID_ARGUMENT", builder.set_layout, hurray.Csc(3))


class SectionTest(BaseLine):
    SCHEMES = [
        ("int8", hurray.PerTensorAffine(0.25, -3), []),
        ("int8", hurray.PerChannelAffine(1, 1, 2), [32, 32]),
        ("int8", hurray.PerChannelAffine(0, 1, 1), [32]),
        ("uint4", hurray.PerBlockAffine(1, 4, 1, scale_type=ElementType.FLOAT16), [16]),
        ("uint4", hurray.Nf4(1, 8, 1), [16]),
        ("float8_e4m3", hurray.Mxfp(1, 16, 1), [4]),
    ]

    def quantized(self, dtype, scheme, parameters):
        shape = [4, 16] if isinstance(scheme, hurray.Mxfp) else [4, 8]
        size = math.prod(shape) * (4 if dtype == "uint4" else 8) // 8
        return Descriptor.build(dtype, shape, quantization=scheme, buffers=map(BufferHandle, [size, *parameters]))

    def test_every_scheme_is_built_and_read(self):
        for dtype, scheme, parameters in self.SCHEMES:
            with self.subTest(scheme):
                made = self.quantized(dtype, scheme, parameters)
                self.assertEqual(Descriptor.decode(made.encode()).quantization, scheme)
                self.assertIn(made.quantization_payload, made.encode())
                self.assertEqual(made.flags, hurray.SectionFlags.QUANTIZATION)

    def test_a_wrong_scheme_is_refused_where_it_is(self):
        self.refused("INVALID_QUANTIZATION", self.quantized, "int8", hurray.PerTensorAffine(0.0), [], offset=True)
        self.refused("INVALID_QUANTIZATION", self.quantized, "int8", hurray.PerTensorAffine(1.0, 128), [], offset=True)
        self.refused("INVALID_QUANTIZATION", self.quantized, "uint4", hurray.Nf4(2, 8, 1), [16], offset=True)
        self.refused("INVALID_QUANTIZATION", self.quantized, "int8", hurray.PrivateScheme(0xF1), [], offset=True)
        with self.assertRaises(TypeError):
            self.quantized("int8", "nf4", [])

    def test_a_private_scheme_needs_agreement(self):
        scheme = hurray.PrivateScheme(0xF1, 5, b"data")
        made = Descriptor.build("int8", [4], quantization=scheme, private_tags=True, buffers=[BufferHandle(4)])
        self.assertEqual(made.quantization, scheme)
        self.assertEqual(Descriptor.decode(made.encode(), private_tags=True).quantization, scheme)

    def test_statistics_keep_what_is_not_finite(self):
        statistics = hurray.Statistics(StatisticsFlags.NNZ | StatisticsFlags.RANGE | StatisticsFlags.NM_SPARSITY, 9, 0.0, -math.inf,
                                       math.inf, math.inf, 1.5, 2.5, 2, 4, False, True)
        made = Descriptor.build("float32", [4, 4], statistics=statistics, buffers=FLOAT_4X4)
        self.assertEqual(made.statistics, statistics)
        self.refused("INVALID_LAYOUT", Descriptor.build, "float32", [4, 4], buffers=FLOAT_4X4,
                     statistics=hurray.Statistics(StatisticsFlags.NM_SPARSITY, nm_n=5, nm_m=4))

    def test_a_private_type_describes_itself(self):
        number = hurray.ExtensionType(4, is_float=True, sign_bits=1, exponent_bits=2, mantissa_bits=1, exponent_bias=1)
        made = Descriptor.build(0xF0, [5], extension_type=number, buffers=[BufferHandle(3)])
        self.assertEqual((made.dtype, made.extension_type, number.packing_factor), (0xF0, number, 2))
        self.assertEqual(made.info.bits, 4)
        self.refused("INVALID_TYPE", Descriptor.build, 0xF0, [5], buffers=[BufferHandle(3)])

    def test_member_of_an_overlay(self):
        for role in MemberRole:
            made = Descriptor.build("float32", [4, 4], member_role=role, buffers=FLOAT_4X4)
            self.assertIs(made.member_role, role)
        self.refused("INVALID_ARGUMENT", Descriptor.build, "float32", [4, 4], member_role=256, buffers=FLOAT_4X4)

    def test_without_sections_there_is_none(self):
        plain = Descriptor.build("float32", [4, 4], buffers=FLOAT_4X4)
        self.assertEqual((plain.quantization, plain.statistics, plain.extension_type, plain.member_role, plain.shard,
                          plain.quantization_payload, plain.trailing), (None, None, None, None, None, b"", b""))

    def test_use_after_close(self):
        descriptor = Descriptor.build("float32", [4, 4], buffers=FLOAT_4X4)
        descriptor.close()
        for name in ("layout_fields", "quantization", "statistics", "extension_type", "member_role", "trailing", "is_opaque"):
            with self.assertRaises(hurray.ClosedError):
                getattr(descriptor, name)


class ReaderOptionsTest(BaseLine):
    def test_a_permissive_reader_keeps_what_it_does_not_know(self):
        data = bytearray(Descriptor.build("float32", [4, 4], buffers=FLOAT_4X4).encode())
        data[15] = 0x7F
        self.refused("INVALID_LAYOUT", Descriptor.decode, data, offset=True)
        unread = Descriptor.decode(data, permissive=True)
        self.assertTrue(unread.is_opaque and unread.is_unread)
        self.assertEqual((unread.layout, unread.layout_fields, unread.buffers, unread.encode()), (0x7F, None, (), bytes(data)))
        self.assertEqual(unread.trailing, bytes(data[20 + 16 + 8:]))
        self.assertEqual(pickle.loads(pickle.dumps(unread)), unread)
        data[14:16] = b"\x3f\x01"
        opaque = Descriptor.decode(data, permissive=True)
        self.assertTrue(opaque.is_opaque and not opaque.is_unread)
        self.assertEqual((opaque.dtype, opaque.info.bits), (0x3F, 0))

    def test_a_limit_on_the_length(self):
        data = Descriptor.build("float32", [4, 4], buffers=FLOAT_4X4).encode()
        self.refused("LIMIT_EXCEEDED", Descriptor.decode, data, max_length=len(data) - 1)
        self.assertEqual(Descriptor.decode(data, max_length=len(data)).encode(), data)
        self.refused("INVALID_ARGUMENT", Descriptor.decode, data, max_length=-1)


class TensorTest(BaseLine):
    def tensor(self, descriptor):
        """A tensor whose buffers hold bytes that tell one from the other."""
        buffers = []
        for number, handle in enumerate(descriptor.buffers):
            memory = bytearray(bytes([number + 1]) * handle.byte_size)
            buffers.append(Buffer.handoff(handle, self.aligned(memory)))
        try:
            return Tensor.from_buffers(descriptor, buffers)
        finally:
            for buffer in buffers:
                buffer.close()

    @staticmethod
    def aligned(memory):
        room = bytearray(len(memory) + 64)
        import ctypes
        at = -ctypes.addressof(ctypes.c_char.from_buffer(room)) % 64
        room[at:at + len(memory)] = memory
        return memoryview(room)[at:at + len(memory)]

    def test_tensors_of_every_layout_are_exchanged_and_streamed(self):
        for layout, shape, sizes, fields in LAYOUTS:
            descriptor = build(layout, shape, sizes, fields)
            with self.subTest(layout), self.tensor(descriptor) as tensor, Writer.to_memory() as writer:
                with Tensor.from_pair(*tensor.export()) as taken:
                    self.assertEqual(taken.descriptor, descriptor)
                    writer.write(taken)
                with Reader.from_memory(writer.take_bytes()) as reader, reader.next() as read:
                    self.assertEqual(read.descriptor.layout_fields, layout)
                    got = [buffer.tobytes() for buffer in read.buffers]
                    self.assertEqual(got, [bytes([i + 1]) * size for i, size in enumerate(sizes)])

    def test_only_strided_tensors_have_views(self):
        for layout, shape, sizes, fields in LAYOUTS:
            with self.subTest(layout), self.tensor(build(layout, shape, sizes, fields)) as tensor:
                if isinstance(layout, hurray.Strided):
                    self.assertEqual(tensor.numpy().shape, tuple(shape))
                    continue
                self.refused("UNSUPPORTED", tensor.numpy)
                self.refused("UNSUPPORTED", tensor.memoryview)

    def test_views_say_that_the_tensor_is_quantized(self):
        for scheme in (None, hurray.PerTensorAffine(0.5)):
            descriptor = Descriptor.build("int8", [64], quantization=scheme, buffers=[BufferHandle(64)])
            with self.tensor(descriptor) as tensor:
                self.assertIs(tensor.quantized, scheme is not None)
                self.assertEqual(tensor.numpy().tolist(), [1] * 64)


if __name__ == "__main__":
    unittest.main()
