package dev.hurray.spi;

import java.io.IOException;
import java.io.InputStream;

/** The native code for one platform: a service of the jar that has it. */
public interface NativeLibrary {
    /** The platform: the jar's classifier, such as {@code linux-x86_64}. */
    String platform();

    /** What the file is called, such as {@code libhurray_jni.so}. */
    String fileName();

    /** SHA-256 of its bytes, in 64 small hexadecimal digits. */
    String sha256();

    /**
     * Its bytes.
     *
     * @throws IOException they cannot be read
     */
    InputStream open() throws IOException;
}
