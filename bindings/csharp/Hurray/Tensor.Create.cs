using System;
using System.Buffers;
using System.Runtime.InteropServices;
using Hurray.Interop;

namespace Hurray;

public sealed unsafe partial class Tensor
{
    /// <summary>Wraps an array as a dense tensor, without copying: it is pinned until its release.</summary>
    /// <typeparam name="T">Type of its elements; see <see cref="ElementTypes.Of{T}"/>.</typeparam>
    /// <param name="array">The array.</param>
    /// <param name="shape">Size of every dimension; none: one dimension of the array's length.</param>
    /// <returns>The tensor.</returns>
    /// <exception cref="HurrayException">Shape and array do not belong together; see <see cref="HurrayException.Code"/>.
    /// </exception>
    public static Tensor FromArray<T>(T[] array, params ReadOnlySpan<long> shape)
        where T : unmanaged
    {
        ArgumentNullException.ThrowIfNull(array);
        return FromMemory(array.AsMemory(), shape.IsEmpty ? [array.Length] : shape);
    }

    /// <summary>Wraps memory of .NET as a dense tensor, without copying: it is pinned until its release.</summary>
    /// <typeparam name="T">Type of its elements. With byte, <see cref="DenseOptions.ElementType"/> may be any type.</typeparam>
    /// <param name="memory">The memory.</param>
    /// <param name="shape">Size of every dimension; none: a scalar.</param>
    /// <param name="options">Layout, strides, offset, policy and release; null: a row-major tensor over all of it.</param>
    /// <returns>The tensor.</returns>
    /// <exception cref="HurrayException">The memory cannot hold such a tensor: nothing has moved, and the release does not
    /// run.</exception>
    public static Tensor FromMemory<T>(Memory<T> memory, ReadOnlySpan<long> shape, DenseOptions? options = null)
        where T : unmanaged =>
        Wrap<T>(memory, memory.Length, shape, options ?? DenseOptions.Default, readOnly: false);

    /// <summary>Wraps memory of .NET that must not be written as a dense tensor; else as the other overload.</summary>
    /// <typeparam name="T">Type of its elements. With byte, <see cref="DenseOptions.ElementType"/> may be any type.</typeparam>
    /// <param name="memory">The memory.</param>
    /// <param name="shape">Size of every dimension; none: a scalar.</param>
    /// <param name="options">Layout, strides, offset, policy and release; null: a row-major tensor over all of it.</param>
    /// <returns>The tensor.</returns>
    /// <exception cref="HurrayException">The memory cannot hold such a tensor: nothing has moved, and the release does not
    /// run.</exception>
    public static Tensor FromMemory<T>(ReadOnlyMemory<T> memory, ReadOnlySpan<long> shape, DenseOptions? options = null)
        where T : unmanaged =>
        Wrap(memory, memory.Length, shape, options ?? DenseOptions.Default, readOnly: true);

    /// <summary>Wraps host memory that is not .NET's as a dense tensor, without copying.</summary>
    /// <param name="data">First byte; null only when the size is 0.</param>
    /// <param name="byteSize">Length in bytes: every element must lie in it.</param>
    /// <param name="elementType">Type of the elements.</param>
    /// <param name="shape">Size of every dimension; none: a scalar.</param>
    /// <param name="options">Layout, strides, offset, policy and release; its element type is not used.</param>
    /// <returns>The tensor. The memory must stay until <see cref="DenseOptions.Released"/> is called.</returns>
    /// <exception cref="HurrayException">The memory cannot hold such a tensor: nothing has moved, and the release does not
    /// run.</exception>
    public static Tensor FromPointer(
        void* data, ulong byteSize, ElementType elementType, ReadOnlySpan<long> shape, DenseOptions? options = null)
    {
        options ??= DenseOptions.Default;
        return Wrap(default, data, byteSize, elementType, shape, options, options.ReadOnly);
    }

    /// <summary>Allocates a dense row-major tensor of zeroes in memory of the library.</summary>
    /// <param name="elementType">Type of the elements.</param>
    /// <param name="shape">Size of every dimension; none: a scalar.</param>
    /// <param name="alignment">A power of two; less than 64 is raised to 64.</param>
    /// <returns>The tensor.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.OutOfMemory"/>, <see cref="HurrayStatus.InvalidLayout"/>,
    /// <see cref="HurrayStatus.InvalidType"/>.</exception>
    public static Tensor Allocate(ElementType elementType, ReadOnlySpan<long> shape, uint alignment = 64) =>
        Allocate(elementType, shape, alignment, &TensorBuffer.Allocate);

    /// <summary>Allocates a dense row-major tensor of zeroes in shared memory, which goes through a <see cref="TensorChannel"/> without a
    /// copy. It is read-only once it was sent: see <see cref="TensorChannel.Send"/>.</summary>
    /// <param name="elementType">Type of the elements.</param>
    /// <param name="shape">Size of every dimension; none: a scalar.</param>
    /// <param name="alignment">A power of two; less than 64 is raised to 64.</param>
    /// <returns>The tensor.</returns>
    /// <exception cref="HurrayException">As <see cref="Allocate(ElementType, ReadOnlySpan{long}, uint)"/>;
    /// <see cref="HurrayStatus.LimitExceeded"/>: no further file descriptor may be opened; <see cref="HurrayStatus.Unsupported"/>: not on
    /// this system.</exception>
    public static Tensor AllocateShared(ElementType elementType, ReadOnlySpan<long> shape, uint alignment = 64) =>
        Allocate(elementType, shape, alignment, &TensorBuffer.AllocateShared);

    /// <summary>Packs truth values as a dense row-major tensor of bits, in memory of the library. This copies: .NET keeps a byte
    /// for each, the format a bit.</summary>
    /// <param name="values">The values in row-major order.</param>
    /// <param name="shape">Size of every dimension; its product is the number of values.</param>
    /// <returns>The tensor.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.InvalidArgument"/>: shape and values differ in number.
    /// </exception>
    public static Tensor FromBooleans(ReadOnlySpan<bool> values, ReadOnlySpan<long> shape)
    {
        Tensor tensor = Allocate(ElementType.Bool, shape);
        try
        {
            if (tensor.ElementCount != (ulong)values.Length)
            {
                throw new HurrayException(
                    HurrayStatus.InvalidArgument,
                    $"values: expected {tensor.ElementCount} for this shape, got {values.Length}");
            }

            using TensorView<byte> bytes = tensor.Pin<byte>();
            for (int i = 0; i < values.Length; ++i)
            {
                if (values[i])
                {
                    bytes[i >> 3] |= (byte)(1 << (i & 7));
                }
            }

            return tensor;
        }
        catch
        {
            tensor.Dispose();
            throw;
        }
    }

    /// <summary>Makes a tensor of a descriptor and its buffers.</summary>
    /// <param name="descriptor">What the bytes are.</param>
    /// <param name="buffers">The buffers that its table asks for. The list moves into the tensor and is closed for its caller; on
    /// failure it stays the caller's.</param>
    /// <returns>The tensor.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.InvalidLayout"/>: another number of buffers;
    /// <see cref="HurrayStatus.BufferTooSmall"/>; <see cref="HurrayStatus.Misaligned"/>;
    /// <see cref="HurrayStatus.InvalidType"/>: another device.</exception>
    /// <exception cref="ObjectDisposedException">The list is closed.</exception>
    public static Tensor FromParts(Descriptor descriptor, BufferList buffers)
    {
        ArgumentNullException.ThrowIfNull(descriptor);
        ArgumentNullException.ThrowIfNull(buffers);
        Releases.Poll();
        using DescriptorHandle handle = descriptor.ToHandle();
        using var use = new HandleUse(buffers.Handle);
        nint list = use.Pointer;
        NativeError error;
        Native.Check(NativeMethods.TensorNew(handle, ref list, out TensorHandle tensor, &error), &error);
        buffers.Handle.SetHandleAsInvalid();
        return new Tensor(tensor);
    }

    private static Tensor Allocate(
        ElementType elementType, ReadOnlySpan<long> shape, uint alignment, delegate*<ulong, uint, TensorBuffer> allocate)
    {
        Span<ulong> sizes = stackalloc ulong[shape.Length <= ShapeLimit.MaxRank ? shape.Length : 0];
        ToSizes(shape, sizes);
        ulong byteSize = elementType.ByteSize(CountOf(sizes));
        using TensorBuffer buffer = allocate(byteSize, alignment);
        Descriptor descriptor = new DescriptorBuilder(elementType, Layout.RowMajor, sizes).AddBuffer(buffer.Entry).Build();
        using var list = new BufferList();
        list.Push(buffer);
        return FromParts(descriptor, list);
    }

    private static Tensor Wrap<T>(
        ReadOnlyMemory<T> memory, int length, ReadOnlySpan<long> shape, DenseOptions options, bool readOnly)
        where T : unmanaged
    {
        ElementType type = options.ElementType ?? ElementTypes.Of<T>();
        if (typeof(T) != typeof(byte) && !ElementTypes.Fits<T>(type))
        {
            throw new HurrayException(
                HurrayStatus.InvalidType,
                $"options.ElementType: memory of {typeof(T)} holds {ElementTypes.Of<T>()}, not {type}; wrap it as bytes");
        }

        return Wrap(memory.Pin(), null, (ulong)length * (ulong)sizeof(T), type, shape, options, readOnly || options.ReadOnly);
    }

    // `pin` is this method's from here on, on failure too. Its pointer is the memory's, where it has one.
    private static Tensor Wrap(
        MemoryHandle pin, void* data, ulong byteSize, ElementType type, ReadOnlySpan<long> shape, DenseOptions options,
        bool readOnly)
    {
        data = pin.Pointer != null ? pin.Pointer : data;
        var lease = new Lease(pin, null, options.Released);
        bool lent = false;
        try
        {
            Releases.Drain();
            if (options.Alignment == AlignmentPolicy.Require && byteSize != 0 && (nuint)data % 64 != 0)
            {
                throw new HurrayException(
                    HurrayStatus.Misaligned, $"memory: expected alignment to 64 bytes, its address ends in {(nuint)data % 64}");
            }

            Tensor wrapped = Lend(data, byteSize, type, shape, options, readOnly, lease);
            lent = true;
            return options.Alignment == AlignmentPolicy.Copy && byteSize != 0 && (nuint)data % 64 != 0
                ? Replaced(wrapped)
                : wrapped;
        }
        finally
        {
            if (!lent)
            {
                lease.Abandon();
            }
        }
    }

    private static Tensor Replaced(Tensor wrapped)
    {
        using (wrapped)
        {
            return wrapped.Copy();
        }
    }

    private static Tensor Lend(
        void* data, ulong byteSize, ElementType type, ReadOnlySpan<long> shape, DenseOptions options, bool readOnly, Lease lease)
    {
        Layout layout = options.Strides is not null && options.Layout == Layout.RowMajor ? Layout.Strided : options.Layout;
        if (options.Strides is not null && options.Strides.Length != shape.Length)
        {
            throw new HurrayException(
                HurrayStatus.InvalidArgument,
                $"options.Strides: expected {shape.Length} strides, as the shape has, got {options.Strides.Length}");
        }

        Span<ulong> sizes = stackalloc ulong[shape.Length <= ShapeLimit.MaxRank ? shape.Length : 0];
        ToSizes(shape, sizes);
        fixed (ulong* sizesAt = sizes)
        fixed (long* stridesAt = options.Strides)
        {
            var spec = NativeDenseSpec.Sized;
            spec.ElementType = (byte)type;
            spec.Layout = (byte)layout;
            spec.ReadOnly = readOnly ? (byte)1 : (byte)0;
            spec.Rank = (uint)shape.Length;
            spec.Shape = sizesAt;
            spec.Strides = stridesAt;
            spec.ByteOffset = options.ByteOffset;
            NativeError error;
            Native.Check(
                NativeMethods.TensorFromHost(
                    in spec, data, byteSize, Lease.BufferRelease, lease.Token, Releases.Queue, out TensorHandle handle, &error),
                &error);
            return options.ReleaseOnAnyThread ? Consented(handle, lease) : new Tensor(handle);
        }
    }

    private static Tensor Consented(TensorHandle handle, Lease lease)
    {
        NativeError error;
        HurrayStatus status = NativeMethods.TensorBuffer(handle, 0, out nint borrowed, &error);
        if (status == HurrayStatus.Ok)
        {
            using BufferHandle buffer = HurrayHandle.Borrow<BufferHandle>(borrowed);
            status = NativeMethods.BufferSetReleaseAnyThread(buffer, &error);
        }

        if (status == HurrayStatus.Ok)
        {
            return new Tensor(handle);
        }

        lease.Silence();
        handle.Dispose();
        throw Native.Failure(status, &error);
    }

    private static void ToSizes(ReadOnlySpan<long> shape, Span<ulong> sizes)
    {
        if (shape.Length > ShapeLimit.MaxRank)
        {
            throw new HurrayException(
                HurrayStatus.InvalidLayout, $"shape: expected at most {ShapeLimit.MaxRank} dimensions, got {shape.Length}");
        }

        for (int k = 0; k < shape.Length; ++k)
        {
            if (shape[k] < 0)
            {
                throw new HurrayException(HurrayStatus.InvalidArgument, $"shape[{k}]: expected 0 or more, got {shape[k]}");
            }

            sizes[k] = (ulong)shape[k];
        }
    }

    private static ulong CountOf(ReadOnlySpan<ulong> sizes)
    {
        UInt128 count = 1;
        foreach (ulong size in sizes)
        {
            if (size == 0)
            {
                return 0;
            }
        }

        foreach (ulong size in sizes)
        {
            count *= size;
            if (count > ulong.MaxValue)
            {
                throw new HurrayException(HurrayStatus.InvalidLayout, "shape: the number of elements exceeds 2^64-1");
            }
        }

        return (ulong)count;
    }
}
