package dev.hurray;

import java.nio.ByteBuffer;

/** Called by the program after_vm. */
final class Pairs {
    private Pairs() {}

    /** Addresses of lists and contexts over memory of Java, whose release would say that it ran. */
    static long[] make(int count) {
        long[] addresses = new long[count];
        for (int i = 0; i < count; i += 2) {
            ByteBuffer memory = ByteBuffer.allocateDirect(64);
            try (Tensor tensor =
                            Tensor.wrap(DenseSpec.rowMajor(ElementType.UINT8, 64), memory, () -> System.out.println("released too late"));
                    TensorExport pair = tensor.export()) {
                addresses[i] = pair.list().releaseAddress();
                addresses[i + 1] = pair.context().releaseAddress();
            }
        }
        return addresses;
    }
}
