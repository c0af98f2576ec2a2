package dev.hurray;

/**
 * The bits of an element, as they are stored, as an unsigned number of up to 128 bits.
 *
 * @param bits how many an element has
 * @param low bits 0 to 63
 * @param high bits 64 to 127
 */
public record ElementBits(int bits, long low, long high) {}
