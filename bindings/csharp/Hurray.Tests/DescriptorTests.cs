using System;
using System.Buffers.Binary;
using System.Linq;
using Xunit;

namespace Hurray.Tests;

public class DescriptorTests : LeakChecked
{
    public static TheoryData<ElementType> AllTypes() => new(Enum.GetValues<ElementType>());

    [Theory]
    [MemberData(nameof(AllTypes))]
    public void Every_type_is_built_encoded_and_decoded(ElementType type)
    {
        ulong size = type.ByteSize(12);
        Descriptor built = new DescriptorBuilder(type, Layout.RowMajor, [3, 4]).AddBuffer(new BufferEntry(size)).Build();
        Descriptor decoded = Descriptor.Decode(built.Encode());
        Assert.Equal(type, decoded.ElementType);
        Assert.Equal(type.Bits(), decoded.Bits);
        Assert.Equal([3, 4], decoded.Shape.ToArray());
        Assert.Equal(12UL, decoded.ElementCount);
        Assert.Equal(size, decoded.Buffers[0].ByteSize);
        Assert.Equal(built.Encode(), decoded.Encode());
        // One byte less is refused.
        Refused(
            HurrayStatus.InvalidLayout,
            () => new DescriptorBuilder(type, Layout.RowMajor, [3, 4]).AddBuffer(new BufferEntry(size - 1)).Build());
    }

    [Fact]
    public void Every_field_comes_back()
    {
        var entry = new BufferEntry(4096, 4096, Device.Cuda, SyncMode.Event, MemoryClass.Unified);
        Descriptor d = Descriptor.Decode(
            new DescriptorBuilder(ElementType.Int16, Layout.Strided, [4, 5])
                .SetStrides([-10, 2])
                .SetByteOffset(128)
                .SetShard([8, 50], [4, 45])
                .AddBuffer(entry)
                .Build()
                .Encode());
        Assert.Equal((1, 0), (d.VersionMajor, d.VersionMinor));
        Assert.Equal(2U, d.Flags);
        Assert.Equal(ElementType.Int16, d.ElementType);
        Assert.Equal(Layout.Strided, d.Layout);
        Assert.Equal(2, d.Rank);
        Assert.Equal([-10, 2], d.Strides.ToArray());
        Assert.Equal(128UL, d.ByteOffset);
        Assert.True(d.IsShard);
        Assert.Equal([8, 50], d.ParentShape.ToArray());
        Assert.Equal([4, 45], d.ShardOffset.ToArray());
        Assert.Equal([entry], d.Buffers);
        Assert.Equal((ulong)d.Encoded.Length, Descriptor.PeekLength(d.Encoded));
    }

    [Theory]
    [InlineData(new ulong[0], 1UL)]
    [InlineData(new ulong[] { 0 }, 0UL)]
    [InlineData(new ulong[] { 3, 0, 2 }, 0UL)]
    [InlineData(new ulong[] { ulong.MaxValue, 3 }, null)]
    public void Scalars_empty_and_dynamic_shapes(ulong[] shape, ulong? count)
    {
        Descriptor d = new DescriptorBuilder(ElementType.Float32, Layout.RowMajor, shape).AddBuffer(new BufferEntry(64)).Build();
        Assert.Equal(shape, d.Shape.ToArray());
        Assert.Equal(count, d.ElementCount);
        Assert.False(d.IsShard);
        Assert.True(d.ParentShape.IsEmpty);
    }

    [Fact]
    public void Rank_64_is_the_last()
    {
        ulong[] ones = Enumerable.Repeat(1UL, 65).ToArray();
        Descriptor d =
            new DescriptorBuilder(ElementType.Bool, Layout.ColMajor, ones.AsSpan(0, 64)).AddBuffer(new BufferEntry(1)).Build();
        Assert.Equal(64, d.Rank);
        Refused(
            HurrayStatus.InvalidArgument,
            () => new DescriptorBuilder(ElementType.Bool, Layout.ColMajor, ones).AddBuffer(new BufferEntry(1)).Build());
    }

    [Fact]
    public void Bytes_behind_are_left_and_a_later_minor_version_kept()
    {
        byte[] plain = new DescriptorBuilder(ElementType.Float64, Layout.RowMajor, [2]).AddBuffer(new BufferEntry(16)).Build().Encode();
        Assert.Equal(plain, Descriptor.Decode([.. plain, 1, 2, 3]).Encode());

        byte[] later = [.. plain, 0xAB, 0xCD];
        later[5] = 7;
        BinaryPrimitives.WriteUInt32LittleEndian(later.AsSpan(6), (uint)later.Length);
        Descriptor d = Descriptor.Decode(later);
        Assert.Equal(7, d.VersionMinor);
        Assert.Equal(later, d.Encode());
    }

    [Fact]
    public void Hostile_bytes_are_typed_errors_with_a_place()
    {
        byte[] good = new DescriptorBuilder(ElementType.Float32, Layout.Strided, [4, 5])
            .SetStrides([5, 1]).AddBuffer(new BufferEntry(80)).Build().Encode();
        for (int length = 0; length < good.Length; ++length)
        {
            byte[] cut = good[..length];
            HurrayException e = Assert.ThrowsAny<HurrayException>(() => Descriptor.Decode(cut));
            Assert.True(e.Code is HurrayStatus.InvalidLayout or HurrayStatus.InvalidMagic, e.Message);
            Assert.NotNull(e.ByteOffset);
        }

        var expected = new (int At, byte Value, HurrayStatus Code)[]
        {
            (0, (byte)'X', HurrayStatus.InvalidMagic), (4, 2, HurrayStatus.VersionMismatch), (4, 0, HurrayStatus.VersionMismatch),
            (10, 0x20, HurrayStatus.InvalidLayout), (14, 0, HurrayStatus.InvalidType), (14, 0xFF, HurrayStatus.InvalidType),
            (15, 0, HurrayStatus.InvalidLayout), (15, 0xFF, HurrayStatus.InvalidLayout), (16, 65, HurrayStatus.InvalidLayout),
        };
        foreach ((int at, byte value, HurrayStatus code) in expected)
        {
            byte[] bad = (byte[])good.Clone();
            bad[at] = value;
            HurrayException e = Refused(code, () => Descriptor.Decode(bad));
            Assert.True(e.ByteOffset <= (ulong)good.Length, e.Message);
        }
    }

    [Fact]
    public void Random_damage_never_gives_anything_but_a_descriptor_or_a_typed_error()
    {
        byte[] good = new DescriptorBuilder(ElementType.Bool, Layout.Strided, [7, 3])
            .SetStrides([3, 1]).SetShard([70, 30], [1, 2]).AddBuffer(new BufferEntry(64)).Build().Encode();
        var random = new Random(20240607);
        int refused = 0;
        for (int round = 0; round < 3000; ++round)
        {
            byte[] bad = (byte[])good.Clone();
            for (int i = random.Next(1, 4); i > 0; --i)
            {
                bad[random.Next(bad.Length)] = (byte)random.Next(256);
            }

            try
            {
                Descriptor.Decode(bad);
            }
            catch (HurrayException)
            {
                ++refused;
            }
        }

        Assert.True(refused > 1000, $"{refused} refused");
    }

    [Fact]
    public void Wrong_builders_are_refused_and_can_be_mended()
    {
        var builder = new DescriptorBuilder(ElementType.Float32, Layout.Strided, [2, 2]);
        builder.AddBuffer(new BufferEntry(64));
        Refused(HurrayStatus.InvalidLayout, () => builder.SetStrides([1]).Build());
        Refused(HurrayStatus.InvalidLayout, () => builder.SetStrides([100, 1]).Build());
        Refused(HurrayStatus.InvalidArgument, () => builder.SetShard([2, 2], [0]));
        Assert.Equal([2, 1], builder.SetStrides([2, 1]).Build().Strides.ToArray());
        Refused(HurrayStatus.InvalidLayout, () => builder.SetByteOffset(60).Build());
        Refused(HurrayStatus.InvalidLayout, () => builder.SetByteOffset(0).SetShard([2, 2], [1, 0]).Build());
    }

    [Fact]
    public void Wrong_buffer_entries_are_refused()
    {
        static void Build(BufferEntry entry) =>
            new DescriptorBuilder(ElementType.UInt8, Layout.RowMajor, [1]).AddBuffer(entry).Build();
        Refused(HurrayStatus.InvalidLayout, () => Build(new BufferEntry(64, 32)));
        Refused(HurrayStatus.InvalidLayout, () => Build(new BufferEntry(64, 96)));
        Refused(HurrayStatus.InvalidType, () => Build(new BufferEntry(64, 64, (Device)0x09)));
        Refused(HurrayStatus.InvalidSyncMode, () => Build(new BufferEntry(64, 64, Device.Cuda, (SyncMode)3)));
        Refused(HurrayStatus.InvalidType, () => Build(new BufferEntry(64, 64, Device.WebGpu, SyncMode.ProducerSynced, MemoryClass.Unified)));
    }

    [Fact]
    public void Sizes_of_packed_types()
    {
        Assert.Equal(2UL, ElementType.Bool.ByteSize(9));
        Assert.Equal(1UL, ElementType.Int4.ByteSize(2));
        Assert.Equal(2UL, ElementType.Int2.ByteSize(5));
        Assert.Equal(6UL, ElementType.Float6E2M3.ByteSize(5));
        Assert.Equal(0UL, ElementType.Float64.ByteSize(0));
        Refused(HurrayStatus.InvalidArgument, () => ElementType.Float64.ByteSize(ulong.MaxValue / 4));
        Refused(HurrayStatus.InvalidType, () => ((ElementType)0x47).ByteSize(1));
        Assert.Null(((ElementType)0x47).FormatName());
        Assert.All(Enum.GetValues<ElementType>(), type => Assert.NotNull(type.FormatName()));
    }
}
