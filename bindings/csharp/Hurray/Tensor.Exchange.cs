using System;
using Hurray.Interop;

namespace Hurray;

public sealed unsafe partial class Tensor : IBufferSource
{
    /// <summary>Takes a tensor over that was exported as a pair of list and context. (ABI: Tensor Context)</summary>
    /// <param name="buffers">Moves into the tensor and is closed for its caller; on failure it stays the caller's.</param>
    /// <param name="context">As <paramref name="buffers"/>. Its owner is released when the last handle goes that needs the
    /// memory.</param>
    /// <returns>The tensor.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.VersionMismatch"/>: the context was made by a version that
    /// the library does not accept; and the codes of <see cref="Descriptor.Decode(ReadOnlySpan{byte})"/> and <see cref="FromParts"/>.</exception>
    /// <exception cref="ObjectDisposedException">One of the two is closed.</exception>
    public static Tensor Import(BufferList buffers, TensorContext context) => Import(buffers, context, null);

    /// <summary>Takes a tensor over that was exported as a pair, and reads its descriptor by the options of the caller.</summary>
    /// <param name="buffers">As for the other overload.</param>
    /// <param name="context">As for the other overload.</param>
    /// <param name="options">What is accepted; null: what a strict reader accepts.</param>
    /// <returns>The tensor.</returns>
    /// <exception cref="HurrayException">As the other overload; <see cref="HurrayStatus.Unsupported"/>: permissive, and the layout is not
    /// known.</exception>
    /// <exception cref="ObjectDisposedException">One of the two is closed.</exception>
    public static Tensor Import(BufferList buffers, TensorContext context, DecodeOptions? options)
    {
        ArgumentNullException.ThrowIfNull(buffers);
        ArgumentNullException.ThrowIfNull(context);
        using var listUse = new HandleUse(buffers.Handle);
        using var contextUse = new HandleUse(context.Handle);
        nint list = listUse.Pointer;
        nint raw = contextUse.Pointer;
        Tensor tensor = options is null ? Import(ref list, ref raw) : Import(ref list, ref raw, options);
        buffers.Handle.SetHandleAsInvalid();
        context.Handle.SetHandleAsInvalid();
        return tensor;
    }

    /// <summary>Takes a tensor over from another runtime in this process.</summary>
    /// <param name="list">The HurrayBufferList, null afterwards; on failure it stays the caller's.</param>
    /// <param name="context">The HurrayTensorContext, null afterwards; on failure it stays the caller's.</param>
    /// <returns>The tensor.</returns>
    /// <exception cref="HurrayException">As the other overload; <see cref="HurrayStatus.NullPointer"/>.</exception>
    public static Tensor Import(ref nint list, ref nint context)
    {
        Releases.Poll();
        NativeError error;
        Native.Check(NativeMethods.TensorImport(ref list, ref context, out TensorHandle tensor, &error), &error);
        return new Tensor(tensor);
    }

    private static Tensor Import(ref nint list, ref nint context, DecodeOptions options)
    {
        Releases.Poll();
        NativeDecodeOptions accepted = options.ToNative();
        NativeError error;
        Native.Check(NativeMethods.TensorImportOptions(ref list, ref context, &accepted, out TensorHandle tensor, &error), &error);
        return new Tensor(tensor);
    }

    /// <summary>Exports the tensor as the pair of list and context that travels between runtimes. The pair shares the memory, and
    /// the tensor stays as it is.</summary>
    /// <param name="buffers">The buffers; the caller closes it, imports it, or detaches it for another runtime.</param>
    /// <param name="context">The context, likewise.</param>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.SyncModeMismatch"/>: a buffer is not producer synced. An export
    /// makes shares, which carry no event: a producer hands such buffers off in a list of their own
    /// (<see cref="TensorBuffer.Handoff(BufferEntry, void*, EventPayload?, DeviceStream?, Action?)"/>).</exception>
    /// <exception cref="ObjectDisposedException">The tensor is closed.</exception>
    public void Export(out BufferList buffers, out TensorContext context)
    {
        NativeError error;
        Native.Check(
            NativeMethods.TensorExport(Handle, out BufferListHandle list, out TensorContextHandle made, &error), &error);
        buffers = new BufferList(list);
        context = new TensorContext(made);
    }

    /// <summary>How a consumer learns that the bytes of one of the tensor's buffers are there.</summary>
    /// <param name="index">Its place in the buffer table.</param>
    /// <returns>Mode, event and stream; used while the tensor is open.</returns>
    /// <exception cref="ObjectDisposedException">The tensor is closed.</exception>
    public BufferSync SyncOf(int index)
    {
        ThrowIfClosed();
        return new BufferSync(this, (ulong)index);
    }

    HandleUse IBufferSource.Use(ulong index, out nint buffer)
    {
        var use = new HandleUse(Handle);
        NativeError error;
        HurrayStatus status = NativeMethods.TensorBuffer(
            Handle, index <= uint.MaxValue ? (uint)index : uint.MaxValue, out buffer, &error);
        if (status != HurrayStatus.Ok)
        {
            use.Dispose();
            throw Native.Failure(status, &error);
        }

        return use;
    }
}
