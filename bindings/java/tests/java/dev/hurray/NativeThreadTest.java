package dev.hurray;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.hurray.Memory.Counter;
import org.junit.jupiter.api.Test;

/** Releases on threads that Java did not make. */
class NativeThreadTest extends Baseline {
    @Test
    void aForeignThreadIsAttachedForTheReleaseAndNotLonger() {
        String library = Hurray.runtimeInfo().libraryPath();
        Counter released = new Counter();
        for (int i = 1; i <= 50; ++i) {
            Tensor tensor = Tensor.wrap(DenseSpec.rowMajor(ElementType.UINT8, 64), Memory.at(i, 64), released);
            try (TensorExport pair = tensor.export()) {
                long list = pair.list().releaseAddress();
                long context = pair.context().releaseAddress();
                tensor.close();
                assertEquals(i - 1, released.count());
                assertTrue(NativeThreads.destroyPair(library, list, context));
            }
            assertEquals(i, released.count());
            assertNotEquals(Thread.currentThread(), released.thread);
            assertTrue(released.thread.isDaemon());
            assertFalse(released.thread.isAlive(), "still attached");
        }
    }

    @Test
    void aReleaseThatThrowsThereHarmsNobody() {
        Tensor tensor =
                Tensor.wrap(
                        DenseSpec.rowMajor(ElementType.UINT8, 4),
                        Memory.at(0, 4),
                        () -> {
                            throw new AssertionError("on purpose");
                        });
        try (TensorExport pair = tensor.export()) {
            tensor.close();
            assertTrue(
                    NativeThreads.destroyPair(
                            Hurray.runtimeInfo().libraryPath(), pair.list().releaseAddress(), pair.context().releaseAddress()));
        }
    }

    @Test
    void aForkEndsWhatItInheritedAndCallsNothingBack() {
        Counter released = new Counter();
        Counter owner = new Counter();
        Tensor tensor = Tensor.wrap(DenseSpec.rowMajor(ElementType.UINT8, 64), Memory.at(0, 64), released);
        byte[] encoded = tensor.descriptor().encode();
        try (TensorExport pair = tensor.export();
                TensorContext context = TensorContext.create(encoded, owner)) {
            tensor.close();
            long list = pair.list().releaseAddress();
            long contextAddress = context.releaseAddress();
            assertEquals(0, NativeThreads.destroyPairInFork(Hurray.runtimeInfo().libraryPath(), list, contextAddress));
            assertEquals(0, released.count());
            // Here nothing has ended.
            BufferList.fromAddress(list).close();
            assertEquals(1, released.count());
            assertEquals(0, owner.count());
            TensorContext.fromAddress(contextAddress).close();
            assertEquals(1, owner.count());
        }
    }
}
