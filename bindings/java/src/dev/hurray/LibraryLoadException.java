package dev.hurray;

/** The native library could not be loaded; the message says which file was tried and how to name another one. */
public final class LibraryLoadException extends HurrayException {
    private static final long serialVersionUID = 1L;

    LibraryLoadException(String message, Throwable cause) {
        super(StatusCode.NOT_FOUND, message);
        initCause(cause);
    }
}
