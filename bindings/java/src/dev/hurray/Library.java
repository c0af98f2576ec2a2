package dev.hurray;

import dev.hurray.spi.NativeLibrary;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ServiceConfigurationError;
import java.util.function.Supplier;

/**
 * Loads the native code, once for each class loader, and refuses a shared library that this binding cannot work with. In packages the JNI
 * library has the shared one inside; in development it is opened at run time.
 */
final class Library {
    /** Overrides where the JNI library is looked for. */
    static final String JNI_PROPERTY = "dev.hurray.jni";

    /** Overrides which shared library is loaded; comes before {@link #VARIABLE}. */
    static final String PROPERTY = "dev.hurray.library";

    /** Overrides which shared library is loaded. */
    static final String VARIABLE = "HURRAY_LIBRARY";

    private static final String SONAME = "libhurray.so.1";

    /** The release queue of this binding, made once: memory of Java names it. */
    static long queue;

    // Not thrown from the static initializer: that would be an ExceptionInInitializerError once, and a
    // NoClassDefFoundError ever after.
    private static final Supplier<HurrayException> FAILURE = load();

    private Library() {}

    /** Throws a typed exception when the library is not there or is a stranger's. Every way into the library passes here. */
    static void ready() {
        if (FAILURE != null) {
            throw FAILURE.get();
        }
    }

    private static Supplier<HurrayException> load() {
        Supplier<HurrayException> failure = loadJni();
        if (failure == null) {
            failure = loadShared();
        }
        return failure;
    }

    private static Supplier<HurrayException> loadJni() {
        String path = System.getProperty(JNI_PROPERTY);
        NativeLibrary packaged = null;
        try {
            if (path != null && !path.isEmpty()) {
                System.load(Path.of(path).toAbsolutePath().toString());
                return null;
            }
            packaged = PackagedLibrary.find();
            if (packaged != null) {
                PackagedLibrary.load(packaged);
            } else {
                System.loadLibrary("hurray_jni");
            }
            return null;
        } catch (UnsatisfiedLinkError | IOException | RuntimeException | ServiceConfigurationError e) {
            String reason = e.getMessage() + (packaged == null ? "; " + elsewhere() : "; " + PackagedLibrary.advice());
            return () -> new LibraryLoadException("the JNI library of Hurray does not load: " + reason, e);
        }
    }

    private static String elsewhere() {
        return "-D"
                + JNI_PROPERTY
                + "=FILE names it, -Djava.library.path=FOLDER its folder, or the jar for "
                + NativePlatform.NAME
                + " has it, which is not on the class path or module path";
    }

    private static Supplier<HurrayException> loadShared() {
        if (NativeLoader.embedded()) {
            return makeQueue();
        }
        String path = sharedPath();
        byte[] refusal = NativeLoader.open(NativeMemory.terminated(path));
        if (refusal != null) {
            String reason = new String(refusal, StandardCharsets.UTF_8);
            return () ->
                    new LibraryLoadException(
                            "the shared library of Hurray does not load: "
                                    + reason
                                    + "; -D"
                                    + PROPERTY
                                    + "=FILE or the environment variable "
                                    + VARIABLE
                                    + " names it",
                            null);
        }
        long version = NativeLoader.version();
        if (version != Abi.C_ABI_VERSION && !(version >= 0 && NativeLoader.supports(Abi.C_ABI_VERSION))) {
            return () -> new VersionMismatchException("library " + path, Abi.C_ABI_VERSION, version);
        }
        byte[] missing = NativeLoader.bind();
        if (missing != null) {
            String name = new String(missing, StandardCharsets.UTF_8);
            return () -> new LibraryLoadException("library " + path + " lacks the function " + name, null);
        }
        return makeQueue();
    }

    private static Supplier<HurrayException> makeQueue() {
        try (Scratch scratch = Scratch.take()) {
            long[] made = new long[1];
            scratch.check(Raw.hurray_release_queue_new(made, scratch.error));
            queue = made[0];
            return null;
        } catch (HurrayException failure) {
            return () -> new HurrayException(failure.status(), failure.getMessage());
        }
    }

    private static String sharedPath() {
        String path = System.getProperty(PROPERTY);
        if (path == null || path.isEmpty()) {
            path = System.getenv(VARIABLE);
        }
        return path == null || path.isEmpty() ? SONAME : path;
    }
}
