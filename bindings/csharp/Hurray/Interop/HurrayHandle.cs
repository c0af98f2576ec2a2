using System;
using System.Runtime.InteropServices;
using System.Threading;

namespace Hurray.Interop;

/// <summary>A handle of the library. Ends on the thread that closes it, or that lets go of the last use after that; the
/// finalizer is a backup, and what it ends waits for a thread that may run release callbacks.</summary>
internal abstract class HurrayHandle : SafeHandle
{
    // Whether this thread is the collector's, which must not run callbacks of users.
    [ThreadStatic]
    private static bool t_foreign;

    private IDisposable? _kept;
    private bool _borrowed;
    private volatile bool _closed;
    private int _writers;

    protected HurrayHandle()
        : base(0, ownsHandle: true)
    {
    }

    /// <inheritdoc/>
    public sealed override bool IsInvalid => handle == 0;

    /// <summary>Whether its owner has closed it. The handle itself lives on while views use it, and would answer: it is for the
    /// owner to refuse.</summary>
    public bool IsClosedByOwner => _closed || IsClosed;

    /// <summary>Whether views are open through which its memory may be written.</summary>
    public bool HasWriters => Volatile.Read(ref _writers) != 0;

    /// <summary>A handle that owns what the pointer leads to.</summary>
    public static T Adopt<T>(nint pointer)
        where T : HurrayHandle, new()
    {
        var adopted = new T();
        adopted.SetHandle(pointer);
        return adopted;
    }

    /// <summary>A handle for a pointer that belongs to somebody else, who must outlive every use of it.</summary>
    public static T Borrow<T>(nint pointer)
        where T : HurrayHandle, new()
    {
        T borrowed = Adopt<T>(pointer);
        borrowed._borrowed = true;
        return borrowed;
    }

    /// <summary>Keeps something as long as the handle needs it; it is disposed once the handle has ended.</summary>
    public void Keep(IDisposable kept) => _kept = kept;

    /// <summary>A view is open through which its memory may be written.</summary>
    public void AddWriter() => Interlocked.Increment(ref _writers);

    /// <summary>It is closed.</summary>
    public void RemoveWriter() => Interlocked.Decrement(ref _writers);

    /// <summary>Gives up ownership and returns the pointer: the handle is closed afterwards.</summary>
    public nint Detach()
    {
        bool held = false;
        try
        {
            DangerousAddRef(ref held);
            nint pointer = handle;
            SetHandleAsInvalid();
            return pointer;
        }
        finally
        {
            if (held)
            {
                DangerousRelease();
            }
        }
    }

    /// <summary>Ends what a finalizer left for a thread that may run callbacks.</summary>
    internal void EndPostponed(nint pointer)
    {
        HurrayStatus ended = Destroy(pointer);
        _kept?.Dispose();
        if (ended != HurrayStatus.Ok)
        {
            Callbacks.Report(NotEnded(ended));
        }
    }

    /// <inheritdoc/>
    protected sealed override bool ReleaseHandle()
    {
        if (_borrowed)
        {
            return true;
        }

        if (!t_foreign || Releases.Unloading)
        {
            HurrayStatus ended = Destroy(handle);
            _kept?.Dispose();
            if (ended != HurrayStatus.Ok)
            {
                Callbacks.Report(NotEnded(ended));
            }

            return ended == HurrayStatus.Ok;
        }

        // What is kept may belong to a user as well: it goes with the handle, on a thread of the user's.
        if (_kept is not null)
        {
            Releases.Postpone(this, handle);
            return true;
        }

        HurrayStatus status = DestroyOnForeignThread(handle);
        if (status != HurrayStatus.Ok)
        {
            Releases.Postpone(NotEnded(status));
        }

        Releases.NoteDeferred();
        return status == HurrayStatus.Ok;
    }

    /// <inheritdoc/>
    protected sealed override void Dispose(bool disposing)
    {
        if (disposing)
        {
            _closed = true;
            base.Dispose(true);
            return;
        }

        t_foreign = true;
        try
        {
            base.Dispose(false);
        }
        finally
        {
            t_foreign = false;
        }
    }

    // Dispose must not throw, and the collector has nobody to throw to: both report.
    private HurrayException NotEnded(HurrayStatus status) => new(
        status,
        status == HurrayStatus.InternalPanic
            ? $"{GetType().Name}: ended, but a release callback of it threw an exception through the library"
            : $"{GetType().Name}: cannot be ended: {StatusNames.Of(status)} ({(int)status})");

    private protected abstract HurrayStatus Destroy(nint pointer);

    private protected virtual HurrayStatus DestroyOnForeignThread(nint pointer)
    {
        Releases.Postpone(this, pointer);
        return HurrayStatus.Ok;
    }
}
