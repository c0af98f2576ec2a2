using System;
using System.Buffers.Binary;
using System.Collections.Generic;
using System.IO;
using System.IO.Pipes;
using System.Linq;
using System.Threading.Tasks;
using Xunit;

namespace Hurray.Tests;

public class StreamTests : LeakChecked
{
    [Fact]
    public void Tensors_pass_through_memory()
    {
        byte[] stream = SampleStream();
        using TensorStreamReader reader = TensorStreamReader.FromMemory(stream);
        using Tensor first = reader.Read()!;
        using (TensorView<int> view = first.Pin<int>())
        {
            Assert.Equal([1, 2, 3, 4, 5, 6], view.ReadOnlySpan.ToArray());
        }

        using Tensor second = reader.Read()!;
        Assert.Equal(Layout.ColMajor, second.Layout);
        using (StridedView<double> view = second.PinStrided<double>())
        {
            Assert.Equal([1, 3, 2, 4], view.ToArray());
        }

        using Tensor bits = reader.Read()!;
        using (PackedView view = bits.PinPacked())
        {
            Assert.Equal([true, false, true], view.ToBooleans());
        }

        using Tensor scalar = reader.Read()!;
        Assert.Equal(0, scalar.Rank);
        using Tensor empty = reader.Read()!;
        Assert.Equal([0, 3], empty.Shape.ToArray());
        using Tensor negative = reader.Read()!;
        using (StridedView<int> view = negative.PinStrided<int>())
        {
            Assert.Equal([3, 2, 1], view.ToArray());
        }

        Assert.Null(reader.Read());
        Assert.Null(reader.Read());
    }

    [Fact]
    public async Task Tensors_pass_through_a_pipe()
    {
        using var server = new AnonymousPipeServerStream(PipeDirection.Out);
        using var client = new AnonymousPipeClientStream(PipeDirection.In, server.ClientSafePipeHandle);
        const int Count = 100_000;
        Task<int> reading = Task.Run(() =>
        {
            using TensorStreamReader reader = TensorStreamReader.FromHandle(client.SafePipeHandle);
            int tensors = 0;
            foreach (Tensor tensor in reader.ReadAll())
            {
                using (tensor)
                using (TensorView<int> view = tensor.Pin<int>())
                {
                    Assert.Equal(Count - 1 + tensors, view[Count - 1]);
                    ++tensors;
                }
            }

            return tensors;
        });
        using (TensorStreamWriter writer = TensorStreamWriter.ToHandle(server.SafePipeHandle))
        {
            for (int i = 0; i < 3; ++i)
            {
                using Tensor tensor = Tensor.FromArray(Enumerable.Range(i, Count).ToArray());
                writer.Write(tensor);
            }
        }

        server.Dispose();
        Assert.Equal(3, await reading);
    }

    [Fact]
    public void Tensors_pass_through_a_file_that_outlives_its_dotnet_object()
    {
        string path = Path.GetTempFileName();
        using (FileStream file = File.OpenWrite(path))
        using (TensorStreamWriter writer = TensorStreamWriter.ToHandle(file.SafeFileHandle))
        {
            using Tensor tensor = Tensor.FromArray(new[] { 7 });
            writer.Write(tensor);
            // The writer holds the handle: closing the file first does not pull it away.
            file.Dispose();
            writer.Write(tensor);
        }

        FileStream input = File.OpenRead(path);
        using (TensorStreamReader reader = TensorStreamReader.FromHandle(input.SafeFileHandle))
        {
            input.Dispose();
            List<Tensor> all = reader.ReadAll().ToList();
            Assert.Equal(2, all.Count);
            all.ForEach(tensor => tensor.Dispose());
        }

        File.Delete(path);
    }

    [Fact]
    public void Writing_where_nobody_reads_is_an_error_and_no_signal()
    {
        var server = new AnonymousPipeServerStream(PipeDirection.Out);
        server.DisposeLocalCopyOfClientHandle();
        using (server)
        using (TensorStreamWriter writer = TensorStreamWriter.ToHandle(server.SafePipeHandle))
        {
            using Tensor tensor = Tensor.Allocate(ElementType.UInt8, [1 << 20]);
            Refused(HurrayStatus.Io, () => writer.Write(tensor));
        }
    }

    [Fact]
    public void Cut_streams_are_typed_errors_at_every_byte()
    {
        byte[] stream = SampleStream();
        int[] ends = TensorEnds(stream);
        for (int length = 0; length < stream.Length; ++length)
        {
            using TensorStreamReader reader = TensorStreamReader.FromMemory(stream.AsMemory(0, length));
            int whole = ends.Count(end => end <= length);
            for (int i = 0; i < whole; ++i)
            {
                using Tensor? tensor = reader.Read();
                Assert.NotNull(tensor);
            }

            if (length == 0 || ends.Contains(length))
            {
                Assert.Null(reader.Read());
                continue;
            }

            HurrayException e = Assert.ThrowsAny<HurrayException>(() => reader.Read());
            Assert.True(e.Code is HurrayStatus.InvalidFormat or HurrayStatus.InvalidLayout, $"{length}: {e.Code}: {e.Message}");
            Assert.NotNull(e.ByteOffset);
        }
    }

    [Fact]
    public void Limits_hold_before_memory_is_taken()
    {
        byte[] stream = SampleStream();
        using (TensorStreamReader reader = TensorStreamReader.FromMemory(stream, new TensorStreamOptions { MaxTensorBytes = 20 }))
        {
            Refused(HurrayStatus.LimitExceeded, () => reader.Read());
        }

        using (TensorStreamReader reader = TensorStreamReader.FromMemory(stream, new TensorStreamOptions { MaxDescriptorLength = 30 }))
        {
            Refused(HurrayStatus.LimitExceeded, () => reader.Read());
        }

        // A descriptor that announces more than there will ever be.
        byte[] absurd = new DescriptorBuilder(ElementType.UInt8, Layout.RowMajor, [1UL << 60]).AddBuffer(new BufferEntry(1UL << 60)).Build().Encode();
        using (TensorStreamReader reader = TensorStreamReader.FromMemory(absurd))
        {
            HurrayException e = Assert.ThrowsAny<HurrayException>(() => reader.Read());
            Assert.True(e.Code is HurrayStatus.InvalidFormat or HurrayStatus.OutOfMemory, $"{e.Code}: {e.Message}");
        }

        byte[] header = [.. absurd];
        BinaryPrimitives.WriteUInt32LittleEndian(header.AsSpan(6), uint.MaxValue);
        using (TensorStreamReader reader = TensorStreamReader.FromMemory(header))
        {
            Refused(HurrayStatus.LimitExceeded, () => reader.Read());
        }
    }

    [Fact]
    public void Wrong_arguments_are_typed_errors()
    {
        Refused(HurrayStatus.InvalidArgument, () => TensorStreamReader.FromFileDescriptor(-1));
        Refused(HurrayStatus.InvalidArgument, () => TensorStreamWriter.ToFileDescriptor(-1));
        Assert.Throws<ArgumentNullException>(() => TensorStreamReader.FromHandle(null!));
        using TensorStreamReader reader = TensorStreamReader.FromFileDescriptor(1_000_000);
        Refused(HurrayStatus.Io, () => reader.Read());
        string path = Path.GetTempFileName();
        using (FileStream file = File.OpenWrite(path))
        using (TensorStreamWriter writer = TensorStreamWriter.ToHandle(file.SafeFileHandle))
        {
            Refused(HurrayStatus.InvalidArgument, () => writer.Take());
        }

        File.Delete(path);
    }

    [Fact]
    public void File_descriptor_is_closed_when_asked()
    {
        string path = Path.GetTempFileName();
        FileStream file = File.OpenWrite(path);
        int fd = checked((int)file.SafeFileHandle.DangerousGetHandle());
        file.SafeFileHandle.SetHandleAsInvalid();
        using (TensorStreamWriter writer =
            TensorStreamWriter.ToFileDescriptor(fd, new TensorStreamOptions { CloseFileDescriptor = true }))
        {
            using Tensor tensor = Tensor.FromArray(new[] { 7 });
            writer.Write(tensor);
        }

        Assert.False(Directory.Exists($"/proc/self/fd/{fd}") || File.Exists($"/proc/self/fd/{fd}"));
        Assert.True(new FileInfo(path).Length > 4);
        File.Delete(path);
    }

    private static byte[] SampleStream()
    {
        using TensorStreamWriter writer = TensorStreamWriter.ToMemory();
        Tensor[] tensors =
        [
            Tensor.FromArray([1, 2, 3, 4, 5, 6], 2, 3),
            Tensor.FromMemory<double>(new double[] { 1, 2, 3, 4 }, [2, 2], new DenseOptions { Layout = Layout.ColMajor }),
            Tensor.FromBooleans([true, false, true], [3]),
            Tensor.FromMemory<float>(new[] { 2.5F }, []),
            Tensor.FromMemory(Memory<long>.Empty, [0, 3]),
            Tensor.FromMemory<int>(new[] { 1, 2, 3 }, [3], new DenseOptions { Strides = [-1], ByteOffset = 8 }),
        ];
        foreach (Tensor tensor in tensors)
        {
            writer.Write(tensor);
            tensor.Dispose();
        }

        using TensorBuffer bytes = writer.Take();
        using TensorView<byte> view = bytes.Pin();
        return view.ReadOnlySpan.ToArray();
    }

    private static int[] TensorEnds(byte[] stream)
    {
        var ends = new List<int>();
        int at = 0;
        while (at < stream.Length)
        {
            Descriptor descriptor = Descriptor.Decode(stream.AsSpan(at));
            at += descriptor.Encoded.Length + (int)descriptor.Buffers.Sum(entry => (long)entry.ByteSize);
            ends.Add(at);
        }

        return [.. ends];
    }
}
