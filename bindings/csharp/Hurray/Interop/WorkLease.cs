using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Hurray.Interop;

/// <summary>Options of long work during one call of the library, which reports how far it is, and is stopped.</summary>
internal sealed unsafe class WorkLease : CallbackLease
{
    private readonly WorkOptions _options;

    public WorkLease(WorkOptions? options)
    {
        _options = options ?? new WorkOptions();
        try
        {
            _options.CancellationToken.ThrowIfCancellationRequested();
        }
        catch
        {
            Dispose();
            throw;
        }
    }

    /// <summary>The options as the library has them; they hold as long as this is not disposed.</summary>
    public NativeWorkOptions ToNative()
    {
        var native = NativeWorkOptions.Sized;
        native.MemoryLimit = _options.MemoryLimit;
        if (_options.Progress is not null || _options.CancellationToken.CanBeCanceled)
        {
            native.Progress = &Report;
            native.Context = Token;
        }

        return native;
    }

    /// <summary>Throws what the work reported: that it was cancelled, that <see cref="WorkOptions.Progress"/> threw, or what failed.</summary>
    public void Check(HurrayStatus status, NativeError* error)
    {
        // A cancellation that comes with the last report is too late: the work is done.
        if (status == HurrayStatus.Cancelled)
        {
            _options.CancellationToken.ThrowIfCancellationRequested();
        }

        Check(this, status, error);
    }

    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvCdecl)])]
    private static byte Report(void* context, ulong done, ulong total)
    {
        if (Callbacks.Ended)
        {
            return 0;
        }

        var lease = From<WorkLease>(context);
        try
        {
            lease._options.Progress?.Invoke(done, total);
            return lease._options.CancellationToken.IsCancellationRequested ? (byte)0 : (byte)1;
        }
        catch (Exception e)
        {
            lease.Caught(e);
            return 0;
        }
    }
}
