package dev.hurray;

/**
 * Where an element of a tensor is.
 *
 * @param buffer number of the buffer
 * @param byteOffset the byte of the buffer in which it starts, counted from the buffer's first; unsigned
 * @param bitOffset the bit of that byte in which it starts, counted from the lowest; 0 for types of whole bytes
 * @param bits how many bits it has
 */
public record ElementAddress(int buffer, long byteOffset, int bitOffset, int bits) {}
