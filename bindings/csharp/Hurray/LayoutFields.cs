using System;
using System.Collections.Immutable;
using System.Linq;

namespace Hurray;

/// <summary>The fields of a layout that has any; row-major and column-major have none. (format: memory layout)</summary>
/// <remarks>Plain values: copied out of a descriptor, compared by content, and for any thread.</remarks>
public abstract record LayoutFields
{
    private protected LayoutFields()
    {
    }

    internal abstract bool IsOf(Layout layout);
}

/// <summary>A step for each dimension.</summary>
/// <param name="Strides">One a dimension, in elements; negative and zero ones are legal.</param>
public sealed record StridedFields(ImmutableArray<long> Strides) : LayoutFields
{
    /// <inheritdoc/>
    public bool Equals(StridedFields? other) => other is not null && Arrays.Same(Strides, other.Strides);

    /// <inheritdoc/>
    public override int GetHashCode() => Arrays.Hash(Strides);

    internal override bool IsOf(Layout layout) => layout == Layout.Strided;
}

/// <summary>One level of tiles: element i lies in tile i / TileShape of the level's grid, at i mod TileShape in
/// it.</summary>
/// <param name="TileShape">One size a dimension, in elements.</param>
/// <param name="OuterLayout">Order of the tiles: row-major, column-major or strided.</param>
/// <param name="InnerLayout">Order inside a tile: likewise, or tiled, then the next level says it.</param>
/// <param name="OuterStrides">In tiles, of a strided outer layout; else empty.</param>
/// <param name="InnerStrides">In elements, of a strided inner layout; else empty.</param>
public sealed record TileLevel(
    ImmutableArray<ulong> TileShape,
    Layout OuterLayout = Layout.RowMajor,
    Layout InnerLayout = Layout.RowMajor,
    ImmutableArray<long> OuterStrides = default,
    ImmutableArray<long> InnerStrides = default)
{
    /// <inheritdoc/>
    public bool Equals(TileLevel? other) =>
        other is not null && Arrays.Same(TileShape, other.TileShape) && OuterLayout == other.OuterLayout
        && InnerLayout == other.InnerLayout && Arrays.Same(OuterStrides, other.OuterStrides)
        && Arrays.Same(InnerStrides, other.InnerStrides);

    /// <inheritdoc/>
    public override int GetHashCode() => HashCode.Combine(Arrays.Hash(TileShape), OuterLayout, InnerLayout);
}

/// <summary>Tiles, or tiles of tiles.</summary>
/// <param name="Levels">The outermost first; at most <see cref="FieldLimit.MaxTileLevels"/>.</param>
public sealed record TiledFields(ImmutableArray<TileLevel> Levels) : LayoutFields
{
    /// <inheritdoc/>
    public bool Equals(TiledFields? other) => other is not null && Arrays.Same(Levels, other.Levels);

    /// <inheritdoc/>
    public override int GetHashCode() => Arrays.Hash(Levels);

    internal override bool IsOf(Layout layout) => layout == Layout.Tiled;
}

/// <summary>Elements in the order of their Morton codes.</summary>
/// <param name="Bits">Bits of each index in the code, one number a dimension.</param>
public sealed record MortonFields(ImmutableArray<ulong> Bits) : LayoutFields
{
    /// <inheritdoc/>
    public bool Equals(MortonFields? other) => other is not null && Arrays.Same(Bits, other.Bits);

    /// <inheritdoc/>
    public override int GetHashCode() => Arrays.Hash(Bits);

    internal override bool IsOf(Layout layout) => layout == Layout.Morton;
}

/// <summary>Elements along a Hilbert curve.</summary>
/// <param name="Order">Binary logarithm of every dimension's size.</param>
public sealed record HilbertFields(uint Order) : LayoutFields
{
    internal override bool IsOf(Layout layout) => layout == Layout.Hilbert;
}

/// <summary>Stored elements with an index each. Buffers: values, indices.</summary>
/// <param name="Nnz">Number of stored elements.</param>
/// <param name="IsSorted">Whether the indices ascend.</param>
public sealed record CooFields(ulong Nnz, bool IsSorted) : LayoutFields
{
    internal override bool IsOf(Layout layout) => layout == Layout.Coo;
}

/// <summary>Sparse rows. Buffers: values, column indices, row pointers.</summary>
/// <param name="Nnz">Number of stored elements.</param>
public sealed record CsrFields(ulong Nnz) : LayoutFields
{
    internal override bool IsOf(Layout layout) => layout == Layout.Csr;
}

/// <summary>Sparse columns. Buffers: values, row indices, column pointers.</summary>
/// <param name="Nnz">Number of stored elements.</param>
public sealed record CscFields(ulong Nnz) : LayoutFields
{
    internal override bool IsOf(Layout layout) => layout == Layout.Csc;
}

/// <summary>Compressed sparse fibers. Buffers: values, then positions and coordinates of each level.</summary>
/// <param name="Nnz">Number of stored elements.</param>
/// <param name="ModeOrder">The dimensions in the order of the levels.</param>
public sealed record CsfFields(ulong Nnz, ImmutableArray<ulong> ModeOrder) : LayoutFields
{
    /// <inheritdoc/>
    public bool Equals(CsfFields? other) =>
        other is not null && Nnz == other.Nnz && Arrays.Same(ModeOrder, other.ModeOrder);

    /// <inheritdoc/>
    public override int GetHashCode() => HashCode.Combine(Nnz, Arrays.Hash(ModeOrder));

    internal override bool IsOf(Layout layout) => layout == Layout.Csf;
}

/// <summary>Pages of tokens. Buffers: page pool, block table, sequence pointers.</summary>
/// <param name="PageSize">Tokens of a page.</param>
/// <param name="NumPages">Pages in the pool.</param>
/// <param name="NumSeqs">Number of sequences.</param>
/// <param name="KvRole">What the pages hold.</param>
/// <param name="LayerIndex">Number of the layer; null when it is not said.</param>
/// <param name="IndexType">Type of the page numbers in the block table.</param>
/// <param name="PagedAxis">The dimension that is cut into pages: 0.</param>
public sealed record BlockPagedFields(
    uint PageSize,
    ulong NumPages,
    uint NumSeqs,
    KvRole KvRole = KvRole.Other,
    uint? LayerIndex = null,
    TableIndex IndexType = TableIndex.UInt32,
    uint PagedAxis = 0) : LayoutFields
{
    internal override bool IsOf(Layout layout) => layout == Layout.BlockPaged;
}

/// <summary>The head of a composite, whose members follow it in a stream or file. No buffers.</summary>
/// <param name="Rule">How the members make a whole.</param>
/// <param name="MemberCount">How many there are.</param>
/// <param name="CombineOp">Of overlays: how values of members are combined.</param>
public sealed record CompositeFields(
    CompositionRule Rule, uint MemberCount, CombineOp CombineOp = CombineOp.None) : LayoutFields
{
    internal override bool IsOf(Layout layout) => layout == Layout.Composite;
}

/// <summary>The fields of a layout upon which writer and reader have agreed; its tag is the descriptor's layout.</summary>
/// <param name="Id">The layout's number.</param>
/// <param name="Data">Its own fields.</param>
public sealed record PrivateLayoutFields(ulong Id, ImmutableArray<byte> Data) : LayoutFields
{
    /// <inheritdoc/>
    public bool Equals(PrivateLayoutFields? other) =>
        other is not null && Id == other.Id && Arrays.Same(Data, other.Data);

    /// <inheritdoc/>
    public override int GetHashCode() => HashCode.Combine(Id, Arrays.Hash(Data));

    internal override bool IsOf(Layout layout) => (byte)layout is >= 0xF0 and <= 0xFE;
}

/// <summary>Arrays compared by content; one that was never made is as good as an empty one.</summary>
internal static class Arrays
{
    public static bool Same<T>(ImmutableArray<T> a, ImmutableArray<T> b) => OrEmpty(a).SequenceEqual(OrEmpty(b));

    public static int Hash<T>(ImmutableArray<T> values)
    {
        var hash = default(HashCode);
        foreach (T value in OrEmpty(values))
        {
            hash.Add(value);
        }

        return hash.ToHashCode();
    }

    public static ImmutableArray<T> OrEmpty<T>(ImmutableArray<T> values) => values.IsDefault ? [] : values;
}
