package dev.hurray;

/**
 * A tensor as the pair that travels between runtimes: hand both addresses over with {@link BufferList#releaseAddress()} and {@link
 * TensorContext#releaseAddress()}, or close the pair.
 *
 * @param list the buffers
 * @param context what they are
 */
public record TensorExport(BufferList list, TensorContext context) implements AutoCloseable {
    @Override
    public void close() {
        try {
            list.close();
        } finally {
            context.close();
        }
    }
}
