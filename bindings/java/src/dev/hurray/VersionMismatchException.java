package dev.hurray;

/** The C ABI of a library, or of what made a tensor context, is of another version than this binding was built for. */
public final class VersionMismatchException extends HurrayException {
    private static final long serialVersionUID = 1L;

    /** The version of this binding. */
    private final long expected;

    /** The version of what was found. */
    private final long found;

    VersionMismatchException(String what, long expected, long found) {
        super(
                StatusCode.VERSION_MISMATCH,
                what + ": expected C ABI version " + expected + ", found " + (found < 0 ? "none" : "version " + found));
        this.expected = expected;
        this.found = found;
    }

    /** The version that this binding was built for. */
    public long expected() {
        return expected;
    }

    /** The version that was found; -1 when there was none. */
    public long found() {
        return found;
    }
}
