using System;
using System.Runtime.CompilerServices;
using Hurray.Interop;

namespace Hurray;

/// <summary>Holds the memory of a tensor with any strides open: elements by index, copies in row-major order. Elements need not
/// be aligned.</summary>
/// <typeparam name="T">Type of the elements.</typeparam>
/// <remarks>Lifetime and threads as with <see cref="TensorView{T}"/>.</remarks>
public sealed unsafe partial class StridedView<T> : IDisposable
    where T : unmanaged
{
    private readonly byte* _data;
    private readonly DenseFacts _facts;
    private readonly Walk _walk;
    private readonly PinnedUse _use;

    internal StridedView(HurrayHandle handle, DenseFacts facts)
    {
        Length = ViewChecks.Length(facts);
        _data = facts.Data;
        _facts = facts;
        _walk = new Walk(facts.Shape, facts.Strides);
        _use = new PinnedUse(handle, writable: !facts.IsReadOnly);
    }

    /// <summary>Number of elements, the product of the shape.</summary>
    public long Length { get; }

    /// <summary>Size of every dimension.</summary>
    public ReadOnlySpan<long> Shape => _facts.Shape;

    /// <summary>Strides in elements.</summary>
    public ReadOnlySpan<long> Strides => _facts.Strides;

    /// <summary>Whether the memory must not be written.</summary>
    public bool IsReadOnly => _facts.IsReadOnly;

    /// <summary>An element.</summary>
    /// <param name="index">Its index in every dimension; none for a scalar.</param>
    /// <returns>The element.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.IndexOutOfBounds"/>; on writing,
    /// <see cref="HurrayStatus.Unsupported"/>: the memory is read-only.</exception>
    /// <exception cref="ObjectDisposedException">The view is closed.</exception>
    public T this[params ReadOnlySpan<long> index]
    {
        get
        {
            _use.ThrowIfClosed(this);
            return Unsafe.ReadUnaligned<T>(_data + (ViewChecks.Offset(_facts, index) * sizeof(T)));
        }

        set
        {
            _use.ThrowIfClosed(this);
            ViewChecks.Writable(_facts);
            Unsafe.WriteUnaligned(_data + (ViewChecks.Offset(_facts, index) * sizeof(T)), value);
        }
    }

    /// <summary>Copies elements out, in row-major order.</summary>
    /// <param name="start">Row-major index of the first.</param>
    /// <param name="destination">Where they go; its length says how many.</param>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.IndexOutOfBounds"/>: there are not that many.</exception>
    /// <exception cref="ObjectDisposedException">The view is closed.</exception>
    public void CopyTo(long start, Span<T> destination)
    {
        _use.ThrowIfClosed(this);
        ViewChecks.Range(Length, start, destination.Length);
        fixed (T* to = destination)
        {
            var gather = new Gather { Data = _data, Destination = to };
            _walk.Over(start, destination.Length, ref gather);
        }
    }

    /// <summary>Copies all elements into an array, in row-major order.</summary>
    /// <returns>The array.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.LimitExceeded"/>: more than an array can hold.</exception>
    /// <exception cref="ObjectDisposedException">The view is closed.</exception>
    public T[] ToArray()
    {
        if (Length > Array.MaxLength)
        {
            throw new HurrayException(
                HurrayStatus.LimitExceeded, $"view: its {Length} elements are more than an array can hold; use CopyTo");
        }

        var array = new T[Length];
        CopyTo(0, array);
        return array;
    }

    /// <summary>Closes the view; the second time is a no-op.</summary>
    public void Dispose() => _use.Dispose();

    private struct Gather : Walk.IRun
    {
        public byte* Data;
        public T* Destination;

        public readonly void Run(long offset, long stride, int done, int count)
        {
            byte* from = Data + (offset * sizeof(T));
            T* to = Destination + done;
            if (stride == 1)
            {
                long bytes = (long)count * sizeof(T);
                Buffer.MemoryCopy(from, to, bytes, bytes);
                return;
            }

            long step = stride * sizeof(T);
            for (int i = 0; i < count; ++i, from += step)
            {
                to[i] = Unsafe.ReadUnaligned<T>(from);
            }
        }
    }
}
