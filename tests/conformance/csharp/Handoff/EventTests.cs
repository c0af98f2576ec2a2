using System;
using System.Runtime.CompilerServices;
using System.Threading;
using Xunit;

namespace Hurray.Conformance;

/// <summary>EVENT: recorded before the handoff, waited for before access, released exactly once.</summary>
public class EventTests : DeviceTest
{
    [Fact]
    public void Event_recorded_before_the_handoff_and_waited_for_before_access_is_in_order()
    {
        Fake.Write(Producer, Memory);
        Fake.Record(Event, Producer);
        using (Tensor tensor = Travel(Parts(HandOff(SyncMode.Event), SyncMode.Event)))
        {
            BufferSync sync = tensor.SyncOf(0);
            Assert.Equal(new DeviceEvent(Event, FakeDevice.Tag), sync.Event);
            Fake.Wait(Consumer, sync.Event);
            Fake.Wait(Other, sync.Event);
            sync.ReleaseEvent();
            Fake.Read(Consumer, sync.Data);
            Fake.Read(Other, sync.Data);
        }

        Assert.Equal(
            [
                "write memory 1 on producer", "record event 1 on producer", "handoff begins memory 1 mode 1 event 1",
                "handoff returned memory 1 mode 1 event 1", "wait consumer for event 1", "wait other for event 1",
                "release event 1", "read memory 1 on consumer", "read memory 1 on other", "release memory 1",
            ],
            Fake.Log);
        AssertInOrder();
    }

    [Fact]
    public void Event_that_was_not_recorded_before_the_handoff_is_caught()
    {
        Fake.Write(Producer, Memory);
        using (Tensor tensor = Travel(Parts(HandOff(SyncMode.Event), SyncMode.Event)))
        {
            AssertCaught(Violation.HandoffEventUnrecorded);
            // A real device would hang here.
            Fake.Wait(Consumer, tensor.SyncOf(0).Event);
            AssertCaught(Violation.WaitUnrecorded);
        }

        AssertInOrder();
    }

    [Fact]
    public void Event_that_was_recorded_after_the_handoff_is_caught()
    {
        Fake.Write(Producer, Memory);
        using (TensorBuffer buffer = HandOff(SyncMode.Event))
        {
            Fake.ForgetViolations();
            Fake.Record(Event, Producer);
            AssertCaught(Violation.EventRecordedLate);
            Assert.Equal(Event, buffer.Sync.Event.Handle);
        }

        AssertInOrder();
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Event_that_does_not_stand_for_every_write_is_caught(bool before)
    {
        if (before)
        {
            // Recorded, but the last write came after it.
            Fake.Record(Event, Producer);
            Fake.Write(Producer, Memory);
        }
        else
        {
            // Recorded on a stream that wrote something else.
            Fake.Write(Producer, Memory);
            Fake.Record(Event, Other);
        }

        HandOff(SyncMode.Event).Dispose();
        AssertCaught(Violation.HandoffEventMissesWrite);
        AssertInOrder();
    }

    [Fact]
    public void Access_without_a_wait_is_caught()
    {
        using (Tensor tensor = InOrder())
        {
            BufferSync sync = tensor.SyncOf(0);
            Fake.Read(Consumer, sync.Data);
            AssertCaught(Violation.UnorderedRead);
            Fake.Write(Consumer, sync.Data);
            AssertCaught(Violation.UnorderedWrite);
            Fake.HostRead(sync.Data);
            Assert.Contains(Violation.UnorderedRead, Fake.Violations);
            Fake.ForgetViolations();
        }

        AssertInOrder();
    }

    [Fact]
    public void Wait_on_one_stream_does_not_order_another()
    {
        using (Tensor tensor = InOrder())
        {
            BufferSync sync = tensor.SyncOf(0);
            Fake.Wait(Consumer, sync.Event);
            Fake.Read(Consumer, sync.Data);
            Assert.Empty(Fake.Violations);
            Fake.Read(Other, sync.Data);
            AssertCaught(Violation.UnorderedRead);
            Fake.Wait(Other, sync.Event);
            Fake.Read(Other, sync.Data);
            sync.ReleaseEvent();
        }

        AssertInOrder();
    }

    [Fact]
    public void Host_may_wait_for_the_event_as_well()
    {
        using (Tensor tensor = InOrder())
        {
            Fake.HostWait(tensor.SyncOf(0).Event);
            tensor.SyncOf(0).ReleaseEvent();
            Fake.HostRead(tensor.SyncOf(0).Data);
        }

        AssertInOrder();
    }

    [Fact]
    public void Event_is_released_exactly_once_and_a_second_release_is_a_typed_error()
    {
        using (Tensor tensor = InOrder())
        {
            BufferSync sync = tensor.SyncOf(0);
            Fake.Wait(Consumer, sync.Event);
            sync.ReleaseEvent();
            Refused(HurrayStatus.InvalidHandle, sync.ReleaseEvent);
            Refused(HurrayStatus.InvalidHandle, () => _ = sync.Event);
            Assert.Equal(1UL, Fake.Releases(Event));
            Assert.Equal(0UL, Fake.MemoryReleaseCount(Memory));
        }

        Assert.Equal((1UL, 1UL), (Fake.Releases(Event), Fake.MemoryReleaseCount(Memory)));
        AssertInOrder();
    }

    [Fact]
    public void Event_that_nobody_released_is_released_by_the_end_of_the_tensor()
    {
        Tensor tensor = InOrder();
        Assert.Equal(1UL, Fake.EventsOutstanding);
        tensor.Dispose();
        Assert.Equal((1UL, 1UL), (Fake.Releases(Event), Fake.MemoryReleaseCount(Memory)));
        AssertInOrder();
    }

    [Fact]
    public void Second_release_behind_the_bindings_back_is_caught()
    {
        using (Tensor tensor = InOrder())
        {
            tensor.SyncOf(0).ReleaseEvent();
            // What a consumer could do if it were given the raw function.
            Fake.ReleaseEvent(Event);
            AssertCaught(Violation.EventReleasedTwice);
        }

        AssertInOrder();
    }

    [Fact]
    public void Wait_for_a_released_event_is_caught()
    {
        using (Tensor tensor = InOrder())
        {
            DeviceEvent kept = tensor.SyncOf(0).Event;
            tensor.SyncOf(0).ReleaseEvent();
            Fake.Wait(Consumer, kept);
            AssertCaught(Violation.EventUsedAfterRelease);
        }

        AssertInOrder();
    }

    [Fact]
    public void Consumer_that_never_ends_what_it_was_given_is_caught()
    {
        TensorBuffer buffer = HandOffInOrder();
        nint lost = buffer.Detach();
        Assert.Equal((1UL, 1UL), (Fake.EventsOutstanding, Fake.MemoryOutstanding));
        Assert.NotEqual(Violation.None, Fake.Finish());
        Assert.Contains(Violation.EventNeverReleased, Fake.Violations);
        Assert.Contains(Violation.MemoryNeverReleased, Fake.Violations);
        Fake.ForgetViolations();
        TensorBuffer.Adopt(lost).Dispose();
        AssertInOrder();
    }

    [Fact]
    public void Access_after_the_end_of_the_tensor_is_caught()
    {
        Tensor tensor = InOrder();
        nint data = tensor.SyncOf(0).Data;
        Fake.Wait(Consumer, tensor.SyncOf(0).Event);
        tensor.Dispose();
        Fake.Read(Consumer, data);
        AssertCaught(Violation.MemoryUsedAfterRelease);
    }

    [Fact]
    public unsafe void Handoff_that_fails_moves_nothing()
    {
        Fake.Write(Producer, Memory);
        Fake.Record(Event, Producer);
        (EventPayload? Event, DeviceStream? Stream)[] wrong =
        [
            (null, null), (new EventPayload(0, FakeDevice.Tag, Fake.ReleaseEvent), null),
            (new EventPayload(Event, FakeDevice.Tag, null), null), (new EventPayload(Event, Device.Rocm, Fake.ReleaseEvent), null),
            (new EventPayload(Event, FakeDevice.Tag, Fake.ReleaseEvent), Consumer), (null, Consumer),
        ];
        foreach ((EventPayload? @event, DeviceStream? stream) in wrong)
        {
            Fake.Begin(Memory, SyncMode.Event, Event);
            Refused(
                HurrayStatus.SyncModeMismatch,
                () => TensorBuffer.Handoff(Entry(SyncMode.Event), (void*)Memory, @event, stream, () => Fake.ReleaseMemory(Memory)));
            Assert.Equal(Violation.None, Fake.Failed(Memory, SyncMode.Event, Event));
        }

        Assert.Equal((0UL, 0UL), (Fake.EventsOutstanding, Fake.MemoryOutstanding));
        // The device would have noticed a callback.
        Fake.Begin(Memory, SyncMode.Event, Event);
        Fake.ReleaseEvent(Event);
        Assert.Equal(Violation.ReleasedByFailedHandoff, Fake.Failed(Memory, SyncMode.Event, Event));
    }

    [Fact]
    public void Event_may_be_released_on_another_thread_than_the_memory()
    {
        Tensor tensor = InOrder();
        ulong waiting = 0;
        var release = new Thread(() =>
        {
            waiting = FakeDevice.CurrentThread;
            Fake.Wait(Consumer, tensor.SyncOf(0).Event);
            tensor.SyncOf(0).ReleaseEvent();
        });
        release.Start();
        release.Join();
        Fake.Read(Consumer, tensor.SyncOf(0).Data);
        tensor.Dispose();
        Assert.Equal((waiting, FakeDevice.CurrentThread), (Fake.ReleaseThread(Event), Fake.MemoryThread(Memory)));
        Assert.NotEqual(waiting, FakeDevice.CurrentThread);
        AssertInOrder();
    }

    [Fact]
    public void Collector_releases_the_event_at_once_and_the_memory_never_on_its_own_thread()
    {
        var collector = new ulong[1];
        Forget(collector);
        GC.Collect();
        GC.WaitForPendingFinalizers();
        Assert.NotEqual(0UL, collector[0]);
        // An event's release is safe on any thread; the memory's waits for one of the users'.
        Assert.Equal((1UL, 0UL), (Fake.Releases(Event), Fake.MemoryReleaseCount(Memory)));
        Assert.Equal(collector[0], Fake.ReleaseThread(Event));
        ulong draining = 0;
        var drain = new Thread(() =>
        {
            draining = FakeDevice.CurrentThread;
            HurrayRuntime.Drain();
        });
        drain.Start();
        drain.Join();
        Assert.Equal((1UL, 1UL), (Fake.Releases(Event), Fake.MemoryReleaseCount(Memory)));
        Assert.Equal(draining, Fake.MemoryThread(Memory));
        Assert.NotEqual(collector[0], draining);
        AssertInOrder();
    }

    [Fact]
    public void Shares_carry_no_event_and_live_on_after_it()
    {
        Tensor tensor = InOrder();
        TensorBuffer share = tensor.ShareBuffer(0);
        Refused(HurrayStatus.SyncModeMismatch, () => _ = share.Sync.Event);
        Fake.Wait(Consumer, tensor.SyncOf(0).Event);
        tensor.Dispose();
        Assert.Equal((1UL, 0UL), (Fake.Releases(Event), Fake.MemoryReleaseCount(Memory)));
        Fake.Read(Consumer, share.Data);
        share.Dispose();
        Assert.Equal((1UL, 1UL), (Fake.Releases(Event), Fake.MemoryReleaseCount(Memory)));
        AssertInOrder();
    }

    private TensorBuffer HandOffInOrder()
    {
        Fake.Write(Producer, Memory);
        Fake.Record(Event, Producer);
        return HandOff(SyncMode.Event);
    }

    private Tensor InOrder() => Travel(Parts(HandOffInOrder(), SyncMode.Event));

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void Forget(ulong[] collector)
    {
        _ = new Probe(collector);
        _ = InOrder();
    }

    private sealed class Probe(ulong[] told)
    {
        ~Probe() => told[0] = FakeDevice.CurrentThread;
    }
}
