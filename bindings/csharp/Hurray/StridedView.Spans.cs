#if NET10_0_OR_GREATER
using System;
using System.Numerics.Tensors;
using Hurray.Interop;

namespace Hurray;

public sealed unsafe partial class StridedView<T>
{
    /// <summary>The elements as .NET's own multi-dimensional span, without copying; since .NET 10. It must not be used after the view is
    /// closed.</summary>
    /// <returns>The span, with the shape and strides of the tensor.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.Unsupported"/>: the memory is read-only, the rank is 0, strides are negative, or
    /// elements overlap (strides of 0 among them); <see cref="HurrayStatus.Misaligned"/>: elements are
    /// not aligned as .NET expects of a T.</exception>
    /// <exception cref="ObjectDisposedException">The view is closed.</exception>
    public TensorSpan<T> GetTensorSpan() =>
        TryGetTensorSpan(out TensorSpan<T> span, out HurrayException? refusal) ? span : throw refusal!;

    /// <summary>As <see cref="GetTensorSpan"/>, for reading.</summary>
    /// <returns>The span, with the shape and strides of the tensor.</returns>
    /// <exception cref="HurrayException">As <see cref="GetTensorSpan"/>, but for read-only memory.</exception>
    /// <exception cref="ObjectDisposedException">The view is closed.</exception>
    public ReadOnlyTensorSpan<T> GetReadOnlyTensorSpan() =>
        TryGetReadOnlyTensorSpan(out ReadOnlyTensorSpan<T> span, out HurrayException? refusal) ? span : throw refusal!;

    /// <summary>As <see cref="GetTensorSpan"/>, where it is possible.</summary>
    /// <param name="span">The span, or an empty one.</param>
    /// <returns>Whether .NET can say what the tensor is.</returns>
    /// <exception cref="ObjectDisposedException">The view is closed.</exception>
    public bool TryGetTensorSpan(out TensorSpan<T> span) => TryGetTensorSpan(out span, out _);

    /// <summary>As <see cref="GetReadOnlyTensorSpan"/>, where it is possible.</summary>
    /// <param name="span">The span, or an empty one.</param>
    /// <returns>Whether .NET can say what the tensor is.</returns>
    /// <exception cref="ObjectDisposedException">The view is closed.</exception>
    public bool TryGetReadOnlyTensorSpan(out ReadOnlyTensorSpan<T> span) => TryGetReadOnlyTensorSpan(out span, out _);

    private bool TryGetTensorSpan(out TensorSpan<T> span, out HurrayException? refusal)
    {
        _use.ThrowIfClosed(this);
        span = default;
        refusal = IsReadOnly
            ? new HurrayException(HurrayStatus.Unsupported, "view: the memory is read-only; use GetReadOnlyTensorSpan")
            : SpanRefusal();
        if (refusal is null)
        {
            span = new TensorSpan<T>((T*)_data, SpanLength(), Lengths(), Steps());
        }

        return refusal is null;
    }

    private bool TryGetReadOnlyTensorSpan(out ReadOnlyTensorSpan<T> span, out HurrayException? refusal)
    {
        _use.ThrowIfClosed(this);
        span = default;
        refusal = SpanRefusal();
        if (refusal is null)
        {
            span = new ReadOnlyTensorSpan<T>((T*)_data, SpanLength(), Lengths(), Steps());
        }

        return refusal is null;
    }

    private HurrayException? SpanRefusal()
    {
        int alignment = ElementTypes.AlignmentOf<T>();
        if ((nuint)_data % (nuint)alignment != 0)
        {
            return new HurrayException(
                HurrayStatus.Misaligned, $"view: {typeof(T)} expects alignment to {alignment} bytes, which the elements do not have");
        }

        if (Shape.IsEmpty)
        {
            return new HurrayException(HurrayStatus.Unsupported, "view: spans of .NET have no rank 0, which has one element");
        }

        if (_facts.ElementCount == 0)
        {
            return null;
        }

        for (int k = 0; k < Strides.Length; ++k)
        {
            if (Strides[k] < 0)
            {
                return new HurrayException(
                    HurrayStatus.Unsupported, $"strides[{k}]: {Strides[k]}: spans of .NET have no negative strides; use the view or a copy");
            }
        }

        return Overlap();
    }

    // Ordered by stride, each dimension must step over all that is inside of it. Stricter than need be for a few exotic strides, as .NET is.
    private HurrayException? Overlap()
    {
        var order = new int[Shape.Length];
        for (int k = 0; k < order.Length; ++k)
        {
            order[k] = k;
        }

        long[] strides = _facts.Strides;
        Array.Sort(order, (a, b) => strides[a].CompareTo(strides[b]));
        long inside = 1;
        foreach (int k in order)
        {
            // Strides of dimensions with one element are never used.
            if (Shape[k] == 1)
            {
                continue;
            }

            if (strides[k] < inside)
            {
                return new HurrayException(
                    HurrayStatus.Unsupported,
                    $"strides[{k}]: {strides[k]}: elements overlap, which spans of .NET do not allow; use the view or a copy");
            }

            inside = checked((strides[k] * (Shape[k] - 1)) + inside);
        }

        return null;
    }

    // Elements up to the end of the highest one: none lies below the first, where no stride is negative.
    private nint SpanLength() => (nint)(_facts.ByteSize / (ulong)sizeof(T));

    private nint[] Lengths() => Array.ConvertAll(_facts.Shape, length => (nint)length);

    // Strides that are never used are 0 in .NET.
    private nint[] Steps()
    {
        var steps = new nint[Shape.Length];
        for (int k = 0; k < steps.Length; ++k)
        {
            steps[k] = _facts.ElementCount == 0 || Shape[k] == 1 ? 0 : (nint)Strides[k];
        }

        return steps;
    }
}
#endif
