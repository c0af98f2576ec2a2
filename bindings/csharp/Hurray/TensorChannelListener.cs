using System;
using System.Threading;
using Hurray.Interop;

namespace Hurray;

/// <summary>Waits for the other ends of channels at a path. Linux only.</summary>
/// <remarks>Threads as with <see cref="TensorChannel"/>. Closing it removes the socket file, if that is still its own; channels that were
/// accepted are independent of it.</remarks>
public sealed unsafe class TensorChannelListener : IDisposable
{
    private readonly ChannelListenerHandle _handle;
    private readonly Turnstile _turnstile = new();

    private TensorChannelListener(ChannelListenerHandle handle) => _handle = handle;

    private ChannelListenerHandle Handle
    {
        get
        {
            ObjectDisposedException.ThrowIf(_handle.IsClosedByOwner, this);
            return _handle;
        }
    }

    /// <summary>Listens. The socket file has mode 0600 (0666 with <see cref="TensorChannelOptions.OtherUsers"/>); one that is there
    /// already is replaced if nobody listens at it.</summary>
    /// <param name="path">The socket file; at most 107 bytes.</param>
    /// <param name="options">Those of every channel that is accepted; null: the defaults.</param>
    /// <returns>The listener.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.InvalidArgument"/>: a path that no socket can have, or something that
    /// is no socket is in the way; <see cref="HurrayStatus.Io"/>: somebody listens there.</exception>
    public static TensorChannelListener Listen(string path, TensorChannelOptions? options = null)
    {
        Names.CheckPath(path);
        Releases.Poll();
        NativeChannelOptions native = (options ?? new TensorChannelOptions()).ToNative();
        NativeError error;
        Native.Check(NativeMethods.ChannelListen(path, &native, out ChannelListenerHandle handle, &error), &error);
        return new TensorChannelListener(handle);
    }

    /// <summary>Waits for a peer, without an end.</summary>
    /// <param name="cancellationToken">Ends the waiting.</param>
    /// <returns>As the other overload.</returns>
    /// <exception cref="HurrayException">As the other overload.</exception>
    /// <exception cref="OperationCanceledException">It was cancelled; the listener goes on.</exception>
    /// <exception cref="ObjectDisposedException">The listener is closed, also while this waits.</exception>
    public TensorChannel Accept(CancellationToken cancellationToken = default) => Accept(Timeout.InfiniteTimeSpan, cancellationToken);

    /// <summary>Waits for a peer. Peers of other users, where these are not accepted, are turned away and not reported.</summary>
    /// <param name="timeout">How long; 0 does not wait, <see cref="Timeout.InfiniteTimeSpan"/> is without an end.</param>
    /// <param name="cancellationToken">Ends the waiting.</param>
    /// <returns>The channel, independent of this.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.TimedOut"/>; <see cref="HurrayStatus.Forked"/>: the listener is that of
    /// the parent process; <see cref="HurrayStatus.Io"/>.</exception>
    /// <exception cref="OperationCanceledException">It was cancelled; the listener goes on.</exception>
    /// <exception cref="ObjectDisposedException">The listener is closed, also while this waits.</exception>
    public TensorChannel Accept(TimeSpan timeout, CancellationToken cancellationToken = default)
    {
        var patience = new Patience(timeout);
        Releases.Poll();
        using Turnstile.Turn turn = _turnstile.Enter(this);
        while (true)
        {
            cancellationToken.ThrowIfCancellationRequested();
            NativeError error;
            HurrayStatus status = NativeMethods.ChannelAccept(Handle, patience.Slice, out ChannelHandle channel, &error);
            if (status != HurrayStatus.TimedOut || patience.IsOver)
            {
                Native.Check(status, &error);
                return new TensorChannel(channel);
            }
        }
    }

    /// <summary>Closes the listener; the second time is a no-op. May be called on any thread, also while another one waits in
    /// it.</summary>
    public void Dispose()
    {
        _handle.Dispose();
        Releases.Poll();
    }
}
