package dev.hurray;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Defects are reported, kept and told to the handler. */
class DiagnosticTest extends Baseline {
    private final List<HurrayException> told = new ArrayList<>();

    @AfterEach
    void removeHandler() {
        Hurray.onDiagnostic(null);
    }

    /** A broken invariant, which a producer says of itself, is kept like one of the library's own. */
    private static void breakAnInvariant() {
        try (Producer broken =
                Producer.of(
                        stream -> {
                            throw new HurrayException(StatusCode.INTERNAL, "broken on purpose");
                        },
                        null)) {
            Failures.expect(StatusCode.INTERNAL, broken::request);
        }
    }

    @Test
    void aDefectIsKeptAndToldOnTheThreadOfTheCall() {
        List<Thread> threads = new ArrayList<>();
        Hurray.onDiagnostic(
                message -> {
                    threads.add(Thread.currentThread());
                    told.add(message);
                });
        breakAnInvariant();
        assertEquals(1, told.size());
        assertEquals(StatusCode.INTERNAL, told.get(0).code());
        assertTrue(told.get(0).getMessage().contains("broken on purpose"), told.get(0).getMessage());
        assertEquals(List.of(Thread.currentThread()), threads);
        List<HurrayException> kept = Hurray.diagnostics();
        assertEquals(told.get(0).getMessage(), kept.get(kept.size() - 1).getMessage());
        assertEquals(StatusCode.INTERNAL, kept.get(kept.size() - 1).code());
    }

    @Test
    void theHandlerIsReplacedAndRemoved() {
        List<HurrayException> later = new ArrayList<>();
        Hurray.onDiagnostic(told::add);
        Hurray.onDiagnostic(later::add);
        breakAnInvariant();
        Hurray.onDiagnostic(null);
        breakAnInvariant();
        Hurray.onDiagnostic(null);
        assertEquals(0, told.size());
        assertEquals(1, later.size());
    }

    @Test
    void aHandlerThatThrowsHarmsNobody() {
        Hurray.onDiagnostic(
                message -> {
                    told.add(message);
                    throw new IllegalStateException("on purpose");
                });
        breakAnInvariant();
        assertEquals(1, told.size());
    }
}
