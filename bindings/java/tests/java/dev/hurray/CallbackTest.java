package dev.hurray;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Streams of Java as sources and sinks, tensors that are made when they are written, and tensors that are read bit by bit. */
class CallbackTest extends Baseline {
    @TempDir Path folder;

    /** An input that gives a byte at a time. */
    private static final class Drops extends InputStream {
        private final byte[] bytes;
        int position;

        Drops(byte[] bytes) {
            this.bytes = bytes;
        }

        @Override
        public int read() {
            return position == bytes.length ? -1 : bytes[position++] & 0xFF;
        }

        @Override
        public int read(byte[] into, int offset, int length) {
            int next = length == 0 ? -1 : read();
            if (next >= 0) {
                into[offset] = (byte) next;
            }
            return next < 0 ? -1 : 1;
        }
    }

    private static InputStream throwing(Throwable what) {
        return new InputStream() {
            @Override
            public int read() throws IOException {
                return thrown(what);
            }

            @Override
            public int read(byte[] into, int offset, int length) throws IOException {
                return thrown(what);
            }
        };
    }

    private static OutputStream refusing(Throwable what) {
        return new OutputStream() {
            @Override
            public void write(int b) throws IOException {
                thrown(what);
            }

            @Override
            public void write(byte[] bytes, int offset, int length) throws IOException {
                thrown(what);
            }
        };
    }

    private static int thrown(Throwable what) throws IOException {
        if (what instanceof IOException io) {
            throw io;
        }
        if (what instanceof Error error) {
            throw error;
        }
        throw (RuntimeException) what;
    }

    private static final List<Throwable> FAULTS =
            List.of(
                    new IOException("gone"),
                    new IllegalArgumentException("odd"),
                    new HurrayException(StatusCode.LIMIT_EXCEEDED, "enough"),
                    new AssertionError("worse"));
    private static final List<StatusCode> CODES =
            List.of(StatusCode.IO, StatusCode.INTERNAL_PANIC, StatusCode.LIMIT_EXCEEDED, StatusCode.INTERNAL_PANIC);

    private static Tensor numbers(int count) {
        float[] values = new float[count];
        for (int i = 0; i < count; ++i) {
            values[i] = i;
        }
        return Tensor.copyOf(values, count);
    }

    /** Three tensors as a stream, the middle one longer than what goes through at once. */
    private static byte[] stream() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (StreamWriter writer = StreamWriter.of(out);
                StreamWriter memory = StreamWriter.toMemory();
                Tensor scalar = Tensor.copyOf(new double[] {0.5});
                Tensor many = numbers(100_000);
                Tensor empty = Tensor.copyOf(new long[0], 0, 4)) {
            for (Tensor tensor : new Tensor[] {scalar, many, empty}) {
                writer.write(tensor);
                memory.write(tensor);
            }
            try (TensorBuffer whole = memory.take()) {
                assertEquals(whole.bytes(), ByteBuffer.wrap(out.toByteArray()));
            }
        }
        return out.toByteArray();
    }

    @Test
    void streamsOfJavaThereAndBack() {
        byte[] bytes = stream();
        for (InputStream in : new InputStream[] {new ByteArrayInputStream(bytes), new Drops(bytes)}) {
            try (StreamReader reader = StreamReader.of(in)) {
                try (Tensor scalar = reader.next().orElseThrow()) {
                    assertEquals(0.5, scalar.view().getDouble());
                }
                try (Tensor many = reader.next().orElseThrow()) {
                    assertEquals(99_999, many.view().getDouble(99_999));
                }
                try (Tensor empty = reader.next().orElseThrow()) {
                    assertArrayEquals(new long[] {0, 4}, empty.view().shape());
                }
                assertTrue(reader.next().isEmpty());
            }
        }
    }

    @Test
    void nothingBeyondTheTensorIsRead() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (StreamWriter writer = StreamWriter.of(out);
                Tensor tensor = numbers(3)) {
            writer.write(tensor);
        }
        out.write(new byte[] {42, 43});
        ByteArrayInputStream in = new ByteArrayInputStream(out.toByteArray());
        try (StreamReader reader = StreamReader.of(in);
                Tensor tensor = reader.next().orElseThrow()) {
            assertEquals(2, tensor.view().getDouble(2));
        }
        assertEquals(42, in.read());
    }

    @Test
    void whatAStreamThrowsIsATypedErrorAndItsCause() {
        for (int i = 0; i < FAULTS.size(); ++i) {
            Throwable fault = FAULTS.get(i);
            try (StreamReader reader = StreamReader.of(throwing(fault))) {
                HurrayException failure = Failures.expect(CODES.get(i), reader::next);
                assertSame(fault, failure.getCause());
                HurrayException again = Failures.expect(failure.code(), reader::next);
                assertTrue(again.getCause() == null, "nothing was thrown this time");
            }
            try (StreamWriter writer = StreamWriter.of(refusing(fault));
                    Tensor tensor = numbers(3)) {
                assertSame(fault, Failures.expect(CODES.get(i), () -> writer.write(tensor)).getCause());
            }
            try (ModelFileWriter writer = ModelFileWriter.to(refusing(fault), FileWriterOptions.of(FileFormat.HRRY));
                    Tensor tensor = numbers(3)) {
                assertSame(
                        fault,
                        Failures.expect(
                                        CODES.get(i),
                                        () -> {
                                            writer.add("w", tensor);
                                            writer.finish();
                                        })
                                .getCause());
            }
        }
        InputStream stuck =
                new InputStream() {
                    @Override
                    public int read() {
                        return 0;
                    }

                    @Override
                    public int read(byte[] into, int offset, int length) {
                        return 0;
                    }
                };
        try (StreamReader reader = StreamReader.of(stuck)) {
            Failures.expect(StatusCode.IO, reader::next);
        }
        byte[] whole = stream();
        try (StreamReader reader = StreamReader.of(new ByteArrayInputStream(whole, 0, whole.length - 1))) {
            reader.next().orElseThrow().close();
            reader.next().orElseThrow().close();
            Failures.expect(StatusCode.INVALID_FORMAT, reader::next);
        }
    }

    @Test
    void aStreamThatUsesItsOwnReaderOrWriterIsRefused() {
        AtomicReference<StreamWriter> own = new AtomicReference<>();
        OutputStream closing =
                new OutputStream() {
                    @Override
                    public void write(int b) {
                        own.get().close();
                    }
                };
        try (StreamWriter writer = StreamWriter.of(closing);
                Tensor tensor = numbers(3)) {
            own.set(writer);
            HurrayException failure = Failures.expect(StatusCode.INTERNAL_PANIC, () -> writer.write(tensor));
            assertTrue(failure.getCause() instanceof IllegalStateException, String.valueOf(failure.getCause()));
        }
        AtomicReference<StreamReader> reading = new AtomicReference<>();
        InputStream asking =
                new InputStream() {
                    @Override
                    public int read() {
                        return reading.get().next().isPresent() ? 1 : 0;
                    }
                };
        try (StreamReader reader = StreamReader.of(asking)) {
            reading.set(reader);
            Failures.expect(StatusCode.INVALID_ARGUMENT, reader::next);
        }
    }

    @Test
    void aTensorIsReadBitByBitOrPassedOver() {
        byte[] bytes = stream();
        try (StreamReader reader = StreamReader.of(new ByteArrayInputStream(bytes))) {
            Failures.expect(StatusCode.INVALID_ARGUMENT, () -> reader.read(ByteBuffer.allocateDirect(8)));
            assertEquals(ElementType.FLOAT64, reader.begin().orElseThrow().elementType());
            reader.skip();
            Descriptor many = reader.begin().orElseThrow();
            assertArrayEquals(new long[] {100_000}, many.shape());
            Failures.expect(StatusCode.INVALID_ARGUMENT, reader::begin);
            Failures.expect(StatusCode.INVALID_ARGUMENT, reader::next);
            assertEquals(0, reader.read(ByteBuffer.allocate(0)));
            // A buffer without room is given nothing, whatever is left.
            ByteBuffer data = ByteBuffer.allocate(400_001).order(java.nio.ByteOrder.LITTLE_ENDIAN);
            ByteBuffer direct = ByteBuffer.allocateDirect(1000).position(10).limit(110);
            for (int count = reader.read(direct); count != -1; count = reader.read(data)) {
                if (data.position() == 0) {
                    assertEquals(100, count);
                    assertEquals(110, direct.position());
                    data.put(direct.flip().position(10));
                }
            }
            assertEquals(400_000, data.position());
            assertEquals(99_999, data.getFloat(399_996));
            assertEquals(-1, reader.read(direct.clear()));
            assertEquals(ElementType.INT64, reader.begin().orElseThrow().elementType());
            assertEquals(-1, reader.read(direct));
            assertTrue(reader.begin().isEmpty());
        }
    }

    private static byte[] file(FileFormat format, boolean later) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (ModelFileWriter writer = ModelFileWriter.to(out, FileWriterOptions.of(format));
                Tensor tensor = numbers(50_000)) {
            if (later) {
                writer.addSource("data", tensor.descriptor(), () -> numbers(50_000));
            } else {
                writer.add("data", tensor);
            }
            writer.finish();
        }
        return out.toByteArray();
    }

    @Test
    void aModelFileGoesToAStreamAndItsTensorsAreMadeWhenTheyAreWritten() throws IOException {
        for (FileFormat format : List.of(FileFormat.SAFETENSORS, FileFormat.HRRY, FileFormat.GGUF, FileFormat.NPY, FileFormat.NPZ)) {
            Path path = folder.resolve("by-path");
            try (ModelFileWriter writer = ModelFileWriter.create(path, format);
                    Tensor tensor = numbers(50_000)) {
                writer.add("data", tensor);
                writer.finish();
            }
            assertArrayEquals(Files.readAllBytes(path), file(format, false), format.toString());
            assertArrayEquals(Files.readAllBytes(path), file(format, true), format.toString());
        }
    }

    @Test
    void sourcesAreAskedOnceAndOneAtATime() {
        List<String> asked = new ArrayList<>();
        long before = Hurray.liveHandles(HandleKind.TENSOR).handles();
        Descriptor what;
        try (Tensor tensor = numbers(3)) {
            what = tensor.descriptor();
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (ModelFileWriter writer = ModelFileWriter.to(out, FileWriterOptions.of(FileFormat.SAFETENSORS))) {
            for (String name : new String[] {"a", "b", "c"}) {
                writer.addSource(
                        name,
                        what,
                        () -> {
                            assertEquals(before, Hurray.liveHandles(HandleKind.TENSOR).handles(), "the one before has ended");
                            asked.add(name);
                            return numbers(3);
                        });
            }
            assertEquals(List.of(), asked);
            writer.finish();
        }
        assertEquals(3, asked.size());
        assertEquals(List.of("a", "b", "c"), asked.stream().sorted().toList());
    }

    @Test
    void aSourceThatFailsOrGivesSomethingElseIsATypedError() {
        Descriptor what;
        try (Tensor tensor = numbers(3)) {
            what = tensor.descriptor();
        }
        for (FileFormat format : List.of(FileFormat.HRRY, FileFormat.SAFETENSORS)) {
            for (int i = 0; i < FAULTS.size(); ++i) {
                Throwable fault = FAULTS.get(i);
                HurrayException failure = Failures.expect(CODES.get(i), () -> write(format, what, () -> numbers(thrown(fault))));
                assertSame(fault, failure.getCause());
            }
            Failures.expect(StatusCode.INVALID_ARGUMENT, () -> write(format, what, () -> null));
            Failures.expect(StatusCode.INVALID_ARGUMENT, () -> write(format, what, () -> numbers(4)));
            HurrayException closed =
                    Failures.expect(
                            StatusCode.INTERNAL_PANIC,
                            () ->
                                    write(
                                            format,
                                            what,
                                            () -> {
                                                Tensor tensor = numbers(3);
                                                tensor.close();
                                                return tensor;
                                            }));
            assertTrue(closed.getCause() instanceof IllegalStateException);
        }
    }

    private static void write(FileFormat format, Descriptor what, java.util.concurrent.Callable<Tensor> source) {
        try (ModelFileWriter writer = ModelFileWriter.to(OutputStream.nullOutputStream(), FileWriterOptions.of(format))) {
            writer.addSource("w", what, source);
            writer.finish();
        }
    }

    @Test
    void whatIsForgottenLetsItsStreamsGo() {
        List<WeakReference<Object>> streams = new ArrayList<>();
        forget(streams);
        assertTrue(collectUntil(() -> streams.stream().allMatch(stream -> stream.get() == null)));
    }

    private static void forget(List<WeakReference<Object>> streams) {
        ByteArrayInputStream in = new ByteArrayInputStream(stream());
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream file = new ByteArrayOutputStream();
        streams.addAll(List.of(new WeakReference<>(in), new WeakReference<>(out), new WeakReference<>(file)));
        StreamReader.of(in).next();
        StreamWriter.of(out);
        ModelFileWriter writer = ModelFileWriter.to(file, FileWriterOptions.of(FileFormat.SAFETENSORS));
        try (Tensor tensor = numbers(3)) {
            writer.addSource("w", tensor.descriptor(), () -> numbers(3));
        }
    }
}
