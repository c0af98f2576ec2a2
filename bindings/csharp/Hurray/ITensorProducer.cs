using System;

namespace Hurray;

/// <summary>Makes tensors when a consumer asks for them, ordered on the consumer's stream. (ABI: Buffer Handoff
/// Synchronisation)</summary>
/// <remarks><see cref="TensorProducer"/> makes it callable from every runtime in the process. Dispose is its release: it is called
/// exactly once, when that object, or whoever it moved to, lets go.</remarks>
public interface ITensorProducer : IDisposable
{
    /// <summary>Makes the parts of a tensor. Runs on the thread of the consumer's request, which waits for it.</summary>
    /// <param name="consumer">The consumer's stream: buffers may be handed off as <see cref="SyncMode.ConsumerStream"/> with
    /// exactly this stream and device, on which it must depend on the writing streams before this returns. Null: the consumer
    /// has none, and no buffer may be of that mode.</param>
    /// <returns>The buffers and the context that describes them. Both move to the consumer; they are closed for their
    /// maker.</returns>
    /// <exception cref="Exception">Whatever this throws goes no further than the boundary: the consumer gets the code and message
    /// of a <see cref="HurrayException"/>, <see cref="HurrayStatus.Cancelled"/> for an
    /// <see cref="OperationCanceledException"/>, <see cref="HurrayStatus.OutOfMemory"/> for an
    /// <see cref="OutOfMemoryException"/>, and else <see cref="HurrayStatus.InternalPanic"/> with type and
    /// message.</exception>
    TensorParts Export(DeviceStream? consumer);
}
