package dev.hurray;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A tensor beyond what one ByteBuffer can hold, in a file with holes. */
class LargeTest {
    private static final long ELEMENTS = (5L << 30) / 8 + 3;

    @TempDir Path folder;

    private Path sparse(String header, long size, long... doublesAt) throws IOException {
        Path path = folder.resolve("large.safetensors");
        byte[] json = header.getBytes(StandardCharsets.UTF_8);
        try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
            file.write(ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(json.length).array());
            file.write(json);
            file.setLength(8 + json.length + size);
            for (long at : doublesAt) {
                file.seek(8 + json.length + at);
                file.write(ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putDouble(at).array());
            }
        }
        return path;
    }

    private static int openLarge(ModelFile file, long[] at) {
        TensorView view;
        try (Tensor tensor = file.tensor("large")) {
            view = tensor.view();
        }
        assertEquals(8 * ELEMENTS, view.byteSize());
        for (long offset : at) {
            assertEquals(offset, view.getDouble(offset / 8), "element at byte " + offset);
            assertEquals(offset, view.bytes(offset, 8).getDouble(0));
            long before = Math.max(0, offset - 1000);
            int length = (int) Math.min(2000, view.byteSize() - before) / 8 * 8;
            assertEquals(offset, view.bytes(before, length).getDouble((int) (offset - before)));
        }
        Failures.expect(StatusCode.LIMIT_EXCEEDED, view::bytes);
        Failures.expect(StatusCode.LIMIT_EXCEEDED, view::doubles);
        Failures.expect(StatusCode.INDEX_OUT_OF_BOUNDS, () -> view.bytes(view.byteSize() - 7, 8));
        Failures.expect(StatusCode.INDEX_OUT_OF_BOUNDS, () -> view.getDouble(ELEMENTS));
        // The largest window, from anywhere.
        ByteBuffer window = view.bytes(3L << 30, Integer.MAX_VALUE);
        assertEquals(Integer.MAX_VALUE, window.remaining());
        assertEquals(4L << 30, window.getDouble(1 << 30));
        assertThrows(java.nio.ReadOnlyBufferException.class, () -> window.put(0, (byte) 1));
        return at.length;
    }

    @Test
    void everyByteIsInReach() throws IOException {
        long size = 8 * ELEMENTS;
        String header =
                "{\"large\":{\"dtype\":\"F64\",\"shape\":[" + ELEMENTS + "],\"data_offsets\":[0," + size + "]}}";
        // Around every border of windows: 1, 2, 3, 4 GiB and the end.
        long[] at = {
            0, 8, (1L << 30) - 8, 1L << 30, (2L << 30) - 8, 2L << 30, (2L << 30) + 8, (3L << 30) - 8, 3L << 30, (4L << 30) - 8, 4L << 30, size - 8,
        };
        Path path = sparse(header, size, at);
        LiveHandles before = Hurray.liveHandles(HandleKind.ANY);
        try (ModelFile file = ModelFile.open(path)) {
            assertEquals(at.length, openLarge(file, at));
        }
        Baseline.collectUntil(() -> Hurray.liveHandles(HandleKind.ANY).equals(before));
        assertEquals(before, Hurray.liveHandles(HandleKind.ANY));
    }

    @Test
    void elementsAcrossTheBordersOfWindows() throws IOException {
        // A header of odd length, so that elements straddle the borders.
        long elements = (2L << 30) / 2 + 10;
        String header =
                "{\"pad\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},\"large\":{\"dtype\":\"U16\",\"shape\":["
                        + elements
                        + "],\"data_offsets\":[1,"
                        + (1 + 2 * elements)
                        + "]}}";
        Path path = sparse(header, 1 + 2 * elements);
        long across = (1L << 31) - 2;
        try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
            // The first window ends between these two bytes.
            file.seek(8 + header.length() + 1 + across);
            file.write(new byte[] {0x34, 0x12});
        }
        try (ModelFile file = ModelFile.open(path);
                Tensor tensor = file.tensor("large")) {
            assertEquals(0x1234, tensor.view().getLong(across / 2));
            assertEquals(0x1234, tensor.view().bytes(across, 2).getShort(0));
            assertEquals(0, tensor.view().getLong(across / 2 - 1));
            assertEquals(0, tensor.view().getLong(elements - 1));
        }
    }
}
