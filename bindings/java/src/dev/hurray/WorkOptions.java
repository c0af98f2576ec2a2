package dev.hurray;

/**
 * Limits of long work, and who hears of it. Immutable; start with {@link #DEFAULT}.
 *
 * @param memoryLimit most bytes of new memory that the work may hold at one time, its result included; 0 for no limit. Beyond it the work
 *     fails with LIMIT_EXCEEDED
 * @param progress may be null
 * @since C ABI version 4
 */
public record WorkOptions(long memoryLimit, WorkProgress progress) {
    /** No limit and no reports. */
    public static final WorkOptions DEFAULT = new WorkOptions(0, null);

    /** The same with another limit, in bytes. */
    public WorkOptions withMemoryLimit(long bytes) {
        return new WorkOptions(bytes, progress);
    }

    /** The same with reports of progress, which can stop the work. */
    public WorkOptions withProgress(WorkProgress listener) {
        return new WorkOptions(memoryLimit, listener);
    }
}
