using System.Collections.Immutable;

namespace Hurray;

/// <summary>What is wanted of another layout beside its tag; all members have defaults.</summary>
public sealed record TranscodeOptions
{
    /// <summary>The layout's fields (strides, tiles, Morton bits, CSF's order of dimensions, Hilbert's order); null: those that will do,
    /// for layouts other than strided and tiled. The nnz of sparse layouts is not looked at: the elements tell it.</summary>
    public LayoutFields? Fields { get; init; }

    /// <summary>Alignment of the new buffers in bytes, a power of two of at least 64; 0: 64.</summary>
    public uint Alignment { get; init; }

    /// <summary>Of a block-paged tensor the one sequence of this number; null: all of them, one after the other.</summary>
    public uint? Sequence { get; init; }

    /// <summary>Of a block-paged tensor: the tokens of each sequence. The format stores pages only, so that a tensor of several sequences
    /// whose last pages are not full cannot be transcoded without. Default: not known.</summary>
    public ImmutableArray<ulong> TokenCounts { get; init; }
}
