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

    /// <summary>Longest header accepted, in bytes; 0: 100,000,000.</summary>
    public ulong HeaderLimit { get; init; }
}
