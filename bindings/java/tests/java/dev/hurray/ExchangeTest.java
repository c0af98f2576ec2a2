package dev.hurray;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.hurray.Memory.Counter;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

/** The pair of list and context. */
class ExchangeTest extends Baseline {
    @Test
    void aTensorTravelsByItsAddressesAlone() {
        Counter released = new Counter();
        ByteBuffer memory = Memory.at(24, 64);
        Tensor tensor = Tensor.wrap(DenseSpec.rowMajor(ElementType.UINT8, 64), memory, released);
        long list;
        long context;
        try (TensorExport pair = tensor.export()) {
            list = pair.list().releaseAddress();
            context = pair.context().releaseAddress();
        }
        tensor.close();
        assertEquals(0, released.count());
        Tensor imported = Tensor.importFrom(BufferList.fromAddress(list), TensorContext.fromAddress(context));
        checkSame(memory, imported);
        assertEquals(0, released.count());
        imported.close();
        assertTrue(collectUntil(() -> released.count() == 1));
    }

    private static void checkSame(ByteBuffer memory, Tensor tensor) {
        assertEquals(memory, tensor.view().bytes());
        assertEquals(NativeMemory.address(memory), NativeMemory.address(tensor.view().bytes()));
    }

    @Test
    void importMovesBothAndCloses() {
        try (Tensor tensor = Tensor.copyOf(new long[] {1, 2, 3}, 3);
                TensorExport pair = tensor.export()) {
            assertEquals(1, pair.list().size());
            assertEquals(4, pair.context().abiVersion());
            assertArrayEquals(tensor.descriptor().encode(), pair.context().descriptor());
            try (TensorBuffer share = pair.list().share(0)) {
                assertEquals(24, share.info().byteSize());
            }
            Failures.expect(StatusCode.INDEX_OUT_OF_BOUNDS, () -> pair.list().share(1));
            try (Tensor imported = Tensor.importFrom(pair.list(), pair.context())) {
                assertTrue(pair.list().isClosed());
                assertTrue(pair.context().isClosed());
                assertEquals(3, imported.view().getLong(2));
                assertEquals(tensor.descriptor(), imported.descriptor());
            }
        }
    }

    @Test
    void contextsOfOtherVersionsAreRefusedBeforeAnythingElseOfThem() {
        Counter released = new Counter();
        try (Tensor tensor = Tensor.copyOf(new float[] {1, 2}, 2)) {
            for (int version : new int[] {1, 3, 5, 0x7FFF_FFFF, -1}) {
                // Nothing else of them is looked at: their descriptor is none.
                try (TensorContext context = TensorContext.create(version, new byte[] {1, 2, 3}, released);
                        TensorExport pair = tensor.export()) {
                    VersionMismatchException refused =
                            assertThrows(VersionMismatchException.class, () -> Tensor.importFrom(pair.list(), context));
                    long unsigned = version & 0xFFFF_FFFFL;
                    assertEquals(4, refused.expected());
                    assertEquals(unsigned, refused.found());
                    assertEquals(StatusCode.VERSION_MISMATCH, refused.code());
                    assertTrue(refused.getMessage().contains("version 4"), refused.getMessage());
                    assertTrue(refused.getMessage().contains("version " + unsigned), refused.getMessage());
                    assertFalse(pair.list().isClosed());
                    assertFalse(context.isClosed());
                    assertEquals(version, context.abiVersion());
                    assertThrows(VersionMismatchException.class, context::descriptor);
                }
            }
        }
        assertEquals(5, released.count());
        Failures.expect(StatusCode.VERSION_MISMATCH, () -> TensorContext.create(0, new byte[0], released));
        assertEquals(5, released.count(), "no release of what was not made");
    }

    @Test
    void whatDoesNotFitStaysTheCallers() {
        Counter released = new Counter();
        Descriptor two = Descriptor.builder(ElementType.FLOAT32, Layout.ROW_MAJOR, 2).addBuffer(BufferHandle.host(8)).build();
        try (TensorContext context = TensorContext.create(two.encode(), released);
                TensorContext nonsense = TensorContext.create("no descriptor at all, sorry".getBytes(), released);
                TensorContext nothing = TensorContext.create(new byte[0], released);
                BufferList empty = BufferList.create();
                BufferList small = BufferList.create()) {
            TensorBuffer four = TensorBuffer.allocate(4, 64);
            small.push(four);
            assertTrue(four.isClosed());
            Failures.expect(StatusCode.INVALID_LAYOUT, () -> Tensor.importFrom(empty, context));
            Failures.expect(StatusCode.BUFFER_TOO_SMALL, () -> Tensor.importFrom(small, context));
            Failures.expect(StatusCode.INVALID_MAGIC, () -> Tensor.importFrom(small, nonsense));
            assertThrows(HurrayException.class, () -> Tensor.importFrom(small, nothing));
            Failures.expect(StatusCode.INVALID_LAYOUT, () -> Tensor.of(two, empty));
            Failures.expect(StatusCode.BUFFER_TOO_SMALL, () -> Tensor.of(two, small));
            assertEquals(0, empty.size());
            assertEquals(1, small.size());
            assertEquals(0, nothing.descriptor().length);
            assertEquals(0, released.count());
        }
        assertEquals(3, released.count());
        Failures.expect(StatusCode.NULL_POINTER, () -> BufferList.fromAddress(0));
        Failures.expect(StatusCode.NULL_POINTER, () -> TensorContext.fromAddress(0));
    }

    @Test
    void theContextsOwnerLivesAsLongAsTheMemory() {
        Counter released = new Counter();
        Descriptor two = Descriptor.builder(ElementType.FLOAT32, Layout.ROW_MAJOR, 2).addBuffer(BufferHandle.host(8)).build();
        BufferList list = BufferList.create();
        list.push(TensorBuffer.allocate(8, 64));
        Tensor tensor = Tensor.importFrom(list, TensorContext.create(two.encode(), released));
        Tensor share = tensor.share();
        tensor.close();
        assertEquals(0, released.count());
        TensorBuffer buffer = share.buffer(0);
        share.close();
        assertEquals(0, released.count());
        buffer.close();
        assertEquals(1, released.count());
    }

    @Test
    void aPairThatNobodyTakesIsClosedOnce() {
        Counter released = new Counter();
        Tensor tensor = Tensor.wrap(DenseSpec.rowMajor(ElementType.UINT8, 4), Memory.at(0, 4), released);
        try (TensorExport pair = tensor.export()) {
            tensor.close();
            assertEquals(0, released.count());
            pair.list().close();
            assertEquals(1, released.count());
        }
        assertEquals(1, released.count());
    }

    @Test
    void oneListCannotBeImportedTwice() {
        try (Tensor tensor = Tensor.copyOf(new float[] {1}, 1);
                TensorExport first = tensor.export();
                TensorExport second = tensor.export()) {
            Tensor.importFrom(first.list(), first.context()).close();
            Failures.expectClosed(() -> Tensor.importFrom(first.list(), second.context()));
            Failures.expectClosed(() -> Tensor.importFrom(second.list(), first.context()));
            assertFalse(second.list().isClosed());
            assertFalse(second.context().isClosed());
        }
    }
}
