using System;
using System.Linq;
using System.Numerics.Tensors;
using Xunit;

namespace Hurray.Tests;

public class TensorSpanTests : LeakChecked
{
    [Fact]
    public void Span_of_dotnet_is_the_same_memory()
    {
        float[] array = [1, 2, 3, 4, 5, 6];
        using Tensor tensor = Tensor.FromArray(array, 2, 3);
        using StridedView<float> view = tensor.PinStrided<float>();
        TensorSpan<float> span = view.GetTensorSpan();
        Assert.Equal([2, 3], span.Lengths.ToArray());
        span[1, 2] = 60;
        Assert.Equal(60, array[5]);
        Assert.Equal(75, System.Numerics.Tensors.Tensor.Sum(view.GetReadOnlyTensorSpan()));
    }

    [Fact]
    public void Strides_and_offsets_are_kept()
    {
        int[] memory = Enumerable.Range(0, 12).ToArray();
        (long[] Shape, DenseOptions Options)[] cases =
        [
            ([2, 3], new DenseOptions { Layout = Layout.ColMajor }),
            ([2, 2], new DenseOptions { Strides = [6, 2], ByteOffset = 4 }),
            ([1, 3], new DenseOptions { Strides = [0, 1] }),
            ([0, 3], new DenseOptions()),
        ];
        foreach ((long[] shape, DenseOptions options) in cases)
        {
            using Tensor tensor = Tensor.FromMemory<int>(memory, shape, options);
            using StridedView<int> view = tensor.PinStrided<int>();
            ReadOnlyTensorSpan<int> span = view.GetReadOnlyTensorSpan();
            Assert.Equal(view.Length, (long)span.FlattenedLength);
            for (nint i = 0; i < (nint)shape[0]; ++i)
            {
                for (nint k = 0; k < (nint)shape[1]; ++k)
                {
                    Assert.Equal(view[i, k], span[i, k]);
                }
            }
        }
    }

    [Fact]
    public void Scalar_is_a_typed_refusal()
    {
        using Tensor tensor = Tensor.FromMemory<double>(new[] { 2.5 }, []);
        using StridedView<double> view = tensor.PinStrided<double>();
        Assert.False(view.TryGetReadOnlyTensorSpan(out _));
        Refused(HurrayStatus.Unsupported, () => view.GetTensorSpan());
    }

    [Theory]
    [InlineData(new long[] { -3, 1 }, 12UL)]
    [InlineData(new long[] { 0, 1 }, 0UL)]
    [InlineData(new long[] { 1, 1 }, 0UL)]
    public void Negative_and_overlapping_strides_are_a_typed_refusal(long[] strides, ulong byteOffset)
    {
        using Tensor tensor = Tensor.FromMemory<int>(new int[6], [2, 3], new DenseOptions { Strides = strides, ByteOffset = byteOffset });
        using StridedView<int> view = tensor.PinStrided<int>();
        Assert.False(view.TryGetTensorSpan(out _));
        Assert.False(view.TryGetReadOnlyTensorSpan(out _));
        HurrayException e = Refused(HurrayStatus.Unsupported, () => view.GetTensorSpan());
        Assert.Contains("strides[", e.Message, StringComparison.Ordinal);
        Refused(HurrayStatus.Unsupported, () => view.GetReadOnlyTensorSpan());
    }

    [Fact]
    public void Readonly_memory_has_readonly_spans_only()
    {
        using Tensor tensor = Tensor.FromMemory<int>(new ReadOnlyMemory<int>([1, 2]), [2]);
        using StridedView<int> view = tensor.PinStrided<int>();
        Refused(HurrayStatus.Unsupported, () => view.GetTensorSpan());
        Assert.Equal(2, view.GetReadOnlyTensorSpan()[1]);
    }

    [Fact]
    public void Elements_that_are_not_aligned_are_a_typed_refusal()
    {
        using Tensor tensor = Tensor.FromMemory<byte>(
            new byte[64], [2], new DenseOptions { ElementType = ElementType.Int32, ByteOffset = 1 });
        using StridedView<int> view = tensor.PinStrided<int>();
        Refused(HurrayStatus.Misaligned, () => view.GetReadOnlyTensorSpan());
    }

    [Fact]
    public void Closed_view_gives_no_span()
    {
        using Tensor tensor = Tensor.FromArray(new[] { 1 });
        StridedView<int> view = tensor.PinStrided<int>();
        view.Dispose();
        Assert.Throws<ObjectDisposedException>(() => view.GetTensorSpan());
        Assert.Throws<ObjectDisposedException>(() => view.TryGetReadOnlyTensorSpan(out _));
    }
}
