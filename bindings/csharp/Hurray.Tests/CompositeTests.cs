using System;
using System.Collections.Generic;
using System.IO;
using System.IO.Pipes;
using System.Numerics;
using System.Threading.Tasks;
using Xunit;

namespace Hurray.Tests;

public class CompositeTests : LeakChecked
{
    [Fact]
    public void Partition_reads_as_one_tensor()
    {
        using Composite composite = Elements.Partition([1, 2], [3]);
        Assert.Equal((2, 3UL, 1, CompositionRule.Partition, CombineOp.None, true),
            (composite.MemberCount, composite.DescriptorCount, composite.Depth, composite.Rule, composite.CombineOp, composite.HasElements));
        Assert.Equal([3UL], composite.Head.Shape.ToArray());
        Assert.Equal((0, 1), (composite.FindMember(1), composite.FindMember(2)));
        Assert.Equal(3, composite.ReadDouble(2));
        Assert.Equal(new Complex(3, 0), composite.ReadComplex(2));
        Assert.Equal(BitConverter.SingleToUInt32Bits(3), (uint)composite.ReadBits(2));
        using Tensor merged = composite.Merge();
        using TensorView<float> view = merged.Pin<float>();
        Assert.Equal([1, 2, 3], view.ReadOnlySpan.ToArray());
        Refused(HurrayStatus.IndexOutOfBounds, () => composite.ReadDouble(3));
        Refused(HurrayStatus.IndexOutOfBounds, () => composite.GetMember(2));
        Refused(HurrayStatus.IndexOutOfBounds, () => composite.GetMember(-1));
    }

    [Fact]
    public void Overlay_adds_its_corrections()
    {
        using Tensor basis = Elements.Floats([1, 2, 3], [3], builder => builder.SetShard([3], [0]).SetMemberRole(MemberRole.Base));
        using Tensor correction = Elements.Floats([10, 0, 30], [3], builder => builder.SetShard([3], [0]).SetMemberRole(MemberRole.Correction));
        using Composite overlay = Composite.FromMembers(
            Elements.Head([3], CompositionRule.Overlay, 2, CombineOp.Add), basis, correction);
        Assert.Equal(33, overlay.ReadDouble(2));
        using Tensor merged = overlay.Merge();
        using TensorView<float> view = merged.Pin<float>();
        Assert.Equal([11, 2, 33], view.ReadOnlySpan.ToArray());
    }

    [Fact]
    public void Members_live_on_and_composites_nest()
    {
        TensorItem member;
        using (Composite inner = Elements.Partition([1], [2, 3]))
        using (Composite outer = Composite.FromMembers(Elements.Head([3], CompositionRule.Group, 1), inner))
        {
            Assert.Equal((2, 4UL, false), (outer.Depth, outer.DescriptorCount, outer.HasElements));
            Refused(HurrayStatus.Unsupported, () => outer.Merge());
            member = outer.GetMember(0);
        }

        Assert.Null(member.Tensor);
        using (member)
        using (TensorItem shard = member.Composite!.GetMember(1))
        using (TensorView<float> view = shard.Tensor!.Pin<float>())
        {
            Assert.Null(shard.Composite);
            Assert.Equal([2, 3], view.ReadOnlySpan.ToArray());
        }
    }

    [Fact]
    public void Members_that_do_not_fit_are_refused()
    {
        using Tensor tensor = Tensor.FromArray(new float[] { 1, 2 });
        Refused(HurrayStatus.InvalidComposite, () => Composite.FromMembers(Elements.Head([3], CompositionRule.Partition, 1), tensor));
        Refused(HurrayStatus.InvalidComposite, () => Composite.FromMembers(Elements.Head([2], CompositionRule.Group, 2), tensor));
        Refused(HurrayStatus.InvalidArgument, () => Composite.FromMembers(tensor.Descriptor, tensor));
        Refused(HurrayStatus.InvalidArgument, () => Composite.FromMembers(Elements.Head([2], CompositionRule.Group, 1), default(TensorItem)));
    }

    [Fact]
    public void Composites_pass_through_streams_and_files()
    {
        using Composite composite = Elements.Partition([1, 2], [3]);
        using Tensor alone = Tensor.FromArray(new[] { 7 });
        using (TensorStreamWriter writer = TensorStreamWriter.ToMemory())
        {
            writer.Write(composite);
            writer.Write(alone);
            using TensorBuffer bytes = writer.Take();
            using TensorView<byte> view = bytes.Pin();
            using TensorStreamReader reader = TensorStreamReader.FromMemory(view.ReadOnlySpan.ToArray());
            using TensorItem first = reader.ReadItem()!.Value;
            Assert.Equal(3, first.Composite!.ReadDouble(2));
            using TensorItem second = reader.ReadItem()!.Value;
            Assert.Equal(7, second.Tensor!.ReadDouble(0));
            Assert.Null(reader.ReadItem());
        }

        using var image = new MemoryStream();
        Write(TensorFileWriter.ToStream(image, new TensorFileWriterOptions(FileFormat.Hrry)), composite, alone);
        using TensorFile file = TensorFile.FromMemory(image.ToArray());
        using Composite read = file.GetComposite("whole");
        Assert.Equal(2, read.ReadDouble(1));
        Refused(HurrayStatus.InvalidArgument, () => file.GetComposite("alone"));
        Refused(HurrayStatus.NotFound, () => file.GetComposite("nothing"));
    }

    [Fact]
    public void Only_hrry_holds_composites()
    {
        using Composite composite = Elements.Partition([1, 2], [3]);
        using TensorFileWriter writer = TensorFileWriter.ToStream(Stream.Null, new TensorFileWriterOptions(FileFormat.Gguf));
        Refused(HurrayStatus.Unsupported, () => writer.Add("whole", composite));
    }

    [Fact]
    public async Task Hrry_file_is_written_to_a_pipe_and_read_from_it()
    {
        using var server = new AnonymousPipeServerStream(PipeDirection.Out);
        using var client = new AnonymousPipeClientStream(PipeDirection.In, server.ClientSafePipeHandle);
        Task writing = Task.Run(() =>
        {
            using Composite composite = Elements.Partition([1, 2], [3]);
            using Tensor alone = Tensor.FromArray(new[] { 7 });
            Write(TensorFileWriter.ToHandle(server.SafePipeHandle, new TensorFileWriterOptions(FileFormat.Hrry)), composite, alone);
            server.Dispose();
        });
        using TensorStreamReader reader = TensorStreamReader.FromHandle(client.SafePipeHandle, new TensorStreamOptions { HrryFile = true });
        using (TensorItem first = reader.ReadItem()!.Value)
        {
            Assert.Equal(3, first.Composite!.ReadDouble(2));
        }

        Refused(HurrayStatus.InvalidArgument, () => reader.GetName(0));
        using (TensorItem second = reader.ReadItem()!.Value)
        {
            Assert.Equal(7, second.Tensor!.ReadDouble(0));
        }

        using (TensorItem third = reader.ReadItem()!.Value)
        {
            Assert.Equal(0, third.Tensor!.Rank);
        }

        Assert.Null(reader.ReadItem());
        var names = new List<string>();
        for (ulong i = 0; i < 5; ++i)
        {
            names.Add(reader.GetName(i));
        }

        Assert.Equal(["whole", "whole/0", "whole/1", "alone", "s\0é"], names);
        Refused(HurrayStatus.IndexOutOfBounds, () => reader.GetName(5));
        await writing;
    }

    [Fact]
    public void What_is_no_hrry_file_has_no_names()
    {
        using TensorStreamReader reader = TensorStreamReader.FromMemory(ReadOnlyMemory<byte>.Empty);
        Assert.Null(reader.ReadItem());
        Refused(HurrayStatus.InvalidArgument, () => reader.GetName(0));
    }

    [Fact]
    public void Closed_composites_refuse_all_use()
    {
        Composite composite = Elements.Partition([1], [2]);
        composite.Dispose();
        composite.Dispose();
        using TensorStreamWriter writer = TensorStreamWriter.ToMemory();
        Action[] uses =
        [
            () => _ = composite.MemberCount, () => _ = composite.Head, () => composite.GetMember(0), () => composite.Merge(),
            () => composite.FindMember(0), () => composite.ReadDouble(0), () => composite.ReadComplex(0), () => composite.ReadBits(0),
            () => writer.Write(composite), () => Composite.FromMembers(Elements.Head([2], CompositionRule.Group, 1), composite),
        ];
        Assert.All(uses, use => Assert.Throws<ObjectDisposedException>(use));
    }

    private static void Write(TensorFileWriter opened, Composite composite, Tensor alone)
    {
        using TensorFileWriter writer = opened;
        using Tensor scalar = Tensor.FromMemory<double>(new[] { 0.5 }, []);
        writer.Add("whole", composite);
        writer.Add("alone", alone);
        writer.Add("s\0é", scalar.Descriptor, () => scalar.Share());
        writer.Finish();
    }
}
