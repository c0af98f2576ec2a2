using Xunit;

namespace Hurray.Conformance;

/// <summary>CONSUMER_STREAM: the producer makes the consumer's stream depend on its own before the handoff returns.</summary>
public class ConsumerStreamTests : DeviceTest
{
    [Fact]
    public void Dependency_issued_before_the_handoff_returns_is_in_order()
    {
        OnRequest made = Ordering();
        using (var producer = new TensorProducer(made))
        using (Tensor tensor = producer.Request(Consumer))
        {
            BufferSync sync = tensor.SyncOf(0);
            Assert.Equal((SyncMode.ConsumerStream, Consumer), (sync.Mode, sync.Stream));
            Fake.Mark("request returned");
            Fake.Read(Consumer, sync.Data);
            Fake.Write(Consumer, sync.Data);
        }

        Assert.Equal(
            [
                "write memory 1 on producer", "wait consumer for producer", "handoff begins memory 1 mode 2 consumer",
                "handoff returned memory 1 mode 2 consumer", "mark request returned", "read memory 1 on consumer",
                "write memory 1 on consumer", "release memory 1",
            ],
            Fake.Log);
        Assert.Equal(1, made.Released);
        AssertInOrder();
    }

    [Fact]
    public void Missing_dependency_is_caught()
    {
        using var producer = new TensorProducer(new OnRequest(consumer =>
        {
            Fake.Write(Producer, Memory);
            return Parts(HandOff(SyncMode.ConsumerStream, consumer), SyncMode.ConsumerStream);
        }));
        using (Tensor tensor = producer.Request(Consumer))
        {
            AssertCaught(Violation.HandoffNoDependency);
            // Issued too late: the handoff has returned.
            Fake.Read(Consumer, tensor.SyncOf(0).Data);
            AssertCaught(Violation.UnorderedRead);
        }

        AssertInOrder();
    }

    [Fact]
    public void Dependency_of_another_stream_is_caught()
    {
        using var producer = new TensorProducer(new OnRequest(consumer =>
        {
            Fake.Write(Producer, Memory);
            Fake.Wait(Other, Producer);
            return Parts(HandOff(SyncMode.ConsumerStream, consumer), SyncMode.ConsumerStream);
        }));
        producer.Request(Consumer).Dispose();
        AssertCaught(Violation.HandoffNoDependency);
        AssertInOrder();
    }

    [Fact]
    public void Write_after_the_dependency_is_caught()
    {
        using var producer = new TensorProducer(new OnRequest(consumer =>
        {
            Fake.Wait(consumer!.Value, Producer);
            Fake.Write(Producer, Memory);
            return Parts(HandOff(SyncMode.ConsumerStream, consumer), SyncMode.ConsumerStream);
        }));
        producer.Request(Consumer).Dispose();
        AssertCaught(Violation.HandoffNoDependency);
        AssertInOrder();
    }

    [Fact]
    public void Another_stream_may_access_after_a_wait_between_streams_and_is_caught_without()
    {
        using var producer = new TensorProducer(Ordering());
        using (Tensor tensor = producer.Request(Consumer))
        {
            BufferSync sync = tensor.SyncOf(0);
            Fake.Read(Other, sync.Data);
            AssertCaught(Violation.UnorderedRead);
            Fake.Wait(Other, sync.Stream);
            Fake.Read(Other, sync.Data);
            Assert.Empty(Fake.Violations);
            Fake.HostRead(sync.Data);
            AssertCaught(Violation.UnorderedRead);
        }

        AssertInOrder();
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Tensor_that_is_ordered_on_another_stream_is_refused_and_ended(bool ask)
    {
        // Ordered correctly, but not on the stream that was asked for, or on one though none was.
        using var producer = new TensorProducer(new OnRequest(_ =>
        {
            Fake.Write(Producer, Memory);
            Fake.Wait(Other, Producer);
            return Parts(HandOff(SyncMode.ConsumerStream, Other), SyncMode.ConsumerStream);
        }));
        Refused(HurrayStatus.SyncModeMismatch, () => producer.Request(ask ? Consumer : null));
        Assert.Equal(1UL, Fake.MemoryReleaseCount(Memory));
        AssertInOrder();
    }

    [Theory]
    [InlineData(SyncMode.Event)]
    [InlineData(SyncMode.ProducerSynced)]
    public void Request_may_be_answered_with_another_mode(SyncMode mode)
    {
        using var producer = new TensorProducer(new OnRequest(_ =>
        {
            Fake.Write(Producer, Memory);
            if (mode == SyncMode.Event)
            {
                Fake.Record(Event, Producer);
            }
            else
            {
                Fake.HostWait(Producer);
            }

            return Parts(HandOff(mode), mode);
        }));
        using (Tensor tensor = producer.Request(mode == SyncMode.Event ? Consumer : null))
        {
            BufferSync sync = tensor.SyncOf(0);
            Assert.Equal(mode, sync.Mode);
            Refused(HurrayStatus.SyncModeMismatch, () => _ = sync.Stream);
            if (mode == SyncMode.Event)
            {
                Fake.Wait(Consumer, sync.Event);
                sync.ReleaseEvent();
            }

            Fake.Read(Consumer, sync.Data);
        }

        AssertInOrder();
    }

    private OnRequest Ordering() => new(consumer =>
    {
        Fake.Write(Producer, Memory);
        Fake.Wait(consumer!.Value, Producer);
        return Parts(HandOff(SyncMode.ConsumerStream, consumer), SyncMode.ConsumerStream);
    });
}
