using System;
using Hurray.Interop;

namespace Hurray;

/// <summary>All that is needed to read a dense tensor; the address holds as long as the tensor's handle does.</summary>
internal sealed unsafe class DenseFacts
{
    public DenseFacts(in NativeView view)
    {
        var flags = (ViewFlags)view.Flags;
        Data = (byte*)view.Data;
        ByteSize = view.ByteSize;
        BytesBelow = view.BytesBelow;
        ElementCount = view.ElementCount;
        ElementType = (ElementType)view.ElementType;
        Layout = (Layout)view.Layout;
        Device = (Device)view.Device;
        Bits = (int)view.Bits;
        IsReadOnly = (flags & ViewFlags.ReadOnly) != 0;
        IsContiguous = (flags & ViewFlags.Contiguous) != 0;
        IsPacked = (flags & ViewFlags.Packed) != 0;
        Shape = new ReadOnlySpan<long>(view.Shape, view.Rank).ToArray();
        Strides = view.Strides != null ? new ReadOnlySpan<long>(view.Strides, view.Rank).ToArray() : RowMajorStrides(Shape);
    }

    /// <summary>Element (0, ..., 0).</summary>
    public byte* Data { get; }

    /// <summary>Bytes from the lowest to the end of the highest element.</summary>
    public ulong ByteSize { get; }

    /// <summary>How many of those lie below <see cref="Data"/>.</summary>
    public ulong BytesBelow { get; }

    public ulong ElementCount { get; }

    public ElementType ElementType { get; }

    public Layout Layout { get; }

    public Device Device { get; }

    public int Bits { get; }

    public bool IsReadOnly { get; }

    public bool IsContiguous { get; }

    public bool IsPacked { get; }

    public long[] Shape { get; }

    public long[] Strides { get; }

    private static long[] RowMajorStrides(long[] shape)
    {
        var strides = new long[shape.Length];
        UInt128 stride = 1;
        for (int k = shape.Length - 1; k >= 0; --k)
        {
            // Only a tensor without elements has products beyond a long; its strides are never used.
            strides[k] = stride <= long.MaxValue ? (long)stride : 0;
            stride = stride <= long.MaxValue ? stride * (ulong)Math.Max(shape[k], 1) : stride;
        }

        return strides;
    }
}
