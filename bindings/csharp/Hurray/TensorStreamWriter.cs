using System;
using System.IO;
using System.Runtime.InteropServices;
using Hurray.Interop;

namespace Hurray;

/// <summary>Writes tensors one after the other. (format: stream)</summary>
/// <remarks>For one thread at a time.</remarks>
public sealed unsafe class TensorStreamWriter : IDisposable
{
    private readonly WriterHandle _handle;
    private StreamLease? _lease;

    private TensorStreamWriter(WriterHandle handle) => _handle = handle;

    private WriterHandle Handle
    {
        get
        {
            ObjectDisposedException.ThrowIf(_handle.IsClosedByOwner, this);
            return _handle;
        }
    }

    /// <summary>Starts to write to a file descriptor. Writing to a pipe that nobody reads is an error, not a signal.</summary>
    /// <param name="fd">The file descriptor, such as 1; stays the caller's unless the options say otherwise.</param>
    /// <param name="options">Whether to close it; null: the defaults.</param>
    /// <returns>The writer.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.InvalidArgument"/>: the number is negative.</exception>
    public static TensorStreamWriter ToFileDescriptor(int fd, TensorStreamOptions? options = null)
    {
        Releases.Poll();
        NativeStreamOptions native = (options ?? new TensorStreamOptions()).ToNative(ownsFd: true);
        NativeError error;
        Native.Check(NativeMethods.WriterToFd(fd, &native, out WriterHandle handle, &error), &error);
        return new TensorStreamWriter(handle);
    }

    /// <summary>Starts to write to an open file or pipe of .NET, which stays open at least as long as the writer.</summary>
    /// <param name="file">Such as FileStream.SafeFileHandle; stays the caller's. What a FileStream has buffered must be
    /// flushed before.</param>
    /// <returns>The writer.</returns>
    public static TensorStreamWriter ToHandle(SafeHandle file)
    {
        Releases.Poll();
        var held = new HeldFile(file);
        try
        {
            NativeStreamOptions native = NativeStreamOptions.Sized;
            NativeError error;
            Native.Check(NativeMethods.WriterToFd(held.Descriptor, &native, out WriterHandle handle, &error), &error);
            handle.Keep(held);
            return new TensorStreamWriter(handle);
        }
        catch
        {
            held.Dispose();
            throw;
        }
    }

    /// <summary>Starts to write into memory that grows; see <see cref="Take"/>.</summary>
    /// <returns>The writer.</returns>
    public static TensorStreamWriter ToMemory()
    {
        Releases.Poll();
        NativeError error;
        Native.Check(NativeMethods.WriterToMemory(out WriterHandle handle, &error), &error);
        return new TensorStreamWriter(handle);
    }

    /// <summary>Starts to write to a stream of .NET, on the thread that writes.</summary>
    /// <param name="stream">Written only, never sought; stays the caller's, who flushes it, and must stay open until this is closed. What it
    /// throws comes out of <see cref="Write(Tensor)"/>, as the InnerException of a <see cref="HurrayException"/>, and ends the writer.</param>
    /// <returns>The writer.</returns>
    public static TensorStreamWriter ToStream(Stream stream)
    {
        ArgumentNullException.ThrowIfNull(stream);
        Releases.Poll();
        var lease = new StreamLease(stream);
        NativeError error;
        HurrayStatus status =
            NativeMethods.WriterToCallback(StreamLease.WriteFn, lease.Token, null, out WriterHandle handle, &error);
        if (status != HurrayStatus.Ok)
        {
            lease.Dispose();
            throw Native.Failure(status, &error);
        }

        handle.Keep(lease);
        return new TensorStreamWriter(handle) { _lease = lease };
    }

    /// <summary>Writes a tensor: its descriptor and the bytes of its buffers.</summary>
    /// <param name="tensor">The tensor, which stays the caller's.</param>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.Io"/>; <see cref="HurrayStatus.Unsupported"/>: not the
    /// host's memory. After an error in mid-tensor the writer can only be closed.</exception>
    /// <exception cref="ObjectDisposedException">The writer or the tensor is closed.</exception>
    public void Write(Tensor tensor)
    {
        ArgumentNullException.ThrowIfNull(tensor);
        NativeError error;
        CallbackLease.Check(_lease, NativeMethods.WriterWrite(Handle, tensor.Handle, &error), &error);
    }

    /// <summary>Writes a composite: its head, and behind it its members, those of inner composites behind their heads.</summary>
    /// <param name="composite">The composite, which stays the caller's.</param>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.Unsupported"/>: memory that the CPU cannot read, nothing is written then;
    /// <see cref="HurrayStatus.Io"/>: the stream ends torn, and the writer takes nothing more.</exception>
    /// <exception cref="ObjectDisposedException">The writer or the composite is closed.</exception>
    public void Write(Composite composite)
    {
        ArgumentNullException.ThrowIfNull(composite);
        NativeError error;
        CallbackLease.Check(_lease, NativeMethods.WriterWriteComposite(Handle, composite.Handle, &error), &error);
    }

    /// <summary>Takes the bytes that were written into memory so far; the writer goes on with an empty one.</summary>
    /// <returns>The bytes, which the caller closes.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.InvalidArgument"/>: it does not write into memory.</exception>
    /// <exception cref="ObjectDisposedException">The writer is closed.</exception>
    public TensorBuffer Take()
    {
        NativeError error;
        Native.Check(NativeMethods.WriterTake(Handle, out BufferHandle bytes, &error), &error);
        return new TensorBuffer(bytes);
    }

    /// <summary>Closes the writer; what was written stays written. The second time is a no-op.</summary>
    public void Dispose()
    {
        _handle.Dispose();
        Releases.Poll();
    }
}
