using Hurray.Interop;

namespace Hurray;

/// <summary>How to open a model file. All members have defaults.</summary>
public sealed record TensorFileOptions
{
    /// <summary>The format; <see cref="FileFormat.Auto"/>: whatever the content says.</summary>
    public FileFormat Format { get; init; } = FileFormat.Auto;

    /// <summary>What happens to tensors whose data is not aligned to 64 bytes in the file: handed over as a base rounded down
    /// plus byte_offset (the default, nothing is copied), copied and counted, or refused with
    /// <see cref="HurrayStatus.Misaligned"/>.</summary>
    public AlignmentPolicy Alignment { get; init; } = AlignmentPolicy.Offset;

    /// <summary>Mapped (the default, nothing is copied), or read into memory of the library, for files that somebody else may cut. Of no
    /// meaning for a file in memory.</summary>
    public TensorFileAccess Access { get; init; } = TensorFileAccess.Map;

    /// <summary>Longest header, index or metadata section accepted, in bytes; 0: the default of the format (safetensors:
    /// 100,000,000).</summary>
    public ulong HeaderLimit { get; init; }

    /// <summary>What becomes of the quantized blocks of GGUF that are no exact scheme of the format.</summary>
    public InexactBlocks InexactBlocks { get; init; } = InexactBlocks.Raw;

    /// <summary>GGUF: whether blocks that are a scheme of the format are treated as <see cref="InexactBlocks"/> says, too.</summary>
    public bool NoExactSchemes { get; init; }

    /// <summary>.hrry: whether private layouts and quantization schemes are accepted.</summary>
    public bool PrivateTags { get; init; }

    /// <summary>.hrry: whether element types, layouts and quantization schemes are accepted that are not known.</summary>
    public bool Permissive { get; init; }

    internal NativeFileOptions ToNative()
    {
        var native = NativeFileOptions.Sized;
        native.Format = (uint)Format;
        native.Alignment = (uint)Alignment;
        native.Access = (uint)Access;
        native.HeaderLimit = HeaderLimit;
        native.InexactBlocks = (uint)InexactBlocks;
        native.Flags = (uint)((PrivateTags ? FileFlags.PrivateTags : FileFlags.None)
            | (Permissive ? FileFlags.Permissive : FileFlags.None)
            | (NoExactSchemes ? FileFlags.NoExactSchemes : FileFlags.None));
        return native;
    }
}
