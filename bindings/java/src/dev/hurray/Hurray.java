package dev.hurray;

import java.util.ArrayList;
import java.util.List;

/** The loaded library: what it is, what it holds, and what went wrong in it. */
public final class Hurray {
    /** Version of the C ABI that this binding was built for. */
    public static final int ABI_VERSION = Abi.C_ABI_VERSION;

    private Hurray() {}

    /**
     * Facts about the loaded library; loads it when nothing else did.
     *
     * @throws LibraryLoadException it is not there
     * @throws VersionMismatchException its C ABI is of a version that this binding cannot use
     */
    public static RuntimeInfo runtimeInfo() {
        Library.ready();
        try (Scratch scratch = Scratch.take()) {
            scratch.check(Raw.hurray_runtime_info(scratch.sized(Structs.RuntimeInfo.SIZE), scratch.error));
            return new RuntimeInfo(
                    NativeMemory.string(scratch.readLong(Structs.RuntimeInfo.VERSION)),
                    scratch.readInt(Structs.RuntimeInfo.C_ABI_VERSION),
                    NativeMemory.string(scratch.readLong(Structs.RuntimeInfo.BUILD_ID)),
                    NativeMemory.string(scratch.readLong(Structs.RuntimeInfo.LIBRARY_PATH)),
                    scratch.readInt(Structs.RuntimeInfo.HANDLE_CHECKS) != 0);
        }
    }

    /** Counts live handles: a program that has closed everything reads what it read before it made the first. */
    public static LiveHandles liveHandles(HandleKind kind) {
        Library.ready();
        try (Scratch scratch = Scratch.take()) {
            long[] handles = new long[1];
            long[] bytes = new long[1];
            scratch.check(Raw.hurray_live_handles(kind.value(), handles, bytes, scratch.error));
            return new LiveHandles(handles[0], bytes[0]);
        }
    }

    /** Turns the quarantine of destroyed handles on or off: while it is on, their misuse is an error and not undefined. */
    public static void setHandleChecks(boolean enabled) {
        Library.ready();
        try (Scratch scratch = Scratch.take()) {
            scratch.check(Raw.hurray_handle_checks_set(enabled ? 1 : 0, scratch.error));
        }
    }

    /** The last messages, 32 at most, of defects that the library caught in itself; oldest first. */
    public static List<HurrayException> diagnostics() {
        Library.ready();
        List<HurrayException> messages = new ArrayList<>();
        try (Scratch scratch = Scratch.take()) {
            for (int i = 0; ; ++i) {
                int status = Raw.hurray_diagnostics_read(i, scratch.struct, scratch.error);
                if (status == StatusCode.INDEX_OUT_OF_BOUNDS.value()) {
                    return List.copyOf(messages);
                }
                scratch.check(status);
                byte[] text = new byte[Structs.Error.SIZE - Structs.Error.MESSAGE];
                scratch.struct.get(Structs.Error.MESSAGE, text);
                String message = new String(text, java.nio.charset.StandardCharsets.UTF_8);
                int end = message.indexOf(0);
                messages.add(new HurrayException(scratch.readInt(Structs.Error.CODE), end < 0 ? message : message.substring(0, end)));
            }
        }
    }

    /**
     * Has a handler hear of every such message at once, for all languages of the process. It runs on the thread on which it happened, which may
     * be the garbage collector's, in the middle of a call: it should only take note. What it throws is logged.
     *
     * @param handler replaces the one before; null removes it. When the call returns, the one before is not running
     */
    public static void onDiagnostic(java.util.function.Consumer<HurrayException> handler) {
        Diagnostics.handle(handler);
    }

    /**
     * Runs the releases of memory that the garbage collector made due, on this thread. Creating and closing do this, too: a program needs it
     * only when it waits for such a release.
     *
     * @return how many ran
     */
    public static long drainReleases() {
        return Releases.drain();
    }

    /** How many such releases wait. */
    public static long pendingReleases() {
        return Releases.pending();
    }
}
