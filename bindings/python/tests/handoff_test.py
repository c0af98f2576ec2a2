"""Handoff: the cross-check of mode and payload, memory and events that are released exactly once, and what a consumer may do."""

import contextlib
import ctypes
import gc
import os
import sys
import threading
import unittest
import warnings
import weakref

import numpy as np

import hurray
from hurray import (
    Buffer,
    BufferHandle,
    BufferList,
    Descriptor,
    Device,
    EventPayload,
    MemoryClass,
    StreamPayload,
    SyncMode,
    Tensor,
    TensorContext,
)
from support import BaseLine, lent

# Opaque to everybody here: nothing is ever read at these addresses.
EVENT, STREAM, MEMORY = 0xE0, 0x50, 0x10000


class Calls(list):
    """A callback that writes down its argument and its thread."""

    def __call__(self, address):
        self.append((address, threading.get_native_id()))

    @property
    def addresses(self):
        return [address for address, _ in self]


def handle(mode, size=64, device=Device.CUDA):
    return BufferHandle(size, 64, device, mode)


def event_buffer(release=None, events=None, size=64):
    return Buffer.handoff(handle(SyncMode.EVENT, size), MEMORY, release=release,
                          event=EventPayload(EVENT, Calls() if events is None else events, Device.CUDA))


def stream_buffer(release=None, stream=STREAM, size=64, device=Device.CUDA):
    return Buffer.handoff(handle(SyncMode.CONSUMER_STREAM, size, device), MEMORY, release=release,
                          stream=StreamPayload(stream, device))


def descriptor_of(buffer):
    return Descriptor.build("uint8", [buffer.handle.byte_size], buffers=[buffer.handle])


def tensor_of(buffer):
    """A tensor of one buffer, which moves into it."""
    descriptor = descriptor_of(buffer)
    parts = BufferList()
    parts.append(buffer)
    return Tensor.from_list(descriptor, parts)


@contextlib.contextmanager
def unraisable():
    """What goes to sys.unraisablehook meanwhile."""
    found = []
    before = sys.unraisablehook
    sys.unraisablehook = lambda report: found.append((type(report.exc_value), report.object))
    try:
        yield found
    finally:
        sys.unraisablehook = before


def expected_status(mode, device, event, stream):
    """What the contract says of a combination (ABI Cross-Check; a payload of zeros is none; the CPU has one mode)."""
    has_event = event is not None and (event.sync_handle, event.event_release, event.sync_handle_device_tag) != (0, None, 0)
    has_stream = stream is not None and tuple(stream) != (0, 0)
    if mode > SyncMode.CONSUMER_STREAM or (device == Device.CPU and mode != SyncMode.PRODUCER_SYNCED):
        return "INVALID_SYNC_MODE"
    if mode == SyncMode.PRODUCER_SYNCED:
        good = not has_event and not has_stream
    elif mode == SyncMode.EVENT:
        good = (not has_stream and has_event and event.sync_handle != 0 and event.event_release is not None
                and event.sync_handle_device_tag == device)
    else:
        good = (not has_event and has_stream and stream.consumer_stream != 0
                and stream.consumer_stream_device_tag == device)
    return "OK" if good else "SYNC_MODE_MISMATCH"


class CrossCheckTest(BaseLine):
    def test_every_combination_of_mode_payload_device_and_reserved_values(self):
        seen = {}
        for device in (Device.CPU, Device.CUDA, Device.ROCM, Device.OPENCL):
            for mode in range(256):
                for event in (None, (0, False, 0), (EVENT, True, device), (EVENT, True, device ^ 3), (EVENT, False, device),
                              (0, True, device), (0, False, device or 1)):
                    for stream in (None, (0, 0), (STREAM, device), (STREAM, device ^ 3), (0, device or 1)):
                        status = self.combination(mode, device, event, stream)
                        seen[status] = seen.get(status, 0) + 1
        self.assertEqual(set(seen), {"OK", "SYNC_MODE_MISMATCH", "INVALID_SYNC_MODE"})
        # None or zeros for one of both: PRODUCER_SYNCED 2 * 2 on four devices, the others 2 on three.
        self.assertEqual(seen["OK"], 4 * 4 + 2 * 3 + 2 * 3)

    def combination(self, mode, device, event, stream):
        releases, events = Calls(), Calls()
        payload = None if event is None else EventPayload(event[0], events if event[1] else None, event[2])
        stream = None if stream is None else StreamPayload(*stream)
        expected = expected_status(mode, device, payload, stream)
        before = lent()
        try:
            buffer = Buffer.handoff(handle(mode, 64, device), MEMORY, release=releases, event=payload, stream=stream)
        except hurray.HurrayError as error:
            self.assertEqual(error.name, expected, (mode, device, event, stream))
            self.assertTrue(error.message)
            # Nothing has moved: both callbacks are the caller's as before.
            self.assertEqual((releases, events, lent()), ([], [], before))
            return expected
        self.assertEqual("OK", expected, (mode, device, event, stream))
        with buffer:
            self.assertEqual(buffer.handle, handle(mode, 64, device))
        self.assertEqual(releases.addresses, [MEMORY])
        self.assertEqual(events.addresses, [EVENT] if mode == SyncMode.EVENT else [])
        self.assertEqual(lent(), before)
        return "OK"

    def test_the_mode_is_read_from_byte_13_of_the_16_bytes(self):
        with event_buffer() as buffer:
            self.assertEqual(hurray._native.buffer_handle_bytes(buffer)[13], SyncMode.EVENT)
        for mode in SyncMode:
            encoded = handle(mode).encode()
            self.assertEqual((len(encoded), encoded[13]), (16, mode))

    def test_failures_of_every_other_kind_move_nothing_either(self):
        cases = {
            "MISALIGNED": (handle(SyncMode.EVENT), MEMORY + 8),
            "NULL_POINTER": (handle(SyncMode.EVENT), None),
            "INVALID_LAYOUT": (BufferHandle(64, 63, Device.CUDA, SyncMode.EVENT), MEMORY),
            "INVALID_TYPE": (BufferHandle(64, 64, 0x09, SyncMode.EVENT), MEMORY),
            "INVALID_ARGUMENT": (BufferHandle(2**64 - 1, 64, Device.CUDA, SyncMode.EVENT), MEMORY),
            "BUFFER_TOO_SMALL": (handle(SyncMode.EVENT, 65), bytearray(64)),
        }
        for name, (wrong, data) in cases.items():
            with self.subTest(name):
                releases, events = Calls(), Calls()
                before = lent()
                self.refused(name, Buffer.handoff, wrong, data, release=releases,
                             event=EventPayload(EVENT, events, Device.CUDA))
                self.assertEqual((releases, events, lent()), ([], [], before))
        self.refused("INVALID_TYPE", Buffer.handoff, BufferHandle(64, 64, Device.CUDA, 0, 9), MEMORY)
        self.refused("INVALID_LAYOUT", hurray._native.buffer_handoff, handle(0).encode()[:15] + b"\1", MEMORY, None, None, None)
        for size in (0, 15, 17):
            self.refused("INVALID_ARGUMENT", hurray._native.buffer_handoff, bytes(size), MEMORY, None, None, None)

    def test_arguments_of_wrong_types(self):
        good = handle(SyncMode.EVENT)
        wrong = [
            {"release": 1}, {"release": "x"}, {"event": (EVENT, Calls())}, {"event": [EVENT, Calls(), 1]},
            {"event": EventPayload(EVENT, 7, 1)}, {"event": EventPayload("x", Calls(), 1)},
            {"event": EventPayload(EVENT, Calls(), None)}, {"stream": (STREAM,)}, {"stream": StreamPayload("x", 1)}, {"stream": 5},
        ]
        for keywords in wrong:
            with self.subTest(str(keywords)), self.assertRaises(TypeError):
                Buffer.handoff(good, MEMORY, **keywords)
        with self.assertRaises(TypeError):
            Buffer.handoff(good, object(), event=EventPayload(EVENT, Calls(), 1))
        for keywords in ({"event": EventPayload(-1, None, 1)}, {"event": EventPayload(EVENT, None, 256)},
                         {"stream": StreamPayload(2**64, 1)}, {"stream": StreamPayload(STREAM, -1)}):
            self.refused("INVALID_ARGUMENT", Buffer.handoff, good, MEMORY, **keywords)
        self.refused("INVALID_ARGUMENT", Buffer.handoff, good, -64)
        self.refused("INVALID_ARGUMENT", Buffer.handoff, good, 2**64)


class MemoryTest(BaseLine):
    def test_memory_at_an_address_is_released_once_with_that_address_on_the_closing_thread(self):
        releases = Calls()
        buffer = Buffer.handoff(handle(SyncMode.PRODUCER_SYNCED), MEMORY, release=releases)
        info = buffer.info
        self.assertEqual((info.data, info.byte_size, info.alignment), (MEMORY, 64, 64))
        with buffer.share():
            buffer.close()
            self.assertEqual(releases, [])
        buffer.close()
        self.assertEqual(releases, [(MEMORY, threading.get_native_id())])

    def test_memory_without_a_release_lives_for_ever(self):
        with Buffer.handoff(handle(SyncMode.PRODUCER_SYNCED), MEMORY) as buffer:
            self.assertEqual(buffer.info.data, MEMORY)

    def test_an_empty_buffer_needs_no_memory(self):
        releases = Calls()
        with Buffer.handoff(BufferHandle(0, 64, Device.CUDA), None, release=releases) as buffer:
            self.assertEqual((buffer.nbytes, buffer.info.data), (0, 0))
        self.assertEqual(releases.addresses, [0])

    def test_memory_of_an_object_is_kept_and_given_back(self):
        raw = np.zeros(192, np.uint8)
        start = -raw.ctypes.data % 64
        memory = raw[start : start + 64].view(type("Watched", (np.ndarray,), {}))
        memory[:] = range(64)
        watch = weakref.ref(memory)
        releases = Calls()
        buffer = Buffer.handoff(BufferHandle(64), memory, release=releases)
        address = memory.ctypes.data
        del memory, raw
        gc.collect()
        self.assertIsNotNone(watch())
        with tensor_of(buffer) as tensor:
            self.assertEqual(tensor.tolist(), list(range(64)))
            self.assertFalse(tensor.readonly)
            self.assertEqual(releases, [])
        self.assertEqual(releases.addresses, [address])
        self.assertIsNone(watch())

    def test_memory_of_a_read_only_object_is_read_only(self):
        raw = np.zeros(192, np.uint8)
        start = -raw.ctypes.data % 64
        memory = raw[start : start + 64]
        memory.flags.writeable = False
        with Buffer.handoff(BufferHandle(64), memory) as buffer:
            self.assertTrue(buffer.readonly)

    def test_an_object_that_is_too_small_is_refused_and_not_kept(self):
        memory = bytearray(63)
        before = lent()
        self.refused("BUFFER_TOO_SMALL", Buffer.handoff, BufferHandle(64), memory)
        self.assertEqual(lent(), before)
        memory.append(0)

    def test_what_a_release_raises_goes_to_the_unraisable_hook_and_the_close_succeeds(self):
        def fail(address):
            raise ValueError(address)

        buffer = Buffer.handoff(handle(SyncMode.PRODUCER_SYNCED), MEMORY, release=fail)
        with unraisable() as found:
            buffer.close()
        self.assertEqual(found, [(ValueError, fail)])
        self.assertTrue(buffer.closed)

    def test_a_release_may_use_the_library_and_end_other_handles(self):
        other = Tensor.wrap(b"other")
        releases = Calls()

        def release(address):
            buffer.close()  # the one that is being ended: closed already
            other.close()
            with Tensor.wrap(b"new") as made:
                releases((address, bytes(made)))
            hurray.drain()

        buffer = Buffer.handoff(handle(SyncMode.PRODUCER_SYNCED), MEMORY, release=release)
        buffer.close()
        self.assertEqual(releases.addresses, [(MEMORY, b"new")])
        self.assertTrue(other.closed)

    def test_a_release_that_closes_the_list_that_is_being_closed(self):
        releases = Calls()

        def release(address):
            releases(address)
            parts.close()

        parts = BufferList()
        for _ in range(3):
            parts.append(Buffer.handoff(handle(SyncMode.PRODUCER_SYNCED), MEMORY, release=release))
        parts.close()
        self.assertEqual(len(releases), 3)

    def test_the_release_of_a_forgotten_buffer_waits_for_a_drain_and_its_event_does_not(self):
        releases, events = Calls(), Calls()

        def forget():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ResourceWarning)
                event_buffer(releases, events)

        thread = threading.Thread(target=forget)
        thread.start()
        thread.join()
        self.assertEqual(events, [(EVENT, thread.native_id)])
        self.assertEqual(releases, [])
        self.assertEqual(hurray.drain(), 1)
        self.assertEqual(releases, [(MEMORY, threading.get_native_id())])
        self.assertEqual(events.addresses, [EVENT])

    def test_consent_to_any_thread(self):
        releases = Calls()

        def forget():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ResourceWarning)
                buffer = Buffer.handoff(handle(SyncMode.PRODUCER_SYNCED), MEMORY, release=releases)
                buffer.set_release_any_thread()
                del buffer

        thread = threading.Thread(target=forget)
        thread.start()
        thread.join()
        self.assertEqual(releases, [(MEMORY, thread.native_id)])


class EventTest(BaseLine):
    def test_the_consumer_reads_the_event_and_releases_it_exactly_once_on_its_own_thread(self):
        releases, events = Calls(), Calls()
        with event_buffer(releases, events) as buffer:
            self.assertEqual(buffer.event, (EVENT, Device.CUDA))
            self.assertEqual((buffer.event.sync_handle, buffer.event.device_tag), (EVENT, Device.CUDA))
            self.assertEqual(events, [])
            thread = threading.Thread(target=buffer.release_event)
            thread.start()
            thread.join()
            self.assertEqual(events, [(EVENT, thread.native_id)])
            for again in (buffer.release_event, lambda: buffer.event, lambda: buffer.waiting().__enter__()):
                self.assertIn("released", self.refused("INVALID_HANDLE", again).message)
            self.assertEqual(releases, [])
        self.assertEqual((events.addresses, releases.addresses), ([EVENT], [MEMORY]))

    def test_an_event_that_nobody_released_is_released_once_by_every_end(self):
        ends = {
            "buffer": lambda b: b,
            "list": self.list_of,
            "tensor": tensor_of,
            "taken pair": lambda b: Tensor.from_pair(*self.pair_of(b)),
        }
        for name, make in ends.items():
            with self.subTest(name):
                releases, events = Calls(), Calls()
                end = make(event_buffer(releases, events))
                self.assertEqual((releases, events), ([], []))
                end.close()
                self.assertEqual((releases.addresses, events.addresses), ([MEMORY], [EVENT]))

    def test_an_event_that_was_released_is_not_released_again_by_any_end(self):
        for make in (lambda b: b, self.list_of, tensor_of):
            releases, events = Calls(), Calls()
            buffer = event_buffer(releases, events)
            buffer.release_event()
            make(buffer).close()
            self.assertEqual((releases.addresses, events.addresses), ([MEMORY], [EVENT]))

    @staticmethod
    def list_of(buffer):
        parts = BufferList()
        parts.append(buffer)
        return parts

    @classmethod
    def pair_of(cls, buffer):
        context = TensorContext.new(descriptor_of(buffer).encode())
        return cls.list_of(buffer), context

    def test_borrowed_buffers_of_lists_and_tensors(self):
        events = Calls()
        with self.list_of(event_buffer(None, events)) as parts:
            self.assertEqual(parts[0].event.sync_handle, EVENT)
            parts[0].release_event()
            self.assertEqual(events.addresses, [EVENT])
            self.refused("INVALID_HANDLE", parts[0].release_event)
        with tensor_of(event_buffer(None, events)) as tensor:
            (buffer,) = tensor.buffers
            with buffer.waiting() as event:
                self.assertEqual(event, (EVENT, Device.CUDA))
                self.assertEqual(len(events), 1)
            self.assertEqual(len(events), 2)
            (again,) = tensor.buffers
            self.refused("INVALID_HANDLE", again.release_event)
        for use in (lambda: buffer.event, buffer.release_event):
            with self.assertRaises(hurray.ClosedError):
                use()

    def test_the_event_moves_with_a_pair_of_list_and_context(self):
        events = Calls()
        with Tensor.from_pair(*self.pair_of(event_buffer(None, events))) as tensor:
            self.assertEqual(tensor.buffers[0].event.sync_handle, EVENT)
            tensor.buffers[0].release_event()
        self.assertEqual(events.addresses, [EVENT])

    def test_shares_and_slices_carry_no_event_and_no_stream(self):
        events = Calls()
        with event_buffer(None, events, size=256) as buffer, buffer.share() as share, buffer.slice(64, 64) as part:
            for copy in (share, part):
                self.refused("SYNC_MODE_MISMATCH", lambda: copy.event)
                self.refused("SYNC_MODE_MISMATCH", copy.release_event)
        self.assertEqual(events.addresses, [EVENT])
        with stream_buffer() as buffer, buffer.share() as share:
            self.assertEqual(buffer.consumer_stream, (STREAM, Device.CUDA))
            self.refused("SYNC_MODE_MISMATCH", lambda: share.consumer_stream)

    def test_the_accessors_of_another_mode_are_refused(self):
        with Buffer.handoff(handle(SyncMode.PRODUCER_SYNCED), MEMORY) as synced, event_buffer() as event, \
                stream_buffer() as stream, Buffer.allocate(64) as own:
            for buffer in (synced, stream, own):
                self.refused("SYNC_MODE_MISMATCH", lambda: buffer.event)
                self.refused("SYNC_MODE_MISMATCH", buffer.release_event)
            for buffer in (synced, event, own):
                self.refused("SYNC_MODE_MISMATCH", lambda: buffer.consumer_stream)

    def test_the_waiting_block_releases_the_event_when_it_raises(self):
        events = Calls()
        with event_buffer(None, events) as buffer:
            with self.assertRaises(ZeroDivisionError), buffer.waiting():
                1 / 0
            self.assertEqual(events.addresses, [EVENT])

    def test_what_an_event_release_raises_goes_to_the_unraisable_hook_and_counts_as_released(self):
        def fail(event):
            raise ValueError(event)

        with event_buffer(None, fail) as buffer:
            with unraisable() as found:
                buffer.release_event()
            self.assertEqual(found, [(ValueError, fail)])
            self.refused("INVALID_HANDLE", buffer.release_event)

    def test_an_event_release_may_use_the_library_but_not_end_its_own_buffer(self):
        outcomes = []

        def release(event):
            with Tensor.wrap(b"new") as made:
                outcomes.append(bytes(made))
            for action in (buffer.release_event, buffer.close, tensor.close, lambda: buffer.event):
                with self.assertRaises(hurray.BusyError):
                    action()
                outcomes.append("busy")

        with tensor_of(event_buffer(None, release)) as tensor:
            (buffer,) = tensor.buffers
            buffer.release_event()
            self.assertEqual(outcomes, [b"new"] + ["busy"] * 4)
            buffer.close()

    def test_another_thread_cannot_end_the_tensor_while_its_event_is_being_released(self):
        inside, leave = threading.Event(), threading.Event()

        def release(event):
            inside.set()
            leave.wait(30)

        tensor = tensor_of(event_buffer(None, release))
        thread = threading.Thread(target=tensor.buffers[0].release_event)
        thread.start()
        inside.wait(30)
        with self.assertRaises(hurray.BusyError):
            tensor.close()
        leave.set()
        thread.join()
        tensor.close()

    def test_python_runs_on_while_another_runtime_releases_its_event(self):
        """The release is sem_wait of the C library: it comes back when another thread of Python has posted."""
        library, libc = ctypes.CDLL(os.environ["HURRAY_LIBRARY"]), ctypes.CDLL(None)
        semaphore = ctypes.create_string_buffer(64)
        self.assertEqual(libc.sem_init(semaphore, 0, 0), 0)

        class Payload(ctypes.Structure):
            _fields_ = [("handle", ctypes.c_void_p), ("device", ctypes.c_uint8), ("release", ctypes.c_void_p),
                        ("context", ctypes.c_void_p)]

        payload = Payload(ctypes.addressof(semaphore), Device.CUDA, ctypes.cast(libc.sem_wait, ctypes.c_void_p), None)
        bytes16 = handle(SyncMode.EVENT).encode()
        buffer, parts, context = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        self.assertEqual(library.hurray_buffer_handoff(bytes16, ctypes.c_void_p(MEMORY), None, None, ctypes.byref(payload), None,
                                                       ctypes.byref(buffer), None), 0)
        self.assertEqual(library.hurray_buffer_list_new(ctypes.c_uint64(1), ctypes.byref(parts)), 0)
        self.assertEqual(library.hurray_buffer_list_push(parts, buffer), 0)
        encoded = Descriptor.build("uint8", [64], buffers=[handle(SyncMode.EVENT)]).encode()
        self.assertEqual(library.hurray_tensor_context_new(4, encoded, ctypes.c_uint64(len(encoded)), None, None,
                                                           ctypes.byref(context)), 0)
        with Tensor.from_pair(parts.value, context.value) as tensor:
            poster = threading.Timer(0.05, ctypes.PyDLL(None).sem_post, [semaphore])
            poster.start()
            tensor.buffers[0].release_event()
            poster.join()


class HostViewTest(BaseLine):
    def test_memory_of_a_device_gives_no_host_view(self):
        for make in (event_buffer, stream_buffer):
            with tensor_of(make()) as tensor:
                self.assertEqual((tensor.device, tensor.shape, tensor.nbytes), (Device.CUDA, (64,), 64))
                self.assertEqual(tensor.buffers[0].info.data, MEMORY)
                views = {
                    "memoryview": tensor.memoryview, "builtin memoryview": lambda: memoryview(tensor), "raw": tensor.raw,
                    "raw_bytes": tensor.raw_bytes, "numpy": tensor.numpy, "bits": lambda: tensor.numpy(bits=True),
                    "array": lambda: np.asarray(tensor), "tolist": tensor.tolist, "bytes": lambda: bytes(tensor),
                    "numpy copy": lambda: tensor.numpy(copy=True), "copy": tensor.copy,
                }
                for name, view in views.items():
                    with self.subTest(name):
                        self.refused("UNSUPPORTED", view)
                with hurray.Writer.to_memory() as writer, self.assertRaises(hurray.HurrayError):
                    writer.write(tensor)
                self.assertEqual(tensor.exports, 0)

    def test_pinned_and_unified_memory_of_a_device_gives_none_either(self):
        for memory_class in (MemoryClass.HOST_PINNED, MemoryClass.UNIFIED):
            kind = BufferHandle(64, 64, Device.CUDA, SyncMode.EVENT, memory_class)
            with tensor_of(Buffer.handoff(kind, MEMORY, event=EventPayload(EVENT, Calls(), Device.CUDA))) as tensor:
                self.refused("UNSUPPORTED", tensor.memoryview)


class ExportTest(BaseLine):
    def test_a_tensor_with_an_event_or_stream_is_not_exported_as_shares(self):
        for make in (event_buffer, stream_buffer):
            with tensor_of(make()) as tensor:
                for export in (tensor.export, tensor.export_pair, tensor.__hurray__, lambda: hurray.from_hurray(tensor)):
                    self.refused("SYNC_MODE_MISMATCH", export)

    def test_a_share_of_such_a_tensor_has_the_memory_and_neither_event_nor_stream(self):
        releases, events = Calls(), Calls()
        with tensor_of(event_buffer(releases, events)) as tensor:
            share = tensor.share()
            self.refused("SYNC_MODE_MISMATCH", lambda: share.buffers[0].event)
            self.refused("SYNC_MODE_MISMATCH", share.buffers[0].release_event)
            self.assertEqual(tensor.buffers[0].event.sync_handle, EVENT)
        self.assertEqual((releases, events.addresses), ([], [EVENT]))
        self.refused("SYNC_MODE_MISMATCH", share.export)
        share.close()
        self.assertEqual((releases.addresses, events.addresses), ([MEMORY], [EVENT]))
        with tensor_of(stream_buffer()) as tensor, tensor.share() as share:
            self.refused("SYNC_MODE_MISMATCH", lambda: share.buffers[0].consumer_stream)

    def test_a_tensor_checks_that_its_buffers_have_the_mode_of_its_table(self):
        for make in (event_buffer, stream_buffer):
            with BufferList() as parts:
                parts.append(make())
                wrong = Descriptor.build("uint8", [64], buffers=[handle(SyncMode.PRODUCER_SYNCED)])
                self.refused("SYNC_MODE_MISMATCH", Tensor.from_list, wrong, parts)
                self.assertEqual(len(parts), 1)


if __name__ == "__main__":
    unittest.main()
