"""The order of a handoff, in each sync mode, with Python as producer and as consumer, judged by a fake device; and that the
device names each violation when Python does it wrongly."""

import threading
import unittest
import warnings

import hurray
from hurray import BufferHandle, BufferList, EventPayload, Producer, StreamPayload, SyncMode, Tensor, request

import fake_device
from device_support import SIZE, DeviceTest
from fake_device import Violation


class Source:
    """A producer on request: writes on its stream, orders it before the consumer's, and hands off."""

    def __init__(self, test, order=True):
        self.test, self.order = test, order

    def export_tensor(self, stream):
        test = self.test
        memory = test.written()
        if stream is None:
            test.device.host_wait_stream(test.producer)
            return test.pair_of(test.hand_off(memory, SyncMode.PRODUCER_SYNCED))
        if self.order:
            test.device.stream_wait_stream(stream.consumer_stream, test.producer)
        return test.pair_of(test.hand_off(memory, SyncMode.CONSUMER_STREAM, stream.consumer_stream))


class OrderTest(DeviceTest):
    def test_producer_synced_the_host_waits_before_the_handoff(self):
        memory = self.written()
        self.device.host_wait_stream(self.producer)
        with self.tensor_of(self.hand_off(memory, SyncMode.PRODUCER_SYNCED)) as tensor:
            self.wait_and_read(tensor)
        self.in_order("write memory 1 on producer", "wait host for producer", "handoff begins memory 1 mode 0",
                      "handoff returned memory 1 mode 0", "read memory 1 on consumer", "release memory 1")

    def test_event_is_recorded_before_the_handoff_waited_for_before_access_and_released_exactly_once(self):
        memory = self.written()
        event = self.recorded()
        with self.tensor_of(self.hand_off(memory, SyncMode.EVENT, event)) as tensor:
            self.wait_and_read(tensor)
            self.assertEqual(self.device.event_release_count(event), 1)
        self.in_order("write memory 1 on producer", "record event 1 on producer", "handoff begins memory 1 mode 1 event 1",
                      "handoff returned memory 1 mode 1 event 1", "wait consumer for event 1", "release event 1",
                      "read memory 1 on consumer", "release memory 1")
        self.assertEqual((self.device.event_release_count(event), self.device.memory_release_count(memory)), (1, 1))

    def test_event_is_waited_for_on_every_stream_that_accesses_the_memory(self):
        memory = self.written()
        with self.tensor_of(self.hand_off(memory, SyncMode.EVENT, self.recorded())) as tensor:
            (buffer,) = tensor.buffers
            with buffer.waiting() as event:
                for stream in (self.consumer, self.other):
                    self.device.stream_wait_event(stream, event.sync_handle)
            for stream in (self.consumer, self.other):
                self.assertEqual(self.device.stream_read(stream, buffer.info.data), Violation.OK)
        self.in_order()

    def test_consumer_stream_the_dependency_is_issued_before_the_handoff_returns(self):
        with request(Source(self), StreamPayload(self.consumer, self.device.TAG)) as tensor:
            self.wait_and_read(tensor)
        self.in_order("write memory 1 on producer", "wait consumer for producer", "handoff begins memory 1 mode 2 consumer",
                      "handoff returned memory 1 mode 2 consumer", "read memory 1 on consumer", "release memory 1")

    def test_consumer_stream_another_stream_accesses_only_after_a_wait(self):
        with request(Source(self), StreamPayload(self.consumer, self.device.TAG)) as tensor:
            self.wait_and_read(tensor, self.consumer)
            self.wait_and_read(tensor, self.other)
        self.in_order("write memory 1 on producer", "wait consumer for producer", "handoff begins memory 1 mode 2 consumer",
                      "handoff returned memory 1 mode 2 consumer", "read memory 1 on consumer", "wait other for consumer",
                      "read memory 1 on other", "release memory 1")

    def test_a_request_without_a_stream_is_synced_by_the_producer(self):
        with request(Source(self)) as tensor:
            self.assertEqual(tensor.buffers[0].handle.sync_mode, SyncMode.PRODUCER_SYNCED)
            self.wait_and_read(tensor)
        self.in_order()

    def test_two_requests_of_one_producer_are_each_ordered_on_their_own_stream(self):
        with Producer.of(Source(self)) as producer:
            for stream in (self.consumer, self.other):
                with producer.request(StreamPayload(stream, self.device.TAG)) as tensor:
                    self.assertEqual(tensor.buffers[0].consumer_stream.consumer_stream, stream)
                    self.wait_and_read(tensor, stream)
        self.in_order()

    def test_a_tensor_of_several_buffers_with_an_event_each(self):
        buffers = [self.hand_off(self.written(), SyncMode.EVENT, self.recorded()) for _ in range(3)]
        parts = BufferList()
        for buffer in buffers:
            parts.append(buffer)
        with parts:
            for buffer in parts:
                with buffer.waiting() as event:
                    self.device.stream_wait_event(self.consumer, event.sync_handle)
                self.device.stream_read(self.consumer, buffer.info.data)
        self.in_order()


class ReleaseTest(DeviceTest):
    """Events and memory come back exactly once, however a buffer ends."""

    def handed_off(self):
        return self.hand_off(self.written(), SyncMode.EVENT, self.recorded())

    def test_every_end_releases_an_event_that_nobody_released(self):
        ends = {
            "buffer": lambda: self.handed_off(),
            "list": lambda: self.pair_of(self.handed_off())[0],
            "tensor": lambda: self.tensor_of(self.handed_off()),
        }
        for name, make in ends.items():
            with self.subTest(name), warnings.catch_warnings():
                warnings.simplefilter("ignore", ResourceWarning)  # the context beside the list
                make().close()
        self.in_order()

    def test_a_forgotten_buffer_releases_its_event_at_once_and_its_memory_where_the_queue_is_drained(self):
        finalizer = []

        def forget():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ResourceWarning)
                self.handed_off()
            finalizer.append(fake_device.current_thread())

        thread = threading.Thread(target=forget)
        thread.start()
        thread.join()
        self.assertEqual((self.device.events_outstanding(), self.device.memory_outstanding()), (0, 1))
        self.assertEqual(hurray.drain(), 1)
        self.in_order()
        self.assertNotEqual(finalizer, [fake_device.current_thread()])

    def test_a_second_release_is_a_typed_error_and_does_not_reach_the_device(self):
        memory, event = self.written(), self.recorded()
        with self.hand_off(memory, SyncMode.EVENT, event) as buffer:
            buffer.release_event()
            with self.assertRaises(hurray.HurrayError) as caught:
                buffer.release_event()
            self.assertEqual(caught.exception.name, "INVALID_HANDLE")
        self.assertEqual(self.device.event_release_count(event), 1)
        # Nobody waited, and nobody accessed: that is in order.
        self.in_order()

    def test_shares_keep_the_memory_and_carry_no_event(self):
        memory, event = self.written(), self.recorded()
        buffer = self.hand_off(memory, SyncMode.EVENT, event)
        with buffer.waiting() as waited:
            self.device.stream_wait_event(self.consumer, waited.sync_handle)
        share = buffer.share()
        buffer.close()
        self.assertEqual(self.device.memory_release_count(memory), 0)
        self.assertEqual(self.device.stream_read(self.consumer, share.info.data), Violation.OK)
        share.close()
        self.in_order()

    def test_a_release_runs_on_the_thread_that_ends_the_last_handle(self):
        memory = self.written()
        self.device.host_wait_stream(self.producer)
        buffer = self.hand_off(memory, SyncMode.PRODUCER_SYNCED)
        ids = []

        def close():
            ids.append(fake_device.current_thread())
            buffer.close()

        thread = threading.Thread(target=close)
        thread.start()
        thread.join()
        self.assertEqual([self.device.memory_release_thread(memory)], ids)
        self.in_order()

    def test_nothing_comes_back_to_a_device_that_is_gone(self):
        before = fake_device.stray_calls()
        self.handed_off().close()
        self.in_order()
        self.assertEqual(fake_device.stray_calls(), before)


class CrossCheckTest(DeviceTest):
    """ABI Cross-Check, seen from the device: a handoff that is refused moves nothing."""

    def refusals(self, event, stream):
        """mode, device, event payload, stream payload -> the code."""
        tag = self.device.TAG
        good_event, good_stream = EventPayload(event, self.device.event_release, tag), StreamPayload(stream, tag)
        synced, by_event, by_stream = SyncMode
        yield synced, tag, good_event, None, "SYNC_MODE_MISMATCH"
        yield synced, tag, None, good_stream, "SYNC_MODE_MISMATCH"
        yield by_event, tag, None, None, "SYNC_MODE_MISMATCH"
        yield by_event, tag, good_event._replace(sync_handle=0), None, "SYNC_MODE_MISMATCH"
        yield by_event, tag, good_event._replace(event_release=None), None, "SYNC_MODE_MISMATCH"
        yield by_event, tag, good_event._replace(sync_handle_device_tag=tag + 1), None, "SYNC_MODE_MISMATCH"
        yield by_event, tag, None, good_stream, "SYNC_MODE_MISMATCH"
        yield by_event, tag, good_event, good_stream, "SYNC_MODE_MISMATCH"
        yield by_stream, tag, None, None, "SYNC_MODE_MISMATCH"
        yield by_stream, tag, None, good_stream._replace(consumer_stream=0), "SYNC_MODE_MISMATCH"
        yield by_stream, tag, None, good_stream._replace(consumer_stream_device_tag=tag + 1), "SYNC_MODE_MISMATCH"
        yield by_stream, tag, good_event, None, "SYNC_MODE_MISMATCH"
        yield by_stream, tag, good_event, good_stream, "SYNC_MODE_MISMATCH"
        for mode in range(0x03, 0x100):  # reserved, and 0xFF, which is invalid
            for payloads in ((None, None), (good_event, None), (None, good_stream)):
                yield mode, tag, *payloads, "INVALID_SYNC_MODE"
        yield by_event, hurray.Device.CPU, good_event, None, "INVALID_SYNC_MODE"
        yield by_stream, hurray.Device.CPU, None, good_stream, "INVALID_SYNC_MODE"

    def test_every_row_is_refused_before_a_buffer_is_made_and_nothing_moves(self):
        memory, event = self.written(), self.recorded()
        rows = 0
        for mode, tag, event_payload, stream_payload, code in self.refusals(event, self.consumer):
            with self.subTest((mode, tag)), self.assertRaises(hurray.HurrayError) as caught:
                hurray.Buffer.handoff(BufferHandle(SIZE, 64, tag, mode), memory, release=self.device.memory_release,
                                      event=event_payload, stream=stream_payload)
            self.assertEqual(caught.exception.name, code)
            rows += 1
        self.assertEqual(rows, 13 + 253 * 3 + 2)
        self.assertEqual((self.device.memory_release_count(memory), self.device.event_release_count(event)), (0, 0))
        self.assertEqual(hurray.live_handles(), self.handles)
        # Both are still good for the handoff that is right.
        self.hand_off(memory, SyncMode.EVENT, event).close()
        self.in_order()

    def test_the_three_rows_that_are_right(self):
        self.hand_off(self.written(), SyncMode.EVENT, self.recorded()).close()
        memory = self.written()
        self.device.stream_wait_stream(self.consumer, self.producer)
        self.hand_off(memory, SyncMode.CONSUMER_STREAM, self.consumer).close()
        memory = self.written()
        self.device.host_wait_stream(self.producer)
        self.hand_off(memory, SyncMode.PRODUCER_SYNCED).close()
        self.in_order()

    def test_a_tensor_of_the_device_gives_no_host_view(self):
        with self.tensor_of(self.hand_off(self.written(), SyncMode.EVENT, self.recorded())) as tensor:
            for view in (tensor.memoryview, tensor.numpy, tensor.raw, tensor.raw_bytes, tensor.copy):
                with self.assertRaises(hurray.HurrayError) as caught:
                    view()
                self.assertEqual(caught.exception.name, "UNSUPPORTED")
        self.in_order()


class ViolationTest(DeviceTest):
    """Each MUST, broken by a producer or consumer in Python: the driver names it."""

    named_kinds: set[Violation] = set()
    ran = 0

    def tearDown(self):
        super().tearDown()
        type(self).ran += 1

    @classmethod
    def tearDownClass(cls):
        tests = unittest.defaultTestLoader.getTestCaseNames(cls)
        if cls.ran == len(tests) and cls.named_kinds != set(Violation) - {Violation.OK}:
            raise AssertionError(f"never provoked: {set(Violation) - {Violation.OK} - cls.named_kinds}")

    def caught(self, *kinds):
        """The driver named exactly these violations, in this order."""
        self.device.finish()
        self.assertEqual(self.device.violations, list(kinds))
        self.named(*kinds)

    def named(self, *kinds):
        """The driver named these, and no others; forgets them."""
        self.assertEqual(set(self.device.violations), set(kinds))
        for index in range(self.device.violation_count()):
            self.assertTrue(self.device.message(index))
        self.named_kinds.update(kinds)
        self.device.violations_clear()

    def test_unordered_read_the_consumer_does_not_wait_for_the_event(self):
        with self.tensor_of(self.hand_off(self.written(), SyncMode.EVENT, self.recorded())) as tensor:
            self.device.stream_read(self.consumer, tensor.buffers[0].info.data)
        self.caught(Violation.UNORDERED_READ)

    def test_unordered_read_on_a_stream_that_did_not_wait_for_the_event(self):
        with self.tensor_of(self.hand_off(self.written(), SyncMode.EVENT, self.recorded())) as tensor:
            self.wait_and_read(tensor, self.consumer)
            self.device.stream_read(self.other, tensor.buffers[0].info.data)
        self.caught(Violation.UNORDERED_READ)

    def test_unordered_read_on_another_stream_than_the_consumers(self):
        with request(Source(self), StreamPayload(self.consumer, self.device.TAG)) as tensor:
            self.device.stream_read(self.other, tensor.buffers[0].info.data)
        self.caught(Violation.UNORDERED_READ)

    def test_unordered_write_the_consumer_writes_without_waiting(self):
        with self.tensor_of(self.hand_off(self.written(), SyncMode.EVENT, self.recorded())) as tensor:
            self.device.stream_write(self.consumer, tensor.buffers[0].info.data)
        self.caught(Violation.UNORDERED_WRITE)

    def test_wait_unrecorded_and_recorded_late_the_producer_defers_the_record(self):
        memory, event = self.written(), self.device.event_new()
        with self.tensor_of(self.hand_off(memory, SyncMode.EVENT, event)) as tensor:
            with tensor.buffers[0].waiting() as waited:
                self.device.stream_wait_event(self.consumer, waited.sync_handle)
                self.device.event_record(event, self.producer)
        self.named(Violation.HANDOFF_EVENT_UNRECORDED, Violation.WAIT_UNRECORDED, Violation.EVENT_RECORDED_LATE)

    def test_handoff_unsynced_the_host_did_not_wait(self):
        self.hand_off(self.written(), SyncMode.PRODUCER_SYNCED).close()
        self.named(Violation.HANDOFF_UNSYNCED)

    def test_handoff_event_unrecorded(self):
        self.hand_off(self.written(), SyncMode.EVENT, self.device.event_new()).close()
        self.named(Violation.HANDOFF_EVENT_UNRECORDED)

    def test_handoff_event_misses_write_recorded_on_another_stream_or_before_the_write(self):
        self.hand_off(self.written(), SyncMode.EVENT, self.recorded(self.other)).close()
        self.named(Violation.HANDOFF_EVENT_MISSES_WRITE)
        event = self.recorded()
        self.hand_off(self.written(), SyncMode.EVENT, event).close()
        self.named(Violation.HANDOFF_EVENT_MISSES_WRITE)

    def test_handoff_no_dependency_the_producer_does_not_order_its_stream(self):
        with request(Source(self, order=False), StreamPayload(self.consumer, self.device.TAG)) as tensor:
            self.device.stream_read(self.consumer, tensor.buffers[0].info.data)
        self.caught(Violation.HANDOFF_NO_DEPENDENCY, Violation.UNORDERED_READ)

    def test_event_released_twice_by_somebody_who_goes_around_the_buffer(self):
        memory, event = self.written(), self.recorded()
        with self.hand_off(memory, SyncMode.EVENT, event) as buffer:
            buffer.release_event()
            self.device.event_release(event)
        self.caught(Violation.EVENT_RELEASED_TWICE)

    def test_event_and_memory_never_released_as_long_as_the_buffer_lives(self):
        with self.hand_off(self.written(), SyncMode.EVENT, self.recorded()):
            self.caught(Violation.EVENT_NEVER_RELEASED, Violation.MEMORY_NEVER_RELEASED)

    def test_event_used_after_release_the_wait_comes_too_late(self):
        with self.tensor_of(self.hand_off(self.written(), SyncMode.EVENT, self.recorded())) as tensor:
            (buffer,) = tensor.buffers
            event = buffer.event
            buffer.release_event()
            self.device.stream_wait_event(self.consumer, event.sync_handle)
        self.named(Violation.EVENT_USED_AFTER_RELEASE)

    def test_memory_released_twice(self):
        memory = self.written()
        self.device.host_wait_stream(self.producer)
        self.hand_off(memory, SyncMode.PRODUCER_SYNCED).close()
        self.device.memory_release(memory)
        self.caught(Violation.MEMORY_RELEASED_TWICE)

    def test_memory_used_after_release_the_consumer_kept_the_address(self):
        memory = self.written()
        self.device.host_wait_stream(self.producer)
        with self.tensor_of(self.hand_off(memory, SyncMode.PRODUCER_SYNCED)) as tensor:
            address = tensor.buffers[0].info.data
        self.device.stream_read(self.consumer, address)
        self.named(Violation.MEMORY_USED_AFTER_RELEASE)

    def test_unknown_handle_an_event_that_is_not_the_devices(self):
        with self.tensor_of(hurray.Buffer.handoff(BufferHandle(SIZE, 64, self.device.TAG, SyncMode.EVENT), self.written(),
                                                  event=EventPayload(0xBAD, lambda event: None, self.device.TAG))) as tensor:
            with tensor.buffers[0].waiting() as event:
                self.device.stream_wait_event(self.consumer, event.sync_handle)
        self.named(Violation.UNKNOWN_HANDLE)

    def test_handoff_unpaired_the_producer_marks_a_handoff_that_it_never_began(self):
        memory, event = self.written(), self.recorded()
        self.device.handoff_returned(memory, SyncMode.EVENT, event)
        self.named(Violation.HANDOFF_UNPAIRED)

    def test_handoff_bad_mode_an_event_handoff_without_an_event(self):
        with self.assertRaises(hurray.HurrayError):
            self.hand_off(self.written(), SyncMode.EVENT, None)
        self.named(Violation.HANDOFF_BAD_MODE, Violation.HANDOFF_UNPAIRED)

    def test_released_by_failed_handoff_the_producer_releases_though_nothing_moved(self):
        memory, event = self.written(), self.recorded()
        self.device.handoff_begin(memory, SyncMode.EVENT, event)
        with self.assertRaises(hurray.HurrayError):
            hurray.Buffer.handoff(BufferHandle(SIZE, 64, self.device.TAG, SyncMode.EVENT), memory,
                                  release=self.device.memory_release)
        self.device.memory_release(memory)
        self.device.handoff_failed(memory, SyncMode.EVENT, event)
        self.named(Violation.RELEASED_BY_FAILED_HANDOFF)


class NamesTest(unittest.TestCase):
    def test_the_kinds_are_the_drivers(self):
        for kind in Violation:
            self.assertEqual(fake_device.violation_name(kind), kind.name)
        self.assertEqual(fake_device.violation_name(len(Violation)), "?")


if __name__ == "__main__":
    unittest.main()
