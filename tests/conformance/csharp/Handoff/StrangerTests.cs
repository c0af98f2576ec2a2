using System;
using Hurray.Tests;
using Xunit;

namespace Hurray.Conformance;

/// <summary>Pointers that are no handles of hurray's are refused before anything behind their magic is read: reading on would
/// end the process.</summary>
public class StrangerTests : LeakChecked
{
    public static TheoryData<string> Kinds => new("foreign", "other generation", "other kind");

    private static Stranger Make(string kind, HandleKind of) => kind switch
    {
        "foreign" => Stranger.Foreign(),
        "other generation" => Stranger.OtherGeneration(of),
        "other kind" => Stranger.OtherKind(of == HandleKind.Buffer ? HandleKind.Tensor : HandleKind.Buffer),
        _ => throw new ArgumentOutOfRangeException(nameof(kind)),
    };

    [Theory]
    [MemberData(nameof(Kinds))]
    public void Pair_of_a_stranger_is_refused_and_stays_the_callers(string kind)
    {
        using Stranger list = Make(kind, HandleKind.BufferList);
        using Stranger context = Make(kind, HandleKind.TensorContext);
        using Tensor own = Tensor.FromArray(new[] { 1F, 2F });
        own.Export(out BufferList buffers, out TensorContext described);
        nint ownList = buffers.Detach();
        nint ownContext = described.Detach();
        nint strangeList = list.Pointer;
        nint strangeContext = context.Pointer;
        Refused(HurrayStatus.InvalidHandle, () => Tensor.Import(ref strangeList, ref strangeContext));
        Refused(HurrayStatus.InvalidHandle, () => Tensor.Import(ref strangeList, ref ownContext));
        Refused(HurrayStatus.InvalidHandle, () => Tensor.Import(ref ownList, ref strangeContext));
        Assert.Equal((list.Pointer, context.Pointer), (strangeList, strangeContext));
        using Tensor imported = Tensor.Import(ref ownList, ref ownContext);
        Assert.Equal(2UL, imported.ElementCount);
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public void Every_use_of_a_stranger_is_a_typed_error_and_its_end_is_reported(string kind)
    {
        using Stranger buffer = Make(kind, HandleKind.Buffer);
        using Stranger list = Make(kind, HandleKind.BufferList);
        using Stranger context = Make(kind, HandleKind.TensorContext);
        TensorBuffer adoptedBuffer = TensorBuffer.Adopt(buffer.Pointer);
        BufferList adoptedList = BufferList.Adopt(list.Pointer);
        TensorContext adoptedContext = TensorContext.Adopt(context.Pointer);
        using var own = new BufferList();
        Action[] uses =
        [
            () => _ = adoptedBuffer.Entry, () => _ = adoptedBuffer.ByteSize, () => adoptedBuffer.Share(),
            () => adoptedBuffer.Slice(0, 0), () => adoptedBuffer.Pin(), adoptedBuffer.SetReadOnly,
            adoptedBuffer.AllowReleaseOnAnyThread, () => _ = adoptedBuffer.Sync.Mode, () => _ = adoptedBuffer.Sync.Data,
            () => _ = adoptedBuffer.Sync.Event, () => _ = adoptedBuffer.Sync.Stream, adoptedBuffer.Sync.ReleaseEvent,
            () => own.Push(adoptedBuffer),
            () => _ = adoptedList.Count, () => adoptedList.Share(0), () => _ = adoptedList.SyncOf(0).Event,
            () => adoptedList.Push(TensorBuffer.Allocate(1)),
            () => _ = adoptedContext.AbiVersion, () => adoptedContext.ReadDescriptor(), () => adoptedContext.Supports(4),
            () => Tensor.Import(adoptedList, adoptedContext),
        ];
        Assert.All(uses, use => Refused(HurrayStatus.InvalidHandle, use));
        Assert.Null(TakeFailure());
        foreach (IDisposable one in new IDisposable[] { adoptedBuffer, adoptedList, adoptedContext })
        {
            one.Dispose();
            Assert.Equal(HurrayStatus.InvalidHandle, Assert.IsType<HurrayException>(TakeFailure()).Code);
        }
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public void Producer_that_exports_strangers_is_refused(string kind)
    {
        using Stranger list = Make(kind, HandleKind.BufferList);
        using Stranger context = Make(kind, HandleKind.TensorContext);
        using var producer = new TensorProducer(new FromStranger(list, context));
        Refused(HurrayStatus.InvalidHandle, () => producer.Request());
    }

    private sealed class FromStranger(Stranger list, Stranger context) : ITensorProducer
    {
        public TensorParts Export(DeviceStream? consumer) =>
            new(BufferList.Adopt(list.Pointer), TensorContext.Adopt(context.Pointer));

        public void Dispose()
        {
        }
    }
}
