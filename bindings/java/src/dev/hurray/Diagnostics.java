package dev.hurray;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;

/** Who wants to hear of defects that the library caught in itself. */
final class Diagnostics {
    private static final System.Logger LOGGER = System.getLogger("dev.hurray");

    private static volatile Consumer<HurrayException> handler;

    private Diagnostics() {}

    /** Installs or removes the process's log callback. */
    private static native int install(boolean wanted, ByteBuffer scratch);

    static synchronized void handle(Consumer<HurrayException> wanted) {
        Library.ready();
        try (Scratch scratch = Scratch.take()) {
            if (wanted != null) {
                handler = wanted;
            }
            scratch.check(install(wanted != null, scratch.memory));
            // Now no call of the old one is running any more.
            handler = wanted;
        }
    }

    /** Called by native code on whatever thread it happened. */
    static void report(int code, byte[] message) {
        Consumer<HurrayException> wanted = handler;
        if (wanted == null) {
            return;
        }
        try {
            wanted.accept(new HurrayException(code, new String(message, StandardCharsets.UTF_8)));
        } catch (Throwable failure) {
            LOGGER.log(System.Logger.Level.ERROR, "the handler of diagnostics failed", failure);
        }
    }
}
