using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

namespace Hurray.Interop;

/// <summary>An event that the library was lent. The library holds it by a GCHandle, which the one release frees.</summary>
internal sealed unsafe class EventLease
{
    private Action<nint>? _release;
    private GCHandle _self;
    private int _ended;

    public EventLease(Action<nint> release)
    {
        _release = release;
        _self = GCHandle.Alloc(this);
    }

    /// <summary>The release callback of events.</summary>
    public static delegate* unmanaged[Cdecl]<void*, void*, void> Release => &ReleaseEvent;

    /// <summary>What the callback gets as its context.</summary>
    public void* Token => (void*)GCHandle.ToIntPtr(_self);

    /// <summary>The library did not take the event, or has given it back already: it stays the producer's.</summary>
    public void Abandon()
    {
        _release = null;
        if (Volatile.Read(ref _ended) == 0)
        {
            End(0);
        }
    }

    /// <summary>Nobody will be told of the release that is about to come.</summary>
    public void Silence() => _release = null;

    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvCdecl)])]
    private static void ReleaseEvent(void* syncHandle, void* context)
    {
        if (Callbacks.Ended)
        {
            return;
        }

        // Nothing may pass into native frames.
        try
        {
            ((EventLease)GCHandle.FromIntPtr((nint)context).Target!).End((nint)syncHandle);
        }
        catch (Exception e)
        {
            Callbacks.Report(e);
        }
    }

    private void End(nint handle)
    {
        if (Interlocked.Exchange(ref _ended, 1) != 0)
        {
            throw new InvalidOperationException("a Hurray event was released twice");
        }

        _self.Free();
        _release?.Invoke(handle);
    }
}
