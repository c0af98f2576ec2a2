package dev.hurray;

/**
 * Live handles of the process, of all languages that use this copy of the library.
 *
 * @param handles how many
 * @param bytes the bytes that they stand for
 */
public record LiveHandles(long handles, long bytes) {}
