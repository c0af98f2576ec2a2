using System;
using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Hurray.Conformance;

/// <summary>Reads every element of a tensor through the typed views of the binding: checksum of the bytes in row-major order,
/// and the sum in float64 where the type has one.</summary>
internal struct Reading
{
    // Elements a step: small enough for the cache, large enough for the checksum.
    private const int Step = 16 * 1024;

    private Crc32 _crc;
    private double _sum;

    private Reading(bool sums) => HasSum = sums;

    /// <summary>Bytes that went into the checksum.</summary>
    public ulong Bytes { get; private set; }

    public readonly uint Checksum => _crc.Value;

    public bool HasSum { get; }

    public readonly double Sum => _sum;

    public static Reading Of(Tensor tensor) => tensor.ElementType switch
    {
        ElementType.Bool => tensor.IsContiguous ? Bits(tensor) : Packed(tensor, sums: true),
        ElementType.Float16 => Whole<Half, Elements>(tensor),
        ElementType.BFloat16 => Whole<BFloat16, Elements>(tensor),
        ElementType.Float32 => Whole<float, Elements>(tensor),
        ElementType.Float64 => Whole<double, Elements>(tensor),
        ElementType.Int8 => Whole<sbyte, Elements>(tensor),
        ElementType.UInt8 => Whole<byte, Elements>(tensor),
        ElementType.Int16 => Whole<short, Elements>(tensor),
        ElementType.UInt16 => Whole<ushort, Elements>(tensor),
        ElementType.Int32 => Whole<int, Elements>(tensor),
        ElementType.UInt32 => Whole<uint, Elements>(tensor),
        ElementType.Int64 => Whole<long, Elements>(tensor),
        ElementType.UInt64 => Whole<ulong, Elements>(tensor),
        ElementType.Complex64 => Unsummed<Complex64>(tensor),
        ElementType.Complex128 => Unsummed<Complex>(tensor),
        _ => tensor.IsPacked ? Packed(tensor, sums: false) : Opaque(tensor),
    };

    private static Reading Whole<T, TElement>(Tensor tensor)
        where T : unmanaged
        where TElement : IElement<T>
    {
        var reading = new Reading(sums: true);
        // What a file or channel hands over in place may lie anywhere; .NET's spans want whole elements aligned.
        bool aligned = tensor.Descriptor.ByteOffset % (ulong)Unsafe.SizeOf<T>() == 0;
        if (tensor.IsContiguous && aligned)
        {
            using TensorView<T> view = tensor.Pin<T>();
            for (long start = 0; start < view.Length; start += Step)
            {
                ReadOnlySpan<T> some = view.ReadOnlyWindow(start, (int)Math.Min(Step, view.Length - start));
                reading.Add(MemoryMarshal.AsBytes(some));
                reading.AddValues<T, TElement>(some);
            }

            return reading;
        }

        using StridedView<T> strided = tensor.PinStrided<T>();
        var elements = new T[Math.Min(Step, strided.Length)];
        for (long start = 0; start < strided.Length; start += Step)
        {
            Span<T> some = elements.AsSpan(0, (int)Math.Min(Step, strided.Length - start));
            strided.CopyTo(start, some);
            reading.Add(MemoryMarshal.AsBytes(some));
            reading.AddValues<T, TElement>(some);
        }

        return reading;
    }

    private static Reading Unsummed<T>(Tensor tensor)
        where T : unmanaged
    {
        var reading = new Reading(sums: false);
        using StridedView<T> view = tensor.PinStrided<T>();
        var elements = new T[Math.Min(Step, view.Length)];
        for (long start = 0; start < view.Length; start += Step)
        {
            Span<T> some = elements.AsSpan(0, (int)Math.Min(Step, view.Length - start));
            view.CopyTo(start, some);
            reading.Add(MemoryMarshal.AsBytes(some));
        }

        return reading;
    }

    // Eight truth values a byte. Their sum is a whole number far below 2^53: adding bits of a byte at once gives what adding one
    // after the other gives.
    private static Reading Bits(Tensor tensor)
    {
        var reading = new Reading(sums: true);
        using TensorView<byte> view = tensor.Pin<byte>();
        int used = (int)(tensor.ElementCount % 8);
        long whole = used == 0 ? view.Length : view.Length - 1;
        for (long start = 0; start < whole; start += Step)
        {
            reading.AddBits(view.ReadOnlyWindow(start, (int)Math.Min(Step, whole - start)));
        }

        if (used != 0)
        {
            // The unused bits of the last byte are no elements.
            reading.AddBits([(byte)(view[whole] & ((1 << used) - 1))]);
        }

        return reading;
    }

    // Element bits are gathered one to a byte and packed again, least significant bit first: for a contiguous tensor that gives
    // the bytes of its memory.
    private static Reading Packed(Tensor tensor, bool sums)
    {
        var reading = new Reading(sums);
        using PackedView view = tensor.PinPacked();
        // A multiple of eight elements is whole bytes of every packed type, so that steps join without a gap.
        var elements = new byte[Math.Min(Step, view.Length)];
        var packed = new byte[(Step * view.Bits / 8) + 3];
        for (long start = 0; start < view.Length; start += Step)
        {
            Span<byte> some = elements.AsSpan(0, (int)Math.Min(Step, view.Length - start));
            view.CopyTo(start, some);
            Span<byte> bytes = packed.AsSpan(0, (int)tensor.ElementType.ByteSize((ulong)some.Length));
            Pack(some, view.Bits, bytes);
            reading.Add(bytes);
            if (sums)
            {
                reading.AddValues<byte, Elements>(some);
            }
        }

        return reading;
    }

    private static Reading Opaque(Tensor tensor)
    {
        // One-byte and 16-byte types without a .NET type: their bytes, through a row-major copy where they are scattered.
        var reading = new Reading(sums: false);
        using Tensor contiguous = tensor.IsContiguous ? tensor.Share() : tensor.Copy();
        using TensorView<byte> view = contiguous.Pin<byte>();
        for (long start = 0; start < view.Length; start += Step)
        {
            reading.Add(view.ReadOnlyWindow(start, (int)Math.Min(Step, view.Length - start)));
        }

        return reading;
    }

    private static void Pack(ReadOnlySpan<byte> elements, int bits, Span<byte> bytes)
    {
        bytes.Clear();
        long bit = 0;
        foreach (byte element in elements)
        {
            int at = (int)(bit >> 3);
            int word = element << (int)(bit & 7);
            bytes[at] |= (byte)word;
            if (word > 0xFF)
            {
                bytes[at + 1] |= (byte)(word >> 8);
            }

            bit += bits;
        }
    }

    private void Add(ReadOnlySpan<byte> bytes)
    {
        _crc.Add(bytes);
        Bytes += (ulong)bytes.Length;
    }

    private void AddBits(ReadOnlySpan<byte> bytes)
    {
        Add(bytes);
        long ones = 0;
        foreach (ulong word in MemoryMarshal.Cast<byte, ulong>(bytes))
        {
            ones += BitOperations.PopCount(word);
        }

        foreach (byte one in bytes[(bytes.Length / sizeof(ulong) * sizeof(ulong))..])
        {
            ones += BitOperations.PopCount(one);
        }

        _sum += ones;
    }

    private void AddValues<T, TElement>(ReadOnlySpan<T> values)
        where TElement : IElement<T>
    {
        double sum = _sum;
        foreach (T value in values)
        {
            sum += TElement.ToDouble(value);
        }

        _sum = sum;
    }
}
