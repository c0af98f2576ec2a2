package dev.hurray;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * How threads wait for other processes. The library knows of no interrupts, and serves one thread at a time: waits are cut into slices,
 * between which interrupts are noticed and other threads get their turn.
 */
final class Waiting {
    private static final long SLICE_MILLIS = 20;
    private static final long CLOSE_MILLIS = 1000;

    // Fair: a thread that waits in slices would otherwise take the lock again before others wake up.
    private final ReentrantLock lock = new ReentrantLock(true);
    private final String kind;

    Waiting(String kind) {
        this.kind = kind;
    }

    /** One slice of a wait. */
    interface Attempt<T> {
        /** Null when the time was over, unless it is the last attempt: then that is an error. */
        T in(int millis, boolean last);
    }

    /** Tries until there is a result, an error, an interrupt, or the time is over; null means no end. */
    static <T> T until(Duration timeout, Attempt<T> attempt) throws InterruptedException {
        long start = System.nanoTime();
        long limit = timeout == null ? Long.MAX_VALUE : nanos(timeout);
        while (true) {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            long left = timeout == null ? Long.MAX_VALUE : limit - (System.nanoTime() - start);
            // Rounded up, so that the last slice does not end before the time.
            long millis = left <= 0 ? 0 : (left - 1) / 1_000_000 + 1;
            boolean last = millis <= SLICE_MILLIS;
            T result = attempt.in((int) Math.min(millis, SLICE_MILLIS), last);
            if (result != null) {
                return result;
            }
        }
    }

    private static long nanos(Duration timeout) {
        try {
            return timeout.isNegative() ? 0 : timeout.toNanos();
        } catch (ArithmeticException centuries) {
            return Long.MAX_VALUE;
        }
    }

    /** Waits for this thread's turn. */
    void enter() {
        refuseReentry();
        lock.lock();
    }

    void leave() {
        lock.unlock();
    }

    /**
     * Waits for the turn of a close. A thread that receives ends its slice soon; one that is in another call may take any time.
     *
     * @return whether it is this thread's turn
     */
    boolean enterToClose() {
        refuseReentry();
        boolean interrupted = Thread.interrupted();
        try {
            long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(CLOSE_MILLIS);
            while (true) {
                try {
                    return lock.tryLock(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
                } catch (InterruptedException again) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Releases run in the middle of calls. */
    private void refuseReentry() {
        if (lock.isHeldByCurrentThread()) {
            throw new IllegalStateException(kind + " is in use by this thread: a release must not use the " + kind + " that runs it");
        }
    }
}
