package dev.hurray;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Metadata values as structs of the C ABI. */
final class MetadataCodec {
    private MetadataCodec() {}

    /** The key of the entry in the scratch. */
    static String key(Scratch scratch) {
        return text(scratch, Structs.FileMetadata.KEY, Structs.FileMetadata.KEY_LENGTH);
    }

    /** The value of the entry in the scratch, which is that of {@code index} and is used again for the elements of an array. */
    static MetadataValue read(long file, long index, Scratch scratch) {
        if (scratch.readByte(Structs.FileMetadata.TYPE) != MetadataType.ARRAY.value()) {
            return readScalar(scratch);
        }
        int elementTag = scratch.readByte(Structs.FileMetadata.ELEMENT_TYPE);
        long count = scratch.readLong(Structs.FileMetadata.COUNT);
        if (count < 0 || count > Integer.MAX_VALUE - 8) {
            throw new HurrayException(
                    StatusCode.LIMIT_EXCEEDED, "metadata: " + Long.toUnsignedString(count) + " elements do not fit a list");
        }
        // It grows with what is there.
        List<MetadataValue> elements = new ArrayList<>();
        for (int i = 0; i < count; ++i) {
            scratch.check(
                    Raw.hurray_file_metadata_element(file, index, i, scratch.sized(Structs.FileMetadata.SIZE), scratch.error));
            elements.add(readScalar(scratch));
        }
        return new MetadataValue.Array(MetadataType.of(elementTag), elements);
    }

    private static MetadataValue readScalar(Scratch scratch) {
        int tag = scratch.readByte(Structs.FileMetadata.TYPE);
        return switch (MetadataType.of(tag)) {
            case STRING -> new MetadataValue.Text(text(scratch, Structs.FileMetadata.VALUE, Structs.FileMetadata.VALUE_LENGTH));
            case INT64 -> new MetadataValue.Int64(scratch.readLong(Structs.FileMetadata.INT64_VALUE));
            case UINT64 -> new MetadataValue.UInt64(scratch.readLong(Structs.FileMetadata.UINT64_VALUE));
            case FLOAT64 -> new MetadataValue.Float64(Double.longBitsToDouble(scratch.readLong(Structs.FileMetadata.FLOAT64_VALUE)));
            case BOOL -> new MetadataValue.Bool(scratch.readByte(Structs.FileMetadata.BOOLEAN) != 0);
            case BYTES -> new MetadataValue.Bytes(bytes(scratch, Structs.FileMetadata.VALUE, Structs.FileMetadata.VALUE_LENGTH));
            case ARRAY, UNKNOWN -> new MetadataValue.Unknown(tag);
        };
    }

    static byte[] bytes(Scratch scratch, int address, int length) {
        return NativeMemory.copy(scratch.readLong(address), scratch.readLong(length));
    }

    static String text(Scratch scratch, int address, int length) {
        return new String(bytes(scratch, address, length), StandardCharsets.UTF_8);
    }

    /** Structs of values, and the native memory that they point to, which has to be reachable as long as they are used. */
    record Written(ByteBuffer structs, ByteBuffer payload) {}

    /** Writes values, none of which is an array, one struct after the other. */
    static Written write(List<? extends MetadataValue> values) {
        List<byte[]> texts = new ArrayList<>();
        long total = 0;
        for (MetadataValue value : values) {
            byte[] text = payload(value);
            texts.add(text);
            total += text.length;
        }
        long size = (long) Structs.FileMetadata.SIZE * values.size();
        if (total > Integer.MAX_VALUE || size > Integer.MAX_VALUE) {
            throw new HurrayException(StatusCode.LIMIT_EXCEEDED, "metadata: an array of more than 2^31-1 bytes");
        }
        ByteBuffer payload = NativeMemory.allocate((int) total);
        ByteBuffer structs = NativeMemory.allocate((int) size);
        long base = NativeMemory.address(payload);
        for (int i = 0; i < texts.size(); ++i) {
            int at = i * Structs.FileMetadata.SIZE;
            structs.putInt(at, Structs.FileMetadata.SIZE);
            structs.putLong(at + Structs.FileMetadata.VALUE, texts.get(i).length == 0 ? 0 : base + payload.position());
            structs.putLong(at + Structs.FileMetadata.VALUE_LENGTH, texts.get(i).length);
            payload.put(texts.get(i));
            writeNumber(structs, at, values.get(i));
        }
        return new Written(structs, payload);
    }

    private static byte[] payload(MetadataValue value) {
        if (value instanceof MetadataValue.Text text) {
            return Utf8.bytes(text.text());
        }
        return value instanceof MetadataValue.Bytes bytes ? bytes.bytes() : new byte[0];
    }

    private static void writeNumber(ByteBuffer structs, int at, MetadataValue value) {
        if (value instanceof MetadataValue.Unknown) {
            throw Errors.argument("metadata: a value of an unknown type cannot be written");
        }
        structs.put(at + Structs.FileMetadata.TYPE, (byte) value.type().value());
        if (value instanceof MetadataValue.Int64 number) {
            structs.putLong(at + Structs.FileMetadata.INT64_VALUE, number.number());
        } else if (value instanceof MetadataValue.UInt64 number) {
            structs.putLong(at + Structs.FileMetadata.UINT64_VALUE, number.bits());
        } else if (value instanceof MetadataValue.Float64 number) {
            structs.putLong(at + Structs.FileMetadata.FLOAT64_VALUE, Double.doubleToRawLongBits(number.number()));
        } else if (value instanceof MetadataValue.Bool bool) {
            structs.put(at + Structs.FileMetadata.BOOLEAN, (byte) (bool.truth() ? 1 : 0));
        }
    }
}
