using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using System.Threading;
using Hurray.Interop;

namespace Hurray;

/// <summary>One end of a channel to another process of this machine: tensors pass, and their bytes stay where they are. Either end
/// sends and receives. Linux only.</summary>
/// <remarks>
/// <para>For one thread at a time, waiting included: a call while another one is in the channel is an
/// <see cref="InvalidOperationException"/>. Only <see cref="Dispose"/> may be called meanwhile: a call that waits for a tensor then
/// ends with an <see cref="ObjectDisposedException"/> (within a twentieth of a second), a <see cref="Send"/> that waits runs to its
/// end, and the channel ends after it, on its thread.</para>
/// <para>Tensors that were received are independent of the channel and end on any thread; the peer is told then. What the peer has given
/// back ends in <see cref="Send"/>, <see cref="Receive(TimeSpan, CancellationToken)"/>, <see cref="Process"/> and
/// <see cref="Dispose"/>, and release callbacks run there.</para>
/// </remarks>
public sealed unsafe class TensorChannel : IDisposable
{
    private readonly ChannelHandle _handle;
    private readonly Turnstile _turnstile = new();

    internal TensorChannel(ChannelHandle handle) => _handle = handle;

    /// <summary>What the channel has done so far.</summary>
    /// <exception cref="ObjectDisposedException">The channel is closed.</exception>
    public TensorChannelInfo Info
    {
        get
        {
            using Turnstile.Turn turn = _turnstile.Enter(this);
            NativeError error;
            var info = NativeChannelInfo.Sized;
            Native.Check(NativeMethods.ChannelInfo(Handle, ref info, &error), &error);
            return new TensorChannelInfo(info);
        }
    }

    /// <summary>The file descriptor of the channel's socket, for event loops: it becomes readable when something has come. It stays the
    /// channel's: not to be read, written or closed. Receive with a timeout of 0 until that fails before waiting for it.</summary>
    /// <exception cref="ObjectDisposedException">The channel is closed.</exception>
    public int FileDescriptor
    {
        get
        {
            using Turnstile.Turn turn = _turnstile.Enter(this);
            NativeError error;
            Native.Check(NativeMethods.ChannelFd(Handle, out int fd, &error), &error);
            return fd;
        }
    }

    private ChannelHandle Handle
    {
        get
        {
            ObjectDisposedException.ThrowIf(_handle.IsClosedByOwner, this);
            return _handle;
        }
    }

    /// <summary>Connects to a listener; waits until there is one, and until it has room.</summary>
    /// <param name="path">Where it listens.</param>
    /// <param name="timeout">How long; <see cref="Timeout.InfiniteTimeSpan"/> is without an end.</param>
    /// <param name="options">Limits; null: the defaults.</param>
    /// <param name="cancellationToken">Ends the waiting.</param>
    /// <returns>The channel.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.TimedOut"/>: nobody listened in time;
    /// <see cref="HurrayStatus.InvalidArgument"/>: the path, or a socket of another type; <see cref="HurrayStatus.Io"/>: not
    /// allowed, or the listener is another user.</exception>
    /// <exception cref="OperationCanceledException">It was cancelled.</exception>
    public static TensorChannel Connect(
        string path, TimeSpan timeout, TensorChannelOptions? options = null, CancellationToken cancellationToken = default)
    {
        var patience = new Patience(timeout);
        Names.CheckPath(path);
        Releases.Poll();
        NativeChannelOptions native = (options ?? new TensorChannelOptions()).ToNative();
        while (true)
        {
            cancellationToken.ThrowIfCancellationRequested();
            NativeError error;
            HurrayStatus status =
                NativeMethods.ChannelConnect(path, &native, patience.Slice, out ChannelHandle handle, &error);
            if (status != HurrayStatus.TimedOut || patience.IsOver)
            {
                Native.Check(status, &error);
                return new TensorChannel(handle);
            }
        }
    }

    /// <summary>Makes a channel of a connected Unix socket of type SOCK_SEQPACKET: one of a socketpair, or inherited.</summary>
    /// <param name="fd">Stays the caller's, and the channel uses a duplicate of it, unless the options say otherwise. The peer does
    /// not notice the end of the channel as long as another duplicate is open.</param>
    /// <param name="options">Limits; null: the defaults.</param>
    /// <returns>The channel.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.InvalidArgument"/>: another kind of descriptor, or the options;
    /// <see cref="HurrayStatus.Io"/>: the peer is another user.</exception>
    public static TensorChannel FromFileDescriptor(int fd, TensorChannelOptions? options = null)
    {
        Releases.Poll();
        NativeChannelOptions native = (options ?? new TensorChannelOptions()).ToNative(ownsFd: true);
        NativeError error;
        Native.Check(NativeMethods.ChannelFromFd(fd, &native, out ChannelHandle handle, &error), &error);
        return new TensorChannel(handle);
    }

    /// <summary>Makes a channel of a connected socket of .NET: AddressFamily.Unix, SocketType.Seqpacket.</summary>
    /// <param name="socket">Such as Socket.SafeHandle; stays the caller's, and the channel uses a duplicate of it. The peer does not
    /// notice the end of the channel as long as the socket is open.</param>
    /// <param name="options">Limits; null: the defaults.</param>
    /// <returns>The channel.</returns>
    /// <exception cref="HurrayException">As <see cref="FromFileDescriptor"/>.</exception>
    public static TensorChannel FromHandle(SafeHandle socket, TensorChannelOptions? options = null)
    {
        using var held = new HeldFile(socket);
        return FromFileDescriptor(held.Descriptor, (options ?? new TensorChannelOptions()) with { CloseFileDescriptor = false });
    }

    /// <summary>Sends a tensor. Memory of mapped files, of <see cref="Tensor.AllocateShared"/> and of channels is passed: the peer maps it.
    /// All other is copied once into shared memory, and counted.</summary>
    /// <param name="tensor">The tensor, which stays the caller's and may be closed at once. What is passed stays as it is until the peer
    /// gives it back. Memory of <see cref="Tensor.AllocateShared"/> is read-only from then on; where others have it (shares, views
    /// that may write) it is copied instead, so close those first.</param>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.Unsupported"/>: not the host's memory;
    /// <see cref="HurrayStatus.InvalidSyncMode"/>: not producer synced; <see cref="HurrayStatus.LimitExceeded"/>: too many are out;
    /// <see cref="HurrayStatus.TimedOut"/>: no room; <see cref="HurrayStatus.Disconnected"/>;
    /// <see cref="HurrayStatus.InvalidArgument"/>: after <see cref="Finish"/>; <see cref="HurrayStatus.Forked"/>: the channel is that
    /// of the parent process.</exception>
    /// <exception cref="ObjectDisposedException">The channel or the tensor is closed.</exception>
    public void Send(Tensor tensor)
    {
        ArgumentNullException.ThrowIfNull(tensor);
        Releases.Poll();
        using Turnstile.Turn turn = _turnstile.Enter(this);
        ChannelHandle handle = Handle;
        // A span that is written through must not fault all of a sudden: a share makes the library copy instead of sealing.
        using Tensor? share = tensor.Handle.HasWriters ? tensor.Share() : null;
        NativeError error;
        HurrayStatus status = NativeMethods.ChannelSend(handle, (share ?? tensor).Handle, &error);
        tensor.ForgetFacts();
        Native.Check(status, &error);
    }

    /// <summary>Waits for the next tensor, without an end.</summary>
    /// <param name="cancellationToken">Ends the waiting.</param>
    /// <returns>As the other overload.</returns>
    /// <exception cref="HurrayException">As the other overload.</exception>
    /// <exception cref="OperationCanceledException">It was cancelled; the channel goes on.</exception>
    /// <exception cref="ObjectDisposedException">The channel is closed, also while this waits.</exception>
    public Tensor? Receive(CancellationToken cancellationToken = default) => Receive(Timeout.InfiniteTimeSpan, cancellationToken);

    /// <summary>Waits for the next tensor. Its memory is mapped, read-only; <see cref="TensorBuffer.IsSealed"/> says whether nobody can
    /// change it.</summary>
    /// <param name="timeout">How long; 0 does not wait, <see cref="Timeout.InfiniteTimeSpan"/> is without an end.</param>
    /// <param name="cancellationToken">Ends the waiting.</param>
    /// <returns>The tensor, which the caller closes and which does not need the channel; null when the peer has finished.</returns>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.TimedOut"/>; <see cref="HurrayStatus.Disconnected"/>: the peer is gone
    /// without having finished; <see cref="HurrayStatus.Forked"/>; <see cref="HurrayStatus.LimitExceeded"/>,
    /// <see cref="HurrayStatus.Unsupported"/>, <see cref="HurrayStatus.InvalidFormat"/> and those of
    /// <see cref="Descriptor.Decode(ReadOnlySpan{byte})"/>: a tensor is refused and given back, and the next one may be received. What
    /// breaks the protocol ends the channel, and every further call fails with it.</exception>
    /// <exception cref="OperationCanceledException">It was cancelled; the channel goes on.</exception>
    /// <exception cref="ObjectDisposedException">The channel is closed, also while this waits.</exception>
    public Tensor? Receive(TimeSpan timeout, CancellationToken cancellationToken = default)
    {
        var patience = new Patience(timeout);
        Releases.Poll();
        using Turnstile.Turn turn = _turnstile.Enter(this);
        while (true)
        {
            cancellationToken.ThrowIfCancellationRequested();
            NativeError error;
            HurrayStatus status = NativeMethods.ChannelReceive(Handle, patience.Slice, out TensorHandle tensor, &error);
            if (status != HurrayStatus.TimedOut || patience.IsOver)
            {
                Native.Check(status, &error);
                return tensor.IsInvalid ? null : new Tensor(tensor);
            }
        }
    }

    /// <summary>Receives until the peer has finished.</summary>
    /// <param name="cancellationToken">Ends the waiting.</param>
    /// <returns>The tensors, each of which the caller closes.</returns>
    /// <exception cref="HurrayException">As <see cref="Receive(TimeSpan, CancellationToken)"/>.</exception>
    public IEnumerable<Tensor> ReceiveAll(CancellationToken cancellationToken = default)
    {
        while (Receive(cancellationToken) is { } tensor)
        {
            yield return tensor;
        }
    }

    /// <summary>Takes in what has come, without waiting: what the peer has given back ends here. For a process that sends and rarely
    /// receives.</summary>
    /// <exception cref="HurrayException"><see cref="HurrayStatus.Disconnected"/>: the peer is gone without having finished;
    /// <see cref="HurrayStatus.Forked"/>; what broke the protocol.</exception>
    /// <exception cref="ObjectDisposedException">The channel is closed.</exception>
    public void Process()
    {
        Releases.Poll();
        using Turnstile.Turn turn = _turnstile.Enter(this);
        NativeError error;
        Native.Check(NativeMethods.ChannelProcess(Handle, &error), &error);
    }

    /// <summary>Says to the peer that no more tensors come: it receives null once it has received all. Receiving goes on; a second time
    /// is a no-op.</summary>
    /// <exception cref="HurrayException">As <see cref="Send"/>.</exception>
    /// <exception cref="ObjectDisposedException">The channel is closed.</exception>
    public void Finish()
    {
        Releases.Poll();
        using Turnstile.Turn turn = _turnstile.Enter(this);
        NativeError error;
        Native.Check(NativeMethods.ChannelFinish(Handle, &error), &error);
    }

    /// <summary>Closes this end: the peer is told that no more comes, and its sends fail. Everything that is out ends; tensors that were
    /// received live on. The second time is a no-op; may be called on any thread, also while another one waits in the channel.</summary>
    public void Dispose()
    {
        _handle.Dispose();
        Releases.Poll();
    }
}
