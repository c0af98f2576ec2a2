using System;
using System.Globalization;

namespace Hurray;

/// <summary>A bfloat16 number: the upper half of a float32. Its bits are kept exactly.</summary>
/// <param name="Bits">The 16 bits.</param>
public readonly record struct BFloat16(ushort Bits)
{
    /// <summary>The number as float32, exactly.</summary>
    /// <param name="value">The bfloat16 number.</param>
    public static explicit operator float(BFloat16 value) => BitConverter.UInt32BitsToSingle((uint)value.Bits << 16);

    /// <summary>The number as float64, exactly.</summary>
    /// <param name="value">The bfloat16 number.</param>
    public static explicit operator double(BFloat16 value) => (float)value;

    /// <summary>The nearest bfloat16 number; ties go to the even one, and a NaN stays a NaN.</summary>
    /// <param name="value">The float32 number.</param>
    public static explicit operator BFloat16(float value)
    {
        uint bits = BitConverter.SingleToUInt32Bits(value);
        if (float.IsNaN(value))
        {
            // The quiet bit keeps a payload that lies in the lower half only from becoming an infinity.
            return new BFloat16((ushort)((bits >> 16) | 0x40));
        }

        return new BFloat16((ushort)((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16));
    }

    /// <summary>The number as text, in the invariant culture.</summary>
    /// <returns>The shortest text of its float32 value.</returns>
    public override string ToString() => ((float)this).ToString(CultureInfo.InvariantCulture);
}
