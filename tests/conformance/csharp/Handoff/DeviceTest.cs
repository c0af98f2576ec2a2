using System;
using Hurray.Tests;
using Xunit;

namespace Hurray.Conformance;

/// <summary>A device with one stream of the producer and one piece of memory, and the steps of a handoff through the binding. A
/// test takes them in the right order, or in a wrong one.</summary>
public abstract class DeviceTest : LeakChecked
{
    protected const int Elements = 16;

    private protected DeviceTest()
    {
        Producer = Fake.Stream("producer");
        Consumer = Fake.Stream("consumer");
        Other = Fake.Stream("other");
        Memory = Fake.Memory(Elements * sizeof(float));
        Event = Fake.Event();
    }

    private protected FakeDevice Fake { get; } = new();

    protected DeviceStream Producer { get; }

    protected DeviceStream Consumer { get; }

    protected DeviceStream Other { get; }

    protected nint Memory { get; }

    protected nint Event { get; }

    public override void Dispose()
    {
        base.Dispose();
        Assert.Equal(0UL, FakeDevice.StrayCalls);
        Fake.Dispose();
    }

    /// <summary>Nothing was wrong, and nothing is owed.</summary>
    protected void AssertInOrder()
    {
        Assert.Equal(Violation.None, Fake.Finish());
        Assert.Empty(Fake.Violations);
    }

    /// <summary>The device found exactly this.</summary>
    private protected void AssertCaught(params Violation[] expected)
    {
        Assert.Equal(expected, Fake.Violations);
        Fake.ForgetViolations();
    }

    protected static BufferEntry Entry(SyncMode mode) => new(Elements * sizeof(float), 64, FakeDevice.Tag, mode);

    /// <summary>The producer's side: a buffer, with the marks for the device around the call.</summary>
    protected unsafe TensorBuffer HandOff(SyncMode mode, DeviceStream? consumer = null)
    {
        EventPayload? payload = mode == SyncMode.Event ? new EventPayload(Event, FakeDevice.Tag, Fake.ReleaseEvent) : null;
        nint what = mode switch { SyncMode.Event => Event, SyncMode.ConsumerStream => consumer!.Value.Handle, _ => 0 };
        Fake.Begin(Memory, mode, what);
        TensorBuffer buffer = TensorBuffer.Handoff(
            Entry(mode), (void*)Memory, payload, consumer, () => Fake.ReleaseMemory(Memory));
        Fake.Returned(Memory, mode, what);
        return buffer;
    }

    /// <summary>The producer's side: list and context, as they travel.</summary>
    protected static TensorParts Parts(TensorBuffer buffer, SyncMode mode)
    {
        var list = new BufferList();
        list.Push(buffer);
        Descriptor descriptor =
            new DescriptorBuilder(ElementType.Float32, Layout.RowMajor, [4, 4]).AddBuffer(Entry(mode)).Build();
        return new TensorParts(list, new TensorContext(descriptor.Encoded));
    }

    /// <summary>Both sides: from the producer to the consumer by bare pointers, as between two runtimes.</summary>
    protected static Tensor Travel(TensorParts parts)
    {
        nint list = parts.Buffers.Detach();
        nint context = parts.Context.Detach();
        return Tensor.Import(ref list, ref context);
    }

    /// <summary>A producer's side that works on request: the step that orders the consumer's stream is the test's.</summary>
    private protected sealed class OnRequest(Func<DeviceStream?, TensorParts> export) : ITensorProducer
    {
        public int Released { get; private set; }

        public TensorParts Export(DeviceStream? consumer) => export(consumer);

        public void Dispose() => ++Released;
    }
}
