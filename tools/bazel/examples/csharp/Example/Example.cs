using System;
using System.Runtime.InteropServices;

namespace Example;

/// <summary>Calls the C library of the examples.</summary>
public static partial class Numbers
{
    [LibraryImport("libexample.so.1", EntryPoint = "example_sum")]
    private static partial long SumOf(ReadOnlySpan<int> values, ulong count);

    /// <summary>Sum of the numbers.</summary>
    public static long Sum(ReadOnlySpan<int> values) => SumOf(values, (ulong)values.Length);
}
