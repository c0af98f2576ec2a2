using System;
using Hurray.Interop;

namespace Hurray;

/// <summary>Something that makes tensors on request, in whatever runtime it is written: HurrayProducer. (ABI: Buffer Handoff
/// Synchronisation)</summary>
/// <remarks>For one thread at a time. Closing it releases the producer on the closing thread; where nobody closes it, the next
/// thread that creates or closes something releases it. Tensors that came from it do not need it any more.</remarks>
public sealed unsafe class TensorProducer : IDisposable
{
    private readonly ProducerHandle _handle;

    /// <summary>Makes a producer of .NET callable from every runtime.</summary>
    /// <param name="producer">The producer; its Dispose is called exactly once, when this, or whoever it was moved to, lets
    /// go.</param>
    public TensorProducer(ITensorProducer producer)
    {
        ArgumentNullException.ThrowIfNull(producer);
        Releases.Poll();
        _handle = ProducerHandle.Create();
        new ProducerLease(producer).Fill((NativeProducer*)_handle.DangerousGetHandle());
    }

    private TensorProducer(ProducerHandle handle) => _handle = handle;

    /// <summary>Address of the HurrayProducer, for calls of native code that use it while this is open.</summary>
    /// <exception cref="ObjectDisposedException">The producer is closed.</exception>
    public nint Pointer => Handle.DangerousGetHandle();

    private ProducerHandle Handle
    {
        get
        {
            ObjectDisposedException.ThrowIf(_handle.IsClosedByOwner, this);
            return _handle;
        }
    }

    /// <summary>Takes a producer over from another runtime: the struct's content moves here, and the struct itself reads as
    /// released.</summary>
    /// <param name="pointer">Address of a HurrayProducer. Its memory stays the caller's.</param>
    /// <returns>The producer.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.NullPointer"/>: the pointer is null, or the producer is
    /// released; <see cref="HurrayStatus.InvalidArgument"/>: its struct_size is too small;
    /// <see cref="HurrayStatus.VersionMismatch"/>: made by a version that knows no producers. Nothing has moved
    /// then.</exception>
    public static TensorProducer TakeFrom(nint pointer)
    {
        NativeProducer* from = Checked(pointer);
        if (from->StructSize < sizeof(NativeProducer))
        {
            throw new HurrayException(
                HurrayStatus.InvalidArgument,
                $"producer: expected a struct_size of at least {sizeof(NativeProducer)}, got {from->StructSize}");
        }

        if (from->AbiVersion < HurrayVersion.CAbiVersion)
        {
            throw new HurrayException(
                HurrayStatus.VersionMismatch,
                $"producer: made by C ABI version {from->AbiVersion}, expected version {HurrayVersion.CAbiVersion} or later");
        }

        if (from->ExportTensor == null)
        {
            throw new HurrayException(HurrayStatus.NullPointer, "producer: its export_tensor is null: it is released");
        }

        Releases.Poll();
        var taken = new TensorProducer(ProducerHandle.Create());
        Move(from, (NativeProducer*)taken.Pointer);
        return taken;
    }

    /// <summary>Gives the producer away, to another runtime.</summary>
    /// <param name="pointer">Address of memory of the size of a HurrayProducer, which is overwritten. Whoever has it ends the
    /// producer with hurray_producer_release; this is closed.</param>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.NullPointer"/>.</exception>
    /// <exception cref="ObjectDisposedException">The producer is closed.</exception>
    public void MoveTo(nint pointer)
    {
        NativeProducer* to = Checked(pointer);
        using (var use = new HandleUse(Handle))
        {
            Move((NativeProducer*)use.Pointer, to);
        }

        Dispose();
    }

    /// <summary>Asks for a tensor. It is the caller's, and what its buffers say about their bytes being there is in
    /// <see cref="Tensor.SyncOf"/>.</summary>
    /// <param name="consumer">The stream that will use the memory; null: none, then no buffer is of
    /// <see cref="SyncMode.ConsumerStream"/>.</param>
    /// <returns>The tensor.</returns>
    /// <exception cref="HurrayException">What the producer reported; <see cref="HurrayStatus.VersionMismatch"/>: its context is
    /// of a version that the library does not accept; <see cref="HurrayStatus.SyncModeMismatch"/>: a buffer is ordered on
    /// another stream than <paramref name="consumer"/>; and the codes of <see cref="Tensor.Import(BufferList,
    /// TensorContext)"/>.</exception>
    /// <exception cref="ObjectDisposedException">The producer is closed.</exception>
    public Tensor Request(DeviceStream? consumer = null)
    {
        Releases.Poll();
        using var use = new HandleUse(Handle);
        DeviceStream stream = consumer.GetValueOrDefault();
        NativeError error;
        Native.Check(
            NativeMethods.ProducerRequest(
                in *(NativeProducer*)use.Pointer, (void*)stream.Handle, (byte)stream.Device, out TensorHandle tensor, &error),
            &error);
        return new Tensor(tensor);
    }

    /// <summary>Releases the producer; the second time is a no-op.</summary>
    public void Dispose()
    {
        _handle.Dispose();
        Releases.Poll();
    }

    private static NativeProducer* Checked(nint pointer) =>
        pointer != 0
            ? (NativeProducer*)pointer
            : throw new HurrayException(HurrayStatus.NullPointer, "pointer: is null, expected a HurrayProducer");

    private static void Move(NativeProducer* from, NativeProducer* to)
    {
        *to = *from;
        to->StructSize = (uint)sizeof(NativeProducer);
        from->ExportTensor = null;
        from->Release = null;
    }
}
