package dev.hurray;

import java.math.BigInteger;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/** A metadata value of a model file. A plain value: it outlives the file. Since C ABI 4. */
public sealed interface MetadataValue {
    /** Its type; {@link MetadataType#UNKNOWN} for one that this version does not know. */
    MetadataType type();

    /**
     * The value as Java has it: String, Long, BigInteger (of {@link UInt64}), Double, Boolean, byte[] (a new array), List of such values;
     * null for {@link Unknown}.
     */
    Object value();

    /** UTF-8 text; it may hold NUL characters. */
    record Text(String text) implements MetadataValue {
        /** Checks that it is there. */
        public Text {
            Objects.requireNonNull(text);
        }

        @Override
        public MetadataType type() {
            return MetadataType.STRING;
        }

        @Override
        public String value() {
            return text;
        }

        /** The text itself. */
        @Override
        public String toString() {
            return text;
        }
    }

    /** A signed number. */
    record Int64(long number) implements MetadataValue {
        @Override
        public MetadataType type() {
            return MetadataType.INT64;
        }

        @Override
        public Long value() {
            return number;
        }

        @Override
        public String toString() {
            return Long.toString(number);
        }
    }

    /**
     * An unsigned number.
     *
     * @param bits the number, whose sign bit is the highest bit
     */
    record UInt64(long bits) implements MetadataValue {
        @Override
        public MetadataType type() {
            return MetadataType.UINT64;
        }

        @Override
        public BigInteger value() {
            return new BigInteger(toString());
        }

        @Override
        public String toString() {
            return Long.toUnsignedString(bits);
        }
    }

    /** A float64. */
    record Float64(double number) implements MetadataValue {
        @Override
        public MetadataType type() {
            return MetadataType.FLOAT64;
        }

        @Override
        public Double value() {
            return number;
        }

        @Override
        public String toString() {
            return Double.toString(number);
        }
    }

    /** True or false. */
    record Bool(boolean truth) implements MetadataValue {
        @Override
        public MetadataType type() {
            return MetadataType.BOOL;
        }

        @Override
        public Boolean value() {
            return truth;
        }

        @Override
        public String toString() {
            return Boolean.toString(truth);
        }
    }

    /** Bytes of any meaning. */
    record Bytes(byte[] bytes) implements MetadataValue {
        /** Copies them. */
        public Bytes {
            bytes = bytes.clone();
        }

        /** The bytes; a new array. */
        @Override
        public byte[] bytes() {
            return bytes.clone();
        }

        @Override
        public MetadataType type() {
            return MetadataType.BYTES;
        }

        @Override
        public byte[] value() {
            return bytes();
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Bytes same && Arrays.equals(bytes, same.bytes);
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(bytes);
        }

        @Override
        public String toString() {
            return java.util.HexFormat.of().formatHex(bytes);
        }
    }

    /**
     * Values of one type.
     *
     * @param elementType that type, also where there is no element; not {@link MetadataType#ARRAY}
     */
    record Array(MetadataType elementType, List<MetadataValue> elements) implements MetadataValue {
        /** Copies the list and checks that all are of that type. */
        public Array {
            elements = List.copyOf(elements);
            if (elementType == MetadataType.ARRAY) {
                throw Errors.argument("elementType: expected another one than ARRAY");
            }
            for (int i = 0; i < elements.size(); ++i) {
                if (elements.get(i).type() != elementType) {
                    throw Errors.argument("elements: expected " + elementType + ", got " + elements.get(i).type() + " at " + i);
                }
            }
        }

        @Override
        public MetadataType type() {
            return MetadataType.ARRAY;
        }

        @Override
        public List<Object> value() {
            return elements.stream().map(MetadataValue::value).toList();
        }

        @Override
        public String toString() {
            return elements.toString();
        }
    }

    /** A value of a type that this version does not know; it cannot be written. */
    record Unknown(int typeTag) implements MetadataValue {
        @Override
        public MetadataType type() {
            return MetadataType.UNKNOWN;
        }

        @Override
        public Object value() {
            return null;
        }
    }
}
