package dev.hurray;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A failure at every step of import and export: what was lent comes back once, and no handle is left. */
class ImportFailuresTest extends Baseline {
    private static final Descriptor FLOATS =
            Descriptor.builder(ElementType.FLOAT32, Layout.ROW_MAJOR, 4).addBuffer(BufferHandle.host(16)).build();

    /** What a pair is made of; each step spoils one thing of it. */
    private static final class Pair {
        byte[] descriptor = FLOATS.encode();
        int size = 16;
        int buffers = 1;
        int version = Hurray.ABI_VERSION;
        DecodeOptions options = DecodeOptions.DEFAULT;
        boolean closedContext;
        boolean closedList;
    }

    private interface Step {
        void spoil(Pair pair);
    }

    private static List<Step> steps() {
        List<Step> steps = new ArrayList<>();
        steps.add(pair -> pair.version = Hurray.ABI_VERSION - 1);
        steps.add(pair -> pair.version = Hurray.ABI_VERSION + 1);
        steps.add(pair -> pair.buffers = 0);
        steps.add(pair -> pair.buffers = 2);
        steps.add(pair -> pair.size = 15);
        steps.add(pair -> pair.options = DecodeOptions.DEFAULT.withMaxLength(20));
        steps.add(pair -> pair.closedContext = true);
        steps.add(pair -> pair.closedList = true);
        // A descriptor that ends at each of its bytes.
        for (int length = 0; length < FLOATS.encodedLength(); ++length) {
            int end = length;
            steps.add(pair -> pair.descriptor = Arrays.copyOf(pair.descriptor, end));
        }
        return steps;
    }

    @Test
    void aFailureAtAnyStepOfAnImportReleasesOnceAndLeavesNoHandle() {
        int number = 0;
        for (Step step : steps()) {
            LiveHandles before = Hurray.liveHandles(HandleKind.ANY);
            AtomicInteger released = new AtomicInteger();
            AtomicInteger ended = new AtomicInteger();
            Pair pair = new Pair();
            step.spoil(pair);
            BufferList list = BufferList.create();
            for (int i = 0; i < pair.buffers; ++i) {
                list.push(TensorBuffer.wrap(Memory.at(0, pair.size), released::incrementAndGet).buffer());
            }
            TensorContext context = TensorContext.create(pair.version, pair.descriptor, ended::incrementAndGet);
            if (pair.closedContext) {
                context.close();
            }
            if (pair.closedList) {
                list.close();
            }
            String where = "step " + number++;
            assertThrows(RuntimeException.class, () -> Tensor.importFrom(list, context, pair.options), where);
            assertEquals(pair.closedContext, context.isClosed(), where + ": the context stays the caller's");
            assertEquals(pair.closedList, list.isClosed(), where + ": the list stays the caller's");
            assertEquals(pair.closedList ? pair.buffers : 0, released.get(), where);
            list.close();
            context.close();
            assertEquals(pair.buffers, released.get(), where);
            assertEquals(1, ended.get(), where);
            assertEquals(before, Hurray.liveHandles(HandleKind.ANY), where);
        }
    }

    @Test
    void aPairThatFailedCanBeImportedOnceItIsRight() {
        AtomicInteger released = new AtomicInteger();
        BufferList list = BufferList.create();
        TensorContext context = TensorContext.create(FLOATS.encode(), null);
        assertThrows(HurrayException.class, () -> Tensor.importFrom(list, context));
        list.push(TensorBuffer.wrap(Memory.at(0, 16), released::incrementAndGet).buffer());
        Tensor.importFrom(list, context).close();
        assertEquals(1, released.get());
    }

    @Test
    void aFailureAtAnyStepOfAnExportReleasesOnceAndLeavesNoHandle() {
        // With an event, which shares do not carry: the export fails half way.
        AtomicInteger released = new AtomicInteger();
        AtomicInteger events = new AtomicInteger();
        ByteBuffer memory = Memory.at(0, 16);
        TensorBuffer buffer =
                Handoff.of(BufferHandle.of(Device.CUDA, SyncMode.EVENT, 16), NativeMemory.address(memory))
                        .event(new DeviceEvent(1, Device.CUDA), event -> events.incrementAndGet())
                        .onRelease(released::incrementAndGet)
                        .handOff();
        Descriptor what =
                Descriptor.builder(ElementType.FLOAT32, Layout.ROW_MAJOR, 4)
                        .addBuffer(BufferHandle.of(Device.CUDA, SyncMode.EVENT, 16))
                        .build();
        BufferList list = BufferList.create();
        list.push(buffer);
        Tensor tensor = Tensor.of(what, list);
        LiveHandles before = Hurray.liveHandles(HandleKind.ANY);
        for (int i = 0; i < 3; ++i) {
            Failures.expect(StatusCode.SYNC_MODE_MISMATCH, tensor::export);
            assertEquals(before, Hurray.liveHandles(HandleKind.ANY));
            assertEquals(0, released.get() + events.get());
        }
        assertFalse(tensor.isClosed());
        tensor.close();
        assertEquals(1, released.get());
        assertEquals(1, events.get());
        Failures.expectClosed(tensor::export);
    }

    @Test
    void whatIsExportedAndDroppedHalfWayIsReleasedOnce() {
        AtomicInteger released = new AtomicInteger();
        try (Tensor tensor = Tensor.wrap(DenseSpec.rowMajor(ElementType.FLOAT32, 4), Memory.at(0, 16), released::incrementAndGet)) {
            try (TensorExport pair = tensor.export()) {
                // One half went to somebody who fails: who ends it as it is.
                BufferList.fromAddress(pair.list().releaseAddress()).close();
            }
            assertEquals(0, released.get());
        }
        assertEquals(1, released.get());
    }
}
