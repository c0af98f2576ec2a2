using System;
using System.Threading;
using Hurray.Interop;

namespace Hurray;

/// <summary>A descriptor and its buffers as one handle.</summary>
/// <remarks>
/// <para>Close it with Dispose (or using). Memory that no other handle shares is then released, on the closing thread. Views
/// (<see cref="Pin{T}"/> and its siblings) keep the memory: the tensor refuses further use once it is closed, and the
/// memory goes with the last view. Where nobody closes it, the garbage collector ends it, and its release waits for
/// the next thread that creates or closes something.</para>
/// <para>For one thread at a time; <see cref="Share"/> makes a handle for another thread. The memory itself may be read by
/// any number of threads while a view is open.</para>
/// </remarks>
public sealed unsafe partial class Tensor : IDisposable
{
    private readonly TensorHandle _handle;
    private DenseFacts? _facts;
    private volatile bool _notDense;
    private Descriptor? _descriptor;

    internal Tensor(TensorHandle handle) => _handle = handle;

    /// <summary>What the bytes are, read once and kept.</summary>
    /// <exception cref="ObjectDisposedException">The tensor is closed.</exception>
    public Descriptor Descriptor
    {
        get
        {
            ThrowIfClosed();
            return _descriptor ?? ReadDescriptor();
        }
    }

    /// <summary>Type of the elements.</summary>
    /// <exception cref="ObjectDisposedException">The tensor is closed.</exception>
    public ElementType ElementType => FactsOrNull?.ElementType ?? Descriptor.ElementType;

    /// <summary>How the elements lie in the memory.</summary>
    /// <exception cref="ObjectDisposedException">The tensor is closed.</exception>
    public Layout Layout => FactsOrNull?.Layout ?? Descriptor.Layout;

    /// <summary>Number of dimensions.</summary>
    /// <exception cref="ObjectDisposedException">The tensor is closed.</exception>
    public int Rank => FactsOrNull?.Shape.Length ?? Descriptor.Rank;

    /// <summary>Bits of one element.</summary>
    /// <exception cref="ObjectDisposedException">The tensor is closed.</exception>
    public int Bits => FactsOrNull?.Bits ?? Descriptor.Bits;

    /// <summary>Whether elements are smaller than a byte and packed.</summary>
    /// <exception cref="ObjectDisposedException">The tensor is closed.</exception>
    public bool IsPacked => Bits is > 0 and < 8;

    /// <summary>Whether this is a dense tensor of known shape (row-major, column-major, strided): only such have views.</summary>
    /// <exception cref="ObjectDisposedException">The tensor is closed.</exception>
    public bool IsDense => FactsOrNull is not null;

    /// <summary>Size of every dimension.</summary>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.Unsupported"/>: the layout is not dense or the shape is dynamic;
    /// <see cref="Descriptor"/> says what is known.</exception>
    /// <exception cref="ObjectDisposedException">The tensor is closed.</exception>
    public ReadOnlySpan<long> Shape => Facts.Shape;

    /// <summary>Strides in elements, those that the layout implies included; for a contiguous tensor those of row-major order.</summary>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.Unsupported"/>: the layout is not dense or the shape is dynamic;
    /// <see cref="Descriptor"/> says what is known.</exception>
    /// <exception cref="ObjectDisposedException">The tensor is closed.</exception>
    public ReadOnlySpan<long> Strides => Facts.Strides;

    /// <summary>Number of elements, the product of the shape.</summary>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.Unsupported"/>: the layout is not dense or the shape is dynamic;
    /// <see cref="Descriptor"/> says what is known.</exception>
    /// <exception cref="ObjectDisposedException">The tensor is closed.</exception>
    public ulong ElementCount => Facts.ElementCount;

    /// <summary>Bytes from the lowest to the end of the highest element.</summary>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.Unsupported"/>: the layout is not dense or the shape is dynamic;
    /// <see cref="Descriptor"/> says what is known.</exception>
    /// <exception cref="ObjectDisposedException">The tensor is closed.</exception>
    public ulong ByteSize => Facts.ByteSize;

    /// <summary>Where the memory lies.</summary>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.Unsupported"/>: the layout is not dense or the shape is dynamic;
    /// <see cref="Descriptor"/> says what is known.</exception>
    /// <exception cref="ObjectDisposedException">The tensor is closed.</exception>
    public Device Device => Facts.Device;

    /// <summary>Whether the memory must not be written.</summary>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.Unsupported"/>: the layout is not dense or the shape is dynamic;
    /// <see cref="Descriptor"/> says what is known.</exception>
    /// <exception cref="ObjectDisposedException">The tensor is closed.</exception>
    public bool IsReadOnly => Facts.IsReadOnly;

    /// <summary>Whether the elements follow one another in row-major order without gaps.</summary>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.Unsupported"/>: the layout is not dense or the shape is dynamic;
    /// <see cref="Descriptor"/> says what is known.</exception>
    /// <exception cref="ObjectDisposedException">The tensor is closed.</exception>
    public bool IsContiguous => Facts.IsContiguous;

    internal TensorHandle Handle
    {
        get
        {
            ThrowIfClosed();
            return _handle;
        }
    }

    private DenseFacts Facts => FactsOrNull ?? throw NotDense();

    // The library fixes these when it makes a tensor, so it is asked once; sending through a channel alone changes them.
    private DenseFacts? FactsOrNull
    {
        get
        {
            ThrowIfClosed();
            return Volatile.Read(ref _facts) ?? (_notDense ? null : ReadFacts());
        }
    }

    /// <summary>Makes a further handle for the same tensor, for another thread or another owner.</summary>
    /// <returns>The share; independent of this.</returns>
    /// <exception cref="ObjectDisposedException">The tensor is closed.</exception>
    public Tensor Share()
    {
        NativeError error;
        Native.Check(NativeMethods.TensorShare(Handle, out TensorHandle share, &error), &error);
        return new Tensor(share);
    }

    /// <summary>A further handle for one of the tensor's buffers.</summary>
    /// <param name="index">Its place in the buffer table.</param>
    /// <returns>A share, which the caller closes; independent of this.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.IndexOutOfBounds"/>.</exception>
    /// <exception cref="ObjectDisposedException">The tensor is closed.</exception>
    public TensorBuffer ShareBuffer(int index)
    {
        using var use = new HandleUse(Handle);
        NativeError error;
        Native.Check(NativeMethods.TensorBuffer(Handle, (uint)index, out nint borrowed, &error), &error);
        return TensorBuffer.ShareOf(borrowed);
    }

    /// <summary>Copies a dense tensor into new memory of the library: row-major, aligned, byte_offset 0.</summary>
    /// <param name="alignment">Alignment of the new memory, a power of two; less than 64 is raised to 64.</param>
    /// <returns>The copy; independent of this.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.Unsupported"/>: no dense layout, a dynamic shape, or not the
    /// host's memory; <see cref="HurrayStatus.OutOfMemory"/>.</exception>
    /// <exception cref="ObjectDisposedException">The tensor is closed.</exception>
    public Tensor Copy(uint alignment = 64)
    {
        Releases.Poll();
        NativeError error;
        Native.Check(NativeMethods.TensorCopy(Handle, alignment, out TensorHandle copy, out _, &error), &error);
        return new Tensor(copy);
    }

    /// <summary>Closes the tensor; the second time is a no-op.</summary>
    public void Dispose()
    {
        _handle.Dispose();
        Releases.Poll();
    }

    /// <summary>The memory was made read-only, or may have been: what is known of it is asked again.</summary>
    internal void ForgetFacts() => Volatile.Write(ref _facts, null);

    private void ThrowIfClosed() => ObjectDisposedException.ThrowIf(_handle.IsClosedByOwner, this);

    private DenseFacts? ReadFacts()
    {
        // The pointers in the view live as long as the handle, which is held while they are read.
        using var use = new HandleUse(Handle);
        NativeError error;
        var view = NativeView.Sized;
        HurrayStatus status = NativeMethods.TensorView(Handle, ref view, &error);
        if (status == HurrayStatus.Unsupported)
        {
            _notDense = true;
            return null;
        }

        Native.Check(status, &error);
        var facts = new DenseFacts(view);
        Volatile.Write(ref _facts, facts);
        return facts;
    }

    private HurrayException NotDense() => new(
        HurrayStatus.Unsupported, $"tensor: layout {Layout} with this shape has no dense view");

    private Descriptor ReadDescriptor()
    {
        using var use = new HandleUse(Handle);
        NativeError error;
        Native.Check(NativeMethods.TensorDescriptor(Handle, out nint borrowed, &error), &error);
        using DescriptorHandle handle = HurrayHandle.Borrow<DescriptorHandle>(borrowed);
        return _descriptor = new Descriptor(handle);
    }
}
