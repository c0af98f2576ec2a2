using System;
using System.Collections.Generic;
using System.Linq;
using Xunit;

namespace Hurray.Tests;

/// <summary>Every layout and section: built, read, refused, and on its way as a tensor.</summary>
public class FieldTests : LeakChecked
{
    private static readonly (LayoutFields Fields, Layout Layout, ulong[] Shape, ulong[] Sizes)[] Layouts =
    [
        (new StridedFields([3, 1]), Layout.Strided, [2, 3], [24]),
        (new TiledFields(
            [
                new TileLevel([4, 4], Layout.ColMajor, Layout.Tiled),
                new TileLevel([2, 2], Layout.Strided, Layout.Strided, [2, 1], [1, 2]),
            ]),
            Layout.Tiled, [8, 4], [128]),
        (new MortonFields([2, 2]), Layout.Morton, [4, 3], [64]),
        (new HilbertFields(2), Layout.Hilbert, [4, 4], [64]),
        (new CooFields(3, true), Layout.Coo, [4, 5], [12, 48]),
        (new CsrFields(3), Layout.Csr, [4, 5], [12, 24, 40]),
        (new CscFields(3), Layout.Csc, [4, 5], [12, 24, 48]),
        (new CsfFields(1, [2, 0, 1]), Layout.Csf, [2, 3, 4], [4, 16, 8, 16, 8, 16, 8]),
        (new BlockPagedFields(2, 3, 1, KvRole.Value, 7, TableIndex.UInt64), Layout.BlockPaged, [5, 2, 4], [192, 24, 16]),
        (new CompositeFields(CompositionRule.Overlay, 2, CombineOp.Add), Layout.Composite, [4, 4], []),
    ];

    private static readonly (Quantization Scheme, ElementType Type, ulong[] Shape, ulong[] Sizes)[] Schemes =
    [
        (new PerTensorAffine(0.25F, -3), ElementType.Int8, [4, 8], [32]),
        (new PerChannelAffine(1, 1, 2), ElementType.Int8, [4, 8], [32, 32, 32]),
        (new PerBlockAffine(1, 4, 1, null, ElementType.Float16), ElementType.UInt4, [4, 8], [16, 16]),
        (new Nf4(1, 8, 1), ElementType.UInt4, [4, 8], [16, 16]),
        (new Mxfp(1, 16, 1), ElementType.Float8E4M3, [4, 16], [64, 4]),
    ];

    public static TheoryData<int> AllLayouts() => new(Enumerable.Range(0, Layouts.Length));

    public static TheoryData<int> AllSchemes() => new(Enumerable.Range(0, Schemes.Length));

    [Theory]
    [MemberData(nameof(AllLayouts))]
    public void Fields_of_every_layout_are_built_and_read(int index)
    {
        Descriptor built = Build(index);
        Descriptor decoded = Descriptor.Decode(built.Encode());
        Assert.Equal(Layouts[index].Fields, built.LayoutFields);
        Assert.Equal(Layouts[index].Fields, decoded.LayoutFields);
        Assert.Equal(Layouts[index].Fields.GetHashCode(), decoded.LayoutFields!.GetHashCode());
        Assert.Equal(Layouts[index].Shape, decoded.Shape.ToArray());
    }

    [Theory]
    [MemberData(nameof(AllLayouts))]
    public void Tensors_of_every_layout_are_exchanged_and_streamed(int index)
    {
        using Tensor tensor = Filled(Build(index));
        tensor.Export(out BufferList list, out TensorContext context);
        using Tensor taken = Tensor.Import(list, context);
        using TensorStreamWriter writer = TensorStreamWriter.ToMemory();
        writer.Write(taken);
        using TensorBuffer stream = writer.Take();
        using TensorView<byte> bytes = stream.Pin();
        using TensorStreamReader reader = TensorStreamReader.FromMemory(bytes.ReadOnlySpan.ToArray());
        using Tensor? read = reader.Read();
        Assert.Equal(Layouts[index].Fields, read!.Descriptor.LayoutFields);
        if (Layouts[index].Layout != Layout.Strided)
        {
            Refused(HurrayStatus.Unsupported, () => read.Pin<float>().Dispose());
        }
    }

    [Theory]
    [MemberData(nameof(AllSchemes))]
    public void Every_scheme_is_built_and_read(int index)
    {
        (Quantization scheme, ElementType type, ulong[] shape, ulong[] sizes) = Schemes[index];
        Descriptor decoded = Descriptor.Decode(
            Add(new DescriptorBuilder(type, Layout.RowMajor, shape).SetQuantization(scheme), sizes).Build().Encode());
        Assert.Equal(scheme, decoded.Quantization);
        Assert.Equal(SectionFlags.Quantization, (SectionFlags)decoded.Flags);
        Assert.True(decoded.Encoded.IndexOf(decoded.QuantizationPayload) > 0);
        using Tensor tensor = Filled(decoded);
        Assert.Equal(type is ElementType.Int8, CanPin(tensor));
    }

    [Fact]
    public void Statistics_and_private_types_and_roles_come_back()
    {
        var statistics = new Statistics
        {
            Computed = StatisticsFlags.Nnz | StatisticsFlags.Range,
            Nnz = 9,
            Min = double.NegativeInfinity,
            Max = double.PositiveInfinity,
            AbsMax = double.PositiveInfinity,
            Mean = double.NaN,
            HasInfinity = true,
        };
        var number = new ExtensionType
        {
            BitWidth = 4, IsFloat = true, SignBits = 1, ExponentBits = 2, MantissaBits = 1, ExponentBias = 1,
        };
        Descriptor built = Add(
                new DescriptorBuilder((ElementType)0xF0, Layout.RowMajor, [5])
                    .SetStatistics(statistics)
                    .SetExtensionType(number)
                    .SetMemberRole(MemberRole.Base),
                [3])
            .Build();
        Assert.Equal(statistics, built.Statistics);
        Assert.Equal(number, built.ExtensionType);
        Assert.Equal(MemberRole.Base, built.MemberRole);
        Assert.Equal((2, 4), (number.PackingFactor, built.Bits));
        Descriptor plain = Add(new DescriptorBuilder(ElementType.Int8, Layout.RowMajor, [5]), [5]).Build();
        Assert.Null(plain.LayoutFields ?? (object?)plain.Quantization ?? plain.Statistics ?? (object?)plain.ExtensionType);
        Assert.Null(plain.MemberRole);
        Assert.True(plain.QuantizationPayload.IsEmpty && plain.Trailing.IsEmpty && !plain.IsOpaque);
    }

    [Fact]
    public void Wrong_fields_are_refused()
    {
        static void Layouted(HurrayStatus code, LayoutFields fields, Layout layout, ulong[] shape, ulong[] sizes) =>
            Refused(code, () => Add(new DescriptorBuilder(ElementType.Float32, layout, shape).SetLayoutFields(fields), sizes).Build());

        Layouted(HurrayStatus.InvalidLayout, new HilbertFields(3), Layout.Hilbert, [4, 4], [64]);
        Layouted(HurrayStatus.InvalidLayout, new MortonFields([2]), Layout.Morton, [4, 4], [64]);
        Layouted(HurrayStatus.InvalidLayout, new MortonFields(default), Layout.Morton, [4, 4], [64]);
        Layouted(HurrayStatus.InvalidLayout, new TiledFields(default), Layout.Tiled, [4, 4], [64]);
        Layouted(HurrayStatus.InvalidLayout, new CsfFields(1, [0, 1, 1]), Layout.Csf, [2, 3, 4], [4, 16, 8, 16, 8, 16, 8]);
        Layouted(HurrayStatus.InvalidLayout, new BlockPagedFields(0, 3, 1), Layout.BlockPaged, [5, 2, 4], [192, 24, 16]);
        Layouted(HurrayStatus.InvalidArgument, new CscFields(3), Layout.Csr, [4, 5], [12, 24, 40]);
        Layouted(
            HurrayStatus.InvalidArgument, new TiledFields([new TileLevel([2, 2], OuterStrides: [1])]), Layout.Tiled, [4, 4], [64]);
        Refused(
            HurrayStatus.InvalidQuantization,
            () => Add(
                new DescriptorBuilder(ElementType.Int8, Layout.RowMajor, [5]).SetQuantization(new PerTensorAffine(0)), [5]).Build());
    }

    [Fact]
    public void Private_tags_need_agreement()
    {
        var layout = new PrivateLayoutFields((1UL << 63) + 1, [1, 2, 0]);
        var scheme = new PrivateScheme((Scheme)0xF1, 5, [.. "data"u8]);
        DescriptorBuilder[] builders =
        [
            new DescriptorBuilder(ElementType.Int8, (Layout)0xF3, [5]).SetLayoutFields(layout),
            new DescriptorBuilder(ElementType.Int8, Layout.RowMajor, [5]).SetQuantization(scheme),
        ];
        foreach (DescriptorBuilder builder in builders)
        {
            builder.AddBuffer(new BufferEntry(5));
            Assert.ThrowsAny<HurrayException>(builder.Build);
            Descriptor built = builder.AllowPrivateTags().Build();
            Assert.ThrowsAny<HurrayException>(() => Descriptor.Decode(built.Encoded));
            Descriptor read = Descriptor.Decode(built.Encoded, new DecodeOptions { PrivateTags = true });
            Assert.Equal(built.LayoutFields, read.LayoutFields);
            Assert.Equal(built.Quantization, read.Quantization);
            Assert.True(read.LayoutFields is PrivateLayoutFields || read.Quantization is PrivateScheme);
        }
    }

    [Fact]
    public void A_permissive_reader_keeps_what_it_does_not_know()
    {
        byte[] bytes = Add(new DescriptorBuilder(ElementType.Float32, Layout.RowMajor, [4, 4]), [64]).Build().Encode();
        bytes[15] = 0x7F;
        Refused(HurrayStatus.InvalidLayout, () => Descriptor.Decode(bytes));
        Descriptor unread = Descriptor.Decode(bytes, new DecodeOptions { Permissive = true });
        Assert.True(unread.IsOpaque && unread.IsUnread);
        Assert.Equal((Layout)0x7F, unread.Layout);
        Assert.Empty(unread.Buffers);
        Assert.Equal(bytes[(20 + 16 + 8)..], unread.Trailing.ToArray());
        Assert.Equal(bytes, unread.Encode());
        Refused(HurrayStatus.LimitExceeded, () => Descriptor.Decode(bytes, new DecodeOptions { MaxLength = 21 }));
    }

    private static Descriptor Build(int index)
    {
        (LayoutFields fields, Layout layout, ulong[] shape, ulong[] sizes) = Layouts[index];
        return Add(new DescriptorBuilder(ElementType.Float32, layout, shape).SetLayoutFields(fields), sizes).Build();
    }

    private static DescriptorBuilder Add(DescriptorBuilder builder, IEnumerable<ulong> sizes)
    {
        foreach (ulong size in sizes)
        {
            builder.AddBuffer(new BufferEntry(size));
        }

        return builder;
    }

    private static Tensor Filled(Descriptor descriptor)
    {
        var list = new BufferList();
        foreach (BufferEntry entry in descriptor.Buffers)
        {
            list.Push(TensorBuffer.Allocate(entry.ByteSize));
        }

        return Tensor.FromParts(descriptor, list);
    }

    private static bool CanPin(Tensor tensor)
    {
        try
        {
            tensor.Pin<sbyte>().Dispose();
            return true;
        }
        catch (HurrayException)
        {
            return false;
        }
    }
}
