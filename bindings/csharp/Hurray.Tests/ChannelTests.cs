using System;
using System.Diagnostics;
using System.IO;
using System.Net.Sockets;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;
using Xunit;

namespace Hurray.Tests;

/// <summary>Both ends of a channel in one process: lifetimes, threads, limits.</summary>
public class ChannelTests : LeakChecked
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    [Fact]
    public void Times_are_time_spans_and_a_receive_can_be_cancelled()
    {
        (TensorChannel one, TensorChannel other) = Pair();
        using (one)
        using (other)
        {
            Refused(HurrayStatus.TimedOut, () => one.Receive(TimeSpan.Zero));
            long began = Stopwatch.GetTimestamp();
            Refused(HurrayStatus.TimedOut, () => one.Receive(TimeSpan.FromMilliseconds(120)));
            Assert.InRange(Stopwatch.GetElapsedTime(began).TotalMilliseconds, 115, 60_000);
            Assert.Throws<ArgumentOutOfRangeException>(() => one.Receive(TimeSpan.FromSeconds(-2)));
            Assert.Throws<ArgumentOutOfRangeException>(() => new TensorChannelOptions { SendTimeout = TimeSpan.FromSeconds(-2) });
            using var cancelled = new CancellationTokenSource();
            Assert.ThrowsAny<OperationCanceledException>(() => one.Receive(new CancellationToken(true)));
            cancelled.CancelAfter(100);
            Assert.ThrowsAny<OperationCanceledException>(() => one.Receive(cancelled.Token));
            // It goes on, and the time that has no end in milliseconds is no end.
            using Tensor sent = Tensor.FromArray(new[] { 5 });
            other.Send(sent);
            using Tensor received = one.Receive(TimeSpan.MaxValue)!;
            Assert.Equal([1], received.Shape.ToArray());
        }
    }

    [Fact]
    public async Task Closing_a_channel_ends_a_receive_that_waits_on_another_thread()
    {
        (TensorChannel one, TensorChannel other) = Pair();
        using (other)
        {
            Task waiting = Task.Run(() => ReceiveAgain(one));
            // However long its thread takes to start.
            Assert.True(SpinWait.SpinUntil(() => IsBusy(one), Patience));
            Assert.Throws<InvalidOperationException>(one.Process);
            Assert.Throws<InvalidOperationException>(() => one.Info);
            one.Dispose();
            one.Dispose();
            await Assert.ThrowsAsync<ObjectDisposedException>(() => waiting.WaitAsync(Patience));
            Assert.Null(other.Receive(Patience));
        }

        Assert.Throws<ObjectDisposedException>(() => one.Receive(TimeSpan.Zero));
        Assert.Throws<ObjectDisposedException>(one.Process);
        Assert.Throws<ObjectDisposedException>(one.Finish);
        Assert.Throws<ObjectDisposedException>(() => one.Info);
        Assert.Throws<ObjectDisposedException>(() => one.FileDescriptor);
        using Tensor tensor = Tensor.FromArray(new[] { 5 });
        Assert.Throws<ObjectDisposedException>(() => one.Send(tensor));
    }

    // A call that came while the other thread looked is refused, and made again.
    private static void ReceiveAgain(TensorChannel channel)
    {
        while (true)
        {
            try
            {
                channel.Receive();
                return;
            }
            catch (InvalidOperationException e) when (e is not ObjectDisposedException)
            {
            }
        }
    }

    private static bool IsBusy(TensorChannel channel)
    {
        try
        {
            _ = channel.Info;
            return false;
        }
        catch (InvalidOperationException e) when (e is not ObjectDisposedException)
        {
            return true;
        }
    }

    [Fact]
    public async Task Listener_accepts_is_cancelled_and_is_closed_under_an_accept()
    {
        string path = SocketPair.NewPath();
        Refused(HurrayStatus.TimedOut, () => TensorChannel.Connect(path, TimeSpan.FromMilliseconds(60)));
        Assert.ThrowsAny<OperationCanceledException>(
            () => TensorChannel.Connect(path, Patience, null, new CancellationTokenSource(100).Token));
        TensorChannelListener listener = TensorChannelListener.Listen(path);
        Refused(HurrayStatus.TimedOut, () => listener.Accept(TimeSpan.FromMilliseconds(60)));
        Assert.ThrowsAny<OperationCanceledException>(() => listener.Accept(new CancellationTokenSource(100).Token));
        using (TensorChannel connected = TensorChannel.Connect(path, Patience))
        using (TensorChannel accepted = listener.Accept(Patience))
        {
            Assert.Equal(Environment.ProcessId, accepted.Info.PeerProcess);
            using Tensor sent = Tensor.FromArray(new[] { 5 });
            connected.Send(sent);
            connected.Finish();
            foreach (Tensor tensor in accepted.ReceiveAll())
            {
                tensor.Dispose();
            }
        }

        // Not before: whoever asks whether somebody listens connects, and is accepted as a peer that is gone at once.
        Refused(HurrayStatus.Io, () => TensorChannelListener.Listen(path));
        listener.Accept(Patience).Dispose();
        Task waiting = Task.Run(() => listener.Accept());
        await Task.Delay(100);
        listener.Dispose();
        listener.Dispose();
        await Assert.ThrowsAsync<ObjectDisposedException>(() => waiting.WaitAsync(Patience));
        Assert.Throws<ObjectDisposedException>(() => listener.Accept(TimeSpan.Zero));
        Assert.False(File.Exists(path));
        Refused(HurrayStatus.InvalidArgument, () => TensorChannelListener.Listen(new string('x', 200)));
        Refused(HurrayStatus.InvalidArgument, () => TensorChannelListener.Listen("a\0b"));
        Refused(HurrayStatus.InvalidArgument, () => TensorChannel.Connect("a\0b", TimeSpan.Zero));
    }

    [Fact]
    public void Memory_is_read_only_once_it_was_sent_and_copied_while_others_may_write_it()
    {
        (TensorChannel one, TensorChannel other) = Pair();
        using (one)
        using (other)
        using (Tensor tensor = Tensor.AllocateShared(ElementType.Int32, [4]))
        {
            Assert.False(tensor.IsReadOnly);
            using (TensorView<int> open = tensor.Pin<int>())
            {
                open[0] = 1;
                // A span is about to be written through: it is copied.
                one.Send(tensor);
                Assert.Equal((16UL, 0UL), (one.Info.CopiedBytes, one.Info.PassedBytes));
                open[0] = 2;
            }

            using (Tensor share = tensor.Share())
            {
                one.Send(tensor);
                Assert.Equal(32UL, one.Info.CopiedBytes);
                using TensorView<int> view = share.Pin<int>();
                view[0] = 3;
            }

            one.Send(tensor);
            Assert.Equal((32UL, 16UL), (one.Info.CopiedBytes, one.Info.PassedBytes));
            Assert.True(tensor.IsReadOnly);
            using (TensorView<int> view = tensor.Pin<int>())
            using (TensorBuffer buffer = tensor.ShareBuffer(0))
            {
                Assert.Equal(3, view[0]);
                Refused(HurrayStatus.Unsupported, () => view[0] = 4);
                Refused(HurrayStatus.Unsupported, () => view.Span.Clear());
                Assert.True(buffer.IsSealed);
                Assert.True(buffer.IsReadOnly);
            }

            // Views that only read are in nobody's way.
            using (TensorView<int> reading = tensor.Pin<int>())
            {
                one.Send(tensor);
            }

            Assert.Equal((32UL, 32UL), (one.Info.CopiedBytes, one.Info.PassedBytes));
            for (int first = 1; first <= 3; ++first)
            {
                using Tensor received = other.Receive(Patience)!;
                using TensorView<int> view = received.Pin<int>();
                Assert.Equal(first, view[0]);
                Refused(HurrayStatus.Unsupported, () => view[0] = 4);
            }
        }
    }

    [Fact]
    public void Tensors_of_every_shape_pass()
    {
        (TensorChannel one, TensorChannel other) = Pair();
        using (one)
        using (other)
        {
            Send(one, Tensor.FromMemory<float>(new[] { 2.5F }, []));
            Send(one, Tensor.FromMemory(Memory<long>.Empty, [0, 3]));
            Send(one, Tensor.AllocateShared(ElementType.Int8, [0]));
            Send(one, Tensor.FromMemory<int>(new[] { 1, 2, 3 }, [3], new DenseOptions { Strides = [-1], ByteOffset = 8 }));
            Send(one, Tensor.FromMemory<int>(new[] { 7 }, [3], new DenseOptions { Strides = [0] }));
            Send(one, Tensor.FromBooleans([true, false, true], [3]));
            one.Finish();
            using (Tensor scalar = other.Receive(Patience)!)
            using (TensorView<float> view = scalar.Pin<float>())
            {
                Assert.Equal(0, scalar.Rank);
                Assert.Equal(2.5F, view[0]);
            }

            using (Tensor empty = other.Receive(Patience)!)
            {
                Assert.Equal([0, 3], empty.Shape.ToArray());
            }

            other.Receive(Patience)!.Dispose();
            foreach (int[] expected in new int[][] { [3, 2, 1], [7, 7, 7] })
            {
                using Tensor strided = other.Receive(Patience)!;
                using StridedView<int> view = strided.PinStrided<int>();
                Assert.Equal(expected, view.ToArray());
            }

            using (Tensor bits = other.Receive(Patience)!)
            using (PackedView view = bits.PinPacked())
            {
                Assert.Equal([true, false, true], view.ToBooleans());
            }

            Assert.Null(other.Receive(Patience));
            Assert.Null(other.Receive(Patience));
        }
    }

    [Fact]
    public void Limits_refuse_one_tensor_and_the_channel_goes_on()
    {
        (TensorChannel one, TensorChannel other) = Pair(
            new TensorChannelOptions { MaxOutstanding = 1, SendTimeout = TimeSpan.FromMilliseconds(50) },
            new TensorChannelOptions { MaxTensorBytes = 8, SealedOnly = true });
        using (one)
        using (other)
        {
            Send(one, Tensor.FromArray(new[] { 1, 2, 3 }));
            Refused(HurrayStatus.LimitExceeded, () => other.Receive(Patience));
            Send(one, Tensor.FromArray(new[] { 1, 2 }));
            // One is out, and stays out until its last share ends here.
            using (Tensor tensor = Tensor.FromArray(new[] { 3 }))
            {
                Refused(HurrayStatus.LimitExceeded, () => one.Send(tensor));
                other.Receive(Patience)!.Dispose();
                one.Send(tensor);
            }

            other.Receive(Patience)!.Dispose();
            Refused(HurrayStatus.InvalidArgument, () => Finished(one));
        }

        void Finished(TensorChannel channel)
        {
            channel.Finish();
            Send(channel, Tensor.FromArray(new[] { 1 }));
        }
    }

    [Fact]
    public void What_is_no_such_socket_is_a_typed_error_and_a_peer_that_lies_ends_the_channel()
    {
        Refused(HurrayStatus.InvalidArgument, () => TensorChannel.FromFileDescriptor(-1));
        Refused(HurrayStatus.InvalidArgument, () => TensorChannel.FromFileDescriptor(1_000_000));
        Assert.Throws<ArgumentNullException>(() => TensorChannel.FromHandle(null!));
        (int a, int b) = SocketPair.MakeStreams();
        Refused(HurrayStatus.InvalidArgument, () => TensorChannel.FromFileDescriptor(a));
        SocketPair.Close(a);
        SocketPair.Close(b);
        (int ours, int theirs) = SocketPair.Make();
        using var raw = new Socket(new SafeSocketHandle(theirs, ownsHandle: true));
        using var mine = new Socket(new SafeSocketHandle(ours, ownsHandle: true));
        using TensorChannel channel = TensorChannel.FromHandle(mine.SafeHandle);
        raw.Send("HRCH is how it begins, and it goes on in another way"u8);
        HurrayException lie = Assert.Throws<HurrayException>(() => channel.Receive(Patience));
        Assert.NotEqual(HurrayStatus.TimedOut, lie.Code);
        Refused(lie.Code, () => channel.Receive(Patience));
        Refused(lie.Code, channel.Process);
    }

    [Fact]
    public void Releases_run_where_the_channel_is_used_and_what_is_not_closed_the_collector_ends()
    {
        (TensorChannel one, TensorChannel other) = Pair();
        int thread = 0;
        using (Tensor sent = Tensor.FromMemory<int>(
            new int[16], [16], new DenseOptions { Released = () => thread = Environment.CurrentManagedThreadId }))
        {
            one.Send(sent);
        }

        // It was copied: its owner has it back at once.
        Assert.Equal(Environment.CurrentManagedThreadId, thread);
        Lose(one, other);
        Collect();
        Assert.Equal(0UL, HurrayRuntime.LiveHandles(HandleKind.Channel).Handles - Open(one, other));
        one.Dispose();
        other.Dispose();
        LosePair();
        Collect();
        Assert.Equal(0UL, HurrayRuntime.LiveHandles(HandleKind.Channel).Handles);
    }

    private static ulong Open(params TensorChannel[] channels)
    {
        foreach (TensorChannel channel in channels)
        {
            channel.Process();
            Assert.Equal(0UL, channel.Info.Outstanding);
            Assert.Equal(0UL, channel.Info.Held);
        }

        return (ulong)channels.Length;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Lose(TensorChannel one, TensorChannel other)
    {
        Assert.Equal(1UL, one.Info.Outstanding);
        _ = other.Receive(Patience);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void LosePair()
    {
        (TensorChannel one, _) = Pair();
        Send(one, Tensor.FromArray(new[] { 1 }));
    }

    private static void Send(TensorChannel channel, Tensor tensor)
    {
        using (tensor)
        {
            channel.Send(tensor);
        }
    }

    private static (TensorChannel One, TensorChannel Other) Pair(
        TensorChannelOptions? first = null, TensorChannelOptions? second = null)
    {
        (int one, int other) = SocketPair.Make();
        return (Channel(one, first), Channel(other, second));
    }

    private static TensorChannel Channel(int fd, TensorChannelOptions? options) =>
        TensorChannel.FromFileDescriptor(fd, (options ?? new TensorChannelOptions()) with { CloseFileDescriptor = true });
}
