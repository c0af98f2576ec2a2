using System;

namespace Hurray.Conformance;

/// <summary>How elements of one .NET type become float64.</summary>
internal interface IElement<T>
{
    static abstract double ToDouble(T value);
}

/// <summary>The element types that have a value in float64.</summary>
internal readonly struct Elements
    : IElement<sbyte>, IElement<byte>, IElement<short>, IElement<ushort>, IElement<int>, IElement<uint>, IElement<long>,
        IElement<ulong>, IElement<Half>, IElement<BFloat16>, IElement<float>, IElement<double>
{
    public static double ToDouble(sbyte value) => value;

    public static double ToDouble(byte value) => value;

    public static double ToDouble(short value) => value;

    public static double ToDouble(ushort value) => value;

    public static double ToDouble(int value) => value;

    public static double ToDouble(uint value) => value;

    public static double ToDouble(long value) => value;

    public static double ToDouble(ulong value) => value;

    public static double ToDouble(Half value) => (double)value;

    public static double ToDouble(BFloat16 value) => (double)value;

    public static double ToDouble(float value) => value;

    public static double ToDouble(double value) => value;
}
