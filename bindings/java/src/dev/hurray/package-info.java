/**
 * Tensors that are exchanged between languages without copying.
 *
 * <p>Objects that stand for something of the native library are {@link java.lang.AutoCloseable}: close them. The garbage
 * collector is a backup only. They may move between threads, and one thread uses them at a time. Memory that was handed
 * out as a {@link java.nio.ByteBuffer} stays alive as long as that buffer can be reached, whatever was closed.
 */
package dev.hurray;
