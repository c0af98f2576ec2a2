using System;
using System.Collections.Generic;
using System.Diagnostics.CodeAnalysis;
using Hurray.Interop;

namespace Hurray;

/// <summary>An open model file, mapped: its tensors are handed over without copying.</summary>
/// <remarks>For one thread at a time. Tensors keep the mapping when the file is closed. The file must not change while it, or a
/// tensor of it, is in use: reading a mapped file that was cut ends the process with SIGBUS.</remarks>
public sealed unsafe class TensorFile : IDisposable
{
    private readonly FileHandle _handle;

    private TensorFile(FileHandle handle) => _handle = handle;

    private FileHandle Handle
    {
        get
        {
            ObjectDisposedException.ThrowIf(_handle.IsClosedByOwner, this);
            return _handle;
        }
    }

    /// <summary>The format that was recognised.</summary>
    /// <exception cref="ObjectDisposedException">The file is closed.</exception>
    public FileFormat Format => (FileFormat)Info().Format;

    /// <summary>Number of tensors.</summary>
    /// <exception cref="ObjectDisposedException">The file is closed.</exception>
    public ulong Count => Info().TensorCount;

    /// <summary>Size of the file in bytes.</summary>
    /// <exception cref="ObjectDisposedException">The file is closed.</exception>
    public ulong FileSize => Info().FileSize;

    /// <summary>Bytes of tensor data copied so far on behalf of this file (packing, alignment, repacking, decompression,
    /// reading without a map); 0 as long as all is mapped.</summary>
    /// <exception cref="ObjectDisposedException">The file is closed.</exception>
    public ulong CopiedBytes => Info().CopiedBytes;

    /// <summary>Opens a file. Every name, type, shape and range is checked before this returns; no data is read.</summary>
    /// <param name="path">The file.</param>
    /// <param name="options">Format, policy and limit; null: the defaults.</param>
    /// <returns>The open file.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.NotFound"/>, <see cref="HurrayStatus.Io"/>,
    /// <see cref="HurrayStatus.InvalidFormat"/>, <see cref="HurrayStatus.LimitExceeded"/>,
    /// <see cref="HurrayStatus.Unsupported"/>, <see cref="HurrayStatus.InvalidArgument"/>.</exception>
    public static TensorFile Open(string path, TensorFileOptions? options = null)
    {
        Releases.Poll();
        NativeFileOptions native = (options ?? new TensorFileOptions()).ToNative();
        NativeError error;
        Native.Check(NativeMethods.FileOpen(Names.CheckPath(path), &native, out FileHandle handle, &error), &error);
        return new TensorFile(handle);
    }

    /// <summary>Opens a file whose bytes are in memory, which is pinned as long as the file or a tensor of it needs it. Its tensors lie in
    /// that memory.</summary>
    /// <param name="bytes">The whole file; must stay as it is meanwhile.</param>
    /// <param name="options">As for <see cref="Open"/>.</param>
    /// <returns>The open file.</returns>
    /// <exception cref="HurrayException">As <see cref="Open"/>.</exception>
    public static TensorFile FromMemory(ReadOnlyMemory<byte> bytes, TensorFileOptions? options = null)
    {
        using TensorBuffer buffer = TensorBuffer.FromMemory(bytes);
        return FromBuffer(buffer, options);
    }

    /// <summary>Opens a file whose bytes are a buffer. Its tensors lie in the buffer's memory, which they share.</summary>
    /// <param name="buffer">The whole file; stays the caller's and may be closed at once.</param>
    /// <param name="options">As for <see cref="Open"/>.</param>
    /// <returns>The open file.</returns>
    /// <exception cref="HurrayException">As <see cref="Open"/>; <see cref="HurrayStatus.Unsupported"/>: not the host's memory;
    /// <see cref="HurrayStatus.InvalidSyncMode"/>: not producer synced.</exception>
    /// <exception cref="ObjectDisposedException">The buffer is closed.</exception>
    public static TensorFile FromBuffer(TensorBuffer buffer, TensorFileOptions? options = null)
    {
        ArgumentNullException.ThrowIfNull(buffer);
        Releases.Poll();
        NativeFileOptions native = (options ?? new TensorFileOptions()).ToNative();
        NativeError error;
        Native.Check(NativeMethods.FileOpenBuffer(buffer.Handle, &native, out FileHandle handle, &error), &error);
        return new TensorFile(handle);
    }

    /// <summary>What the file says about a tensor.</summary>
    /// <param name="index">Its place in the order of the header.</param>
    /// <returns>Name, type, shape and place.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.IndexOutOfBounds"/>.</exception>
    /// <exception cref="ObjectDisposedException">The file is closed.</exception>
    public TensorFileEntry GetEntry(ulong index)
    {
        using var use = new HandleUse(Handle);
        NativeError error;
        var info = NativeFileTensorInfo.Sized;
        Native.Check(NativeMethods.FileTensorInfo(Handle, index, ref info, &error), &error);
        return new TensorFileEntry(info);
    }

    /// <summary>All entries, one after the other.</summary>
    /// <returns>Name, type, shape and place of each tensor, in the order of the header.</returns>
    /// <exception cref="ObjectDisposedException">The file is closed.</exception>
    public IEnumerable<TensorFileEntry> Entries()
    {
        ulong count = Count;
        for (ulong index = 0; index < count; ++index)
        {
            yield return GetEntry(index);
        }
    }

    /// <summary>The descriptor of a tensor, without touching its data. Where data that is not aligned is handed over as it lies, the
    /// tensor's own may differ in byte_offset and in the size of buffer 0.</summary>
    /// <param name="index">Its place in the order of the header.</param>
    /// <returns>The descriptor.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.IndexOutOfBounds"/>; .hrry: those of
    /// <see cref="Descriptor.Decode(ReadOnlySpan{byte})"/>.</exception>
    /// <exception cref="ObjectDisposedException">The file is closed.</exception>
    public Descriptor GetDescriptor(ulong index)
    {
        NativeError error;
        Native.Check(NativeMethods.FileDescriptor(Handle, index, out DescriptorHandle descriptor, &error), &error);
        using (descriptor)
        {
            return new Descriptor(descriptor);
        }
    }

    /// <summary>Where in the file the bytes of a tensor's buffer come from; what is repacked or compressed, as it lies there.</summary>
    /// <param name="index">The tensor's place in the order of the header.</param>
    /// <param name="buffer">The buffer's place in the buffer table.</param>
    /// <returns>Offset from the start of the file and length, in bytes.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.IndexOutOfBounds"/>.</exception>
    /// <exception cref="ObjectDisposedException">The file is closed.</exception>
    public (ulong Offset, ulong Size) GetBufferRange(ulong index, int buffer)
    {
        NativeError error;
        Native.Check(
            NativeMethods.FileBufferRange(Handle, index, (ulong)buffer, out ulong offset, out ulong size, &error), &error);
        return (offset, size);
    }

    /// <summary>The metadata of the file, in its order.</summary>
    /// <returns>Keys and values. A value is a string, long, ulong, double, bool or byte[], or an array of one of these; one of a type
    /// that this build does not know is an <see cref="UnknownMetadata"/>.</returns>
    /// <exception cref="ObjectDisposedException">The file is closed.</exception>
    public IReadOnlyList<KeyValuePair<string, object>> ReadMetadata()
    {
        using var use = new HandleUse(Handle);
        ulong count = Info().MetadataCount;
        var all = new List<KeyValuePair<string, object>>();
        for (ulong index = 0; index < count; ++index)
        {
            NativeFileMetadata entry = Metadata(index);
            string key = Names.Decode(Names.Copy(entry.Key, entry.KeyLength));
            all.Add(new(key, MetadataInterop.Read(_handle, index, entry)));
        }

        return all;
    }

    /// <summary>Finds a metadata value by its key.</summary>
    /// <param name="key">The key.</param>
    /// <param name="value">Its value, as <see cref="ReadMetadata"/> gives it, or null.</param>
    /// <returns>Whether there is one.</returns>
    /// <exception cref="ObjectDisposedException">The file is closed.</exception>
    public bool TryGetMetadata(string key, [NotNullWhen(true)] out object? value)
    {
        using var use = new HandleUse(Handle);
        byte[] utf8 = Names.Encode(key, nameof(key));
        NativeError error;
        HurrayStatus status = NativeMethods.FileFindMetadata(Handle, utf8, (ulong)utf8.Length, out ulong index, &error);
        if (status == HurrayStatus.NotFound)
        {
            value = null;
            return false;
        }

        Native.Check(status, &error);
        value = MetadataInterop.Read(_handle, index, Metadata(index));
        return true;
    }

    /// <summary>Finds a tensor by name.</summary>
    /// <param name="name">The name.</param>
    /// <param name="index">Its place, or 0.</param>
    /// <returns>Whether there is one.</returns>
    /// <exception cref="ObjectDisposedException">The file is closed.</exception>
    public bool TryFind(string name, out ulong index) => TryFind(Names.Encode(name, nameof(name)), out index);

    /// <summary>Finds a tensor by name.</summary>
    /// <param name="nameUtf8">The name as UTF-8.</param>
    /// <param name="index">Its place, or 0.</param>
    /// <returns>Whether there is one.</returns>
    /// <exception cref="ObjectDisposedException">The file is closed.</exception>
    public bool TryFind(ReadOnlySpan<byte> nameUtf8, out ulong index)
    {
        NativeError error;
        HurrayStatus status =
            NativeMethods.FileFind(Handle, nameUtf8, (ulong)nameUtf8.Length, out index, &error);
        if (status == HurrayStatus.NotFound)
        {
            return false;
        }

        Native.Check(status, &error);
        return true;
    }

    /// <summary>Makes a tensor over the mapped bytes.</summary>
    /// <param name="index">Its place in the order of the header.</param>
    /// <returns>The tensor, read-only; keeps the mapping when the file is closed.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.IndexOutOfBounds"/>; <see cref="HurrayStatus.Misaligned"/>:
    /// under <see cref="AlignmentPolicy.Require"/>; <see cref="HurrayStatus.InvalidFormat"/>: a boolean is neither 0 nor
    /// 1.</exception>
    /// <exception cref="ObjectDisposedException">The file is closed.</exception>
    public Tensor GetTensor(ulong index)
    {
        Releases.Poll();
        NativeError error;
        Native.Check(NativeMethods.FileTensor(Handle, index, out TensorHandle tensor, &error), &error);
        return new Tensor(tensor);
    }

    /// <summary>Makes a tensor over the mapped bytes.</summary>
    /// <param name="name">Its name.</param>
    /// <returns>As the other overload.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.NotFound"/>, and those of the other overload.</exception>
    /// <exception cref="ObjectDisposedException">The file is closed.</exception>
    public Tensor GetTensor(string name) =>
        GetTensor(Find(name));

    /// <summary>Makes a composite of its head and all its members. (format: composite)</summary>
    /// <param name="index">The head's place in the order of the header.</param>
    /// <returns>The composite; keeps the mapping when the file is closed.</returns>
    /// <exception cref="HurrayException">As <see cref="GetTensor(ulong)"/>; <see cref="HurrayStatus.InvalidArgument"/>: no head of a
    /// composite; <see cref="HurrayStatus.InvalidComposite"/>.</exception>
    /// <exception cref="ObjectDisposedException">The file is closed.</exception>
    public Composite GetComposite(ulong index)
    {
        Releases.Poll();
        NativeError error;
        Native.Check(NativeMethods.FileComposite(Handle, index, out CompositeHandle composite, &error), &error);
        return new Composite(composite);
    }

    /// <summary>Makes a composite of its head and all its members.</summary>
    /// <param name="name">The head's name.</param>
    /// <returns>As the other overload.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.NotFound"/>, and those of the other overload.</exception>
    /// <exception cref="ObjectDisposedException">The file is closed.</exception>
    public Composite GetComposite(string name) => GetComposite(Find(name));

    /// <summary>Closes the file; the second time is a no-op.</summary>
    public void Dispose()
    {
        _handle.Dispose();
        Releases.Poll();
    }

    private ulong Find(string name)
    {
        byte[] utf8 = Names.Encode(name, nameof(name));
        NativeError error;
        Native.Check(NativeMethods.FileFind(Handle, utf8, (ulong)utf8.Length, out ulong index, &error), &error);
        return index;
    }

    private NativeFileMetadata Metadata(ulong index)
    {
        NativeError error;
        var entry = NativeFileMetadata.Sized;
        Native.Check(NativeMethods.FileMetadata(Handle, index, ref entry, &error), &error);
        return entry;
    }

    private NativeFileInfo Info()
    {
        NativeError error;
        var info = NativeFileInfo.Sized;
        Native.Check(NativeMethods.FileInfo(Handle, ref info, &error), &error);
        return info;
    }
}
