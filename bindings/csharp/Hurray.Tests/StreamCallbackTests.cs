using System;
using System.IO;
using System.IO.Compression;
using System.Linq;
using System.Runtime.CompilerServices;
using Xunit;

namespace Hurray.Tests;

/// <summary>Streams of tensors over streams of .NET, and data before the tensor is complete.</summary>
public class StreamCallbackTests : LeakChecked
{
    [Fact]
    public void Tensors_pass_through_a_stream_of_dotnet()
    {
        var compressed = new MemoryStream();
        using (var zip = new GZipStream(compressed, CompressionLevel.Fastest, leaveOpen: true))
        using (TensorStreamWriter writer = TensorStreamWriter.ToStream(zip))
        {
            for (int i = 0; i < 3; ++i)
            {
                using Tensor tensor = Tensor.FromArray(Enumerable.Range(i, 50_000).ToArray());
                writer.Write(tensor);
            }

            GC.Collect();
        }

        compressed.Position = 0;
        using var unzip = new GZipStream(compressed, CompressionMode.Decompress);
        using TensorStreamReader reader = TensorStreamReader.FromStream(unzip);
        int tensors = 0;
        foreach (Tensor tensor in reader.ReadAll())
        {
            using (tensor)
            using (TensorView<int> view = tensor.Pin<int>())
            {
                Assert.Equal(49_999 + tensors++, view[49_999]);
            }
        }

        Assert.Equal(3, tensors);
    }

    [Fact]
    public void Data_is_read_before_the_tensor_is_complete_and_passed_over()
    {
        byte[] bytes = Written([1, 2, 3], [4, 5], [6]);
        using var stream = new MemoryStream(bytes);
        using TensorStreamReader reader = TensorStreamReader.FromStream(stream);
        Refused(HurrayStatus.InvalidArgument, () => reader.ReadData(new byte[4]));
        Descriptor first = reader.Begin()!;
        Assert.Equal([3UL], first.Shape.ToArray());
        // Not a byte of its data was taken.
        Assert.Equal(first.Encoded.Length, stream.Position);
        var part = new byte[5];
        Assert.Equal(0, reader.ReadData([]));
        Assert.Equal(5, reader.ReadData(part));
        Assert.Equal([1, 0, 0, 0, 2], part);
        Refused(HurrayStatus.InvalidArgument, () => reader.Begin());
        Refused(HurrayStatus.InvalidArgument, () => reader.Read());
        reader.SkipData();
        Assert.Equal(0, reader.ReadData(part));
        Assert.NotNull(reader.Begin());
        reader.SkipData();
        using (Tensor last = reader.Read()!)
        using (TensorView<int> view = last.Pin<int>())
        {
            Assert.Equal(6, view[0]);
        }

        Assert.Null(reader.Begin());
        reader.Dispose();
        Assert.Throws<ObjectDisposedException>(() => reader.Begin());
        Assert.Throws<ObjectDisposedException>(() => reader.ReadData(part));
        Assert.Throws<ObjectDisposedException>(reader.SkipData);
    }

    [Fact]
    public void What_the_stream_throws_comes_out_as_the_cause_of_a_typed_error()
    {
        using (TensorStreamReader reader = TensorStreamReader.FromStream(new Broken()))
        {
            HurrayException e = Refused(HurrayStatus.Io, () => reader.Read());
            Assert.Equal("the disk is gone", Assert.IsType<IOException>(e.InnerException).Message);
        }

        using (TensorStreamWriter writer = TensorStreamWriter.ToStream(new Broken()))
        using (Tensor tensor = Tensor.FromArray(new[] { 1 }))
        {
            HurrayException e = Refused(HurrayStatus.Io, () => writer.Write(tensor));
            Assert.IsType<IOException>(e.InnerException);
        }

        // One that claims more than there was room for is found out.
        using (TensorStreamReader reader = TensorStreamReader.FromStream(new Boasting()))
        {
            Refused(HurrayStatus.InvalidArgument, () => reader.Read());
        }

        Assert.Throws<ArgumentNullException>(() => TensorStreamReader.FromStream(null!));
        Assert.Throws<ArgumentNullException>(() => TensorStreamWriter.ToStream(null!));
    }

    [Fact]
    public void Cut_streams_are_typed_errors_and_limits_hold()
    {
        byte[] bytes = Written([1, 2, 3]);
        using (TensorStreamReader reader = TensorStreamReader.FromStream(new MemoryStream(bytes, 0, bytes.Length - 1)))
        {
            Refused(HurrayStatus.InvalidFormat, () => reader.Read());
        }

        using (TensorStreamReader reader = TensorStreamReader.FromStream(new MemoryStream(bytes), new() { MaxAlignment = 32 }))
        {
            Refused(HurrayStatus.LimitExceeded, () => reader.Read());
        }

        using (TensorStreamReader reader = TensorStreamReader.FromStream(new MemoryStream(bytes), new() { MaxTensorBytes = 11 }))
        {
            Refused(HurrayStatus.LimitExceeded, () => reader.Begin());
        }
    }

    [Fact]
    public void Readers_that_nobody_closes_are_ended_with_their_callbacks()
    {
        Lose();
        Collect();
        Assert.Equal(0UL, HurrayRuntime.LiveHandles(HandleKind.Reader).Handles);
        Assert.Equal(0UL, HurrayRuntime.LiveHandles(HandleKind.Writer).Handles);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Lose()
    {
        _ = TensorStreamReader.FromStream(new MemoryStream(Written([1]))).Begin();
        _ = TensorStreamWriter.ToStream(new MemoryStream());
    }

    private static byte[] Written(params int[][] tensors)
    {
        using var stream = new MemoryStream();
        using TensorStreamWriter writer = TensorStreamWriter.ToStream(stream);
        foreach (int[] values in tensors)
        {
            using Tensor tensor = Tensor.FromArray(values);
            writer.Write(tensor);
        }

        return stream.ToArray();
    }

    private sealed class Broken : MemoryStream
    {
        public override int Read(Span<byte> buffer) => throw new IOException("the disk is gone");

        public override void Write(ReadOnlySpan<byte> buffer) => throw new IOException("the disk is gone");
    }

    private sealed class Boasting : MemoryStream
    {
        public override int Read(Span<byte> buffer) => buffer.Length + 1;
    }
}
