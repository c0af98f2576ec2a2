package dev.hurray;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.FileOutputStream;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Model files of all formats. */
class FileFormatsTest extends Baseline {
    private static final List<FileFormat> FORMATS =
            List.of(FileFormat.SAFETENSORS, FileFormat.HRRY, FileFormat.GGUF, FileFormat.NPY, FileFormat.NPZ);

    @TempDir Path folder;

    /** A file of one tensor of 2 x 3 floats, whose name is the only one that all formats have. */
    private Path written(FileWriterOptions options) throws IOException {
        Path path = Files.createTempFile(folder, "model", "");
        try (ModelFileWriter writer = ModelFileWriter.create(path, options);
                Tensor tensor = Tensor.copyOf(new float[] {1, 2, 3, 4, 5, 6}, 2, 3)) {
            writer.add("data", tensor);
            writer.finish();
        }
        return path;
    }

    private static void expectTensor(ModelFile file, FileFormat format) {
        assertEquals(format, file.info().format());
        assertEquals(List.of("data"), file.names());
        FileTensorInfo info = file.tensorInfo(0);
        assertEquals(ElementType.FLOAT32, info.elementType());
        assertArrayEquals(new long[] {2, 3}, info.shape());
        assertEquals(Optional.empty(), info.scheme());
        assertEquals(0, info.schemeTag());
        String word = Map.of(FileFormat.HRRY, "", FileFormat.NPY, "<f4", FileFormat.NPZ, "<f4").getOrDefault(format, "F32");
        assertEquals(word, info.storedType());
        Descriptor descriptor = file.descriptor(0);
        assertEquals(Layout.ROW_MAJOR, descriptor.layout());
        assertArrayEquals(new long[] {2, 3}, descriptor.shape());
        try (Tensor tensor = file.tensor("data")) {
            assertEquals(6, tensor.view().getDouble(1, 2));
            assertTrue(tensor.view().isReadOnly());
        }
    }

    @Test
    void everyFormatIsWrittenAndReadMappedReadAndFromMemory() throws IOException {
        for (FileFormat format : FORMATS) {
            Path path = written(FileWriterOptions.of(format));
            try (ModelFile file = ModelFile.open(path)) {
                expectTensor(file, format);
                assertEquals(0, file.info().copiedBytes(), format.toString());
                ModelFile.Range range = file.bufferRange(0, 0);
                ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(path)).order(java.nio.ByteOrder.LITTLE_ENDIAN);
                assertEquals(24, range.size(), format.toString());
                assertEquals(6, bytes.getFloat((int) range.offset() + 20), format.toString());
                Failures.expect(StatusCode.INDEX_OUT_OF_BOUNDS, () -> file.bufferRange(0, 1));
                Failures.expect(StatusCode.INDEX_OUT_OF_BOUNDS, () -> file.descriptor(1));
                if (format != FileFormat.HRRY && format != FileFormat.GGUF) {
                    assertEquals(Optional.empty(), file.metadata("nothing"));
                }
            }
            FileOptions read = FileOptions.DEFAULT.withAccess(FileAccess.READ).withFormat(format);
            try (ModelFile file = ModelFile.open(path, read)) {
                expectTensor(file, format);
                assertTrue(file.info().copiedBytes() >= 24, format.toString());
            }
            ByteBuffer image = Memory.at(3, (int) Files.size(path));
            image.duplicate().put(Files.readAllBytes(path));
            try (ModelFile file = ModelFile.open(image, FileOptions.DEFAULT)) {
                image = null;
                System.gc();
                expectTensor(file, format);
            }
        }
    }

    @Test
    void aTensorOfAFileInMemoryOutlivesItAndAForgottenOneEndsOnAThreadOfTheProgram() throws Exception {
        byte[] bytes = Files.readAllBytes(written(FileWriterOptions.of(FileFormat.HRRY)));
        Memory.Counter released = new Memory.Counter();
        forget(bytes, released);
        collectOnlyUntil("file", () -> Hurray.pendingReleases() + released.count() != 0);
        assertEquals(0, released.count());
        Hurray.drainReleases();
        assertEquals(1, released.count());
        ByteBuffer kept;
        try (ModelFile file = ModelFile.open(NativeMemory.direct(bytes), FileOptions.DEFAULT);
                Tensor tensor = file.tensor(0)) {
            kept = tensor.view().bytes();
        }
        System.gc();
        assertEquals(6, kept.getFloat(20));
    }

    private static void forget(byte[] bytes, Runnable released) {
        try (TensorBuffer image = TensorBuffer.wrap(NativeMemory.direct(bytes), released).buffer()) {
            ModelFile.open(image, FileOptions.DEFAULT).info();
        }
    }

    private static Map<String, MetadataValue> everyValue() {
        Map<String, MetadataValue> values = new LinkedHashMap<>();
        values.put("text", new MetadataValue.Text("va\0lue \u00e4\ud83d\ude00"));
        values.put("empty text", new MetadataValue.Text(""));
        values.put("signed", new MetadataValue.Int64(Long.MIN_VALUE));
        values.put("unsigned", new MetadataValue.UInt64(-1));
        values.put("float", new MetadataValue.Float64(-0.0));
        values.put("true", new MetadataValue.Bool(true));
        values.put("false", new MetadataValue.Bool(false));
        values.put(
                "texts",
                new MetadataValue.Array(
                        MetadataType.STRING,
                        List.of(new MetadataValue.Text("a"), new MetadataValue.Text(""), new MetadataValue.Text("\u4e2d"))));
        values.put("numbers", new MetadataValue.Array(MetadataType.INT64, List.of(new MetadataValue.Int64(-5), new MetadataValue.Int64(7))));
        values.put("none", new MetadataValue.Array(MetadataType.FLOAT64, List.of()));
        values.put("truths", new MetadataValue.Array(MetadataType.BOOL, List.of(new MetadataValue.Bool(true), new MetadataValue.Bool(false))));
        return values;
    }

    @Test
    void metadataOfEveryTypeComesBackAsItIs() throws IOException {
        for (FileFormat format : List.of(FileFormat.HRRY, FileFormat.GGUF)) {
            Map<String, MetadataValue> values = everyValue();
            if (format == FileFormat.HRRY) {
                values.put("bytes", new MetadataValue.Bytes(new byte[] {0, -1, 7}));
                values.put(
                        "many bytes",
                        new MetadataValue.Array(
                                MetadataType.BYTES, List.of(new MetadataValue.Bytes(new byte[0]), new MetadataValue.Bytes(new byte[] {1}))));
            }
            Path path = Files.createTempFile(folder, "model", "");
            try (ModelFileWriter writer = ModelFileWriter.create(path, format);
                    Tensor tensor = Tensor.copyOf(new float[] {1}, 1)) {
                writer.setMetadata("text", new MetadataValue.Int64(1)); // the last value counts
                values.forEach(writer::setMetadata);
                writer.add("w", tensor);
                Failures.expect(StatusCode.INVALID_ARGUMENT, () -> writer.setMetadata("x", new MetadataValue.Unknown(99)));
                writer.finish();
            }
            try (ModelFile file = ModelFile.open(path)) {
                Map<String, MetadataValue> found = file.metadata();
                values.forEach((key, value) -> assertEquals(value, found.get(key), format + " " + key));
                values.forEach((key, value) -> assertEquals(Optional.of(value), file.metadata(key), format + " " + key));
                assertEquals(Optional.empty(), file.metadata("no such key"));
                assertEquals(BigInteger.TWO.pow(64).subtract(BigInteger.ONE), found.get("unsigned").value());
                assertEquals(List.of(-5L, 7L), found.get("numbers").value());
                assertEquals(List.of("a", "", "\u4e2d"), found.get("texts").value());
            }
        }
        assertNull(new MetadataValue.Unknown(99).value());
        assertEquals(MetadataType.UNKNOWN, new MetadataValue.Unknown(99).type());
        Failures.expect(
                StatusCode.INVALID_ARGUMENT,
                () -> new MetadataValue.Array(MetadataType.INT64, List.of(new MetadataValue.Text("no number"))));
        Failures.expect(StatusCode.INVALID_ARGUMENT, () -> new MetadataValue.Array(MetadataType.ARRAY, List.of()));
    }

    @Test
    void whatAFormatCannotHoldIsRefused() {
        try (ModelFileWriter safetensors = ModelFileWriter.create(folder.resolve("s"), FileFormat.SAFETENSORS);
                ModelFileWriter npy = ModelFileWriter.create(folder.resolve("n"), FileFormat.NPY)) {
            Failures.expect(StatusCode.UNSUPPORTED, () -> safetensors.setMetadata("k", new MetadataValue.Int64(1)));
            Failures.expect(StatusCode.UNSUPPORTED, () -> npy.setMetadata("k", "v"));
        }
        FileWriterOptions npy = FileWriterOptions.of(FileFormat.NPY);
        Failures.expect(StatusCode.INVALID_ARGUMENT, () -> ModelFileWriter.create(folder.resolve("o"), npy.withCompress(true)));
        Failures.expect(StatusCode.INVALID_ARGUMENT, () -> ModelFileWriter.create(folder.resolve("o"), npy.withDataAlignment(4096)));
        Failures.expect(
                StatusCode.INVALID_ARGUMENT,
                () -> ModelFileWriter.create(folder.resolve("o"), FileWriterOptions.of(FileFormat.HRRY).withDataAlignment(5000)));
        Failures.expect(StatusCode.INVALID_ARGUMENT, () -> FileWriterOptions.of(FileFormat.UNKNOWN));
        Failures.expect(StatusCode.INVALID_ARGUMENT, () -> FileOptions.DEFAULT.withAccess(FileAccess.UNKNOWN));
        Failures.expect(StatusCode.INVALID_ARGUMENT, () -> ModelFileWriter.toFd(-1, npy));
    }

    @Test
    void optionsOfWritersAreTheFiles() throws IOException {
        try (ModelFile file = ModelFile.open(written(FileWriterOptions.of(FileFormat.HRRY).withDataAlignment(1 << 16)))) {
            assertEquals(0, file.bufferRange(0, 0).offset() % (1 << 16));
        }
        Path compressed = folder.resolve("c.npz");
        try (ModelFileWriter writer = ModelFileWriter.create(compressed, FileWriterOptions.of(FileFormat.NPZ).withCompress(true));
                Tensor zeros = Tensor.allocate(ElementType.FLOAT32, 100, 100)) {
            writer.add("zeros", zeros);
            writer.finish();
        }
        assertTrue(Files.size(compressed) < 4000, Files.size(compressed) + " bytes");
        try (ModelFile file = ModelFile.open(compressed);
                Tensor zeros = file.tensor("zeros")) {
            assertEquals(0, zeros.view().getDouble(99, 99));
            assertEquals(40_000, file.info().copiedBytes());
        }
        List<String> names = new ArrayList<>();
        Path unsorted = folder.resolve("u.hrry");
        try (ModelFileWriter writer =
                        ModelFileWriter.create(unsorted, FileWriterOptions.of(FileFormat.HRRY).withUnsortedIndex(true));
                Tensor column = Tensor.wrap(DenseSpec.columnMajor(ElementType.INT16, 2, 3), Memory.at(8, 12));
                Tensor bools = Tensor.copyOf(new boolean[] {true, false, true}, 3);
                Tensor scalar = Tensor.copyOf(new double[] {0.5});
                Tensor empty = Tensor.copyOf(new long[0], 0, 4)) {
            for (Tensor tensor : new Tensor[] {scalar, empty, bools, column}) {
                names.add("z\0\u00e4" + (9 - names.size()));
                writer.add(names.get(names.size() - 1), tensor);
            }
            writer.finish();
        }
        try (ModelFile file = ModelFile.open(unsorted);
                Tensor column = file.tensor(names.get(3));
                Tensor scalar = file.tensor(names.get(0))) {
            assertEquals(names, file.names());
            assertEquals(Memory.at(8, 12).getShort(2 * (1 + 2 * 2)), column.view().getLong(1, 2));
            assertEquals(0.5, scalar.view().getDouble());
        }
    }

    @Test
    void aFileDescriptorTakesTheSameBytes() throws IOException {
        for (FileFormat format : FORMATS) {
            Path path = folder.resolve("by-fd");
            try (FileOutputStream out = new FileOutputStream(path.toFile());
                    ModelFileWriter writer = ModelFileWriter.toFd(NativeMemory.number(out.getFD()), FileWriterOptions.of(format));
                    Tensor tensor = Tensor.copyOf(new float[] {1, 2, 3, 4, 5, 6}, 2, 3)) {
                writer.add("data", tensor);
                writer.finish();
                assertEquals(0, writer.copiedBytes());
            }
            assertArrayEquals(Files.readAllBytes(written(FileWriterOptions.of(format))), Files.readAllBytes(path), format.toString());
        }
    }

    @Test
    void cutFilesOfEveryFormatAreTypedErrors() throws IOException {
        for (FileFormat format : FORMATS) {
            byte[] whole = Files.readAllBytes(written(FileWriterOptions.of(format)));
            int step = Math.max(1, whole.length / 97);
            FileOptions options = FileOptions.DEFAULT.withFormat(format);
            int end = whole.length;
            if (format == FileFormat.GGUF) {
                // What pads the last tensor may be missing.
                try (ModelFile file = ModelFile.open(NativeMemory.direct(whole), options)) {
                    end = (int) (file.bufferRange(0, 0).offset() + file.bufferRange(0, 0).size());
                }
            }
            for (int length = 0; length < end; length += step) {
                ByteBuffer cut = NativeMemory.direct(Arrays.copyOf(whole, length));
                HurrayException failure = assertThrows(HurrayException.class, () -> ModelFile.open(cut, options).tensor(0));
                assertTrue(
                        List.of(StatusCode.INVALID_FORMAT, StatusCode.INVALID_MAGIC, StatusCode.UNSUPPORTED).contains(failure.code()),
                        format + " cut at " + cut.capacity() + ": " + failure.code() + " " + failure.getMessage());
            }
        }
        Failures.expect(StatusCode.INVALID_ARGUMENT, () -> ModelFile.open(ByteBuffer.allocate(10), FileOptions.DEFAULT));
        HurrayException nothing =
                assertThrows(HurrayException.class, () -> ModelFile.open(NativeMemory.direct(new byte[9]), FileOptions.DEFAULT));
        assertFalse(nothing.code() == StatusCode.UNKNOWN, nothing.getMessage());
    }

    @Test
    void realFilesOfGguf() throws IOException {
        String shared = System.getenv("HURRAY_SHARED");
        if (shared == null || !Files.isDirectory(Path.of(shared, "data", "gguf"))) {
            System.out.println("FileFormatsTest.realFilesOfGguf: skipped, HURRAY_SHARED names no folder with data");
            return;
        }
        FileOptions floats = FileOptions.DEFAULT.withInexactBlocks(InexactBlocks.FLOAT32).withNoExactSchemes(true);
        int opened = 0;
        try (java.nio.file.DirectoryStream<Path> paths = Files.newDirectoryStream(Path.of(shared, "data", "gguf"), "*_quants.gguf")) {
            for (Path path : paths) {
                // What the format's own library makes of it, tensor after tensor.
                Path floatsOf = path.resolveSibling(path.getFileName().toString().replace(".gguf", ".f32"));
                ByteBuffer expected = ByteBuffer.wrap(Files.readAllBytes(floatsOf)).order(java.nio.ByteOrder.LITTLE_ENDIAN);
                try (ModelFile raw = ModelFile.open(path);
                        ModelFile decoded = ModelFile.open(path, floats)) {
                    assertEquals(FileFormat.GGUF, raw.info().format());
                    assertFalse(raw.metadata().isEmpty());
                    assertEquals(raw.metadata(), decoded.metadata());
                    for (long i = 0; i < raw.size(); ++i) {
                        assertFalse(raw.tensorInfo(i).storedType().isEmpty());
                        assertEquals(
                                raw.descriptor(i).quantization().isPresent(), raw.tensorInfo(i).scheme().isPresent(), path + " " + i);
                        try (Tensor tensor = decoded.tensor(i)) {
                            TensorView view = tensor.view();
                            for (int k = 0; k < view.elementCount(); ++k) {
                                float found =
                                        switch (view.elementType()) {
                                            case FLOAT32 -> view.floats().get(k);
                                            case FLOAT16 -> Float16.fromBits(view.shorts().get(k));
                                            default -> Float16.fromBfloat16Bits(view.shorts().get(k));
                                        };
                                assertEquals(expected.getFloat(), found, path + " " + decoded.tensorInfo(i) + " at " + k);
                            }
                        }
                    }
                    assertFalse(expected.hasRemaining());
                    assertTrue(decoded.info().copiedBytes() > 0);
                    ++opened;
                }
                Failures.expect(
                        StatusCode.UNSUPPORTED,
                        () -> {
                            try (ModelFile strict =
                                    ModelFile.open(path, FileOptions.DEFAULT.withInexactBlocks(InexactBlocks.REFUSE).withNoExactSchemes(true))) {
                                for (long i = 0; i < strict.size(); ++i) {
                                    strict.tensor(i).close();
                                }
                            }
                        });
            }
        }
        assertTrue(opened >= 2, "opened " + opened);
    }
}
