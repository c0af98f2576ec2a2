/**
 * Hurray tensors: exchanged between languages without copying, read from files and streams.
 *
 * <p>Start with {@link dev.hurray.Tensor}, {@link dev.hurray.ModelFile} and {@link dev.hurray.StreamReader}.
 */
module dev.hurray {
    exports dev.hurray;
    exports dev.hurray.spi;

    uses dev.hurray.spi.NativeLibrary;
}
