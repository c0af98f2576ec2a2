using System;
using System.Buffers;
using System.Collections.Generic;
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

    /// <summary>Whether the reader or writer closes the file descriptor.</summary>
    public bool CloseFileDescriptor { get; init; }

    internal NativeStreamOptions ToNative(bool ownsFd)
    {
        var native = NativeStreamOptions.Sized;
        native.Flags = (uint)(CloseFileDescriptor && ownsFd ? StreamFlags.CloseFd : StreamFlags.None);
        native.MaxDescriptorLength = MaxDescriptorLength;
        native.MaxTensorBytes = MaxTensorBytes;
        return native;
    }
}

/// <summary>Reads tensors one after the other. (format: stream)</summary>
/// <remarks>For one thread at a time. Tensors that were read are independent of the reader.</remarks>
public sealed unsafe class TensorStreamReader : IDisposable
{
    private readonly ReaderHandle _handle;

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
        Native.Check(NativeMethods.ReaderNext(Handle, out TensorHandle tensor, &error), &error);
        return tensor.IsInvalid ? null : new Tensor(tensor);
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
