package dev.hurray;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.function.Executable;

/** Expectations about failures. */
final class Failures {
    private Failures() {}

    /** The action fails with that code and says something. */
    static HurrayException expect(StatusCode code, Executable action) {
        HurrayException failure = assertThrows(HurrayException.class, action);
        assertEquals(code, failure.code(), failure.getMessage());
        assertEquals(code.value(), failure.status());
        assertEquals(false, failure.getMessage().isBlank());
        return failure;
    }

    /** The action fails because what it is on was closed. */
    static void expectClosed(Executable action) {
        IllegalStateException failure = assertThrows(IllegalStateException.class, action);
        assertEquals(true, failure.getMessage().contains("closed"), failure.getMessage());
    }
}
