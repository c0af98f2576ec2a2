package dev.hurray;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** Every layout and section: built, read, refused, and on its way as a tensor. */
class FieldsTest extends Baseline {
    private static final int PERMISSIVE_TYPE = 0x3F;
    private static final int PERMISSIVE_LAYOUT = 0x7F;
    private static final DecodeOptions PRIVATE = DecodeOptions.DEFAULT.withPrivateTags(true);
    private static final DecodeOptions PERMISSIVE = DecodeOptions.DEFAULT.withPermissive(true);

    /** Fields, and a shape and sizes of buffers that go with them. */
    private record Case(LayoutFields fields, long[] shape, long... sizes) {
        Descriptor build() {
            Descriptor.Builder builder = Descriptor.builder(ElementType.FLOAT32.value(), fields.layoutTag(), shape).layoutFields(fields);
            for (long size : sizes) {
                builder.addBuffer(BufferHandle.host(size));
            }
            return fields instanceof LayoutFields.Strided ? builder.byteOffset(16).build() : builder.build();
        }
    }

    private static final List<Case> LAYOUTS =
            List.of(
                    new Case(new LayoutFields.Strided(-4, 0), shape(2, 3), 20),
                    new Case(LayoutFields.Tiled.of(new TileLevel(Layout.ROW_MAJOR, Layout.ROW_MAJOR, 2, 2)), shape(4, 4), 64),
                    new Case(
                            LayoutFields.Tiled.of(
                                    new TileLevel(Layout.COL_MAJOR, Layout.TILED, 4, 4),
                                    new TileLevel(shape(2, 2), Layout.STRIDED, Layout.STRIDED, shape(2, 1), shape(1, 2))),
                            shape(8, 4),
                            128),
                    new Case(new LayoutFields.Morton(2, 2), shape(4, 3), 64),
                    new Case(new LayoutFields.Hilbert(2), shape(4, 4), 64),
                    new Case(new LayoutFields.Coo(3, false), shape(4, 5), 12, 48),
                    new Case(new LayoutFields.Coo(0, true), shape(4, 5), 0, 0),
                    new Case(new LayoutFields.Csr(3), shape(4, 5), 12, 24, 40),
                    new Case(new LayoutFields.Csc(3), shape(4, 5), 12, 24, 48),
                    new Case(new LayoutFields.Csf(1, 2, 0, 1), shape(2, 3, 4), 4, 16, 8, 16, 8, 16, 8),
                    new Case(
                            new LayoutFields.BlockPaged(2, 3, 0, 1, KvRole.VALUE, OptionalLong.of(7), TableIndex.UINT64),
                            shape(5, 2, 4),
                            192,
                            24,
                            16),
                    new Case(new LayoutFields.Composite(CompositionRule.OVERLAY, CombineOp.ADD, 2), shape(4, 4)));

    /** A scheme for a 4 by 16 tensor, and sizes of the buffers with its parameters. */
    private record Scaled(Quantization scheme, long... sizes) {
        Descriptor build() {
            ElementType type =
                    scheme instanceof Quantization.Nf4
                            ? ElementType.UINT4
                            : scheme instanceof Quantization.Mxfp ? ElementType.FLOAT8_E4M3 : ElementType.INT8;
            Descriptor.Builder builder = Descriptor.builder(type, Layout.ROW_MAJOR, 4, 16).quantization(scheme);
            builder.addBuffer(BufferHandle.host(type == ElementType.UINT4 ? 32 : 64));
            for (long size : sizes) {
                builder.addBuffer(BufferHandle.host(size));
            }
            return builder.build();
        }
    }

    private static final List<Scaled> SCHEMES =
            List.of(
                    new Scaled(new Quantization.PerTensorAffine(0.25f, -3)),
                    new Scaled(new Quantization.PerChannelAffine(1, 1, 2), 64, 64),
                    new Scaled(new Quantization.PerChannelAffine(0, 1, 1), 32),
                    new Scaled(new Quantization.PerChannelAffine(0, 1), 16),
                    new Scaled(new Quantization.PerBlockAffine(1, 4, 1, OptionalInt.of(2), ElementType.BFLOAT16), 32, 64),
                    new Scaled(new Quantization.PerBlockAffine(1, 4, 1, OptionalInt.empty(), ElementType.FLOAT16), 32),
                    new Scaled(new Quantization.Nf4(1, 8, 1), 32),
                    new Scaled(new Quantization.Mxfp(1, 16, 1), 4));

    private static long[] shape(long... sizes) {
        return sizes;
    }

    private static Descriptor.Builder floats(long... shape) {
        return Descriptor.builder(ElementType.FLOAT32, Layout.ROW_MAJOR, shape).addBuffer(BufferHandle.host(64));
    }

    private static HurrayException refused(StatusCode code, org.junit.jupiter.api.function.Executable action) {
        HurrayException failure = Failures.expect(code, action);
        assertTrue(failure.byteOffset().isPresent(), failure.getMessage());
        return failure;
    }

    // --- Layouts --------------------------------------------------------------------------------------------------------------------

    @Test
    void fieldsOfEveryLayoutAreBuiltAndRead() {
        for (Case layout : LAYOUTS) {
            Descriptor made = layout.build();
            Descriptor again = Descriptor.decode(made.encode());
            assertEquals(made, again);
            for (Descriptor descriptor : List.of(made, again)) {
                assertEquals(Optional.of(layout.fields), descriptor.layoutFields());
                assertEquals(layout.fields.hashCode(), descriptor.layoutFields().orElseThrow().hashCode());
                assertEquals(layout.fields.toString(), descriptor.layoutFields().orElseThrow().toString());
                assertArrayEquals(layout.shape, descriptor.shape());
                assertFalse(descriptor.isOpaque() || descriptor.isUnread());
            }
        }
    }

    @Test
    void rowMajorAndColumnMajorHaveNone() {
        for (Layout layout : List.of(Layout.ROW_MAJOR, Layout.COL_MAJOR)) {
            Descriptor plain = Descriptor.builder(ElementType.FLOAT32, layout, 4, 4).addBuffer(BufferHandle.host(64)).build();
            assertEquals(Optional.empty(), plain.layoutFields());
        }
    }

    @Test
    void valuesDoNotFollowTheArraysTheyWereMadeOf() {
        long[] order = {1, 0};
        LayoutFields.Csf csf = new LayoutFields.Csf(1, order);
        order[0] = 9;
        csf.modeOrder()[0] = 8;
        assertArrayEquals(shape(1, 0), csf.modeOrder());
        byte[] data = {1};
        LayoutFields.PrivateLayout agreed = new LayoutFields.PrivateLayout(1, data);
        data[0] = 2;
        agreed.data()[0] = 3;
        assertArrayEquals(new byte[] {1}, agreed.data());
        assertNotEquals(new LayoutFields.Morton(1, 2), new LayoutFields.Morton(2, 1));
    }

    @Test
    void aPrivateLayoutNeedsAgreement() {
        LayoutFields agreed = new LayoutFields.PrivateLayout(Long.MIN_VALUE + 1, "any bytes\0".getBytes(java.nio.charset.StandardCharsets.UTF_8));
        Descriptor.Builder builder =
                Descriptor.builder(ElementType.INT8.value(), 0xF3, 5).layoutFields(agreed).addBuffer(BufferHandle.host(5));
        refused(StatusCode.INVALID_LAYOUT, builder::build);
        Descriptor made = builder.allowPrivateTags().build();
        assertEquals(Optional.of(agreed), made.layoutFields());
        assertEquals(Layout.UNKNOWN, made.layout());
        assertEquals(0xF3, made.layoutTag());
        refused(StatusCode.INVALID_LAYOUT, () -> Descriptor.decode(made.encode()));
        assertEquals(agreed, Descriptor.decode(made.encode(), PRIVATE).layoutFields().orElseThrow());
        try (Tensor tensor = tensor(made)) {
            assertEquals(made, tensor.descriptor());
        }
    }

    @Test
    void wrongLayoutFieldsAreRefusedWhereTheyAre() {
        List<Case> wrong =
                List.of(
                        new Case(new LayoutFields.Hilbert(3), shape(4, 4), 64),
                        new Case(new LayoutFields.Morton(2, 1), shape(4, 4), 64),
                        new Case(new LayoutFields.Morton(2), shape(4, 4), 64),
                        new Case(new LayoutFields.Strided(1), shape(4, 4), 64),
                        new Case(LayoutFields.Tiled.of(), shape(4, 4), 64),
                        new Case(LayoutFields.Tiled.of(new TileLevel(Layout.ROW_MAJOR, Layout.ROW_MAJOR, 0, 2)), shape(4, 4), 64),
                        new Case(LayoutFields.Tiled.of(new TileLevel(Layout.ROW_MAJOR, Layout.ROW_MAJOR, 2, 2, 2)), shape(4, 4), 64),
                        new Case(new LayoutFields.Csr(3), shape(4, 5, 6), 12, 24, 40),
                        new Case(new LayoutFields.Csf(1, 0, 1, 1), shape(2, 3, 4), 4, 16, 8, 16, 8, 16, 8),
                        new Case(new LayoutFields.BlockPaged(0, 3, 1), shape(5, 2, 4), 192, 24, 16));
        for (Case layout : wrong) {
            refused(StatusCode.INVALID_LAYOUT, layout::build);
        }
        TileLevel[] nine = new TileLevel[LayoutFields.Tiled.MAX_LEVELS + 1];
        Arrays.fill(nine, new TileLevel(Layout.ROW_MAJOR, Layout.TILED, 1, 1));
        Failures.expect(StatusCode.INVALID_LAYOUT, new Case(LayoutFields.Tiled.of(nine), shape(4, 4), 64)::build);
    }

    @Test
    void fieldsOfAnotherLayoutAndNumbersOutOfRangeAreRefused() {
        Descriptor.Builder csr = Descriptor.builder(ElementType.FLOAT32, Layout.CSR, 4, 5);
        Failures.expect(StatusCode.INVALID_ARGUMENT, csr.layoutFields(new LayoutFields.Csc(3))::build);
        Failures.expect(StatusCode.INVALID_ARGUMENT, csr.layoutFields(new LayoutFields.PrivateLayout(1, new byte[0]))::build);
        assertThrows(NullPointerException.class, () -> csr.layoutFields(null));
        Failures.expect(StatusCode.INVALID_ARGUMENT, () -> new LayoutFields.BlockPaged(1L << 32, 1, 1));
        Failures.expect(StatusCode.INVALID_ARGUMENT, () -> new LayoutFields.Composite(256, 0, 1));
        Failures.expect(StatusCode.INVALID_ARGUMENT, () -> new TileLevel(Layout.UNKNOWN, Layout.ROW_MAJOR, 1));
        Failures.expect(
                StatusCode.INVALID_ARGUMENT, () -> new TileLevel(shape(2, 2), Layout.STRIDED, Layout.ROW_MAJOR, shape(1), shape()));
    }

    // --- Sections -------------------------------------------------------------------------------------------------------------------

    @Test
    void everySchemeIsBuiltAndRead() {
        for (Scaled scaled : SCHEMES) {
            Quantization scheme = scaled.scheme;
            Descriptor made = scaled.build();
            Descriptor read = Descriptor.decode(made.encode());
            assertEquals(Optional.of(scheme), read.quantization());
            assertEquals(Abi.SECTION_QUANTIZATION, read.flags());
            assertEquals(scheme.schemeTag(), read.quantizationPayload()[0]);
            assertEquals(scheme.version(), read.quantizationPayload()[1]);
            assertNotEquals(Scheme.UNKNOWN, scheme.scheme());
        }
    }

    @Test
    void paddingBehindASchemeIsKept() {
        Quantization padded = new Quantization.PerTensorAffine(2, 1, 8);
        Descriptor made = new Scaled(padded).build();
        assertEquals(Optional.of(padded), Descriptor.decode(made.encode()).quantization());
        assertEquals(new Scaled(new Quantization.PerTensorAffine(2, 1)).build().quantizationPayload().length + 8, made.quantizationPayload().length);
        Failures.expect(StatusCode.INVALID_ARGUMENT, () -> new Scaled(new Quantization.PerTensorAffine(2, 1, -1)).build());
    }

    @Test
    void aWrongSchemeIsRefusedWhereItIs() {
        Map<Scaled, String> wrong =
                Map.of(
                        new Scaled(new Quantization.PerTensorAffine(0, 0)), "scale: ",
                        new Scaled(new Quantization.PerTensorAffine(Float.NaN, 0)), "scale: ",
                        new Scaled(new Quantization.PerTensorAffine(1, 128)), "zero_point: ",
                        new Scaled(new Quantization.Nf4(2, 8, 1), 32), "axis: ",
                        new Scaled(new Quantization.Nf4(1, 7, 1), 32), "block_size: ",
                        new Scaled(new Quantization.Mxfp(1, 16, 9), 4), "scale_buffer_index: ",
                        new Scaled(new Quantization.PerChannelAffine(-1, 1), 16), "axis: ",
                        new Scaled(new Quantization.PerChannelAffine(0, 1), 12), "scale_buffer_index: ",
                        new Scaled(new Quantization.PrivateScheme(0xF1, 1, 0, new byte[0])), "scheme: ");
        wrong.forEach(
                (scaled, field) -> {
                    HurrayException failure = refused(StatusCode.INVALID_QUANTIZATION, scaled::build);
                    assertTrue(failure.getMessage().startsWith(field), failure.getMessage());
                });
        Failures.expect(StatusCode.INVALID_ARGUMENT, () -> new Scaled(new Quantization.Nf4(1, 1L << 32, 1)).build());
        Failures.expect(StatusCode.INVALID_ARGUMENT, () -> new Quantization.PrivateScheme(0xF1, 1, 1 << 16, new byte[0]));
    }

    @Test
    void aPrivateSchemeNeedsAgreement() {
        Quantization scheme = new Quantization.PrivateScheme(0xF1, 1, 5, new byte[] {'d', 0, -1});
        Descriptor made =
                Descriptor.builder(ElementType.INT8, Layout.ROW_MAJOR, 4)
                        .allowPrivateTags()
                        .quantization(scheme)
                        .addBuffer(BufferHandle.host(4))
                        .build();
        assertEquals(Optional.of(scheme), made.quantization());
        assertEquals(Scheme.UNKNOWN, made.quantization().orElseThrow().scheme());
        assertEquals(Optional.of(scheme), Descriptor.decode(made.encode(), PRIVATE).quantization());
        refused(StatusCode.INVALID_QUANTIZATION, () -> Descriptor.decode(made.encode()));
    }

    @Test
    void statisticsKeepWhatIsNotFiniteAndTheBitsOfNaN() {
        double nan = Double.longBitsToDouble(0x7FF8_0000_1234_5678L);
        Statistics statistics =
                Statistics.NONE
                        .withNnz(9)
                        .withSparsityRatio(0.5)
                        .withRange(Double.NEGATIVE_INFINITY, Double.POSITIVE_INFINITY, Double.POSITIVE_INFINITY)
                        .withMoments(nan, -0.0)
                        .withNmSparsity(2, 4)
                        .withNaNAndInfinity(true, false);
        Descriptor read = Descriptor.decode(floats(4, 4).statistics(statistics).build().encode());
        assertEquals(Optional.of(statistics), read.statistics());
        assertEquals(Double.doubleToRawLongBits(nan), Double.doubleToRawLongBits(read.statistics().orElseThrow().mean()));
        assertEquals(63, statistics.computed());
        refused(StatusCode.INVALID_LAYOUT, floats(4, 4).statistics(Statistics.NONE.withNmSparsity(5, 4))::build);
        Failures.expect(StatusCode.INVALID_ARGUMENT, () -> Statistics.NONE.withNmSparsity(256, 4));
    }

    @Test
    void aPrivateTypeDescribesItself() {
        ExtensionType number = new ExtensionType(4, true, false, 1, 2, 1, 1, false, false);
        Descriptor made =
                Descriptor.builder(0xF0, Layout.ROW_MAJOR.value(), 5).extensionType(number).addBuffer(BufferHandle.host(3)).build();
        Descriptor read = Descriptor.decode(made.encode());
        assertEquals(Optional.of(number), read.extensionType());
        assertEquals(2, number.packingFactor());
        assertEquals(1, ExtensionType.integer(24, true).packingFactor());
        assertEquals(0xF0, read.elementTypeTag());
        assertEquals(ElementType.UNKNOWN, read.elementType());
        assertEquals(4, read.elementBits());
        Failures.expect(
                StatusCode.INVALID_TYPE,
                Descriptor.builder(0xF0, Layout.ROW_MAJOR.value(), 5).addBuffer(BufferHandle.host(3))::build);
        Failures.expect(StatusCode.INVALID_ARGUMENT, () -> ExtensionType.integer(-1, true));
    }

    @Test
    void membersOfOverlaysHaveARole() {
        for (MemberRole role : List.of(MemberRole.BASE, MemberRole.CORRECTION)) {
            assertEquals(Optional.of(role), Descriptor.decode(floats(4, 4).memberRole(role).build().encode()).memberRole());
        }
        Failures.expect(StatusCode.INVALID_ARGUMENT, floats(4, 4).memberRole(MemberRole.UNKNOWN)::build);
    }

    @Test
    void withoutSectionsThereIsNone() {
        Descriptor plain = floats(4, 4).build();
        assertEquals(Optional.empty(), plain.quantization());
        assertEquals(Optional.empty(), plain.statistics());
        assertEquals(Optional.empty(), plain.extensionType());
        assertEquals(Optional.empty(), plain.memberRole());
        assertEquals(0, plain.quantizationPayload().length);
        assertEquals(0, plain.trailing().length);
    }

    // --- Options of readers ---------------------------------------------------------------------------------------------------------

    @Test
    void aPermissiveReaderKeepsWhatItDoesNotKnow() {
        byte[] data = floats(4, 4).build().encode();
        data[15] = PERMISSIVE_LAYOUT;
        refused(StatusCode.INVALID_LAYOUT, () -> Descriptor.decode(data));
        Descriptor unread = Descriptor.decode(data, PERMISSIVE);
        assertTrue(unread.isOpaque() && unread.isUnread());
        assertEquals(Layout.UNKNOWN, unread.layout());
        assertEquals(PERMISSIVE_LAYOUT, unread.layoutTag());
        assertEquals(Optional.empty(), unread.layoutFields());
        assertEquals(List.of(), unread.buffers());
        assertArrayEquals(data, unread.encode());
        assertArrayEquals(Arrays.copyOfRange(data, 20 + 16 + 8, data.length), unread.trailing());
        Failures.expect(StatusCode.UNSUPPORTED, () -> Tensor.of(unread));
        data[14] = PERMISSIVE_TYPE;
        data[15] = (byte) Layout.ROW_MAJOR.value();
        Descriptor opaque = Descriptor.decode(data, PERMISSIVE);
        assertTrue(opaque.isOpaque() && !opaque.isUnread());
        assertEquals(ElementType.UNKNOWN, opaque.elementType());
        assertEquals(PERMISSIVE_TYPE, opaque.elementTypeTag());
        assertEquals(0, opaque.elementBits());
        try (Tensor tensor = tensor(opaque)) {
            assertEquals(opaque, tensor.descriptor());
            Failures.expect(StatusCode.UNSUPPORTED, tensor::view);
        }
    }

    @Test
    void aReaderLimitsTheLength() {
        byte[] data = floats(4, 4).build().encode();
        Failures.expect(StatusCode.LIMIT_EXCEEDED, () -> Descriptor.decode(data, DecodeOptions.DEFAULT.withMaxLength(data.length - 1)));
        assertArrayEquals(data, Descriptor.decode(data, DecodeOptions.DEFAULT.withMaxLength(data.length)).encode());
        Failures.expect(StatusCode.INVALID_ARGUMENT, () -> Descriptor.decode(data, DecodeOptions.DEFAULT.withMaxLength(-1)));
        assertThrows(NullPointerException.class, () -> Descriptor.decode(data, null));
    }

    @Test
    void hostileFieldsAreTypedErrors() {
        List<Descriptor> good = new ArrayList<>();
        LAYOUTS.forEach(layout -> good.add(layout.build()));
        SCHEMES.forEach(scheme -> good.add(scheme.build()));
        for (Descriptor descriptor : good) {
            byte[] bytes = descriptor.encode();
            for (int length = 0; length < bytes.length; ++length) {
                byte[] cut = Arrays.copyOf(bytes, length);
                HurrayException failure = assertThrows(HurrayException.class, () -> Descriptor.decode(cut));
                assertTrue(failure.byteOffset().isPresent(), failure.getMessage());
            }
            for (int at = 0; at < bytes.length; ++at) {
                byte[] changed = bytes.clone();
                changed[at] ^= (byte) 0x81;
                try {
                    assertArrayEquals(changed, Descriptor.decode(changed, new DecodeOptions(true, true, 0)).encode());
                } catch (HurrayException refused) {
                    assertNotEquals(StatusCode.UNKNOWN, refused.code());
                }
            }
        }
    }

    // --- Tensors --------------------------------------------------------------------------------------------------------------------

    /** A tensor whose buffers hold bytes that tell one from the other. */
    private static Tensor tensor(Descriptor descriptor) {
        TensorBuffer[] buffers = new TensorBuffer[descriptor.buffers().size()];
        try {
            for (int i = 0; i < buffers.length; ++i) {
                buffers[i] = TensorBuffer.allocate(descriptor.buffers().get(i).byteSize(), 64);
                if (descriptor.buffers().get(i).byteSize() != 0) {
                    buffers[i].bytes().put(content(descriptor, i));
                }
            }
            return Tensor.of(descriptor, buffers);
        } finally {
            for (TensorBuffer buffer : buffers) {
                if (buffer != null) {
                    buffer.close();
                }
            }
        }
    }

    private static byte[] content(Descriptor descriptor, int buffer) {
        byte[] bytes = new byte[(int) descriptor.buffers().get(buffer).byteSize()];
        Arrays.fill(bytes, (byte) (buffer + 1));
        return bytes;
    }

    private static void expectContent(Descriptor descriptor, Tensor tensor) {
        assertEquals(descriptor, tensor.descriptor());
        assertEquals(descriptor.buffers().size(), tensor.bufferCount());
        for (int i = 0; i < tensor.bufferCount(); ++i) {
            try (TensorBuffer buffer = tensor.buffer(i)) {
                byte[] bytes = new byte[(int) buffer.info().byteSize()];
                if (bytes.length != 0) {
                    buffer.bytes().get(bytes);
                }
                assertArrayEquals(content(descriptor, i), bytes);
            }
        }
    }

    @Test
    void tensorsOfEveryLayoutAndSchemeAreExchangedAndStreamed() {
        List<Descriptor> all = new ArrayList<>();
        LAYOUTS.forEach(layout -> all.add(layout.build()));
        SCHEMES.forEach(scheme -> all.add(scheme.build()));
        for (Descriptor descriptor : all) {
            try (Tensor made = tensor(descriptor);
                    TensorExport pair = made.export();
                    Tensor imported = Tensor.importFrom(pair.list(), pair.context());
                    StreamWriter writer = StreamWriter.toMemory()) {
                expectContent(descriptor, imported);
                // A composite's head travels with its members only.
                if (descriptor.layout() == Layout.COMPOSITE) {
                    continue;
                }
                writer.write(imported);
                try (TensorBuffer stream = writer.take();
                        StreamReader reader = StreamReader.of(stream.bytes(), StreamOptions.DEFAULT);
                        Tensor read = reader.next().orElseThrow()) {
                    expectContent(descriptor, read);
                }
            }
        }
    }

    @Test
    void fieldsOutliveTheirTensor() {
        for (Case layout : LAYOUTS) {
            Descriptor kept;
            Tensor tensor = tensor(layout.build());
            try (tensor) {
                kept = tensor.descriptor();
            }
            Failures.expectClosed(tensor::descriptor);
            assertEquals(Optional.of(layout.fields), kept.layoutFields());
            try (Tensor again = tensor(kept)) {
                assertEquals(kept, again.descriptor());
            }
        }
    }

    @Test
    void onlyDenseTensorsHaveViews() {
        for (Case layout : LAYOUTS) {
            try (Tensor tensor = tensor(layout.build())) {
                if (layout.fields instanceof LayoutFields.Strided) {
                    assertArrayEquals(layout.shape, tensor.view().shape());
                } else {
                    Failures.expect(StatusCode.UNSUPPORTED, tensor::view);
                }
            }
        }
    }

    @Test
    void viewsSayThatTheTensorIsQuantized() {
        try (Tensor stored = tensor(new Scaled(new Quantization.PerTensorAffine(0.5f, 0)).build());
                Tensor plain = tensor(floats(4, 4).build())) {
            assertTrue(stored.view().isQuantized());
            assertEquals(1, stored.view().getLong(3, 15));
            assertFalse(plain.view().isQuantized());
        }
    }

    @Test
    void privateTagsTravelWhereTheReaderAgrees() {
        Descriptor agreed =
                Descriptor.builder(ElementType.INT8.value(), 0xF3, 5)
                        .allowPrivateTags()
                        .layoutFields(new LayoutFields.PrivateLayout(7, new byte[] {1, 2}))
                        .addBuffer(BufferHandle.host(5))
                        .build();
        try (Tensor tensor = tensor(agreed);
                TensorExport pair = tensor.export();
                StreamWriter writer = StreamWriter.toMemory()) {
            Failures.expect(StatusCode.INVALID_LAYOUT, () -> Tensor.importFrom(pair.list(), pair.context()));
            try (Tensor imported = Tensor.importFrom(pair.list(), pair.context(), PRIVATE)) {
                expectContent(agreed, imported);
                writer.write(imported);
            }
            try (TensorBuffer stream = writer.take()) {
                try (StreamReader strict = StreamReader.of(stream.bytes(), StreamOptions.DEFAULT)) {
                    Failures.expect(StatusCode.INVALID_LAYOUT, strict::next);
                }
                try (StreamReader reader = StreamReader.of(stream.bytes(), StreamOptions.DEFAULT.withPrivateTags(true));
                        Tensor read = reader.next().orElseThrow()) {
                    expectContent(agreed, read);
                }
            }
        }
    }

    @Test
    void aPermissiveStreamReaderKeepsUnknownTypesAndEndsAtAnUnknownLayout() {
        byte[] stream;
        try (Tensor tensor = tensor(floats(4, 4).build());
                StreamWriter writer = StreamWriter.toMemory()) {
            writer.write(tensor);
            try (TensorBuffer written = writer.take()) {
                stream = new byte[(int) written.info().byteSize()];
                written.bytes().get(stream);
            }
        }
        StreamOptions permissive = StreamOptions.DEFAULT.withPermissive(true);
        stream[14] = PERMISSIVE_TYPE;
        try (StreamReader strict = StreamReader.of(stream)) {
            refused(StatusCode.INVALID_TYPE, strict::next);
        }
        try (StreamReader reader = StreamReader.of(NativeMemory.direct(stream), permissive);
                Tensor read = reader.next().orElseThrow()) {
            assertTrue(read.descriptor().isOpaque());
            assertEquals(PERMISSIVE_TYPE, read.descriptor().elementTypeTag());
        }
        stream[15] = PERMISSIVE_LAYOUT;
        try (StreamReader reader = StreamReader.of(NativeMemory.direct(stream), permissive)) {
            Failures.expect(StatusCode.UNSUPPORTED, reader::next);
        }
    }

    @Test
    void aWriterHasNoOptionsOfReaders() {
        Failures.expect(StatusCode.INVALID_ARGUMENT, () -> StreamWriter.ofFd(1, StreamOptions.DEFAULT.withPrivateTags(true)));
        Failures.expect(StatusCode.INVALID_ARGUMENT, () -> StreamWriter.ofFd(1, StreamOptions.DEFAULT.withPermissive(true)));
    }
}
