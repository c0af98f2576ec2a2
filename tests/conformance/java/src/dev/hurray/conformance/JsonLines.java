package dev.hurray.conformance;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/** JSON values, one a line. Numbers that Java has no type for are {@link Unsigned}. */
final class JsonLines implements AutoCloseable {
    /** A 64-bit number without a sign. */
    record Unsigned(long bits) {
        @Override
        public String toString() {
            return Long.toUnsignedString(bits);
        }
    }

    private final Writer out;

    JsonLines(OutputStream stream) {
        out = new BufferedWriter(new OutputStreamWriter(stream, StandardCharsets.UTF_8));
    }

    JsonLines write(Object value) throws IOException {
        out.append(text(value)).append('\n');
        return this;
    }

    /** A value as JSON, without a line's end. */
    static String text(Object value) {
        StringBuilder text = new StringBuilder();
        append(text, value);
        return text.toString();
    }

    @Override
    public void close() throws IOException {
        out.close();
    }

    /** Unsigned numbers as a JSON array. */
    static List<Unsigned> unsigned(long[] values) {
        return java.util.Arrays.stream(values).mapToObj(Unsigned::new).toList();
    }

    private static void append(StringBuilder text, Object value) {
        if (value instanceof Map<?, ?> map) {
            String separator = "{";
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                append(text.append(separator), entry.getKey());
                append(text.append(':'), entry.getValue());
                separator = ",";
            }
            text.append(map.isEmpty() ? "{}" : "}");
        } else if (value instanceof List<?> list) {
            String separator = "[";
            for (Object element : list) {
                append(text.append(separator), element);
                separator = ",";
            }
            text.append(list.isEmpty() ? "[]" : "]");
        } else if (value instanceof String string) {
            appendString(text, string);
        } else {
            // Numbers, truth values and null are spelled in JSON as in Java.
            text.append(value);
        }
    }

    private static void appendString(StringBuilder text, String string) {
        text.append('"');
        for (int i = 0; i < string.length(); ++i) {
            char c = string.charAt(i);
            if (c == '"' || c == '\\') {
                text.append('\\').append(c);
            } else if (c < 0x20 || Character.isSurrogate(c) || c == 0x7F) {
                text.append(String.format("\\u%04x", (int) c));
            } else {
                text.append(c);
            }
        }
        text.append('"');
    }

    /**
     * Reads a line that is one JSON string.
     *
     * @throws IllegalArgumentException it is not
     */
    static String parseString(String line) {
        String text = line.strip();
        if (text.length() < 2 || text.charAt(0) != '"' || text.charAt(text.length() - 1) != '"') {
            throw new IllegalArgumentException("names: expected a JSON string, got " + line);
        }
        StringBuilder result = new StringBuilder();
        int end = text.length() - 1;
        for (int i = 1; i < end; ++i) {
            char c = text.charAt(i);
            if (c == '"' || c < 0x20) {
                throw new IllegalArgumentException("names: character " + (int) c + " stands unescaped in " + line);
            }
            if (c != '\\') {
                result.append(c);
                continue;
            }
            if (++i >= end) {
                throw new IllegalArgumentException("names: an escape ends the string in " + line);
            }
            char escape = text.charAt(i);
            int plain = "\"\\/bfnrt".indexOf(escape);
            if (plain >= 0) {
                result.append("\"\\/\b\f\n\r\t".charAt(plain));
            } else if (escape == 'u' && i + 4 < end && text.substring(i + 1, i + 5).matches("[0-9a-fA-F]{4}")) {
                result.append((char) Integer.parseInt(text.substring(i + 1, i + 5), 16));
                i += 4;
            } else {
                throw new IllegalArgumentException("names: unknown escape \\" + escape + " in " + line);
            }
        }
        return result.toString();
    }
}
