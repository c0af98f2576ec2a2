using System;
using System.Numerics;

namespace Hurray;

/// <summary>Facts about element types, and which .NET type stands for which. (format: element types)</summary>
public static class ElementTypes
{
    /// <summary>Bits of one element.</summary>
    /// <param name="type">The element type.</param>
    /// <returns>1 to 128, or 0 for a type that this build does not know.</returns>
    public static int Bits(this ElementType type) => type switch
    {
        ElementType.Bool => 1,
        ElementType.Int2 or ElementType.UInt2 => 2,
        ElementType.Int4 or ElementType.UInt4 or ElementType.Float4E2M1 => 4,
        ElementType.Float6E2M3 or ElementType.Float6E3M2 => 6,
        ElementType.Int8 or ElementType.UInt8 or ElementType.Float8E4M3 or ElementType.Float8E5M2
            or ElementType.Float8E8M0 => 8,
        ElementType.Float16 or ElementType.BFloat16 or ElementType.Int16 or ElementType.UInt16 => 16,
        ElementType.Float32 or ElementType.Int32 or ElementType.UInt32 => 32,
        ElementType.Float64 or ElementType.Int64 or ElementType.UInt64 or ElementType.Complex64 => 64,
        ElementType.Float128 or ElementType.Complex128 => 128,
        _ => 0,
    };

    /// <summary>Bytes that elements take one after the other: packed types are rounded up to whole bytes, 6-bit types to
    /// groups of three.</summary>
    /// <param name="type">The element type.</param>
    /// <param name="count">How many elements.</param>
    /// <returns>The number of bytes.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.InvalidType"/>: an unknown type;
    /// <see cref="HurrayStatus.InvalidArgument"/>: more bytes than a ulong counts.</exception>
    public static ulong ByteSize(this ElementType type, ulong count)
    {
        int bits = type.Bits();
        UInt128 size = bits switch
        {
            0 => throw new HurrayException(HurrayStatus.InvalidType, $"element type: 0x{(byte)type:X2} is not known"),
            6 => ((UInt128)count + 3) / 4 * 3,
            _ => (((UInt128)count * (uint)bits) + 7) / 8,
        };
        return size <= ulong.MaxValue
            ? (ulong)size
            : throw new HurrayException(HurrayStatus.InvalidArgument, $"element count: {count} elements of {bits} bits do not fit");
    }

    /// <summary>Name of the type as the format has it, such as "float8_e4m3"; null for an unknown one.</summary>
    /// <param name="type">The element type.</param>
    /// <returns>The name, or null.</returns>
    public static string? FormatName(this ElementType type) => type switch
    {
        ElementType.Float16 => "float16",
        ElementType.BFloat16 => "bfloat16",
        ElementType.Float32 => "float32",
        ElementType.Float64 => "float64",
        ElementType.Int8 => "int8",
        ElementType.UInt8 => "uint8",
        ElementType.Int16 => "int16",
        ElementType.UInt16 => "uint16",
        ElementType.Int32 => "int32",
        ElementType.UInt32 => "uint32",
        ElementType.Int64 => "int64",
        ElementType.UInt64 => "uint64",
        ElementType.Bool => "bool",
        ElementType.Float8E4M3 => "float8_e4m3",
        ElementType.Float8E5M2 => "float8_e5m2",
        ElementType.Float8E8M0 => "float8_e8m0",
        ElementType.Float4E2M1 => "float4_e2m1",
        ElementType.Float6E2M3 => "float6_e2m3",
        ElementType.Float6E3M2 => "float6_e3m2",
        ElementType.Float128 => "float128",
        ElementType.Int4 => "int4",
        ElementType.UInt4 => "uint4",
        ElementType.Int2 => "int2",
        ElementType.UInt2 => "uint2",
        ElementType.Complex64 => "complex64",
        ElementType.Complex128 => "complex128",
        _ => null,
    };

    /// <summary>The element type that a .NET type stands for.</summary>
    /// <typeparam name="T">sbyte to ulong, <see cref="Half"/>, <see cref="BFloat16"/>, float, double,
    /// <see cref="Complex64"/> or <see cref="Complex"/>. There is none for bool, which takes a byte in .NET and a bit
    /// in the format.</typeparam>
    /// <returns>The element type.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.InvalidType"/>: T stands for none.</exception>
    public static ElementType Of<T>()
        where T : unmanaged =>
        TryOf<T>(out ElementType type)
            ? type
            : throw new HurrayException(HurrayStatus.InvalidType, $"{typeof(T)}: stands for no element type");

    /// <summary>As <see cref="Of{T}"/>, without an exception.</summary>
    /// <typeparam name="T">Any type.</typeparam>
    /// <param name="type">The element type, or 0.</param>
    /// <returns>Whether there is one.</returns>
    public static bool TryOf<T>(out ElementType type)
        where T : unmanaged
    {
        type = typeof(T) == typeof(float) ? ElementType.Float32
            : typeof(T) == typeof(double) ? ElementType.Float64
            : typeof(T) == typeof(Half) ? ElementType.Float16
            : typeof(T) == typeof(BFloat16) ? ElementType.BFloat16
            : typeof(T) == typeof(sbyte) ? ElementType.Int8
            : typeof(T) == typeof(byte) ? ElementType.UInt8
            : typeof(T) == typeof(short) ? ElementType.Int16
            : typeof(T) == typeof(ushort) ? ElementType.UInt16
            : typeof(T) == typeof(int) ? ElementType.Int32
            : typeof(T) == typeof(uint) ? ElementType.UInt32
            : typeof(T) == typeof(long) ? ElementType.Int64
            : typeof(T) == typeof(ulong) ? ElementType.UInt64
            : typeof(T) == typeof(Complex64) ? ElementType.Complex64
            : typeof(T) == typeof(Complex) ? ElementType.Complex128
            : 0;
        return type != 0;
    }

    /// <summary>Alignment that .NET code expects of a T: its size, for complex numbers that of their halves.</summary>
    internal static unsafe int AlignmentOf<T>()
        where T : unmanaged =>
        typeof(T) == typeof(Complex64) || typeof(T) == typeof(Complex) ? sizeof(T) / 2 : sizeof(T);

    /// <summary>Whether elements of a type may be read as T: T stands for it, or T is byte and every element whole bytes.</summary>
    internal static bool Fits<T>(ElementType type)
        where T : unmanaged => TryOf<T>(out ElementType own) && own == type;
}
