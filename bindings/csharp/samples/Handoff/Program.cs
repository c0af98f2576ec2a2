// The handoff of ../../README.md, with a device that only says what it is asked to do. A test runs it and looks at what it prints.
using System;
using Hurray;

var descriptor = new DescriptorBuilder(ElementType.Float32, Layout.RowMajor, [256])
    .AddBuffer(new BufferEntry(1024, 64, Device.Cuda, SyncMode.Event)).Build();
var list = new BufferList();
list.Push(Handoffs.Produce(Gpu.Allocate(), "producer"));
nint buffers = list.Detach();
nint context = new TensorContext(descriptor.Encoded).Detach();
using (Tensor tensor = Tensor.Import(ref buffers, ref context))
{
    Handoffs.Consume(tensor, new DeviceStream(2, Device.Cuda));
}

// sample: request
using var producer = new TensorProducer(new Weights());         // callable from every runtime: MoveTo, Pointer
var mine = new DeviceStream(Gpu.Stream("consumer"), Device.Cuda);
using (Tensor weights = producer.Request(mine))                 // a producer of any runtime: TakeFrom
{
    Gpu.Launch(mine.Handle, weights.SyncOf(0).Data);            // ordered on this stream already
}
// end sample

internal static unsafe class Handoffs
{
    // sample: produce
    public static TensorBuffer Produce(nint memory, string stream)
    {
        nint written = Gpu.Record(stream);                      // first the event, then the handoff
        return TensorBuffer.Handoff(
            new BufferEntry(1024, 64, Device.Cuda, SyncMode.Event), (void*)memory,
            new EventPayload(written, Device.Cuda, Gpu.DestroyEvent), released: () => Gpu.Free(memory));
    }
    // end sample

    // sample: consume
    public static void Consume(Tensor tensor, DeviceStream stream)
    {
        BufferSync sync = tensor.SyncOf(0);
        if (sync.Mode == SyncMode.Event)
        {
            Gpu.Wait(stream.Handle, sync.Event.Handle);         // on every stream that will touch the memory
            sync.ReleaseEvent();                                // once; a second time is an error
        }

        Gpu.Launch(stream.Handle, sync.Data);
    }
    // end sample
}

// sample: producer
internal sealed unsafe class Weights : ITensorProducer
{
    private static readonly BufferEntry Entry = new(1024, 64, Device.Cuda, SyncMode.ConsumerStream);

    public TensorParts Export(DeviceStream? consumer)
    {
        DeviceStream stream = consumer ?? throw new HurrayException(HurrayStatus.Unsupported, "a stream is needed");
        nint memory = Gpu.Allocate();
        Gpu.WaitForStream(stream.Handle, "producer");           // before this returns
        var buffers = new BufferList();
        buffers.Push(TensorBuffer.Handoff(Entry, (void*)memory, stream: stream, released: () => Gpu.Free(memory)));
        Descriptor descriptor = new DescriptorBuilder(ElementType.Float32, Layout.RowMajor, [256]).AddBuffer(Entry).Build();
        return new TensorParts(buffers, new TensorContext(descriptor.Encoded));
    }

    public void Dispose() => Console.WriteLine("producer released");
}
// end sample

internal static class Gpu
{
    public static nint Allocate() => 4096;

    public static nint Stream(string name)
    {
        Console.WriteLine($"stream {name}");
        return 2;
    }

    public static nint Record(string stream)
    {
        Console.WriteLine($"record event on {stream}");
        return 7;
    }

    public static void Wait(nint stream, nint @event) => Console.WriteLine($"stream {stream} waits for event {@event}");

    public static void WaitForStream(nint stream, string other) => Console.WriteLine($"stream {stream} waits for {other}");

    public static void Launch(nint stream, nint memory) => Console.WriteLine($"work on stream {stream} at {memory}");

    public static void DestroyEvent(nint @event) => Console.WriteLine($"destroy event {@event}");

    public static void Free(nint memory) => Console.WriteLine($"free {memory}");
}
