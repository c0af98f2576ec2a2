package dev.hurray;

import java.nio.ByteBuffer;
import java.util.Optional;

/** Access to single elements of tensors and composites, by index. */
final class ElementCalls {
    private ElementCalls() {}

    /** A function of the C ABI that reads something at an index into an array of one number. */
    interface Reader<T> {
        int read(long handle, ByteBuffer index, int rank, T out, ByteBuffer error);
    }

    /** One that reads a real and an imaginary part. */
    interface ComplexReader {
        int read(long handle, ByteBuffer index, int rank, double[] real, double[] imaginary, ByteBuffer error);
    }

    private static ByteBuffer put(Scratch scratch, long[] index) {
        if (index.length > Descriptor.MAX_RANK) {
            throw Errors.argument("index: expected at most " + Descriptor.MAX_RANK + " values, got " + index.length);
        }
        scratch.writeArray(0, index);
        return scratch.array(0);
    }

    static double real(long handle, long[] index, Reader<double[]> reader) {
        try (Scratch scratch = Scratch.take()) {
            double[] value = new double[1];
            scratch.check(reader.read(handle, put(scratch, index), index.length, value, scratch.error));
            return value[0];
        }
    }

    static int number(long handle, long[] index, Reader<int[]> reader) {
        try (Scratch scratch = Scratch.take()) {
            int[] value = new int[1];
            scratch.check(reader.read(handle, put(scratch, index), index.length, value, scratch.error));
            return value[0];
        }
    }

    static Complex complex(long handle, long[] index, ComplexReader reader) {
        try (Scratch scratch = Scratch.take()) {
            double[] real = new double[1];
            double[] imaginary = new double[1];
            scratch.check(reader.read(handle, put(scratch, index), index.length, real, imaginary, scratch.error));
            return new Complex(real[0], imaginary[0]);
        }
    }

    static ElementBits bits(long handle, long[] index, Reader<ByteBuffer> reader) {
        try (Scratch scratch = Scratch.take()) {
            ByteBuffer struct = scratch.sized(Structs.ElementBits.SIZE);
            scratch.check(reader.read(handle, put(scratch, index), index.length, struct, scratch.error));
            return new ElementBits(
                    scratch.readInt(Structs.ElementBits.BITS),
                    scratch.readLong(Structs.ElementBits.LOW),
                    scratch.readLong(Structs.ElementBits.HIGH));
        }
    }

    static Optional<ElementAddress> address(long tensor, long[] index) {
        try (Scratch scratch = Scratch.take()) {
            ByteBuffer struct = scratch.sized(Structs.ElementAddress.SIZE);
            scratch.check(Raw.hurray_tensor_element_address(tensor, put(scratch, index), index.length, struct, scratch.error));
            if (scratch.readByte(Structs.ElementAddress.PRESENT) == 0) {
                return Optional.empty();
            }
            return Optional.of(
                    new ElementAddress(
                            scratch.readInt(Structs.ElementAddress.BUFFER),
                            scratch.readLong(Structs.ElementAddress.BYTE_OFFSET),
                            scratch.readInt(Structs.ElementAddress.BIT_OFFSET),
                            scratch.readInt(Structs.ElementAddress.BITS)));
        }
    }
}
