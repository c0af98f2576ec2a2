package dev.hurray;

/** A tensor, or a composite of several: what a stream carries, and what a composite is made of. */
public sealed interface TensorItem extends AutoCloseable permits Tensor, Composite {
    /** What it is; of a composite, shape and type of the whole. */
    Descriptor descriptor();

    /** Ends it: see {@link NativeResource#close()}. */
    @Override
    void close();
}
