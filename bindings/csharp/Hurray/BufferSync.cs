using Hurray.Interop;

namespace Hurray;

/// <summary>How a consumer learns that the bytes of one buffer are there: its mode, and the event or stream that goes with it.
/// (ABI: Buffer Handoff Synchronisation)</summary>
/// <remarks>
/// <para>Belongs to the buffer, list or tensor that it came from and is used while that is open, by one thread at a time; only
/// <see cref="ReleaseEvent"/> may come from another thread than the one that waited.</para>
/// <para>Shares and slices carry no event: what a consumer waits for is asked of the buffer that was handed off, or of the list
/// or tensor that it moved into.</para>
/// </remarks>
public sealed unsafe class BufferSync
{
    private readonly IBufferSource _source;
    private readonly ulong _index;

    internal BufferSync(IBufferSource source, ulong index)
    {
        _source = source;
        _index = index;
    }

    /// <summary>The entry that describes the buffer in a descriptor's buffer table.</summary>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.IndexOutOfBounds"/>: there is no such buffer.</exception>
    /// <exception cref="System.ObjectDisposedException">What it belongs to is closed.</exception>
    public BufferEntry Entry
    {
        get
        {
            using HandleUse use = _source.Use(_index, out nint buffer);
            using BufferHandle handle = HurrayHandle.Borrow<BufferHandle>(buffer);
            NativeError error;
            Native.Check(NativeMethods.BufferHandleBytes(handle, out NativeBufferHandleBytes bytes, &error), &error);
            return BufferEntry.From(bytes);
        }
    }

    /// <summary>How the consumer learns that the bytes are there.</summary>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.IndexOutOfBounds"/>: there is no such buffer.</exception>
    /// <exception cref="System.ObjectDisposedException">What it belongs to is closed.</exception>
    public SyncMode Mode => Entry.SyncMode;

    /// <summary>First byte of the memory, an address of the device; alive as long as what this belongs to is open.</summary>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.IndexOutOfBounds"/>: there is no such buffer.</exception>
    /// <exception cref="System.ObjectDisposedException">What it belongs to is closed.</exception>
    public nint Data
    {
        get
        {
            using HandleUse use = _source.Use(_index, out nint buffer);
            using BufferHandle handle = HurrayHandle.Borrow<BufferHandle>(buffer);
            NativeError error;
            var info = NativeBufferInfo.Sized;
            Native.Check(NativeMethods.BufferInfo(handle, ref info, &error), &error);
            return (nint)info.Data;
        }
    }

    /// <summary>The event of a buffer of <see cref="SyncMode.Event"/>: every stream that will touch the memory waits for it
    /// first. It stays the producer's; <see cref="ReleaseEvent"/> gives it back.</summary>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.SyncModeMismatch"/>: the buffer carries no event;
    /// <see cref="HurrayStatus.InvalidHandle"/>: the event is released.</exception>
    /// <exception cref="System.ObjectDisposedException">What it belongs to is closed.</exception>
    public DeviceEvent Event
    {
        get
        {
            using HandleUse use = _source.Use(_index, out nint buffer);
            using BufferHandle handle = HurrayHandle.Borrow<BufferHandle>(buffer);
            NativeError error;
            Native.Check(NativeMethods.BufferEvent(handle, out nint sync, out byte device, &error), &error);
            return new DeviceEvent(sync, (Device)device);
        }
    }

    /// <summary>The consumer's own stream that a buffer of <see cref="SyncMode.ConsumerStream"/> is ordered on: work on it may
    /// touch the memory at once; another stream waits for this one first.</summary>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.SyncModeMismatch"/>: the buffer is of another mode, or a
    /// share.</exception>
    /// <exception cref="System.ObjectDisposedException">What it belongs to is closed.</exception>
    public DeviceStream Stream
    {
        get
        {
            using HandleUse use = _source.Use(_index, out nint buffer);
            using BufferHandle handle = HurrayHandle.Borrow<BufferHandle>(buffer);
            NativeError error;
            Native.Check(NativeMethods.BufferStream(handle, out nint stream, out byte device, &error), &error);
            return new DeviceStream(stream, (Device)device);
        }
    }

    /// <summary>Releases the event, on this thread and exactly once: after all waits for it were issued. A buffer that ends
    /// without this releases its event itself.</summary>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.InvalidHandle"/>: it is released already;
    /// <see cref="HurrayStatus.SyncModeMismatch"/>: the buffer carries no event.</exception>
    /// <exception cref="System.ObjectDisposedException">What it belongs to is closed.</exception>
    public void ReleaseEvent()
    {
        using HandleUse use = _source.Use(_index, out nint buffer);
        using BufferHandle handle = HurrayHandle.Borrow<BufferHandle>(buffer);
        NativeError error;
        Native.Check(NativeMethods.BufferEventRelease(handle, &error), &error);
    }
}
