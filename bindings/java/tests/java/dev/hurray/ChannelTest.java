package dev.hurray;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.FileInputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Channels, both ends of which are here. */
class ChannelTest extends Baseline {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Duration NOW = Duration.ZERO;

    @TempDir Path folder;

    /** Two ends over a socketpair. */
    private record Ends(Channel a, Channel b) implements AutoCloseable {
        static Ends open(ChannelOptions options) {
            int[] sockets = Sockets.pair();
            return new Ends(
                    Channel.ofFd(sockets[0], options.withCloseFd(true)), Channel.ofFd(sockets[1], options.withCloseFd(true)));
        }

        @Override
        public void close() {
            a.close();
            b.close();
        }
    }

    private static byte[] bytesOf(Tensor tensor) {
        ByteBuffer bytes = tensor.view().bytes();
        byte[] copy = new byte[bytes.remaining()];
        bytes.get(copy);
        return copy;
    }

    /** A thread that does something until it returns or throws. */
    private static final class Waiter {
        private final AtomicReference<Throwable> failure = new AtomicReference<>();
        private final Thread thread;

        Waiter(org.junit.jupiter.api.function.Executable action) {
            thread =
                    new Thread(
                            () -> {
                                try {
                                    action.execute();
                                } catch (Throwable thrown) {
                                    failure.set(thrown);
                                }
                            });
            thread.start();
        }

        Throwable end() throws InterruptedException {
            thread.join(PATIENCE.toMillis());
            assertFalse(thread.isAlive(), "the wait ends");
            return failure.get();
        }
    }

    @Test
    void everyKindOfTensorArrivesAsItIs() throws Exception {
        try (Ends ends = Ends.open(ChannelOptions.DEFAULT);
                Tensor scalar = Tensor.copyOf(new double[] {0.5});
                Tensor empty = Tensor.copyOf(new long[0], 0, 4);
                Tensor bools = Tensor.copyOf(new boolean[] {true, false, true, true, false, false, true, false, true}, 3, 3);
                Tensor offset = Tensor.wrap(DenseSpec.columnMajor(ElementType.INT16, 2, 3), Memory.at(8, 12));
                Tensor reversed =
                        Tensor.of(
                                Descriptor.builder(ElementType.INT32, Layout.STRIDED, 3)
                                        .layoutFields(new LayoutFields.Strided(-1))
                                        .byteOffset(8)
                                        .addBuffer(BufferHandle.host(12))
                                        .build(),
                                buffer(12));
                Tensor csr =
                        Tensor.of(
                                Descriptor.builder(ElementType.FLOAT32, Layout.CSR, 1, 5)
                                        .layoutFields(new LayoutFields.Csr(0))
                                        .addBuffer(BufferHandle.host(0))
                                        .addBuffer(BufferHandle.host(0))
                                        .addBuffer(BufferHandle.host(16))
                                        .build(),
                                buffer(0),
                                buffer(0),
                                buffer(16))) {
            for (Tensor tensor : new Tensor[] {scalar, empty, bools, offset, reversed}) {
                try (Tensor shared = tensor.copyToShared()) {
                    for (Tensor sent : new Tensor[] {tensor, shared}) {
                        ends.a().send(sent);
                        try (Tensor got = ends.b().receive(PATIENCE).orElseThrow()) {
                            assertEquals(tensor.descriptor().elementType(), got.descriptor().elementType());
                            assertArrayEquals(tensor.descriptor().shape(), got.descriptor().shape());
                            assertEquals(tensor.descriptor().layoutFields(), got.descriptor().layoutFields());
                            assertArrayEquals(bytesOf(tensor), bytesOf(got));
                        }
                    }
                }
            }
            ends.a().send(csr);
            try (Tensor got = ends.b().receive(PATIENCE).orElseThrow()) {
                assertEquals(3, got.bufferCount());
                assertEquals(csr.descriptor().layoutFields(), got.descriptor().layoutFields());
            }
            assertEquals(11, ends.b().info().received());
        }
    }

    private static TensorBuffer buffer(long size) {
        return TensorBuffer.allocate(size, 64);
    }

    @Test
    void sharedMemoryIsPassedWhenItIsMarkedAndCopiedWhenSomebodyMayWriteIt() throws Exception {
        Descriptor what = Descriptor.builder(ElementType.UINT8, Layout.ROW_MAJOR, 64).addBuffer(BufferHandle.host(64)).build();
        try (Ends ends = Ends.open(ChannelOptions.DEFAULT);
                TensorBuffer memory = TensorBuffer.allocateShared(64, 0)) {
            assertTrue(memory.info().shared());
            assertFalse(memory.info().sealed());
            memory.bytes().put(63, (byte) 7); // a share that only the collector ends
            try (Tensor open = Tensor.of(what, memory)) {
                ends.a().send(open);
                assertEquals(64, ends.a().info().copiedBytes());
                memory.bytes().put(62, (byte) 8); // still writable
            }
            memory.setReadOnly();
            try (Tensor marked = Tensor.of(what, memory)) {
                ends.a().send(marked);
                ends.a().send(marked);
            }
            assertEquals(64, ends.a().info().copiedBytes());
            assertEquals(128, ends.a().info().passedBytes());
            assertTrue(memory.info().sealed());
            for (int last : new int[] {0, 8, 8}) {
                try (Tensor got = ends.b().receive(PATIENCE).orElseThrow();
                        TensorBuffer buffer = got.buffer(0)) {
                    assertEquals(7, got.view().getLong(63));
                    assertEquals(last, got.view().getLong(62));
                    assertTrue(buffer.info().sealed());
                    assertTrue(buffer.info().readOnly());
                    assertThrows(java.nio.ReadOnlyBufferException.class, () -> got.view().bytes().put(0, (byte) 1));
                }
            }
        }
        Failures.expect(StatusCode.INVALID_LAYOUT, () -> TensorBuffer.allocateShared(64, 3));
    }

    @Test
    void whatWasReceivedIsSentOnWithoutACopyAndComesBackWhenItEnds() throws Exception {
        try (Ends first = Ends.open(ChannelOptions.DEFAULT);
                Ends second = Ends.open(ChannelOptions.DEFAULT);
                Tensor source = Tensor.copyOf(new float[] {1, 2, 3}, 3);
                Tensor shared = source.copyToShared()) {
            first.a().send(shared);
            try (Tensor got = first.b().receive(PATIENCE).orElseThrow()) {
                second.a().send(got);
            }
            assertEquals(0, second.a().info().copiedBytes());
            assertEquals(12, second.a().info().passedBytes());
            first.a().process();
            assertEquals(1, first.a().info().outstanding(), "the second channel has a share");
            Tensor last = second.b().receive(PATIENCE).orElseThrow();
            assertEquals(1, second.b().info().held());
            last.close();
            assertEquals(0, second.b().info().held());
            second.a().process();
            assertEquals(0, second.a().info().outstanding());
            first.a().process();
            assertEquals(0, first.a().info().outstanding());
        }
    }

    @Test
    void tensorsOutliveTheChannelThatTheyCameThrough() throws Exception {
        Tensor got;
        try (Ends ends = Ends.open(ChannelOptions.DEFAULT);
                Tensor source = Tensor.copyOf(new float[] {1, 2, 3}, 3)) {
            ends.a().send(source);
            got = ends.b().receive(PATIENCE).orElseThrow();
        }
        assertEquals(3, got.view().getDouble(2));
        ByteBuffer kept = got.view().bytes();
        got.close();
        System.gc();
        assertEquals(3, kept.getFloat(8));
    }

    @Test
    void theEndsOfAChannelAreSeen() throws Exception {
        try (Ends ends = Ends.open(ChannelOptions.DEFAULT);
                Tensor tensor = Tensor.copyOf(new float[] {1}, 1)) {
            ends.a().send(tensor);
            ends.a().finish();
            ends.a().finish();
            Failures.expect(StatusCode.INVALID_ARGUMENT, () -> ends.a().send(tensor));
            ends.b().receive(PATIENCE).orElseThrow().close();
            assertTrue(ends.b().receive(NOW).isEmpty());
            assertTrue(ends.b().receive().isEmpty());
            assertTrue(ends.b().info().peerFinished());
            ends.b().send(tensor);
            ends.a().receive(PATIENCE).orElseThrow().close();
            ends.b().close();
            assertTrue(ends.a().receive(PATIENCE).isEmpty(), "a close is a finish");
        }
        try (Ends ends = Ends.open(ChannelOptions.DEFAULT);
                Tensor tensor = Tensor.copyOf(new float[] {1}, 1)) {
            ends.b().close();
            Failures.expect(StatusCode.DISCONNECTED, () -> ends.a().send(tensor));
        }
    }

    @Test
    void limitsRefuseOneTensorAndLetTheNextOneThrough() throws Exception {
        Path model = folder.resolve("m.safetensors");
        try (Ends ends = Ends.open(ChannelOptions.DEFAULT.withMaxTensorBytes(16).withMaxDescriptorLength(4096).withSealedOnly(true));
                Tensor large = Tensor.copyOf(new float[5], 5);
                Tensor small = Tensor.copyOf(new float[] {9}, 1)) {
            try (ModelFileWriter writer = ModelFileWriter.create(model, FileFormat.SAFETENSORS)) {
                writer.add("w", small);
                writer.finish();
            }
            ends.a().send(large);
            try (ModelFile file = ModelFile.open(model);
                    Tensor mapped = file.tensor("w")) {
                ends.a().send(mapped);
            }
            ends.a().send(small);
            Failures.expect(StatusCode.LIMIT_EXCEEDED, () -> ends.b().receive(PATIENCE));
            HurrayException unsealed = assertThrows(HurrayException.class, () -> ends.b().receive(PATIENCE));
            assertTrue(unsealed.getMessage().contains("seal"), unsealed.getMessage());
            try (Tensor got = ends.b().receive(PATIENCE).orElseThrow()) {
                assertEquals(9, got.view().getDouble(0));
            }
        }
        try (Ends ends = Ends.open(ChannelOptions.DEFAULT.withMaxOutstanding(2).withSendTimeout(Duration.ofMillis(30)));
                Tensor tensor = Tensor.copyOf(new float[] {1}, 1)) {
            ends.a().send(tensor);
            ends.a().send(tensor);
            Failures.expect(StatusCode.LIMIT_EXCEEDED, () -> ends.a().send(tensor));
            ends.b().receive(PATIENCE).orElseThrow().close();
            ends.a().send(tensor);
        }
        try (Ends ends = Ends.open(ChannelOptions.DEFAULT.withCopyFiles(true));
                ModelFile file = ModelFile.open(model);
                Tensor mapped = file.tensor("w")) {
            ends.a().send(mapped);
            assertEquals(4, ends.a().info().copiedBytes());
        }
        Failures.expect(StatusCode.INVALID_ARGUMENT, () -> ChannelOptions.DEFAULT.withSendTimeout(Duration.ofMillis(-1)));
    }

    @Test
    void timesAreKept() throws Exception {
        try (Ends ends = Ends.open(ChannelOptions.DEFAULT)) {
            for (Duration timeout : new Duration[] {NOW, Duration.ofSeconds(-1), Duration.ofNanos(1), Duration.ofMillis(75)}) {
                long start = System.nanoTime();
                Failures.expect(StatusCode.TIMED_OUT, () -> ends.b().receive(timeout));
                assertTrue(System.nanoTime() - start >= timeout.toNanos(), "not before the time: " + timeout);
            }
            Waiter waiter = new Waiter(() -> ends.b().receive(Duration.ofSeconds(Long.MAX_VALUE)).orElseThrow().close());
            try (Tensor tensor = Tensor.copyOf(new float[] {1}, 1)) {
                ends.a().send(tensor);
            }
            assertNull(waiter.end(), "a time beyond all numbers is one without an end");
        }
        Path nobody = Path.of("/tmp/hurray-nobody-" + ProcessHandle.current().pid());
        Failures.expect(StatusCode.TIMED_OUT, () -> Channel.connect(nobody, ChannelOptions.DEFAULT, Duration.ofMillis(45)));
        try (ChannelListener listener = ChannelListener.listen(nobody)) {
            Failures.expect(StatusCode.TIMED_OUT, () -> listener.accept(Duration.ofMillis(45)));
            Failures.expect(StatusCode.IO, () -> ChannelListener.listen(nobody));
        }
        assertFalse(Files.exists(nobody));
        Failures.expect(StatusCode.INVALID_ARGUMENT, () -> ChannelListener.listen(Path.of("/tmp/" + "long".repeat(40))));
    }

    @Test
    void anInterruptEndsAWaitAndLosesNothing() throws Exception {
        Path path = Path.of("/tmp/hurray-interrupt-" + ProcessHandle.current().pid());
        try (Ends ends = Ends.open(ChannelOptions.DEFAULT);
                ChannelListener listener = ChannelListener.listen(path);
                Tensor tensor = Tensor.copyOf(new float[] {4}, 1)) {
            Path nobody = Path.of(path + "-nobody");
            for (Waiter waiter :
                    new Waiter[] {
                        new Waiter(() -> ends.b().receive()), new Waiter(listener::accept), new Waiter(() -> Channel.connect(nobody))
                    }) {
                Thread.sleep(30);
                waiter.thread.interrupt();
                Throwable failure = waiter.end();
                assertTrue(failure instanceof InterruptedException, String.valueOf(failure));
            }
            Thread.currentThread().interrupt();
            assertThrows(InterruptedException.class, () -> ends.b().receive(NOW));
            ends.a().send(tensor);
            try (Tensor got = ends.b().receive(PATIENCE).orElseThrow()) {
                assertEquals(4, got.view().getDouble(0));
            }
        }
    }

    @Test
    void aCloseEndsTheWaitOfAnotherThread() throws Exception {
        Path path = Path.of("/tmp/hurray-close-" + ProcessHandle.current().pid());
        Ends ends = Ends.open(ChannelOptions.DEFAULT);
        ChannelListener listener = ChannelListener.listen(path);
        Waiter receiver = new Waiter(() -> ends.b().receive());
        Waiter accepter = new Waiter(listener::accept);
        Thread.sleep(50);
        ends.b().close();
        listener.close();
        for (Waiter waiter : new Waiter[] {receiver, accepter}) {
            Throwable failure = waiter.end();
            assertTrue(failure instanceof IllegalStateException && failure.getMessage().contains("closed"), String.valueOf(failure));
        }
        ends.close();
        listener.close();
        Failures.expectClosed(() -> ends.a().info());
        Failures.expectClosed(() -> ends.a().finish());
        Failures.expectClosed(() -> ends.a().process());
        Failures.expectClosed(() -> ends.a().fd());
        Failures.expectClosed(() -> ends.a().receive(NOW));
        Failures.expectClosed(() -> listener.accept(NOW));
        try (Tensor tensor = Tensor.copyOf(new float[] {1}, 1)) {
            Failures.expectClosed(() -> ends.a().send(tensor));
        }
    }

    @Test
    void threadsTakeTurns() throws Exception {
        int each = 300;
        try (Ends ends = Ends.open(ChannelOptions.DEFAULT)) {
            Waiter[] waiters = new Waiter[4];
            for (int i = 0; i < 4; ++i) {
                Channel end = i % 2 == 0 ? ends.a() : ends.b();
                waiters[i] =
                        i < 2
                                ? new Waiter(
                                        () -> {
                                            for (int n = 0; n < each; ++n) {
                                                try (Tensor tensor = Tensor.copyOf(new long[] {n}, 1)) {
                                                    end.send(tensor);
                                                }
                                            }
                                        })
                                : new Waiter(
                                        () -> {
                                            for (int n = 0; n < each; ++n) {
                                                try (Tensor tensor = end.receive(PATIENCE).orElseThrow()) {
                                                    assertEquals(n, tensor.view().getLong(0));
                                                }
                                            }
                                        });
            }
            for (Waiter waiter : waiters) {
                assertNull(waiter.end());
            }
        }
    }

    @Test
    void onlyConnectedSocketsOfPacketsAreChannels() throws Exception {
        Failures.expect(StatusCode.INVALID_ARGUMENT, () -> Channel.ofFd(-1, ChannelOptions.DEFAULT));
        try (FileInputStream file = new FileInputStream("/dev/null")) {
            int fd = NativeMemory.number(file.getFD());
            Failures.expect(StatusCode.INVALID_ARGUMENT, () -> Channel.ofFd(fd, ChannelOptions.DEFAULT.withCloseFd(true)));
            assertTrue(Sockets.isOpen(fd), "on failure it stays the caller's");
        }
        int[] sockets = Sockets.pair();
        Channel taken = Channel.ofFd(sockets[0], ChannelOptions.DEFAULT.withCloseFd(true));
        Channel lent = Channel.ofFd(sockets[1], ChannelOptions.DEFAULT);
        assertTrue(Sockets.isOpen(taken.fd()));
        taken.close();
        lent.close();
        assertFalse(Sockets.isOpen(sockets[0]));
        assertTrue(Sockets.isOpen(sockets[1]));
        Sockets.close(sockets[1]);
    }

    @Test
    void theCollectorEndsWhatNobodyCloses() throws Exception {
        long before = Hurray.liveHandles(HandleKind.CHANNEL).handles();
        forget();
        assertTrue(collectUntil(() -> Hurray.liveHandles(HandleKind.CHANNEL).handles() == before));
    }

    private static void forget() throws InterruptedException {
        Ends ends = Ends.open(ChannelOptions.DEFAULT);
        ends.a().send(Tensor.copyOf(new float[] {1}, 1));
        ends.b().receive(PATIENCE).orElseThrow();
        ends.b().send(Tensor.copyOf(new float[] {1}, 1));
    }
}
