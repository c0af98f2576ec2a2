package dev.hurray;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.hurray.Memory.Counter;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Producers in Java, and their end; what they say of streams is in HandoffTest. */
class ProducerTest extends Baseline {
    private static TensorExport exportOf(int... values) {
        try (Tensor tensor = Tensor.copyOf(values, values.length)) {
            return tensor.export();
        }
    }

    private static HurrayException failureOf(TensorProducer producer) {
        Counter closed = new Counter();
        HurrayException failure;
        try (Producer made = Producer.of(producer, closed)) {
            failure = assertThrows(HurrayException.class, made::request);
            assertEquals(0, closed.count());
        }
        assertEquals(1, closed.count());
        return failure;
    }

    @Test
    void aRequestIsAnsweredOnTheConsumersThreadAndTheTensorIsTheConsumers() {
        AtomicReference<Thread> asked = new AtomicReference<>();
        AtomicReference<Object> stream = new AtomicReference<>("none yet");
        Tensor tensor;
        try (Producer producer =
                Producer.of(
                        consumersStream -> {
                            asked.set(Thread.currentThread());
                            stream.set(consumersStream);
                            return exportOf(1, 2, 3);
                        },
                        null)) {
            tensor = producer.request();
        }
        assertEquals(Thread.currentThread(), asked.get());
        assertEquals(null, stream.get());
        assertEquals(3, tensor.view().getLong(2));
        tensor.close();
    }

    @Test
    void manyRequestsLeaveNothingBehind() {
        try (Producer producer = Producer.of(stream -> exportOf(stream == null ? 0 : stream.deviceTag()), null)) {
            for (int i = 0; i < 2000; ++i) {
                DeviceStream stream = new DeviceStream(4711, i % 256);
                try (Tensor tensor = producer.request(stream)) {
                    assertEquals(i % 256, tensor.view().getLong(0));
                }
            }
        }
    }

    @Test
    void whatTheProducerThrowsReachesTheConsumerAsAStatusAndAMessage() {
        HurrayException known =
                failureOf(
                        stream -> {
                            throw new HurrayException(StatusCode.NOT_FOUND, "no tensor of that name: w\u00e4hrend");
                        });
        assertEquals(StatusCode.NOT_FOUND, known.code());
        assertTrue(known.getMessage().endsWith("no tensor of that name: w\u00e4hrend"), known.getMessage());

        HurrayException checked =
                failureOf(
                        stream -> {
                            throw new java.io.IOException("the disk is full");
                        });
        assertEquals(StatusCode.INTERNAL_PANIC, checked.code());
        assertTrue(checked.getMessage().contains("java.io.IOException: the disk is full"), checked.getMessage());

        HurrayException error = failureOf(ProducerTest::endlessly);
        assertEquals(StatusCode.INTERNAL_PANIC, error.code());

        HurrayException unknown =
                failureOf(
                        stream -> {
                            throw new HurrayException(-4711, "from a later version");
                        });
        assertEquals(StatusCode.INVALID_ARGUMENT, unknown.code());
        assertTrue(unknown.getMessage().contains("-4711"), unknown.getMessage());

        HurrayException longest =
                failureOf(
                        stream -> {
                            throw new HurrayException(StatusCode.IO, "x".repeat(10_000));
                        });
        assertEquals(StatusCode.IO, longest.code());
        assertTrue(longest.getMessage().length() < 256);

        HurrayException okButThrown =
                failureOf(
                        stream -> {
                            throw new HurrayException(0, "success is no failure");
                        });
        assertEquals(StatusCode.INTERNAL_PANIC, okButThrown.code());
    }

    private static TensorExport endlessly(DeviceStream stream) {
        return endlessly(stream);
    }

    @Test
    void aProducerWithoutAPairOrWithAClosedOneIsATypedErrorAndNothingLeaks() {
        assertEquals(StatusCode.INVALID_ARGUMENT, failureOf(stream -> null).code());
        HurrayException closedList =
                failureOf(
                        stream -> {
                            TensorExport pair = exportOf(1);
                            pair.list().close();
                            return pair;
                        });
        assertEquals(StatusCode.INTERNAL_PANIC, closedList.code());
        assertTrue(closedList.getMessage().contains("buffer list is closed"), closedList.getMessage());
        HurrayException closedContext =
                failureOf(
                        stream -> {
                            TensorExport pair = exportOf(1);
                            pair.context().close();
                            return pair;
                        });
        assertTrue(closedContext.getMessage().contains("tensor context is closed"), closedContext.getMessage());
        assertThrows(NullPointerException.class, () -> Producer.of(null, null));
    }

    @Test
    void aPairThatIsNoTensorIsEnded() {
        Counter released = new Counter();
        HurrayException noDescriptor =
                failureOf(
                        stream -> {
                            BufferList list = BufferList.create();
                            list.push(TensorBuffer.wrap(Memory.at(0, 8), released).buffer());
                            return new TensorExport(list, TensorContext.create("no descriptor at all, sorry".getBytes(), released));
                        });
        assertEquals(StatusCode.INVALID_MAGIC, noDescriptor.code());
        assertEquals(2, released.count());
        HurrayException version =
                failureOf(
                        stream -> {
                            try (Tensor tensor = Tensor.copyOf(new int[] {1}, 1)) {
                                return new TensorExport(
                                        tensor.export().list(), TensorContext.create(3, tensor.descriptor().encode(), released));
                            }
                        });
        assertEquals(StatusCode.VERSION_MISMATCH, version.code());
        assertEquals(3, released.count());
    }

    @Test
    void closingTellsTheProducerOnceOnTheClosingThread() {
        Counter closed = new Counter();
        Producer producer = Producer.of(stream -> exportOf(1), closed);
        assertNotEquals(0, producer.address());
        producer.close();
        assertEquals(1, closed.count());
        assertEquals(Thread.currentThread(), closed.thread);
        producer.close();
        assertEquals(1, closed.count());
        Failures.expectClosed(producer::request);
        Failures.expectClosed(producer::address);
    }

    @Test
    void aProducerIsNotClosedWhileItIsAsked() {
        Counter closed = new Counter();
        AtomicReference<Producer> self = new AtomicReference<>();
        try (Producer producer =
                Producer.of(
                        stream -> {
                            // It may use the library, itself included.
                            assertThrows(IllegalStateException.class, self.get()::close);
                            return stream == null ? pairFrom(self.get().request(new DeviceStream(1, 0))) : exportOf(5);
                        },
                        closed)) {
            self.set(producer);
            try (Tensor tensor = producer.request()) {
                assertEquals(5, tensor.view().getLong(0));
            }
            assertEquals(0, closed.count());
        }
        assertEquals(1, closed.count());
    }

    private static TensorExport pairFrom(Tensor tensor) {
        try (tensor) {
            return tensor.export();
        }
    }

    @Test
    void aConsumerElsewhereAsksByTheAddressAndMayEndTheProducer() {
        Counter closed = new Counter();
        Producer producer = Producer.of(stream -> exportOf(7, 8), closed);
        Producer consumers = Producer.fromAddress(producer.address());
        try (Tensor tensor = consumers.request()) {
            assertEquals(8, tensor.view().getLong(1));
        }
        assertEquals(0, closed.count());
        consumers.close();
        assertEquals(1, closed.count());
        HurrayException ended = Failures.expect(StatusCode.NULL_POINTER, producer::request);
        assertTrue(ended.getMessage().contains("released"), ended.getMessage());
        producer.close();
        assertEquals(1, closed.count());
        Failures.expect(StatusCode.NULL_POINTER, () -> Producer.fromAddress(0));
    }

    @Test
    void aThreadThatJavaDidNotMakeAsksAndEnds() {
        String library = Hurray.runtimeInfo().libraryPath();
        AtomicReference<Thread> asked = new AtomicReference<>();
        Counter closed = new Counter();
        try (Producer producer =
                Producer.of(
                        stream -> {
                            asked.set(Thread.currentThread());
                            if (closed.count() != 0) {
                                throw new AssertionError("closed already");
                            }
                            return exportOf(1, 2);
                        },
                        closed)) {
            for (int i = 0; i < 20; ++i) {
                assertEquals(StatusCode.OK.value(), NativeThreads.request(library, producer.address(), false));
                assertNotEquals(Thread.currentThread(), asked.get());
                assertFalse(asked.get().isAlive(), "still attached");
            }
            assertEquals(StatusCode.OK.value(), NativeThreads.request(library, producer.address(), true));
            assertEquals(1, closed.count());
            assertNotEquals(Thread.currentThread(), closed.thread);
            assertEquals(StatusCode.NULL_POINTER.value(), NativeThreads.request(library, producer.address(), true));
        }
        assertEquals(1, closed.count());
        try (Producer failing =
                Producer.of(
                        stream -> {
                            throw new IllegalStateException("on purpose");
                        },
                        null)) {
            assertEquals(StatusCode.INTERNAL_PANIC.value(), NativeThreads.request(library, failing.address(), false));
        }
    }

    @Test
    void aForgottenProducerEndsOnAThreadOfTheProgram() throws InterruptedException {
        AtomicLong collector = new AtomicLong();
        Releases.onUnreachable(new Object(), () -> collector.set(Thread.currentThread().getId()));
        Counter closed = new Counter();
        forget(closed);
        collectOnlyUntil("producer", () -> Hurray.pendingReleases() + closed.count() != 0 && collector.get() != 0);
        assertEquals(0, closed.count());
        Tensor.copyOf(new int[1], 1).close();
        assertEquals(1, closed.count());
        assertEquals(Thread.currentThread(), closed.thread);
        assertNotEquals(collector.get(), closed.thread.getId());
    }

    private static void forget(Runnable closed) {
        Producer.of(stream -> exportOf(1), closed);
    }

    @Test
    void aProducerOfSomebodyElseIsNeverEndedByTheCollector() throws InterruptedException {
        Counter closed = new Counter();
        try (Producer producer = Producer.of(stream -> exportOf(1), closed)) {
            borrowAndForget(producer.address());
            AtomicLong collected = new AtomicLong();
            Releases.onUnreachable(new Object(), collected::incrementAndGet);
            collectOnlyUntil("probe", () -> collected.get() != 0);
            Hurray.drainReleases();
            assertEquals(0, closed.count());
            producer.request().close();
        }
        assertEquals(1, closed.count());
    }

    private static void borrowAndForget(long address) {
        Producer.fromAddress(address).request().close();
    }

    @Test
    void aStructOfAnotherSizeOrVersionIsRefused() {
        Counter closed = new Counter();
        ByteBuffer struct = NativeMemory.allocate(Structs.Producer.SIZE);
        Library.ready();
        NativeProducer.fill(struct, new Releases.Lent((TensorProducer) stream -> exportOf(1), closed));
        Producer producer = Producer.fromAddress(NativeMemory.address(struct));
        struct.putInt(Structs.Producer.ABI_VERSION, 3);
        HurrayException version = Failures.expect(StatusCode.VERSION_MISMATCH, producer::request);
        assertTrue(version.getMessage().contains("3"), version.getMessage());
        struct.putInt(Structs.Producer.ABI_VERSION, 4).putInt(Structs.Producer.STRUCT_SIZE, 8);
        Failures.expect(StatusCode.INVALID_ARGUMENT, producer::request);
        struct.putInt(Structs.Producer.STRUCT_SIZE, Structs.Producer.SIZE);
        producer.request().close();
        producer.close();
        assertEquals(1, closed.count());
        assertEquals(0, struct.getLong(Structs.Producer.RELEASE));
        assertEquals(0, struct.getLong(Structs.Producer.EXPORT_TENSOR));
    }

    @Test
    void aCloseActionThatThrowsHarmsNobody() {
        Producer producer =
                Producer.of(
                        stream -> exportOf(1),
                        () -> {
                            throw new IllegalStateException("on purpose");
                        });
        producer.close();
        assertTrue(producer.isClosed());
    }
}
