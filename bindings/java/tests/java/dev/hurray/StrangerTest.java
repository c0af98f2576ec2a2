package dev.hurray;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.hurray.Memory.Counter;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Handles that our copy of the library did not make: another copy's, which logs what is asked of it, and no handles at all. */
class StrangerTest extends Baseline {
    private static Tensor importFrom(long[] pair) {
        return Tensor.importFrom(BufferList.fromAddress(pair[0]), TensorContext.fromAddress(pair[1]));
    }

    /** Ends the copy once everything that lives in it is ended, and finds nothing that was ended wrongly. */
    private static void end(Spy spy) {
        assertTrue(collectUntil(() -> spy.liveHandles() == 0), spy.liveHandles() + " live handles of the other copy\n" + spy.log());
        assertEquals(0, spy.misuses(), spy.log());
        spy.close();
    }

    private static void expectRefusal(Spy spy, int version) {
        String what = "version " + Integer.toUnsignedString(version);
        long[] pair = spy.pair();
        BufferList list = BufferList.fromAddress(pair[0]);
        TensorContext context = TensorContext.fromAddress(pair[1]);
        VersionMismatchException refused = assertThrows(VersionMismatchException.class, () -> Tensor.importFrom(list, context), what);
        assertEquals(4, refused.expected(), what);
        assertEquals(version & 0xFFFF_FFFFL, refused.found(), what);
        assertThrows(VersionMismatchException.class, context::descriptor, what);
        assertEquals(0, spy.accessorCalls(), what + "\n" + spy.log());
        assertTrue(spy.log().startsWith("tensor_context_abi_version\n"), spy.log());
        assertFalse(list.isClosed());
        assertFalse(context.isClosed());
        assertEquals(version, context.abiVersion());
        list.close();
        context.close();
        assertEquals(0, spy.liveHandles(), spy.log());

        // A producer that hands such a pair out is refused as well, and the pair ended.
        spy.clearLog();
        long[] another = spy.pair();
        try (Producer producer =
                Producer.of(
                        stream -> new TensorExport(BufferList.fromAddress(another[0]), TensorContext.fromAddress(another[1])), null)) {
            Failures.expect(StatusCode.VERSION_MISMATCH, producer::request);
        }
        List<String> asked = new ArrayList<>(List.of(spy.log().split("\n")));
        asked.removeIf(line -> line.startsWith("supports ") || line.equals("tensor_context_abi_version") || line.contains("_destroy"));
        assertEquals(List.of(), asked, what);
        assertEquals(0, spy.liveHandles(), spy.log());
    }

    @Test
    void aContextOfVersion3IsRefusedBeforeAnyOtherAccessor() {
        for (int version : new int[] {1, 2, 3}) {
            Spy spy = new Spy(version);
            // Below version 4 there are no contexts, whatever it vouches for.
            spy.vouch(1, 5);
            expectRefusal(spy, version);
            end(spy);
        }
    }

    @Test
    void aContextOfVersion5FromACopyThatVouchesForNothingIsRefusedBeforeAnyOtherAccessor() {
        for (int version : new int[] {5, 6, Integer.MAX_VALUE, -1}) {
            Spy spy = new Spy(version);
            expectRefusal(spy, version);
            end(spy);
        }
    }

    @Test
    void aContextOfVersion5FromACopyThatVouchesForOneOfTheTwoIsRefused() {
        for (int vouched : new int[] {4, 5}) {
            Spy spy = new Spy(5);
            spy.vouch(vouched, vouched);
            expectRefusal(spy, 5);
            end(spy);
        }
    }

    @Test
    void aTensorOfAnotherCopyIsReadAndEndsInThatCopy() {
        for (int version : new int[] {4, 5}) {
            Spy spy = new Spy(version);
            spy.vouch(4, 5);
            Tensor share;
            try (Tensor tensor = importFrom(spy.pair())) {
                assertTrue(spy.log().startsWith("tensor_context_abi_version\n"), spy.log());
                assertArrayEquals(new long[] {3, 4}, tensor.descriptor().shape());
                for (int i = 0; i < 12; ++i) {
                    assertEquals(i, tensor.view().getDouble(i / 4, i % 4));
                }
                try (TensorBuffer buffer = tensor.buffer(0)) {
                    assertEquals(48, buffer.info().byteSize());
                    assertEquals(11f, buffer.bytes().getFloat(44));
                }
                share = tensor.share();
            }
            assertEquals(5, share.view().getDouble(1, 1));
            // Handed on as the pair, by way of our copy.
            try (TensorExport pair = share.export();
                    Tensor again = Tensor.importFrom(pair.list(), pair.context())) {
                share.close();
                assertEquals(7, again.view().getDouble(1, 3));
            }
            end(spy);
        }
    }

    @Test
    void aListAndAContextOfAnotherCopyAreUsedAsOurs() {
        Spy spy = new Spy(4);
        long[] pair = spy.pair();
        try (BufferList list = BufferList.fromAddress(pair[0]);
                TensorContext context = TensorContext.fromAddress(pair[1])) {
            assertEquals(1, list.size());
            assertEquals(4, context.abiVersion());
            assertEquals(List.of(BufferHandle.host(48)), Descriptor.decode(context.descriptor()).buffers());
            try (TensorBuffer share = list.share(0);
                    TensorBuffer slice = share.slice(0, 16)) {
                assertEquals(48, share.handle().byteSize());
                assertEquals(3f, slice.bytes().getFloat(12));
            }
            Failures.expect(StatusCode.INDEX_OUT_OF_BOUNDS, () -> list.share(1));
        }
        end(spy);
    }

    @Test
    void anEventOfAnotherCopyIsWaitedForAndReleasedOnceThere() {
        try (FakeDevice device = new FakeDevice()) {
            Spy spy = new Spy(4);
            long event = device.newEvent();
            device.record(event, device.newStream("producing"));
            try (Tensor tensor = importFrom(spy.eventPair(event, FakeDevice.eventReleaseFunction(), device.address()))) {
                assertEquals(new DeviceEvent(event, Device.CUDA.value()), tensor.event(0));
                assertEquals("OK", device.waitForEvent(device.newStream("consuming"), tensor.event(0).address()));
                tensor.releaseEvent(0);
                Failures.expect(StatusCode.INVALID_HANDLE, () -> tensor.releaseEvent(0));
                Failures.expect(StatusCode.UNSUPPORTED, () -> tensor.view().bytes());
                assertEquals(1, device.eventReleases(event));
            }
            long forgotten = device.newEvent();
            importFrom(spy.eventPair(forgotten, FakeDevice.eventReleaseFunction(), device.address())).close();
            assertEquals(1, device.eventReleases(forgotten));
            end(spy);
            assertEquals(1, device.eventReleases(event));
            assertEquals(0, device.violations(), device.log());
        }
    }

    @Test
    void aStreamOfAnotherCopyIsToldAndCheckedOnRequest() {
        try (FakeDevice device = new FakeDevice()) {
            Spy spy = new Spy(4);
            DeviceStream stream = new DeviceStream(device.newStream("consuming"), Device.CUDA.value());
            DeviceStream other = new DeviceStream(device.newStream("other"), Device.CUDA.value());
            try (Tensor tensor = importFrom(spy.streamPair(stream.address()))) {
                assertEquals(stream, tensor.stream(0));
            }
            try (Producer producer =
                    Producer.of(
                            ignored -> {
                                long[] pair = spy.streamPair(stream.address());
                                return new TensorExport(BufferList.fromAddress(pair[0]), TensorContext.fromAddress(pair[1]));
                            },
                            null)) {
                try (Tensor tensor = producer.request(stream)) {
                    assertEquals(stream, tensor.stream(0));
                }
                Failures.expect(StatusCode.SYNC_MODE_MISMATCH, () -> producer.request(other));
                Failures.expect(StatusCode.SYNC_MODE_MISMATCH, producer::request);
            }
            end(spy);
        }
    }

    @Test
    void whatTheCollectorFindsOfAnotherCopyEndsInThatCopy() {
        Spy spy = new Spy(4);
        forget(spy);
        assertTrue(collectUntil(() -> spy.liveHandles() == 0), spy.log());
        for (String ended : new String[] {"buffer_list_destroy_deferred", "tensor_context_destroy_deferred"}) {
            assertTrue(spy.log().contains(ended + "\n"), ended + " is not in\n" + spy.log());
        }
        end(spy);
    }

    private static void forget(Spy spy) {
        importFrom(spy.pair()).view();
        long[] pair = spy.pair();
        BufferList.fromAddress(pair[0]);
        TensorContext.fromAddress(pair[1]);
    }

    // --- Strangers --------------------------------------------------------------------------------------------------------------

    @Test
    void aStrangersMagicIsRefusedBeforeAnythingElseOfItIsRead() {
        long foreigner = Spy.newForeigner();
        expectStranger(foreigner, foreigner);
        Spy.freeStranger(foreigner);
    }

    @Test
    void aGenerationThatDoesNotExistIsRefusedBeforeAnythingElseIsRead() {
        long list = Spy.newGeneration(Spy.LIST);
        long context = Spy.newGeneration(Spy.CONTEXT);
        expectStranger(list, context);
        Spy.freeStranger(list);
        Spy.freeStranger(context);
        for (int kind : new int[] {Spy.BUFFER, Spy.TENSOR}) {
            long stranger = Spy.newGeneration(kind);
            expectStranger(stranger, stranger);
            Spy.freeStranger(stranger);
        }
    }

    /** Reading on would kill the process: the page ends there. */
    private static void expectStranger(long listAddress, long contextAddress) {
        Counter released = new Counter();
        BufferList list = BufferList.fromAddress(listAddress);
        TensorContext context = TensorContext.fromAddress(contextAddress);
        Failures.expect(StatusCode.INVALID_HANDLE, list::size);
        Failures.expect(StatusCode.INVALID_HANDLE, () -> list.share(0));
        Failures.expect(StatusCode.INVALID_HANDLE, () -> list.event(0));
        Failures.expect(StatusCode.INVALID_HANDLE, context::abiVersion);
        Failures.expect(StatusCode.INVALID_HANDLE, context::descriptor);
        Failures.expect(StatusCode.INVALID_HANDLE, () -> Tensor.importFrom(list, context));
        try (Tensor tensor = Tensor.wrap(DenseSpec.rowMajor(ElementType.UINT8, 4), Memory.at(0, 4), released);
                TensorExport ours = tensor.export();
                TensorBuffer buffer = tensor.buffer(0)) {
            Failures.expect(StatusCode.INVALID_HANDLE, () -> Tensor.importFrom(list, ours.context()));
            Failures.expect(StatusCode.INVALID_HANDLE, () -> Tensor.importFrom(ours.list(), context));
            Failures.expect(StatusCode.INVALID_HANDLE, () -> Tensor.of(tensor.descriptor(), list));
            Failures.expect(StatusCode.INVALID_HANDLE, () -> list.push(buffer));
            assertFalse(buffer.isClosed());
            assertEquals(1, ours.list().size());
            // Nobody ends what is nobody's.
            try (Producer producer =
                    Producer.of(
                            stream -> new TensorExport(BufferList.fromAddress(listAddress), TensorContext.fromAddress(contextAddress)), null)) {
                Failures.expect(StatusCode.INVALID_HANDLE, producer::request);
            }
        }
        assertEquals(1, released.count());
        for (TensorBuffer stranger : new TensorBuffer[] {new TensorBuffer(listAddress), new TensorBuffer(contextAddress)}) {
            Failures.expect(StatusCode.INVALID_HANDLE, stranger::info);
            Failures.expect(StatusCode.INVALID_HANDLE, stranger::event);
            Failures.expect(StatusCode.INVALID_HANDLE, stranger::close);
        }
        Tensor tensor = new Tensor(listAddress);
        Failures.expect(StatusCode.INVALID_HANDLE, tensor::view);
        Failures.expect(StatusCode.INVALID_HANDLE, tensor::close);
        Failures.expect(StatusCode.INVALID_HANDLE, list::close);
        Failures.expect(StatusCode.INVALID_HANDLE, context::close);
    }
}
