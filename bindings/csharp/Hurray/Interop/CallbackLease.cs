using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;

namespace Hurray.Interop;

/// <summary>Something of .NET that the library calls: the callback finds it by a GCHandle, which is freed once the handle has ended that
/// calls it. What it throws stays here, and comes out of the call of the library that it was thrown in.</summary>
internal unsafe class CallbackLease : IDisposable
{
    private readonly CallbackLease? _owner;
    private readonly List<CallbackLease> _owned = [];
    private GCHandle _self;
    private Exception? _thrown;

    /// <summary>Lends it.</summary>
    /// <param name="owner">What it ends with, and where that is heard of which it throws; null: itself.</param>
    public CallbackLease(CallbackLease? owner = null)
    {
        _owner = owner;
        owner?._owned.Add(this);
        _self = GCHandle.Alloc(this);
    }

    /// <summary>What the callbacks get as their context.</summary>
    public void* Token => (void*)GCHandle.ToIntPtr(_self);

    public void Dispose()
    {
        foreach (CallbackLease owned in _owned)
        {
            owned.Dispose();
        }

        _owned.Clear();
        if (_self.IsAllocated)
        {
            _self.Free();
        }
    }

    /// <summary>Throws what a call of the library reported, with what a callback threw as its cause.</summary>
    public static void Check(CallbackLease? lease, HurrayStatus status, NativeError* error)
    {
        Exception? thrown = lease?._thrown;
        if (thrown is null || status == HurrayStatus.Ok)
        {
            Native.Check(status, error);
            return;
        }

        lease!._thrown = null;
        throw new HurrayException(status, $"{Native.Failure(status, error).Message}: {thrown.Message}", thrown);
    }

    /// <summary>What a context leads to.</summary>
    protected static T From<T>(void* context)
        where T : CallbackLease => (T)GCHandle.FromIntPtr((nint)context).Target!;

    /// <summary>Keeps an exception and tells the code to return; nothing may pass into native frames.</summary>
    protected int Caught(Exception thrown)
    {
        (_owner ?? this)._thrown = thrown;
        return Native.Fail(null, thrown);
    }
}
