using System;
using Hurray.Interop;

namespace Hurray;

/// <summary>Writes a model file, which appears under its name complete or not at all.</summary>
/// <remarks>For one thread at a time. Close it in any case: without <see cref="Finish"/> nothing remains of what was
/// written.</remarks>
public sealed unsafe class TensorFileWriter : IDisposable
{
    private readonly FileWriterHandle _handle;

    private TensorFileWriter(FileWriterHandle handle) => _handle = handle;

    private FileWriterHandle Handle
    {
        get
        {
            ObjectDisposedException.ThrowIf(_handle.IsClosedByOwner, this);
            return _handle;
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

    /// <summary>Adds a tensor. Its memory is shared, not copied, until the file is finished or closed.</summary>
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
        Native.Check(
            NativeMethods.FileWriterAdd(Handle, nameUtf8, (ulong)nameUtf8.Length, tensor.Handle, &error), &error);
    }

    /// <summary>Sets a metadata entry; the last value of a key counts.</summary>
    /// <param name="key">The key.</param>
    /// <param name="value">The value.</param>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.InvalidArgument"/>.</exception>
    /// <exception cref="ObjectDisposedException">The writer is closed.</exception>
    public void SetMetadata(string key, string value)
    {
        byte[] keyUtf8 = Names.Encode(key, nameof(key));
        byte[] valueUtf8 = Names.Encode(value, nameof(value));
        NativeError error;
        Native.Check(
            NativeMethods.FileWriterSetMetadata(
                Handle, keyUtf8, (ulong)keyUtf8.Length, valueUtf8, (ulong)valueUtf8.Length, &error),
            &error);
    }

    /// <summary>Writes the file to disk and puts it under its name in one step. Afterwards the writer can only be
    /// closed.</summary>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.Io"/>: an older file of that name is as it was;
    /// <see cref="HurrayStatus.InvalidArgument"/>: finished already.</exception>
    /// <exception cref="ObjectDisposedException">The writer is closed.</exception>
    public void Finish()
    {
        NativeError error;
        Native.Check(NativeMethods.FileWriterFinish(Handle, &error), &error);
    }

    /// <summary>Closes the writer; the second time is a no-op.</summary>
    public void Dispose()
    {
        _handle.Dispose();
        Releases.Poll();
    }
}
