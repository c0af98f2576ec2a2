package dev.hurray;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Path;

/** File names as the operating system has them. */
final class PathBytes {
    private PathBytes() {}

    /** The name's bytes, which on Unix need not be text in any encoding, with a NUL at the end. */
    static ByteBuffer terminated(Path path) {
        if (path.getFileSystem() != FileSystems.getDefault()) {
            throw Errors.argument("path: expected one of the default file system");
        }
        if (path.toString().isEmpty() || path.getFileSystem().getSeparator().equals("\\")) {
            return NativeMemory.terminated(path.toAbsolutePath().toString());
        }
        // The URI form is the one public form that keeps every byte: what is no ASCII is percent-encoded.
        return NativeMemory.terminated(decoded(path.toAbsolutePath().toUri().getRawPath()));
    }

    private static byte[] decoded(String raw) {
        byte[] text = raw.getBytes(StandardCharsets.ISO_8859_1);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(text.length);
        for (int i = 0; i < text.length; ++i) {
            if (text[i] == '%' && i + 2 < text.length) {
                bytes.write(Character.digit(text[i + 1], 16) << 4 | Character.digit(text[i + 2], 16));
                i += 2;
            } else {
                bytes.write(text[i]);
            }
        }
        return bytes.toByteArray();
    }
}
