using System;
using System.Collections.Generic;
using Xunit;

namespace Hurray.Tests;

/// <summary>Failure at each step of import and export: whoever owned what was passed still owns it, each release runs once, and live handles
/// are back at the base line (which every test here ends with).</summary>
public class FailureTests : LeakChecked
{
    private static readonly Dictionary<string, (HurrayStatus Code, Func<TensorBuffer, BufferList> List, Func<byte[], byte[]> Descriptor)> Steps = new()
    {
        ["descriptor is empty"] = (HurrayStatus.InvalidLayout, One, _ => []),
        ["descriptor has another magic"] = (HurrayStatus.InvalidMagic, One, encoded => With(encoded, 0, (byte)'X')),
        ["descriptor has another version"] = (HurrayStatus.VersionMismatch, One, encoded => With(encoded, 4, 99)),
        ["descriptor is cut"] = (HurrayStatus.InvalidLayout, One, encoded => encoded[..^1]),
        ["list is empty"] = (HurrayStatus.InvalidLayout, buffer =>
        {
            buffer.Dispose();
            return new BufferList();
        }, encoded => encoded),
        ["list has a buffer too many"] = (HurrayStatus.InvalidLayout, buffer =>
        {
            BufferList list = One(buffer);
            list.Push(TensorBuffer.Allocate(64));
            return list;
        }, encoded => encoded),
        ["buffer is too small"] = (HurrayStatus.BufferTooSmall, buffer =>
        {
            using (buffer)
            {
                return One(buffer.Slice(0, 4));
            }
        }, encoded => encoded),
    };

    public static TheoryData<string> StepNames => new(Steps.Keys);

    [Theory]
    [MemberData(nameof(StepNames))]
    public void Import_that_fails_leaves_the_pair_to_its_owner(string step)
    {
        int memory = 0;
        int owner = 0;
        (HurrayStatus code, Func<TensorBuffer, BufferList> makeList, Func<byte[], byte[]> breakIt) = Steps[step];
        using (Tensor tensor = Tensor.FromMemory<float>(new float[64], [64], new DenseOptions { Released = () => ++memory }))
        using (BufferList list = makeList(tensor.ShareBuffer(0)))
        using (var context = new TensorContext(breakIt(tensor.Descriptor.Encode()), new object(), () => ++owner))
        {
            for (int times = 0; times < 2; ++times)
            {
                Refused(code, () => Tensor.Import(list, context));
                Refused(code, () => Tensor.Import(list, context, new DecodeOptions()));
                Assert.Equal((0, 0), (memory, owner));
            }
        }

        Assert.Equal((1, 1), (memory, owner));
    }

    [Fact]
    public void Import_of_null_pointers_takes_nothing()
    {
        using Tensor tensor = Tensor.FromArray(new[] { 1 });
        tensor.Export(out BufferList list, out TensorContext context);
        nint none = 0;
        nint pointer = context.Detach();
        Refused(HurrayStatus.NullPointer, () => Tensor.Import(ref none, ref pointer));
        Assert.NotEqual(0, pointer);
        TensorContext.Adopt(pointer).Dispose();
        list.Dispose();
    }

    [Fact]
    public void Export_that_fails_leaves_the_tensor_as_it_was()
    {
        int released = 0;
        int events = 0;
        using (Tensor tensor = WithEvent(() => ++released, () => ++events))
        {
            Refused(HurrayStatus.SyncModeMismatch, () => tensor.Export(out _, out _));
            Refused(HurrayStatus.SyncModeMismatch, () => tensor.Export(out _, out _));
            Assert.Equal((0, 0), (released, events));
        }

        Assert.Equal((1, 1), (released, events));
    }

    private static unsafe Tensor WithEvent(Action released, Action ended)
    {
        var entry = new BufferEntry(1024, 64, Device.Cuda, SyncMode.Event);
        using var list = new BufferList();
        list.Push(TensorBuffer.Handoff(entry, (void*)4096, new EventPayload(7, Device.Cuda, _ => ended()), released: released));
        return Tensor.FromParts(
            new DescriptorBuilder(ElementType.Float32, Layout.RowMajor, [256]).AddBuffer(entry).Build(), list);
    }

    private static BufferList One(TensorBuffer buffer)
    {
        var list = new BufferList();
        list.Push(buffer);
        return list;
    }

    private static byte[] With(byte[] bytes, int at, byte value)
    {
        bytes[at] = value;
        return bytes;
    }
}
