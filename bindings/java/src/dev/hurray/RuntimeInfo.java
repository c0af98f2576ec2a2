package dev.hurray;

/**
 * Facts about the loaded library.
 *
 * @param version version of the library
 * @param abiVersion version of its C ABI
 * @param buildId text that identifies its build
 * @param libraryPath file that it was loaded from; empty when the operating system cannot tell
 * @param handleChecks whether destroyed handles are kept in quarantine and checked
 */
public record RuntimeInfo(String version, int abiVersion, String buildId, String libraryPath, boolean handleChecks) {}
