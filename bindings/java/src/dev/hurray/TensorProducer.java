package dev.hurray;

/** What makes tensors when a consumer asks: see {@link Producer}. */
@FunctionalInterface
public interface TensorProducer {
    /**
     * Makes a tensor as the pair that travels. Runs on the consumer's thread, which may be one of another language, while it waits.
     *
     * <p>A buffer of {@link SyncMode#CONSUMER_STREAM} carries exactly this stream, which the device makes wait for the last write before
     * this call returns; without a stream there is no such buffer.
     *
     * @param stream the consumer's stream; null when it gave none
     * @return both of the pair, open: they move to the consumer
     * @throws Exception reaches the consumer as a status and a message: the code of a {@link HurrayException}, else INTERNAL_PANIC
     */
    TensorExport export(DeviceStream stream) throws Exception;
}
