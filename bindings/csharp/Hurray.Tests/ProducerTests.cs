using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading;
using Hurray.Interop;
using Xunit;

namespace Hurray.Tests;

/// <summary>Tensors on request, ordered on the consumer's stream.</summary>
public unsafe class ProducerTests : LeakChecked
{
    private const nint Memory = 4096;
    private static readonly DeviceStream Consumer = new(0x57, Device.Cuda);
    private static readonly Descriptor Described =
        new DescriptorBuilder(ElementType.Float32, Layout.RowMajor, [4, 4])
            .AddBuffer(new BufferEntry(64, 64, Device.Cuda, SyncMode.ConsumerStream)).Build();

    // Does what it is told, and tells what it was asked for.
    private sealed class Producer(Func<DeviceStream?, TensorParts> export) : ITensorProducer
    {
        public List<DeviceStream?> Asked { get; } = [];

        public List<int> Threads { get; } = [];

        public List<int> Released { get; } = [];

        public TensorParts Export(DeviceStream? consumer)
        {
            Asked.Add(consumer);
            Threads.Add(Environment.CurrentManagedThreadId);
            return export(consumer);
        }

        public void Dispose() => Released.Add(Environment.CurrentManagedThreadId);
    }

    [Fact]
    public void Request_hands_the_consumers_stream_over_and_the_tensor_is_ordered_on_it()
    {
        int released = 0;
        var made = new Producer(consumer => Ordered(consumer!.Value, () => ++released));
        using (var producer = new TensorProducer(made))
        {
            using Tensor tensor = producer.Request(Consumer);
            Assert.Equal([Consumer], made.Asked);
            Assert.Equal([Environment.CurrentManagedThreadId], made.Threads);
            Assert.Equal(SyncMode.ConsumerStream, tensor.SyncOf(0).Mode);
            Assert.Equal(Consumer, tensor.SyncOf(0).Stream);
            Assert.Equal([4, 4], tensor.Shape.ToArray());
            // The tensor does not need its producer.
            producer.Dispose();
            Assert.Equal([Environment.CurrentManagedThreadId], made.Released);
            Assert.Equal(0, released);
        }

        Assert.Equal(1, released);
        Assert.Single(made.Released);
    }

    [Fact]
    public void Request_without_a_stream_gets_what_needs_none()
    {
        int[] array = [1, 2, 3];
        var made = new Producer(_ =>
        {
            using Tensor tensor = Tensor.FromArray(array);
            tensor.Export(out BufferList list, out TensorContext context);
            return new TensorParts(list, context);
        });
        using var producer = new TensorProducer(made);
        using Tensor tensor = producer.Request();
        using Tensor again = producer.Request();
        Assert.Equal([null, null], made.Asked);
        using TensorView<int> view = again.Pin<int>();
        array[1] = 20;
        Assert.Equal(array, view.ReadOnlySpan.ToArray());
    }

    [Fact]
    public void Buffer_ordered_on_another_stream_is_refused_and_ended()
    {
        int released = 0;
        DeviceStream[] others = [new(Consumer.Handle + 1, Device.Cuda), new(Consumer.Handle, Device.Rocm)];
        var made = new Producer(_ => Ordered(Consumer, () => ++released));
        using var producer = new TensorProducer(made);
        int requests = 0;
        foreach (DeviceStream? other in new DeviceStream?[] { others[0], others[1], null })
        {
            Refused(HurrayStatus.SyncModeMismatch, () => producer.Request(other));
            Assert.Equal(++requests, released);
        }

        Refused(HurrayStatus.InvalidArgument, () => producer.Request(new DeviceStream(0, Device.Cuda)));
        Assert.Equal(3, made.Asked.Count);
    }

    [Theory]
    [InlineData(3U)]
    [InlineData(5U)]
    public void Context_of_another_version_is_refused_and_everything_is_ended(uint version)
    {
        int released = 0;
        using var producer = new TensorProducer(new Producer(consumer =>
        {
            TensorParts parts = Ordered(consumer!.Value, () => ++released);
            parts.Context.Dispose();
            return parts with { Context = new TensorContext(Described.Encoded, null, () => ++released, version) };
        }));
        HurrayException e = Refused(HurrayStatus.VersionMismatch, () => producer.Request(Consumer));
        Assert.Contains($"{version}", e.Message);
        Assert.Equal(2, released);
    }

    public static TheoryData<string, HurrayStatus, string> Failures => new()
    {
        { "HurrayException", HurrayStatus.NotFound, "no such tensor [byte 7]" },
        { "unknown code", HurrayStatus.InvalidArgument, "-12345" },
        { "no failure", HurrayStatus.InternalPanic, "Hurray.HurrayException: all is well" },
        { "Exception", HurrayStatus.InternalPanic, "System.FormatException: mine" },
        { "cancelled", HurrayStatus.Cancelled, "stop" },
        { "memory", HurrayStatus.OutOfMemory, "too much" },
        { "long", HurrayStatus.InternalPanic, "System.FormatException: äöü€😀äöü€😀" },
        { "nothing", HurrayStatus.NullPointer, "no buffers" },
        { "no buffers", HurrayStatus.NullPointer, "no buffers" },
        { "no context", HurrayStatus.NullPointer, "no context" },
        { "closed buffers", HurrayStatus.InvalidHandle, nameof(BufferList) },
        { "closed context", HurrayStatus.InvalidHandle, nameof(TensorContext) },
    };

    [Theory]
    [MemberData(nameof(Failures))]
    public void Failure_of_a_producer_is_a_typed_error_of_the_request_and_nothing_is_left(
        string how, HurrayStatus code, string message)
    {
        int released = 0;
        using var producer = new TensorProducer(new Producer(_ => Fail(how, () => ++released)));
        HurrayException e = Refused(code, () => producer.Request(Consumer));
        Assert.Contains(message, e.Message);
        // Whole characters, also where the message was cut.
        Assert.DoesNotContain('\uFFFD', e.Message);
        Assert.Equal(how is "no context" or "closed context" ? 1 : 0, released);
        if (how == "HurrayException")
        {
            Assert.Equal(7UL, e.ByteOffset);
        }

        // It may be asked again.
        Refused(code, () => producer.Request(Consumer));
    }

    private static TensorParts Fail(string how, Action released) => how switch
    {
        "HurrayException" => throw new HurrayException(HurrayStatus.NotFound, "no such tensor [byte 7]"),
        "unknown code" => throw new HurrayException((HurrayStatus)(-12345), "something new"),
        "no failure" => throw new HurrayException(HurrayStatus.Ok, "all is well"),
        "Exception" => throw new FormatException("mine"),
        "cancelled" => throw new OperationCanceledException("stop"),
        "memory" => throw new OutOfMemoryException("too much"),
        "long" => throw new FormatException(string.Concat(System.Linq.Enumerable.Repeat("äöü€😀", 100))),
        "nothing" => default,
        "no buffers" => new TensorParts(null!, new TensorContext([])),
        "no context" => Ordered(Consumer, released, keepContext: false),
        "closed buffers" => Closed(new TensorParts(new BufferList(), new TensorContext([])), buffers: true),
        "closed context" => Closed(Ordered(Consumer, released), buffers: false),
        _ => throw new ArgumentOutOfRangeException(nameof(how)),
    };

    private static TensorParts Closed(TensorParts parts, bool buffers)
    {
        (buffers ? (IDisposable)parts.Buffers : parts.Context).Dispose();
        return parts;
    }

    [Fact]
    public void Use_after_close_is_a_typed_error_and_the_release_runs_once()
    {
        var made = new Producer(_ => throw new InvalidOperationException("asked after its end"));
        var producer = new TensorProducer(made);
        producer.Dispose();
        producer.Dispose();
        Assert.Single(made.Released);
        Assert.Throws<ObjectDisposedException>(() => producer.Request());
        Assert.Throws<ObjectDisposedException>(() => producer.Pointer);
        nint target = 1;
        Assert.Throws<ObjectDisposedException>(() => producer.MoveTo(target));
        Assert.Throws<ArgumentNullException>(() => new TensorProducer(null!));
        Assert.Empty(made.Asked);
    }

    [Fact]
    public void Producer_that_is_closed_while_it_exports_is_released_after_that()
    {
        TensorProducer? producer = null;
        Producer? made = null;
        int whenAsked = -1;
        made = new Producer(consumer =>
        {
            producer!.Dispose();
            whenAsked = made!.Released.Count;
            return Ordered(consumer!.Value, () => { });
        });
        producer = new TensorProducer(made);
        producer.Request(Consumer).Dispose();
        Assert.Equal(0, whenAsked);
        Assert.Single(made.Released);
    }

    [Fact]
    public void Exception_of_a_producers_release_stays_in_dotnet()
    {
        new TensorProducer(new Unreleasable()).Dispose();
        Assert.Equal("mine", Assert.IsType<FormatException>(TakeFailure()).Message);
    }

    private sealed class Unreleasable : ITensorProducer
    {
        public TensorParts Export(DeviceStream? consumer) => default;

        public void Dispose() => throw new FormatException("mine");
    }

    [Fact]
    public void Collector_never_releases_a_producer_on_its_own_thread()
    {
        var made = new Producer(_ => default);
        Forget(made);
        GC.Collect();
        GC.WaitForPendingFinalizers();
        Assert.Empty(made.Released);
        int draining = 0;
        var drain = new Thread(() =>
        {
            draining = Environment.CurrentManagedThreadId;
            HurrayRuntime.Drain();
        });
        drain.Start();
        drain.Join();
        Assert.Equal([draining], made.Released);
        Assert.NotEqual(CollectorThread.Id, draining);
    }

    [Fact]
    public void Producer_moves_to_another_runtime_which_asks_and_releases_it()
    {
        int released = 0;
        var made = new Producer(consumer => Ordered(consumer!.Value, () => ++released));
        var producer = new TensorProducer(made);
        NativeProducer theirs = default;
        var at = (nint)(&theirs);
        producer.MoveTo(at);
        Assert.Throws<ObjectDisposedException>(() => producer.Request());
        producer.Dispose();
        Collect();
        Assert.Empty(made.Released);

        NativeError error;
        Assert.Equal(
            HurrayStatus.Ok,
            NativeMethods.ProducerRequest(
                in theirs, (void*)Consumer.Handle, (byte)Consumer.Device, out TensorHandle handle, &error));
        handle.Dispose();
        Assert.Equal(1, released);
        Assert.Equal(HurrayStatus.Ok, NativeMethods.ProducerRelease(ref theirs, &error));
        Assert.Equal(HurrayStatus.Ok, NativeMethods.ProducerRelease(ref theirs, &error));
        Assert.Single(made.Released);
        Assert.True(theirs.ExportTensor == null && theirs.Release == null);
    }

    [Fact]
    public void Producer_of_another_runtime_moves_here_and_is_released_once()
    {
        var made = new Producer(consumer => Ordered(consumer!.Value, () => { }));
        NativeProducer theirs = default;
        var at = (nint)(&theirs);
        new TensorProducer(made).MoveTo(at);
        // A later version's struct is longer.
        theirs.StructSize += 8;
        TensorProducer taken = TensorProducer.TakeFrom(at);
        Assert.True(theirs.ExportTensor == null && theirs.Release == null);
        NativeError error;
        theirs.StructSize -= 8;
        Assert.Equal(HurrayStatus.Ok, NativeMethods.ProducerRelease(ref theirs, &error));
        Assert.Empty(made.Released);
        taken.Request(Consumer).Dispose();
        Refused(HurrayStatus.NullPointer, () => TensorProducer.TakeFrom(at));
        taken.Dispose();
        Assert.Single(made.Released);
    }

    [Fact]
    public void What_is_no_producer_is_refused_and_stays_as_it_is()
    {
        var made = new Producer(_ => default);
        NativeProducer theirs = default;
        var at = (nint)(&theirs);
        new TensorProducer(made).MoveTo(at);
        Refused(HurrayStatus.NullPointer, () => TensorProducer.TakeFrom(0));
        using (var open = new TensorProducer(made))
        {
            Refused(HurrayStatus.NullPointer, () => open.MoveTo(0));
            Assert.NotEqual(0, open.Pointer);
        }

        made.Released.Clear();
        uint size = theirs.StructSize;
        theirs.StructSize = size - 1;
        Refused(HurrayStatus.InvalidArgument, () => TensorProducer.TakeFrom(at));
        theirs.StructSize = size;
        theirs.AbiVersion = 3;
        HurrayException e = Refused(HurrayStatus.VersionMismatch, () => TensorProducer.TakeFrom(at));
        Assert.Contains("version 3", e.Message);
        theirs.AbiVersion = 4;
        Assert.Empty(made.Released);
        TensorProducer.TakeFrom(at).Dispose();
        Assert.Single(made.Released);
    }

    [Fact]
    public void Producer_survives_collections_while_native_code_holds_it()
    {
        NativeProducer theirs = default;
        var at = (nint)(&theirs);
        var told = new int[2];
        MoveForgotten(at, told);
        Collect();
        NativeError error;
        for (int i = 0; i < 10; ++i)
        {
            Collect();
            Assert.Equal(
                HurrayStatus.Ok,
                NativeMethods.ProducerRequest(
                    in theirs, (void*)Consumer.Handle, (byte)Consumer.Device, out TensorHandle handle, &error));
            handle.Dispose();
        }

        Assert.Equal(HurrayStatus.Ok, NativeMethods.ProducerRelease(ref theirs, &error));
        Assert.Equal([10, 1], told);
    }

    private sealed class Telling(int[] told) : ITensorProducer
    {
        public TensorParts Export(DeviceStream? consumer)
        {
            ++told[0];
            return Ordered(consumer!.Value, () => { });
        }

        public void Dispose() => ++told[1];
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void MoveForgotten(nint target, int[] told) => new TensorProducer(new Telling(told)).MoveTo(target);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Forget(Producer made) => _ = new TensorProducer(made);

    private static TensorParts Ordered(DeviceStream consumer, Action released, bool keepContext = true)
    {
        var list = new BufferList();
        list.Push(TensorBuffer.Handoff(
            new BufferEntry(64, 64, Device.Cuda, SyncMode.ConsumerStream), (void*)Memory, null, consumer with { Device = Device.Cuda },
            released));
        return new TensorParts(list, keepContext ? new TensorContext(Described.Encoded) : null!);
    }
}
