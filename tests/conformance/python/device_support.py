"""What the tests with a device share: a producer and a consumer of it, through the public API of the binding."""

import gc
import unittest

import hurray
from hurray import Buffer, BufferHandle, BufferList, Descriptor, EventPayload, StreamPayload, SyncMode, Tensor, TensorContext

from fake_device import FakeDevice, Violation

SIZE = 256


class DeviceTest(unittest.TestCase):
    """A device with a producer's and two consumer's streams. Ends with the handles that it began with."""

    def setUp(self):
        hurray.load()
        hurray.drain()
        self.handles = hurray.live_handles()
        self.device = FakeDevice()
        self.producer = self.device.stream_new("producer")
        self.consumer = self.device.stream_new("consumer")
        self.other = self.device.stream_new("other")

    def tearDown(self):
        gc.collect()
        hurray.drain()
        self.assertEqual(hurray.live_handles(), self.handles, "handles leaked")
        self.device.destroy()

    def in_order(self, *log):
        """Nothing was wrong, everything was released, and the log is this (where one is given)."""
        self.assertEqual((self.device.finish(), self.device.violations), (Violation.OK, []))
        self.assertEqual((self.device.events_outstanding(), self.device.memory_outstanding()), (0, 0))
        if log:
            self.assertEqual(self.device.log, list(log))

    # --- The producer's side ---

    def written(self, stream=None):
        """New memory that a stream, the producer's own if none is named, writes."""
        memory = self.device.memory_new(SIZE)
        self.device.stream_write(self.producer if stream is None else stream, memory)
        return memory

    def recorded(self, stream=None):
        """A new event for what is on the stream now."""
        event = self.device.event_new()
        self.device.event_record(event, self.producer if stream is None else stream)
        return event

    def hand_off(self, memory, mode, payload=None):
        """The handoff itself, between the driver's marks. `payload`: the event, or the consumer's stream."""
        device = self.device
        device.handoff_begin(memory, mode, payload)
        try:
            buffer = Buffer.handoff(
                BufferHandle(SIZE, 64, device.TAG, mode), memory, release=device.memory_release,
                event=EventPayload(payload, device.event_release, device.TAG) if mode == SyncMode.EVENT else None,
                stream=StreamPayload(payload, device.TAG) if mode == SyncMode.CONSUMER_STREAM else None)
        except hurray.HurrayError:
            device.handoff_failed(memory, mode, payload)
            raise
        device.handoff_returned(memory, mode, payload)
        return buffer

    @staticmethod
    def pair_of(*buffers):
        """The list and context of a tensor of these buffers, the first of which holds its data."""
        handles = [buffer.handle for buffer in buffers]
        parts = BufferList(len(buffers))
        for buffer in buffers:
            parts.append(buffer)
        return parts, TensorContext.new(Descriptor.build("uint8", [SIZE], buffers=handles).encode())

    def tensor_of(self, buffer):
        return Tensor.from_pair(*self.pair_of(buffer))

    # --- The consumer's side ---

    def wait_and_read(self, tensor, stream=None):
        """What the contract asks of a consumer of any mode, and then the access."""
        stream = self.consumer if stream is None else stream
        for buffer in tensor.buffers:
            mode = buffer.handle.sync_mode
            if mode == SyncMode.EVENT:
                with buffer.waiting() as event:
                    assert event.device_tag == self.device.TAG
                    self.device.stream_wait_event(stream, event.sync_handle)
            elif mode == SyncMode.CONSUMER_STREAM and buffer.consumer_stream.consumer_stream != stream:
                self.device.stream_wait_stream(stream, buffer.consumer_stream.consumer_stream)
            self.device.stream_read(stream, buffer.info.data)
