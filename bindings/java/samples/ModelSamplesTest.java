package samples;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.hurray.CombineOp;
import dev.hurray.Composite;
import dev.hurray.CompositionRule;
import dev.hurray.Descriptor;
import dev.hurray.ElementType;
import dev.hurray.BufferHandle;
import dev.hurray.Layout;
import dev.hurray.LayoutFields;
import dev.hurray.ModelFile;
import dev.hurray.QuantizeSpec;
import dev.hurray.Statistics;
import dev.hurray.StreamOptions;
import dev.hurray.StreamReader;
import dev.hurray.Tensor;
import dev.hurray.TensorBuffer;
import dev.hurray.TensorItem;
import dev.hurray.TranscodeSpec;
import dev.hurray.ValidationLevel;
import dev.hurray.WorkOptions;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The code of the README that works on models, run and compared with computations of its own. */
class ModelSamplesTest {
    private static final int INPUTS = 24;
    private static final int OUTPUTS = 7;

    @TempDir Path folder;

    // sample: layer
    /** silu(weight x + bias), of the layer of that name. */
    static float[] layer(Path model, String name, float[] x) {
        try (ModelFile file = ModelFile.open(model); // mapped: only the layer's pages are read
                Tensor weight = file.tensor(name + ".weight");
                Tensor bias = file.tensor(name + ".bias")) {
            FloatBuffer rows = weight.view().floats();
            float[] y = new float[(int) bias.view().elementCount()];
            bias.view().floats().get(y);
            for (int row = 0; row < y.length; ++row) {
                for (int column = 0; column < x.length; ++column) {
                    y[row] += rows.get(row * x.length + column) * x[column];
                }
                y[row] /= 1 + (float) Math.exp(-y[row]);
            }
            return y;
        }
    }
    // end sample

    /** A safetensors file, written here byte by byte. */
    private Path model(double[][] weight, double[] bias) throws IOException {
        String header =
                "{\"up.weight\":{\"dtype\":\"F32\",\"shape\":[" + OUTPUTS + "," + INPUTS + "],\"data_offsets\":[0," + 4 * OUTPUTS * INPUTS
                        + "]},\"up.bias\":{\"dtype\":\"F32\",\"shape\":[" + OUTPUTS + "],\"data_offsets\":[" + 4 * OUTPUTS * INPUTS + ","
                        + 4 * OUTPUTS * (INPUTS + 1) + "]}}";
        byte[] text = header.getBytes(StandardCharsets.UTF_8);
        ByteBuffer bytes = ByteBuffer.allocate(8 + text.length + 4 * OUTPUTS * (INPUTS + 1)).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putLong(text.length).put(text);
        for (double[] row : weight) {
            for (double element : row) {
                bytes.putFloat((float) element);
            }
        }
        for (double element : bias) {
            bytes.putFloat((float) element);
        }
        return Files.write(folder.resolve("model.safetensors"), bytes.array());
    }

    @Test
    void aLayerOfAModelGivesWhatAComputationInDoublePrecisionGives() throws IOException {
        Random random = new Random(7);
        double[][] weight = new double[OUTPUTS][INPUTS];
        double[] bias = new double[OUTPUTS];
        float[] x = new float[INPUTS];
        for (int column = 0; column < INPUTS; ++column) {
            x[column] = random.nextInt(33) / 16f - 1;
            for (int row = 0; row < OUTPUTS; ++row) {
                weight[row][column] = random.nextInt(65) / 32.0 - 1;
            }
        }
        for (int row = 0; row < OUTPUTS; ++row) {
            bias[row] = random.nextInt(17) / 8.0 - 1;
        }
        float[] y = layer(model(weight, bias), "up", x);
        for (int row = 0; row < OUTPUTS; ++row) {
            double sum = bias[row];
            for (int column = INPUTS - 1; column >= 0; --column) {
                sum += weight[row][column] * x[column];
            }
            assertEquals(sum / (1 + Math.exp(-sum)), y[row], 1e-4);
        }
    }

    @Test
    void work() {
        float[] values = new float[64];
        for (int i = 0; i < values.length; ++i) {
            values[i] = i % 4 == 0 ? 0 : i - 32;
        }
        try (Tensor tensor = Tensor.copyOf(values, 2, 32)) {
            work(tensor);
        }
    }

    private static void work(Tensor tensor) {
        // sample: work
        QuantizeSpec blocks = QuantizeSpec.perBlock(ElementType.INT8, 1, 32).withScaleType(ElementType.FLOAT16);
        try (Tensor quantized = tensor.quantize(blocks);
                Tensor back = quantized.dequantize(ElementType.FLOAT32);
                Tensor sparse = tensor.transcode(TranscodeSpec.to(Layout.CSR))) {
            quantized.validate(ValidationLevel.DATA); // throws what is wrong, and where
            double error = back.elementDouble(1, 3) - tensor.elementDouble(1, 3);
            long stored = sparse.statistics(Statistics.NNZ).nnz();
            // end sample
            assertEquals(0, error, 0.3);
            assertEquals(48, stored);
            WorkOptions options = WorkOptions.DEFAULT.withMemoryLimit(1 << 20);
            tensor.quantize(blocks, options).close();
        }
    }

    private static Tensor shard(float[] values, long offset, long total) {
        Descriptor part =
                Descriptor.builder(ElementType.FLOAT32, Layout.ROW_MAJOR, values.length)
                        .shard(new long[] {total}, new long[] {offset})
                        .addBuffer(BufferHandle.host(4L * values.length))
                        .build();
        try (TensorBuffer memory = TensorBuffer.allocate(4L * values.length, 64)) {
            memory.bytes().order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer().put(values);
            return Tensor.of(part, memory);
        }
    }

    @Test
    void composites() {
        try (Tensor first = shard(new float[] {1, 2}, 0, 3);
                Tensor second = shard(new float[] {3}, 2, 3)) {
            // sample: composite
            Descriptor head =
                    Descriptor.builder(ElementType.FLOAT32, Layout.COMPOSITE, 3)
                            .layoutFields(new LayoutFields.Composite(CompositionRule.PARTITION.value(), CombineOp.NONE.value(), 2))
                            .build();
            float[] whole = new float[3];
            try (Composite shards = Composite.of(head, first, second); // of three numbers in two shards
                    Tensor merged = shards.merged()) {
                merged.view().floats().get(whole);
            }
            // end sample
            assertArrayEquals(new float[] {1, 2, 3}, whole);
        }
    }

    @Test
    void filesInSequence() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes);
                dev.hurray.ModelFileWriter writer =
                        dev.hurray.ModelFileWriter.to(out, dev.hurray.FileWriterOptions.of(dev.hurray.FileFormat.HRRY));
                Tensor one = Tensor.copyOf(new float[] {1}, 1)) {
            writer.add("only", one);
            writer.finish();
        }
        try (InputStream socket = new ByteArrayInputStream(bytes.toByteArray())) {
            assertEquals("1 elements; first: only", inSequence(socket));
        }
    }

    private static String inSequence(InputStream socket) {
        // sample: sequence
        try (StreamReader reader = StreamReader.of(socket, StreamOptions.DEFAULT.withHrryFile(true))) {
            long elements = 0;
            for (var next = reader.nextItem(); next.isPresent(); next = reader.nextItem()) {
                try (TensorItem item = next.get()) { // a Tensor or a Composite
                    elements += item.descriptor().elementCount();
                }
            }
            return elements + " elements; first: " + reader.name(0); // names stand at the end of the file
        }
        // end sample
    }
}
