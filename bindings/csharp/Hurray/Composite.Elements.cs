using System;
using System.Numerics;
using Hurray.Interop;

namespace Hurray;

public sealed unsafe partial class Composite
{
    /// <summary>Finds the member of a partition that an element lies in, without touching any data.</summary>
    /// <param name="index">One value a dimension of the head.</param>
    /// <returns>The member's place.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.InvalidArgument"/>: not one value a dimension;
    /// <see cref="HurrayStatus.IndexOutOfBounds"/>; <see cref="HurrayStatus.Unsupported"/>: no partition.</exception>
    /// <exception cref="ObjectDisposedException">The composite is closed.</exception>
    public int FindMember(params ReadOnlySpan<long> index)
    {
        NativeError error;
        Native.Check(
            NativeMethods.CompositeMemberAt(Handle, Tensor.Unsigned(index), (uint)index.Length, out uint member, &error), &error);
        return (int)member;
    }

    /// <summary>Reads an element of a partition or an overlay as a number: that of the member in which it lies, dequantized where that is
    /// quantized; of overlays the last correction that has it, or the sum of all.</summary>
    /// <param name="index">One value a dimension of the head.</param>
    /// <returns>The number.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.InvalidArgument"/>: not one value a dimension;
    /// <see cref="HurrayStatus.IndexOutOfBounds"/>; <see cref="HurrayStatus.Unsupported"/>: a group, a private rule, a complex type, sums
    /// that are not defined, memory that the CPU cannot read.</exception>
    /// <exception cref="ObjectDisposedException">The composite is closed.</exception>
    public double ReadDouble(params ReadOnlySpan<long> index)
    {
        NativeError error;
        Native.Check(
            NativeMethods.CompositeElementFloat64(Handle, Tensor.Unsigned(index), (uint)index.Length, out double value, &error), &error);
        return value;
    }

    /// <summary>As <see cref="ReadDouble"/>, as a complex number; of real types with the imaginary part 0.</summary>
    /// <param name="index">One value a dimension of the head.</param>
    /// <returns>The number.</returns>
    /// <exception cref="HurrayException">As <see cref="ReadDouble"/>, but for complex types.</exception>
    /// <exception cref="ObjectDisposedException">The composite is closed.</exception>
    public Complex ReadComplex(params ReadOnlySpan<long> index)
    {
        NativeError error;
        Native.Check(
            NativeMethods.CompositeElementComplex128(
                Handle, Tensor.Unsigned(index), (uint)index.Length, out double real, out double imaginary, &error),
            &error);
        return new Complex(real, imaginary);
    }

    /// <summary>As <see cref="ReadDouble"/>, as the bits of the head's type.</summary>
    /// <param name="index">One value a dimension of the head.</param>
    /// <returns>The bits, the lowest of the number.</returns>
    /// <exception cref="HurrayException">As <see cref="ReadDouble"/>; <see cref="HurrayStatus.Unsupported"/>: elements of more than 128
    /// bits.</exception>
    /// <exception cref="ObjectDisposedException">The composite is closed.</exception>
    public UInt128 ReadBits(params ReadOnlySpan<long> index)
    {
        NativeError error;
        var bits = NativeElementBits.Sized;
        Native.Check(
            NativeMethods.CompositeElementBits(Handle, Tensor.Unsigned(index), (uint)index.Length, ref bits, &error), &error);
        return new UInt128(bits.High, bits.Low);
    }
}
