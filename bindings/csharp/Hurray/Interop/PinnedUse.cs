using System;
using System.Buffers;
using System.Threading;

namespace Hurray.Interop;

/// <summary>One use of a handle, counted: the handle ends after it, and it ends once.</summary>
internal sealed class PinnedUse : IDisposable, IPinnable
{
    private readonly bool _writable;
    private HurrayHandle? _handle;

    /// <summary>Begins the use.</summary>
    /// <param name="handle">What is used.</param>
    /// <param name="writable">Whether its memory may be written meanwhile.</param>
    public PinnedUse(HurrayHandle handle, bool writable)
    {
        bool held = false;
        handle.DangerousAddRef(ref held);
        _handle = handle;
        _writable = writable;
        if (writable)
        {
            handle.AddWriter();
        }
    }

    public void ThrowIfClosed(object view) => ObjectDisposedException.ThrowIf(Volatile.Read(ref _handle) is null, view);

    public void Dispose()
    {
        if (Interlocked.Exchange(ref _handle, null) is { } handle)
        {
            if (_writable)
            {
                handle.RemoveWriter();
            }

            handle.DangerousRelease();
            Releases.Poll();
        }
    }

    /// <summary>Not used: this stands for one pin, which exists already.</summary>
    MemoryHandle IPinnable.Pin(int elementIndex) => throw new NotSupportedException();

    void IPinnable.Unpin() => Dispose();
}
