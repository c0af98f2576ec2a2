using System;
using Hurray.Interop;

namespace Hurray;

/// <summary>The buffers of one tensor, in the order of its buffer table. (ABI: Buffer Lists)</summary>
/// <remarks>Owns the buffers. For one thread at a time; closing it releases on the closing thread.</remarks>
public sealed unsafe class BufferList : IDisposable, IBufferSource
{
    private readonly BufferListHandle _handle;

    /// <summary>Makes an empty list.</summary>
    public BufferList()
    {
        Releases.Poll();
        Native.Check(NativeMethods.BufferListNew(1, out BufferListHandle handle), "hurray_buffer_list_new");
        _handle = handle;
    }

    internal BufferList(BufferListHandle handle) => _handle = handle;

    /// <summary>Number of buffers.</summary>
    /// <exception cref="ObjectDisposedException">The list is closed.</exception>
    public ulong Count
    {
        get
        {
            Native.Check(NativeMethods.BufferListLen(Handle, out ulong count), "hurray_buffer_list_len");
            return count;
        }
    }

    internal BufferListHandle Handle
    {
        get
        {
            ObjectDisposedException.ThrowIf(_handle.IsClosedByOwner, this);
            return _handle;
        }
    }

    /// <summary>Appends a buffer.</summary>
    /// <param name="buffer">Moves into the list and is closed for its caller; on failure it stays the caller's.</param>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.InvalidHandle"/>.</exception>
    /// <exception cref="ObjectDisposedException">The list or the buffer is closed.</exception>
    public void Push(TensorBuffer buffer)
    {
        ArgumentNullException.ThrowIfNull(buffer);
        using var use = new HandleUse(buffer.Handle);
        Native.Check(NativeMethods.BufferListPush(Handle, use.Pointer), "hurray_buffer_list_push");
        buffer.Handle.SetHandleAsInvalid();
    }

    /// <summary>A further handle for a buffer of the list.</summary>
    /// <param name="index">Its place in the list.</param>
    /// <returns>A share, which the caller closes; independent of the list.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.IndexOutOfBounds"/>.</exception>
    /// <exception cref="ObjectDisposedException">The list is closed.</exception>
    public TensorBuffer Share(ulong index)
    {
        using var use = new HandleUse(Handle);
        Native.Check(NativeMethods.BufferListGet(Handle, index, out nint borrowed), "hurray_buffer_list_get");
        return TensorBuffer.ShareOf(borrowed);
    }

    /// <summary>How a consumer learns that the bytes of a buffer of the list are there.</summary>
    /// <param name="index">Its place in the list.</param>
    /// <returns>Mode, event and stream; used while the list is open.</returns>
    /// <exception cref="ObjectDisposedException">The list is closed.</exception>
    public BufferSync SyncOf(ulong index)
    {
        _ = Handle;
        return new BufferSync(this, index);
    }

    /// <summary>Gives the list away, to another runtime.</summary>
    /// <returns>The HurrayBufferList, which whoever takes it destroys; this is closed.</returns>
    /// <exception cref="ObjectDisposedException">The list is closed.</exception>
    public nint Detach() => Handle.Detach();

    /// <summary>Takes a HurrayBufferList over, from another runtime.</summary>
    /// <param name="pointer">The list, now this object's.</param>
    /// <returns>The list.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.NullPointer"/>.</exception>
    public static BufferList Adopt(nint pointer) =>
        pointer != 0
            ? new BufferList(HurrayHandle.Adopt<BufferListHandle>(pointer))
            : throw new HurrayException(HurrayStatus.NullPointer, "pointer: is null, expected a HurrayBufferList");

    HandleUse IBufferSource.Use(ulong index, out nint buffer)
    {
        var use = new HandleUse(Handle);
        HurrayStatus status = NativeMethods.BufferListGet(Handle, index, out buffer);
        if (status != HurrayStatus.Ok)
        {
            use.Dispose();
            Native.Check(status, "hurray_buffer_list_get");
        }

        return use;
    }

    /// <summary>Closes the list and every buffer in it; the second time is a no-op.</summary>
    public void Dispose()
    {
        _handle.Dispose();
        Releases.Poll();
    }
}
