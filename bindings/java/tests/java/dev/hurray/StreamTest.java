package dev.hurray;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Streams. */
class StreamTest extends Baseline {
    @TempDir Path folder;

    private static byte[] stream(Tensor... tensors) {
        try (StreamWriter writer = StreamWriter.toMemory()) {
            for (Tensor tensor : tensors) {
                writer.write(tensor);
            }
            return take(writer);
        }
    }

    private static byte[] take(StreamWriter writer) {
        try (TensorBuffer buffer = writer.take()) {
            byte[] bytes = new byte[(int) buffer.info().byteSize()];
            buffer.bytes().get(bytes);
            return bytes;
        }
    }

    @Test
    void memoryThereAndBack() {
        try (Tensor floats = Tensor.copyOf(new float[] {1, 2, 3, 4, 5, 6}, 2, 3);
                Tensor scalar = Tensor.copyOf(new double[] {0.5});
                Tensor empty = Tensor.copyOf(new int[0], 3, 0);
                Tensor strided =
                        Tensor.wrap(
                                DenseSpec.strided(ElementType.INT32, new long[] {3}, new long[] {-1}).byteOffset(8), Memory.at(4, 12));
                Tensor bools = Tensor.copyOf(new boolean[] {true, false, true}, 3)) {
            byte[] stream = stream(floats, scalar, empty, strided, bools);
            try (StreamReader reader = StreamReader.of(stream);
                    StreamWriter again = StreamWriter.toMemory()) {
                List<Descriptor> descriptors = new ArrayList<>();
                for (Optional<Tensor> next = reader.next(); next.isPresent(); next = reader.next()) {
                    try (Tensor tensor = next.get()) {
                        descriptors.add(tensor.descriptor());
                        again.write(tensor);
                    }
                }
                assertEquals(5, descriptors.size());
                assertEquals(floats.descriptor(), descriptors.get(0));
                assertArrayEquals(new long[] {-1}, descriptors.get(3).strides().orElseThrow());
                assertArrayEquals(stream, take(again));
                assertEquals(0, take(again).length, "taken once");
                assertEquals(Optional.empty(), reader.next(), "the end stays the end");
            }
        }
    }

    @Test
    void tensorsDoNotDependOnTheReaderOrItsMemory() {
        Tensor tensor;
        try (Tensor source = Tensor.copyOf(new long[] {1, -2}, 2)) {
            byte[] bytes = stream(source);
            ByteBuffer memory = ByteBuffer.allocateDirect(bytes.length + 5).position(5).put(bytes).position(5);
            try (StreamReader reader = StreamReader.of(memory, StreamOptions.DEFAULT)) {
                tensor = reader.next().orElseThrow();
            }
            for (int i = 0; i < memory.capacity(); ++i) {
                memory.put(i, (byte) 0);
            }
        }
        assertEquals(-2, tensor.view().getLong(1));
        tensor.close();
    }

    @Test
    void files() throws IOException {
        Path path = folder.resolve("stream");
        try (FileOutputStream out = new FileOutputStream(path.toFile());
                StreamWriter writer = StreamWriter.of(out.getFD());
                Tensor tensor = Tensor.copyOf(new short[] {7, 8}, 2)) {
            writer.write(tensor);
            writer.write(tensor);
            Failures.expect(StatusCode.INVALID_ARGUMENT, writer::take);
        }
        try (FileInputStream in = new FileInputStream(path.toFile());
                StreamReader reader = StreamReader.of(in.getFD())) {
            for (int i = 0; i < 2; ++i) {
                try (Tensor tensor = reader.next().orElseThrow()) {
                    assertEquals(8, tensor.view().getLong(1));
                }
            }
            assertTrue(reader.next().isEmpty());
        }
    }

    @Test
    void closedAndForeignDescriptors() throws IOException {
        FileOutputStream closed = new FileOutputStream(folder.resolve("closed").toFile());
        closed.close();
        Failures.expect(StatusCode.INVALID_ARGUMENT, () -> StreamWriter.of(closed.getFD()));
        Failures.expect(StatusCode.INVALID_ARGUMENT, () -> StreamReader.ofFd(-1, StreamOptions.DEFAULT));
        Failures.expect(StatusCode.INVALID_ARGUMENT, () -> StreamReader.of(closed.getFD(), StreamOptions.DEFAULT.withCloseFd(true)));
        Failures.expect(StatusCode.INVALID_ARGUMENT, () -> StreamReader.of(ByteBuffer.allocate(1), StreamOptions.DEFAULT));
        try (StreamReader reader = StreamReader.ofFd(1_000_000, StreamOptions.DEFAULT)) {
            Failures.expect(StatusCode.IO, reader::next);
        }
    }

    @Test
    void cutStreamsSayWhere() {
        byte[] whole;
        try (Tensor tensor = Tensor.copyOf(new float[] {1, 2, 3}, 3)) {
            whole = stream(tensor);
        }
        for (int length = 1; length < whole.length; ++length) {
            try (StreamReader reader = StreamReader.of(java.util.Arrays.copyOf(whole, length))) {
                HurrayException failure = assertThrows(HurrayException.class, reader::next);
                assertEquals(StatusCode.INVALID_FORMAT, failure.code(), failure.getMessage());
                assertTrue(failure.byteOffset().isPresent(), failure.getMessage());
            }
        }
        try (StreamReader nothing = StreamReader.of(new byte[0])) {
            assertTrue(nothing.next().isEmpty());
        }
    }

    @Test
    void limits() throws IOException {
        byte[] whole;
        try (Tensor tensor = Tensor.copyOf(new float[100], 100)) {
            whole = stream(tensor);
        }
        try (StreamReader reader = StreamReader.of(NativeMemory.direct(whole), StreamOptions.DEFAULT.withMaxTensorBytes(399))) {
            Failures.expect(StatusCode.LIMIT_EXCEEDED, reader::next);
        }
        try (StreamReader reader = StreamReader.of(NativeMemory.direct(whole), StreamOptions.DEFAULT.withMaxDescriptorLength(20))) {
            Failures.expect(StatusCode.LIMIT_EXCEEDED, reader::next);
        }
        // An absurd length that nothing stands behind.
        Descriptor absurd =
                Descriptor.builder(ElementType.UINT8, Layout.ROW_MAJOR, 1).addBuffer(BufferHandle.host(1L << 62)).build();
        Path path = folder.resolve("absurd");
        Files.write(path, absurd.encode());
        try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "r");
                StreamReader reader = StreamReader.of(file.getFD())) {
            assertThrows(HurrayException.class, reader::next);
        }
    }

    @Test
    void writesThatTheSystemRefusesAreErrors() throws Exception {
        // The kernel's file behind /dev/full refuses every write.
        try (FileOutputStream full = new FileOutputStream("/dev/full");
                StreamWriter writer = StreamWriter.of(full.getFD());
                Tensor tensor = Tensor.copyOf(new float[] {1}, 1)) {
            Failures.expect(StatusCode.IO, () -> writer.write(tensor));
        }
    }
}
