"""Python's memory ends at the n-th allocation, for every n, in every way to make or take something: MemoryError, and nothing
is leaked, released twice, or kept."""

import gc
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
    Producer,
    StreamPayload,
    SyncMode,
    Tensor,
    TensorContext,
    _native,
)
from support import BaseLine

try:
    import _testcapi  # of CPython's own tests; some builds leave it out
except ImportError:
    _testcapi = None

EVENT, STREAM, MEMORY = 0xE0, 0x50, 0x10000


class Watched(np.ndarray):
    """An array that can be watched."""


class Count:
    """A callback that allocates nothing."""

    def __init__(self):
        self.calls = 0

    def __call__(self, address):
        self.calls += 1


@unittest.skipIf(_testcapi is None, "this Python has no module _testcapi, which makes allocations fail")
class AllocationTest(BaseLine):
    def failing(self, action, least=1):
        """Runs action() with the n-th allocation failing, for n = 1, 2, ... until it succeeds. What it returns is closed."""
        failures = 0
        for n in range(1, 400):
            result = error = None
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                _testcapi.set_nomemory(n, n + 1)
                try:
                    result = action()
                except BaseException as raised:
                    error = raised
                finally:
                    _testcapi.remove_mem_hooks()
            if error is None:
                for handle in result if isinstance(result, tuple) else (result,):
                    if isinstance(handle, (_native.Handle, _native.ProducerHandle)):
                        handle.close()
                if failures and n > failures + 20:
                    break
                continue
            self.assertTrue(isinstance(error, MemoryError) or getattr(error, "name", "") == "OUT_OF_MEMORY", repr(error))
            failures += 1
            del error
            gc.collect()
            hurray.drain()
        self.assertGreaterEqual(failures, least)
        return failures

    def test_wrapping_memory(self):
        memory = np.arange(24, dtype=np.float32).reshape(4, 6)[::-1, ::2].view(Watched)
        watch = weakref.ref(memory)
        self.failing(lambda: _native.tensor_from_array(memory, 0, False))
        self.failing(lambda: _native.tensor_from_memory(b"abcd", 0x11, 3, (4,), (1,), 0, False))
        self.failing(lambda: _native.buffer_from_memory(memory.base.base, False))
        gc.collect()
        hurray.drain()
        del memory
        gc.collect()
        self.assertIsNone(watch())

    def test_contexts_and_their_owners(self):
        class Owner:
            pass

        owner = Owner()
        watch = weakref.ref(owner)
        self.failing(lambda: _native.tensor_context_new(4, b"descriptor", owner))
        del owner
        gc.collect()
        self.assertIsNone(watch())

    def test_handoff_releases_memory_and_event_as_often_as_it_succeeded(self):
        memory, event = Count(), Count()
        encoded = BufferHandle(64, 64, Device.CUDA, SyncMode.EVENT).encode()
        payload = EventPayload(EVENT, event, Device.CUDA)
        made = 0

        def handoff():
            nonlocal made
            buffer = _native.buffer_handoff(encoded, MEMORY, memory, payload, None)
            made += 1
            return buffer

        self.failing(handoff, least=2)
        hurray.drain()
        # The one whose Python object could not be made was made all the same, and ended.
        self.assertIn(memory.calls - made, (0, 1))
        self.assertEqual(memory.calls, event.calls)

    def test_accessors_of_a_handoff(self):
        handle = BufferHandle(64, 64, Device.CUDA, SyncMode.EVENT)
        event = Count()
        with Buffer.handoff(handle, MEMORY, event=EventPayload(EVENT, event, Device.CUDA)) as buffer:
            self.failing(lambda: _native.buffer_event(buffer), least=0)
            self.assertEqual(event.calls, 0)
        self.assertEqual(event.calls, 1)

    def test_exports_imports_and_capsules(self):
        with Tensor.wrap(bytearray(64)) as tensor:
            self.failing(lambda: _native.tensor_export(tensor))
            self.failing(lambda: _native.tensor_share(tensor), least=0)
            self.failing(lambda: _native.capsule_new(tensor) and None, least=0)

            def pair():
                parts, context = tensor.export_pair()
                return Tensor.from_pair(parts, context)

            pair().close()
            for n in range(1, 60):
                parts, context = tensor.export()
                with parts, context, warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    _testcapi.set_nomemory(n, n + 1)
                    try:
                        taken = _native.tensor_import(parts, context)
                    except (MemoryError, hurray.HurrayError):
                        taken = None
                    finally:
                        _testcapi.remove_mem_hooks()
                    if taken is not None:
                        taken.close()
            for n in range(1, 60):
                capsule = tensor.__hurray__()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    _testcapi.set_nomemory(n, n + 1)
                    try:
                        taken = _native.capsule_import(capsule)
                    except (MemoryError, hurray.HurrayError):
                        taken = None
                    finally:
                        _testcapi.remove_mem_hooks()
                    if taken is not None:
                        taken.close()

    def test_requests_end_everything_that_was_exported(self):
        memory = Count()
        descriptor = Descriptor.build("uint8", [64], buffers=[BufferHandle(64, 64, Device.CUDA, SyncMode.CONSUMER_STREAM)]).encode()
        stream = StreamPayload(STREAM, Device.CUDA)
        exported = 0

        class Source:
            def export_tensor(self, asked):
                nonlocal exported
                buffer = Buffer.handoff(BufferHandle(64, 64, Device.CUDA, SyncMode.CONSUMER_STREAM), MEMORY, release=memory,
                                        stream=asked)
                exported += 1
                parts = BufferList()
                parts.append(buffer)
                return parts, TensorContext.new(descriptor)

        self.failing(lambda: Producer.of(Source()), least=1)
        with Producer.of(Source()) as producer:
            failures = self.failing_request(producer, stream)
            self.assertGreater(failures, 5)
        gc.collect()
        hurray.drain()
        self.assertIn(memory.calls - exported, (0, 1))

    def failing_request(self, producer, stream):
        """As failing, where a failure may have become a status of any kind on its way through the export."""
        failures = 0
        for n in range(1, 300):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                _testcapi.set_nomemory(n, n + 1)
                try:
                    tensor = producer.request(stream)
                except (MemoryError, hurray.HurrayError):
                    tensor = None
                finally:
                    _testcapi.remove_mem_hooks()
            if tensor is None:
                failures += 1
                gc.collect()
                hurray.drain()
            else:
                tensor.close()
        return failures


if __name__ == "__main__":
    unittest.main()
