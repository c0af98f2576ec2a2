using System;
using Hurray.Interop;

namespace Hurray;

public sealed unsafe partial class TensorBuffer : IBufferSource
{
    /// <summary>How a consumer learns that the bytes are there.</summary>
    /// <exception cref="ObjectDisposedException">The buffer is closed.</exception>
    public BufferSync Sync
    {
        get
        {
            _ = Handle;
            return new BufferSync(this, 0);
        }
    }

    /// <summary>Hands memory of any device off, as its producer, in one of the three sync modes. (ABI: Buffer Handoff
    /// Synchronisation)</summary>
    /// <param name="entry">What the buffer is; its <see cref="BufferEntry.SyncMode"/> is what counts, and the payload must be
    /// that mode's.</param>
    /// <param name="data">First byte, aligned as the entry declares; may be null when the buffer is empty.</param>
    /// <param name="event">For <see cref="SyncMode.Event"/>, and only for it: the event, recorded before this call.</param>
    /// <param name="stream">For <see cref="SyncMode.ConsumerStream"/>, and only for it: the consumer's stream, which depends
    /// on the writing ones before this call returns.</param>
    /// <param name="released">Called exactly once, when the last handle of the memory is gone; not when this fails.</param>
    /// <returns>The buffer, to be pushed into a list for its consumer.</returns>
    /// <remarks>For <see cref="SyncMode.ProducerSynced"/> the producer has waited, on the host, for every stream that wrote the
    /// memory. May be called on any thread.</remarks>
    /// <exception cref="HurrayException">Nothing has moved, and neither callback runs:
    /// <see cref="HurrayStatus.InvalidSyncMode"/>: no such mode; <see cref="HurrayStatus.SyncModeMismatch"/>: mode and payload
    /// do not belong together; and the codes of <see cref="FromPointer"/>.</exception>
    public static TensorBuffer Handoff(
        BufferEntry entry, void* data, EventPayload? @event = null, DeviceStream? stream = null, Action? released = null) =>
        Handoff(entry.ToNative(), data, @event, stream, released);

    /// <summary>Hands memory off that is described by the 16 bytes of its binary handle; else as the other overload.</summary>
    /// <param name="handleBytes">The 16 bytes of a buffer table's entry. (format: buffer table)</param>
    /// <param name="data">As in the other overload.</param>
    /// <param name="event">As in the other overload.</param>
    /// <param name="stream">As in the other overload.</param>
    /// <param name="released">As in the other overload.</param>
    /// <returns>The buffer.</returns>
    /// <exception cref="HurrayException">As the other overload; <see cref="HurrayStatus.InvalidArgument"/>: not 16 bytes.
    /// </exception>
    public static TensorBuffer Handoff(
        ReadOnlySpan<byte> handleBytes, void* data, EventPayload? @event = null, DeviceStream? stream = null,
        Action? released = null)
    {
        NativeBufferHandleBytes native = default;
        if (handleBytes.Length != sizeof(NativeBufferHandleBytes))
        {
            throw new HurrayException(
                HurrayStatus.InvalidArgument,
                $"handleBytes: expected {sizeof(NativeBufferHandleBytes)} bytes, got {handleBytes.Length}");
        }

        handleBytes.CopyTo(new Span<byte>(native.Bytes, sizeof(NativeBufferHandleBytes)));
        return Handoff(native, data, @event, stream, released);
    }

    HandleUse IBufferSource.Use(ulong index, out nint buffer)
    {
        var use = new HandleUse(Handle);
        buffer = use.Pointer;
        return use;
    }

    private static TensorBuffer Handoff(
        in NativeBufferHandleBytes handleBytes, void* data, EventPayload? @event, DeviceStream? stream, Action? released)
    {
        Releases.Poll();
        var lease = new Lease(default, null, released);
        EventLease? eventLease = @event?.Release is { } release ? new EventLease(release) : null;
        bool lent = false;
        try
        {
            var eventPayload = default(NativeEventPayload);
            if (@event is not null)
            {
                eventPayload.SyncHandle = (void*)@event.Handle;
                eventPayload.SyncHandleDeviceTag = (byte)@event.Device;
                eventPayload.EventReleaseFn = eventLease is null ? null : EventLease.Release;
                eventPayload.EventReleaseContext = eventLease is null ? null : eventLease.Token;
            }

            var streamPayload = default(NativeStreamPayload);
            if (stream is { } consumer)
            {
                streamPayload.ConsumerStream = (void*)consumer.Handle;
                streamPayload.ConsumerStreamDeviceTag = (byte)consumer.Device;
            }

            NativeError error;
            Native.Check(
                NativeMethods.BufferHandoff(
                    handleBytes, data, Lease.BufferRelease, lease.Token, @event is null ? null : &eventPayload,
                    stream is null ? null : &streamPayload, out BufferHandle handle, &error),
                &error);
            lent = true;
            return Queued(handle, lease, eventLease);
        }
        finally
        {
            if (!lent)
            {
                lease.Abandon();
                eventLease?.Abandon();
            }
        }
    }
}
