using System;
using System.Buffers;
using System.Numerics;
using System.Runtime.InteropServices;
using Xunit;

namespace Hurray.Tests;

public unsafe class TensorTests : LeakChecked
{
    [Fact]
    public void Every_type_of_dotnet_is_wrapped_without_copying_and_read_back()
    {
        RoundTrip<sbyte>([-128, 0, 127]);
        RoundTrip<byte>([0, 1, 255]);
        RoundTrip<short>([short.MinValue, 0, short.MaxValue]);
        RoundTrip<ushort>([0, 1, ushort.MaxValue]);
        RoundTrip<int>([int.MinValue, 0, int.MaxValue]);
        RoundTrip<uint>([0, 1, uint.MaxValue]);
        RoundTrip<long>([long.MinValue, 0, long.MaxValue]);
        RoundTrip<ulong>([0, 1, ulong.MaxValue]);
        RoundTrip<Half>([(Half)1.5, Half.NaN, Half.NegativeInfinity]);
        RoundTrip<BFloat16>([(BFloat16)1.5F, new BFloat16(0x7FC1), new BFloat16(0xFF80)]);
        RoundTrip<float>([1.5F, float.NaN, float.NegativeInfinity]);
        RoundTrip<double>([1.5, double.NaN, double.NegativeInfinity]);
        RoundTrip<Complex64>([new(1, -2), new(float.NaN, 0), default]);
        RoundTrip<Complex>([new(1, -2), new(double.NaN, 0), default]);
    }

    [Fact]
    public void Writing_through_a_view_writes_the_array()
    {
        var array = new float[6];
        using Tensor tensor = Tensor.FromArray(array, 2, 3);
        using (TensorView<float> view = tensor.Pin<float>())
        {
            view.Span[4] = 7;
            view[5] = 8;
            Assert.Equal(6, view.Length);
        }

        Assert.Equal([0, 0, 0, 0, 7, 8], array);
        Assert.Equal([2, 3], tensor.Shape.ToArray());
        Assert.Equal([3, 1], tensor.Strides.ToArray());
        Assert.Equal(ElementType.Float32, tensor.ElementType);
        Assert.Equal(24UL, tensor.ByteSize);
        Assert.True(tensor.IsContiguous);
        Assert.Equal(Device.Cpu, tensor.Device);
    }

    [Fact]
    public void Scalars_and_empty_tensors()
    {
        using (Tensor scalar = Tensor.FromMemory<double>(new double[] { 42 }, []))
        {
            Assert.Equal(0, scalar.Rank);
            Assert.Equal(1UL, scalar.ElementCount);
            using TensorView<double> view = scalar.Pin<double>();
            Assert.Equal([42], view.ReadOnlySpan.ToArray());
            using StridedView<double> strided = scalar.PinStrided<double>();
            Assert.Equal(42, strided[[]]);
            Assert.Equal([42], strided.ToArray());
        }

        foreach (long[] shape in new long[][] { [0], [3, 0, 2], [0, long.MaxValue] })
        {
            using Tensor empty = Tensor.FromMemory(Memory<int>.Empty, shape);
            Assert.Equal(shape, empty.Shape.ToArray());
            Assert.Equal(0UL, empty.ElementCount);
            using TensorView<int> view = empty.Pin<int>();
            Assert.True(view.Span.IsEmpty);
            Assert.True(view.Memory.IsEmpty);
            using StridedView<int> strided = empty.PinStrided<int>();
            Assert.Empty(strided.ToArray());
            using Tensor copy = empty.Copy();
            Assert.Equal(shape, copy.Shape.ToArray());
        }
    }

    [Fact]
    public void Release_runs_exactly_once_when_the_last_handle_closes()
    {
        int released = 0;
        Tensor tensor = Tensor.FromMemory<float>(new float[4], [4], new DenseOptions { Released = () => ++released });
        Tensor share = tensor.Share();
        TensorBuffer buffer = tensor.ShareBuffer(0);
        tensor.Dispose();
        tensor.Dispose();
        share.Dispose();
        Assert.Equal(0, released);
        buffer.Dispose();
        Assert.Equal(1, released);
        buffer.Dispose();
        Collect();
        Assert.Equal(1, released);
    }

    [Fact]
    public void Release_does_not_run_when_wrapping_fails()
    {
        int released = 0;
        var memory = new CountedMemory(64);
        Memory<byte> bytes = memory.Memory;
        DenseOptions options = new() { Released = () => ++released };
        Refused(HurrayStatus.InvalidLayout, () => Tensor.FromMemory(bytes, [65], options));
        Refused(HurrayStatus.InvalidArgument, () => Tensor.FromMemory(bytes, [-1], options));
        Refused(HurrayStatus.InvalidType, () => Tensor.FromMemory(bytes, [1], options with { ElementType = (ElementType)0x47 }));
        Refused(HurrayStatus.InvalidLayout, () => Tensor.FromMemory(bytes, [4], options with { Strides = [100] }));
        Refused(HurrayStatus.InvalidArgument, () => Tensor.FromMemory(bytes, [4, 4], options with { Strides = [1] }));
        Refused(HurrayStatus.InvalidArgument, () => Tensor.FromMemory(bytes, [4], options with { Strides = [1], Layout = Layout.ColMajor }));
        Refused(HurrayStatus.InvalidLayout, () => Tensor.FromMemory(bytes, [4], options with { ByteOffset = 61 }));
        Refused(HurrayStatus.InvalidArgument, () => Tensor.FromMemory(bytes, [4], options with { ByteOffset = ulong.MaxValue }));
        Refused(HurrayStatus.InvalidLayout, () => Tensor.FromMemory(bytes, [long.MaxValue, 4], options));
        Refused(HurrayStatus.InvalidLayout, () => Tensor.FromMemory(bytes, new long[65], options));
        Refused(HurrayStatus.InvalidType, () => Tensor.FromMemory<float>(new float[1], [1], options with { ElementType = ElementType.Int32 }));
        Refused(HurrayStatus.InvalidType, () => Tensor.FromMemory<char>(new char[1], [1], options));
        Refused(HurrayStatus.NullPointer, () => Tensor.FromPointer(null, 4, ElementType.Float32, [1], options));
        Assert.Equal(0, released);
        Assert.Equal(0, memory.Pins);
    }

    [Fact]
    public void Memory_is_unpinned_once()
    {
        var memory = new CountedMemory(64);
        using (Tensor.FromMemory(memory.Memory, [64]))
        {
            Assert.Equal(1, memory.Pins);
        }

        Assert.Equal(0, memory.Pins);
        Assert.Equal(1, memory.Unpinned);
    }

    [Fact]
    public void Release_that_throws_is_reported_and_does_no_harm()
    {
        var memory = new CountedMemory(64);
        Tensor tensor = Tensor.FromMemory(
            memory.Memory, [64], new DenseOptions { Released = () => throw new InvalidOperationException("release") });
        tensor.Dispose();
        Assert.Equal("release", TakeFailure()?.Message);
        Assert.Equal(0, memory.Pins);
    }

    [Fact]
    public void Release_may_use_the_binding()
    {
        ulong seen = 0;
        Tensor inner = Tensor.FromArray(new int[] { 1, 2 });
        Tensor outer = Tensor.FromMemory<int>(new int[1], [1], new DenseOptions
        {
            Released = () =>
            {
                seen = inner.ElementCount;
                inner.Dispose();
                HurrayRuntime.Drain();
            },
        });
        outer.Dispose();
        Assert.Equal(2UL, seen);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(4)]
    [InlineData(60)]
    [InlineData(63)]
    public void Memory_of_any_alignment(int shift)
    {
        byte* block = (byte*)NativeMemory.AlignedAlloc(256, 64);
        new Span<byte>(block, 256).Fill(0xEE);
        for (int i = 0; i < 8; ++i)
        {
            BitConverter.TryWriteBytes(new Span<byte>(block + shift + (4 * i), 4), i * 10);
        }

        int released = 0;
        var options = new DenseOptions { Released = () => ++released };
        using (Tensor tensor = Tensor.FromPointer(block + shift, 32, ElementType.Int32, [8], options))
        {
            Assert.Equal((ulong)shift, tensor.Descriptor.ByteOffset);
            using TensorBuffer buffer = tensor.ShareBuffer(0);
            Assert.Equal((uint)shift, buffer.Prefix);
            using StridedView<int> view = tensor.PinStrided<int>();
            Assert.Equal([0, 10, 20, 30, 40, 50, 60, 70], view.ToArray());
            if (shift % 4 != 0)
            {
                Refused(HurrayStatus.Misaligned, () => tensor.Pin<int>());
                using TensorView<byte> bytes = tensor.Pin<byte>();
                Assert.Equal(10, BitConverter.ToInt32(bytes.ReadOnlySpan[4..]));
            }
            else
            {
                using TensorView<int> aligned = tensor.Pin<int>();
                Assert.Equal(70, aligned[7]);
                Assert.Equal((nint)(block + shift), aligned.Address);
            }

            using Tensor copy = tensor.Copy();
            Assert.Equal(0UL, copy.Descriptor.ByteOffset);
            using TensorView<int> copied = copy.Pin<int>();
            Assert.Equal([0, 10, 20, 30, 40, 50, 60, 70], copied.ReadOnlySpan.ToArray());
        }

        Assert.Equal(1, released);
        if (shift != 0)
        {
            Refused(
                HurrayStatus.Misaligned,
                () => Tensor.FromPointer(
                    block + shift, 32, ElementType.Int32, [8], options with { Alignment = AlignmentPolicy.Require }));
            Assert.Equal(1, released);
        }

        using (Tensor aligned =
            Tensor.FromPointer(block + shift, 32, ElementType.Int32, [8], options with { Alignment = AlignmentPolicy.Copy }))
        {
            // A copy needs the memory no more; what is aligned is not copied.
            Assert.Equal(shift != 0 ? 2 : 1, released);
            using TensorView<int> view = aligned.Pin<int>();
            Assert.Equal(70, view[7]);
            Assert.Equal(0, view.Address % 64);
        }

        Assert.Equal(2, released);
        NativeMemory.AlignedFree(block);
    }

    [Fact]
    public void Offset_of_the_first_element()
    {
        using Tensor tensor = Tensor.FromMemory<int>(new int[] { 1, 2, 3, 4, 5 }, [3], new DenseOptions { ByteOffset = 8 });
        using StridedView<int> view = tensor.PinStrided<int>();
        Assert.Equal([3, 4, 5], view.ToArray());
    }

    [Fact]
    public void Allocated_tensors_are_zero_and_aligned()
    {
        using Tensor tensor = Tensor.Allocate(ElementType.Float64, [3, 2], 4096);
        using TensorView<double> view = tensor.Pin<double>();
        Assert.Equal(new double[6], view.ReadOnlySpan.ToArray());
        Assert.Equal(0, view.Address % 4096);
        view.Span.Fill(1);
        using Tensor scalar = Tensor.Allocate(ElementType.Int4, []);
        Assert.Equal(1UL, scalar.ByteSize);
        Refused(HurrayStatus.InvalidLayout, () => Tensor.Allocate(ElementType.Float32, [1], 96));
        Refused(HurrayStatus.InvalidLayout, () => Tensor.Allocate(ElementType.Float32, [long.MaxValue, 8]));
        Refused(HurrayStatus.OutOfMemory, () => Tensor.Allocate(ElementType.UInt8, [1L << 60]));
    }

    [Fact]
    public void Parts_move_in_on_success_only()
    {
        Descriptor descriptor = new DescriptorBuilder(ElementType.UInt8, Layout.RowMajor, [64]).AddBuffer(new BufferEntry(64)).Build();
        using var list = new BufferList();
        Refused(HurrayStatus.InvalidLayout, () => Tensor.FromParts(descriptor, list));
        TensorBuffer small = TensorBuffer.Allocate(32);
        list.Push(small);
        Assert.Throws<ObjectDisposedException>(() => small.ByteSize);
        Refused(HurrayStatus.BufferTooSmall, () => Tensor.FromParts(descriptor, list));
        Assert.Equal(1UL, list.Count);

        using var right = new BufferList();
        using TensorBuffer buffer = TensorBuffer.Allocate(64);
        right.Push(buffer);
        using Tensor tensor = Tensor.FromParts(descriptor, right);
        Assert.Throws<ObjectDisposedException>(() => right.Count);
        Assert.Equal([64], tensor.Shape.ToArray());
        Assert.Equal(descriptor.Encode(), tensor.Descriptor.Encode());
    }

    [Fact]
    public void Dynamic_shapes_have_a_descriptor_and_no_view()
    {
        Descriptor descriptor = new DescriptorBuilder(ElementType.Int4, Layout.RowMajor, [ShapeLimit.DimensionDynamic, 2])
            .AddBuffer(new BufferEntry(64)).Build();
        using var list = new BufferList();
        list.Push(TensorBuffer.Allocate(64));
        using Tensor tensor = Tensor.FromParts(descriptor, list);
        Assert.False(tensor.IsDense);
        Assert.Equal(
            (ElementType.Int4, Layout.RowMajor, 2, 4, true),
            (tensor.ElementType, tensor.Layout, tensor.Rank, tensor.Bits, tensor.IsPacked));
        Refused(HurrayStatus.Unsupported, () => _ = tensor.Shape);
        Refused(HurrayStatus.Unsupported, () => _ = tensor.ElementCount);
        Refused(HurrayStatus.Unsupported, () => tensor.Pin<byte>());
        Refused(HurrayStatus.Unsupported, () => tensor.PinPacked());
        Assert.ThrowsAny<HurrayException>(() => tensor.Copy());
    }

    [Fact]
    public void Memory_of_devices_is_carried_and_not_read()
    {
        byte* block = (byte*)NativeMemory.AlignedAlloc(64, 64);
        int released = 0;
        Descriptor descriptor = new DescriptorBuilder(ElementType.Float32, Layout.RowMajor, [4])
            .AddBuffer(new BufferEntry(64, 64, Device.Cuda)).Build();
        using (var list = new BufferList())
        {
            list.Push(TensorBuffer.FromPointer(block, 64, 64, Device.Cuda, () => ++released));
            using Tensor tensor = Tensor.FromParts(descriptor, list);
            Assert.Equal(Device.Cuda, tensor.Device);
            Assert.Equal([4], tensor.Shape.ToArray());
            Refused(HurrayStatus.Unsupported, () => tensor.Pin<float>());
            Refused(HurrayStatus.Unsupported, () => tensor.PinStrided<float>());
            Refused(HurrayStatus.Unsupported, () => tensor.Copy());
            using TensorStreamWriter writer = TensorStreamWriter.ToMemory();
            Refused(HurrayStatus.Unsupported, () => writer.Write(tensor));
        }

        Assert.Equal(1, released);
        NativeMemory.AlignedFree(block);
    }

    [Fact]
    public void Buffers_are_shared_sliced_and_marked()
    {
        int released = 0;
        TensorBuffer buffer = TensorBuffer.FromMemory<byte>(new byte[1024], () => ++released);
        ulong start = buffer.Prefix == 0 ? 0UL : 64;
        TensorBuffer part = buffer.Slice(start, 128);
        Refused(HurrayStatus.IndexOutOfBounds, () => buffer.Slice(0, 5000));
        Refused(HurrayStatus.IndexOutOfBounds, () => buffer.Slice(ulong.MaxValue, 2));
        Refused(HurrayStatus.Misaligned, () => buffer.Slice(1, 2));
        Assert.Equal(2UL, buffer.ShareCount);
        Assert.False(buffer.IsReadOnly);
        part.SetReadOnly();
        Assert.True(part.IsReadOnly);
        using (TensorView<byte> view = part.Pin())
        {
            Assert.Equal(128, view.Length);
            Refused(HurrayStatus.Unsupported, () => _ = view.Span);
        }

        using (TensorView<byte> all = buffer.Pin())
        {
            Assert.Equal(1024, all.Length);
            all.Span[1023] = 9;
        }

        buffer.Dispose();
        Assert.Equal(0, released);
        TensorView<byte> last = part.Pin();
        part.Dispose();
        Assert.Equal(0, released);
        last.Dispose();
        Assert.Equal(1, released);
    }

    [Fact]
    public void Buffers_from_pointers_declare_alignment()
    {
        byte* block = (byte*)NativeMemory.AlignedAlloc(256, 256);
        int released = 0;
        using (TensorBuffer buffer = TensorBuffer.FromPointer(block, 256, 256, Device.Cpu, () => ++released))
        {
            Assert.Equal(new BufferEntry(256, 256), buffer.Entry);
            Assert.Equal((nint)block, buffer.Data);
        }

        Assert.Equal(1, released);
        Refused(HurrayStatus.Misaligned, () => TensorBuffer.FromPointer(block + 64, 64, 128, Device.Cpu, () => ++released));
        Refused(HurrayStatus.InvalidLayout, () => TensorBuffer.FromPointer(block, 64, 32, Device.Cpu, () => ++released));
        Refused(HurrayStatus.InvalidType, () => TensorBuffer.FromPointer(block, 64, 64, (Device)0x10, () => ++released));
        Refused(HurrayStatus.NullPointer, () => TensorBuffer.FromPointer(null, 64, 64, Device.Cpu, () => ++released));
        Assert.Equal(1, released);
        using (TensorBuffer empty = TensorBuffer.FromPointer(null, 0))
        {
            Assert.Equal(0UL, empty.ByteSize);
        }

        using (TensorBuffer device = TensorBuffer.FromPointer(block, 64, 64, Device.Cuda))
        {
            Refused(HurrayStatus.Unsupported, () => device.Pin());
        }

        NativeMemory.AlignedFree(block);
    }

    [Fact]
    public void BFloat16_rounds_to_even_and_keeps_what_is_special()
    {
        Assert.Equal(0x3FC0, ((BFloat16)1.5F).Bits);
        Assert.Equal(0x3F80, ((BFloat16)BitConverter.UInt32BitsToSingle(0x3F808000)).Bits);
        Assert.Equal(0x3F82, ((BFloat16)BitConverter.UInt32BitsToSingle(0x3F818000)).Bits);
        Assert.Equal(0x3F81, ((BFloat16)BitConverter.UInt32BitsToSingle(0x3F808001)).Bits);
        Assert.Equal(0x7F80, ((BFloat16)float.MaxValue).Bits);
        Assert.Equal(0xFF80, ((BFloat16)float.NegativeInfinity).Bits);
        Assert.Equal(0x8000, ((BFloat16)(-0F)).Bits);
        Assert.True(float.IsNaN((float)(BFloat16)BitConverter.UInt32BitsToSingle(0x7F800001)));
        Assert.Equal(1.5, (double)new BFloat16(0x3FC0));
    }

    private static void RoundTrip<T>(T[] values)
        where T : unmanaged
    {
        using Tensor tensor = Tensor.FromArray(values);
        Assert.Equal(ElementTypes.Of<T>(), tensor.ElementType);
        using TensorView<T> view = tensor.Pin<T>();
        fixed (T* array = values)
        {
            Assert.Equal((nint)array, view.Address);
        }

        Assert.Equal(MemoryMarshal.AsBytes<T>(values).ToArray(), MemoryMarshal.AsBytes(view.ReadOnlySpan).ToArray());
        using StridedView<T> strided = tensor.PinStrided<T>();
        Assert.Equal(MemoryMarshal.AsBytes<T>(values).ToArray(), MemoryMarshal.AsBytes<T>(strided.ToArray()).ToArray());
        using Tensor readOnly = Tensor.FromMemory((ReadOnlyMemory<T>)values, [values.Length]);
        Assert.True(readOnly.IsReadOnly);
    }

    /// <summary>Memory that counts how often it is pinned.</summary>
    private sealed class CountedMemory(int length) : MemoryManager<byte>
    {
        private readonly byte[] _bytes = new byte[length];

        public int Pins { get; private set; }

        public int Unpinned { get; private set; }

        public override Span<byte> GetSpan() => _bytes;

        public override MemoryHandle Pin(int elementIndex = 0)
        {
            ++Pins;
            GCHandle handle = GCHandle.Alloc(_bytes, GCHandleType.Pinned);
            return new MemoryHandle((byte*)handle.AddrOfPinnedObject() + elementIndex, handle, this);
        }

        public override void Unpin()
        {
            --Pins;
            ++Unpinned;
        }

        protected override void Dispose(bool disposing)
        {
        }
    }
}
