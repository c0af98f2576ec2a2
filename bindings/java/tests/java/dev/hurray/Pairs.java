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

    private static Producer producer;

    /** Addresses of a list with an event whose release would say that it ran, of its context, and of a producer that would say that it was asked. */
    static long[] makeEventAndProducer() {
        BufferHandle handle = BufferHandle.of(Device.CUDA, SyncMode.EVENT, 64);
        BufferList list = BufferList.create();
        list.push(
                Handoff.of(handle, 0x7000_0000_0000L)
                        .event(new DeviceEvent(1, Device.CUDA), event -> System.out.println("event released too late"))
                        .onRelease(() -> System.out.println("released too late"))
                        .handOff());
        TensorContext context = TensorContext.create(new byte[0], () -> System.out.println("owner released too late"));
        producer =
                Producer.of(
                        stream -> {
                            throw new IllegalStateException("asked too late");
                        },
                        () -> System.out.println("producer released too late"));
        return new long[] {list.releaseAddress(), context.releaseAddress(), producer.address()};
    }
}
