package dev.hurray;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

/** Reading elements. */
class ViewTest extends Baseline {
    @Test
    void negativeStridesStartAtTheLowestByte() {
        ByteBuffer memory = Memory.at(0, 48);
        for (int i = 0; i < 12; ++i) {
            memory.putInt(4 * i, i);
        }
        // Rows upwards, columns from right to left: element (0, 0) is the last one.
        DenseSpec spec = DenseSpec.strided(ElementType.INT32, new long[] {3, 4}, new long[] {-4, -1}).byteOffset(44);
        try (Tensor tensor = Tensor.wrap(spec, memory)) {
            TensorView view = tensor.view();
            assertFalse(view.isContiguous());
            assertEquals(44, view.bytesBelow());
            assertEquals(48, view.byteSize());
            assertEquals(11, view.position(0, 0));
            assertEquals(0, view.position(2, 3));
            assertEquals(11, view.getLong(0, 0));
            assertEquals(6, view.getLong(1, 1));
            assertEquals(0, view.getLong(2, 3));
            assertEquals(11, view.ints().get((int) view.position(0, 0)));
            assertArrayEquals(new long[] {-4, -1}, view.strides());
        }
    }

    @Test
    void zeroStridesRepeatElements() {
        ByteBuffer memory = Memory.at(16, 8);
        memory.putFloat(0, 1.5f).putFloat(4, 2.5f);
        try (Tensor tensor = Tensor.wrap(DenseSpec.strided(ElementType.FLOAT32, new long[] {1000, 2}, new long[] {0, 1}), memory)) {
            TensorView view = tensor.view();
            assertEquals(8, view.byteSize());
            assertEquals(2000, view.elementCount());
            assertEquals(2.5, view.getDouble(999, 1));
            try (Tensor copy = tensor.copy(0)) {
                assertTrue(copy.view().isContiguous());
                assertEquals(8000, copy.view().byteSize());
                assertEquals(2.5, copy.view().getDouble(999, 1));
                assertEquals(1.5, copy.view().getDouble(500, 0));
            }
        }
    }

    @Test
    void columnMajorHasImpliedStrides() {
        ByteBuffer memory = Memory.at(0, 24);
        for (int i = 0; i < 12; ++i) {
            memory.putShort(2 * i, (short) i);
        }
        try (Tensor tensor = Tensor.wrap(DenseSpec.columnMajor(ElementType.UINT16, 2, 3, 2), memory)) {
            TensorView view = tensor.view();
            assertArrayEquals(new long[] {1, 2, 6}, view.strides());
            assertEquals(Layout.COL_MAJOR, view.layout());
            assertEquals(1 + 2 * 2 + 6, view.getLong(1, 2, 1));
        }
    }

    @Test
    void packedTruthValues() {
        ByteBuffer memory = Memory.at(1, 4);
        memory.putInt(0, 0b1000_0001_0110_1001_1111_0000_1010_0101);
        try (Tensor row = Tensor.wrap(DenseSpec.rowMajor(ElementType.BOOL, 4, 8), memory)) {
            TensorView view = row.view();
            assertTrue(view.isPacked());
            assertEquals(1, view.elementBits());
            for (int i = 0; i < 32; ++i) {
                boolean bit = (memory.getInt(0) >>> i & 1) != 0;
                assertEquals(bit, view.getBoolean(i / 8, i % 8));
                assertEquals(bit ? 1 : 0, view.getLong(i / 8, i % 8));
                assertEquals(bit ? 1.0 : 0.0, view.getDouble(i / 8, i % 8));
            }
            Failures.expect(StatusCode.INVALID_TYPE, view::floats);
        }
        // 25 elements backwards: element 0 is bit 0 of byte 3. One more reaches below the memory.
        Failures.expect(
                StatusCode.INVALID_LAYOUT,
                () -> Tensor.wrap(DenseSpec.strided(ElementType.BOOL, new long[] {26}, new long[] {-1}).byteOffset(3), memory));
        try (Tensor back = Tensor.wrap(DenseSpec.strided(ElementType.BOOL, new long[] {25}, new long[] {-1}).byteOffset(3), memory)) {
            TensorView reversed = back.view();
            for (int i = 0; i < 25; ++i) {
                assertEquals((memory.getInt(0) >>> 24 - i & 1) != 0, reversed.getBoolean(i), "element " + i);
            }
        }
    }

    @Test
    void everyNumberTypeIsReadByItsValue() {
        ByteBuffer memory = Memory.at(3, 8);
        memory.putLong(0, 0xFFFF_FFFF_FFFF_FFFEL);
        for (Object[] row :
                new Object[][] {
                    {ElementType.INT8, -2L}, {ElementType.UINT8, 254L}, {ElementType.INT16, -2L}, {ElementType.UINT16, 65534L},
                    {ElementType.INT32, -2L}, {ElementType.UINT32, 0xFFFF_FFFEL}, {ElementType.INT64, -2L}, {ElementType.UINT64, -2L},
                }) {
            try (Tensor tensor = Tensor.wrap(DenseSpec.rowMajor((ElementType) row[0]), memory)) {
                assertEquals(row[1], tensor.view().getLong(), row[0].toString());
                double expected = row[0] == ElementType.UINT64 ? 0x1p64 : (double) (Long) row[1];
                assertEquals(expected, tensor.view().getDouble(), row[0].toString());
            }
        }
        memory.putDouble(0, -0x1.8p-1000);
        try (Tensor tensor = Tensor.wrap(DenseSpec.rowMajor(ElementType.FLOAT64), memory)) {
            assertEquals(-0x1.8p-1000, tensor.view().getDouble());
            assertEquals(-0x1.8p-1000, tensor.view().doubles().get(0));
            Failures.expect(StatusCode.INVALID_TYPE, () -> tensor.view().getLong());
            Failures.expect(StatusCode.INVALID_TYPE, () -> tensor.view().getBoolean());
            Failures.expect(StatusCode.INVALID_TYPE, () -> tensor.view().longs());
        }
    }

    @Test
    void unsignedLongsAreRoundedOnce() {
        ByteBuffer memory = Memory.at(0, 24);
        long[] bits = {0x8000_0000_0000_0401L, 0xFFFF_FFFF_FFFF_FBFFL, 0x8000_0000_0000_0400L};
        for (int i = 0; i < 3; ++i) {
            memory.putLong(8 * i, bits[i]);
        }
        try (Tensor tensor = Tensor.wrap(DenseSpec.rowMajor(ElementType.UINT64, 3), memory)) {
            for (int i = 0; i < 3; ++i) {
                assertEquals(new java.math.BigInteger(Long.toUnsignedString(bits[i])).doubleValue(), tensor.view().getDouble(i));
            }
        }
    }

    @Test
    void indicesAreChecked() {
        try (Tensor tensor = Tensor.copyOf(new float[6], 2, 3)) {
            TensorView view = tensor.view();
            Failures.expect(StatusCode.INDEX_OUT_OF_BOUNDS, () -> view.getDouble(0));
            Failures.expect(StatusCode.INDEX_OUT_OF_BOUNDS, () -> view.getDouble(2, 0));
            Failures.expect(StatusCode.INDEX_OUT_OF_BOUNDS, () -> view.getDouble(0, -1));
            Failures.expect(StatusCode.INDEX_OUT_OF_BOUNDS, () -> view.bytes(20, 5));
            Failures.expect(StatusCode.INDEX_OUT_OF_BOUNDS, () -> view.bytes(-1, 1));
            Failures.expect(StatusCode.INDEX_OUT_OF_BOUNDS, () -> view.bytes(0, -1));
            Failures.expect(StatusCode.INDEX_OUT_OF_BOUNDS, () -> view.bytes(Long.MAX_VALUE, 1));
            assertEquals(4, view.bytes(20, 4).remaining());
            assertEquals(0, view.bytes(24, 0).remaining());
        }
    }

    @Test
    void aScalarAndATensorWithoutElements() {
        try (Tensor scalar = Tensor.copyOf(new float[] {2.5f});
                Tensor empty = Tensor.allocate(ElementType.FLOAT64, 2, 0, 1L << 40)) {
            assertEquals(2.5, scalar.view().getDouble());
            assertEquals(0, scalar.view().rank());
            assertEquals(1, scalar.view().elementCount());
            assertEquals(0, empty.view().bytes().remaining());
            assertEquals(0, empty.view().doubles().remaining());
            assertTrue(empty.view().isContiguous());
            Failures.expect(StatusCode.INDEX_OUT_OF_BOUNDS, () -> empty.view().getDouble(0, 0, 0));
        }
    }

    @Test
    void halvesAreConvertedExactly() {
        // Every pattern back and forth; NaNs stay NaNs with their payload.
        for (int bits = 0; bits < 1 << 16; ++bits) {
            assertEquals((short) bits, Float16.toBits(Float16.fromBits((short) bits)), Integer.toHexString(bits));
            assertEquals((short) bits, Float16.toBfloat16Bits(Float16.fromBfloat16Bits((short) bits)), Integer.toHexString(bits));
        }
        assertEquals(1.0f, Float16.fromBits((short) 0x3C00));
        assertEquals(-2.0f, Float16.fromBits((short) 0xC000));
        assertEquals(65504f, Float16.fromBits((short) 0x7BFF));
        assertEquals(0x1p-24f, Float16.fromBits((short) 1));
        assertEquals(Float.POSITIVE_INFINITY, Float16.fromBits((short) 0x7C00));
        assertEquals(0x7C00, Float16.toBits(65520f));
        assertEquals(0x7BFF, Float16.toBits(65519.996f));
        assertEquals(0x0000, Float16.toBits(0x1p-25f), "half of the smallest rounds to even");
        assertEquals(0x0001, Float16.toBits(0x1.000002p-25f));
        assertEquals(0x0002, Float16.toBits(0x1.8p-24f), "ties to even");
        assertEquals(0x3C00, Float16.toBits(1.00048828125f), "ties to even");
        assertEquals(0x3C02, Float16.toBits(1.00146484375f), "ties to even");
        assertEquals((short) 0x3F80, Float16.toBfloat16Bits(1.00390625f), "ties to even");
        assertEquals((short) 0x3F82, Float16.toBfloat16Bits(1.01171875f), "ties to even");
        assertEquals((short) 0x7F80, Float16.toBfloat16Bits(Float.MAX_VALUE));
        assertTrue(Float.isNaN(Float16.fromBfloat16Bits(Float16.toBfloat16Bits(Float.intBitsToFloat(0x7F80_0001)))));
        assertTrue(Float.isNaN(Float16.fromBits(Float16.toBits(Float.intBitsToFloat(0x7F80_0001)))));
    }

    @Test
    void halvesInTensors() {
        ByteBuffer memory = Memory.at(2, 4);
        memory.putShort(0, (short) 0x3E00).putShort(2, (short) 0x3FC0);
        try (Tensor half = Tensor.wrap(DenseSpec.rowMajor(ElementType.FLOAT16, 1), memory);
                Tensor brain = Tensor.wrap(DenseSpec.rowMajor(ElementType.BFLOAT16, 1).byteOffset(2), memory)) {
            assertEquals(1.5, half.view().getDouble(0));
            assertEquals(1.5, brain.view().getDouble(0));
            assertEquals(0x3FC0, brain.view().shorts().get(0));
        }
    }

    @Test
    void whatIsNotDenseHasNoView() {
        Descriptor dynamic =
                Descriptor.builder(ElementType.FLOAT32, Layout.ROW_MAJOR, Descriptor.DYNAMIC).addBuffer(BufferHandle.host(64)).build();
        try (TensorBuffer memory = TensorBuffer.allocate(64, 64);
                Tensor tensor = Tensor.of(dynamic, memory)) {
            Failures.expect(StatusCode.UNSUPPORTED, tensor::view);
            Failures.expect(StatusCode.UNSUPPORTED, () -> tensor.copy(64));
        }
    }
}
