"""Double destroy and use after destroy, of every kind of handle, are typed errors: in Python's own objects always, and with
the library's handle checks also where another runtime ended what Python still has."""

import ctypes
import os
import socket
import tempfile
import unittest

import hurray
from hurray import (
    Buffer,
    BufferList,
    CompositeBuilder,
    Descriptor,
    DescriptorBuilder,
    ReleaseQueue,
    Tensor,
    TensorContext,
    from_hurray,
)
from support import BaseLine


class Kind:
    """How to make a handle of a kind, one that needs nothing else; how to use it; and the C function that ends it."""

    def __init__(self, make, use, destroy):
        self.make, self.use, self.destroy = make, use, destroy

    def end_in_c(self, library, handle):
        """Ends the C handle behind Python's back; returns the status."""
        if self.destroy == "hurray_buffer_destroy":
            return library[self.destroy](ctypes.c_void_p(handle._address))
        return library[self.destroy](ctypes.byref(ctypes.c_void_p(handle._address)))


def composite(head):
    with CompositeBuilder(Descriptor.decode(head)) as builder:
        return builder.build()


def channel():
    first, second = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with first, second:
        return hurray.Channel.from_fd(first)


def refused(call):
    """Nobody connects: the handle was asked, and is alive."""
    try:
        call()
    except hurray.HurrayError as error:
        if error.code is not hurray.Status.TIMED_OUT:
            raise
    else:
        raise AssertionError("somebody connected")


def kinds(folder):
    path = os.path.join(folder, "model.safetensors")
    with Tensor.wrap(b"abc") as tensor:
        hurray.save_file({"a": tensor}, path)
    descriptor = Descriptor.build("uint8", [64], buffers=[hurray.BufferHandle(64)]).encode()
    head = Descriptor.build("uint8", [64], layout=hurray.CompositeHead(hurray.CompositionRule.GROUP, 0)).encode()
    return {
        "descriptor": Kind(lambda: Descriptor.decode(descriptor), lambda h: h.encode(), "hurray_descriptor_destroy"),
        "builder": Kind(lambda: DescriptorBuilder("uint8", 1, [1]), lambda h: h.set_byte_offset(1),
                        "hurray_descriptor_builder_destroy"),
        "buffer": Kind(lambda: Buffer.allocate(64), lambda h: h.info, "hurray_buffer_destroy"),
        "list": Kind(BufferList, len, "hurray_buffer_list_destroy"),
        "context": Kind(lambda: TensorContext.new(descriptor), lambda h: h.abi_version, "hurray_tensor_context_destroy"),
        "tensor": Kind(lambda: Tensor.zeros("uint8", [64]), lambda h: h.numpy(), "hurray_tensor_destroy"),
        "queue": Kind(ReleaseQueue, lambda h: h.pending, "hurray_release_queue_destroy"),
        "reader": Kind(lambda: hurray.Reader.from_memory(b""), lambda h: h.next(), "hurray_reader_destroy"),
        "writer": Kind(hurray.Writer.to_memory, lambda h: h.take().close(), "hurray_writer_destroy"),
        "file": Kind(lambda: hurray.File.open(path), lambda h: h.keys(), "hurray_file_destroy"),
        "file writer": Kind(lambda: hurray.FileWriter.create(os.path.join(folder, "new")),
                            lambda h: h.set_metadata("a", "b"), "hurray_file_writer_destroy"),
        "composite builder": Kind(lambda: CompositeBuilder(Descriptor.decode(head)), lambda h: h.build().close(),
                                  "hurray_composite_builder_destroy"),
        "channel": Kind(channel, lambda h: h.info, "hurray_channel_destroy"),
        "listener": Kind(lambda: hurray.ChannelListener.listen(os.path.join(folder, "s")), lambda h: refused(lambda: h.accept(0)),
                         "hurray_channel_listener_destroy"),
        "composite": Kind(lambda: composite(head), len, "hurray_composite_destroy"),
    }


class MisuseTest(BaseLine):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.kinds = kinds(folder.name)
        self.library = ctypes.CDLL(os.environ["HURRAY_LIBRARY"])
        before = bool(hurray.runtime_info().handle_checks)
        hurray.set_handle_checks(True)
        self.addCleanup(hurray.set_handle_checks, before)

    def test_every_kind_of_handle_is_tried(self):
        self.assertEqual(len(self.kinds), len(hurray.HandleKind) - 1)

    def test_a_second_close_does_nothing_and_use_after_close_is_a_closed_error(self):
        for name, kind in self.kinds.items():
            with self.subTest(name):
                handle = kind.make()
                kind.use(handle)
                handle.close()
                before = hurray.live_handles()
                handle.close()
                handle.close()
                self.assertEqual(hurray.live_handles(), before)
                with self.assertRaises(hurray.ClosedError) as caught:
                    kind.use(handle)
                self.assertEqual(caught.exception.name, "INVALID_HANDLE")

    def test_use_of_a_handle_that_another_runtime_destroyed_is_an_error(self):
        for name, kind in self.kinds.items():
            with self.subTest(name):
                handle = kind.make()
                self.assertEqual(kind.end_in_c(self.library, handle), 0)
                self.refused("INVALID_HANDLE", kind.use, handle)
                self.refused("INVALID_HANDLE", handle.close)
                self.assertTrue(handle.closed)
                handle.close()

    def test_a_second_destroy_in_c_of_what_python_closed_is_an_error(self):
        for name, kind in self.kinds.items():
            with self.subTest(name):
                handle = kind.make()

                class Stale:
                    _address = handle._address

                handle.close()
                self.assertEqual(kind.end_in_c(self.library, Stale), hurray.Status.INVALID_HANDLE)

    def test_a_pair_that_was_taken_cannot_be_taken_again(self):
        with Tensor.wrap(b"abc") as tensor:
            pair = tensor.export_pair()
            with Tensor.from_pair(*pair):
                pass
            self.refused("INVALID_HANDLE", Tensor.from_pair, *pair)
            # Half of it: a fresh list beside a stale context, and the other way round.
            fresh = tensor.export_pair()
            self.refused("INVALID_HANDLE", Tensor.from_pair, fresh[0], pair[1])
            self.refused("INVALID_HANDLE", Tensor.from_pair, pair[0], fresh[1])
            with Tensor.from_pair(*fresh) as imported:
                self.assertEqual(bytes(imported), b"abc")

    def test_a_capsule_that_was_taken_cannot_be_taken_again(self):
        with Tensor.wrap(b"abc") as tensor:
            capsule = tensor.__hurray__()
            with from_hurray(capsule):
                pass
            self.refused("INVALID_ARGUMENT", from_hurray, capsule)

    def test_handles_that_moved_into_another_are_closed_errors(self):
        buffer, parts = Buffer.allocate(64), BufferList()
        parts.append(buffer)
        descriptor = Descriptor.build("uint8", [64], buffers=[hurray.BufferHandle(64)])
        with Tensor.from_list(descriptor, parts):
            for use in (lambda: buffer.info, lambda: parts.append(buffer), lambda: len(parts),
                        lambda: Tensor.from_list(descriptor, parts)):
                with self.assertRaises(hurray.ClosedError):
                    use()
            buffer.close()
            parts.close()

    def test_borrowed_handles_are_neither_destroyed_nor_pushed(self):
        with Tensor.zeros("uint8", [64]) as tensor, BufferList() as parts:
            (borrowed,) = tensor.buffers
            self.refused("INVALID_HANDLE", parts.append, borrowed)
            borrowed.close()  # lets the borrow go, and nothing else
            self.assertEqual(tensor.tolist(), [0] * 64)
            (borrowed,) = tensor.buffers
            # Past Python's own check: the library refuses, in every build.
            address = ctypes.c_void_p(borrowed._address)
            self.assertEqual(self.library.hurray_buffer_destroy(address), hurray.Status.INVALID_HANDLE)
            self.assertEqual(self.library.hurray_buffer_list_push(ctypes.c_void_p(parts._address), address),
                             hurray.Status.INVALID_HANDLE)
            self.assertEqual((len(parts), tensor.tolist()), (0, [0] * 64))


if __name__ == "__main__":
    unittest.main()
