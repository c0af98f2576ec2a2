"""Producers: tensors on request, ordered on the consumer's stream; Python as producer and as consumer, and both with others."""

import ctypes
import gc
import os
import threading
import unittest
import warnings
import weakref

import hurray
from hurray import (
    Buffer,
    BufferHandle,
    BufferList,
    Descriptor,
    Device,
    EventPayload,
    Producer,
    StreamPayload,
    SyncMode,
    Tensor,
    TensorContext,
    request,
)
from support import BaseLine

STREAM = StreamPayload(0x50, Device.CUDA)
EVENT, MEMORY = 0xE0, 0x10000


class Exports:
    """Exports a buffer of each given mode, of device memory that is not there, and counts what is released."""

    def __init__(self, *modes, stream=STREAM, abi_version=hurray.C_ABI_VERSION):
        self.modes, self.stream, self.abi_version = modes, stream, abi_version
        self.asked = []
        self.memory, self.events = [], []

    def buffer(self, mode):
        handle = BufferHandle(64, 64, Device.CUDA, mode)
        event = EventPayload(EVENT, self.events.append, Device.CUDA) if mode == SyncMode.EVENT else None
        stream = self.stream if mode == SyncMode.CONSUMER_STREAM else None
        return Buffer.handoff(handle, MEMORY, release=self.memory.append, event=event, stream=stream)

    def export_tensor(self, stream):
        self.asked.append(stream)
        parts = BufferList()
        for mode in self.modes:
            parts.append(self.buffer(mode))
        descriptor = Descriptor.build("uint8", [64], buffers=[BufferHandle(64, 64, Device.CUDA, mode) for mode in self.modes])
        return parts, TensorContext.new(descriptor.encode(), abi_version=self.abi_version)


class CProducer(ctypes.Structure):
    """HurrayProducer, as another runtime has it."""

    _fields_ = [("struct_size", ctypes.c_uint32), ("abi_version", ctypes.c_uint32), ("context", ctypes.c_void_p),
                ("export_tensor", ctypes.c_void_p), ("release", ctypes.c_void_p)]


class CError(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int32), ("message", ctypes.c_char * 256)]


EXPORT = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint8, ctypes.POINTER(ctypes.c_void_p),
                          ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(CError))
RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
library = ctypes.CDLL(os.environ["HURRAY_LIBRARY"])


def request_in_c(address, stream=STREAM):
    """What a consumer in another language does: (status, message, tensor address)."""
    tensor, error = ctypes.c_void_p(), CError()
    status = library.hurray_producer_request(ctypes.c_void_p(address), ctypes.c_void_p(stream.consumer_stream),
                                             ctypes.c_uint8(stream.consumer_stream_device_tag), ctypes.byref(tensor),
                                             ctypes.byref(error))
    return hurray.Status(status), error.message.decode(), tensor


class RequestTest(BaseLine):
    def test_the_producer_gets_the_consumers_stream_and_the_buffer_carries_it(self):
        exports = Exports(SyncMode.CONSUMER_STREAM)
        with Producer.of(exports) as producer, producer.request(STREAM) as tensor:
            self.assertEqual(exports.asked, [STREAM])
            self.assertIsInstance(exports.asked[0], StreamPayload)
            self.assertEqual(tensor.buffers[0].consumer_stream, STREAM)
            self.assertEqual((tensor.device, tensor.shape), (Device.CUDA, (64,)))
            self.assertEqual(exports.memory, [])
        self.assertEqual(exports.memory, [MEMORY])

    def test_every_mode_may_be_exported_and_a_consumer_may_have_no_stream(self):
        for mode in (SyncMode.PRODUCER_SYNCED, SyncMode.EVENT):
            for stream in (None, STREAM):
                with self.subTest((mode, stream)):
                    exports = Exports(mode)
                    with request(exports, stream) as tensor:
                        self.assertEqual(exports.asked, [stream])
                        self.assertEqual(tensor.buffers[0].handle.sync_mode, mode)
                    self.assertEqual(exports.memory, [MEMORY])
                    self.assertEqual(exports.events, [EVENT] if mode == SyncMode.EVENT else [])

    def test_a_buffer_that_is_ordered_on_another_stream_is_refused_and_everything_ended(self):
        other = StreamPayload(0x51, Device.CUDA)
        elsewhere = StreamPayload(STREAM.consumer_stream, Device.ROCM)
        for exported, asked in ((other, STREAM), (STREAM, other), (STREAM, elsewhere), (STREAM, None)):
            with self.subTest((exported, asked)):
                exports = Exports(SyncMode.CONSUMER_STREAM, stream=exported)
                self.refused("SYNC_MODE_MISMATCH", request, exports, asked)
                self.assertEqual((exports.asked, exports.memory), ([asked], [MEMORY]))

    def test_a_device_without_a_stream_is_refused_before_the_producer_is_asked(self):
        exports = Exports(SyncMode.EVENT)
        self.refused("INVALID_ARGUMENT", request, exports, StreamPayload(0, Device.CUDA))
        self.assertEqual(exports.asked, [])

    def test_a_context_of_another_version_is_refused_and_everything_ended(self):
        for version in (1, 3, 5):
            exports = Exports(SyncMode.EVENT, abi_version=version)
            error = self.refused("VERSION_MISMATCH", request, exports, STREAM)
            self.assertIn(str(version), error.message)
            self.assertEqual((exports.memory, exports.events), ([MEMORY], [EVENT]))

    def test_host_memory_on_request(self):
        class Host:
            def export_tensor(self, stream):
                with Tensor.wrap(bytearray(b"abc")) as tensor:
                    return tensor.export()

        with request(Host()) as tensor:
            self.assertEqual(bytes(tensor), b"abc")

    def test_a_producer_is_asked_again_and_again(self):
        exports = Exports(SyncMode.CONSUMER_STREAM)
        with Producer.of(exports) as producer:
            for _ in range(100):
                producer.request(STREAM).close()
        self.assertEqual((len(exports.asked), len(exports.memory)), (100, 100))


class FailureTest(BaseLine):
    def raising(self, error):
        class Raising:
            def export_tensor(self, stream):
                raise error

        return Raising()

    def test_what_the_export_raises_becomes_a_status_and_the_cause(self):
        cases = [
            (ValueError("no such layer"), "INTERNAL_PANIC", "Python raised ValueError: no such layer"),
            (MemoryError("all gone"), "OUT_OF_MEMORY", "Python raised MemoryError: all gone"),
            (hurray.HurrayError(hurray.Status.NOT_FOUND, "layer 7"), "NOT_FOUND", "layer 7"),
            (hurray.HurrayError(hurray.Status.CANCELLED, "enough"), "CANCELLED", "enough"),
            (StopIteration(), "INTERNAL_PANIC", "StopIteration"),
        ]
        for error, name, text in cases:
            with self.subTest(name):
                refused = self.refused(name, request, self.raising(error), STREAM)
                self.assertIn(text, refused.message)
                self.assertIs(refused.__cause__, error)
                with Producer.of(self.raising(error)) as producer:
                    status, message, tensor = request_in_c(producer.address)
                self.assertEqual((status.name, tensor.value), (name, None))
                self.assertIn(text, message)

    def test_an_interrupt_goes_on_as_it_is_in_python_and_is_cancelled_for_others(self):
        for error in (KeyboardInterrupt("now"), SystemExit(3), GeneratorExit()):
            with self.assertRaises(type(error)) as caught:
                request(self.raising(error), STREAM)
            self.assertIs(caught.exception, error)
            with Producer.of(self.raising(error)) as producer:
                self.assertEqual(request_in_c(producer.address)[0], hurray.Status.CANCELLED)

    def test_messages_of_any_length_and_script_arrive_as_utf8(self):
        for text in ("x" * 1000, "\u00e9" * 300, "\U0001f980" * 200, "a\0b", "\udc80 alone"):
            with self.subTest(text[:5]), Producer.of(self.raising(ValueError(text))) as producer:
                status, message, _ = request_in_c(producer.address)
                self.assertEqual(status, hurray.Status.INTERNAL_PANIC)
                self.assertIn("ValueError", message)
                self.assertLess(len(message.encode()), 256)
                self.refused("INTERNAL_PANIC", producer.request, STREAM)

    def test_an_exception_that_cannot_be_shown(self):
        class Mute(Exception):
            def __str__(self):
                raise RuntimeError("no")

        self.refused("INTERNAL_PANIC", request, self.raising(Mute()), STREAM)

    def test_results_that_are_no_pair(self):
        tensor = Tensor.zeros("uint8", [64])

        def pair():
            return tensor.export()

        def closed():
            parts, context = pair()
            parts.close()
            return parts, context

        results = {
            "nothing": lambda: None, "number": lambda: 5, "empty": lambda: (), "one": lambda: pair()[:1],
            "three": lambda: (*pair(), 1), "swapped": lambda: pair()[::-1], "numbers": lambda: (1, 2), "status": lambda: (-1, "x", None),
            "tensor": lambda: tensor, "closed": closed,
        }
        for name, result in results.items():
            with self.subTest(name), warnings.catch_warnings():
                warnings.simplefilter("ignore", ResourceWarning)

                class Wrong:
                    def export_tensor(self, stream):
                        return result()

                with self.assertRaises(hurray.HurrayError) as caught:
                    request(Wrong(), STREAM)
                self.assertIn(caught.exception.name, ("INTERNAL_PANIC", "INVALID_HANDLE"))
                self.assertIsInstance(caught.exception.__cause__, (TypeError, hurray.ClosedError))
                del caught
                gc.collect()
        tensor.close()

    def test_a_request_within_an_export_and_a_close_within_it_are_refused(self):
        outcomes = []

        class Reentrant(Exports):
            def export_tensor(self, stream):
                for action in (lambda: producer.request(STREAM), producer.close):
                    try:
                        action()
                    except hurray.BusyError:
                        outcomes.append("busy")
                return super().export_tensor(stream)

        with Producer.of(Reentrant(SyncMode.CONSUMER_STREAM)) as producer, producer.request(STREAM):
            self.assertEqual(outcomes, ["busy", "busy"])

    def test_another_thread_is_refused_while_a_request_is_under_way(self):
        inside, leave = threading.Event(), threading.Event()

        class Slow(Exports):
            def export_tensor(self, stream):
                inside.set()
                leave.wait(30)
                return super().export_tensor(stream)

        producer = Producer.of(Slow(SyncMode.CONSUMER_STREAM))
        got = []
        thread = threading.Thread(target=lambda: got.append(producer.request(STREAM)))
        thread.start()
        inside.wait(30)
        for action in (lambda: producer.request(STREAM), producer.close):
            with self.assertRaises(hurray.BusyError):
                action()
        leave.set()
        thread.join()
        got[0].close()
        producer.close()


class LifetimeTest(BaseLine):
    def test_close_lets_the_source_go_and_requests_after_it_are_refused(self):
        exports = Exports(SyncMode.EVENT)
        watch = weakref.ref(exports)
        producer = Producer.of(exports)
        del exports
        gc.collect()
        self.assertIsNotNone(watch())
        producer.close()
        self.assertIsNone(watch())
        producer.close()
        self.assertEqual((producer.closed, producer.address, repr(producer)), (True, 0, "<hurray.Producer closed>"))
        with self.assertRaises(hurray.ClosedError):
            producer.request(STREAM)
        with self.assertRaises(hurray.ClosedError):
            with producer:
                pass

    def test_another_runtime_that_releases_pythons_producer_does_so_once(self):
        exports = Exports(SyncMode.EVENT)
        watch = weakref.ref(exports)
        producer = Producer.of(exports)
        del exports
        address = ctypes.c_void_p(producer.address)
        for _ in range(2):
            self.assertEqual(library.hurray_producer_release(address, None), 0)
            self.assertIsNone(watch())
        self.assertEqual(request_in_c(address.value)[0], hurray.Status.NULL_POINTER)
        self.refused("NULL_POINTER", producer.request, STREAM)
        producer.close()

    def test_another_runtime_asks_pythons_producer_from_a_thread_without_the_gil(self):
        exports = Exports(SyncMode.CONSUMER_STREAM)
        with Producer.of(exports) as producer:
            struct = CProducer.from_address(producer.address)
            self.assertEqual((struct.struct_size, struct.abi_version), (ctypes.sizeof(CProducer), hurray.C_ABI_VERSION))
            # ctypes lets the GIL go around the call.
            status, message, tensor = request_in_c(producer.address)
            self.assertEqual((status, message), (hurray.Status.OK, ""))
            self.assertEqual(exports.memory, [])
            self.assertEqual(library.hurray_tensor_destroy(ctypes.byref(tensor)), 0)
        self.assertEqual((exports.asked, exports.memory), ([STREAM], [MEMORY]))

    def test_a_forgotten_producer_of_python_goes_with_its_cycles(self):
        class Owner(Exports):
            def __init__(self):
                super().__init__(SyncMode.EVENT)
                self.producer = Producer.of(self)

        watch = weakref.ref(Owner())
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            gc.collect()
        self.assertIsNone(watch())

    def test_what_is_no_producer(self):
        with self.assertRaises(AttributeError):
            request(object())
        with self.assertRaises(TypeError):
            Producer()
        with self.assertRaises(TypeError):
            hurray._native.producer_new(5)
        with self.assertRaises(TypeError):
            hurray._native.producer_request(object(), 0, 0)
        self.refused("NULL_POINTER", Producer.at, 0)
        self.refused("INVALID_ARGUMENT", Producer.at, -1)


class ForeignTest(BaseLine):
    """A producer of another runtime, which Python knows by the address of its struct."""

    def foreign(self, export, **fields):
        released = []
        self.callbacks = (EXPORT(export), RELEASE(lambda context: released.append((context, threading.get_native_id()))))
        struct = CProducer(ctypes.sizeof(CProducer), 4, 0xC0, *(ctypes.cast(c, ctypes.c_void_p) for c in self.callbacks))
        for name, value in fields.items():
            setattr(struct, name, value)
        return struct, released

    @staticmethod
    def exporting(exports, asked):
        def export(context, stream, device, out_list, out_context, error):
            asked.append((context, stream, device))
            out_list[0], out_context[0] = moved_out(*exports.export_tensor(StreamPayload(stream or 0, device)))
            return 0

        return export

    def test_it_is_asked_and_released_exactly_once_on_the_closing_thread(self):
        exports, asked = Exports(SyncMode.CONSUMER_STREAM), []
        struct, released = self.foreign(self.exporting(exports, asked))
        producer = Producer.at(ctypes.addressof(struct))
        with producer.request(STREAM) as tensor:
            self.assertEqual(tensor.buffers[0].consumer_stream, STREAM)
        self.assertEqual(asked, [(0xC0, *STREAM)])
        self.assertEqual((released, exports.memory), ([], [MEMORY]))
        producer.close()
        producer.close()
        self.assertEqual(released, [(0xC0, threading.get_native_id())])
        self.assertEqual((struct.export_tensor, struct.release), (None, None))

    def test_a_release_that_comes_back_to_its_producer(self):
        struct, released = self.foreign(lambda *_: 0)
        producer = Producer.at(ctypes.addressof(struct))
        self.callbacks = (*self.callbacks, RELEASE(lambda context: (released.append(context), producer.close())[0]))
        struct.release = ctypes.cast(self.callbacks[-1], ctypes.c_void_p)
        producer.close()
        self.assertEqual(released, [0xC0])

    def test_what_it_reports_is_raised(self):
        def export(context, stream, device, out_list, out_context, error):
            error[0].message = b"no such layer"
            return hurray.Status.NOT_FOUND

        struct, released = self.foreign(export)
        with Producer.at(ctypes.addressof(struct)) as producer:
            error = self.refused("NOT_FOUND", producer.request, STREAM)
            self.assertIn("no such layer", error.message)
            self.assertIsNone(error.__cause__)

    def test_structs_that_are_wrong_are_refused(self):
        cases = {
            "INVALID_ARGUMENT": {"struct_size": 8},
            "VERSION_MISMATCH": {"abi_version": 3},
            "NULL_POINTER": {"export_tensor": None},
        }
        for name, fields in cases.items():
            with self.subTest(name):
                struct, released = self.foreign(lambda *_: 0, **fields)
                producer = Producer.at(ctypes.addressof(struct))
                self.refused(name, producer.request, STREAM)
                struct.struct_size, struct.abi_version = ctypes.sizeof(CProducer), 4
                producer.close()
                self.assertEqual(len(released), 1)

    def test_success_without_a_pair_is_refused(self):
        struct, released = self.foreign(lambda *_: 0)
        with Producer.at(ctypes.addressof(struct)) as producer:
            self.refused("NULL_POINTER", producer.request, STREAM)

    def test_a_forgotten_one_warns_and_is_released_by_no_collector(self):
        struct, released = self.foreign(lambda *_: 0)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            Producer.at(ctypes.addressof(struct))
            gc.collect()
        self.assertEqual([w.category for w in caught], [ResourceWarning])
        hurray.drain()
        self.assertEqual(released, [])
        self.assertIsNotNone(struct.release)
        Producer.at(ctypes.addressof(struct)).close()
        self.assertEqual(len(released), 1)


def moved_out(parts, context):
    """The addresses of a pair that Python has given away: what a runtime exports that has nothing of this package."""
    out_list, out_context = ctypes.c_void_p(), ctypes.c_void_p()
    giving = hurray._native.producer_new(lambda stream, device: (parts, context))
    struct = CProducer.from_address(giving.address)
    assert EXPORT(struct.export_tensor)(struct.context, 0, 0, ctypes.pointer(out_list), ctypes.pointer(out_context), None) == 0
    assert parts.closed and context.closed
    return out_list.value, out_context.value


if __name__ == "__main__":
    unittest.main()
