package dev.hurray;

import java.nio.ByteBuffer;

/** The part of the JNI library that works before the shared library is bound. */
final class NativeLoader {
    private NativeLoader() {}

    /** Whether the JNI library has the library inside: then there is none to load. */
    static native boolean embedded();

    /** Loads the shared library. Null, or the loader's complaint. */
    static native byte[] open(ByteBuffer terminatedPath);

    /** Its hurray_c_abi_version; -1 when it has none. */
    static native long version();

    /** Whether its hurray_c_abi_supports exists and says yes. */
    static native boolean supports(int version);

    /** Finds all functions by name. Null, or the first that is missing. */
    static native byte[] bind();
}
