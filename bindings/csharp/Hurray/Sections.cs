using System;
using System.Collections.Immutable;

namespace Hurray;

/// <summary>How the elements of a tensor are quantized. The buffers with scales and zero points are entries of the buffer
/// table. (format: quantization)</summary>
/// <remarks>Plain values: copied out of a descriptor, compared by content, and for any thread.</remarks>
public abstract record Quantization
{
    private protected Quantization()
    {
    }

    /// <summary>Version of the scheme.</summary>
    public byte Version { get; init; } = 1;

    /// <summary>Zero bytes that the writer put behind the fields.</summary>
    public uint Padding { get; init; }
}

/// <summary>One scale and zero point: value = Scale * (q - ZeroPoint).</summary>
/// <param name="Scale">Finite and not 0.</param>
/// <param name="ZeroPoint">A value of the storage type.</param>
public sealed record PerTensorAffine(float Scale, int ZeroPoint = 0) : Quantization;

/// <summary>A scale, and a zero point, for each index of an axis.</summary>
/// <param name="Axis">The dimension.</param>
/// <param name="ScaleBuffer">Number of the buffer with the scales.</param>
/// <param name="ZeroPointBuffer">Number of the buffer with the zero points, that of the scales when they follow there; null:
/// all are 0.</param>
/// <param name="ScaleType">Float32.</param>
public sealed record PerChannelAffine(
    uint Axis, uint ScaleBuffer, uint? ZeroPointBuffer = null, ElementType ScaleType = ElementType.Float32) : Quantization;

/// <summary>A scale, and a zero point, for each block along an axis.</summary>
/// <param name="Axis">The dimension.</param>
/// <param name="BlockSize">Elements of a block: a power of 2.</param>
/// <param name="ScaleBuffer">Number of the buffer with the scales.</param>
/// <param name="ZeroPointBuffer">As for <see cref="PerChannelAffine"/>.</param>
/// <param name="ScaleType">Float16, BFloat16 or Float32.</param>
public sealed record PerBlockAffine(
    uint Axis,
    uint BlockSize,
    uint ScaleBuffer,
    uint? ZeroPointBuffer = null,
    ElementType ScaleType = ElementType.Float32) : Quantization;

/// <summary>4-bit quantiles of the normal distribution, times the largest magnitude of the block.</summary>
/// <param name="Axis">The dimension.</param>
/// <param name="BlockSize">Elements of a block: a power of 2.</param>
/// <param name="ScaleBuffer">Number of the buffer with the magnitudes.</param>
public sealed record Nf4(uint Axis, uint BlockSize, uint ScaleBuffer) : Quantization;

/// <summary>Small floating-point numbers with an exponent that a block shares.</summary>
/// <param name="Axis">The dimension.</param>
/// <param name="BlockSize">Elements of a block: a power of 2.</param>
/// <param name="ScaleBuffer">Number of the buffer with the exponents.</param>
public sealed record Mxfp(uint Axis, uint BlockSize, uint ScaleBuffer) : Quantization;

/// <summary>A scheme upon which writer and reader have agreed, or one that a permissive reader does not know.</summary>
/// <param name="Scheme">Tag of the scheme.</param>
/// <param name="Flags">Its flags.</param>
/// <param name="Data">What follows its first 4 bytes.</param>
public sealed record PrivateScheme(Scheme Scheme, ushort Flags, ImmutableArray<byte> Data) : Quantization
{
    /// <inheritdoc/>
    public bool Equals(PrivateScheme? other) =>
        base.Equals(other) && Scheme == other!.Scheme && Flags == other.Flags && Arrays.Same(Data, other.Data);

    /// <inheritdoc/>
    public override int GetHashCode() => HashCode.Combine(base.GetHashCode(), Scheme, Flags, Arrays.Hash(Data));
}

/// <summary>What the writer says about the values, dequantized ones where they are quantized. Nobody may rely on it; what
/// <see cref="Computed"/> does not name has no meaning. (format: statistics)</summary>
public sealed record Statistics
{
    /// <summary>Which fields say something.</summary>
    public StatisticsFlags Computed { get; init; }

    /// <summary>Elements other than 0.</summary>
    public ulong Nnz { get; init; }

    /// <summary>Fraction of elements that are 0.</summary>
    public double SparsityRatio { get; init; }

    /// <summary>Least value.</summary>
    public double Min { get; init; }

    /// <summary>Greatest value.</summary>
    public double Max { get; init; }

    /// <summary>Greatest magnitude.</summary>
    public double AbsMax { get; init; }

    /// <summary>Mean.</summary>
    public double Mean { get; init; }

    /// <summary>Standard deviation of the whole population.</summary>
    public double StdDev { get; init; }

    /// <summary>At most so many of each <see cref="NmM"/> elements that follow one another are not 0.</summary>
    public byte NmN { get; init; }

    /// <summary>See <see cref="NmN"/>.</summary>
    public byte NmM { get; init; }

    /// <summary>Whether an element is NaN.</summary>
    public bool HasNaN { get; init; }

    /// <summary>Whether an element is infinite.</summary>
    public bool HasInfinity { get; init; }
}

/// <summary>What a private element type is; fields of floating-point types are 0 for integers. (format: extension
/// type)</summary>
public sealed record ExtensionType
{
    /// <summary>1, 2, 4, or a multiple of 8.</summary>
    public uint BitWidth { get; init; }

    /// <summary>Elements in a byte; 1 for types of whole bytes.</summary>
    public int PackingFactor => BitWidth is > 0 and < 8 ? (int)(8 / BitWidth) : 1;

    /// <summary>Whether it is a floating-point type, and not an integer.</summary>
    public bool IsFloat { get; init; }

    /// <summary>Integers: whether there is a sign.</summary>
    public bool IsSigned { get; init; }

    /// <summary>0 or 1.</summary>
    public byte SignBits { get; init; }

    /// <summary>Bits of the exponent.</summary>
    public byte ExponentBits { get; init; }

    /// <summary>Bits of the mantissa.</summary>
    public byte MantissaBits { get; init; }

    /// <summary>Bias of the exponent.</summary>
    public uint ExponentBias { get; init; }

    /// <summary>Whether the type has NaN.</summary>
    public bool HasNaN { get; init; }

    /// <summary>Whether the type has infinities.</summary>
    public bool HasInfinity { get; init; }
}

/// <summary>What a reader of descriptors accepts; the default is a strict reader.</summary>
public sealed record DecodeOptions
{
    /// <summary>Accepts private layouts, quantization schemes, devices and memory classes, upon which writer and reader have
    /// agreed.</summary>
    public bool PrivateTags { get; init; }

    /// <summary>Accepts element types, layouts and quantization schemes that are not known: the descriptor is opaque
    /// then.</summary>
    public bool Permissive { get; init; }

    /// <summary>Longest descriptor accepted, in bytes; 0 means 16 MiB.</summary>
    public ulong MaxLength { get; init; }

    internal Interop.NativeDecodeOptions ToNative()
    {
        var accepted = Interop.NativeDecodeOptions.Sized;
        accepted.MaxLength = MaxLength;
        accepted.Flags = (uint)((PrivateTags ? DecodeFlags.PrivateTags : 0) | (Permissive ? DecodeFlags.Permissive : 0));
        return accepted;
    }
}
