package dev.hurray;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Model files. */
class FileTest extends Baseline {
    @TempDir Path folder;

    /** A file of safetensors with that header and data. */
    private Path file(String header, byte[] data) throws IOException {
        byte[] json = header.getBytes(StandardCharsets.UTF_8);
        ByteBuffer bytes = ByteBuffer.allocate(8 + json.length + data.length).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putLong(json.length).put(json).put(data);
        Path path = Files.createTempFile(folder, "model", ".safetensors");
        Files.write(path, bytes.array());
        return path;
    }

    @Test
    void whatIsWrittenIsRead() {
        Path path = folder.resolve("m\u00f6del \u4e2d\ud83d\ude00.safetensors");
        String nul = "with\0nul";
        String foreign = "gewichte.\u00e4\u4e2d\ud83d\ude00\"\\";
        try (ModelFileWriter writer = ModelFileWriter.create(path, FileFormat.SAFETENSORS)) {
            try (Tensor floats = Tensor.copyOf(new float[] {1, 2, 3, 4, 5, 6}, 2, 3);
                    Tensor column = Tensor.wrap(DenseSpec.columnMajor(ElementType.INT16, 2, 3), Memory.at(8, 12));
                    Tensor bools = Tensor.copyOf(new boolean[] {true, false, true}, 3);
                    Tensor scalar = Tensor.copyOf(new double[] {0.5});
                    Tensor empty = Tensor.copyOf(new long[0], 0, 4)) {
                writer.add(nul, floats);
                writer.add(foreign, column);
                writer.add("bools", bools);
                writer.add("scalar", scalar);
                writer.add("empty", empty);
                Failures.expect(StatusCode.INVALID_ARGUMENT, () -> writer.add("bools", bools));
                Failures.expect(StatusCode.INVALID_ARGUMENT, () -> writer.add(new byte[] {(byte) 0xFF}, bools));
                Failures.expect(StatusCode.INVALID_ARGUMENT, () -> writer.add("half \ud83d", bools));
            }
            writer.setMetadata("key", "first");
            writer.setMetadata("key", "va\0lue \u00e4");
            assertFalse(Files.exists(path), "nothing is there before the end");
            writer.finish();
            Failures.expect(StatusCode.INVALID_ARGUMENT, writer::finish);
        }
        try (ModelFile file = ModelFile.open(path)) {
            assertEquals(java.util.Set.of(nul, foreign, "bools", "scalar", "empty"), java.util.Set.copyOf(file.names()));
            assertEquals(5, file.size());
            assertEquals(Map.of("key", new MetadataValue.Text("va\0lue \u00e4")), file.metadata());
            FileInfo info = file.info();
            assertEquals(FileFormat.SAFETENSORS, info.format());
            assertEquals(path.toFile().length(), info.fileSize());
            assertEquals(1, info.metadataCount());
            FileTensorInfo tensorInfo = file.tensorInfo(file.find(nul));
            assertEquals(nul, tensorInfo.name());
            assertArrayEquals(nul.getBytes(StandardCharsets.UTF_8), tensorInfo.nameBytes());
            assertEquals(ElementType.FLOAT32, tensorInfo.elementType());
            assertEquals(Layout.ROW_MAJOR, tensorInfo.layout());
            assertEquals(32, tensorInfo.elementBits());
            assertArrayEquals(new long[] {2, 3}, tensorInfo.shape());
            assertEquals(24, tensorInfo.byteSize());
            assertTrue(tensorInfo.fileOffset() > 8);
            checkTensors(file, nul, foreign);
            assertEquals(1, file.info().copiedBytes(), "three truth values were packed into one byte");
            Failures.expect(StatusCode.NOT_FOUND, () -> file.find("not there"));
            Failures.expect(StatusCode.NOT_FOUND, () -> file.find("with"));
            Failures.expect(StatusCode.NOT_FOUND, () -> file.find(new byte[0]));
            Failures.expect(StatusCode.INDEX_OUT_OF_BOUNDS, () -> file.tensor(5));
            Failures.expect(StatusCode.INDEX_OUT_OF_BOUNDS, () -> file.tensorInfo(-1));
        }
    }

    private static void checkTensors(ModelFile file, String nul, String foreign) {
        try (Tensor floats = file.tensor(nul);
                Tensor column = file.tensor(foreign);
                Tensor bools = file.tensor("bools");
                Tensor scalar = file.tensor("scalar");
                Tensor empty = file.tensor("empty")) {
            assertEquals(6, floats.view().getDouble(1, 2));
            assertTrue(floats.view().isReadOnly());
            assertTrue(floats.view().bytes().isReadOnly());
            ByteBuffer pattern = Memory.at(8, 12);
            // Written row-major.
            assertEquals(pattern.getShort(2 * (1 + 2 * 2)), column.view().getLong(1, 2));
            assertTrue(bools.view().getBoolean(2));
            assertFalse(bools.view().getBoolean(1));
            assertEquals(0.5, scalar.view().getDouble());
            assertArrayEquals(new long[] {0, 4}, empty.view().shape());
        }
    }

    @Test
    void tensorsOutliveTheFileAndItsName() throws IOException {
        Path path = file("{\"a\":{\"dtype\":\"I32\",\"shape\":[1],\"data_offsets\":[0,4]}}", new byte[] {1, 2, 3, 4});
        ModelFile file = ModelFile.open(path);
        Tensor tensor = file.tensor("a");
        ByteBuffer bytes = tensor.view().bytes();
        file.close();
        Files.delete(path);
        assertEquals(0x0403_0201, tensor.view().getLong(0));
        tensor.close();
        System.gc();
        assertEquals(0x0403_0201, bytes.getInt(0));
    }

    @Test
    void unalignedDataByThePolicy() throws IOException {
        String header = "{\"a\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,3]},\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[3,7]}}";
        Path path = file(header, new byte[] {1, 2, 3, 0, 0, (byte) 0x80, 0x3F});
        try (ModelFile file = ModelFile.open(path);
                Tensor tensor = file.tensor("b")) {
            assertEquals(1.0, tensor.view().getDouble(0));
            assertEquals(1.0f, tensor.view().floats().get(0));
            assertTrue(tensor.descriptor().byteOffset() != 0);
            assertTrue(NativeMemory.address(tensor.view().bytes()) % 4 != 0);
            assertEquals(0, file.info().copiedBytes());
        }
        try (ModelFile file = ModelFile.open(path, FileOptions.DEFAULT.withAlignment(AlignmentPolicy.COPY));
                Tensor tensor = file.tensor("b")) {
            assertEquals(1.0, tensor.view().getDouble(0));
            assertEquals(0, tensor.descriptor().byteOffset());
            assertEquals(4, file.info().copiedBytes());
        }
        try (ModelFile file = ModelFile.open(path, FileOptions.DEFAULT.withAlignment(AlignmentPolicy.REQUIRE))) {
            Failures.expect(StatusCode.MISALIGNED, () -> file.tensor("b"));
        }
    }

    @Test
    void hostileFilesAreTypedErrors() throws IOException {
        byte[] eight = new byte[8];
        for (String header :
                List.of(
                        "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}",
                        "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,9]}}",
                        "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,7]}}",
                        "{\"a\":{\"dtype\":\"F32\",\"shape\":[4611686018427387904,8],\"data_offsets\":[0,8]}}",
                        "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}",
                        "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}",
                        "[]",
                        "")) {
            Failures.expect(StatusCode.INVALID_FORMAT, () -> ModelFile.open(file(header, eight)));
        }
        // Unlike the others, a type that is not known may be one of a later version of the format.
        HurrayException unknown =
                assertThrows(
                        HurrayException.class,
                        () -> ModelFile.open(file("{\"a\":{\"dtype\":\"Q7\",\"shape\":[2],\"data_offsets\":[0,8]}}", eight)));
        assertTrue(unknown.getMessage().contains("Q7"), unknown.getMessage());
        Path good = file("{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", eight);
        Failures.expect(StatusCode.LIMIT_EXCEEDED, () -> ModelFile.open(good, FileOptions.DEFAULT.withHeaderLimit(10)));
        byte[] bytes = Files.readAllBytes(good);
        for (int length = 0; length < bytes.length; ++length) {
            Path cut = folder.resolve("cut.safetensors");
            Files.write(cut, java.util.Arrays.copyOf(bytes, length));
            assertThrows(HurrayException.class, () -> ModelFile.open(cut, FileOptions.DEFAULT.withFormat(FileFormat.SAFETENSORS)));
        }
        Path bools = file("{\"a\":{\"dtype\":\"BOOL\",\"shape\":[8],\"data_offsets\":[0,8]}}", new byte[] {0, 1, 2, 0, 0, 0, 0, 0});
        try (ModelFile file = ModelFile.open(bools)) {
            Failures.expect(StatusCode.INVALID_FORMAT, () -> file.tensor("a"));
        }
        Failures.expect(StatusCode.NOT_FOUND, () -> ModelFile.open(folder.resolve("not there")));
        assertThrows(HurrayException.class, () -> ModelFile.open(folder));
        Failures.expect(StatusCode.INVALID_ARGUMENT, () -> FileOptions.DEFAULT.withFormat(FileFormat.UNKNOWN));
        Failures.expect(StatusCode.INVALID_ARGUMENT, () -> ModelFile.open(zipPath()));
    }

    /** A path that no operating system knows. */
    private Path zipPath() throws IOException {
        Path zip = folder.resolve("some.zip");
        if (!Files.exists(zip)) {
            try (java.util.zip.ZipOutputStream out = new java.util.zip.ZipOutputStream(Files.newOutputStream(zip))) {
                out.putNextEntry(new java.util.zip.ZipEntry("inside"));
            }
        }
        java.nio.file.FileSystem system = java.nio.file.FileSystems.newFileSystem(zip);
        return system.getPath("inside");
    }

    @Test
    void aWriterThatDoesNotFinishLeavesTheOldFile() throws IOException {
        Path path = folder.resolve("old.safetensors");
        Files.writeString(path, "old");
        try (ModelFileWriter writer = ModelFileWriter.create(path, FileFormat.SAFETENSORS);
                Tensor tensor = Tensor.copyOf(new float[] {1}, 1)) {
            writer.add("one", tensor);
        }
        assertEquals("old", Files.readString(path));
        try (java.util.stream.Stream<Path> left = Files.list(folder)) {
            assertEquals(List.of(path), left.toList());
        }
        Failures.expect(StatusCode.NOT_FOUND, () -> ModelFileWriter.create(folder.resolve("no/such"), FileFormat.SAFETENSORS));
        Failures.expect(StatusCode.INVALID_ARGUMENT, () -> ModelFileWriter.create(path, FileFormat.AUTO));
    }

    @Test
    void aForgottenWriterReleasesOnAThreadOfTheProgram() throws InterruptedException {
        Memory.Counter released = new Memory.Counter();
        forgetWriter(released);
        collectOnlyUntil("writer", () -> Hurray.pendingReleases() + released.count() != 0);
        assertEquals(0, released.count());
        Hurray.drainReleases();
        assertEquals(1, released.count());
        assertEquals(Thread.currentThread(), released.thread);
    }

    private void forgetWriter(Runnable released) {
        ModelFileWriter writer = ModelFileWriter.create(folder.resolve("forgotten"), FileFormat.SAFETENSORS);
        try (Tensor tensor = Tensor.wrap(DenseSpec.rowMajor(ElementType.UINT8, 4), Memory.at(0, 4), released)) {
            writer.add("one", tensor);
        }
    }

    @Test
    void fileNamesThatAreNoTextAreOpenedByTheirBytes() throws Exception {
        Path good = file("{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", new byte[] {42});
        Path strange = Files.createDirectory(folder.resolve("strange"));
        // Latin-1, a percent sign, a line's end.
        String script = "cp \"$1\" \"$2/$(printf '\\351%%41\\nx')\"";
        assertEquals(0, Programs.run(Map.of(), List.of("sh", "-c", script, "sh", good.toString(), strange.toString())).exitCode());
        try (java.util.stream.Stream<Path> files = Files.list(strange)) {
            List<Path> paths = files.toList();
            assertEquals(1, paths.size());
            try (ModelFile file = ModelFile.open(paths.get(0));
                    Tensor tensor = file.tensor("a")) {
                assertEquals(42, tensor.view().getLong(0));
            }
        }
    }

    @Test
    void realFiles() throws IOException {
        String shared = System.getenv("HURRAY_SHARED");
        if (shared == null || !Files.isDirectory(Path.of(shared, "data", "safetensors"))) {
            System.out.println("FileTest.realFiles: skipped, HURRAY_SHARED names no folder with data");
            return;
        }
        int opened = 0;
        try (java.nio.file.DirectoryStream<Path> files = Files.newDirectoryStream(Path.of(shared, "data", "safetensors"), "*.safetensors")) {
            for (Path path : files) {
                try (ModelFile file = ModelFile.open(path)) {
                    for (FileTensorInfo info : file.tensorInfos()) {
                        try (Tensor tensor = file.tensor(info.name())) {
                            TensorView view = tensor.view();
                            assertArrayEquals(info.shape(), view.shape());
                            assertEquals(info.elementType(), view.elementType());
                            byte[] expected = new byte[(int) info.byteSize()];
                            try (java.io.RandomAccessFile raw = new java.io.RandomAccessFile(path.toFile(), "r")) {
                                raw.seek(info.fileOffset());
                                raw.readFully(expected);
                            }
                            if (info.elementType() != ElementType.BOOL) {
                                assertEquals(ByteBuffer.wrap(expected), view.bytes());
                            }
                        }
                    }
                    ++opened;
                }
            }
        }
        assertTrue(opened >= 2, "opened " + opened);
    }
}
