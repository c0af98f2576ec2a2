package dev.hurray;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Composites: made, read, and through files and streams. */
class CompositeTest extends Baseline {
    private static Tensor shard(float[] values, long offset, long total) {
        Descriptor descriptor =
                Descriptor.builder(ElementType.FLOAT32, Layout.ROW_MAJOR, values.length)
                        .shard(new long[] {total}, new long[] {offset})
                        .addBuffer(BufferHandle.host(4L * values.length))
                        .build();
        try (TensorBuffer memory = TensorBuffer.allocate(4L * values.length, 64)) {
            memory.bytes().asFloatBuffer().put(values);
            return Tensor.of(descriptor, memory);
        }
    }

    private static Descriptor head(CompositionRule rule, CombineOp combine, long members, long... shape) {
        return Descriptor.builder(ElementType.FLOAT32, Layout.COMPOSITE, shape)
                .layoutFields(new LayoutFields.Composite(rule.value(), combine.value(), members))
                .build();
    }

    /** Of 1, 2 and 3 in two shards. */
    private static Composite partition() {
        try (Tensor first = shard(new float[] {1, 2}, 0, 3);
                Tensor second = shard(new float[] {3}, 2, 3)) {
            return Composite.of(head(CompositionRule.PARTITION, CombineOp.NONE, 2, 3), first, second);
        }
    }

    private static Composite group(TensorItem... members) {
        return Composite.of(head(CompositionRule.GROUP, CombineOp.NONE, members.length, 1), members);
    }

    private static void check(Composite composite) {
        assertEquals(new CompositeInfo(2, 3, 1, CompositionRule.PARTITION.value(), 0, true), composite.info());
        assertEquals(CompositionRule.PARTITION, composite.info().rule());
        assertEquals(CombineOp.NONE, composite.info().combineOp());
        assertArrayEquals(new long[] {3}, composite.descriptor().shape());
        assertEquals(2, composite.elementDouble(1));
        assertEquals(new Complex(3, 0), composite.elementComplex(2));
        assertEquals(new ElementBits(32, Float.floatToRawIntBits(3), 0), composite.elementBits(2));
        assertEquals(0, composite.memberAt(1));
        assertEquals(1, composite.memberAt(2));
        try (Tensor merged = composite.merged()) {
            assertEquals(3, merged.view().floats().get(2));
        }
    }

    @Test
    void partitionsReadAsOneTensor() {
        try (Composite composite = partition()) {
            check(composite);
            Failures.expect(StatusCode.INDEX_OUT_OF_BOUNDS, () -> composite.elementDouble(3));
            Failures.expect(StatusCode.INVALID_ARGUMENT, () -> composite.elementDouble(0, 0));
            Failures.expect(StatusCode.INDEX_OUT_OF_BOUNDS, () -> composite.memberAt(-1));
            Failures.expect(StatusCode.CANCELLED, () -> composite.merged(WorkOptions.DEFAULT.withProgress((done, total) -> false)));
        }
    }

    @Test
    void membersLiveOnAfterTheComposite() {
        Tensor second;
        Composite composite = partition();
        second = (Tensor) composite.member(1);
        Failures.expect(StatusCode.INDEX_OUT_OF_BOUNDS, () -> composite.member(2));
        Failures.expect(StatusCode.INDEX_OUT_OF_BOUNDS, () -> composite.member(-1));
        composite.close();
        composite.close();
        assertEquals(3, second.view().floats().get(0));
        second.close();
        Failures.expectClosed(composite::info);
        Failures.expectClosed(composite::descriptor);
        Failures.expectClosed(() -> composite.member(0));
        Failures.expectClosed(composite::merged);
    }

    @Test
    @SuppressWarnings("try") // closed on the way
    void membersThatDoNotFitAreRefused() {
        try (Tensor first = shard(new float[] {1, 2}, 0, 3);
                Tensor gap = shard(new float[] {3}, 1, 3)) {
            Descriptor head = head(CompositionRule.PARTITION, CombineOp.NONE, 2, 3);
            Failures.expect(StatusCode.INVALID_COMPOSITE, () -> Composite.of(head, first));
            Failures.expect(StatusCode.INVALID_COMPOSITE, () -> Composite.of(head, first, gap));
            Failures.expect(StatusCode.INVALID_ARGUMENT, () -> Composite.of(first.descriptor(), first));
            gap.close();
            Failures.expectClosed(() -> Composite.of(head, first, gap));
            assertThrows(NullPointerException.class, () -> Composite.of(head, first, null));
        }
    }

    @Test
    void compositesOfComposites() {
        try (Composite inner = partition();
                Tensor plain = Tensor.copyOf(new float[] {9}, 1);
                Composite outer = group(inner, plain)) {
            assertEquals(2, outer.info().depth());
            assertEquals(5, outer.info().descriptorCount());
            assertEquals(false, outer.info().hasElements());
            try (TensorItem first = outer.member(0);
                    TensorItem second = outer.member(1)) {
                check((Composite) first);
                assertEquals(9, ((Tensor) second).elementDouble(0));
            }
            Failures.expect(StatusCode.UNSUPPORTED, () -> outer.elementDouble(0));
            Failures.expect(StatusCode.UNSUPPORTED, outer::merged);
        }
    }

    @Test
    void overlaysApplyTheirCorrections() {
        Descriptor base =
                Descriptor.builder(ElementType.FLOAT32, Layout.ROW_MAJOR, 3)
                        .memberRole(MemberRole.BASE)
                        .shard(new long[] {3}, new long[] {0})
                        .addBuffer(BufferHandle.host(12))
                        .build();
        Descriptor correction =
                Descriptor.builder(ElementType.FLOAT32, Layout.COO, 3)
                        .layoutFields(new LayoutFields.Coo(1, true))
                        .memberRole(MemberRole.CORRECTION)
                        .shard(new long[] {3}, new long[] {0})
                        .addBuffer(BufferHandle.host(4)) // values
                        .addBuffer(BufferHandle.host(8)) // indices
                        .build();
        try (TensorBuffer values = TensorBuffer.allocate(12, 64);
                TensorBuffer index = TensorBuffer.allocate(8, 64);
                TensorBuffer changed = TensorBuffer.allocate(4, 64)) {
            values.bytes().asFloatBuffer().put(new float[] {1, 2, 3});
            index.bytes().asLongBuffer().put(1);
            changed.bytes().asFloatBuffer().put(7);
            try (Tensor dense = Tensor.of(base, values);
                    Tensor sparse = Tensor.of(correction, changed, index);
                    Composite overlay = Composite.of(head(CompositionRule.OVERLAY, CombineOp.REPLACE, 2, 3), dense, sparse)) {
                assertEquals(CombineOp.REPLACE, overlay.info().combineOp());
                assertEquals(1, overlay.elementDouble(0));
                assertEquals(7, overlay.elementDouble(1));
                try (Tensor merged = overlay.merged()) {
                    assertEquals(7, merged.view().floats().get(1));
                }
                Failures.expect(StatusCode.UNSUPPORTED, () -> overlay.memberAt(0));
            }
        }
    }

    @Test
    void filesKeepComposites() {
        byte[] image = file();
        Composite composite;
        try (ModelFile file = ModelFile.open(NativeMemory.direct(image), FileOptions.DEFAULT)) {
            assertEquals(Set.of("whole", "whole/0", "whole/1", "a\0\u00e9"), Set.copyOf(file.names()));
            assertEquals(".hrry", ModelFile.formatName(file.info().format()));
            composite = file.composite("whole");
            Failures.expect(StatusCode.INVALID_ARGUMENT, () -> file.composite("whole/1"));
            Failures.expect(StatusCode.NOT_FOUND, () -> file.composite("nothing"));
            Failures.expect(StatusCode.INDEX_OUT_OF_BOUNDS, () -> file.composite(4));
        }
        check(composite);
        composite.close();
    }

    @SuppressWarnings("try") // closed on the way
    private static byte[] file() {
        ByteArrayOutputStream image = new ByteArrayOutputStream();
        try (ModelFileWriter writer = ModelFileWriter.to(image, FileWriterOptions.of(FileFormat.HRRY));
                Composite composite = partition();
                Tensor plain = Tensor.copyOf(new float[] {4}, 1)) {
            writer.addComposite("whole", composite);
            writer.add("a\0\u00e9", plain);
            composite.close();
            Failures.expectClosed(() -> writer.addComposite("closed", composite));
            writer.finish();
        }
        return image.toByteArray();
    }

    @Test
    void onlyHrryFilesHoldComposites() {
        try (Composite composite = partition()) {
            for (FileFormat format : List.of(FileFormat.SAFETENSORS, FileFormat.GGUF, FileFormat.NPY, FileFormat.NPZ)) {
                try (ModelFileWriter writer = ModelFileWriter.to(new ByteArrayOutputStream(), FileWriterOptions.of(format))) {
                    Failures.expect(StatusCode.UNSUPPORTED, () -> writer.addComposite("x", composite));
                }
            }
        }
    }

    @Test
    void streamsCarryComposites() {
        ByteArrayOutputStream stream = new ByteArrayOutputStream();
        try (StreamWriter writer = StreamWriter.of(stream);
                Composite composite = partition();
                Tensor plain = Tensor.copyOf(new float[] {4}, 1)) {
            writer.write(composite);
            writer.write(plain);
        }
        byte[] bytes = stream.toByteArray();
        try (StreamReader reader = StreamReader.of(bytes)) {
            try (TensorItem first = reader.nextItem().orElseThrow();
                    TensorItem second = reader.nextItem().orElseThrow()) {
                check((Composite) first);
                assertEquals(4, ((Tensor) second).elementDouble(0));
            }
            assertEquals(Optional.empty(), reader.nextItem());
            Failures.expect(StatusCode.INVALID_ARGUMENT, () -> reader.name(0));
        }
        // The head and its first member only.
        byte[] torn = java.util.Arrays.copyOf(bytes, bytes.length / 2);
        try (StreamReader reader = StreamReader.of(torn)) {
            assertThrows(HurrayException.class, reader::nextItem);
        }
    }

    @Test
    @SuppressWarnings("try") // closed on the way
    void hrryFilesAreReadInSequenceAndNamedAtTheEnd() {
        byte[] image = file();
        StreamOptions inSequence = StreamOptions.DEFAULT.withHrryFile(true);
        try (StreamReader reader = StreamReader.of(new ByteArrayInputStream(image), inSequence)) {
            List<Integer> kinds = new ArrayList<>();
            for (Optional<TensorItem> next = reader.nextItem(); next.isPresent(); next = reader.nextItem()) {
                try (TensorItem item = next.get()) {
                    kinds.add(item instanceof Composite ? 1 : 0);
                    Failures.expect(StatusCode.INVALID_ARGUMENT, () -> reader.name(0));
                }
            }
            assertEquals(List.of(1, 0), kinds);
            assertEquals("whole", reader.name(0));
            assertEquals("whole/1", reader.name(2));
            assertEquals("a\0\u00e9", reader.name(3));
            assertArrayEquals(Utf8.bytes("a\0\u00e9"), reader.nameBytes(3));
            Failures.expect(StatusCode.INDEX_OUT_OF_BOUNDS, () -> reader.name(4));
            Failures.expect(StatusCode.INDEX_OUT_OF_BOUNDS, () -> reader.name(-1));
            reader.close();
            Failures.expectClosed(() -> reader.name(0));
        }
        image[image.length / 2] ^= 1;
        try (StreamReader reader = StreamReader.of(new ByteArrayInputStream(java.util.Arrays.copyOf(image, image.length - 1)), inSequence)) {
            assertThrows(
                    HurrayException.class,
                    () -> {
                        for (Optional<Tensor> next = reader.next(); next.isPresent(); next = reader.next()) {
                            next.get().close();
                        }
                    });
        }
        Failures.expect(StatusCode.INVALID_ARGUMENT, () -> StreamWriter.ofFd(1, inSequence));
    }

    @Test
    void lengthsOfDescriptorsAreToldFromTheirHeader() {
        byte[] encoded = head(CompositionRule.GROUP, CombineOp.NONE, 1, 1).encode();
        ByteBuffer start = ByteBuffer.allocate(25).put(new byte[5]).put(encoded, 0, 20).position(5);
        assertEquals(encoded.length, Descriptor.peekLength(start));
        assertEquals(5, start.position());
        for (int length = 0; length < 20; ++length) {
            ByteBuffer cut = ByteBuffer.wrap(encoded, 0, length);
            assertThrows(HurrayException.class, () -> Descriptor.peekLength(cut));
        }
        assertThrows(HurrayException.class, () -> Descriptor.peekLength(ByteBuffer.allocateDirect(20)));
    }

    @Test
    void compositesLeftToTheCollectorAreReleasedOnThreadsOfTheProgram() throws Exception {
        LiveHandles before = Hurray.liveHandles(HandleKind.COMPOSITE);
        for (int i = 0; i < 100; ++i) {
            partition().info();
        }
        assertTrue(collectUntil(() -> Hurray.liveHandles(HandleKind.COMPOSITE).equals(before)));
    }
}
