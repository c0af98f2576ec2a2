using System;
using System.IO;
using System.Runtime.InteropServices;
using Hurray.Interop;

namespace Hurray;

/// <summary>Writes a model file, which appears under its name complete or not at all.</summary>
/// <remarks>For one thread at a time. Close it in any case: without <see cref="Finish"/> nothing remains of what was
/// written.</remarks>
public sealed unsafe partial class TensorFileWriter : IDisposable
{
    private readonly FileWriterHandle _handle;

    private CallbackLease? _lease;

    private TensorFileWriter(FileWriterHandle handle) => _handle = handle;

    private FileWriterHandle Handle
    {
        get
        {
            ObjectDisposedException.ThrowIf(_handle.IsClosedByOwner, this);
            return _handle;
        }
    }

    /// <summary>Bytes that were gathered, unpacked or converted on their way into the file so far; all others were written from where they
    /// lie.</summary>
    /// <exception cref="ObjectDisposedException">The writer is closed.</exception>
    public ulong CopiedBytes
    {
        get
        {
            NativeError error;
            Native.Check(NativeMethods.FileWriterCopiedBytes(Handle, out ulong bytes, &error), &error);
            return bytes;
        }
    }

    /// <summary>Starts a file. One that has the name already stays as it is until <see cref="Finish"/>.</summary>
    /// <param name="path">The file.</param>
    /// <param name="format">Its format.</param>
    /// <returns>The writer.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.InvalidArgument"/>, <see cref="HurrayStatus.NotFound"/>: no
    /// such folder; <see cref="HurrayStatus.Io"/>.</exception>
    public static TensorFileWriter Create(string path, FileFormat format = FileFormat.Safetensors)
    {
        Releases.Poll();
        NativeError error;
        Native.Check(
            NativeMethods.FileWriterCreate(Names.CheckPath(path), (uint)format, out FileWriterHandle handle, &error), &error);
        return new TensorFileWriter(handle);
    }

    /// <summary>Starts a file, with options; else as the other overload.</summary>
    /// <param name="path">The file.</param>
    /// <param name="options">Format and form.</param>
    /// <returns>The writer.</returns>
    /// <exception cref="HurrayException">As the other overload; <see cref="HurrayStatus.InvalidArgument"/>: options that are not the
    /// format's.</exception>
    public static TensorFileWriter Create(string path, TensorFileWriterOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        Releases.Poll();
        NativeFileWriterOptions native = options.ToNative();
        NativeError error;
        Native.Check(
            NativeMethods.FileWriterCreateWith(Names.CheckPath(path), native, out FileWriterHandle handle, &error), &error);
        return new TensorFileWriter(handle);
    }

    /// <summary>Starts a file that goes to a stream of .NET, front to back, on the threads that write. What was written stays written, also
    /// without <see cref="Finish"/>.</summary>
    /// <param name="stream">Written only, never sought; stays the caller's, and must stay open until this is closed. What it throws comes
    /// out of the call that writes, as the InnerException of a <see cref="HurrayException"/>, and ends the writer.</param>
    /// <param name="options">Format and form.</param>
    /// <returns>The writer.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.InvalidArgument"/>: options that are not the format's.</exception>
    public static TensorFileWriter ToStream(Stream stream, TensorFileWriterOptions options)
    {
        ArgumentNullException.ThrowIfNull(stream);
        ArgumentNullException.ThrowIfNull(options);
        Releases.Poll();
        NativeFileWriterOptions native = options.ToNative();
        var lease = new StreamLease(stream);
        NativeError error;
        HurrayStatus status = NativeMethods.FileWriterToCallback(
            StreamLease.WriteFn, lease.Token, native, out FileWriterHandle handle, &error);
        if (status != HurrayStatus.Ok)
        {
            lease.Dispose();
            throw Native.Failure(status, &error);
        }

        handle.Keep(lease);
        return new TensorFileWriter(handle) { _lease = lease };
    }

    /// <summary>Starts a file that goes to an open file or pipe of .NET, front to back; it stays open at least as long as the writer. What
    /// was written stays written, also without <see cref="Finish"/>.</summary>
    /// <param name="file">Such as FileStream.SafeFileHandle; stays the caller's. What a FileStream has buffered must be flushed
    /// before.</param>
    /// <param name="options">Format and form.</param>
    /// <returns>The writer.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.InvalidArgument"/>: options that are not the format's.</exception>
    public static TensorFileWriter ToHandle(SafeHandle file, TensorFileWriterOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        Releases.Poll();
        NativeFileWriterOptions native = options.ToNative();
        var held = new HeldFile(file);
        try
        {
            NativeError error;
            Native.Check(NativeMethods.FileWriterToFd(held.Descriptor, native, out FileWriterHandle handle, &error), &error);
            // Ends with the writer, with whatever else it needs.
            var lease = new CallbackLease();
            handle.Keep(new KeptTogether(lease, held));
            return new TensorFileWriter(handle) { _lease = lease };
        }
        catch
        {
            held.Dispose();
            throw;
        }
    }

    /// <summary>Adds a tensor. .hrry and .npz, which are written front to back, write it at once; the others share its memory until the file
    /// is finished or closed. No copy of it is made.</summary>
    /// <param name="name">Its name; may hold NUL and any other character.</param>
    /// <param name="tensor">The tensor, which stays the caller's and may be closed at once.</param>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.InvalidArgument"/>: the name is taken;
    /// <see cref="HurrayStatus.Unsupported"/>: the format cannot hold such a tensor.</exception>
    /// <exception cref="ObjectDisposedException">The writer or the tensor is closed.</exception>
    public void Add(string name, Tensor tensor) => Add(Names.Encode(name, nameof(name)), tensor);

    /// <summary>Adds a tensor; as the other overload.</summary>
    /// <param name="nameUtf8">Its name as UTF-8.</param>
    /// <param name="tensor">The tensor, which stays the caller's and may be closed at once.</param>
    /// <exception cref="HurrayException">As the other overload.</exception>
    /// <exception cref="ObjectDisposedException">The writer or the tensor is closed.</exception>
    public void Add(ReadOnlySpan<byte> nameUtf8, Tensor tensor)
    {
        ArgumentNullException.ThrowIfNull(tensor);
        NativeError error;
        CallbackLease.Check(
            _lease, NativeMethods.FileWriterAdd(Handle, nameUtf8, (ulong)nameUtf8.Length, tensor.Handle, &error), &error);
    }

    /// <summary>Announces a tensor that is made when it is written, at once or in <see cref="Finish"/>, so that a conversion needs memory
    /// for one tensor at a time.</summary>
    /// <param name="name">Its name.</param>
    /// <param name="descriptor">What it will be: type, layout, shape, sections and sizes of buffers.</param>
    /// <param name="make">Makes it, at most once; it is closed when it was written. What it throws comes out of the call that writes, as the
    /// InnerException of a <see cref="HurrayException"/>, and ends the writer. It must not use this writer.</param>
    /// <exception cref="HurrayException">As the other overloads; <see cref="HurrayStatus.InvalidArgument"/>: it made another tensor than
    /// the announced one.</exception>
    /// <exception cref="ObjectDisposedException">The writer is closed.</exception>
    public void Add(string name, Descriptor descriptor, Func<Tensor> make)
    {
        ArgumentNullException.ThrowIfNull(descriptor);
        ArgumentNullException.ThrowIfNull(make);
        byte[] utf8 = Names.Encode(name, nameof(name));
        FileWriterHandle handle = Handle;
        if (_lease is null)
        {
            _lease = new CallbackLease();
            handle.Keep(_lease);
        }

        using DescriptorHandle announced = descriptor.ToHandle();
        // Ends with the writer.
        var source = new SourceLease(make, _lease);
        NativeError error;
        CallbackLease.Check(
            _lease,
            NativeMethods.FileWriterAddSource(
                handle, utf8, (ulong)utf8.Length, announced, SourceLease.MakeFn, source.Token, &error),
            &error);
    }

    /// <summary>Adds a composite: its head under the name, its members as name/0, name/1, ..., those of an inner composite as name/1/0, ...
    /// Only .hrry holds composites.</summary>
    /// <param name="name">The head's name.</param>
    /// <param name="composite">The composite, which stays the caller's and may be closed at once.</param>
    /// <exception cref="HurrayException">As the other overloads.</exception>
    /// <exception cref="ObjectDisposedException">The writer or the composite is closed.</exception>
    public void Add(string name, Composite composite)
    {
        ArgumentNullException.ThrowIfNull(composite);
        byte[] utf8 = Names.Encode(name, nameof(name));
        NativeError error;
        CallbackLease.Check(
            _lease, NativeMethods.FileWriterAddComposite(Handle, utf8, (ulong)utf8.Length, composite.Handle, &error), &error);
    }

    /// <summary>Writes what is left; a file with a path comes to disk and under its name in one step. Afterwards the writer can only be
    /// closed.</summary>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.Io"/>: an older file of that name is as it was;
    /// <see cref="HurrayStatus.InvalidArgument"/>: finished already.</exception>
    /// <exception cref="ObjectDisposedException">The writer is closed.</exception>
    public void Finish()
    {
        NativeError error;
        CallbackLease.Check(_lease, NativeMethods.FileWriterFinish(Handle, &error), &error);
    }

    /// <summary>Closes the writer; the second time is a no-op.</summary>
    public void Dispose()
    {
        _handle.Dispose();
        Releases.Poll();
    }
}
