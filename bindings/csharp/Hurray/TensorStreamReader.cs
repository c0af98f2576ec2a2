using System;
using System.Buffers;
using System.Collections.Generic;
using System.IO;
using System.Runtime.InteropServices;
using Hurray.Interop;

namespace Hurray;

/// <summary>Limits of a stream reader.</summary>
public sealed record TensorStreamOptions
{
    /// <summary>Longest descriptor accepted, in bytes; 0: 16 MiB.</summary>
    public ulong MaxDescriptorLength { get; init; }

    /// <summary>Largest tensor accepted, in bytes over all its buffers; 0: no limit.</summary>
    public ulong MaxTensorBytes { get; init; }

    /// <summary>Largest alignment of a buffer accepted, in bytes; 0: 2 MiB.</summary>
    public uint MaxAlignment { get; init; }

    /// <summary>Whether the reader or writer closes the file descriptor.</summary>
    public bool CloseFileDescriptor { get; init; }

    /// <summary>Readers: whether private layouts and quantization schemes are accepted, as <see cref="DecodeOptions.PrivateTags"/>
    /// says.</summary>
    public bool PrivateTags { get; init; }

    /// <summary>Readers: whether element types and quantization schemes that are not known are accepted. A layout that is not known ends the
    /// stream with <see cref="HurrayStatus.Unsupported"/>: nobody knows where the next tensor starts.</summary>
    public bool Permissive { get; init; }

    /// <summary>Readers: whether what comes is no stream but a .hrry file, read in sequence from its start: out of a pipe or socket, which
    /// cannot be mapped. Names come at its end: see <see cref="TensorStreamReader.GetName"/>. (format: file)</summary>
    public bool HrryFile { get; init; }

    internal NativeStreamOptions ToNative(bool ownsFd)
    {
        var native = NativeStreamOptions.Sized;
        native.Flags = (uint)((CloseFileDescriptor && ownsFd ? StreamFlags.CloseFd : StreamFlags.None)
            | (PrivateTags ? StreamFlags.PrivateTags : StreamFlags.None)
            | (Permissive ? StreamFlags.Permissive : StreamFlags.None)
            | (HrryFile ? StreamFlags.HrryFile : StreamFlags.None));
        native.MaxDescriptorLength = MaxDescriptorLength;
        native.MaxTensorBytes = MaxTensorBytes;
        native.MaxAlignment = MaxAlignment;
        return native;
    }
}

/// <summary>Reads tensors one after the other. (format: stream)</summary>
/// <remarks>For one thread at a time. Tensors that were read are independent of the reader.</remarks>
public sealed unsafe class TensorStreamReader : IDisposable
{
    private readonly ReaderHandle _handle;
    private StreamLease? _lease;

    private TensorStreamReader(ReaderHandle handle) => _handle = handle;

    private ReaderHandle Handle
    {
        get
        {
            ObjectDisposedException.ThrowIf(_handle.IsClosedByOwner, this);
            return _handle;
        }
    }

    /// <summary>Starts to read from a file descriptor: a pipe, socket or file, from where it stands.</summary>
    /// <param name="fd">The file descriptor, such as 0; stays the caller's unless the options say otherwise.</param>
    /// <param name="options">Limits; null: the defaults.</param>
    /// <returns>The reader.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.InvalidArgument"/>: the number is negative.</exception>
    public static TensorStreamReader FromFileDescriptor(int fd, TensorStreamOptions? options = null)
    {
        Releases.Poll();
        NativeStreamOptions native = (options ?? new TensorStreamOptions()).ToNative(ownsFd: true);
        NativeError error;
        Native.Check(NativeMethods.ReaderFromFd(fd, &native, out ReaderHandle handle, &error), &error);
        return new TensorStreamReader(handle);
    }

    /// <summary>Starts to read from an open file or pipe of .NET, which stays open at least as long as the reader.</summary>
    /// <param name="file">Such as FileStream.SafeFileHandle; stays the caller's.</param>
    /// <param name="options">Limits; null: the defaults.</param>
    /// <returns>The reader.</returns>
    public static TensorStreamReader FromHandle(SafeHandle file, TensorStreamOptions? options = null)
    {
        Releases.Poll();
        var held = new HeldFile(file);
        try
        {
            NativeStreamOptions native = (options ?? new TensorStreamOptions()).ToNative(ownsFd: false);
            NativeError error;
            Native.Check(NativeMethods.ReaderFromFd(held.Descriptor, &native, out ReaderHandle handle, &error), &error);
            handle.Keep(held);
            return new TensorStreamReader(handle);
        }
        catch
        {
            held.Dispose();
            throw;
        }
    }

    /// <summary>Starts to read a stream that lies in memory, which is pinned until the reader is closed. Tensors are copied out
    /// of it.</summary>
    /// <param name="bytes">The stream; must stay as it is meanwhile.</param>
    /// <param name="options">Limits; null: the defaults.</param>
    /// <returns>The reader.</returns>
    public static TensorStreamReader FromMemory(ReadOnlyMemory<byte> bytes, TensorStreamOptions? options = null)
    {
        Releases.Poll();
        MemoryHandle pin = bytes.Pin();
        try
        {
            NativeStreamOptions native = (options ?? new TensorStreamOptions()).ToNative(ownsFd: false);
            NativeError error;
            Native.Check(
                NativeMethods.ReaderFromMemory(pin.Pointer, (ulong)bytes.Length, &native, out ReaderHandle handle, &error),
                &error);
            handle.Keep(pin);
            return new TensorStreamReader(handle);
        }
        catch
        {
            pin.Dispose();
            throw;
        }
    }

    /// <summary>Starts to read from a stream of .NET, on the thread that reads; never a byte beyond the tensor that was asked for.</summary>
    /// <param name="stream">Read only, never sought; stays the caller's, and must stay open until this is closed. What it throws comes out
    /// of the call that reads, as the InnerException of a <see cref="HurrayException"/>, and ends the reader.</param>
    /// <param name="options">Limits; null: the defaults.</param>
    /// <returns>The reader.</returns>
    public static TensorStreamReader FromStream(Stream stream, TensorStreamOptions? options = null)
    {
        ArgumentNullException.ThrowIfNull(stream);
        Releases.Poll();
        NativeStreamOptions native = (options ?? new TensorStreamOptions()).ToNative(ownsFd: false);
        var lease = new StreamLease(stream);
        NativeError error;
        HurrayStatus status =
            NativeMethods.ReaderFromCallback(StreamLease.ReadFn, lease.Token, &native, out ReaderHandle handle, &error);
        if (status != HurrayStatus.Ok)
        {
            lease.Dispose();
            throw Native.Failure(status, &error);
        }

        handle.Keep(lease);
        return new TensorStreamReader(handle) { _lease = lease };
    }

    /// <summary>Reads the next tensor.</summary>
    /// <returns>The tensor, which the caller closes; null at the clean end of the stream.</returns>
    /// <exception cref="HurrayException">The codes of <see cref="Descriptor.Decode(ReadOnlySpan{byte})"/>;
    /// <see cref="HurrayStatus.InvalidFormat"/>: the stream ends within a tensor;
    /// <see cref="HurrayStatus.LimitExceeded"/>; <see cref="HurrayStatus.Io"/>; <see cref="HurrayStatus.OutOfMemory"/>. The
    /// byte offset is that in the stream. After an error the reader can only be closed.</exception>
    /// <exception cref="ObjectDisposedException">The reader is closed.</exception>
    public Tensor? Read()
    {
        Releases.Poll();
        NativeError error;
        CallbackLease.Check(_lease, NativeMethods.ReaderNext(Handle, out TensorHandle tensor, &error), &error);
        return tensor.IsInvalid ? null : new Tensor(tensor);
    }

    /// <summary>Reads the next tensor or, where a head comes, the whole composite. A reader is used with this or with <see cref="Read"/>,
    /// which gives heads and members as tensors. (format: stream, composite)</summary>
    /// <returns>The tensor or composite, which the caller closes; null at the clean end of the stream.</returns>
    /// <exception cref="HurrayException">As <see cref="Read"/>; <see cref="HurrayStatus.InvalidComposite"/>: it is torn, or its members do not
    /// fit (of which a permissive reader gives what came as tensors); <see cref="HurrayStatus.LimitExceeded"/>: more than 2^20 descriptors.
    /// </exception>
    /// <exception cref="ObjectDisposedException">The reader is closed.</exception>
    public TensorItem? ReadItem()
    {
        Releases.Poll();
        NativeError error;
        CallbackLease.Check(
            _lease, NativeMethods.ReaderNextItem(Handle, out TensorHandle tensor, out CompositeHandle composite, &error), &error);
        return Composite.ItemOf(tensor, composite);
    }

    /// <summary>The name of a tensor of a .hrry file that was read in sequence (<see cref="TensorStreamOptions.HrryFile"/>). Names stand at
    /// the end of the file: they are there once a call has told the end.</summary>
    /// <param name="index">Of the tensor, in the order in which they came; heads and members of composites count each.</param>
    /// <returns>The name; may hold NUL and any other character.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.InvalidArgument"/>: no .hrry file, or the end was not reached;
    /// <see cref="HurrayStatus.IndexOutOfBounds"/>.</exception>
    /// <exception cref="ObjectDisposedException">The reader is closed.</exception>
    public string GetName(ulong index)
    {
        using var use = new HandleUse(Handle);
        NativeError error;
        Native.Check(NativeMethods.ReaderName(Handle, index, out nint name, out ulong length, &error), &error);
        return Names.Decode(Names.Copy((byte*)name, length));
    }

    /// <summary>Begins the next tensor: its descriptor, checked, before any of its data is there. Its data follows with
    /// <see cref="ReadData"/> or is passed over with <see cref="SkipData"/>, to its end, before the next tensor. Members of a composite
    /// follow its head, each begun in its turn.</summary>
    /// <returns>The descriptor; null at the clean end of the stream.</returns>
    /// <exception cref="HurrayException">As <see cref="Read"/>; <see cref="HurrayStatus.InvalidComposite"/>;
    /// <see cref="HurrayStatus.InvalidArgument"/>, upon which nothing has changed: a tensor that was begun is not complete.</exception>
    /// <exception cref="ObjectDisposedException">The reader is closed.</exception>
    public Descriptor? Begin()
    {
        NativeError error;
        CallbackLease.Check(_lease, NativeMethods.ReaderBegin(Handle, out DescriptorHandle descriptor, &error), &error);
        using (descriptor)
        {
            return descriptor.IsInvalid ? null : new Descriptor(descriptor);
        }
    }

    /// <summary>Reads the next bytes of the tensor that was begun: those of its buffers in the order of its table, never of two of them at
    /// once. Waits for the first byte.</summary>
    /// <param name="into">Where they go.</param>
    /// <returns>How many were read; 0: the tensor is complete, or <paramref name="into"/> is empty.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.InvalidArgument"/>: no tensor was begun;
    /// <see cref="HurrayStatus.InvalidFormat"/>: the stream ends within it; <see cref="HurrayStatus.Io"/>.</exception>
    /// <exception cref="ObjectDisposedException">The reader is closed.</exception>
    public int ReadData(Span<byte> into)
    {
        NativeError error;
        CallbackLease.Check(
            _lease, NativeMethods.ReaderRead(Handle, into, (ulong)into.Length, out ulong count, &error), &error);
        return (int)count;
    }

    /// <summary>Passes over what is left of the tensor that was begun.</summary>
    /// <exception cref="HurrayException">As <see cref="ReadData"/>.</exception>
    /// <exception cref="ObjectDisposedException">The reader is closed.</exception>
    public void SkipData()
    {
        NativeError error;
        CallbackLease.Check(_lease, NativeMethods.ReaderSkip(Handle, &error), &error);
    }

    /// <summary>Reads all tensors that are left, one after the other.</summary>
    /// <returns>The tensors, each of which the caller closes.</returns>
    /// <exception cref="HurrayException">As <see cref="Read"/>.</exception>
    public IEnumerable<Tensor> ReadAll()
    {
        while (Read() is { } tensor)
        {
            yield return tensor;
        }
    }

    /// <summary>Closes the reader; the second time is a no-op.</summary>
    public void Dispose()
    {
        _handle.Dispose();
        Releases.Poll();
    }
}
