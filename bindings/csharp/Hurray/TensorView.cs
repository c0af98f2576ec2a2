using System;
using System.Buffers;
using System.Runtime.CompilerServices;
using Hurray.Interop;

namespace Hurray;

/// <summary>Holds contiguous memory open: spans over it, without copying.</summary>
/// <typeparam name="T">Type of the elements.</typeparam>
/// <remarks>
/// <para>Close it, best with using. Spans must not be used after that; every member of this object, and Memory that came from
/// it, then throws <see cref="ObjectDisposedException"/>. A view that is never closed keeps the memory for the life of
/// the process, which <see cref="HurrayRuntime.LiveHandles"/> shows: the collector cannot know whether a span of it is
/// still in use.</para>
/// <para>Any number of threads may read through one view; it must be closed after all of them.</para>
/// </remarks>
public sealed unsafe class TensorView<T> : IDisposable
    where T : unmanaged
{
    private readonly T* _data;
    private readonly HurrayHandle _handle;
    private readonly PinnedUse _use;
    private ViewMemory<T>? _memory;

    internal TensorView(HurrayHandle handle, void* data, ulong length, bool readOnly)
    {
        _data = (T*)data;
        Length = length <= long.MaxValue
            ? (long)length
            : throw new HurrayException(HurrayStatus.Unsupported, $"tensor: {length} elements are more than .NET can count");
        IsReadOnly = readOnly;
        _handle = handle;
        _use = new PinnedUse(handle, writable: !readOnly);
    }

    /// <summary>Number of elements (of bytes, when T is byte).</summary>
    public long Length { get; }

    /// <summary>Whether the memory must not be written.</summary>
    public bool IsReadOnly { get; }

    /// <summary>All elements, for reading.</summary>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.LimitExceeded"/>: more elements than a span can hold; use
    /// <see cref="ReadOnlyWindow"/>.</exception>
    /// <exception cref="ObjectDisposedException">The view is closed.</exception>
    public ReadOnlySpan<T> ReadOnlySpan
    {
        get
        {
            _use.ThrowIfClosed(this);
            return new ReadOnlySpan<T>(_data, SpanLength());
        }
    }

    /// <summary>All elements, for reading and writing.</summary>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.Unsupported"/>: the memory is read-only;
    /// <see cref="HurrayStatus.LimitExceeded"/>: more elements than a span can hold; use <see cref="Window"/>.</exception>
    /// <exception cref="ObjectDisposedException">The view is closed.</exception>
    public Span<T> Span
    {
        get
        {
            _use.ThrowIfClosed(this);
            RequireWritable();
            return new Span<T>(_data, SpanLength());
        }
    }

    /// <summary>All elements as Memory, which can be stored. Valid until the view is closed; pinning it holds the memory
    /// beyond that.</summary>
    /// <exception cref="HurrayException">As <see cref="ReadOnlySpan"/>.</exception>
    /// <exception cref="ObjectDisposedException">The view is closed.</exception>
    public ReadOnlyMemory<T> ReadOnlyMemory => MemoryOf();

    /// <summary>All elements as writable Memory; else as <see cref="ReadOnlyMemory"/>.</summary>
    /// <exception cref="HurrayException">As <see cref="Span"/>.</exception>
    /// <exception cref="ObjectDisposedException">The view is closed.</exception>
    public Memory<T> Memory
    {
        get
        {
            RequireWritable();
            return MemoryOf();
        }
    }

    /// <summary>Address of the first element, for raw exchange; null when there are none and no memory.</summary>
    /// <exception cref="ObjectDisposedException">The view is closed.</exception>
    public nint Address
    {
        get
        {
            _use.ThrowIfClosed(this);
            return (nint)_data;
        }
    }

    /// <summary>An element, in row-major order. Writing through it needs memory that is not read-only.</summary>
    /// <param name="index">0 up to <see cref="Length"/>.</param>
    /// <returns>The element.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.IndexOutOfBounds"/>; on writing,
    /// <see cref="HurrayStatus.Unsupported"/>: the memory is read-only.</exception>
    /// <exception cref="ObjectDisposedException">The view is closed.</exception>
    public T this[long index]
    {
        get
        {
            _use.ThrowIfClosed(this);
            CheckRange(index, 1);
            return _data[index];
        }

        set
        {
            _use.ThrowIfClosed(this);
            RequireWritable();
            CheckRange(index, 1);
            _data[index] = value;
        }
    }

    /// <summary>Some of the elements, for reading: how memory of more than 2^31-1 elements is read.</summary>
    /// <param name="start">First element.</param>
    /// <param name="length">How many.</param>
    /// <returns>The span.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.IndexOutOfBounds"/>.</exception>
    /// <exception cref="ObjectDisposedException">The view is closed.</exception>
    public ReadOnlySpan<T> ReadOnlyWindow(long start, int length)
    {
        _use.ThrowIfClosed(this);
        CheckRange(start, length);
        return new ReadOnlySpan<T>(_data + start, length);
    }

    /// <summary>Some of the elements, for reading and writing.</summary>
    /// <param name="start">First element.</param>
    /// <param name="length">How many.</param>
    /// <returns>The span.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.IndexOutOfBounds"/>; <see cref="HurrayStatus.Unsupported"/>:
    /// the memory is read-only.</exception>
    /// <exception cref="ObjectDisposedException">The view is closed.</exception>
    public Span<T> Window(long start, int length)
    {
        _use.ThrowIfClosed(this);
        RequireWritable();
        CheckRange(start, length);
        return new Span<T>(_data + start, length);
    }

    /// <summary>Closes the view; the second time is a no-op.</summary>
    public void Dispose() => _use.Dispose();

    /// <summary>The span that Memory asks for, every time that it is used.</summary>
    internal Span<T> SpanForMemory()
    {
        _use.ThrowIfClosed(this);
        return new Span<T>(_data, SpanLength());
    }

    /// <summary>Holds the memory apart from the view, for Memory.Pin.</summary>
    internal MemoryHandle PinForMemory(int index)
    {
        _use.ThrowIfClosed(this);
        CheckRange(index, 0);
        return new MemoryHandle(_data + index, default, new PinnedUse(_handle, writable: !IsReadOnly));
    }

    private Memory<T> MemoryOf()
    {
        _use.ThrowIfClosed(this);
        int length = SpanLength();
        return length == 0 ? default : (_memory ??= new ViewMemory<T>(this)).Memory;
    }

    private int SpanLength() =>
        Length <= int.MaxValue
            ? (int)Length
            : throw new HurrayException(
                HurrayStatus.LimitExceeded,
                $"view: its {Length} elements are more than the {int.MaxValue} that a span can hold; use windows");

    private void RequireWritable()
    {
        if (IsReadOnly)
        {
            throw new HurrayException(HurrayStatus.Unsupported, "view: the memory is read-only, it cannot be written");
        }
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void CheckRange(long start, int length)
    {
        if (start < 0 || length < 0 || start > Length - length)
        {
            throw new HurrayException(
                HurrayStatus.IndexOutOfBounds, $"view: {length} elements from {start}: expected a range within {Length}");
        }
    }
}
