using System;
using System.Buffers;
using System.Collections.Generic;
using System.IO;
using System.IO.MemoryMappedFiles;
using System.Linq;
using Xunit;

namespace Hurray.Tests;

public unsafe class ViewTests : LeakChecked
{
    [Fact]
    public void Wrong_types_are_refused()
    {
        using Tensor tensor = Tensor.FromArray(new float[4]);
        Refused(HurrayStatus.InvalidType, () => tensor.Pin<int>());
        Refused(HurrayStatus.InvalidType, () => tensor.Pin<double>());
        Refused(HurrayStatus.InvalidType, () => tensor.PinStrided<int>());
        Refused(HurrayStatus.InvalidType, () => tensor.PinStrided<byte>());
        Refused(HurrayStatus.InvalidType, () => tensor.PinPacked());
        Refused(HurrayStatus.InvalidType, () => tensor.Pin<bool>());
        using TensorView<byte> bytes = tensor.Pin<byte>();
        Assert.Equal(16, bytes.Length);
    }

    [Fact]
    public void Read_only_memory_cannot_be_written()
    {
        using Tensor tensor = Tensor.FromMemory((ReadOnlyMemory<int>)new[] { 1, 2, 3 }, [3]);
        using TensorView<int> view = tensor.Pin<int>();
        Assert.True(view.IsReadOnly);
        Refused(HurrayStatus.Unsupported, () => _ = view.Span);
        Refused(HurrayStatus.Unsupported, () => _ = view.Memory);
        Refused(HurrayStatus.Unsupported, () => view.Window(0, 1));
        Refused(HurrayStatus.Unsupported, () => view[0] = 5);
        Assert.Equal([1, 2, 3], view.ReadOnlySpan.ToArray());
        Assert.Equal([1, 2, 3], view.ReadOnlyMemory.ToArray());
        using StridedView<int> strided = tensor.PinStrided<int>();
        Refused(HurrayStatus.Unsupported, () => strided[0] = 5);
        // Shares and copies: a share stays read-only, a copy is one's own.
        using Tensor share = tensor.Share();
        Assert.True(share.IsReadOnly);
        using Tensor copy = tensor.Copy();
        Assert.False(copy.IsReadOnly);
    }

    [Fact]
    public void Ranges_are_checked()
    {
        using Tensor tensor = Tensor.FromArray(new int[10]);
        using TensorView<int> view = tensor.Pin<int>();
        foreach ((long start, int length) in new[] { (-1L, 1), (0L, 11), (10L, 1), (11L, 0), (long.MaxValue, 1), (0L, -1), (long.MinValue, int.MaxValue) })
        {
            Refused(HurrayStatus.IndexOutOfBounds, () => view.Window(start, length));
            Refused(HurrayStatus.IndexOutOfBounds, () => view.ReadOnlyWindow(start, length));
        }

        Assert.True(view.ReadOnlyWindow(10, 0).IsEmpty);
        Refused(HurrayStatus.IndexOutOfBounds, () => _ = view[10]);
        Refused(HurrayStatus.IndexOutOfBounds, () => _ = view[-1]);
        using StridedView<int> strided = tensor.PinStrided<int>();
        Refused(HurrayStatus.IndexOutOfBounds, () => _ = strided[10]);
        Refused(HurrayStatus.IndexOutOfBounds, () => _ = strided[-1]);
        Refused(HurrayStatus.IndexOutOfBounds, () => _ = strided[0, 0]);
        Refused(HurrayStatus.IndexOutOfBounds, () => _ = strided[[]]);
        Refused(HurrayStatus.IndexOutOfBounds, () => strided.CopyTo(9, new int[2]));
        Refused(HurrayStatus.IndexOutOfBounds, () => strided.CopyTo(-1, new int[2]));
        Refused(HurrayStatus.IndexOutOfBounds, () => strided.CopyTo(long.MaxValue, new int[2]));
    }

    public static IEnumerable<object[]> StridedCases() =>
    [
        [new long[] { 2, 3 }, new long[] { 3, 1 }, 0],
        [new long[] { 3, 2 }, new long[] { 1, 3 }, 0],
        [new long[] { 2, 3 }, new long[] { -3, 1 }, 3],
        [new long[] { 2, 3 }, new long[] { -3, -1 }, 5],
        [new long[] { 4, 3 }, new long[] { 0, 1 }, 0],
        [new long[] { 3, 4 }, new long[] { 1, 0 }, 2],
        [new long[] { 5 }, new long[] { 0 }, 7],
        [new long[] { 1, 3, 1 }, new long[] { 100, 2, -100 }, 1],
        [new long[] { 2, 2, 2, 2 }, new long[] { 1, 8, 2, 4 }, 0],
        [new long[] { 2, 0, 2 }, new long[] { 1, 1, 1 }, 0],
        [new long[] { 1 }, new long[] { long.MinValue }, 4],
        [new long[] { 3, 2, 4 }, new long[] { 8, 4, 1 }, 0],
    ];

    [Theory]
    [MemberData(nameof(StridedCases))]
    public void Strides_of_every_sign(long[] shape, long[] strides, int first)
    {
        int[] memory = Enumerable.Range(100, 24).ToArray();
        using Tensor tensor = Tensor.FromMemory<int>(memory, shape, new DenseOptions { Strides = strides, ByteOffset = (ulong)first * 4 });
        List<int> expected = [];
        foreach (long[] index in Indices(shape))
        {
            expected.Add(memory[first + index.Zip(strides, (i, s) => i * s).Sum()]);
        }

        using StridedView<int> view = tensor.PinStrided<int>();
        Assert.Equal(expected, view.ToArray());
        Assert.Equal(expected, Indices(shape).Select(index => view[index]).ToArray());
        if (!tensor.IsContiguous)
        {
            Assert.Equal(strides, view.Strides.ToArray());
        }

        Assert.Equal(strides, tensor.Descriptor.Strides.ToArray());
        for (int start = 0; start <= expected.Count; ++start)
        {
            for (int length = 0; start + length <= expected.Count; ++length)
            {
                var part = new int[length];
                view.CopyTo(start, part);
                Assert.Equal(expected.Skip(start).Take(length), part);
            }
        }

        using Tensor copy = tensor.Copy();
        using TensorView<int> copied = copy.Pin<int>();
        Assert.Equal(expected, copied.ReadOnlySpan.ToArray());
        if (!tensor.IsContiguous)
        {
            Refused(HurrayStatus.Unsupported, () => tensor.Pin<int>());
            Refused(HurrayStatus.Unsupported, () => tensor.Pin<byte>());
        }
    }

    [Fact]
    public void Strided_elements_can_be_written()
    {
        var memory = new int[6];
        using Tensor tensor = Tensor.FromMemory<int>(memory, [2, 3], new DenseOptions { Layout = Layout.ColMajor });
        using StridedView<int> view = tensor.PinStrided<int>();
        view[1, 2] = 7;
        view[0, 1] = 5;
        Assert.Equal([0, 0, 5, 0, 0, 7], memory);
        Assert.Equal([0, 5, 0, 0, 0, 7], view.ToArray());
        Assert.Equal(Layout.ColMajor, tensor.Layout);
        Assert.Equal([1, 2], tensor.Strides.ToArray());
    }

    [Fact]
    public void Truth_values_are_bits()
    {
        bool[] values = Enumerable.Range(0, 21).Select(i => i % 3 == 0).ToArray();
        using Tensor tensor = Tensor.FromBooleans(values, [3, 7]);
        Assert.Equal(3UL, tensor.ByteSize);
        Assert.True(tensor.IsPacked);
        using (PackedView view = tensor.PinPacked())
        {
            Assert.Equal(1, view.Bits);
            Assert.Equal(values, view.ToBooleans());
            Assert.Equal(1, view[2, 1]);
            Assert.Equal(0, view[2, 2]);
            view[2, 2] = 1;
            Refused(HurrayStatus.InvalidArgument, () => view[0, 0] = 2);
            Assert.Equal(1, view[2, 2]);
            Assert.Equal(1, view[2, 1]);
            Assert.Equal(0, view[2, 3]);
        }

        using (TensorView<byte> bytes = tensor.Pin<byte>())
        {
            Assert.Equal([0b0100_1001, 0b1001_0010, 0b0000_0101], bytes.ReadOnlySpan.ToArray());
        }

        Assert.Contains("PinPacked", Refused(HurrayStatus.InvalidType, () => tensor.Pin<sbyte>()).Message);
        Refused(HurrayStatus.InvalidArgument, () => Tensor.FromBooleans(values, [3, 6]));
        using Tensor scalar = Tensor.FromBooleans([true], []);
        using PackedView one = scalar.PinPacked();
        Assert.Equal(1, one[[]]);
    }

    [Theory]
    [InlineData(ElementType.Bool, 1)]
    [InlineData(ElementType.UInt2, 2)]
    [InlineData(ElementType.Int4, 4)]
    [InlineData(ElementType.Float6E3M2, 6)]
    public void Packed_elements_of_any_strides(ElementType type, int bits)
    {
        var memory = new byte[30];
        new Random(5).NextBytes(memory);
        int At(int element)
        {
            int word = memory[element * bits / 8] | (element * bits / 8 + 1 < memory.Length ? memory[(element * bits / 8) + 1] << 8 : 0);
            return (word >> (element * bits % 8)) & ((1 << bits) - 1);
        }

        using (Tensor rows = Tensor.FromMemory<byte>(memory, [3, 5], new DenseOptions { ElementType = type }))
        using (PackedView view = rows.PinPacked())
        {
            var all = new byte[15];
            view.CopyTo(0, all);
            Assert.Equal(Enumerable.Range(0, 15).Select(i => (byte)At(i)), all);
        }

        var options = new DenseOptions { ElementType = type, Strides = [1, 6] };
        using (Tensor strided = Tensor.FromMemory<byte>(memory, [3, 4], options))
        using (PackedView view = strided.PinPacked())
        {
            var all = new byte[12];
            view.CopyTo(0, all);
            Assert.Equal(Indices([3, 4]).Select(i => (byte)At((int)(i[0] + (6 * i[1])))), all);
            Assert.Equal(At(2 + 18), view[2, 3]);
        }

        // Negative: element 0 starts at a whole byte in the middle.
        int start = 12 * 8 / bits;
        options = new DenseOptions { ElementType = type, Strides = [-3, 1], ByteOffset = 12 };
        using (Tensor negative = Tensor.FromMemory<byte>(memory, [4, 3], options))
        using (PackedView view = negative.PinPacked())
        {
            var all = new byte[12];
            view.CopyTo(0, all);
            Assert.Equal(Indices([4, 3]).Select(i => (byte)At((int)(start - (3 * i[0]) + i[1]))), all);
        }
    }

    [Fact]
    public void Memory_stays_until_the_last_view_goes()
    {
        int released = 0;
        Tensor tensor = Tensor.FromMemory<int>(new[] { 1, 2, 3 }, [3], new DenseOptions { Released = () => ++released });
        TensorView<int> first = tensor.Pin<int>();
        StridedView<int> second = tensor.PinStrided<int>();
        tensor.Dispose();
        Assert.Equal(0, released);
        Assert.Throws<ObjectDisposedException>(() => tensor.Pin<int>());
        Assert.Throws<ObjectDisposedException>(() => tensor.ElementType);
        Assert.Equal(3, first.ReadOnlySpan[2]);
        first.Dispose();
        first.Dispose();
        Assert.Equal(0, released);
        Assert.Equal(3, second[2]);
        second.Dispose();
        Assert.Equal(1, released);
        Assert.Throws<ObjectDisposedException>(() => second[0]);
        Assert.Throws<ObjectDisposedException>(() => second.ToArray());
    }

    [Fact]
    public void Closed_views_and_their_memory_refuse()
    {
        using Tensor tensor = Tensor.FromArray(new[] { 1, 2, 3 });
        TensorView<int> view = tensor.Pin<int>();
        Memory<int> memory = view.Memory;
        Assert.Equal(2, memory.Span[1]);
        view.Dispose();
        Assert.Throws<ObjectDisposedException>(() => _ = view.Span);
        Assert.Throws<ObjectDisposedException>(() => _ = view.ReadOnlySpan);
        Assert.Throws<ObjectDisposedException>(() => _ = view.Memory);
        Assert.Throws<ObjectDisposedException>(() => _ = view.Address);
        Assert.Throws<ObjectDisposedException>(() => view.Window(0, 1));
        Assert.Throws<ObjectDisposedException>(() => view[0]);
        Assert.Throws<ObjectDisposedException>(() => view[0] = 1);
        Assert.Throws<ObjectDisposedException>(() => _ = memory.Span);
        Assert.Throws<ObjectDisposedException>(() => memory.Pin());
        PackedView packed;
        using (Tensor bits = Tensor.FromBooleans([true], [1]))
        {
            packed = bits.PinPacked();
        }

        Assert.Equal(1, packed[0]);
        packed.Dispose();
        packed.Dispose();
        Assert.Throws<ObjectDisposedException>(() => packed[0]);
        Assert.Throws<ObjectDisposedException>(() => packed.ToBooleans());
    }

    [Fact]
    public void Pinned_memory_outlives_view_and_tensor()
    {
        int released = 0;
        Tensor tensor = Tensor.FromMemory<int>(new[] { 1, 2, 3 }, [3], new DenseOptions { Released = () => ++released });
        TensorView<int> view = tensor.Pin<int>();
        MemoryHandle pin = view.Memory[1..].Pin();
        view.Dispose();
        tensor.Dispose();
        Assert.Equal(0, released);
        Assert.Equal(2, *(int*)pin.Pointer);
        pin.Dispose();
        Assert.Equal(1, released);
        pin.Dispose();
        Assert.Equal(1, released);
    }

    [Fact]
    public void Tensor_over_the_memory_of_another()
    {
        int released = 0;
        Tensor inner = Tensor.FromMemory<int>(new[] { 1, 2, 3 }, [3], new DenseOptions { Released = () => ++released });
        TensorView<int> view = inner.Pin<int>();
        Tensor outer = Tensor.FromMemory(view.Memory, [3]);
        view.Dispose();
        inner.Dispose();
        Assert.Equal(0, released);
        using (TensorView<int> again = outer.Pin<int>())
        {
            Assert.Equal([1, 2, 3], again.ReadOnlySpan.ToArray());
        }

        outer.Dispose();
        Assert.Equal(1, released);
    }

    [Fact]
    public void More_elements_than_a_span_can_hold()
    {
        const long Count = (1L << 31) + 5;
        string path = Path.Combine(Path.GetTempPath(), $"hurray-{Guid.NewGuid():N}");
        using (FileStream sparse = File.Create(path, 1, FileOptions.DeleteOnClose))
        {
            sparse.SetLength(Count * 4);
            using MemoryMappedFile mapped =
                MemoryMappedFile.CreateFromFile(sparse, null, 0, MemoryMappedFileAccess.ReadWrite, HandleInheritability.None, true);
            using MemoryMappedViewAccessor accessor = mapped.CreateViewAccessor();
            byte* data = null;
            accessor.SafeMemoryMappedViewHandle.AcquirePointer(ref data);
            using (Tensor tensor = Tensor.FromPointer(
                data, (ulong)Count * 4, ElementType.Float32, [Count],
                new DenseOptions { Released = accessor.SafeMemoryMappedViewHandle.ReleasePointer }))
            {
                using TensorView<float> view = tensor.Pin<float>();
                Assert.Equal(Count, view.Length);
                Refused(HurrayStatus.LimitExceeded, () => _ = view.Span);
                Refused(HurrayStatus.LimitExceeded, () => _ = view.ReadOnlySpan);
                Refused(HurrayStatus.LimitExceeded, () => _ = view.Memory);
                view[Count - 1] = 3.5F;
                view.Window(Count - 5, 5)[1] = 1.5F;
                Assert.Equal([0, 1.5F, 0, 0, 3.5F], view.ReadOnlyWindow(Count - 5, 5).ToArray());
                Refused(HurrayStatus.IndexOutOfBounds, () => view.ReadOnlyWindow(Count - 4, 5));
                using StridedView<float> strided = tensor.PinStrided<float>();
                Refused(HurrayStatus.LimitExceeded, () => strided.ToArray());
                var end = new float[4];
                strided.CopyTo(Count - 4, end);
                Assert.Equal([1.5F, 0, 0, 3.5F], end);
                Assert.Equal(3.5F, strided[Count - 1]);
                using Tensor share = tensor.Share();
                Assert.Equal((ulong)Count * 4, share.ByteSize);
            }
        }

        // Broadcast: the elements are many, the memory is small.
        using Tensor broadcast = Tensor.FromMemory<byte>(
            new byte[] { 42 }, [Count, 3], new DenseOptions { Strides = [0, 0] });
        using StridedView<byte> many = broadcast.PinStrided<byte>();
        Assert.Equal(Count * 3, many.Length);
        var some = new byte[3];
        many.CopyTo((Count * 3) - 3, some);
        Assert.Equal([42, 42, 42], some);
        using Tensor beyond = Tensor.FromMemory<byte>(
            new byte[] { 42 }, [1L << 62, 2], new DenseOptions { Strides = [0, 0] });
        Refused(HurrayStatus.Unsupported, () => beyond.PinStrided<byte>());
    }

    private static IEnumerable<long[]> Indices(long[] shape)
    {
        if (shape.Contains(0))
        {
            yield break;
        }

        var index = new long[shape.Length];
        while (true)
        {
            yield return (long[])index.Clone();
            int k = shape.Length - 1;
            while (k >= 0 && ++index[k] == shape[k])
            {
                index[k--] = 0;
            }

            if (k < 0)
            {
                yield break;
            }
        }
    }
}
