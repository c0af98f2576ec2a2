package dev.hurray;

/** Hears how far long work is, on the thread that called. It must not use the objects that the work was given. */
@FunctionalInterface
public interface WorkProgress {
    /**
     * Called now and then.
     *
     * @param done how much is done, in a unit that the work names; never less than before, and all of it at the end
     * @param total of how much
     * @return false stops the work, which then fails with CANCELLED and leaves nothing behind. What is thrown does the same, and is the cause
     *     of that {@link HurrayException}
     */
    boolean onProgress(long done, long total);
}
