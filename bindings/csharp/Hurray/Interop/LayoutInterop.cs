using System;
using System.Collections.Immutable;

namespace Hurray.Interop;

/// <summary>The fields of layouts, out of descriptors and into builders.</summary>
internal static unsafe class LayoutInterop
{
    /// <summary>Copies the fields of a descriptor's layout; null where there are none.</summary>
    public static LayoutFields? Read(DescriptorHandle descriptor)
    {
        NativeError error;
        var fields = NativeLayoutFields.Sized;
        Native.Check(NativeMethods.DescriptorLayoutFields(descriptor, ref fields, &error), &error);
        int rank = (int)fields.Rank;
        LayoutFields? result = (Layout)fields.Layout switch
        {
            Layout.Strided => new StridedFields(Copy(fields.Strides, rank)),
            Layout.Tiled => ReadTiles(descriptor, (int)fields.TileLevelCount),
            Layout.Morton => new MortonFields(Copy(fields.MortonBits, rank)),
            Layout.Hilbert => new HilbertFields(fields.HilbertOrder),
            Layout.Coo => new CooFields(fields.Nnz, fields.IsSorted != 0),
            Layout.Csr => new CsrFields(fields.Nnz),
            Layout.Csc => new CscFields(fields.Nnz),
            Layout.Csf => new CsfFields(fields.Nnz, Copy(fields.ModeOrder, rank)),
            Layout.BlockPaged => new BlockPagedFields(
                fields.PageSize,
                fields.NumPages,
                fields.NumSeqs,
                (KvRole)fields.KvRole,
                fields.LayerIndex == FieldLimit.NoLayer ? null : fields.LayerIndex,
                (TableIndex)fields.IndexType,
                fields.PagedAxis),
            Layout.Composite => new CompositeFields(
                (CompositionRule)fields.CompositionRule, fields.MemberCount, (CombineOp)fields.CombineOp),
            >= (Layout)0xF0 and <= (Layout)0xFE => new PrivateLayoutFields(
                fields.PrivateId, Copy(fields.PrivateData, Native.Length(fields.PrivateLength, "layout"))),
            _ => null,
        };
        GC.KeepAlive(descriptor);
        return result;
    }

    /// <summary>Gives fields to a builder of their layout.</summary>
    public static void Write(DescriptorBuilderHandle builder, Layout layout, LayoutFields value)
    {
        if (!value.IsOf(layout))
        {
            throw new HurrayException(
                HurrayStatus.InvalidArgument, $"layout fields: {value.GetType().Name} do not belong to layout {layout}");
        }

        if (value is TiledFields tiled)
        {
            foreach (TileLevel level in Arrays.OrEmpty(tiled.Levels))
            {
                Write(builder, level);
            }

            return;
        }

        NativeError error;
        var fields = NativeLayoutFields.Sized;
        fields.Layout = (byte)layout;
        fixed (long* strides = value is StridedFields strided ? strided.Strides.AsSpan() : default)
        fixed (ulong* bits = value is MortonFields morton ? morton.Bits.AsSpan() : default)
        fixed (ulong* modes = value is CsfFields csf ? csf.ModeOrder.AsSpan() : default)
        fixed (byte* data = value is PrivateLayoutFields agreed ? agreed.Data.AsSpan() : default)
        {
            switch (value)
            {
                case StridedFields v:
                    fields.Strides = strides;
                    fields.Rank = (uint)Arrays.OrEmpty(v.Strides).Length;
                    break;
                case MortonFields v:
                    fields.MortonBits = bits;
                    fields.Rank = (uint)Arrays.OrEmpty(v.Bits).Length;
                    break;
                case CsfFields v:
                    fields.Nnz = v.Nnz;
                    fields.ModeOrder = modes;
                    fields.Rank = (uint)Arrays.OrEmpty(v.ModeOrder).Length;
                    break;
                case PrivateLayoutFields v:
                    fields.PrivateId = v.Id;
                    fields.PrivateData = data;
                    fields.PrivateLength = (ulong)Arrays.OrEmpty(v.Data).Length;
                    break;
                default:
                    Fill(ref fields, value);
                    break;
            }

            Native.Check(NativeMethods.DescriptorBuilderSetLayoutFields(builder, fields, &error), &error);
        }
    }

    // Of layouts whose fields are numbers only.
    private static void Fill(ref NativeLayoutFields fields, LayoutFields value)
    {
        switch (value)
        {
            case HilbertFields v:
                fields.HilbertOrder = v.Order;
                break;
            case CooFields v:
                fields.Nnz = v.Nnz;
                fields.IsSorted = v.IsSorted ? (byte)1 : (byte)0;
                break;
            case CsrFields v:
                fields.Nnz = v.Nnz;
                break;
            case CscFields v:
                fields.Nnz = v.Nnz;
                break;
            case BlockPagedFields v:
                fields.PageSize = v.PageSize;
                fields.NumPages = v.NumPages;
                fields.PagedAxis = v.PagedAxis;
                fields.NumSeqs = v.NumSeqs;
                fields.KvRole = (byte)v.KvRole;
                fields.LayerIndex = v.LayerIndex ?? FieldLimit.NoLayer;
                fields.IndexType = (byte)v.IndexType;
                break;
            case CompositeFields v:
                fields.CompositionRule = (byte)v.Rule;
                fields.CombineOp = (byte)v.CombineOp;
                fields.MemberCount = v.MemberCount;
                break;
        }
    }

    private static void Write(DescriptorBuilderHandle builder, TileLevel level)
    {
        ReadOnlySpan<ulong> shape = Arrays.OrEmpty(level.TileShape).AsSpan();
        ReadOnlySpan<long> outer = Arrays.OrEmpty(level.OuterStrides).AsSpan();
        ReadOnlySpan<long> inner = Arrays.OrEmpty(level.InnerStrides).AsSpan();
        if ((!outer.IsEmpty && outer.Length != shape.Length) || (!inner.IsEmpty && inner.Length != shape.Length))
        {
            throw new HurrayException(
                HurrayStatus.InvalidArgument, $"tile level: expected {shape.Length} strides, as the tile has dimensions");
        }

        NativeError error;
        var fields = NativeTileLevel.Sized;
        fields.Rank = (uint)shape.Length;
        fields.OuterLayout = (byte)level.OuterLayout;
        fields.InnerLayout = (byte)level.InnerLayout;
        fixed (ulong* tile = shape)
        fixed (long* outerStrides = outer)
        fixed (long* innerStrides = inner)
        {
            fields.TileShape = tile;
            fields.OuterStrides = outerStrides;
            fields.InnerStrides = innerStrides;
            Native.Check(NativeMethods.DescriptorBuilderAddTileLevel(builder, fields, &error), &error);
        }
    }

    private static TiledFields ReadTiles(DescriptorHandle descriptor, int count)
    {
        NativeError error;
        var levels = ImmutableArray.CreateBuilder<TileLevel>(count);
        for (int i = 0; i < count; ++i)
        {
            var level = NativeTileLevel.Sized;
            Native.Check(NativeMethods.DescriptorTileLevel(descriptor, (uint)i, ref level, &error), &error);
            int rank = (int)level.Rank;
            levels.Add(
                new TileLevel(
                    Copy(level.TileShape, rank),
                    (Layout)level.OuterLayout,
                    (Layout)level.InnerLayout,
                    Copy(level.OuterStrides, rank),
                    Copy(level.InnerStrides, rank)));
        }

        return new TiledFields(levels.MoveToImmutable());
    }

    internal static ImmutableArray<T> Copy<T>(T* values, int count)
        where T : unmanaged => values == null ? [] : ImmutableArray.Create(new ReadOnlySpan<T>(values, count));
}
