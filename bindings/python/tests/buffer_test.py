"""Buffers: memory with shared ownership, below tensors."""

import ctypes
import unittest

import numpy as np

import hurray
from hurray import Buffer, BufferHandle, Descriptor, Tensor
from support import BaseLine, lent


def aligned(size, alignment=64):
    raw = np.zeros(size + alignment, np.uint8)
    start = -raw.ctypes.data % alignment
    return raw[start : start + size]


class BufferTest(BaseLine):
    def test_wrap_any_memory(self):
        memory = aligned(200)[3:103]
        buffer, offset = Buffer.wrap(memory)
        with buffer:
            self.assertEqual(offset, 3)
            self.assertEqual((buffer.nbytes, buffer.prefix, buffer.readonly), (103, 3, False))
            self.assertEqual(buffer.info.data + 3, memory.ctypes.data)
            self.assertEqual(buffer.handle, BufferHandle(103, 64))
            memory[:] = 7
            self.assertEqual(buffer.tobytes(), bytes([7]) * 100)

    def test_wrap_aligned_memory(self):
        memory = aligned(128)
        with Buffer.wrap_aligned(memory) as buffer:
            self.assertEqual((buffer.nbytes, buffer.prefix), (128, 0))
        before = lent()
        self.refused("MISALIGNED", Buffer.wrap_aligned, memory[8:])
        self.refused("INVALID_LAYOUT", Buffer.wrap_aligned, memory, alignment=32)
        self.refused("INVALID_LAYOUT", Buffer.wrap_aligned, memory, alignment=96)
        self.refused("INVALID_TYPE", Buffer.wrap_aligned, memory, device=0xFF)
        self.refused("INVALID_ARGUMENT", Buffer.wrap_aligned, memory, alignment=2**32)
        self.assertEqual(lent(), before)
        with Buffer.wrap_aligned(b"", alignment=1) as buffer:
            self.assertEqual(buffer.nbytes, 0)

    def test_read_only(self):
        with Buffer.wrap(b"abc")[0] as buffer:
            self.assertTrue(buffer.readonly)
        with Buffer.wrap_aligned(memoryview(aligned(64)).toreadonly()) as buffer:
            self.assertTrue(buffer.readonly)
        with Buffer.allocate(64) as buffer:
            with buffer.share() as share:
                share.set_readonly()
                self.assertEqual((share.readonly, buffer.readonly), (True, False))
                descriptor = Descriptor.build("uint8", [64], buffers=[buffer.handle])
                with Tensor.from_buffers(descriptor, [share]) as tensor:
                    self.assertTrue(tensor.readonly)

    def test_share_and_slice(self):
        with Buffer.allocate(256, alignment=4096) as buffer:
            self.assertEqual(buffer.info.data % 4096, 0)
            with buffer.share(), buffer.slice(64, 100) as part:
                self.assertEqual(buffer.info.share_count, 3)
                self.assertEqual(part.nbytes, 100)
                self.assertEqual(part.info.data, buffer.info.data + 64)
            self.refused("MISALIGNED", buffer.slice, 8, 8)
            for offset, size in ((257, 0), (0, 257), (192, 65), (2**64 - 1, 2)):
                with self.assertRaises(IndexError):
                    buffer.slice(offset, size)

    def test_two_tensors_over_one_buffer(self):
        with Buffer.allocate(128) as buffer:
            floats = Descriptor.build("float32", [32], buffers=[buffer.handle])
            octets = Descriptor.build("uint8", [128], buffers=[buffer.handle])
            with Tensor.from_buffers(floats, [buffer]) as first, Tensor.from_buffers(octets, [buffer]) as second:
                first.numpy()[0] = 1.0
                self.assertEqual(second.tolist()[:4], [0, 0, 0x80, 0x3F])

    def test_a_tensor_refuses_buffers_that_are_not_its_own(self):
        descriptor = Descriptor.build("uint8", [128], buffers=[BufferHandle(128)])
        with Buffer.allocate(127) as small, Buffer.allocate(128) as right:
            self.refused("BUFFER_TOO_SMALL", Tensor.from_buffers, descriptor, [small])
            self.refused("INVALID_LAYOUT", Tensor.from_buffers, descriptor, [])
            self.refused("INVALID_LAYOUT", Tensor.from_buffers, descriptor, [right, right])
            self.assertEqual(right.info.share_count, 1)

    def test_absurd_sizes(self):
        self.refused("OUT_OF_MEMORY", Buffer.allocate, 2**62)
        self.refused("INVALID_ARGUMENT", Buffer.allocate, 2**64)
        self.refused("INVALID_ARGUMENT", Buffer.allocate, -1)
        self.refused("INVALID_LAYOUT", Buffer.allocate, 1, alignment=3)

    def test_addresses_are_of_c_handles(self):
        with Buffer.allocate(64) as buffer:
            # The frozen prefix of an exchange handle: magic, then generation and version.
            self.assertNotEqual(buffer._address, 0)
            self.assertEqual(ctypes.c_uint32.from_address(buffer._address + 12).value, hurray.C_ABI_VERSION)
        self.assertEqual(buffer._address, 0)


if __name__ == "__main__":
    unittest.main()
