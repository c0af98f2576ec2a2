package dev.hurray;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class DescriptorTest extends Baseline {
    private static Descriptor rowMajor(ElementType type, long bytes, long... shape) {
        return Descriptor.builder(type, Layout.ROW_MAJOR, shape).addBuffer(BufferHandle.host(bytes)).build();
    }

    @Test
    void everyFieldComesBack() {
        Descriptor built =
                Descriptor.builder(ElementType.INT16, Layout.STRIDED, 4, 3)
                        .byteOffset(36)
                        .strides(-6, 1)
                        .shard(new long[] {100, 3}, new long[] {96, 0})
                        .addBuffer(new BufferHandle(128, 4096, 0, 0, 1))
                        .build();
        Descriptor read = Descriptor.decode(built.encode());
        assertEquals(built, read);
        assertEquals(built.hashCode(), read.hashCode());
        assertEquals(1, read.versionMajor());
        assertEquals(0, read.versionMinor());
        assertEquals(2, read.flags());
        assertEquals(ElementType.INT16, read.elementType());
        assertEquals(0x12, read.elementTypeTag());
        assertEquals(16, read.elementBits());
        assertEquals(Layout.STRIDED, read.layout());
        assertEquals(3, read.layoutTag());
        assertEquals(2, read.rank());
        assertArrayEquals(new long[] {4, 3}, read.shape());
        assertEquals(12, read.elementCount());
        assertArrayEquals(new long[] {-6, 1}, read.strides().orElseThrow());
        assertEquals(36, read.byteOffset());
        assertArrayEquals(new long[] {100, 3}, read.shard().orElseThrow().parentShape());
        assertArrayEquals(new long[] {96, 0}, read.shard().orElseThrow().offset());
        BufferHandle buffer = new BufferHandle(128, 4096, 0, 0, MemoryClass.HOST_PINNED.value());
        assertEquals(List.of(buffer), read.buffers());
        assertEquals(Device.CPU, buffer.device());
        assertEquals(SyncMode.PRODUCER_SYNCED, buffer.syncMode());
        assertEquals(MemoryClass.HOST_PINNED, buffer.memoryClass());
        assertEquals(read.encode().length, read.encodedLength());
        assertNotEquals(read, rowMajor(ElementType.INT16, 24, 4, 3));
    }

    @Test
    void scalarsEmptyAndDynamicShapes() {
        Descriptor scalar = rowMajor(ElementType.FLOAT64, 8);
        assertEquals(0, scalar.rank());
        assertEquals(1, scalar.elementCount());
        assertEquals(scalar, Descriptor.decode(scalar.encode()));
        Descriptor empty = rowMajor(ElementType.FLOAT64, 0, 3, 0, 5);
        assertEquals(0, empty.elementCount());
        Descriptor dynamic = rowMajor(ElementType.FLOAT64, 64, Descriptor.DYNAMIC, 2);
        assertEquals(Descriptor.DYNAMIC, dynamic.elementCount());
        assertEquals(Descriptor.DYNAMIC, dynamic.shape()[0]);
        assertTrue(dynamic.toString().contains("[?, 2]"), dynamic.toString());
    }

    @Test
    void theLargestRankAndOneMore() {
        long[] most = new long[Descriptor.MAX_RANK];
        java.util.Arrays.fill(most, 1);
        assertArrayEquals(most, rowMajor(ElementType.UINT8, 1, most).shape());
        Failures.expect(StatusCode.INVALID_ARGUMENT, () -> rowMajor(ElementType.UINT8, 1, new long[65]));
    }

    @Test
    void everyElementTypeAndItsPacking() {
        for (ElementType type : ElementType.values()) {
            if (type == ElementType.UNKNOWN) {
                continue;
            }
            int bits = Elements.bits(type);
            long bytes = Elements.packedSize(type, 3, 5);
            assertEquals(bits == 6 ? 12 : (15L * bits + 7) / 8, bytes, type.name());
            Descriptor descriptor = rowMajor(type, bytes, 3, 5);
            assertEquals(type, Descriptor.decode(descriptor.encode()).elementType());
            Failures.expect(StatusCode.INVALID_LAYOUT, () -> rowMajor(type, bytes - 1, 3, 5));
        }
    }

    @Test
    void readOnlyAndHeapAndOffsetBuffersAreDecodedAtTheirPosition() {
        byte[] bytes = rowMajor(ElementType.FLOAT32, 24, 2, 3).encode();
        ByteBuffer direct = ByteBuffer.allocateDirect(bytes.length + 7).position(3).put(bytes).position(3);
        assertEquals(Descriptor.decode(bytes), Descriptor.decode(direct));
        assertEquals(3, direct.position());
        assertEquals(Descriptor.decode(bytes), Descriptor.decode(direct.asReadOnlyBuffer()));
        assertEquals(Descriptor.decode(bytes), Descriptor.decode(ByteBuffer.wrap(bytes).asReadOnlyBuffer()));
    }

    @Test
    void hostileBytesAreTypedErrors() {
        byte[] good = rowMajor(ElementType.FLOAT32, 24, 2, 3).encode();
        assertEquals(OptionalLong.of(0), Failures.expect(StatusCode.INVALID_MAGIC, () -> Descriptor.decode(changed(good, 0, 'X'))).byteOffset());
        assertEquals(OptionalLong.of(4), Failures.expect(StatusCode.VERSION_MISMATCH, () -> Descriptor.decode(changed(good, 4, 2))).byteOffset());
        assertEquals(OptionalLong.of(14), Failures.expect(StatusCode.INVALID_TYPE, () -> Descriptor.decode(changed(good, 14, 0xFF))).byteOffset());
        Failures.expect(StatusCode.INVALID_LAYOUT, () -> Descriptor.decode(changed(good, 15, 0xFF)));
        for (int length = 0; length < good.length; ++length) {
            byte[] cut = java.util.Arrays.copyOf(good, length);
            HurrayException failure = org.junit.jupiter.api.Assertions.assertThrows(HurrayException.class, () -> Descriptor.decode(cut));
            assertTrue(failure.byteOffset().isPresent(), failure.getMessage());
        }
        for (int at = 0; at < good.length; ++at) {
            for (int bit = 0; bit < 8; ++bit) {
                byte[] flipped = changed(good, at, good[at] ^ 1 << bit);
                try {
                    assertArrayEquals(flipped, Descriptor.decode(flipped).encode());
                } catch (HurrayException refused) {
                    assertNotEquals(StatusCode.UNKNOWN, refused.code());
                }
            }
        }
    }

    @Test
    void buildersRefuseWhatDoesNotFit() {
        Descriptor.Builder builder = Descriptor.builder(ElementType.FLOAT32, Layout.STRIDED, 2, 3);
        Failures.expect(StatusCode.INVALID_ARGUMENT, () -> builder.strides(1));
        Failures.expect(StatusCode.INVALID_ARGUMENT, () -> builder.shard(new long[] {2}, new long[] {0, 0}));
        Failures.expect(StatusCode.INVALID_LAYOUT, builder::build);
        Failures.expect(StatusCode.INVALID_ARGUMENT, () -> Descriptor.builder(256, 1));
        Failures.expect(StatusCode.INVALID_ARGUMENT, () -> Descriptor.builder(ElementType.UNKNOWN, Layout.ROW_MAJOR));
        Failures.expect(StatusCode.INVALID_ARGUMENT, () -> new BufferHandle(0, 1L << 32, 0, 0, 0));
        Failures.expect(StatusCode.INVALID_ARGUMENT, () -> new BufferHandle(0, 64, -1, 0, 0));
        Failures.expect(StatusCode.INVALID_LAYOUT, () -> rowMajor(ElementType.FLOAT32, 1L << 62, 1L << 62, 8));
        Failures.expect(
                StatusCode.INVALID_LAYOUT,
                () -> Descriptor.builder(ElementType.FLOAT32, Layout.ROW_MAJOR, 1).addBuffer(new BufferHandle(4, 48, 0, 0, 0)).build());
        Failures.expect(
                StatusCode.INVALID_SYNC_MODE,
                () -> Descriptor.builder(ElementType.FLOAT32, Layout.ROW_MAJOR, 1).addBuffer(new BufferHandle(4, 64, 0, 9, 0)).build());
    }

    @Test
    void nullsAreNullPointerExceptions() {
        org.junit.jupiter.api.Assertions.assertThrows(NullPointerException.class, () -> Descriptor.decode((byte[]) null));
        org.junit.jupiter.api.Assertions.assertThrows(
                NullPointerException.class, () -> Descriptor.builder(ElementType.FLOAT32, Layout.ROW_MAJOR).addBuffer(null));
    }

    private static byte[] changed(byte[] bytes, int at, int value) {
        byte[] copy = bytes.clone();
        copy[at] = (byte) value;
        return copy;
    }
}
