package dev.hurray;

import java.lang.ref.Cleaner;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Where memory of Java comes back. Releases that the garbage collector's thread causes wait on a queue of this binding, which the
 * next creation or close drains.
 */
final class Releases {
    private static final System.Logger LOGGER = System.getLogger("dev.hurray");
    private static final Cleaner CLEANER = Cleaner.create();

    /** What the native queue has no place for: the end of producers. */
    private static final ConcurrentLinkedQueue<Runnable> LATER = new ConcurrentLinkedQueue<>();

    private Releases() {}

    /** The binding's queue. Whoever asks makes or closes something: what waits in Java runs first. */
    static long queue() {
        Library.ready();
        runLater();
        return Library.queue;
    }

    private static long runLater() {
        long ran = 0;
        for (Runnable due = LATER.poll(); due != null; due = LATER.poll()) {
            runLogged(due);
            ++ran;
        }
        return ran;
    }

    /** Has an action that the collector's thread must not run wait for a thread of the program. */
    static void later(Runnable action) {
        LATER.add(action);
    }

    static Cleaner.Cleanable onUnreachable(Object object, Runnable action) {
        return CLEANER.register(object, action);
    }

    /** Runs the releases that wait, on this thread. Returns how many. */
    static long drain() {
        Library.ready();
        long ran = runLater();
        try (Scratch scratch = Scratch.take()) {
            long[] released = new long[1];
            scratch.check(Raw.hurray_release_queue_drain(Library.queue, -1, released, scratch.error));
            return ran + released[0];
        }
    }

    /** How many releases wait. */
    static long pending() {
        Library.ready();
        try (Scratch scratch = Scratch.take()) {
            long[] waiting = new long[1];
            scratch.check(Raw.hurray_release_queue_pending(Library.queue, waiting, scratch.error));
            return LATER.size() + waiting[0];
        }
    }

    /** Called by native code with the attachment of memory that nobody needs any more. */
    static void run(Object attachment) {
        if (attachment instanceof Lent lent && lent.onRelease != null) {
            runLogged(lent.onRelease);
        }
    }

    /** Nobody could catch what a release throws. */
    private static void runLogged(Runnable action) {
        try {
            action.run();
        } catch (Throwable failure) {
            LOGGER.log(System.Logger.Level.ERROR, "a release action failed", failure);
        }
    }

    /** What the library keeps as long as it needs memory of Java. */
    static final class Lent {
        /** Keeps the memory reachable. */
        final Object memory;

        /** What the user wants to run afterwards; may be null. */
        final Runnable onRelease;

        Lent(Object memory, Runnable onRelease) {
            this.memory = memory;
            this.onRelease = onRelease;
        }
    }
}
