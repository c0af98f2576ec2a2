namespace Hurray;

/// <summary>What a channel has done so far.</summary>
public readonly record struct TensorChannelInfo
{
    internal TensorChannelInfo(in Interop.NativeChannelInfo native)
    {
        Peer = (ChannelPeerFlags)native.State;
        Sent = native.Sent;
        Received = native.Received;
        PassedBytes = native.PassedBytes;
        CopiedBytes = native.CopiedBytes;
        ReceivedBytes = native.ReceivedBytes;
        Outstanding = native.Outstanding;
        Held = native.Held;
        PeerProcess = native.PeerPid;
        PeerUser = native.PeerUid;
    }

    /// <summary>What became of the peer.</summary>
    public ChannelPeerFlags Peer { get; }

    /// <summary>Tensors sent.</summary>
    public ulong Sent { get; }

    /// <summary>Tensors received.</summary>
    public ulong Received { get; }

    /// <summary>Bytes of buffers that were sent without a copy.</summary>
    public ulong PassedBytes { get; }

    /// <summary>Bytes of buffers that were copied into shared memory to be sent.</summary>
    public ulong CopiedBytes { get; }

    /// <summary>Bytes of buffers received; none of them is ever copied.</summary>
    public ulong ReceivedBytes { get; }

    /// <summary>Tensors sent that the peer has not released, as far as is known here.</summary>
    public ulong Outstanding { get; }

    /// <summary>Tensors received that have not ended here.</summary>
    public ulong Held { get; }

    /// <summary>Process of the peer, as the kernel says: for a socketpair, the one that made it.</summary>
    public long PeerProcess { get; }

    /// <summary>User of the peer.</summary>
    public uint PeerUser { get; }
}
