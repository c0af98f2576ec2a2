package dev.hurray;

import java.nio.charset.StandardCharsets;

/** Names and texts as files have them. */
final class Utf8 {
    private Utf8() {}

    /** The UTF-8 form. Half a surrogate pair has none; getBytes would make a question mark of it. */
    static byte[] bytes(String text) {
        for (int i = 0; i < text.length(); ++i) {
            char c = text.charAt(i);
            boolean paired = Character.isHighSurrogate(c) && i + 1 < text.length() && Character.isLowSurrogate(text.charAt(i + 1));
            if (paired) {
                ++i;
            } else if (Character.isSurrogate(c)) {
                throw Errors.argument("text: half a surrogate pair at " + i + " has no UTF-8 form");
            }
        }
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
