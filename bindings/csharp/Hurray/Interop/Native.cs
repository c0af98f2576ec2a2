using System;
using System.Diagnostics;
using System.Runtime.InteropServices;

namespace Hurray.Interop;

/// <summary>What every call has in common: a status, and a report where it failed.</summary>
internal static unsafe class Native
{
    /// <summary>Throws what a call reported.</summary>
    [StackTraceHidden]
    public static void Check(HurrayStatus status, NativeError* error)
    {
        if (status != HurrayStatus.Ok)
        {
            throw Failure(status, error);
        }
    }

    /// <summary>Throws for a function of the seed, which reports a status only.</summary>
    [StackTraceHidden]
    public static void Check(HurrayStatus status, string function)
    {
        if (status != HurrayStatus.Ok)
        {
            throw new HurrayException(status, $"{function}: {StatusNames.Of(status)} ({(int)status})");
        }
    }

    /// <summary>A length as .NET has them.</summary>
    public static int Length(ulong length, string what) =>
        length <= (ulong)Array.MaxLength
            ? (int)length
            : throw new HurrayException(
                HurrayStatus.LimitExceeded, $"{what}: its {length} bytes are more than an array can hold");

    /// <summary>The exception for a failed call.</summary>
    public static HurrayException Failure(HurrayStatus status, NativeError* error)
    {
        string message = Marshal.PtrToStringUTF8((nint)error->Message) ?? "";
        return new HurrayException(status, message.Length == 0 ? StatusNames.Of(status) : message);
    }
}
