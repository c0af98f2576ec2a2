package dev.hurray;

import java.lang.ref.Cleaner;

/**
 * Where memory of Java comes back. Releases that the garbage collector's thread causes wait on a queue of this binding, which the
 * next creation or close drains.
 */
final class Releases {
    private static final System.Logger LOGGER = System.getLogger("dev.hurray");
    private static final Cleaner CLEANER = Cleaner.create();

    private Releases() {}

    /** The binding's queue. */
    static long queue() {
        Library.ready();
        return Library.queue;
    }

    static Cleaner.Cleanable onUnreachable(Object object, Runnable action) {
        return CLEANER.register(object, action);
    }

    /** Runs the releases that wait, on this thread. Returns how many. */
    static long drain() {
        long queue = queue();
        try (Scratch scratch = Scratch.take()) {
            long[] released = new long[1];
            scratch.check(Raw.hurray_release_queue_drain(queue, -1, released, scratch.error));
            return released[0];
        }
    }

    /** How many releases wait. */
    static long pending() {
        long queue = queue();
        try (Scratch scratch = Scratch.take()) {
            long[] waiting = new long[1];
            scratch.check(Raw.hurray_release_queue_pending(queue, waiting, scratch.error));
            return waiting[0];
        }
    }

    /** Called by native code with the attachment of memory that nobody needs any more. */
    static void run(Object attachment) {
        if (attachment instanceof Lent lent && lent.onRelease != null) {
            try {
                lent.onRelease.run();
            } catch (Throwable failure) {
                LOGGER.log(System.Logger.Level.ERROR, "the release action of a tensor's memory failed", failure);
            }
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
