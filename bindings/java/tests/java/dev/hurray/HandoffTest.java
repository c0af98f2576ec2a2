package dev.hurray;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.hurray.Memory.Counter;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Handoffs, with Java as producer and as consumer, before a device that judges the order of every step. */
class HandoffTest extends Baseline {
    private static final int SIZE = 24;
    private static final int CUDA = Device.CUDA.value();

    private FakeDevice device;
    private long producing;
    private long consuming;
    private long other;
    private long memory;

    @BeforeEach
    void makeDevice() {
        device = new FakeDevice();
        producing = device.newStream("producing");
        consuming = device.newStream("consuming");
        other = device.newStream("other");
        memory = device.newMemory(SIZE);
    }

    @AfterEach
    void endDevice() {
        device.close();
        assertEquals(0, FakeDevice.strayCalls());
    }

    private static BufferHandle handle(SyncMode mode) {
        return new BufferHandle(SIZE, 64, CUDA, mode.value(), MemoryClass.STANDARD.value());
    }

    /** Two by three float32 elements in one such buffer. */
    private static Descriptor descriptor(SyncMode mode) {
        return Descriptor.builder(ElementType.FLOAT32, Layout.ROW_MAJOR, 2, 3).addBuffer(handle(mode)).build();
    }

    private Handoff handoff(SyncMode mode) {
        long lent = memory;
        return Handoff.of(handle(mode), lent).onRelease(() -> device.releaseMemory(lent));
    }

    /** Hands the memory off under the device's eyes. */
    private TensorBuffer handOff(SyncMode mode, long eventOrStream, Handoff handoff) {
        device.handoffBegins(memory, mode, eventOrStream);
        TensorBuffer buffer = handoff.handOff();
        device.handoffReturned(memory, mode, eventOrStream);
        return buffer;
    }

    private TensorBuffer handOffSynced() {
        return handOff(SyncMode.PRODUCER_SYNCED, 0, handoff(SyncMode.PRODUCER_SYNCED));
    }

    private TensorBuffer handOffEvent(long event) {
        return handOff(SyncMode.EVENT, event, handoff(SyncMode.EVENT).event(new DeviceEvent(event, CUDA), device::releaseEvent));
    }

    private TensorBuffer handOffWritten(long event) {
        ok(device.write(producing, memory));
        ok(device.record(event, producing));
        return handOffEvent(event);
    }

    private static void ok(String judgement) {
        assertEquals("OK", judgement);
    }

    /** Everything was in order and nothing is owed. */
    private void expectOrder() {
        ok(device.finish());
        assertEquals(0, device.violations(), device.log());
    }

    /** The device has caught exactly this. */
    private void expectCaught(String violation) {
        assertTrue(device.violations(violation) >= 1, device.log());
        assertEquals(device.violations(), device.violations(violation), device.log());
    }

    // --- PRODUCER_SYNCED --------------------------------------------------------------------------------------------------------

    @Test
    void producerSyncedTheHostWaitsBeforeTheHandoff() {
        ok(device.write(producing, memory));
        ok(device.hostWait(producing));
        try (TensorBuffer buffer = handOffSynced()) {
            assertEquals(handle(SyncMode.PRODUCER_SYNCED), buffer.handle());
            ok(device.read(consuming, memory));
            Failures.expect(StatusCode.SYNC_MODE_MISMATCH, buffer::event);
            Failures.expect(StatusCode.SYNC_MODE_MISMATCH, buffer::releaseEvent);
            Failures.expect(StatusCode.SYNC_MODE_MISMATCH, buffer::stream);
            assertEquals(0, device.memoryReleases(memory));
        }
        assertEquals(1, device.memoryReleases(memory));
        expectOrder();
    }

    @Test
    void producerSyncedAMissingWaitOfTheHostIsCaught() {
        ok(device.write(producing, memory));
        handOffSynced().close();
        expectCaught("HANDOFF_UNSYNCED");
    }

    // --- EVENT ------------------------------------------------------------------------------------------------------------------

    @Test
    void eventIsRecordedBeforeTheHandoffAndWaitedForBeforeTheAccessAndReleasedExactlyOnce() {
        long event = device.newEvent();
        try (TensorBuffer buffer = handOffWritten(event)) {
            DeviceEvent toWaitFor = buffer.event();
            assertEquals(new DeviceEvent(event, CUDA), toWaitFor);
            assertEquals(Device.CUDA, toWaitFor.device());
            Failures.expect(StatusCode.SYNC_MODE_MISMATCH, buffer::stream);
            ok(device.waitForEvent(consuming, toWaitFor.address()));
            ok(device.waitForEvent(other, toWaitFor.address()));
            buffer.releaseEvent();
            assertEquals(1, device.eventReleases(event));
            ok(device.read(consuming, memory));
            ok(device.write(consuming, memory));
        }
        assertEquals(1, device.eventReleases(event));
        assertEquals(1, device.memoryReleases(memory));
        expectOrder();
        assertEquals(
                String.join(
                        "\n",
                        "write memory 1 on producing",
                        "record event 1 on producing",
                        "handoff begins memory 1 mode 1 event 1",
                        "handoff returned memory 1 mode 1 event 1",
                        "wait consuming for event 1",
                        "wait other for event 1",
                        "release event 1",
                        "read memory 1 on consuming",
                        "write memory 1 on consuming",
                        "release memory 1",
                        ""),
                device.log());
    }

    @Test
    void eventTheSecondReleaseIsATypedErrorAndReachesNobody() {
        long event = device.newEvent();
        try (TensorBuffer buffer = handOffWritten(event)) {
            buffer.releaseEvent();
            Failures.expect(StatusCode.INVALID_HANDLE, buffer::releaseEvent);
            Failures.expect(StatusCode.INVALID_HANDLE, buffer::event);
            assertEquals(1, device.eventReleases(event));
        }
        expectOrder();
        // The device would notice.
        device.releaseEvent(event);
        expectCaught("EVENT_RELEASED_TWICE");
    }

    @Test
    void eventRecordedTooEarlyOrTooLateOrNeverIsCaught() {
        long event = device.newEvent();
        ok(device.write(producing, memory));
        TensorBuffer unrecorded = handOffEvent(event);
        device.record(event, producing);
        assertEquals(1, device.violations("HANDOFF_EVENT_UNRECORDED"), device.log());
        assertEquals(1, device.violations("EVENT_RECORDED_LATE"), device.log());
        unrecorded.close();
        device.forgetViolations();

        memory = device.newMemory(SIZE);
        long early = device.newEvent();
        ok(device.record(early, producing));
        ok(device.write(producing, memory));
        handOffEvent(early).close();
        expectCaught("HANDOFF_EVENT_MISSES_WRITE");
    }

    @Test
    void eventAnAccessOnAStreamThatHasNotWaitedIsCaught() {
        long event = device.newEvent();
        try (TensorBuffer buffer = handOffWritten(event)) {
            ok(device.waitForEvent(consuming, buffer.event().address()));
            ok(device.read(consuming, memory));
            assertEquals("UNORDERED_READ", device.read(other, memory));
            expectCaught("UNORDERED_READ");
            device.forgetViolations();
            ok(device.waitForEvent(other, buffer.event().address()));
            ok(device.read(other, memory));
            buffer.releaseEvent();
            assertEquals("EVENT_USED_AFTER_RELEASE", device.waitForEvent(other, event));
        }
    }

    @Test
    void eventOfABufferThatEndsWithoutItsReleaseIsReleasedOnce() {
        long event = device.newEvent();
        handOffWritten(event).close();
        assertEquals(1, device.eventReleases(event));
        assertEquals(1, device.memoryReleases(memory));
        assertEquals(FakeDevice.currentThread(), device.eventReleaseThread(event));
        assertEquals(FakeDevice.currentThread(), device.memoryReleaseThread(memory));
        expectOrder();
    }

    @Test
    void eventAndMemoryOfAForgottenBufferAreReleasedOnceAndOnlyTheEventOnTheCollectorsThread() throws InterruptedException {
        long event = device.newEvent();
        AtomicLong collector = new AtomicLong();
        Releases.onUnreachable(new Object(), () -> collector.set(FakeDevice.currentThread()));
        forget(event);
        // What nobody has closed yet is owed.
        device.finish();
        assertEquals(1, device.violations("EVENT_NEVER_RELEASED"), device.log());
        assertEquals(1, device.violations("MEMORY_NEVER_RELEASED"), device.log());
        device.forgetViolations();
        collectOnlyUntil(
                "buffer",
                () ->
                        device.eventReleases(event) != 0
                                && Hurray.pendingReleases() + device.memoryReleases(memory) != 0
                                && collector.get() != 0);
        assertEquals(0, device.memoryReleases(memory));
        assertEquals(collector.get(), device.eventReleaseThread(event));
        Hurray.drainReleases();
        assertEquals(1, device.eventReleases(event));
        assertEquals(1, device.memoryReleases(memory));
        assertEquals(FakeDevice.currentThread(), device.memoryReleaseThread(memory));
        assertNotEquals(collector.get(), device.memoryReleaseThread(memory));
        expectOrder();
    }

    private void forget(long event) {
        handOffWritten(event);
    }

    @Test
    void eventTravelsInAListAndATensorAndNotInTheirShares() {
        long event = device.newEvent();
        BufferList list = BufferList.create();
        list.push(handOffWritten(event));
        assertEquals(new DeviceEvent(event, CUDA), list.event(0));
        try (TensorBuffer share = list.share(0)) {
            Failures.expect(StatusCode.SYNC_MODE_MISMATCH, share::event);
            Failures.expect(StatusCode.SYNC_MODE_MISMATCH, share::releaseEvent);
        }
        Failures.expect(StatusCode.INDEX_OUT_OF_BOUNDS, () -> list.event(1));
        try (Tensor tensor = Tensor.importFrom(list, TensorContext.create(descriptor(SyncMode.EVENT).encode(), null))) {
            assertEquals(SyncMode.EVENT, tensor.descriptor().buffers().get(0).syncMode());
            ok(device.waitForEvent(consuming, tensor.event(0).address()));
            tensor.releaseEvent(0);
            Failures.expect(StatusCode.INVALID_HANDLE, () -> tensor.releaseEvent(0));
            Failures.expect(StatusCode.INVALID_HANDLE, () -> tensor.event(0));
            Failures.expect(StatusCode.INDEX_OUT_OF_BOUNDS, () -> tensor.releaseEvent(1));
            ok(device.read(consuming, memory));
            Failures.expect(StatusCode.SYNC_MODE_MISMATCH, tensor::export);
            try (TensorBuffer share = tensor.buffer(0)) {
                Failures.expect(StatusCode.SYNC_MODE_MISMATCH, share::event);
            }
        }
        assertEquals(1, device.eventReleases(event));
        assertEquals(1, device.memoryReleases(memory));
        expectOrder();
    }

    @Test
    void eventReleasedThroughAListIsReleasedOnce() {
        long event = device.newEvent();
        try (BufferList list = BufferList.create()) {
            list.push(handOffWritten(event));
            list.releaseEvent(0);
            Failures.expect(StatusCode.INVALID_HANDLE, () -> list.releaseEvent(0));
        }
        expectOrder();
    }

    @Test
    void eventReleaseThatThrowsHarmsNobody() {
        long event = device.newEvent();
        Counter released = new Counter();
        LongConsumer throwing =
                address -> {
                    assertEquals(event, address);
                    released.run();
                    throw new IllegalStateException("on purpose");
                };
        TensorBuffer buffer = handoff(SyncMode.EVENT).event(new DeviceEvent(event, CUDA), throwing).handOff();
        buffer.releaseEvent();
        buffer.close();
        assertEquals(1, released.count());
        assertEquals(Thread.currentThread(), released.thread);
        assertEquals(1, device.memoryReleases(memory));
    }

    // --- CONSUMER_STREAM --------------------------------------------------------------------------------------------------------

    /** A producer that writes the memory, and does or forgets what it owes the consumer's stream. */
    private Producer streamProducer(boolean ordered) {
        return Producer.of(
                stream -> {
                    ok(device.write(producing, memory));
                    device.handoffBegins(memory, SyncMode.CONSUMER_STREAM, stream.address());
                    if (ordered) {
                        ok(device.waitForStream(stream.address(), producing));
                    }
                    return pairOf(handoff(SyncMode.CONSUMER_STREAM).stream(stream).handOff(), SyncMode.CONSUMER_STREAM);
                },
                null);
    }

    private static TensorExport pairOf(TensorBuffer buffer, SyncMode mode) {
        BufferList list = BufferList.create();
        list.push(buffer);
        return new TensorExport(list, TensorContext.create(descriptor(mode).encode(), null));
    }

    @Test
    void consumerStreamTheDependencyIsIssuedBeforeTheHandoffReturnsAndOtherStreamsWait() {
        DeviceStream stream = new DeviceStream(consuming, CUDA);
        try (Producer producer = streamProducer(true);
                Tensor tensor = producer.request(stream)) {
            ok(device.handoffReturned(memory, SyncMode.CONSUMER_STREAM, consuming));
            assertEquals(stream, tensor.stream(0));
            assertEquals(Device.CUDA, stream.device());
            Failures.expect(StatusCode.SYNC_MODE_MISMATCH, () -> tensor.event(0));
            Failures.expect(StatusCode.SYNC_MODE_MISMATCH, () -> tensor.releaseEvent(0));
            Failures.expect(StatusCode.SYNC_MODE_MISMATCH, tensor::export);
            try (TensorBuffer share = tensor.buffer(0)) {
                Failures.expect(StatusCode.SYNC_MODE_MISMATCH, share::stream);
            }
            ok(device.read(tensor.stream(0).address(), memory));
            assertEquals("UNORDERED_READ", device.read(other, memory));
            expectCaught("UNORDERED_READ");
            device.forgetViolations();
            ok(device.waitForStream(other, tensor.stream(0).address()));
            ok(device.read(other, memory));
        }
        assertEquals(1, device.memoryReleases(memory));
        expectOrder();
    }

    @Test
    void consumerStreamADependencyThatIsMissingWhenTheHandoffReturnsIsCaught() {
        try (Producer producer = streamProducer(false);
                Tensor tensor = producer.request(new DeviceStream(consuming, CUDA))) {
            assertEquals("HANDOFF_NO_DEPENDENCY", device.handoffReturned(memory, SyncMode.CONSUMER_STREAM, consuming));
            expectCaught("HANDOFF_NO_DEPENDENCY");
            device.forgetViolations();
            assertEquals("UNORDERED_READ", device.read(tensor.stream(0).address(), memory));
            device.forgetViolations();
            // Too late for the handoff; the access is in order now.
            ok(device.waitForStream(consuming, producing));
            ok(device.read(consuming, memory));
        }
        expectOrder();
    }

    @Test
    void consumerStreamAnotherStreamThanTheConsumersIsRefusedAndEverythingEnded() {
        for (DeviceStream wrong : new DeviceStream[] {new DeviceStream(other, CUDA), new DeviceStream(consuming, Device.ROCM.value())}) {
            Counter released = new Counter();
            BufferHandle handle = new BufferHandle(SIZE, 64, wrong.deviceTag(), SyncMode.CONSUMER_STREAM.value(), 0);
            Descriptor what = Descriptor.builder(ElementType.FLOAT32, Layout.ROW_MAJOR, 2, 3).addBuffer(handle).build();
            try (Producer producer =
                    Producer.of(
                            stream -> {
                                BufferList list = BufferList.create();
                                list.push(Handoff.of(handle, memory).stream(wrong).onRelease(released).handOff());
                                return new TensorExport(list, TensorContext.create(what.encode(), released));
                            },
                            null)) {
                Failures.expect(StatusCode.SYNC_MODE_MISMATCH, () -> producer.request(new DeviceStream(consuming, CUDA)));
                assertEquals(2, released.count(), "memory and context were ended");
                Failures.expect(StatusCode.SYNC_MODE_MISMATCH, producer::request);
                assertEquals(4, released.count());
            }
        }
    }

    @Test
    void aProducerAnswersWithAnEventOrSyncedWhateverTheStream() {
        long event = device.newEvent();
        try (Producer producer =
                        Producer.of(stream -> pairOf(stream == null ? syncedAndWritten() : handOffWritten(event), mode(stream)), null);
                Tensor withEvent = producer.request(new DeviceStream(consuming, CUDA))) {
            ok(device.waitForEvent(consuming, withEvent.event(0).address()));
            withEvent.releaseEvent(0);
            ok(device.read(consuming, memory));
            memory = device.newMemory(SIZE);
            try (Tensor synced = producer.request()) {
                Failures.expect(StatusCode.SYNC_MODE_MISMATCH, () -> synced.event(0));
                ok(device.read(consuming, memory));
            }
        }
        expectOrder();
    }

    private static SyncMode mode(DeviceStream stream) {
        return stream == null ? SyncMode.PRODUCER_SYNCED : SyncMode.EVENT;
    }

    private TensorBuffer syncedAndWritten() {
        ok(device.write(producing, memory));
        ok(device.hostWait(producing));
        return handOffSynced();
    }

    // --- The cross-check --------------------------------------------------------------------------------------------------------

    /** A payload of the table, and whether it is complete for a buffer of that device. */
    private record EventRow(String name, long event, int deviceTag, boolean hasRelease) {
        boolean isNone() {
            return event == 0 && deviceTag == 0 && !hasRelease;
        }

        boolean fits(int buffersDevice) {
            return event != 0 && hasRelease && deviceTag == buffersDevice;
        }
    }

    private record StreamRow(String name, long stream, int deviceTag) {
        boolean isNone() {
            return stream == 0 && deviceTag == 0;
        }

        boolean fits(int buffersDevice) {
            return stream != 0 && deviceTag == buffersDevice;
        }
    }

    @Test
    void everyCombinationOfModeAndPayloadAndTagsIsCrossChecked() {
        long event = device.newEvent();
        int rocm = Device.ROCM.value();
        EventRow[] events = {
            new EventRow("none", 0, 0, false),
            new EventRow("complete", event, CUDA, true),
            new EventRow("of another device", event, rocm, true),
            new EventRow("of the CPU", event, 0, true),
            new EventRow("without a release", event, CUDA, false),
            new EventRow("without an event", 0, CUDA, true),
            new EventRow("only a release", 0, 0, true),
            new EventRow("only a tag", 0, CUDA, false),
        };
        StreamRow[] streams = {
            new StreamRow("none", 0, 0),
            new StreamRow("complete", consuming, CUDA),
            new StreamRow("of another device", consuming, rocm),
            new StreamRow("of the CPU", consuming, 0),
            new StreamRow("only a tag", 0, CUDA),
        };
        int accepted = 0;
        for (int mode = 0; mode <= 0xFF; ++mode) {
            for (EventRow withEvent : events) {
                for (StreamRow withStream : streams) {
                    accepted += crossCheck(mode, CUDA, withEvent, withStream) ? 1 : 0;
                }
            }
        }
        // One for each mode.
        assertEquals(3, accepted);
    }

    /** Whether the handoff succeeded; both outcomes are checked. */
    private boolean crossCheck(int mode, int deviceTag, EventRow withEvent, StreamRow withStream) {
        String row = "mode " + mode + ", event " + withEvent.name() + ", stream " + withStream.name();
        boolean matches =
                switch (mode) {
                    case 0 -> withEvent.isNone() && withStream.isNone();
                    case 1 -> withEvent.fits(deviceTag) && withStream.isNone();
                    case 2 -> withEvent.isNone() && withStream.fits(deviceTag);
                    default -> false;
                };
        Counter released = new Counter();
        Counter eventReleased = new Counter();
        LiveHandles before = Hurray.liveHandles(HandleKind.ANY);
        Handoff handoff = Handoff.of(new BufferHandle(SIZE, 64, deviceTag, mode, 0), memory).onRelease(released);
        if (!withEvent.name().equals("none")) {
            handoff.event(
                    new DeviceEvent(withEvent.event(), withEvent.deviceTag()), withEvent.hasRelease() ? address -> eventReleased.run() : null);
        }
        if (!withStream.name().equals("none")) {
            handoff.stream(new DeviceStream(withStream.stream(), withStream.deviceTag()));
        }
        if (!matches) {
            HurrayException refused = assertThrows(HurrayException.class, handoff::handOff, row);
            assertEquals(mode > 2 ? StatusCode.INVALID_SYNC_MODE : StatusCode.SYNC_MODE_MISMATCH, refused.code(), row);
            assertTrue(!refused.getMessage().isBlank(), row);
            assertEquals(before, Hurray.liveHandles(HandleKind.ANY), row);
            assertEquals(0, released.count() + eventReleased.count(), row);
            return false;
        }
        handoff.handOff().close();
        assertEquals(1, released.count(), row);
        assertEquals(mode == 1 ? 1 : 0, eventReleased.count(), row);
        assertEquals(before, Hurray.liveHandles(HandleKind.ANY), row);
        return true;
    }

    @Test
    void payloadsThatAreAllZeroAreNone() {
        Counter released = new Counter();
        Handoff.of(handle(SyncMode.PRODUCER_SYNCED), memory)
                .event(new DeviceEvent(0, 0), null)
                .stream(new DeviceStream(0, 0))
                .onRelease(released)
                .handOff()
                .close();
        assertEquals(1, released.count());
    }

    @Test
    void aFailedHandoffMovesNothingAndMayBeRepeatedOnceItIsRight() {
        long event = device.newEvent();
        ok(device.write(producing, memory));
        ok(device.record(event, producing));
        Handoff handoff = handoff(SyncMode.EVENT);
        device.handoffBegins(memory, SyncMode.EVENT, event);
        Failures.expect(StatusCode.SYNC_MODE_MISMATCH, handoff::handOff);
        ok(device.handoffFailed(memory, SyncMode.EVENT, event));
        TensorBuffer buffer = handOff(SyncMode.EVENT, event, handoff.event(new DeviceEvent(event, CUDA), device::releaseEvent));
        assertThrows(IllegalStateException.class, handoff::handOff);
        buffer.close();
        expectOrder();
    }

    @Test
    void aFailedHandoffKeepsNothingReachable() {
        WeakReference<Object> kept = failWith(new Object());
        assertTrue(collectUntil(() -> kept.get() == null));
    }

    private WeakReference<Object> failWith(Object captured) {
        Handoff handoff =
                Handoff.of(handle(SyncMode.EVENT), memory)
                        .onRelease(captured::hashCode)
                        .event(new DeviceEvent(device.newEvent(), Device.ROCM), event -> captured.hashCode());
        Failures.expect(StatusCode.SYNC_MODE_MISMATCH, handoff::handOff);
        return new WeakReference<>(captured);
    }

    @Test
    void whatAHandoffKeepsIsReachableNoLongerThanItIsNeeded() {
        Object captured = new Object();
        WeakReference<Object> kept = new WeakReference<>(captured);
        TensorBuffer buffer =
                Handoff.of(handle(SyncMode.EVENT), memory)
                        .onRelease(captured::hashCode)
                        .event(new DeviceEvent(device.newEvent(), CUDA), captured::equals)
                        .handOff();
        captured = null;
        for (int i = 0; i < 3; ++i) {
            System.gc();
        }
        assertTrue(kept.get() != null);
        buffer.close();
        assertTrue(collectUntil(() -> kept.get() == null));
    }

    @Test
    void handleAndAddressMustFit() {
        Counter released = new Counter();
        Failures.expect(
                StatusCode.NULL_POINTER, () -> Handoff.of(handle(SyncMode.PRODUCER_SYNCED), 0).onRelease(released).handOff());
        Failures.expect(
                StatusCode.MISALIGNED, () -> Handoff.of(handle(SyncMode.PRODUCER_SYNCED), memory + 1).onRelease(released).handOff());
        Failures.expect(
                StatusCode.INVALID_LAYOUT, () -> Handoff.of(new BufferHandle(SIZE, 48, CUDA, 0, 0), memory).onRelease(released).handOff());
        Failures.expect(
                StatusCode.INVALID_TYPE, () -> Handoff.of(new BufferHandle(SIZE, 64, 0x30, 0, 0), memory).onRelease(released).handOff());
        Failures.expect(
                StatusCode.INVALID_TYPE, () -> Handoff.of(new BufferHandle(SIZE, 64, CUDA, 0, 0x30), memory).onRelease(released).handOff());
        Failures.expect(StatusCode.INVALID_ARGUMENT, () -> new DeviceEvent(1, 256));
        Failures.expect(StatusCode.INVALID_ARGUMENT, () -> new DeviceStream(1, -1));
        Failures.expect(StatusCode.INVALID_ARGUMENT, () -> new DeviceEvent(1, Device.UNKNOWN));
        Failures.expect(StatusCode.INVALID_ARGUMENT, () -> new DeviceStream(1, Device.UNKNOWN));
        Failures.expect(StatusCode.INVALID_ARGUMENT, () -> BufferHandle.of(Device.UNKNOWN, SyncMode.EVENT, 1));
        Failures.expect(StatusCode.INVALID_ARGUMENT, () -> BufferHandle.of(Device.CUDA, SyncMode.UNKNOWN, 1));
        assertEquals(Device.UNKNOWN, new DeviceEvent(1, 0xF0).device());
        assertThrows(NullPointerException.class, () -> Handoff.of(null, memory));
        assertEquals(0, released.count());
        Handoff.of(new BufferHandle(0, 64, CUDA, 0, 0), 0).onRelease(released).handOff().close();
        assertEquals(1, released.count());
    }

    // --- Host memory and views --------------------------------------------------------------------------------------------------

    @Test
    void hostMemoryIsHandedOffAndViewed() {
        Counter released = new Counter();
        ByteBuffer bytes = Memory.at(0, SIZE);
        BufferHandle host = BufferHandle.host(SIZE);
        BufferList list = BufferList.create();
        list.push(Handoff.of(host, bytes).onRelease(released).handOff());
        Descriptor what = Descriptor.builder(ElementType.UINT8, Layout.ROW_MAJOR, SIZE).addBuffer(host).build();
        try (Tensor tensor = Tensor.of(what, list)) {
            assertEquals(bytes, tensor.view().bytes());
            tensor.view().bytes().put(3, (byte) 77);
            assertEquals(77, bytes.get(3));
        }
        assertTrue(collectUntil(() -> released.count() == 1));
        Failures.expect(StatusCode.BUFFER_TOO_SMALL, () -> Handoff.of(BufferHandle.host(SIZE + 1), bytes));
        Failures.expect(StatusCode.INVALID_ARGUMENT, () -> Handoff.of(host, ByteBuffer.allocate(SIZE)));
        // Kept reachable without an action of the user, too.
        try (TensorBuffer kept = Handoff.of(host, Memory.at(0, SIZE)).handOff()) {
            for (int i = 0; i < 3; ++i) {
                System.gc();
            }
            assertEquals(Memory.at(0, SIZE), kept.bytes());
        }
    }

    @Test
    void memoryThatNobodyReleasesLivesForEver() {
        try (TensorBuffer buffer = Handoff.of(handle(SyncMode.PRODUCER_SYNCED), memory).handOff();
                TensorBuffer share = buffer.share()) {
            assertEquals(SIZE, share.info().byteSize());
            assertEquals(handle(SyncMode.PRODUCER_SYNCED), share.handle());
        }
        assertEquals(0, device.memoryReleases(memory));
    }

    @Test
    void tensorsOfADeviceHaveNoHostView() {
        for (SyncMode mode : new SyncMode[] {SyncMode.PRODUCER_SYNCED, SyncMode.EVENT, SyncMode.CONSUMER_STREAM}) {
            Counter released = new Counter();
            Handoff handoff = Handoff.of(handle(mode), memory).onRelease(released);
            if (mode == SyncMode.EVENT) {
                handoff.event(new DeviceEvent(device.newEvent(), CUDA), device::releaseEvent);
            } else if (mode == SyncMode.CONSUMER_STREAM) {
                handoff.stream(new DeviceStream(consuming, CUDA));
            }
            BufferList list = BufferList.create();
            list.push(handoff.handOff());
            try (TensorBuffer share = list.share(0)) {
                Failures.expect(StatusCode.UNSUPPORTED, () -> share.bytes(0, 1));
                Failures.expect(StatusCode.UNSUPPORTED, share::bytes);
            }
            try (Tensor tensor = Tensor.of(descriptor(mode), list)) {
                TensorView facts = tensor.view();
                assertEquals(Device.CUDA, facts.device());
                assertEquals(6, facts.elementCount());
                Failures.expect(StatusCode.UNSUPPORTED, facts::bytes);
                Failures.expect(StatusCode.UNSUPPORTED, facts::floats);
                Failures.expect(StatusCode.UNSUPPORTED, () -> facts.bytes(0, 4));
                Failures.expect(StatusCode.UNSUPPORTED, () -> facts.getDouble(1, 2));
                Failures.expect(StatusCode.UNSUPPORTED, () -> tensor.copy(64));
            }
            assertEquals(1, released.count());
        }
    }
}
