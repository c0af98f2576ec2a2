using System.Runtime.InteropServices;

namespace Hurray.Interop;

/// <summary>A HurrayProducer in memory of ours. What it leads to may be anybody's.</summary>
internal sealed unsafe class ProducerHandle : HurrayHandle
{
    /// <summary>An empty producer, released already.</summary>
    public static ProducerHandle Create()
    {
        var producer = (NativeProducer*)NativeMemory.AllocZeroed((nuint)sizeof(NativeProducer));
        *producer = NativeProducer.Sized;
        producer->AbiVersion = HurrayVersion.CAbiVersion;
        return Adopt<ProducerHandle>((nint)producer);
    }

    // Its release is a callback of somebody's: HurrayHandle leaves it for a thread of the users where the collector ends it.
    private protected override HurrayStatus Destroy(nint pointer)
    {
        var producer = (NativeProducer*)pointer;
        NativeError error;
        HurrayStatus status = NativeMethods.ProducerRelease(ref *producer, &error);
        NativeMemory.Free(producer);
        return status;
    }
}
