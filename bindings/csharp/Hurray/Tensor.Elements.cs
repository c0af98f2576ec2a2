using System;
using System.Numerics;
using System.Runtime.InteropServices;
using Hurray.Interop;

namespace Hurray;

public sealed unsafe partial class Tensor
{
    /// <summary>Tells where an element is, in any layout. Of dense tensors no memory is read, so that it may be anywhere. (format: element
    /// address computation)</summary>
    /// <param name="index">One value a dimension; of a block-paged tensor three, or four: sequence, token in it, head, element.</param>
    /// <returns>The place; null for an element of a sparse tensor that is not stored, and therefore 0.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.InvalidArgument"/>: another number of values;
    /// <see cref="HurrayStatus.IndexOutOfBounds"/>; <see cref="HurrayStatus.Unsupported"/>: a composite head, a private layout, an opaque
    /// descriptor, memory that the CPU cannot read; <see cref="HurrayStatus.InvalidLayout"/>: a dynamic dimension, index arrays that lead
    /// to nowhere.</exception>
    /// <exception cref="ObjectDisposedException">The tensor is closed.</exception>
    public ElementAddress? AddressOf(params ReadOnlySpan<long> index)
    {
        NativeError error;
        var address = NativeElementAddress.Sized;
        Native.Check(NativeMethods.TensorElementAddress(Handle, Unsigned(index), (uint)index.Length, ref address, &error), &error);
        return address.Present == 0
            ? null
            : new ElementAddress((int)address.Buffer, address.ByteOffset, (int)address.BitOffset, (int)address.Bits);
    }

    /// <summary>Reads an element as a number, rounded to nearest where a double cannot hold it, in any layout. Of a quantized tensor that is
    /// the number that is stored. One call of the library each: views are for many elements.</summary>
    /// <param name="index">As for <see cref="AddressOf"/>.</param>
    /// <returns>The number.</returns>
    /// <exception cref="HurrayException">As <see cref="AddressOf"/>; <see cref="HurrayStatus.Unsupported"/>: complex types, private types
    /// without defined numbers; <see cref="HurrayStatus.InvalidType"/>: a pattern that is no element.</exception>
    /// <exception cref="ObjectDisposedException">The tensor is closed.</exception>
    public double ReadDouble(params ReadOnlySpan<long> index)
    {
        NativeError error;
        Native.Check(NativeMethods.TensorElementFloat64(Handle, Unsigned(index), (uint)index.Length, out double value, &error), &error);
        return value;
    }

    /// <summary>Reads an element as a complex number; of real types with the imaginary part 0.</summary>
    /// <param name="index">As for <see cref="AddressOf"/>.</param>
    /// <returns>The number.</returns>
    /// <exception cref="HurrayException">As <see cref="ReadDouble"/>, but for complex types.</exception>
    /// <exception cref="ObjectDisposedException">The tensor is closed.</exception>
    public Complex ReadComplex(params ReadOnlySpan<long> index)
    {
        NativeError error;
        Native.Check(
            NativeMethods.TensorElementComplex128(
                Handle, Unsigned(index), (uint)index.Length, out double real, out double imaginary, &error),
            &error);
        return new Complex(real, imaginary);
    }

    /// <summary>Reads the bits of an element as they are stored; all 0 for one of a sparse tensor that is not.</summary>
    /// <param name="index">As for <see cref="AddressOf"/>.</param>
    /// <returns>The bits, the lowest <see cref="Bits"/> of the number.</returns>
    /// <exception cref="HurrayException">As <see cref="AddressOf"/>; <see cref="HurrayStatus.Unsupported"/>: elements of more than 128
    /// bits.</exception>
    /// <exception cref="ObjectDisposedException">The tensor is closed.</exception>
    public UInt128 ReadBits(params ReadOnlySpan<long> index)
    {
        NativeError error;
        var bits = NativeElementBits.Sized;
        Native.Check(NativeMethods.TensorElementBits(Handle, Unsigned(index), (uint)index.Length, ref bits, &error), &error);
        return new UInt128(bits.High, bits.Low);
    }

    /// <summary>Reads the number that a quantized element stands for, worked out in float32 as the format says. (format:
    /// quantization)</summary>
    /// <param name="index">As for <see cref="AddressOf"/>.</param>
    /// <returns>The number.</returns>
    /// <exception cref="HurrayException">As <see cref="AddressOf"/> and <see cref="Dequantize"/>; <see cref="HurrayStatus.InvalidArgument"/>:
    /// not quantized.</exception>
    /// <exception cref="ObjectDisposedException">The tensor is closed.</exception>
    public double ReadDequantized(params ReadOnlySpan<long> index)
    {
        NativeError error;
        Native.Check(NativeMethods.TensorElementDequantized(Handle, Unsigned(index), (uint)index.Length, out double value, &error), &error);
        return value;
    }

    /// <summary>A negative number becomes one that no dimension reaches, so that the library refuses it.</summary>
    internal static ReadOnlySpan<ulong> Unsigned(ReadOnlySpan<long> index) => MemoryMarshal.Cast<long, ulong>(index);
}
