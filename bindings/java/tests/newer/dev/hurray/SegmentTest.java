package dev.hurray;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static java.nio.file.StandardOpenOption.CREATE_NEW;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tensors as memory segments. */
class SegmentTest {
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    @Test
    void theNewerClassIsThere() {
        assertTrue(TensorSegments.available());
    }

    @Test
    void closingRevokesTheSegmentAndReleasesAtOnce() {
        LiveHandles before = Hurray.liveHandles(HandleKind.ANY);
        AtomicInteger released = new AtomicInteger();
        java.nio.ByteBuffer memory = java.nio.ByteBuffer.allocateDirect(64).order(ByteOrder.LITTLE_ENDIAN).putFloat(8, 2.5f);
        Tensor tensor =
                Tensor.wrap(DenseSpec.rowMajor(ElementType.FLOAT32, 3).byteOffset(4), memory, released::incrementAndGet);
        TensorSegments.SegmentView view = TensorSegments.open(tensor);
        tensor.close();
        MemorySegment segment = view.segment();
        assertEquals(12, segment.byteSize());
        assertEquals(2.5f, segment.get(FLOAT, 4));
        segment.set(FLOAT, 0, 7f);
        assertEquals(7f, memory.getFloat(4));
        assertEquals(0, released.get());
        view.close();
        view.close();
        assertEquals(1, released.get());
        assertThrows(IllegalStateException.class, () -> segment.get(FLOAT, 4));
        assertEquals(before, Hurray.liveHandles(HandleKind.ANY));
    }

    @Test
    void readOnlyMemoryIsReadOnly() {
        try (Tensor tensor = Tensor.wrap(DenseSpec.rowMajor(ElementType.FLOAT32, 4).readOnly(), java.nio.ByteBuffer.allocateDirect(16));
                TensorSegments.SegmentView view = TensorSegments.open(tensor)) {
            assertTrue(view.segment().isReadOnly());
        }
    }

    @Test
    void nothingIsAnEmptySegment() {
        try (Tensor tensor = Tensor.allocate(ElementType.FLOAT32, 0);
                TensorSegments.SegmentView view = TensorSegments.open(tensor)) {
            assertEquals(0, view.segment().byteSize());
        }
    }

    @Test
    void segmentsOfAnySizeBecomeTensors(@TempDir Path folder) throws IOException {
        AtomicInteger released = new AtomicInteger();
        try (Arena arena = Arena.ofShared();
                FileChannel file = FileChannel.open(folder.resolve("holes"), CREATE_NEW, READ, WRITE)) {
            long size = (3L << 30) + 64;
            MemorySegment memory = file.map(FileChannel.MapMode.READ_WRITE, 0, size, arena);
            memory.set(ValueLayout.JAVA_BYTE, size - 1, (byte) 42);
            try (Tensor tensor = TensorSegments.wrap(DenseSpec.rowMajor(ElementType.INT8, size), memory, released::incrementAndGet);
                    TensorSegments.SegmentView view = TensorSegments.open(tensor)) {
                assertEquals(size, view.segment().byteSize());
                assertEquals(memory.address(), view.segment().address());
                assertEquals(42, view.segment().get(ValueLayout.JAVA_BYTE, size - 1));
                assertEquals(0, released.get());
            }
            assertEquals(1, released.get());
        }
    }

    @Test
    void segmentsOfTheHeapAreRefused() {
        HurrayException refused =
                assertThrows(
                        HurrayException.class,
                        () -> TensorSegments.wrap(DenseSpec.rowMajor(ElementType.FLOAT32, 4), MemorySegment.ofArray(new float[4]), null));
        assertEquals(StatusCode.INVALID_ARGUMENT, refused.code());
    }

    @Test
    void useAfterCloseIsRefused() {
        Tensor tensor = Tensor.copyOf(new float[] {1}, 1);
        tensor.close();
        assertThrows(IllegalStateException.class, () -> TensorSegments.open(tensor));
    }

    @Test
    void tensorsOfADeviceHaveNoSegment() {
        BufferHandle handle = BufferHandle.of(Device.CUDA, SyncMode.EVENT, 24);
        AtomicInteger released = new AtomicInteger();
        BufferList list = BufferList.create();
        list.push(
                Handoff.of(handle, 0x7000_0000_0000L)
                        .event(new DeviceEvent(1, Device.CUDA), event -> released.incrementAndGet())
                        .onRelease(released::incrementAndGet)
                        .handOff());
        Descriptor what = Descriptor.builder(ElementType.FLOAT32, Layout.ROW_MAJOR, 2, 3).addBuffer(handle).build();
        try (Tensor tensor = Tensor.of(what, list)) {
            HurrayException refused = assertThrows(HurrayException.class, () -> TensorSegments.open(tensor));
            assertEquals(StatusCode.UNSUPPORTED, refused.code());
        }
        assertEquals(2, released.get());
    }
}
