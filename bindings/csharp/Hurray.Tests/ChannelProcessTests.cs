using System;
using System.Diagnostics;
using System.IO;
using System.Linq;
using Xunit;

namespace Hurray.Tests;

/// <summary>Channels between two processes.</summary>
public class ChannelProcessTests : LeakChecked
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    [Fact]
    public void Shared_memory_and_files_pass_to_another_process_and_back_without_a_copy()
    {
        string path = Path.Combine(Path.GetTempPath(), $"hurray-{Guid.NewGuid():N}.safetensors");
        using (TensorFileWriter writer = TensorFileWriter.Create(path))
        using (Tensor weights = Tensor.FromArray(new[] { 1.5F, -2, 3 }))
        {
            writer.Add("weights", weights);
            writer.Finish();
        }

        using PeerProcess peer = PeerProcess.Inheriting("echo", out TensorChannel channel);
        using (channel)
        using (TensorFile file = TensorFile.Open(path))
        using (Tensor mapped = file.GetTensor("weights"))
        using (Tensor shared = Shared(1, 2, 3, 4, 5, 6))
        {
            channel.Send(shared);
            channel.Send(mapped);
            channel.Finish();
            Assert.Equal((0UL, 24UL + mapped.Descriptor.ByteOffset + 12), (channel.Info.CopiedBytes, channel.Info.PassedBytes));
            Assert.Equal($"Int32 6 {Sum(shared)} sealed True read-only True", peer.ReadLine());
            Assert.Equal($"Float32 3 {Sum(mapped)} sealed False read-only True", peer.ReadLine());
            using (Tensor back = channel.Receive(Patience)!)
            using (TensorView<int> view = back.Pin<int>())
            using (TensorBuffer buffer = back.ShareBuffer(0))
            {
                Assert.Equal([1, 2, 3, 4, 5, 6], view.ReadOnlySpan.ToArray());
                Assert.True(buffer.IsShared);
                Assert.True(buffer.IsSealed);
            }

            using (Tensor back = channel.Receive(Patience)!)
            using (TensorView<float> view = back.Pin<float>())
            {
                Assert.Equal([1.5F, -2, 3], view.ReadOnlySpan.ToArray());
            }

            Assert.Null(channel.Receive(Patience));
            Assert.StartsWith("copied 0, ", peer.ReadLine());
            Assert.Equal(0, peer.WaitForExit());
        }

        File.Delete(path);
    }

    [Fact]
    public void Other_memory_is_copied_once_and_counted()
    {
        using PeerProcess peer = PeerProcess.Inheriting("echo", out TensorChannel channel);
        using (channel)
        {
            using (Tensor array = Tensor.FromArray([1, 2, 3, 4], 2, 2))
            {
                channel.Send(array);
                Assert.Equal($"Int32 2x2 {Sum(array)} sealed True read-only True", peer.ReadLine());
                // The array is its owner's again at once.
                using TensorView<int> view = array.Pin<int>();
                view[0] = 9;
            }

            channel.Finish();
            using (Tensor back = channel.Receive(Patience)!)
            using (TensorView<int> view = back.Pin<int>())
            {
                Assert.Equal([1, 2, 3, 4], view.ReadOnlySpan.ToArray());
            }

            Assert.Null(channel.Receive(Patience));
            Assert.Equal(16UL, channel.Info.CopiedBytes);
            Assert.Equal("copied 0, passed 16", peer.ReadLine());
            Assert.Equal(0, peer.WaitForExit());
        }
    }

    [Fact]
    public void Release_travels_back_from_the_other_process()
    {
        using PeerProcess peer = PeerProcess.Inheriting("hold", out TensorChannel channel);
        using (channel)
        {
            using (Tensor sent = Shared(1, 2))
            {
                channel.Send(sent);
            }

            Assert.Equal("have", peer.ReadLine());
            channel.Process();
            Assert.Equal(1UL, channel.Info.Outstanding);
            Assert.NotEqual(0UL, HurrayRuntime.LiveHandles(HandleKind.Channel).Handles);
            peer.WriteLine();
            Assert.Equal("released", peer.ReadLine());
            Eventually(channel, () => channel.Info.Outstanding == 0);
            peer.WriteLine();
            Assert.Equal(0, peer.WaitForExit());
        }
    }

    [Fact]
    public void Death_of_the_peer_is_a_typed_error_and_gives_back_what_was_out()
    {
        using PeerProcess peer = PeerProcess.Inheriting("die", out TensorChannel channel);
        using (channel)
        {
            using (Tensor sent = Shared(1, 2))
            {
                channel.Send(sent);
            }

            Assert.Equal("1", peer.ReadLine());
            Assert.NotEqual(0, peer.WaitForExit());
            Refused(HurrayStatus.Disconnected, () => channel.Receive(Patience));
            Refused(HurrayStatus.Disconnected, channel.Process);
            Assert.Equal(0UL, channel.Info.Outstanding);
            Assert.True(channel.Info.Peer.HasFlag(ChannelPeerFlags.Gone));
            using Tensor more = Shared(3);
            Refused(HurrayStatus.Disconnected, () => channel.Send(more));
        }
    }

    [Fact]
    public void Received_tensors_outlive_the_channel_and_the_process_they_came_from()
    {
        string path = SocketPair.NewPath();
        Tensor received;
        using (TensorChannelListener listener = TensorChannelListener.Listen(path))
        using (PeerProcess peer = PeerProcess.Connecting("give", path))
        using (TensorChannel channel = listener.Accept(Patience))
        {
            Assert.Equal(SocketPair.User, channel.Info.PeerUser);
            received = channel.Receive(Patience)!;
            Assert.Equal(1UL, channel.Info.Held);
            Assert.Null(channel.Receive(Patience));
            peer.WriteLine();
            Assert.Equal(0, peer.WaitForExit());
        }

        Assert.False(File.Exists(path));
        using (received)
        using (TensorView<int> view = received.Pin<int>())
        {
            Assert.Equal([7, 8, 9], view.ReadOnlySpan.ToArray());
        }
    }

    private static Tensor Shared(params int[] values)
    {
        Tensor tensor = Tensor.AllocateShared(ElementType.Int32, [values.Length]);
        using TensorView<int> view = tensor.Pin<int>();
        values.CopyTo(view.Span);
        return tensor;
    }

    private static ulong Sum(Tensor tensor)
    {
        using TensorView<byte> view = tensor.Pin<byte>();
        return view.ReadOnlySpan.ToArray().Aggregate(0UL, (sum, b) => (sum * 31) + b);
    }

    private static void Eventually(TensorChannel channel, Func<bool> reached)
    {
        long began = Stopwatch.GetTimestamp();
        while (!reached())
        {
            Assert.True(Stopwatch.GetElapsedTime(began) < Patience, "nothing came");
            channel.Process();
            System.Threading.Thread.Sleep(1);
        }
    }
}
