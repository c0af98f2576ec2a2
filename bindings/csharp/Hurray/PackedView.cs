using System;
using Hurray.Interop;

namespace Hurray;

/// <summary>Holds the memory of a tensor of packed elements (bool, 2, 4 and 6 bits) open, with any strides: their bits by index
/// or in row-major order. Packed least significant bit first. (format: element types)</summary>
/// <remarks>Lifetime and threads as with <see cref="TensorView{T}"/>. For the bytes of a contiguous tensor use
/// <see cref="Tensor.Pin{T}"/> with byte.</remarks>
public sealed unsafe class PackedView : IDisposable
{
    private readonly byte* _data;
    private readonly DenseFacts _facts;
    private readonly Walk _walk;
    private readonly PinnedUse _use;
    private readonly int _bits;

    internal PackedView(HurrayHandle handle, DenseFacts facts)
    {
        Length = ViewChecks.Length(facts);
        _data = facts.Data;
        _facts = facts;
        _bits = facts.Bits;
        _walk = new Walk(facts.Shape, facts.Strides);
        _use = new PinnedUse(handle, writable: !facts.IsReadOnly);
    }

    /// <summary>Number of elements, the product of the shape.</summary>
    public long Length { get; }

    /// <summary>Bits of one element: 1, 2, 4 or 6.</summary>
    public int Bits => _bits;

    /// <summary>Size of every dimension.</summary>
    public ReadOnlySpan<long> Shape => _facts.Shape;

    /// <summary>Strides in elements.</summary>
    public ReadOnlySpan<long> Strides => _facts.Strides;

    /// <summary>Whether the memory must not be written.</summary>
    public bool IsReadOnly => _facts.IsReadOnly;

    /// <summary>The bits of an element, in the low bits of a byte: 0 or 1 for bool, the pattern for the other types.</summary>
    /// <param name="index">Its index in every dimension; none for a scalar.</param>
    /// <returns>The bits.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.IndexOutOfBounds"/>; on writing,
    /// <see cref="HurrayStatus.Unsupported"/>: the memory is read-only, and <see cref="HurrayStatus.InvalidArgument"/>:
    /// more bits than an element has.</exception>
    /// <exception cref="ObjectDisposedException">The view is closed.</exception>
    public byte this[params ReadOnlySpan<long> index]
    {
        get
        {
            _use.ThrowIfClosed(this);
            return Read(_data, ViewChecks.Offset(_facts, index) * _bits, _bits);
        }

        set
        {
            _use.ThrowIfClosed(this);
            ViewChecks.Writable(_facts);
            if (value >> _bits != 0)
            {
                throw new HurrayException(HurrayStatus.InvalidArgument, $"value: expected at most {_bits} bits, got {value}");
            }

            long bit = ViewChecks.Offset(_facts, index) * _bits;
            for (int i = 0; i < _bits; ++i)
            {
                byte* at = _data + ((bit + i) >> 3);
                int mask = 1 << (int)((bit + i) & 7);
                *at = (byte)(((value >> i) & 1) != 0 ? *at | mask : *at & ~mask);
            }
        }
    }

    /// <summary>Copies elements out in row-major order, one to a byte.</summary>
    /// <param name="start">Row-major index of the first.</param>
    /// <param name="destination">Where they go; its length says how many.</param>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.IndexOutOfBounds"/>: there are not that many.</exception>
    /// <exception cref="ObjectDisposedException">The view is closed.</exception>
    public void CopyTo(long start, Span<byte> destination)
    {
        _use.ThrowIfClosed(this);
        ViewChecks.Range(Length, start, destination.Length);
        fixed (byte* to = destination)
        {
            var gather = new Gather { Data = _data, Bits = _bits, Destination = to };
            _walk.Over(start, destination.Length, ref gather);
        }
    }

    /// <summary>Copies all truth values into an array, in row-major order.</summary>
    /// <returns>The array.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.InvalidType"/>: the elements are not bool;
    /// <see cref="HurrayStatus.LimitExceeded"/>: more than an array can hold.</exception>
    /// <exception cref="ObjectDisposedException">The view is closed.</exception>
    public bool[] ToBooleans()
    {
        if (_facts.ElementType != ElementType.Bool)
        {
            throw new HurrayException(HurrayStatus.InvalidType, $"view: its elements are {_facts.ElementType}, not Bool");
        }

        if (Length > Array.MaxLength)
        {
            throw new HurrayException(
                HurrayStatus.LimitExceeded, $"view: its {Length} elements are more than an array can hold; use CopyTo");
        }

        var bits = new byte[Length];
        CopyTo(0, bits);
        return Array.ConvertAll(bits, bit => bit != 0);
    }

    /// <summary>Closes the view; the second time is a no-op.</summary>
    public void Dispose() => _use.Dispose();

    // Bits may lie across two bytes (6-bit elements do); the second byte is read only when they do. A negative bit number is
    // below the first element: shifting rounds down, as it must.
    private static byte Read(byte* data, long bit, int bits)
    {
        byte* at = data + (bit >> 3);
        int shift = (int)(bit & 7);
        int word = *at >> shift;
        if (shift + bits > 8)
        {
            word |= at[1] << (8 - shift);
        }

        return (byte)(word & ((1 << bits) - 1));
    }

    private struct Gather : Walk.IRun
    {
        public byte* Data;
        public int Bits;
        public byte* Destination;

        public readonly void Run(long offset, long stride, int done, int count)
        {
            long bit = offset * Bits;
            long step = stride * Bits;
            for (int i = done; i < done + count; ++i, bit += step)
            {
                Destination[i] = Read(Data, bit, Bits);
            }
        }
    }
}
