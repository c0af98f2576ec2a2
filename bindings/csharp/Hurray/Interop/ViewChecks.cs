using System;

namespace Hurray.Interop;

/// <summary>What strided and packed views check alike.</summary>
internal static class ViewChecks
{
    public static long Length(DenseFacts facts) =>
        facts.ElementCount <= long.MaxValue
            ? (long)facts.ElementCount
            : throw new HurrayException(
                HurrayStatus.Unsupported, $"tensor: {facts.ElementCount} elements are more than .NET can count");

    public static void Writable(DenseFacts facts)
    {
        if (facts.IsReadOnly)
        {
            throw new HurrayException(HurrayStatus.Unsupported, "view: the memory is read-only, it cannot be written");
        }
    }

    public static void Range(long length, long start, int count)
    {
        if (start < 0 || start > length - count)
        {
            throw new HurrayException(
                HurrayStatus.IndexOutOfBounds, $"view: {count} elements from {start}: expected a range within {length}");
        }
    }

    /// <summary>Where an element lies, in elements from element (0, ..., 0). Elements that exist lie in the memory: the library
    /// has checked that.</summary>
    public static long Offset(DenseFacts facts, ReadOnlySpan<long> index)
    {
        long[] shape = facts.Shape;
        if (index.Length != shape.Length)
        {
            throw new HurrayException(
                HurrayStatus.IndexOutOfBounds, $"index: expected {shape.Length} numbers, one a dimension, got {index.Length}");
        }

        long offset = 0;
        for (int k = 0; k < shape.Length; ++k)
        {
            if ((ulong)index[k] >= (ulong)shape[k])
            {
                throw new HurrayException(
                    HurrayStatus.IndexOutOfBounds, $"index[{k}]: expected 0 to {shape[k] - 1}, got {index[k]}");
            }

            offset += index[k] * facts.Strides[k];
        }

        return offset;
    }
}
