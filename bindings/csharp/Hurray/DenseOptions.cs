using System;

namespace Hurray;

/// <summary>How memory is to be wrapped as a dense tensor. All members have defaults.</summary>
public sealed record DenseOptions
{
    /// <summary>Type of the elements; null: the one that the .NET type stands for. Memory of bytes can hold any type.</summary>
    public ElementType? ElementType { get; init; }

    /// <summary>Row-major, column-major or strided; <see cref="Strides"/> alone also means strided.</summary>
    public Layout Layout { get; init; } = Layout.RowMajor;

    /// <summary>Strides in elements for the strided layout, else null.</summary>
    public long[]? Strides { get; init; }

    /// <summary>Offset of element (0, ..., 0) from the start of the memory, in bytes.</summary>
    public ulong ByteOffset { get; init; }

    /// <summary>Whether the memory must not be written through the tensor.</summary>
    public bool ReadOnly { get; init; }

    /// <summary>What happens to memory that is not aligned to 64 bytes: handed over as a base rounded down plus byte_offset
    /// (the default, nothing is copied), copied, or refused with <see cref="HurrayStatus.Misaligned"/>.</summary>
    public AlignmentPolicy Alignment { get; init; } = AlignmentPolicy.Offset;

    /// <summary>Called exactly once when the last handle of the memory is gone, and not at all when wrapping it fails. Runs on
    /// the thread that closes that handle; where the collector closes it, on the thread that next creates or closes
    /// something or drains (but see <see cref="ReleaseOnAnyThread"/>). What is open when the process ends is not called
    /// back: nothing is, once <see cref="AppDomain.ProcessExit"/> has begun.</summary>
    public Action? Released { get; init; }

    /// <summary>Consent to release the memory, <see cref="Released"/> included, at once on whatever thread ends its last
    /// handle, the collector's included: for callbacks that are quick, take no locks and need no thread of their
    /// own.</summary>
    public bool ReleaseOnAnyThread { get; init; }

    internal static DenseOptions Default { get; } = new();
}
