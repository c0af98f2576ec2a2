using System;
using System.Buffers;

namespace Hurray.Interop;

/// <summary>Memory over a view, checked at every use.</summary>
internal sealed class ViewMemory<T>(TensorView<T> view) : MemoryManager<T>
    where T : unmanaged
{
    public override Span<T> GetSpan() => view.SpanForMemory();

    public override MemoryHandle Pin(int elementIndex = 0) => view.PinForMemory(elementIndex);

    // The handle that Pin returned carries its own use.
    public override void Unpin()
    {
    }

    protected override void Dispose(bool disposing)
    {
    }
}
