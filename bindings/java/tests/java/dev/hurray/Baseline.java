package dev.hurray;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Tests that end with as many live handles as they began with. */
abstract class Baseline {
    private static final long NANOS = 20_000_000_000L;

    private LiveHandles before;

    @BeforeEach
    void remember() {
        collectUntil(() -> true);
        before = Hurray.liveHandles(HandleKind.ANY);
    }

    @AfterEach
    void nothingIsLeft() {
        collectUntil(() -> Hurray.liveHandles(HandleKind.ANY).equals(before) && Hurray.pendingReleases() == 0);
        assertEquals(before, Hurray.liveHandles(HandleKind.ANY), "handles or bytes leaked");
        assertEquals(0, Hurray.pendingReleases());
    }

    interface Condition {
        boolean holds();
    }

    /** Collects garbage and runs what it made due, until the condition holds or time is up. Returns whether it holds. */
    static boolean collectUntil(Condition condition) {
        long deadline = System.nanoTime() + NANOS;
        while (true) {
            System.gc();
            Hurray.drainReleases();
            if (condition.holds()) {
                return true;
            }
            if (System.nanoTime() > deadline) {
                return false;
            }
            try {
                Thread.sleep(2);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    /** Collects garbage, and runs nothing that it makes due, until the condition holds. */
    static void collectOnlyUntil(String what, Condition condition) throws InterruptedException {
        long deadline = System.nanoTime() + NANOS;
        while (!condition.holds()) {
            assertTrue(System.nanoTime() < deadline, "the collector did not find the " + what);
            System.gc();
            Thread.sleep(2);
        }
    }
}
