package dev.hurray;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.hurray.Memory.Counter;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import org.junit.jupiter.api.Test;

/** Memory of Java as tensors: nothing is copied, and it comes back exactly once. */
class WrapTest extends Baseline {
    private static final ElementType[] TIER_1 = {
        ElementType.FLOAT16, ElementType.BFLOAT16, ElementType.FLOAT32, ElementType.FLOAT64, ElementType.INT8, ElementType.UINT8,
        ElementType.INT16, ElementType.UINT16, ElementType.INT32, ElementType.UINT32, ElementType.INT64, ElementType.UINT64,
        ElementType.BOOL,
    };

    @Test
    void everyTypeLayoutAndAlignmentIsWrappedInPlace() {
        Counter released = new Counter();
        int wrapped = 0;
        for (ElementType type : TIER_1) {
            for (int remainder : new int[] {0, 8, 1, 63}) {
                for (DenseSpec spec :
                        new DenseSpec[] {
                            DenseSpec.rowMajor(type, 3, 5),
                            DenseSpec.columnMajor(type, 3, 5),
                            DenseSpec.strided(type, new long[] {3, 5}, new long[] {5, 1}),
                            DenseSpec.rowMajor(type, 15).byteOffset(16),
                            DenseSpec.rowMajor(type),
                            DenseSpec.rowMajor(type, 4, 0, 2),
                        }) {
                    checkInPlace(spec, type, Memory.at(remainder, 256), released);
                    ++wrapped;
                }
            }
        }
        int expected = wrapped;
        assertTrue(collectUntil(() -> released.count() == expected), "released " + released.count() + " of " + expected);
    }

    private static void checkInPlace(DenseSpec spec, ElementType type, ByteBuffer memory, Counter released) {
        try (Tensor tensor = Tensor.wrap(spec, memory, released)) {
            TensorView view = tensor.view();
            assertEquals(type, view.elementType());
            assertEquals(Device.CPU, view.device());
            assertFalse(view.isReadOnly());
            if (view.elementCount() != 0) {
                long offset = tensor.descriptor().byteOffset() - NativeMemory.address(memory) % 64;
                assertEquals(
                        NativeMemory.address(memory) + offset, NativeMemory.address(view.bytes()), "the bytes lie where they lay: " + spec);
                assertEquals(memory.slice((int) offset, (int) view.byteSize()), view.bytes());
            } else {
                assertEquals(0, view.bytes().remaining());
            }
        }
    }

    @Test
    void closingReleasesOnThisThreadWhenNobodyViewsTheMemory() {
        Counter released = new Counter();
        Tensor tensor = Tensor.wrap(DenseSpec.rowMajor(ElementType.FLOAT32, 4), Memory.at(0, 16), released);
        Tensor share = tensor.share();
        tensor.close();
        assertEquals(0, released.count());
        share.close();
        assertEquals(1, released.count());
        assertEquals(Thread.currentThread(), released.thread);
        share.close();
        assertEquals(1, released.count());
    }

    @Test
    void aViewedBufferKeepsTheMemoryAfterClose() {
        Counter released = new Counter();
        ByteBuffer memory = Memory.at(8, 64);
        Tensor tensor = Tensor.wrap(DenseSpec.rowMajor(ElementType.INT32, 16), memory, released);
        // A slice of a typed buffer: far from the root buffer that owns the share.
        java.nio.IntBuffer kept = tensor.view().ints().slice();
        tensor.close();
        for (int i = 0; i < 5; ++i) {
            System.gc();
            Hurray.drainReleases();
        }
        assertEquals(0, released.count());
        assertEquals(memory.getInt(0), kept.get(0));
        java.lang.ref.Reference.reachabilityFence(kept);
        kept = null;
        assertTrue(collectUntil(() -> released.count() == 1));
        assertEquals(Thread.currentThread(), released.thread, "not on the collector's thread");
    }

    @Test
    void theCollectorIsABackupAndTheReleaseWaitsForAThreadOfTheProgram() throws InterruptedException {
        Counter released = new Counter();
        WeakReference<Tensor> forgotten = forget(released);
        collectOnlyUntil("tensor", () -> forgotten.get() == null && Hurray.pendingReleases() + released.count() != 0);
        assertEquals(0, released.count(), "the collector's thread runs nothing of ours");
        // The next creation drains.
        Tensor.copyOf(new float[] {1}, 1).close();
        assertEquals(1, released.count());
        assertEquals(Thread.currentThread(), released.thread);
    }

    private static WeakReference<Tensor> forget(Counter released) {
        return new WeakReference<>(Tensor.wrap(DenseSpec.rowMajor(ElementType.FLOAT32, 4), Memory.at(0, 16), released));
    }

    @Test
    void theWrappedBufferIsReachableAsLongAsItIsNeeded() {
        WeakReference<ByteBuffer> memory;
        Tensor tensor;
        {
            ByteBuffer buffer = Memory.at(0, 64);
            memory = new WeakReference<>(buffer);
            tensor = Tensor.wrap(DenseSpec.rowMajor(ElementType.UINT8, 64), buffer);
        }
        for (int i = 0; i < 5; ++i) {
            System.gc();
        }
        assertTrue(memory.get() != null);
        tensor.close();
        assertTrue(collectUntil(() -> memory.get() == null), "the global reference is gone");
    }

    @Test
    void failuresKeepNothingAndReleaseNothing() {
        Counter released = new Counter();
        ByteBuffer memory = Memory.at(0, 64);
        Failures.expect(StatusCode.INVALID_LAYOUT, () -> Tensor.wrap(DenseSpec.rowMajor(ElementType.FLOAT32, 17), memory, released));
        Failures.expect(
                StatusCode.INVALID_LAYOUT,
                () -> Tensor.wrap(DenseSpec.strided(ElementType.FLOAT32, new long[] {2}, new long[] {-1}), memory, released));
        Failures.expect(
                StatusCode.INVALID_ARGUMENT, () -> Tensor.wrap(DenseSpec.rowMajor(ElementType.UINT8, 4), ByteBuffer.allocate(4), released));
        Failures.expect(
                StatusCode.MISALIGNED,
                () -> Tensor.wrap(DenseSpec.rowMajor(ElementType.UINT8, 4).alignment(AlignmentPolicy.REQUIRE), Memory.at(8, 4), released));
        Failures.expect(StatusCode.INVALID_ARGUMENT, () -> DenseSpec.rowMajor(ElementType.UNKNOWN, 1));
        Failures.expect(StatusCode.INVALID_ARGUMENT, () -> DenseSpec.strided(ElementType.INT8, new long[2], new long[1]));
        Failures.expect(StatusCode.INVALID_ARGUMENT, () -> DenseSpec.rowMajor(ElementType.INT8, new long[65]));
        assertThrows(NullPointerException.class, () -> Tensor.wrap(DenseSpec.rowMajor(ElementType.UINT8, 4), null, released));
        assertThrows(HurrayException.class, () -> Tensor.wrap(DenseSpec.rowMajor(ElementType.INT8, 1L << 62, 8), memory, released));
        assertThrows(HurrayException.class, () -> Tensor.wrap(DenseSpec.rowMajor(ElementType.INT8, 1).byteOffset(-1), memory, released));
        collectUntil(() -> true);
        assertEquals(0, released.count());
    }

    @Test
    void readOnlyBuffersMakeReadOnlyTensors() {
        ByteBuffer memory = Memory.at(0, 16);
        try (Tensor fromBuffer = Tensor.wrap(DenseSpec.rowMajor(ElementType.UINT8, 16), memory.asReadOnlyBuffer());
                Tensor fromSpec = Tensor.wrap(DenseSpec.rowMajor(ElementType.UINT8, 16).readOnly(), memory);
                Tensor share = fromSpec.share()) {
            for (Tensor tensor : new Tensor[] {fromBuffer, fromSpec, share}) {
                TensorView view = tensor.view();
                assertTrue(view.isReadOnly());
                assertTrue(view.bytes().isReadOnly());
                assertThrows(ReadOnlyBufferException.class, () -> view.bytes().put(0, (byte) 1));
                assertThrows(ReadOnlyBufferException.class, () -> view.bytes(3, 2).put(0, (byte) 1));
            }
        }
    }

    @Test
    void writesGoThrough() {
        ByteBuffer memory = Memory.at(8, 16);
        try (Tensor tensor = Tensor.wrap(DenseSpec.rowMajor(ElementType.FLOAT32, 4), memory)) {
            tensor.view().floats().put(2, 42.5f);
            assertEquals(42.5f, memory.getFloat(8));
        }
    }

    @Test
    void positionAndLimitOfTheBufferCount() {
        ByteBuffer memory = Memory.at(0, 64).position(10).limit(20);
        try (Tensor tensor = Tensor.wrap(DenseSpec.rowMajor(ElementType.UINT8, 10), memory)) {
            assertEquals(memory.get(10), tensor.view().bytes().get(0));
        }
        Failures.expect(StatusCode.INVALID_LAYOUT, () -> Tensor.wrap(DenseSpec.rowMajor(ElementType.UINT8, 11), memory));
    }

    @Test
    void unalignedMemoryIsCopiedOnDemandAndReleasedAtOnce() {
        Counter released = new Counter();
        ByteBuffer memory = Memory.at(4, 24);
        DenseSpec spec = DenseSpec.columnMajor(ElementType.FLOAT32, 2, 3).alignment(AlignmentPolicy.COPY);
        try (Tensor tensor = Tensor.wrap(spec, memory, released)) {
            assertEquals(1, released.count());
            TensorView view = tensor.view();
            assertEquals(0, NativeMemory.address(view.bytes()) % 64);
            assertEquals(memory.getFloat(4), (float) view.getDouble(1, 0));
        }
        assertEquals(1, released.count());
        ByteBuffer alignedMemory = Memory.at(0, 24);
        try (Tensor tensor = Tensor.wrap(spec, alignedMemory)) {
            assertEquals(NativeMemory.address(alignedMemory), NativeMemory.address(tensor.view().bytes()));
        }
    }

    @Test
    void aReleaseThatThrowsHarmsNobody() {
        Tensor tensor =
                Tensor.wrap(
                        DenseSpec.rowMajor(ElementType.UINT8, 4),
                        Memory.at(0, 4),
                        () -> {
                            throw new IllegalStateException("on purpose");
                        });
        tensor.close();
        assertTrue(tensor.isClosed());
    }

    @Test
    void aReleaseMayUseTheLibrary() {
        double[] read = new double[1];
        Tensor[] self = new Tensor[1];
        self[0] =
                Tensor.wrap(
                        DenseSpec.rowMajor(ElementType.UINT8, 4),
                        Memory.at(0, 4),
                        () -> {
                            self[0].close();
                            try (Tensor other = Tensor.copyOf(new double[] {1.25, 2.5}, 2)) {
                                read[0] = other.view().getDouble(1);
                            }
                            Failures.expect(StatusCode.INVALID_MAGIC, () -> Descriptor.decode("nonsense, and more than that".getBytes()));
                        });
        self[0].close();
        assertEquals(2.5, read[0]);
    }

    @Test
    void copiesOfArrays() {
        try (Tensor floats = Tensor.copyOf(new float[] {1, 2, 3, 4, 5, 6}, 2, 3);
                Tensor bools = Tensor.copyOf(new boolean[] {true, false, true, true, false, false, false, false, true}, 3, 3);
                Tensor longs = Tensor.copyOf(new long[] {Long.MIN_VALUE, -1}, 2);
                Tensor ints = Tensor.copyOf(new int[] {Integer.MIN_VALUE, 7}, 2);
                Tensor shorts = Tensor.copyOf(new short[] {Short.MIN_VALUE}, 1);
                Tensor bytes = Tensor.copyOf(new byte[] {-128, 127}, 2);
                Tensor scalar = Tensor.copyOf(new double[] {Math.PI});
                Tensor empty = Tensor.copyOf(new float[0], 0, 7)) {
            assertEquals(6, floats.view().getDouble(1, 2));
            assertEquals((byte) 0b0000_1101, bools.view().bytes().get(0));
            assertEquals(2, bools.view().bytes().remaining());
            assertTrue(bools.view().getBoolean(2, 2));
            assertFalse(bools.view().getBoolean(2, 1));
            assertEquals(Long.MIN_VALUE, longs.view().getLong(0));
            assertEquals(Integer.MIN_VALUE, ints.view().getLong(0));
            assertEquals(Short.MIN_VALUE, shorts.view().getLong(0));
            assertEquals(-128, bytes.view().getLong(0));
            assertEquals(Math.PI, scalar.view().getDouble());
            assertEquals(0, empty.view().elementCount());
            assertArrayEquals(new long[] {0, 7}, empty.view().shape());
        }
        Failures.expect(StatusCode.INVALID_ARGUMENT, () -> Tensor.copyOf(new float[5], 2, 3));
        Failures.expect(StatusCode.INVALID_ARGUMENT, () -> Tensor.copyOf(new float[0], -1));
        Failures.expect(StatusCode.INVALID_ARGUMENT, () -> Tensor.allocate(ElementType.FLOAT64, 1L << 61, 1L << 61));
        Failures.expect(StatusCode.OUT_OF_MEMORY, () -> Tensor.allocate(ElementType.FLOAT64, 1L << 58));
    }
}
