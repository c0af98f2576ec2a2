using System;
using Xunit;

namespace Hurray.Tests;

public class ExchangeTests : LeakChecked
{
    [Fact]
    public void Pair_carries_the_tensor_and_shares_its_memory()
    {
        int released = 0;
        int[] array = [1, 2, 3, 4, 5, 6];
        Tensor tensor = Tensor.FromMemory<int>(array, [2, 3], new DenseOptions { Released = () => ++released });
        tensor.Export(out BufferList list, out TensorContext context);
        Assert.Equal(4U, context.AbiVersion);
        Assert.Equal(tensor.Descriptor.Encode(), context.ReadDescriptor());
        Assert.Equal(1UL, list.Count);
        tensor.Dispose();
        Tensor imported = Tensor.Import(list, context);
        Assert.Throws<ObjectDisposedException>(() => list.Count);
        Assert.Throws<ObjectDisposedException>(() => context.AbiVersion);
        // Closed for us: no second end of what has moved.
        list.Dispose();
        context.Dispose();
        using (TensorView<int> view = imported.Pin<int>())
        {
            array[4] = 50;
            Assert.Equal(array, view.ReadOnlySpan.ToArray());
        }

        Assert.Equal([2, 3], imported.Shape.ToArray());
        Assert.Equal(0, released);
        imported.Dispose();
        Assert.Equal(1, released);
    }

    [Fact]
    public void Bare_pointers_move_on_success_only()
    {
        using Tensor tensor = Tensor.FromArray(new double[] { 1, 2 });
        tensor.Export(out BufferList list, out TensorContext context);
        nint rawList = list.Detach();
        nint rawContext = context.Detach();
        Assert.Throws<ObjectDisposedException>(() => list.Detach());
        nint none = 0;
        Refused(HurrayStatus.NullPointer, () => Tensor.Import(ref rawList, ref none));
        Refused(HurrayStatus.NullPointer, () => Tensor.Import(ref none, ref rawContext));
        Assert.NotEqual(0, rawList);
        Assert.NotEqual(0, rawContext);
        using Tensor imported = Tensor.Import(ref rawList, ref rawContext);
        Assert.Equal(0, rawList);
        Assert.Equal(0, rawContext);
        Refused(HurrayStatus.NullPointer, () => Tensor.Import(ref rawList, ref rawContext));
        Refused(HurrayStatus.NullPointer, () => BufferList.Adopt(0));
        Refused(HurrayStatus.NullPointer, () => TensorContext.Adopt(0));
        Refused(HurrayStatus.NullPointer, () => TensorBuffer.Adopt(0));
    }

    [Theory]
    [InlineData(3U)]
    [InlineData(5U)]
    [InlineData(uint.MaxValue)]
    public void Context_of_another_version_is_refused_before_anything_else(uint version)
    {
        int released = 0;
        using Tensor tensor = Tensor.FromArray(new[] { 1 });
        tensor.Export(out BufferList list, out TensorContext own);
        own.Dispose();
        using (list)
        {
            // Not even a descriptor: the version is what is refused.
            using (var context = new TensorContext([0xDE, 0xAD], null, () => ++released, version))
            {
                HurrayException e = Refused(HurrayStatus.VersionMismatch, () => Tensor.Import(list, context));
                Assert.Contains($"{version}", e.Message);
                Assert.Contains("4", e.Message);
                Refused(HurrayStatus.VersionMismatch, () => context.ReadDescriptor());
                Assert.Equal(version, context.AbiVersion);
                Assert.Equal(0, released);
                Assert.Equal(1UL, list.Count);
            }

            Assert.Equal(1, released);
        }
    }

    [Fact]
    public void Context_of_version_zero_is_refused_and_its_release_does_not_run()
    {
        int released = 0;
        Refused(HurrayStatus.VersionMismatch, () => new TensorContext([1], null, () => ++released, 0));
        Assert.Equal(0, released);
    }

    [Fact]
    public void What_does_not_belong_together_stays_with_its_owner()
    {
        using Tensor small = Tensor.FromArray(new byte[1]);
        using Tensor large = Tensor.Allocate(ElementType.Float64, [1000]);
        small.Export(out BufferList smallList, out TensorContext smallContext);
        large.Export(out BufferList largeList, out TensorContext largeContext);
        using (smallList)
        using (smallContext)
        using (largeList)
        using (largeContext)
        {
            Refused(HurrayStatus.BufferTooSmall, () => Tensor.Import(smallList, largeContext));
            using (var none = new BufferList())
            {
                Refused(HurrayStatus.InvalidLayout, () => Tensor.Import(none, largeContext));
                Assert.Equal(0UL, none.Count);
            }

            using (var empty = new TensorContext([]))
            {
                Assert.Empty(empty.ReadDescriptor());
                HurrayException e = Refused(HurrayStatus.InvalidLayout, () => Tensor.Import(largeList, empty));
                Assert.Equal(0UL, e.ByteOffset);
            }

            using (var garbage = new TensorContext("no descriptor at all"u8))
            {
                Refused(HurrayStatus.InvalidMagic, () => Tensor.Import(largeList, garbage));
            }

            using Tensor imported = Tensor.Import(largeList, largeContext);
            Assert.Equal(1000UL, imported.ElementCount);
        }
    }

    [Fact]
    public void Owner_of_the_context_is_released_with_the_last_use_of_the_memory()
    {
        int released = 0;
        Descriptor descriptor = new DescriptorBuilder(ElementType.UInt8, Layout.RowMajor, [64]).AddBuffer(new BufferEntry(64)).Build();
        var list = new BufferList();
        list.Push(TensorBuffer.Allocate(64));
        var owner = new object();
        var context = new TensorContext(descriptor.Encoded, owner, () => ++released);
        Tensor tensor = Tensor.Import(list, context);
        TensorBuffer buffer = tensor.ShareBuffer(0);
        tensor.Export(out BufferList again, out TensorContext contextAgain);
        tensor.Dispose();
        contextAgain.Dispose();
        Assert.Equal(0, released);
        again.Dispose();
        Assert.Equal(0, released);
        buffer.Dispose();
        Assert.Equal(1, released);
    }

    [Fact]
    public void Buffers_of_lists_and_tensors_are_given_out_as_shares()
    {
        using Tensor tensor = Tensor.FromArray(new int[16]);
        tensor.Export(out BufferList list, out TensorContext context);
        context.Dispose();
        TensorBuffer share = list.Share(0);
        Refused(HurrayStatus.IndexOutOfBounds, () => list.Share(1));
        Refused(HurrayStatus.IndexOutOfBounds, () => tensor.ShareBuffer(1));
        Refused(HurrayStatus.IndexOutOfBounds, () => tensor.ShareBuffer(-1));
        list.Dispose();
        Assert.Equal(2UL, share.ShareCount);
        using var other = new BufferList();
        other.Push(share);
        Assert.Throws<ObjectDisposedException>(() => other.Push(share));
        Assert.Equal(1UL, other.Count);
    }

    [Fact]
    public void Every_shape_and_layout_survives_the_exchange()
    {
        (long[] Shape, DenseOptions Options)[] cases =
        [
            ([], new()), ([0], new()), ([2, 0, 3], new()), ([2, 3], new()), ([2, 3], new() { Layout = Layout.ColMajor }),
            ([2, 3], new() { Strides = [-3, 1], ByteOffset = 3 }), ([2, 3], new() { Strides = [0, 1] }),
            ([12], new() { ElementType = ElementType.Bool }), ([3], new() { ByteOffset = 5 }),
        ];
        foreach ((long[] shape, DenseOptions options) in cases)
        {
            byte[] memory = [1, 2, 3, 4, 5, 6, 7, 8];
            using Tensor tensor = Tensor.FromMemory<byte>(memory, shape, options);
            tensor.Export(out BufferList list, out TensorContext context);
            using Tensor imported = Tensor.Import(list, context);
            Assert.Equal(tensor.Descriptor.Encode(), imported.Descriptor.Encode());
            Assert.Equal(tensor.Shape.ToArray(), imported.Shape.ToArray());
            Assert.Equal(tensor.Strides.ToArray(), imported.Strides.ToArray());
        }
    }
}
