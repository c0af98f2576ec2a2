using System;

namespace Hurray;

/// <summary>A tensor or a composite: what a composite has as a member, and what a stream may hold.</summary>
public readonly struct TensorItem : IDisposable
{
    private TensorItem(Tensor? tensor, Composite? composite)
    {
        Tensor = tensor;
        Composite = composite;
    }

    /// <summary>The tensor; null when it is a composite.</summary>
    public Tensor? Tensor { get; }

    /// <summary>The composite; null when it is a tensor.</summary>
    public Composite? Composite { get; }

    /// <summary>A tensor as an item.</summary>
    /// <param name="tensor">The tensor; whoever closes the item closes it.</param>
    public static implicit operator TensorItem(Tensor tensor)
    {
        ArgumentNullException.ThrowIfNull(tensor);
        return new TensorItem(tensor, null);
    }

    /// <summary>A composite as an item.</summary>
    /// <param name="composite">The composite; whoever closes the item closes it.</param>
    public static implicit operator TensorItem(Composite composite)
    {
        ArgumentNullException.ThrowIfNull(composite);
        return new TensorItem(null, composite);
    }

    /// <summary>Closes what it is; the second time is a no-op.</summary>
    public void Dispose()
    {
        Tensor?.Dispose();
        Composite?.Dispose();
    }
}
