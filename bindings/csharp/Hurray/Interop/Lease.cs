using System;
using System.Buffers;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

namespace Hurray.Interop;

/// <summary>Memory or an owner that the library was lent: what the release callbacks lead back to. The library holds it by a
/// GCHandle, which the one release frees.</summary>
internal sealed unsafe class Lease
{
    private MemoryHandle _pin;
    private Action? _released;
    private object? _owner;
    private GCHandle _self;
    private int _ended;

    /// <summary>Lends memory or an object.</summary>
    /// <param name="pin">Keeps the memory where it is; empty when there is nothing to keep.</param>
    /// <param name="owner">Kept alive as long as the lease.</param>
    /// <param name="released">Called once the library has let go.</param>
    public Lease(MemoryHandle pin, object? owner, Action? released)
    {
        _pin = pin;
        _owner = owner;
        _released = released;
        _self = GCHandle.Alloc(this);
    }

    /// <summary>The release callback of buffers.</summary>
    public static delegate* unmanaged[Cdecl]<void*, void*, void> BufferRelease => &ReleaseBuffer;

    /// <summary>The release callback of tensor contexts.</summary>
    public static delegate* unmanaged[Cdecl]<void*, void> OwnerRelease => &ReleaseOwner;

    /// <summary>What the callbacks get as their context.</summary>
    public void* Token => (void*)GCHandle.ToIntPtr(_self);

    /// <summary>The library did not take what was offered, or has given it back already: it is free again, and nobody is told
    /// of a release.</summary>
    public void Abandon()
    {
        _released = null;
        if (Volatile.Read(ref _ended) == 0)
        {
            End();
        }
    }

    /// <summary>Nobody will be told of the release that is about to come.</summary>
    public void Silence() => _released = null;

    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvCdecl)])]
    private static void ReleaseBuffer(void* buffer, void* context) => End(context);

    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvCdecl)])]
    private static void ReleaseOwner(void* owner) => End(owner);

    private static void End(void* token)
    {
        if (Callbacks.Ended)
        {
            return;
        }

        // Nothing may pass into native frames.
        try
        {
            ((Lease)GCHandle.FromIntPtr((nint)token).Target!).End();
        }
        catch (Exception e)
        {
            Callbacks.Report(e);
        }
    }

    private void End()
    {
        if (Interlocked.Exchange(ref _ended, 1) != 0)
        {
            throw new InvalidOperationException("a Hurray release callback ran twice");
        }

        _self.Free();
        _owner = null;
        try
        {
            _pin.Dispose();
        }
        finally
        {
            _released?.Invoke();
        }
    }
}
