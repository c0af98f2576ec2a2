"""Pairs and capsules that other copies of the library, other versions and other implementations made, through Python's import."""

import ctypes
import gc
import unittest
import warnings

import hurray
from hurray import Device, Producer, StreamPayload, SyncMode, Tensor, from_hurray

import fake_device
import stranger
from stranger import Spy, Strangers

VALUES = [[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]]
ELEMENTS = [float(i) for i in range(12)]

_api = ctypes.pythonapi
_api.PyCapsule_New.restype = ctypes.py_object
_api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_api.PyCapsule_SetContext.argtypes = [ctypes.py_object, ctypes.c_void_p]
_api.PyCapsule_GetName.argtypes = [ctypes.py_object]
_api.PyCapsule_GetName.restype = ctypes.c_char_p
_NAME = ctypes.create_string_buffer(b"hurray_tensor")


def capsule(parts, context):
    """What another package of the process returns from __hurray__; nobody ends what it has."""
    made = _api.PyCapsule_New(parts, ctypes.cast(_NAME, ctypes.c_char_p), None)
    _api.PyCapsule_SetContext(made, context)
    return made


# The two ways in.
WAYS = {"pair": lambda parts, context: Tensor.from_pair(parts, context),
        "capsule": lambda parts, context: from_hurray(capsule(parts, context))}


class ImportTest(unittest.TestCase):
    def setUp(self):
        hurray.load()
        hurray.drain()
        self.handles = hurray.live_handles()

    def tearDown(self):
        gc.collect()
        hurray.drain()
        self.assertEqual(hurray.live_handles(), self.handles, "handles leaked")

    def refused(self, name, call, *arguments):
        with self.assertRaises(hurray.HurrayError) as caught:
            call(*arguments)
        self.assertEqual(caught.exception.name, name, caught.exception)
        self.assertTrue(caught.exception.message)
        return caught.exception


class VersionTest(ImportTest):
    def test_contexts_of_version_3_and_of_5_without_a_voucher_are_refused_and_nothing_but_the_version_is_asked(self):
        for name, take in WAYS.items():
            for version, vouches in ((1, None), (3, None), (3, (1, 5)), (5, None), (5, (5, 5)), (5, (3, 4)), (2**32 - 1, None)):
                with self.subTest((name, version, vouches)), Spy(version, vouches) as spy:
                    error = self.refused("VERSION_MISMATCH", take, *spy.pair())
                    self.assertIn(f"version {version}", error.message)
                    self.assertIn("version 4", error.message)
                    self.assertEqual(spy.log[0], "tensor_context_abi_version")
                    self.assertEqual(spy.accessor_calls, 0, spy.log)
                    self.assertTrue(set(line.split()[0] for line in spy.log) <= {"tensor_context_abi_version", "supports", "build_id"})
                    if version < 4:
                        self.assertNotIn("supports", " ".join(spy.log))
                    # Both stay the caller's: the list, its buffer, and the context.
                    self.assertEqual((spy.live_handles, spy.misuses), (3, 0))

    def test_a_version_that_cannot_be_told_is_refused_before_anything_else(self):
        for take in WAYS.values():
            with Spy(4, (1, 4)) as spy:
                spy.answer("tensor_context_abi_version", hurray.Status.INTERNAL)
                with self.assertRaises(hurray.HurrayError):
                    take(*spy.pair())
                self.assertEqual((spy.accessor_calls, spy.live_handles), (0, 3))

    def test_a_refused_capsule_keeps_what_it_has_and_is_not_renamed(self):
        with Spy(5) as spy:
            offered = capsule(*spy.pair())
            self.refused("VERSION_MISMATCH", from_hurray, offered)
            self.assertEqual(_api.PyCapsule_GetName(offered), b"hurray_tensor")
            self.assertEqual(spy.live_handles, 3)

    def test_a_context_of_version_4_and_one_of_5_that_is_vouched_for_are_taken(self):
        for name, take in WAYS.items():
            for version, vouches in ((4, (1, 4)), (5, (1, 5)), (9, (4, 9))):
                with self.subTest((name, version)), Spy(version, vouches) as spy:
                    with take(*spy.pair()) as tensor:
                        self.assertEqual((tensor.dtype.name, tensor.shape), ("FLOAT32", (3, 4)))
                        self.assertEqual(tensor.tolist(), VALUES)
                        self.assertEqual(spy.log[0], "tensor_context_abi_version")
                    self.assertEqual((spy.live_handles, spy.misuses), (0, 0))

    def test_a_producer_that_exports_a_context_of_another_version(self):
        for version in (3, 5):
            with Spy(version) as spy, Producer.at(foreign_producer(spy.pair())) as producer:
                self.refused("VERSION_MISMATCH", producer.request)
                # What was exported is ended, by the copy that made it.
                self.assertEqual((spy.live_handles, spy.misuses), (0, 0))
                asked = [line for line in spy.log if "destroy" not in line]
                self.assertTrue(set(line.split()[0] for line in asked) <= {"tensor_context_abi_version", "supports", "build_id"})


class OtherCopyTest(ImportTest):
    """A pair of another copy of the library lives and ends in that copy."""

    def test_views_shares_exports_and_writers_work_and_everything_ends_in_its_own_copy(self):
        with Spy(4, (1, 4)) as spy:
            tensor = Tensor.from_pair(*spy.pair())
            array = tensor.numpy()
            self.assertEqual(array.tolist(), VALUES)
            share = tensor.share()
            del array
            tensor.close()
            self.assertEqual(share.tolist(), VALUES)
            with from_hurray(share) as again, share.copy() as copied, hurray.Writer.to_memory() as writer:
                self.assertEqual(again.tolist(), VALUES)
                self.assertEqual(copied.tolist(), VALUES)
                writer.write(again)
                with writer.take() as stream, hurray.Reader.from_memory(stream.tobytes()) as reader, reader.next() as read:
                    self.assertEqual(read.tolist(), VALUES)
            share.close()
            self.assertEqual((spy.live_handles, spy.misuses), (0, 0))

    def test_a_forgotten_tensor_ends_in_its_own_copy_without_a_release_on_this_thread(self):
        with Spy(4, (1, 4)) as spy:
            tensor = Tensor.from_pair(*spy.pair())
            spy.clear()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ResourceWarning)
                del tensor
                gc.collect()
            ends = [line for line in spy.log if "destroy" in line]
            self.assertTrue(ends)
            self.assertTrue(all(line.endswith("_deferred") for line in ends), ends)
            self.assertEqual((spy.live_handles, spy.misuses), (0, 0))

    def test_an_event_of_another_copy_is_read_and_released_exactly_once(self):
        device = fake_device.FakeDevice()
        stream, event = device.stream_new("producer"), device.event_new()
        device.event_record(event, stream)
        release = ctypes.cast(fake_device._library.fake_event_release, ctypes.c_void_p).value
        for by_hand in (True, False):
            with Spy(4, (1, 4)) as spy:
                before = device.event_release_count(event)
                with Tensor.from_pair(*spy.event_pair(event, release, device.address)) as tensor:
                    (buffer,) = tensor.buffers
                    self.assertEqual(buffer.event, (event, Device.CUDA))
                    if by_hand:
                        buffer.release_event()
                        self.refused("INVALID_HANDLE", buffer.release_event)
                self.assertEqual(device.event_release_count(event), before + 1)
                self.assertEqual((spy.live_handles, spy.misuses), (0, 0))
        device.destroy()

    def test_a_stream_of_another_copy(self):
        with Spy(4, (1, 4)) as spy:
            with Producer.at(foreign_producer(spy.stream_pair(0x50))) as producer:
                with producer.request(StreamPayload(0x50, Device.CUDA)) as tensor:
                    self.assertEqual(tensor.buffers[0].handle.sync_mode, SyncMode.CONSUMER_STREAM)
                    self.assertEqual(tensor.buffers[0].consumer_stream, (0x50, Device.CUDA))
            with Producer.at(foreign_producer(spy.stream_pair(0x51))) as producer:
                self.refused("SYNC_MODE_MISMATCH", producer.request, StreamPayload(0x50, Device.CUDA))
            self.assertEqual((spy.live_handles, spy.misuses), (0, 0))

    def test_a_failure_half_way_leaves_both_with_the_caller(self):
        for function in ("tensor_context_descriptor", "buffer_list_len", "buffer_list_get", "buffer_handle_bytes", "buffer_info"):
            with self.subTest(function), Spy(4, (1, 4)) as spy:
                spy.answer(function, hurray.Status.OUT_OF_MEMORY)
                parts, context = spy.pair()
                with self.assertRaises(hurray.HurrayError):
                    Tensor.from_pair(parts, context)
                self.assertEqual((spy.live_handles, spy.misuses), (3, 0))
                spy.answer(function, 0)
                with Tensor.from_pair(parts, context) as tensor:
                    self.assertEqual(tensor.tolist(), VALUES)


class StrangerTest(ImportTest):
    """What is no exchange handle is refused by its first bytes; a process that reads on dies here."""

    def test_another_implementations_capsule_and_pair_are_refused(self):
        for name, take in WAYS.items():
            with self.subTest(name), Strangers() as strangers:
                self.refused("INVALID_HANDLE", take, strangers.foreign(), strangers.foreign())

    def test_a_stranger_beside_a_handle_of_ours_is_refused_and_ours_stays(self):
        with Strangers() as strangers, Tensor.zeros("uint8", [4]) as tensor:
            for take in WAYS.values():
                parts, context = tensor.export()
                with parts, context:
                    self.refused("INVALID_HANDLE", take, parts._address, strangers.foreign())
                    self.refused("INVALID_HANDLE", take, strangers.foreign(), context._address)
                    self.assertEqual((len(parts), context.abi_version), (1, 4))

    def test_a_generation_that_does_not_exist_and_a_prefix_without_a_table(self):
        for make in (Strangers.generation, Strangers.without_table):
            for take in WAYS.values():
                with Strangers() as strangers:
                    self.refused("INVALID_HANDLE", take, make(strangers, stranger.LIST), make(strangers, stranger.CONTEXT))

    def test_handles_of_another_kind_are_refused(self):
        with Spy(4, (1, 4)) as spy:
            parts, context = spy.pair()
            for take in WAYS.values():
                self.refused("INVALID_HANDLE", take, context, parts)
            self.assertEqual((spy.log, spy.live_handles), ([], 3))

    def test_a_producer_that_exports_strangers(self):
        with Strangers() as strangers:
            with Producer.at(foreign_producer((strangers.foreign(), strangers.foreign()))) as producer:
                self.refused("INVALID_HANDLE", producer.request)


class _CProducer(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("abi_version", ctypes.c_uint32), ("context", ctypes.c_void_p),
                ("export_tensor", ctypes.c_void_p), ("release", ctypes.c_void_p)]


_EXPORT = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint8, ctypes.POINTER(ctypes.c_void_p),
                           ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p)
_kept = []  # structs and functions of foreign producers, to the end of the process


def foreign_producer(pair):
    """Address of another runtime's HurrayProducer, which exports this pair."""

    def export(context, stream, device, out_list, out_context, error):
        out_list[0], out_context[0] = pair
        return 0

    function = _EXPORT(export)
    struct = _CProducer(ctypes.sizeof(_CProducer), 4, None, ctypes.cast(function, ctypes.c_void_p), None)
    _kept.append((function, struct))
    return ctypes.addressof(struct)


if __name__ == "__main__":
    unittest.main()
