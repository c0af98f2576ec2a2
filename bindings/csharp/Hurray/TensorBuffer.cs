using System;
using System.Buffers;
using Hurray.Interop;

namespace Hurray;

/// <summary>Memory with shared ownership: a handle for one buffer of a tensor. (ABI: Buffer Release Callbacks)</summary>
/// <remarks>For one thread at a time; a share may be used by another thread. Closing the last handle of the memory releases
/// it, on the closing thread. A handle that was pushed into a list is closed for its caller.</remarks>
public sealed unsafe partial class TensorBuffer : IDisposable
{
    private readonly BufferHandle _handle;

    internal TensorBuffer(BufferHandle handle) => _handle = handle;

    /// <summary>First byte of the memory; null for an empty buffer that was given none. Alive as long as this is open: for
    /// raw exchange with other runtimes.</summary>
    /// <exception cref="ObjectDisposedException">The buffer is closed.</exception>
    public nint Data => (nint)Info().Data;

    /// <summary>Length in bytes, the prefix included.</summary>
    /// <exception cref="ObjectDisposedException">The buffer is closed.</exception>
    public ulong ByteSize => Info().ByteSize;

    /// <summary>Alignment that the buffer declares, a power of two.</summary>
    /// <exception cref="ObjectDisposedException">The buffer is closed.</exception>
    public uint Alignment => Info().Alignment;

    /// <summary>How many bytes at the start belong to somebody else, because the memory was not aligned to 64 bytes and its
    /// start was rounded down: 0 to 63. This is what belongs into the byte_offset of a descriptor.</summary>
    /// <exception cref="ObjectDisposedException">The buffer is closed.</exception>
    public uint Prefix => Info().Prefix;

    /// <summary>Whether the memory must not be written.</summary>
    /// <exception cref="ObjectDisposedException">The buffer is closed.</exception>
    public bool IsReadOnly => ((BufferFlags)Info().Flags & BufferFlags.ReadOnly) != 0;

    /// <summary>Whether the memory goes through a <see cref="TensorChannel"/> without a copy: that of
    /// <see cref="AllocateShared"/>, of mapped files, and what came through a channel.</summary>
    /// <exception cref="ObjectDisposedException">The buffer is closed.</exception>
    public bool IsShared => ((BufferFlags)Info().Flags & BufferFlags.Shared) != 0;

    /// <summary>Whether the memory is shared and sealed: nobody, in whatever process, can write to it or cut it any more. What is shared
    /// without this may change while it is read.</summary>
    /// <exception cref="ObjectDisposedException">The buffer is closed.</exception>
    public bool IsSealed => ((BufferFlags)Info().Flags & BufferFlags.Sealed) != 0;

    /// <summary>How many handles share the memory; 0 for memory that lives for ever.</summary>
    /// <exception cref="ObjectDisposedException">The buffer is closed.</exception>
    public ulong ShareCount => Info().ShareCount;

    /// <summary>The entry that describes this buffer in a descriptor's buffer table.</summary>
    /// <exception cref="ObjectDisposedException">The buffer is closed.</exception>
    public BufferEntry Entry
    {
        get
        {
            NativeError error;
            Native.Check(NativeMethods.BufferHandleBytes(Handle, out NativeBufferHandleBytes bytes, &error), &error);
            return BufferEntry.From(bytes);
        }
    }

    internal BufferHandle Handle
    {
        get
        {
            ObjectDisposedException.ThrowIf(_handle.IsClosedByOwner, this);
            return _handle;
        }
    }

    /// <summary>Allocates memory of the library, zeroed.</summary>
    /// <param name="byteSize">Length in bytes; 0 is legal.</param>
    /// <param name="alignment">A power of two; less than 64 is raised to 64.</param>
    /// <returns>The buffer.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.OutOfMemory"/>, <see cref="HurrayStatus.InvalidLayout"/>:
    /// the alignment is no power of two.</exception>
    public static TensorBuffer Allocate(ulong byteSize, uint alignment = 64)
    {
        Releases.Poll();
        NativeError error;
        Native.Check(NativeMethods.BufferAllocate(byteSize, alignment, out BufferHandle handle, &error), &error);
        return new TensorBuffer(handle);
    }

    /// <summary>Allocates shared memory, zeroed, which goes through a <see cref="TensorChannel"/> without a copy. Forks of the process share
    /// it.</summary>
    /// <param name="byteSize">Length in bytes; 0 is legal.</param>
    /// <param name="alignment">A power of two; less than 64 is raised to 64.</param>
    /// <returns>The buffer.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.OutOfMemory"/>, <see cref="HurrayStatus.InvalidLayout"/>: the alignment
    /// is no power of two; <see cref="HurrayStatus.LimitExceeded"/>: no further file descriptor may be opened;
    /// <see cref="HurrayStatus.Unsupported"/>: not on this system.</exception>
    public static TensorBuffer AllocateShared(ulong byteSize, uint alignment = 64)
    {
        Releases.Poll();
        NativeError error;
        Native.Check(NativeMethods.BufferAllocateShared(byteSize, alignment, out BufferHandle handle, &error), &error);
        return new TensorBuffer(handle);
    }

    /// <summary>Wraps memory of .NET, of any alignment, without copying: it is pinned until its release.</summary>
    /// <typeparam name="T">Type of its elements.</typeparam>
    /// <param name="memory">The memory.</param>
    /// <param name="released">Called exactly once, when the last handle of the memory is gone; not when this fails.</param>
    /// <returns>The buffer; see <see cref="Prefix"/>.</returns>
    public static TensorBuffer FromMemory<T>(Memory<T> memory, Action? released = null)
        where T : unmanaged => Wrap(memory.Pin(), (ulong)memory.Length * (ulong)sizeof(T), false, released);

    /// <summary>Wraps memory of .NET that must not be written; else as the other overload.</summary>
    /// <typeparam name="T">Type of its elements.</typeparam>
    /// <param name="memory">The memory.</param>
    /// <param name="released">Called exactly once, when the last handle of the memory is gone; not when this fails.</param>
    /// <returns>The buffer; see <see cref="Prefix"/>.</returns>
    public static TensorBuffer FromMemory<T>(ReadOnlyMemory<T> memory, Action? released = null)
        where T : unmanaged => Wrap(memory.Pin(), (ulong)memory.Length * (ulong)sizeof(T), true, released);

    /// <summary>Wraps memory of any device, aligned as declared, without copying.</summary>
    /// <param name="data">First byte.</param>
    /// <param name="byteSize">Length in bytes.</param>
    /// <param name="alignment">A power of two, at least 64 unless the buffer is empty.</param>
    /// <param name="device">Where the memory lies.</param>
    /// <param name="released">Called exactly once, when the last handle of the memory is gone; not when this fails. Null:
    /// nobody needs to know.</param>
    /// <returns>The buffer: standard memory, producer synced.</returns>
    /// <exception cref="HurrayException">See the codes of hurray_buffer_from_ptr.</exception>
    public static TensorBuffer FromPointer(
        void* data, ulong byteSize, uint alignment = 64, Device device = Device.Cpu, Action? released = null)
    {
        Releases.Poll();
        var lease = new Lease(default, null, released);
        bool lent = false;
        try
        {
            Native.Check(
                NativeMethods.BufferFromPtr(
                    data, byteSize, alignment, (byte)device, Lease.BufferRelease, lease.Token, out BufferHandle handle),
                "hurray_buffer_from_ptr");
            lent = true;
            return Queued(handle, lease);
        }
        finally
        {
            if (!lent)
            {
                lease.Abandon();
            }
        }
    }

    /// <summary>Makes a further handle for the same memory.</summary>
    /// <returns>The share; independent of this.</returns>
    /// <exception cref="ObjectDisposedException">The buffer is closed.</exception>
    public TensorBuffer Share()
    {
        NativeError error;
        Native.Check(NativeMethods.BufferShare(Handle, out BufferHandle share, &error), &error);
        return new TensorBuffer(share);
    }

    /// <summary>Makes a handle for a part of the memory.</summary>
    /// <param name="offset">Start of the part in bytes, a multiple of 64 unless the part is empty.</param>
    /// <param name="byteSize">Length of the part in bytes.</param>
    /// <returns>The part; independent of this.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.IndexOutOfBounds"/>,
    /// <see cref="HurrayStatus.Misaligned"/>.</exception>
    /// <exception cref="ObjectDisposedException">The buffer is closed.</exception>
    public TensorBuffer Slice(ulong offset, ulong byteSize)
    {
        NativeError error;
        Native.Check(NativeMethods.BufferSlice(Handle, offset, byteSize, out BufferHandle part, &error), &error);
        return new TensorBuffer(part);
    }

    /// <summary>Marks the memory as not to be written through this handle and those made from it.</summary>
    /// <exception cref="ObjectDisposedException">The buffer is closed.</exception>
    public void SetReadOnly()
    {
        NativeError error;
        Native.Check(NativeMethods.BufferSetReadOnly(Handle, &error), &error);
    }

    /// <summary>Gives consent to release the memory at once on whatever thread ends its last handle, the collector's included.
    /// Without it a release that the collector causes waits for a thread that creates, closes or drains something.</summary>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.InvalidArgument"/>: the library owns the memory, which needs
    /// no consent, or the buffer is shared already.</exception>
    /// <exception cref="ObjectDisposedException">The buffer is closed.</exception>
    public void AllowReleaseOnAnyThread()
    {
        NativeError error;
        Native.Check(NativeMethods.BufferSetReleaseAnyThread(Handle, &error), &error);
    }

    /// <summary>Holds the memory, the prefix left out, for reading and writing as bytes.</summary>
    /// <returns>The view, which has a share of its own: it stays valid when this is closed.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.Unsupported"/>: the memory is not the host's.</exception>
    /// <exception cref="ObjectDisposedException">The buffer is closed.</exception>
    public TensorView<byte> Pin()
    {
        if (Entry.Device != Device.Cpu)
        {
            throw new HurrayException(HurrayStatus.Unsupported, $"buffer: its memory is that of device {Entry.Device}, not the host's");
        }

        using TensorBuffer share = Share();
        NativeBufferInfo info = share.Info();
        return new TensorView<byte>(
            share.Handle, (byte*)info.Data + info.Prefix, info.ByteSize - info.Prefix, share.IsReadOnly);
    }

    /// <summary>Gives the handle away, to another runtime.</summary>
    /// <returns>The HurrayBuffer, which whoever takes it destroys; this is closed.</returns>
    /// <exception cref="ObjectDisposedException">The buffer is closed.</exception>
    public nint Detach() => Handle.Detach();

    /// <summary>Takes a HurrayBuffer over, from another runtime.</summary>
    /// <param name="pointer">The handle, which must be owned; now this object's.</param>
    /// <returns>The buffer.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.NullPointer"/>.</exception>
    public static TensorBuffer Adopt(nint pointer) =>
        pointer != 0
            ? new TensorBuffer(HurrayHandle.Adopt<BufferHandle>(pointer))
            : throw new HurrayException(HurrayStatus.NullPointer, "pointer: is null, expected a HurrayBuffer");

    /// <summary>Closes the handle; the second time is a no-op.</summary>
    public void Dispose()
    {
        _handle.Dispose();
        Releases.Poll();
    }

    /// <summary>A further handle for a buffer that belongs to a list or tensor.</summary>
    internal static TensorBuffer ShareOf(nint borrowed)
    {
        NativeError error;
        using BufferHandle handle = HurrayHandle.Borrow<BufferHandle>(borrowed);
        Native.Check(NativeMethods.BufferShare(handle, out BufferHandle share, &error), &error);
        return new TensorBuffer(share);
    }

    private static TensorBuffer Wrap(MemoryHandle pin, ulong byteSize, bool readOnly, Action? released)
    {
        Releases.Drain();
        var lease = new Lease(pin, null, released);
        bool lent = false;
        try
        {
            NativeError error;
            Native.Check(
                NativeMethods.BufferFromHost(
                    pin.Pointer, byteSize, readOnly ? (byte)1 : (byte)0, Lease.BufferRelease, lease.Token,
                    out BufferHandle handle, out _, &error),
                &error);
            lent = true;
            return Queued(handle, lease);
        }
        finally
        {
            if (!lent)
            {
                lease.Abandon();
            }
        }
    }

    private static TensorBuffer Queued(BufferHandle handle, Lease lease, EventLease? eventLease = null)
    {
        NativeError error;
        HurrayStatus status = NativeMethods.BufferSetReleaseQueue(handle, Releases.Queue, &error);
        if (status == HurrayStatus.Ok)
        {
            return new TensorBuffer(handle);
        }

        lease.Silence();
        eventLease?.Silence();
        handle.Dispose();
        throw Native.Failure(status, &error);
    }

    private NativeBufferInfo Info()
    {
        NativeError error;
        var info = NativeBufferInfo.Sized;
        Native.Check(NativeMethods.BufferInfo(Handle, ref info, &error), &error);
        return info;
    }
}
