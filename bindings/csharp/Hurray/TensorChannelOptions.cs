using System;
using System.Threading;
using Hurray.Interop;

namespace Hurray;

/// <summary>Limits of a channel, and what it accepts. All members have defaults.</summary>
public sealed record TensorChannelOptions
{
    private readonly TimeSpan _sendTimeout = Timeout.InfiniteTimeSpan;

    /// <summary>Longest descriptor accepted, in bytes; 0: 16 MiB.</summary>
    public ulong MaxDescriptorLength { get; init; }

    /// <summary>Largest tensor accepted, in bytes over all its buffers; 0: no limit.</summary>
    public ulong MaxTensorBytes { get; init; }

    /// <summary>Largest alignment of a buffer accepted, in bytes; 0: 2 MiB.</summary>
    public uint MaxAlignment { get; init; }

    /// <summary>Tensors that may be sent and not yet released by the peer; 0: 65536.</summary>
    public uint MaxOutstanding { get; init; }

    /// <summary>How long <see cref="TensorChannel.Send"/> waits for room, or for a release where
    /// <see cref="MaxOutstanding"/> are out; <see cref="Timeout.InfiniteTimeSpan"/>, the default, is without an end, and 0 counts as
    /// a millisecond.</summary>
    /// <exception cref="ArgumentOutOfRangeException">A negative time that is not <see cref="Timeout.InfiniteTimeSpan"/>.</exception>
    public TimeSpan SendTimeout
    {
        get => _sendTimeout;
        init
        {
            Patience.Check(value, nameof(SendTimeout));
            _sendTimeout = value;
        }
    }

    /// <summary>Whether private layouts and quantization schemes are accepted.</summary>
    public bool PrivateTags { get; init; }

    /// <summary>Whether element types and quantization schemes that are not known are accepted.</summary>
    public bool Permissive { get; init; }

    /// <summary>Whether peers are accepted that are other users; everybody can reach the socket file of a listener then.</summary>
    public bool OtherUsers { get; init; }

    /// <summary>Whether memory is refused that is not sealed, that of files included: sealed memory nobody can change any
    /// more.</summary>
    public bool SealedOnly { get; init; }

    /// <summary>Whether tensors of mapped files are copied instead of passing the file: a peer that has its descriptor can read all of
    /// the file.</summary>
    public bool CopyFiles { get; init; }

    /// <summary>For <see cref="TensorChannel.FromFileDescriptor"/> alone: the descriptor becomes the channel's when that
    /// succeeds.</summary>
    public bool CloseFileDescriptor { get; init; }

    internal NativeChannelOptions ToNative(bool ownsFd = false)
    {
        var native = NativeChannelOptions.Sized;
        native.Flags = (uint)(Flag(PrivateTags, ChannelFlags.PrivateTags) | Flag(Permissive, ChannelFlags.Permissive)
            | Flag(OtherUsers, ChannelFlags.OtherUsers) | Flag(SealedOnly, ChannelFlags.SealedOnly)
            | Flag(CopyFiles, ChannelFlags.CopyFiles) | Flag(CloseFileDescriptor && ownsFd, ChannelFlags.CloseFd));
        native.MaxDescriptorLength = MaxDescriptorLength;
        native.MaxTensorBytes = MaxTensorBytes;
        native.MaxAlignment = MaxAlignment;
        native.MaxOutstanding = MaxOutstanding;
        // 0 is without an end there.
        native.SendTimeoutMs = SendTimeout == Timeout.InfiniteTimeSpan
            ? 0
            : (uint)Math.Clamp(Math.Ceiling(SendTimeout.TotalMilliseconds), 1, uint.MaxValue);
        return native;
    }

    private static ChannelFlags Flag(bool set, ChannelFlags flag) => set ? flag : ChannelFlags.None;
}
