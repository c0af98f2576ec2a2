using System;
using System.Diagnostics;
using System.IO;
using System.Runtime.InteropServices;
using System.Text.Unicode;

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

    /// <summary>Reports out of a callback: the code to return.</summary>
    /// <param name="error">May be null.</param>
    /// <param name="status">The code.</param>
    /// <param name="message">What is wrong; cut where it is too long.</param>
    public static int Fail(NativeError* error, HurrayStatus status, string message)
    {
        if (error != null)
        {
            const int Capacity = 256;
            *error = default;
            error->Code = (int)status;
            // Whole characters only, and a terminating 0.
            Utf8.FromUtf16(message, new Span<byte>(error->Message, Capacity - 1), out _, out int written);
            error->Message[written] = 0;
        }

        return (int)status;
    }

    /// <summary>Reports an exception out of a callback: the code to return.</summary>
    public static int Fail(NativeError* error, Exception exception) => exception switch
    {
        // A code that is no failure would make the caller believe in what is not there.
        HurrayException { Code: < 0 } e => Fail(error, e.Code, e.Message),
        ObjectDisposedException e => Fail(error, HurrayStatus.InvalidHandle, e.Message),
        OperationCanceledException e => Fail(error, HurrayStatus.Cancelled, e.Message),
        IOException e => Fail(error, HurrayStatus.Io, e.Message),
        OutOfMemoryException e => Fail(error, HurrayStatus.OutOfMemory, e.Message),
        _ => Fail(error, HurrayStatus.InternalPanic, $"{exception.GetType()}: {exception.Message}"),
    };

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
