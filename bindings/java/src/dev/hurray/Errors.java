package dev.hurray;

/** Failures of calls that report a status and no message. */
final class Errors {
    private Errors() {}

    static HurrayException of(int status) {
        return new HurrayException(status, Raw.hurray_status_name(status) + " (" + status + ")");
    }

    static void check(int status) {
        if (status != StatusCode.OK.value()) {
            throw of(status);
        }
    }

    /** What the binding itself finds wrong with an argument. */
    static HurrayException argument(String message) {
        return new HurrayException(StatusCode.INVALID_ARGUMENT, message);
    }
}
