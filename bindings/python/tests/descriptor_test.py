"""Descriptors: decode, fields, builder, encode."""

import pickle
import struct
import unittest

import hurray
from hurray import BufferHandle, Descriptor, DescriptorBuilder, ElementType, Layout, Shard
from support import BaseLine


class DescriptorTest(BaseLine):
    def test_fields_of_what_was_built(self):
        shard = Shard((30, 20), (3, 4))
        buffer = BufferHandle(1000, 128)
        made = Descriptor.build("float32", [5, 6], layout=Layout.STRIDED, strides=[-6, 0], byte_offset=256, shard=shard,
                                buffers=[buffer])
        again = Descriptor.decode(made.encode() + b"bytes behind it")
        for descriptor in (made, again):
            self.assertEqual(descriptor.version, (1, 0))
            self.assertIs(descriptor.dtype, ElementType.FLOAT32)
            self.assertIs(descriptor.layout, Layout.STRIDED)
            self.assertEqual(descriptor.shape, (5, 6))
            self.assertEqual(descriptor.strides, (-6, 0))
            self.assertEqual(descriptor.byte_offset, 256)
            self.assertEqual(descriptor.shard, shard)
            self.assertEqual(descriptor.buffers, (buffer,))
            self.assertEqual(descriptor.flags, 2)
            self.assertEqual(descriptor.info.bits, 32)
            self.assertEqual(descriptor.info.element_count, 30)
            self.assertEqual(len(descriptor), len(made.encode()))
            self.assertFalse(descriptor.is_dynamic)
        self.assertEqual(made, again)
        self.assertEqual(hash(made), hash(again))
        self.assertEqual(hurray.peek_length(made.encode()[:20]), len(made))

    def test_rank_0_empty_and_dynamic(self):
        scalar = Descriptor.build(ElementType.BOOL, [], buffers=[BufferHandle(1)])
        self.assertEqual((scalar.shape, scalar.strides, scalar.shard), ((), None, None))
        empty = Descriptor.build("int8", [3, 0], buffers=[BufferHandle(0, 1)])
        self.assertEqual(empty.info.element_count, 0)
        dynamic = Descriptor.build("int8", [hurray.DIMENSION_DYNAMIC, 4], buffers=[BufferHandle(64)])
        self.assertTrue(dynamic.is_dynamic)
        self.assertEqual(dynamic.shape[0], 2**64 - 1)
        self.assertEqual(dynamic.info.element_count, hurray.DIMENSION_DYNAMIC)

    def test_a_builder_may_be_used_again(self):
        builder = DescriptorBuilder("uint8", Layout.ROW_MAJOR, [64])
        self.refused("INVALID_LAYOUT", builder.build)
        first = builder.add_buffer(BufferHandle(128)).build()
        second = builder.set_byte_offset(64).build()
        self.assertEqual((first.byte_offset, second.byte_offset), (0, 64))
        builder.close()
        builder.close()
        with self.assertRaises(hurray.ClosedError):
            builder.build()

    def test_hostile_bytes_are_typed_errors_with_their_place(self):
        good = Descriptor.build("float32", [3, 4], buffers=[BufferHandle(48)]).encode()
        for length in range(len(good)):
            error = self.refused("INVALID_LAYOUT", Descriptor.decode, good[:length])
            self.assertIsNotNone(error.offset, error)
        cases = {
            "INVALID_MAGIC": (0, b"X"),
            "VERSION_MISMATCH": (4, b"\x02"),
            "INVALID_TYPE": (14, b"\xff"),
            "INVALID_LAYOUT": (16, struct.pack("<I", 65)),
            "INVALID_SYNC_MODE": (len(good) - 3, b"\x09"),
        }
        for name, (at, patch) in cases.items():
            wrong = good[:at] + patch + good[at + len(patch):]
            error = self.refused(name, Descriptor.decode, wrong)
            self.assertEqual(error.offset, at, error)
            self.assertEqual(error.function, "hurray_descriptor_decode")

    def test_every_single_bit_flip_is_an_error_or_a_descriptor(self):
        good = Descriptor.build("int16", [2, 3], layout=Layout.STRIDED, strides=[3, 1],
                                buffers=[BufferHandle(64)], shard=Shard((4, 6), (1, 2))).encode()
        refused = 0
        for bit in range(len(good) * 8):
            wrong = bytearray(good)
            wrong[bit // 8] ^= 1 << bit % 8
            try:
                self.assertEqual(Descriptor.decode(wrong).encode(), bytes(wrong))
            except hurray.HurrayError as error:
                self.assertNotEqual(error.name, "UNKNOWN")
                refused += 1
        self.assertGreater(refused, len(good))

    def test_arguments_out_of_range(self):
        self.refused("INVALID_ARGUMENT", Descriptor.build, "int8", [-1])
        self.refused("INVALID_ARGUMENT", Descriptor.build, "int8", [2**64])
        self.refused("INVALID_ARGUMENT", Descriptor.build, "int8", [1] * 65)
        self.refused("INVALID_ARGUMENT", Descriptor.build, "int8", [1], byte_offset=-1)
        self.refused("INVALID_ARGUMENT", Descriptor.build, "int8", [1], layout=3, strides=[2**63])
        self.refused("INVALID_ARGUMENT", Descriptor.build, "int8", [1], shard=Shard((1,), (1, 2)))
        self.refused("INVALID_ARGUMENT", BufferHandle(2**64).encode)
        self.refused("INVALID_ARGUMENT", Descriptor.build, 256, [1])
        self.refused("INVALID_TYPE", Descriptor.build, 0, [1], buffers=[BufferHandle(64)])
        self.refused("INVALID_TYPE", Descriptor.build, "float31", [1])
        for wrong in ("a", 1.5, None, [[1]]):
            with self.assertRaises(TypeError):
                Descriptor.build("int8", wrong)
        with self.assertRaises(TypeError):
            Descriptor.decode(17)
        with self.assertRaises(TypeError):
            Descriptor()

    def test_largest_rank(self):
        descriptor = Descriptor.build("int8", [1] * 64, buffers=[BufferHandle(1)])
        self.assertEqual(len(descriptor.shape), 64)

    def test_pickles(self):
        descriptor = Descriptor.build("int8", [4], buffers=[BufferHandle(4)])
        self.assertEqual(pickle.loads(pickle.dumps(descriptor)), descriptor)

    def test_use_after_close(self):
        descriptor = Descriptor.build("int8", [4], buffers=[BufferHandle(4)])
        descriptor.close()
        descriptor.close()
        self.assertTrue(descriptor.closed)
        for use in (descriptor.encode, lambda: descriptor.shape, lambda: descriptor.buffers):
            with self.assertRaises(hurray.ClosedError):
                use()
        self.assertIn("closed", repr(descriptor))


if __name__ == "__main__":
    unittest.main()
