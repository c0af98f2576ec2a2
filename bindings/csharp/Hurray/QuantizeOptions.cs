using Hurray.Interop;

namespace Hurray;

/// <summary>How to quantize. (format: quantization)</summary>
/// <param name="Scheme">The scheme.</param>
/// <param name="StorageType">Type of the stored elements.</param>
public sealed record QuantizeOptions(Scheme Scheme, ElementType StorageType)
{
    /// <summary>Type of the scales; null: what the scheme has.</summary>
    public ElementType? ScaleType { get; init; }

    /// <summary>Affine schemes: whether all zero points are 0, and steps reach as far down as up.</summary>
    public bool Symmetric { get; init; }

    /// <summary>The dimension along which channels or blocks follow one another; 0 for the per-tensor scheme.</summary>
    public int Axis { get; init; }

    /// <summary>Elements of a block along the axis; 0 for schemes without blocks.</summary>
    public int BlockSize { get; init; }

    internal NativeQuantizeSpec ToNative()
    {
        var native = NativeQuantizeSpec.Sized;
        native.Scheme = (byte)Scheme;
        native.StorageType = (byte)StorageType;
        native.ScaleType = (byte)(ScaleType ?? 0);
        native.Symmetric = Symmetric ? (byte)1 : (byte)0;
        native.Axis = (uint)Axis;
        native.BlockSize = (uint)BlockSize;
        return native;
    }
}
