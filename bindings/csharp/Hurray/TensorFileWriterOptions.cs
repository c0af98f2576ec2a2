using Hurray.Interop;

namespace Hurray;

/// <summary>How to write a model file. All members but the format have defaults.</summary>
/// <param name="Format">The format.</param>
public sealed record TensorFileWriterOptions(FileFormat Format)
{
    /// <summary>.hrry: alignment of every buffer in the file, in bytes, a power of two from 4096 to 2 MiB. GGUF: a power of two, at least
    /// 8. 0: the default of the format, and the only choice of the others.</summary>
    public uint DataAlignment { get; init; }

    /// <summary>.hrry: whether the index stays in the order in which tensors were added, instead of sorted by name.</summary>
    public bool UnsortedIndex { get; init; }

    /// <summary>.npz: whether to compress with deflate.</summary>
    public bool Compress { get; init; }

    internal NativeFileWriterOptions ToNative()
    {
        var native = NativeFileWriterOptions.Sized;
        native.Format = (uint)Format;
        native.DataAlignment = DataAlignment;
        native.Flags = (uint)((UnsortedIndex ? FileWriterFlags.UnsortedIndex : FileWriterFlags.None)
            | (Compress ? FileWriterFlags.Compress : FileWriterFlags.None));
        return native;
    }
}
