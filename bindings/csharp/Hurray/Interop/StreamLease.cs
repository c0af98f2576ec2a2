using System;
using System.IO;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Hurray.Interop;

/// <summary>A stream of .NET that the library reads from or writes to.</summary>
internal sealed unsafe class StreamLease : CallbackLease
{
    // What one call of the stream gets: a span has no more than 2^31-1 bytes.
    private const ulong Step = 1 << 30;

    private readonly Stream _stream;

    public StreamLease(Stream stream)
    {
        ArgumentNullException.ThrowIfNull(stream);
        _stream = stream;
    }

    public static delegate* unmanaged[Cdecl]<void*, void*, ulong, long> ReadFn => &Read;

    public static delegate* unmanaged[Cdecl]<void*, void*, ulong, int> WriteFn => &Write;

    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvCdecl)])]
    private static long Read(void* context, void* into, ulong capacity)
    {
        if (Callbacks.Ended)
        {
            return (long)HurrayStatus.Unsupported;
        }

        var lease = From<StreamLease>(context);
        try
        {
            return lease._stream.Read(new Span<byte>(into, (int)Math.Min(capacity, Step)));
        }
        catch (Exception e)
        {
            return lease.Caught(e);
        }
    }

    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvCdecl)])]
    private static int Write(void* context, void* bytes, ulong length)
    {
        if (Callbacks.Ended)
        {
            return (int)HurrayStatus.Unsupported;
        }

        var lease = From<StreamLease>(context);
        try
        {
            for (ulong at = 0; at < length; at += Step)
            {
                lease._stream.Write(new ReadOnlySpan<byte>((byte*)bytes + at, (int)Math.Min(length - at, Step)));
            }

            return (int)HurrayStatus.Ok;
        }
        catch (Exception e)
        {
            return lease.Caught(e);
        }
    }
}
