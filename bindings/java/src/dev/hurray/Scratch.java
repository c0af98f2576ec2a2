package dev.hurray;

import java.lang.annotation.Native;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Native memory that is lent to one call, for structs and the error report. Taken from a pool and not from the thread: releases
 * run in the middle of calls and need scratches of their own.
 */
final class Scratch implements AutoCloseable {
    /** Where the HurrayError lies. */
    @Native static final int ERROR = 0;

    /** Where the struct of the call lies. */
    @Native static final int STRUCT = 512;

    /** Where the handle lies that a new ByteBuffer owns. */
    @Native static final int SHARE = 1016;

    /** Where arrays of up to 64 elements of 8 bytes lie, one after the other, and a buffer table behind the fourth. */
    @Native static final int ARRAYS = 1024;

    /** Size of each of these arrays. */
    @Native static final int ARRAY_SIZE = 512;

    /** Size of the whole. */
    @Native static final int SIZE = 8192;

    private static final ConcurrentLinkedQueue<Scratch> POOL = new ConcurrentLinkedQueue<>();

    private static final int TABLE = ARRAYS + 4 * ARRAY_SIZE;

    final ByteBuffer memory = NativeMemory.allocate(SIZE);
    final ByteBuffer error = part(ERROR, Structs.Error.SIZE);
    final ByteBuffer struct = part(STRUCT, SHARE - STRUCT);

    private Scratch() {}

    static Scratch take() {
        Scratch free = POOL.poll();
        return free != null ? free : new Scratch();
    }

    @Override
    public void close() {
        POOL.offer(this);
    }

    private ByteBuffer part(int offset, int size) {
        return memory.slice(offset, size).order(memory.order());
    }

    /** Zeroes the struct and says its size. */
    ByteBuffer sized(int size) {
        for (int i = 0; i < size; i += 8) {
            memory.putLong(STRUCT + i, 0);
        }
        memory.putInt(STRUCT, size);
        return struct;
    }

    int readInt(int field) {
        return memory.getInt(STRUCT + field);
    }

    long readLong(int field) {
        return memory.getLong(STRUCT + field);
    }

    int readByte(int field) {
        return memory.get(STRUCT + field) & 0xFF;
    }

    long[] readArray(int index, int length) {
        long[] values = new long[length];
        for (int i = 0; i < length; ++i) {
            values[i] = memory.getLong(ARRAYS + index * ARRAY_SIZE + 8 * i);
        }
        return values;
    }

    void writeArray(int index, long[] values) {
        for (int i = 0; i < values.length; ++i) {
            memory.putLong(ARRAYS + index * ARRAY_SIZE + 8 * i, values[i]);
        }
    }

    /** Array {@code index} as a buffer, for the mechanical layer. */
    ByteBuffer array(int index) {
        return part(ARRAYS + index * ARRAY_SIZE, ARRAY_SIZE);
    }

    /** Entry of the buffer table that follows the arrays. */
    BufferHandle readHandle(int index) {
        return BufferHandle.read(memory, TABLE + 16 * index);
    }

    /** The handle that a new ByteBuffer owns. */
    long share() {
        return memory.getLong(SHARE);
    }

    /** The code of the error report. */
    int code() {
        return memory.getInt(ERROR + Structs.Error.CODE);
    }

    /** The message of the error report. */
    String message() {
        byte[] text = new byte[Structs.Error.SIZE - Structs.Error.MESSAGE];
        memory.get(ERROR + Structs.Error.MESSAGE, text);
        int length = 0;
        while (length < text.length && text[length] != 0) {
            ++length;
        }
        return new String(text, 0, length, StandardCharsets.UTF_8);
    }

    /** Throws when the call that wrote this error report failed. */
    void check(int status) {
        if (status != StatusCode.OK.value()) {
            throw failure(status);
        }
    }

    /** Throws what the error report says; for calls that return an object, and null on failure. */
    HurrayException failure() {
        return failure(code());
    }

    private HurrayException failure(int status) {
        String message = code() == status ? message() : "";
        return message.isEmpty() ? Errors.of(status) : new HurrayException(status, message);
    }
}
