using System;
using System.Collections.Generic;
using System.Collections.Immutable;
using System.Linq;
using System.Numerics;
using System.Threading;
using Xunit;

namespace Hurray.Tests;

public class ComputeTests : LeakChecked
{
    private static float[] Ramp(int count) => Enumerable.Range(0, count).Select(i => (i - (count / 2)) / 8f).ToArray();

    [Fact]
    public void Quantize_and_dequantize_agree_with_the_formula()
    {
        float[] values = Ramp(128);
        using Tensor tensor = Tensor.FromArray(values, 2, 64);
        using Tensor stored = tensor.Quantize(
            new QuantizeOptions(Scheme.PerBlockAffine, ElementType.Int8) { ScaleType = ElementType.Float32, Symmetric = true, Axis = 1, BlockSize = 32 });
        Assert.Equal(ElementType.Int8, stored.ElementType);
        var scheme = Assert.IsType<PerBlockAffine>(stored.Descriptor.Quantization);
        Assert.Equal((1u, 32u), (scheme.Axis, scheme.BlockSize));
        using TensorBuffer scales = stored.ShareBuffer((int)scheme.ScaleBuffer);
        using TensorView<byte> scaleBytes = scales.Pin();
        using Tensor back = stored.Dequantize();
        using TensorView<float> view = back.Pin<float>();
        for (int i = 0; i < values.Length; ++i)
        {
            float scale = BitConverter.ToSingle(scaleBytes.ReadOnlySpan.Slice(i / 32 * sizeof(float), sizeof(float)));
            float expected = scale * (float)stored.ReadDouble(i / 64, i % 64);
            Assert.Equal(expected, view[i]);
            Assert.Equal(expected, stored.ReadDequantized(i / 64, i % 64));
            Assert.InRange(Math.Abs(view[i] - values[i]), 0, scale);
        }

        using Tensor doubles = stored.Dequantize(ElementType.Float64);
        Assert.Equal(ElementType.Float64, doubles.ElementType);
        Refused(HurrayStatus.InvalidArgument, () => tensor.Dequantize());
        Refused(HurrayStatus.InvalidArgument, () => stored.Dequantize(ElementType.Int8));
        Refused(HurrayStatus.Unsupported, () => stored.Quantize(new QuantizeOptions(Scheme.Nf4, ElementType.UInt4) { BlockSize = 32 }));
    }

    [Fact]
    public void Elements_that_have_no_place_are_named()
    {
        using Tensor tensor = Tensor.FromArray(new[] { 1, float.NaN, 3, 4 });
        HurrayException e = Refused(
            HurrayStatus.InvalidArgument,
            () => tensor.Quantize(new QuantizeOptions(Scheme.PerTensorAffine, ElementType.Int8) { Symmetric = true }));
        Assert.Contains("1", e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Elements_keep_their_bits_through_every_layout()
    {
        int[] values = Enumerable.Range(0, 16).Select(i => i % 3 == 0 ? 0 : i).ToArray();
        using Tensor tensor = Tensor.FromArray(values, 4, 4);
        (Layout Layout, LayoutFields? Fields)[] layouts =
        [
            (Layout.ColMajor, null), (Layout.Coo, null), (Layout.Csr, null), (Layout.Csc, null),
            (Layout.Morton, null), (Layout.Hilbert, null), (Layout.Strided, new StridedFields([1, 8])),
            (Layout.Tiled, new TiledFields([new TileLevel([2, 2])])),
        ];
        foreach ((Layout layout, LayoutFields? fields) in layouts)
        {
            using Tensor other = tensor.Transcode(layout, new TranscodeOptions { Fields = fields, Alignment = 128 });
            Assert.Equal(layout, other.Layout);
            for (int i = 0; i < values.Length; ++i)
            {
                Assert.Equal(values[i], other.ReadDouble(i / 4, i % 4));
            }

            other.Validate();
            using Tensor back = other.Transcode(Layout.RowMajor);
            using TensorView<int> view = back.Pin<int>();
            Assert.Equal(values, view.ReadOnlySpan.ToArray());
        }

        using Tensor cube = Tensor.FromArray(values, 2, 2, 4);
        using Tensor fibers = cube.Transcode(Layout.Csf, new TranscodeOptions { Fields = new CsfFields(0, ImmutableArray.Create(2UL, 0UL, 1UL)) });
        Assert.Equal([2UL, 0UL, 1UL], Assert.IsType<CsfFields>(fibers.Descriptor.LayoutFields).ModeOrder.ToArray());
        Assert.Equal(values[7], fibers.ReadDouble(0, 1, 3));

        using Tensor sparse = tensor.Transcode(Layout.Coo);
        Assert.Null(sparse.AddressOf(0, 0));
        Assert.NotNull(sparse.AddressOf(0, 1));
        Refused(HurrayStatus.InvalidLayout, () => tensor.Transcode(Layout.Tiled));
        Refused(
            HurrayStatus.InvalidArgument, () => tensor.Transcode(Layout.Tiled, new TranscodeOptions { Fields = new HilbertFields(2) }));
        Refused(HurrayStatus.InvalidArgument, () => tensor.Transcode(Layout.ColMajor, new TranscodeOptions { Sequence = 1 }));
    }

    [Fact]
    public void Elements_are_read_wherever_they_lie()
    {
        int[] memory = [1, 2, 3, 4, 5, 6];
        using Tensor tensor = Tensor.FromMemory<int>(
            memory, [2, 3], new DenseOptions { Strides = [-3, 1], ByteOffset = 3 * sizeof(int) });
        Assert.Equal(4, tensor.ReadDouble(0, 0));
        Assert.Equal(3, tensor.ReadDouble(1, 2));
        Assert.Equal(new Complex(3, 0), tensor.ReadComplex(1, 2));
        Assert.Equal((UInt128)3, tensor.ReadBits(1, 2));
        ElementAddress first = tensor.AddressOf(0, 0)!.Value;
        ElementAddress last = tensor.AddressOf(1, 2)!.Value;
        Assert.Equal((0, 32, 4UL), (first.Buffer, first.Bits, first.ByteOffset - last.ByteOffset));

        using Tensor scalar = Tensor.FromMemory<double>(new[] { 2.5 }, []);
        Assert.Equal(2.5, scalar.ReadDouble());
        using Tensor bits = Tensor.FromBooleans([true, false, true], [3]);
        Assert.Equal(1, bits.ReadDouble(2));
        Assert.Equal((2, 1), (bits.AddressOf(2)!.Value.BitOffset, bits.AddressOf(2)!.Value.Bits));
        using Tensor complex = Tensor.FromArray(new[] { new Complex(1, -2) });
        Assert.Equal(new Complex(1, -2), complex.ReadComplex(0));
        UInt128 stored = complex.ReadBits(0);
        Assert.Equal(BitConverter.DoubleToUInt64Bits(-2), (ulong)(stored >> 64));
        Refused(HurrayStatus.Unsupported, () => complex.ReadDouble(0));
        Refused(HurrayStatus.IndexOutOfBounds, () => tensor.ReadDouble(2, 0));
        Refused(HurrayStatus.IndexOutOfBounds, () => tensor.ReadDouble(-1, 0));
        Refused(HurrayStatus.InvalidArgument, () => tensor.ReadBits(0));
        Refused(HurrayStatus.InvalidArgument, () => tensor.ReadDequantized(0, 0));
        using Tensor empty = Tensor.FromMemory<int>(Array.Empty<int>(), [0, 3]);
        Refused(HurrayStatus.IndexOutOfBounds, () => empty.AddressOf(0, 0));
    }

    [Fact]
    public void Statistics_are_those_of_the_elements()
    {
        using Tensor tensor = Tensor.FromArray(new float[] { 0, 3, -1, 0 });
        Statistics all = tensor.ComputeStatistics(
            StatisticsFlags.Nnz | StatisticsFlags.Sparsity | StatisticsFlags.Range | StatisticsFlags.Moments | StatisticsFlags.NanInf);
        Assert.Equal((2UL, 0.5, -1.0, 3.0, 3.0, 0.5), (all.Nnz, all.SparsityRatio, all.Min, all.Max, all.AbsMax, all.Mean));
        Assert.False(all.HasNaN);
        Assert.Equal(StatisticsFlags.Nnz, tensor.ComputeStatistics(StatisticsFlags.Nnz).Computed);
        Refused(HurrayStatus.InvalidArgument, () => tensor.ComputeStatistics((StatisticsFlags)0x8000));
        // What comes out goes into a descriptor.
        Descriptor said = new DescriptorBuilder(ElementType.Float32, Layout.RowMajor, [4]).SetStatistics(all)
            .AddBuffer(new BufferEntry(16, 64)).Build();
        Assert.Equal(all, said.Statistics);
    }

    [Fact]
    public void Validation_finds_what_is_wrong_in_the_data()
    {
        using Tensor good = Tensor.FromArray(new[] { 1, 0, 0, 2 }, 2, 2);
        foreach (ValidationLevel level in Enum.GetValues<ValidationLevel>())
        {
            good.Validate(level);
        }

        using Tensor sparse = good.Transcode(Layout.Coo);
        using (TensorBuffer index = sparse.ShareBuffer(1))
        using (TensorView<byte> view = index.Pin())
        {
            view.Span.Fill(0x7F);
        }

        sparse.Validate(ValidationLevel.Buffers);
        Refused(HurrayStatus.InvalidLayout, () => sparse.Validate());
        Refused(HurrayStatus.InvalidArgument, () => good.Validate((ValidationLevel)9));
    }

    [Fact]
    public void Long_work_tells_how_far_it_is()
    {
        using Tensor tensor = Tensor.Allocate(ElementType.Float32, [1 << 20]);
        var told = new List<(ulong Done, ulong Total)>();
        using Tensor made = tensor.Quantize(
            new QuantizeOptions(Scheme.PerTensorAffine, ElementType.Int8) { Symmetric = true },
            new WorkOptions { Progress = (done, total) => told.Add((done, total)) });
        Assert.NotEqual(0UL, told[^1].Total);
        Assert.Equal(told[^1].Total, told[^1].Done);
        Assert.Equal(told.OrderBy(t => t.Done), told);
    }

    [Fact]
    public void Long_work_is_cancelled_and_leaves_nothing_behind()
    {
        using Tensor tensor = Tensor.Allocate(ElementType.Float32, [1 << 22]);
        using var stop = new CancellationTokenSource();
        var work = new WorkOptions { Progress = (_, _) => stop.Cancel(), CancellationToken = stop.Token };
        (ulong, ulong) before = HurrayRuntime.LiveHandles();
        Action<WorkOptions>[] all =
        [
            w => tensor.Transcode(Layout.Hilbert, null, w),
            w => tensor.Quantize(new QuantizeOptions(Scheme.PerTensorAffine, ElementType.Int8) { Symmetric = true }, w),
            w => tensor.ComputeStatistics(StatisticsFlags.Range, w),
            w => tensor.Validate(ValidationLevel.Data, w),
        ];
        foreach (Action<WorkOptions> one in all)
        {
            // Cancelled before it begins.
            Assert.Throws<OperationCanceledException>(() => one(new WorkOptions { CancellationToken = new CancellationToken(true) }));
        }

        Assert.Throws<OperationCanceledException>(() => all[1](work));
        Assert.Equal(before, HurrayRuntime.LiveHandles());
    }

    [Fact]
    public void What_a_report_throws_comes_out_of_the_call()
    {
        using Tensor tensor = Tensor.Allocate(ElementType.Float32, [1 << 20]);
        var thrown = new InvalidOperationException("enough");
        HurrayException e = Assert.Throws<HurrayException>(() => tensor.ComputeStatistics(
            StatisticsFlags.Range, new WorkOptions { Progress = (_, _) => throw thrown }));
        Assert.Equal(HurrayStatus.Cancelled, e.Code);
        Assert.Same(thrown, e.InnerException);
    }

    [Fact]
    public void Work_that_needs_more_memory_than_it_may_have_is_refused()
    {
        using Tensor tensor = Tensor.Allocate(ElementType.Float32, [1 << 20]);
        Refused(HurrayStatus.LimitExceeded, () => tensor.Transcode(Layout.ColMajor, null, new WorkOptions { MemoryLimit = 1000 }));
    }

    [Fact]
    public void Closed_tensors_refuse_all_work()
    {
        Tensor tensor = Tensor.FromArray(new[] { 1f });
        tensor.Dispose();
        Action[] uses =
        [
            () => tensor.Transcode(Layout.ColMajor), () => tensor.Dequantize(),
            () => tensor.Quantize(new QuantizeOptions(Scheme.PerTensorAffine, ElementType.Int8)), () => tensor.Validate(),
            () => tensor.ComputeStatistics(StatisticsFlags.Nnz), () => tensor.AddressOf(0), () => tensor.ReadDouble(0),
            () => tensor.ReadComplex(0), () => tensor.ReadBits(0), () => tensor.ReadDequantized(0),
        ];
        Assert.All(uses, use => Assert.Throws<ObjectDisposedException>(use));
    }
}
