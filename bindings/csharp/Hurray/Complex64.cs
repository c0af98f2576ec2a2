using System.Numerics;
using System.Runtime.InteropServices;

namespace Hurray;

/// <summary>A complex number of two float32, as element type complex64 stores it. (complex128 is
/// <see cref="Complex"/>.)</summary>
/// <param name="Real">The real part, stored first.</param>
/// <param name="Imaginary">The imaginary part.</param>
[StructLayout(LayoutKind.Sequential)]
public readonly record struct Complex64(float Real, float Imaginary)
{
    /// <summary>The number as complex128, exactly.</summary>
    /// <param name="value">The complex64 number.</param>
    public static implicit operator Complex(Complex64 value) => new(value.Real, value.Imaginary);
}
