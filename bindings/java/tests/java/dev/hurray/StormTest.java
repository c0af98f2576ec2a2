package dev.hurray;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The garbage collector at work in the middle of every kind of call, and many handles one after the other. */
class StormTest extends Baseline {
    private static final int ROUNDS = 12;

    @TempDir Path folder;

    private interface Call {
        void run() throws Exception;
    }

    private static final DenseSpec FOUR = DenseSpec.rowMajor(ElementType.FLOAT32, 4);

    /** Nothing else holds what it makes: what the binding forgets to keep is gone in the middle of the call. */
    private static Tensor lent() {
        ByteBuffer memory = Memory.at(0, 16);
        memory.asFloatBuffer().put(new float[] {1, 2, 3, 4});
        return Tensor.wrap(FOUR, memory);
    }

    private Map<String, Call> kinds() {
        Map<String, Call> kinds = new LinkedHashMap<>();
        kinds.put("wrap, view", () -> assertEquals(4, lent().view().floats().get(3)));
        kinds.put("elements", () -> assertEquals(3, lent().elementDouble(2)));
        kinds.put("descriptors", () -> assertEquals(lent().descriptor(), Descriptor.decode(lent().descriptor().encode())));
        kinds.put(
                "export, import",
                () -> {
                    TensorExport pair = lent().export();
                    assertEquals(2, Tensor.importFrom(pair.list(), pair.context()).view().floats().get(1));
                });
        kinds.put("copies", () -> assertEquals(4, lent().copy(64).view().floats().get(3)));
        kinds.put("shares", () -> assertEquals(4, lent().share().buffer(0).bytes().asFloatBuffer().get(3)));
        kinds.put(
                "work",
                () -> {
                    Tensor quantized = lent().quantize(QuantizeSpec.perTensor(ElementType.INT8));
                    assertEquals(4, quantized.dequantize(ElementType.FLOAT32).view().floats().get(3), 0.05);
                    assertEquals(4, lent().transcode(TranscodeSpec.to(new LayoutFields.Strided(2))).elementDouble(3));
                    lent().validate(ValidationLevel.DATA);
                    assertEquals(4, lent().statistics(Statistics.RANGE).max());
                });
        kinds.put(
                "composites",
                () -> {
                    Descriptor head =
                            Descriptor.builder(ElementType.FLOAT32, Layout.COMPOSITE, 4)
                                    .layoutFields(new LayoutFields.Composite(CompositionRule.GROUP.value(), 0, 2))
                                    .build();
                    Tensor second = (Tensor) Composite.of(head, lent(), lent()).member(1);
                    assertEquals(4, second.elementDouble(3));
                });
        kinds.put("streams", this::stream);
        kinds.put("files", this::file);
        kinds.put("producers", () -> assertEquals(4, Producer.of(stream -> lent().export(), null).request().view().floats().get(3)));
        return kinds;
    }

    private void stream() throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        StreamWriter writer = StreamWriter.of(bytes);
        writer.write(lent());
        Tensor read = StreamReader.of(new ByteArrayInputStream(bytes.toByteArray())).next().orElseThrow();
        assertEquals(4, read.elementDouble(3));
    }

    private void file() throws Exception {
        Path path = Files.createTempFile(folder, "storm", ".hrry");
        ModelFileWriter writer = ModelFileWriter.create(path, FileFormat.HRRY);
        writer.add("now", lent());
        writer.addSource("later", lent().descriptor(), StormTest::lent);
        writer.setMetadata("k", "v");
        writer.finish();
        assertEquals(4, ModelFile.open(path).tensor("later").view().floats().get(3));
        ByteBuffer image = ByteBuffer.allocateDirect((int) Files.size(path)).put(Files.readAllBytes(path)).flip();
        assertEquals(4, ModelFile.open(image, FileOptions.DEFAULT).tensor("now").elementDouble(3));
        assertEquals(new MetadataValue.Text("v"), ModelFile.open(path).metadata("k").orElseThrow());
    }

    @Test
    void collectionsInTheMiddleOfEveryKindOfCallTakeNothingAway() throws Exception {
        Thread collector =
                new Thread(
                        () -> {
                            while (!Thread.currentThread().isInterrupted()) {
                                System.gc();
                            }
                        });
        collector.setDaemon(true);
        collector.start();
        try {
            for (Map.Entry<String, Call> kind : kinds().entrySet()) {
                for (int i = 0; i < ROUNDS; ++i) {
                    try {
                        kind.getValue().run();
                    } catch (Throwable failure) {
                        throw new AssertionError(kind.getKey() + ", round " + i, failure);
                    }
                }
            }
        } finally {
            collector.interrupt();
            collector.join();
        }
    }

    private static long resident() throws Exception {
        return Long.parseLong(Files.readString(Path.of("/proc/self/statm")).split(" ")[1]) * 4096;
    }

    @Test
    void tenThousandHandlesOfEachKindLeaveResidentMemoryFlat() throws Exception {
        Path path = folder.resolve("many.hrry");
        try (ModelFileWriter writer = ModelFileWriter.create(path, FileFormat.HRRY);
                Tensor tensor = Tensor.copyOf(new float[16 << 10], 16 << 10)) {
            writer.add("x", tensor);
            writer.finish();
        }
        // The first rounds make pools and compile what is hot.
        round(path, 2_000);
        long before = resident();
        round(path, 10_000);
        // Each round makes more than 600 MB, in which a leak of a tenth would show.
        assertTrue(resident() - before < 64L << 20, "grew by " + (resident() - before));
    }

    private static void round(Path path, int count) {
        for (int i = 0; i < count; ++i) {
            try (Tensor tensor = Tensor.allocate(ElementType.FLOAT32, 16 << 10);
                    Tensor share = tensor.share();
                    TensorExport pair = share.export();
                    Tensor imported = Tensor.importFrom(pair.list(), pair.context())) {
                tensor.buffer(0).close();
                assertEquals(16 << 10, imported.descriptor().elementCount());
            }
            if (i % 20 == 0) {
                try (ModelFile file = ModelFile.open(path);
                        Tensor tensor = file.tensor(0)) {
                    assertEquals(16 << 10, tensor.view().elementCount());
                }
            }
        }
    }
}
