package dev.hurray;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

/** Single elements, and work on all of them. */
class WorkTest extends Baseline {
    private static final float[] VALUES = {-1, 0, 0.5f, 1, 2, -2, 0, 4};

    private static double[] doubles(Tensor tensor) {
        TensorView view = tensor.view();
        double[] values = new double[(int) view.elementCount()];
        for (int i = 0; i < values.length; ++i) {
            values[i] = tensor.elementDouble(view.rank() == 1 ? new long[] {i} : new long[] {i / view.shape()[1], i % view.shape()[1]});
        }
        return values;
    }

    @Test
    void elementsOfAnyDenseLayoutAreReadByIndex() {
        try (Tensor scalar = Tensor.copyOf(new float[] {2.5f});
                Tensor empty = Tensor.copyOf(new int[0], 3, 0);
                Tensor backwards =
                        Tensor.wrap(
                                DenseSpec.strided(ElementType.INT32, new long[] {3}, new long[] {-1}).byteOffset(8), ints(7, 8, 9));
                Tensor repeated = Tensor.wrap(DenseSpec.strided(ElementType.INT32, new long[] {5}, new long[] {0}), ints(7));
                Tensor bools = Tensor.copyOf(new boolean[] {true, false, true, false, false, false, false, false, true}, 9)) {
            assertEquals(2.5, scalar.elementDouble());
            assertEquals(new Complex(2.5, 0), scalar.elementComplex());
            assertEquals(new ElementBits(32, Float.floatToRawIntBits(2.5f), 0), scalar.elementBits());
            assertEquals(Optional.of(new ElementAddress(0, 0, 0, 32)), scalar.elementAddress());
            Failures.expect(StatusCode.INDEX_OUT_OF_BOUNDS, () -> empty.elementDouble(0, 0));
            assertEquals(9, backwards.elementDouble(0));
            assertEquals(7, backwards.elementDouble(2));
            assertEquals(7, repeated.elementDouble(4));
            assertEquals(1, bools.elementDouble(8));
            assertEquals(0, bools.elementDouble(7));
            assertEquals(Optional.of(new ElementAddress(0, 1, 0, 1)), bools.elementAddress(8));
            assertEquals(Optional.of(new ElementAddress(0, 0, 2, 1)), bools.elementAddress(2));
        }
    }

    private static ByteBuffer ints(int... values) {
        ByteBuffer memory = ByteBuffer.allocateDirect(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        memory.asIntBuffer().put(values);
        return memory;
    }

    @Test
    void indicesThatDoNotFitAreTypedErrors() {
        Tensor tensor = Tensor.copyOf(VALUES, 2, 4);
        Failures.expect(StatusCode.INVALID_ARGUMENT, () -> tensor.elementDouble(0));
        Failures.expect(StatusCode.INVALID_ARGUMENT, () -> tensor.elementBits(0, 0, 0));
        Failures.expect(StatusCode.INVALID_ARGUMENT, () -> tensor.elementComplex(new long[65]));
        Failures.expect(StatusCode.INDEX_OUT_OF_BOUNDS, () -> tensor.elementDouble(2, 0));
        Failures.expect(StatusCode.INDEX_OUT_OF_BOUNDS, () -> tensor.elementAddress(0, -1));
        Failures.expect(StatusCode.INVALID_ARGUMENT, () -> tensor.elementDequantized(0, 0));
        tensor.close();
        Failures.expectClosed(() -> tensor.elementDouble(0, 0));
        Failures.expectClosed(() -> tensor.statistics(Statistics.RANGE));
        Failures.expectClosed(() -> tensor.transcode(TranscodeSpec.to(Layout.COL_MAJOR)));
    }

    @Test
    void quantizedTensorsGiveTheNumbersThatTheyStandFor() {
        try (Tensor tensor = Tensor.copyOf(VALUES, 8);
                Tensor quantized = tensor.quantize(QuantizeSpec.perTensor(ElementType.INT8).withSymmetric(true))) {
            Quantization.PerTensorAffine scheme =
                    (Quantization.PerTensorAffine) quantized.descriptor().quantization().orElseThrow();
            assertEquals(0, scheme.zeroPoint());
            for (int i = 0; i < VALUES.length; ++i) {
                // What the format says, worked out here.
                double expected = scheme.scale() * (float) quantized.elementDouble(i);
                assertEquals((float) expected, quantized.elementDequantized(i));
                assertEquals(VALUES[i], quantized.elementDequantized(i), scheme.scale() / 2 + 1e-6);
            }
            for (ElementType type : List.of(ElementType.FLOAT16, ElementType.BFLOAT16, ElementType.FLOAT32, ElementType.FLOAT64)) {
                try (Tensor back = quantized.dequantize(type)) {
                    assertEquals(type, back.descriptor().elementType());
                    assertTrue(back.descriptor().quantization().isEmpty());
                    assertEquals(VALUES[7], back.elementDouble(7), 0.04);
                }
            }
            Failures.expect(StatusCode.INVALID_ARGUMENT, () -> quantized.dequantize(ElementType.INT8));
            Failures.expect(StatusCode.INVALID_ARGUMENT, () -> quantized.dequantize(ElementType.UNKNOWN));
            Failures.expect(StatusCode.INVALID_ARGUMENT, () -> tensor.dequantize(ElementType.FLOAT32));
            Failures.expect(StatusCode.UNSUPPORTED, () -> quantized.quantize(QuantizeSpec.perTensor(ElementType.INT8)));
        }
    }

    @Test
    void everySchemeCanBeMade() {
        float[] many = new float[128];
        for (int i = 0; i < many.length; ++i) {
            many[i] = (i - 64) / 16f;
        }
        try (Tensor tensor = Tensor.copyOf(many, 2, 64)) {
            for (QuantizeSpec spec :
                    List.of(
                            QuantizeSpec.perTensor(ElementType.UINT8),
                            QuantizeSpec.perChannel(ElementType.INT8, 0),
                            QuantizeSpec.perBlock(ElementType.INT4, 1, 32).withScaleType(ElementType.FLOAT16).withSymmetric(true),
                            QuantizeSpec.nf4(1, 64),
                            QuantizeSpec.mxfp(ElementType.FLOAT8_E4M3, 1, 32))) {
                try (Tensor quantized = tensor.quantize(spec)) {
                    Descriptor descriptor = quantized.descriptor();
                    assertEquals(spec.storageType(), descriptor.elementType());
                    assertEquals(spec.scheme(), descriptor.quantization().orElseThrow().scheme());
                    assertEquals(many[127], quantized.elementDequantized(1, 63), 0.5, spec.toString());
                    quantized.validate(ValidationLevel.DATA);
                }
            }
            Failures.expect(StatusCode.INVALID_ARGUMENT, () -> tensor.quantize(QuantizeSpec.perChannel(ElementType.INT8, 2)));
            Failures.expect(StatusCode.INVALID_ARGUMENT, () -> QuantizeSpec.perBlock(ElementType.INT8, 0, -1));
            Failures.expect(StatusCode.INVALID_ARGUMENT, () -> QuantizeSpec.perTensor(ElementType.UNKNOWN));
        }
        try (Tensor tensor = Tensor.copyOf(new float[] {1, Float.NaN}, 2)) {
            HurrayException refused =
                    Failures.expect(StatusCode.INVALID_ARGUMENT, () -> tensor.quantize(QuantizeSpec.perTensor(ElementType.INT8)));
            assertTrue(refused.getMessage().contains("1"), refused.getMessage());
        }
    }

    @Test
    void elementsSurviveEveryLayout() {
        try (Tensor tensor = Tensor.copyOf(VALUES, 2, 4)) {
            double[] expected = doubles(tensor);
            for (TranscodeSpec spec :
                    List.of(
                            TranscodeSpec.to(Layout.COL_MAJOR),
                            TranscodeSpec.to(Layout.MORTON).alignment(256),
                            TranscodeSpec.to(new LayoutFields.Strided(1, 2)),
                            TranscodeSpec.to(
                                    LayoutFields.Tiled.of(new TileLevel(Layout.ROW_MAJOR, Layout.COL_MAJOR, 2, 2))),
                            TranscodeSpec.to(Layout.CSR),
                            TranscodeSpec.to(Layout.CSC),
                            TranscodeSpec.to(Layout.COO))) {
                try (Tensor other = tensor.transcode(spec);
                        Tensor back = other.transcode(TranscodeSpec.to(Layout.ROW_MAJOR))) {
                    other.validate(ValidationLevel.DATA);
                    assertArrayEquals(expected, doubles(back), other.descriptor().toString());
                    assertEquals(4, other.elementDouble(1, 3));
                }
            }
            try (Tensor sparse = tensor.transcode(TranscodeSpec.to(Layout.CSR))) {
                assertEquals(new LayoutFields.Csr(6), sparse.descriptor().layoutFields().orElseThrow());
                assertEquals(Optional.empty(), sparse.elementAddress(0, 1));
                assertEquals(0, sparse.elementDouble(0, 1));
                assertTrue(sparse.elementAddress(0, 0).isPresent());
            }
            try (Tensor cube = Tensor.copyOf(VALUES, 2, 2, 2);
                    Tensor fibres = cube.transcode(TranscodeSpec.to(new LayoutFields.Csf(0, 2, 0, 1)))) {
                assertEquals(new LayoutFields.Csf(6, 2, 0, 1), fibres.descriptor().layoutFields().orElseThrow());
                assertEquals(-2, fibres.elementDouble(1, 0, 1));
            }
            Failures.expect(StatusCode.INVALID_ARGUMENT, () -> tensor.transcode(TranscodeSpec.to(Layout.STRIDED)));
            Failures.expect(StatusCode.INVALID_ARGUMENT, () -> tensor.transcode(TranscodeSpec.to(Layout.COL_MAJOR).alignment(3)));
            Failures.expect(StatusCode.INVALID_ARGUMENT, () -> tensor.transcode(TranscodeSpec.to(Layout.COL_MAJOR).sequence(0)));
            Failures.expect(StatusCode.INVALID_ARGUMENT, () -> tensor.transcode(TranscodeSpec.to(Layout.COL_MAJOR).tokenCounts(1)));
            Failures.expect(StatusCode.INVALID_ARGUMENT, () -> TranscodeSpec.to(Layout.UNKNOWN));
        }
    }

    @Test
    void sequencesOfPagesBecomeDense() {
        // Two sequences of three tokens and of one, in pages of two tokens with one head and one element.
        Descriptor pages =
                Descriptor.builder(ElementType.FLOAT32, Layout.BLOCK_PAGED, 4, 1, 1)
                        .layoutFields(
                                new LayoutFields.BlockPaged(
                                        2, 3, 0, 2, KvRole.KEY, java.util.OptionalLong.empty(), TableIndex.UINT32))
                        .addBuffer(BufferHandle.host(24))
                        .addBuffer(BufferHandle.host(12))
                        .addBuffer(BufferHandle.host(12))
                        .build();
        try (TensorBuffer data = TensorBuffer.allocate(24, 64);
                TensorBuffer table = TensorBuffer.allocate(12, 64);
                TensorBuffer starts = TensorBuffer.allocate(12, 64)) {
            data.bytes().order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer().put(new float[] {1, 2, 3, 0, 4, 0});
            table.bytes().order(ByteOrder.LITTLE_ENDIAN).asIntBuffer().put(new int[] {0, 1, 2});
            starts.bytes().order(ByteOrder.LITTLE_ENDIAN).asIntBuffer().put(new int[] {0, 2, 3});
            try (Tensor tensor = Tensor.of(pages, data, table, starts);
                    Tensor all = tensor.transcode(TranscodeSpec.to(Layout.ROW_MAJOR).tokenCounts(3, 1));
                    Tensor second = tensor.transcode(TranscodeSpec.to(Layout.ROW_MAJOR).tokenCounts(3, 1).sequence(1))) {
                assertEquals(2, tensor.elementDouble(0, 1, 0, 0));
                assertArrayEquals(new long[] {4, 1, 1}, all.descriptor().shape());
                assertEquals(4, all.elementDouble(3, 0, 0));
                assertArrayEquals(new long[] {1, 1, 1}, second.descriptor().shape());
                assertEquals(4, second.elementDouble(0, 0, 0));
            }
        }
    }

    @Test
    void validationSaysWhatIsWrongAndWhere() {
        Descriptor bools = Descriptor.builder(ElementType.BOOL, Layout.ROW_MAJOR, 3).addBuffer(BufferHandle.host(1)).build();
        try (TensorBuffer memory = TensorBuffer.allocate(1, 64);
                Tensor tensor = Tensor.of(bools, memory)) {
            tensor.validate(ValidationLevel.DATA);
            memory.bytes().put(0, (byte) 0x80);
            tensor.validate(ValidationLevel.DESCRIPTOR);
            tensor.validate(ValidationLevel.BUFFERS);
            Failures.expect(StatusCode.INVALID_LAYOUT, () -> tensor.validate(ValidationLevel.DATA));
            Failures.expect(StatusCode.INVALID_ARGUMENT, () -> tensor.validate(ValidationLevel.UNKNOWN));
        }
    }

    @Test
    void statisticsAreThoseOfTheNumbers() {
        try (Tensor tensor = Tensor.copyOf(VALUES, 8)) {
            Statistics all =
                    tensor.statistics(Statistics.NNZ | Statistics.SPARSITY | Statistics.RANGE | Statistics.MOMENTS | Statistics.NAN_INF);
            assertEquals(6, all.nnz());
            assertEquals(0.25, all.sparsityRatio());
            assertEquals(-2, all.min());
            assertEquals(4, all.max());
            assertEquals(4, all.absMax());
            assertEquals(4.5 / 8, all.mean(), 1e-12);
            assertEquals(false, all.hasNaN());
            assertEquals(Statistics.RANGE, tensor.statistics(Statistics.RANGE).computed());
            Failures.expect(StatusCode.INVALID_ARGUMENT, () -> tensor.statistics(1 << 30));
            // As they are, into a descriptor.
            Descriptor described =
                    Descriptor.builder(ElementType.FLOAT32, Layout.ROW_MAJOR, 8).addBuffer(BufferHandle.host(32)).statistics(all).build();
            assertEquals(all, described.statistics().orElseThrow());
        }
    }

    @Test
    void longWorkTellsHowFarItIs() {
        try (Tensor tensor = Tensor.copyOf(new float[1 << 20], 1 << 20)) {
            List<Long> seen = new ArrayList<>();
            long[] last = new long[1];
            WorkOptions told =
                    WorkOptions.DEFAULT.withProgress(
                            (done, total) -> {
                                assertTrue(seen.isEmpty() || done >= seen.get(seen.size() - 1));
                                assertTrue(done <= total);
                                seen.add(done);
                                last[0] = total;
                                return true;
                            });
            tensor.quantize(QuantizeSpec.perTensor(ElementType.INT8), told).close();
            assertTrue(seen.size() > 1);
            assertEquals(last[0], seen.get(seen.size() - 1), "all of it at the end");
        }
    }

    @Test
    void progressStopsEveryKindOfLongWorkAndLeavesNothingBehind() {
        try (Tensor tensor = Tensor.copyOf(VALUES, 2, 4);
                Tensor quantized = tensor.quantize(QuantizeSpec.perTensor(ElementType.INT8))) {
            WorkOptions stopped = WorkOptions.DEFAULT.withProgress((done, total) -> false);
            Failures.expect(StatusCode.CANCELLED, () -> tensor.transcode(TranscodeSpec.to(Layout.COL_MAJOR), stopped));
            Failures.expect(StatusCode.CANCELLED, () -> tensor.quantize(QuantizeSpec.perTensor(ElementType.INT8), stopped));
            Failures.expect(StatusCode.CANCELLED, () -> quantized.dequantize(ElementType.FLOAT32, stopped));
            Failures.expect(StatusCode.CANCELLED, () -> tensor.validate(ValidationLevel.DATA, stopped));
            Failures.expect(StatusCode.CANCELLED, () -> tensor.statistics(Statistics.RANGE, stopped));
        }
    }

    @Test
    void whatProgressThrowsIsTheCause() {
        IllegalStateException thrown = new IllegalStateException("enough");
        try (Tensor tensor = Tensor.copyOf(VALUES, 8)) {
            WorkOptions throwing =
                    WorkOptions.DEFAULT.withProgress(
                            (done, total) -> {
                                throw thrown;
                            });
            HurrayException failure =
                    Failures.expect(StatusCode.CANCELLED, () -> tensor.quantize(QuantizeSpec.perTensor(ElementType.INT8), throwing));
            assertSame(thrown, failure.getCause());
            assertEquals(8, doubles(tensor).length, "and the tensor is as before");
        }
    }

    @Test
    void limitsOfMemoryAreKept() {
        try (Tensor tensor = Tensor.copyOf(new float[4096], 4096)) {
            Failures.expect(
                    StatusCode.LIMIT_EXCEEDED,
                    () -> tensor.transcode(TranscodeSpec.to(new LayoutFields.Strided(2)), WorkOptions.DEFAULT.withMemoryLimit(1024)));
        }
    }

    @Test
    void aCollectionInTheMiddleOfWorkTakesNothingAway() {
        try (Tensor tensor = Tensor.copyOf(new float[1 << 18], 1 << 18)) {
            WorkOptions storm =
                    WorkOptions.DEFAULT.withProgress(
                            (done, total) -> {
                                System.gc();
                                Tensor.copyOf(new int[] {1}, 1); // left to the collector
                                return true;
                            });
            try (Tensor quantized = tensor.quantize(QuantizeSpec.perTensor(ElementType.INT8), storm);
                    Tensor back = quantized.dequantize(ElementType.FLOAT32, storm)) {
                assertEquals(1 << 18, back.descriptor().elementCount());
                back.statistics(Statistics.MOMENTS, storm);
                back.validate(ValidationLevel.DATA, storm);
                back.transcode(TranscodeSpec.to(new LayoutFields.Strided(2)), storm).close();
            }
        }
    }

    @Test
    void zeroPointsOfChannelsAreOptional() {
        try (Tensor tensor = Tensor.copyOf(VALUES, 2, 4);
                Tensor plain = tensor.quantize(QuantizeSpec.perChannel(ElementType.INT8, 1).withSymmetric(true))) {
            assertEquals(
                    OptionalInt.empty(),
                    ((Quantization.PerChannelAffine) plain.descriptor().quantization().orElseThrow()).zeroPointBuffer());
        }
    }
}
