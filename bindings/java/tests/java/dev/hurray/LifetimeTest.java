package dev.hurray;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.hurray.Memory.Counter;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Closing, and using what is closed. */
class LifetimeTest extends Baseline {
    @Test
    void everythingRefusesUseAfterCloseAndCloseAgainIsNothing() throws Exception {
        Tensor tensor = Tensor.copyOf(new float[] {1}, 1);
        Tensor open = Tensor.copyOf(new float[] {1}, 1);
        TensorBuffer buffer = TensorBuffer.allocate(64, 64);
        BufferList list = BufferList.create();
        TensorContext context = TensorContext.create(open.descriptor().encode(), null);
        StreamReader reader = StreamReader.of(new byte[0]);
        StreamWriter writer = StreamWriter.toMemory();
        java.nio.file.Path path = java.nio.file.Files.createTempFile("hurray", ".safetensors");
        ModelFileWriter fileWriter = ModelFileWriter.create(path, FileFormat.SAFETENSORS);
        fileWriter.add("one", open);
        fileWriter.finish();
        ModelFile file = ModelFile.open(path);
        for (NativeResource resource : List.of(tensor, buffer, list, context, reader, writer, fileWriter, file)) {
            assertEquals(false, resource.isClosed());
            resource.close();
            resource.close();
            assertEquals(true, resource.isClosed());
        }
        Failures.expectClosed(tensor::view);
        Failures.expectClosed(tensor::descriptor);
        Failures.expectClosed(tensor::share);
        Failures.expectClosed(tensor::export);
        Failures.expectClosed(() -> tensor.copy(0));
        Failures.expectClosed(() -> tensor.buffer(0));
        Failures.expectClosed(buffer::info);
        Failures.expectClosed(buffer::share);
        Failures.expectClosed(buffer::handle);
        Failures.expectClosed(buffer::setReadOnly);
        Failures.expectClosed(() -> buffer.slice(0, 1));
        Failures.expectClosed(() -> buffer.bytes(0, 1));
        Failures.expectClosed(list::size);
        Failures.expectClosed(() -> list.share(0));
        Failures.expectClosed(list::releaseAddress);
        Failures.expectClosed(context::abiVersion);
        Failures.expectClosed(context::descriptor);
        Failures.expectClosed(context::releaseAddress);
        Failures.expectClosed(reader::next);
        Failures.expectClosed(() -> writer.write(open));
        Failures.expectClosed(writer::take);
        Failures.expectClosed(() -> fileWriter.add("two", open));
        Failures.expectClosed(() -> fileWriter.setMetadata("a", "b"));
        Failures.expectClosed(fileWriter::finish);
        Failures.expectClosed(file::info);
        Failures.expectClosed(file::names);
        Failures.expectClosed(file::metadata);
        Failures.expectClosed(() -> file.find("one"));
        Failures.expectClosed(() -> file.tensor(0));
        // As arguments of what is open, too.
        try (StreamWriter openWriter = StreamWriter.toMemory();
                BufferList openList = BufferList.create();
                TensorContext openContext = TensorContext.create(open.descriptor().encode(), null)) {
            Failures.expectClosed(() -> openWriter.write(tensor));
            Failures.expectClosed(() -> openList.push(buffer));
            Failures.expectClosed(() -> Tensor.of(open.descriptor(), list));
            Failures.expectClosed(() -> Tensor.importFrom(openList, context));
            Failures.expectClosed(() -> Tensor.importFrom(list, openContext));
            assertEquals(0, openList.size());
            assertEquals(4, openContext.abiVersion());
        }
        open.close();
        java.nio.file.Files.delete(path);
    }

    @Test
    void memoryOfTheLibraryOutlivesItsTensorUnderAByteBuffer() {
        List<ByteBuffer> kept = new ArrayList<>();
        for (int i = 0; i < 50; ++i) {
            try (Tensor tensor = Tensor.copyOf(new int[] {i, ~i}, 2)) {
                kept.add(tensor.view().bytes());
            }
        }
        for (int i = 0; i < 3; ++i) {
            System.gc();
        }
        // What freed memory would be filled with.
        for (int i = 0; i < 50; ++i) {
            Tensor.copyOf(new int[] {-1, -1}, 2).close();
        }
        for (int i = 0; i < 50; ++i) {
            assertEquals(i, kept.get(i).getInt(0));
            assertEquals(~i, kept.get(i).getInt(4));
        }
    }

    @Test
    void buffersAndTheirSlices() {
        Counter released = new Counter();
        ByteBuffer memory = Memory.at(8, 200);
        TensorBuffer.Wrapped wrapped = TensorBuffer.wrap(memory, released);
        assertEquals(8, wrapped.byteOffset());
        try (TensorBuffer buffer = wrapped.buffer();
                TensorBuffer slice = buffer.slice(64, 100);
                TensorBuffer share = slice.share()) {
            assertEquals(208, buffer.info().byteSize());
            assertEquals(8, buffer.info().prefix());
            assertEquals(3, buffer.info().shareCount());
            assertEquals(208, buffer.handle().byteSize());
            assertEquals(100, share.info().byteSize());
            assertEquals(0, share.info().prefix());
            assertEquals(memory.get(56), slice.bytes().get(0));
            assertEquals(memory.get(0), buffer.bytes().get(0));
            assertEquals(200, buffer.bytes().remaining());
            assertEquals(memory.get(199), buffer.bytes(199, 1).get(0));
            Failures.expect(StatusCode.INDEX_OUT_OF_BOUNDS, () -> buffer.bytes(200, 1));
            Failures.expect(StatusCode.INDEX_OUT_OF_BOUNDS, () -> buffer.slice(209, 0));
            Failures.expect(StatusCode.MISALIGNED, () -> buffer.slice(1, 1));
            slice.setReadOnly();
            assertTrue(slice.bytes().isReadOnly());
            assertTrue(slice.info().readOnly());
        }
        Failures.expect(StatusCode.INVALID_ARGUMENT, () -> TensorBuffer.wrap(ByteBuffer.allocate(4), released));
        Failures.expect(StatusCode.INVALID_LAYOUT, () -> TensorBuffer.allocate(1, 65));
        try (TensorBuffer empty = TensorBuffer.allocate(0, 0)) {
            assertEquals(0, empty.bytes().remaining());
        }
        assertTrue(collectUntil(() -> released.count() == 1));
    }

    @Test
    void closingWhileAnotherThreadIsInACallIsRefused() throws Exception {
        // A reader that waits for a pipe which says nothing.
        java.nio.file.Path fifo = java.nio.file.Files.createTempDirectory("hurray").resolve("pipe");
        assertEquals(0, new ProcessBuilder("mkfifo", fifo.toString()).start().waitFor());
        AtomicReference<Object> outcome = new AtomicReference<>();
        try (java.io.RandomAccessFile pipe = new java.io.RandomAccessFile(fifo.toFile(), "rw");
                StreamReader reader = StreamReader.of(pipe.getFD())) {
            Thread waiting =
                    new Thread(
                            () -> {
                                try {
                                    outcome.set(reader.next());
                                } catch (RuntimeException failure) {
                                    outcome.set(failure);
                                }
                            });
            waiting.start();
            for (int i = 0; !reader.isInUse(); ++i) {
                assertTrue(i < 10_000, "the thread does not read");
                Thread.sleep(1);
            }
            IllegalStateException refused = assertThrows(IllegalStateException.class, reader::close);
            assertTrue(refused.getMessage().contains("another thread"), refused.getMessage());
            try (Tensor tensor = Tensor.copyOf(new float[] {7}, 1);
                    StreamWriter writer = StreamWriter.of(pipe.getFD())) {
                writer.write(tensor);
            }
            waiting.join();
            @SuppressWarnings("unchecked")
            java.util.Optional<Tensor> got = (java.util.Optional<Tensor>) outcome.get();
            try (Tensor tensor = got.orElseThrow()) {
                assertEquals(7, tensor.view().getDouble(0));
            }
        }
    }

    @Test
    void viewsOfClosedTensorsDoNotPileUp() {
        long size = 32L << 20;
        long most = 0;
        for (int i = 0; i < 60; ++i) {
            try (Tensor tensor = Tensor.allocate(ElementType.UINT8, size)) {
                assertEquals(0, tensor.view().getLong(size - 1));
            }
            most = Math.max(most, Hurray.liveHandles(HandleKind.BUFFER).bytes());
        }
        // Nothing but the binding itself asks for a collection here: the heap stays almost empty.
        assertTrue(most < 30 * size, most + " bytes were alive at once of " + 60 * size);
    }

    @Test
    void aStormOfCollectionsWhileTensorsComeAndGo() throws Exception {
        Counter released = new Counter();
        AtomicReference<Throwable> failed = new AtomicReference<>();
        int each = 400;
        Thread[] threads = new Thread[4];
        for (int t = 0; t < threads.length; ++t) {
            int seed = t;
            threads[t] =
                    new Thread(
                            () -> {
                                try {
                                    for (int i = 0; i < each; ++i) {
                                        comeAndGo(seed * each + i, released);
                                    }
                                } catch (Throwable failure) {
                                    failed.set(failure);
                                }
                            });
            threads[t].start();
        }
        while (java.util.Arrays.stream(threads).anyMatch(Thread::isAlive)) {
            System.gc();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        if (failed.get() != null) {
            throw new AssertionError(failed.get());
        }
        assertTrue(collectUntil(() -> released.count() == threads.length * each), "released " + released.count());
    }

    /** Some are closed, some are left to the collector, some are exported and imported first. */
    private static void comeAndGo(int number, Runnable released) {
        ByteBuffer memory = Memory.at(number % 64, 32);
        memory.putInt(28, number);
        Tensor tensor = Tensor.wrap(DenseSpec.rowMajor(ElementType.INT32, 8), memory, released);
        memory = null;
        if (number % 3 == 0) {
            try (Tensor first = tensor;
                    TensorExport pair = first.export()) {
                tensor = Tensor.importFrom(pair.list(), pair.context());
            }
        }
        assertEquals(number, tensor.view().getLong(7));
        if (number % 2 == 0) {
            tensor.close();
        }
    }
}
