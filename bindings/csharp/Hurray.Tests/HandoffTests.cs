using System;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.CompilerServices;
using Xunit;

namespace Hurray.Tests;

/// <summary>Mode and payload of a handoff, and the event that goes with a buffer.</summary>
public unsafe class HandoffTests : LeakChecked
{
    // Addresses of a device that is not there: nobody reads them.
    private const nint Memory = 4096;
    private const nint Event = 0x7E;
    private const nint Stream = 0x57;

    private static BufferEntry Entry(SyncMode mode, Device device = Device.Cuda) => new(64, 64, device, mode);

    [Fact]
    public void Every_combination_of_mode_and_payload_is_checked_and_a_failure_moves_nothing()
    {
        Device[] tags = [Device.Cpu, Device.Cuda, Device.Metal];
        int combinations = 0;
        foreach (Device device in tags)
        {
            // Every byte that there is: defined, reserved and invalid ones.
            for (int mode = 0; mode <= byte.MaxValue; ++mode)
            {
                foreach ((nint Handle, Device Device, bool Release)? given in EventPayloads(tags))
                {
                    foreach (DeviceStream? stream in StreamPayloads(tags))
                    {
                        CheckCombination(device, (SyncMode)mode, given, stream);
                        ++combinations;
                    }
                }
            }
        }

        Assert.Equal(3 * 256 * 13 * 7, combinations);
    }

    private static IEnumerable<(nint Handle, Device Device, bool Release)?> EventPayloads(Device[] tags)
    {
        yield return null;
        foreach (Device tag in tags)
        {
            yield return (0, tag, false);
            yield return (0, tag, true);
            yield return (Event, tag, false);
            yield return (Event, tag, true);
        }
    }

    private static IEnumerable<DeviceStream?> StreamPayloads(Device[] tags)
    {
        yield return null;
        foreach (Device tag in tags)
        {
            yield return new DeviceStream(0, tag);
            yield return new DeviceStream(Stream, tag);
        }
    }

    private static void CheckCombination(
        Device device, SyncMode mode, (nint Handle, Device Device, bool Release)? given, DeviceStream? stream)
    {
        int events = 0;
        int memory = 0;
        EventPayload? payload = given is { } some
            ? new EventPayload(some.Handle, some.Device, some.Release ? _ => ++events : null)
            : null;
        HurrayStatus expected = Expected(device, mode, given, stream);
        HurrayStatus got = HurrayStatus.Ok;
        try
        {
            TensorBuffer.Handoff(Entry(mode, device), (void*)Memory, payload, stream, () => ++memory).Dispose();
        }
        catch (HurrayException e)
        {
            got = e.Code;
        }

        bool moved = expected == HurrayStatus.Ok;
        string what = $"{device} {mode} {given} {stream}";
        Assert.Equal((what, expected), (what, got));
        Assert.Equal((what, moved && mode == SyncMode.Event ? 1 : 0, moved ? 1 : 0), (what, events, memory));
    }

    // The table of the specification. (ABI: ABI Cross-Check; format: a CPU buffer is producer synced)
    private static HurrayStatus Expected(
        Device device, SyncMode mode, (nint Handle, Device Device, bool Release)? given, DeviceStream? stream)
    {
        if (mode > SyncMode.ConsumerStream || (device == Device.Cpu && mode != SyncMode.ProducerSynced))
        {
            return HurrayStatus.InvalidSyncMode;
        }

        bool noEvent = given is null or (0, Device.Cpu, false);
        bool noStream = stream is null or (0, Device.Cpu);
        bool fits = mode switch
        {
            SyncMode.ProducerSynced => noEvent && noStream,
            SyncMode.Event => given is (Event, _, true) && given.Value.Device == device && noStream,
            _ => stream is (Stream, _) && stream.Value.Device == device && noEvent,
        };
        return fits ? HurrayStatus.Ok : HurrayStatus.SyncModeMismatch;
    }

    [Fact]
    public void Bytes_of_the_handle_are_checked_and_a_failure_moves_nothing()
    {
        byte[] good = [64, 0, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0, (byte)Device.Cuda, (byte)SyncMode.Event, 0, 0];
        (int At, byte Value, HurrayStatus Code)[] faults =
        [
            (8, 63, HurrayStatus.InvalidLayout), (8, 32, HurrayStatus.InvalidLayout), (12, 0x7F, HurrayStatus.InvalidType),
            (14, 0x7F, HurrayStatus.InvalidType), (15, 1, HurrayStatus.InvalidLayout),
        ];
        int events = 0;
        int memory = 0;
        var payload = new EventPayload(Event, Device.Cuda, _ => ++events);
        foreach ((int at, byte value, HurrayStatus code) in faults)
        {
            byte[] bytes = good.ToArray();
            bytes[at] = value;
            Refused(code, () => TensorBuffer.Handoff(bytes, (void*)Memory, payload, null, () => ++memory));
        }

        byte[] endless = good.ToArray();
        endless.AsSpan(0, 8).Fill(0xFF);
        Refused(HurrayStatus.InvalidArgument, () => TensorBuffer.Handoff(endless, (void*)Memory, payload, null, () => ++memory));
        Refused(HurrayStatus.Misaligned, () => TensorBuffer.Handoff(good, (void*)(Memory + 8), payload, null, () => ++memory));
        Refused(HurrayStatus.NullPointer, () => TensorBuffer.Handoff(good, null, payload, null, () => ++memory));
        Refused(HurrayStatus.InvalidArgument, () => TensorBuffer.Handoff(good.AsSpan(1), (void*)Memory, payload, null, () => ++memory));
        Refused(HurrayStatus.InvalidArgument, () => TensorBuffer.Handoff([], (void*)Memory, payload, null, () => ++memory));
        Assert.Equal((0, 0), (events, memory));

        using (TensorBuffer buffer = TensorBuffer.Handoff(good, (void*)Memory, payload, null, () => ++memory))
        {
            Assert.Equal(Entry(SyncMode.Event), buffer.Sync.Entry);
            Assert.Equal(Memory, buffer.Sync.Data);
        }

        Assert.Equal((1, 1), (events, memory));
        // An empty buffer needs no memory.
        good[0] = 0;
        TensorBuffer.Handoff(good, null, payload, null, () => ++memory).Dispose();
        Assert.Equal((2, 2), (events, memory));
    }

    [Fact]
    public void Event_is_read_and_released_exactly_once_apart_from_the_memory()
    {
        var released = new List<nint>();
        int memory = 0;
        TensorBuffer buffer = Handed(released, () => ++memory);
        Assert.Equal(SyncMode.Event, buffer.Sync.Mode);
        Assert.Equal(new DeviceEvent(Event, Device.Cuda), buffer.Sync.Event);
        Assert.Equal(new DeviceEvent(Event, Device.Cuda), buffer.Sync.Event);
        Assert.Empty(released);
        buffer.Sync.ReleaseEvent();
        Assert.Equal([Event], released);
        Refused(HurrayStatus.InvalidHandle, buffer.Sync.ReleaseEvent);
        Refused(HurrayStatus.InvalidHandle, () => _ = buffer.Sync.Event);
        Assert.Equal(0, memory);
        buffer.Dispose();
        Assert.Equal([Event], released);
        Assert.Equal(1, memory);
    }

    [Fact]
    public void Event_that_nobody_released_is_released_when_its_buffer_ends()
    {
        var released = new List<nint>();
        Handed(released).Dispose();
        Assert.Equal([Event], released);

        using (var list = new BufferList())
        {
            list.Push(Handed(released));
            list.Push(Handed(released));
            list.SyncOf(1).ReleaseEvent();
            Assert.Equal(2, released.Count);
        }

        Assert.Equal(3, released.Count);
        EventTensor(released).Dispose();
        Assert.Equal(4, released.Count);
    }

    [Fact]
    public void Event_is_reached_through_the_list_and_the_tensor_that_its_buffer_moved_into()
    {
        var released = new List<nint>();
        using (Tensor tensor = EventTensor(released))
        {
            BufferSync sync = tensor.SyncOf(0);
            Assert.Equal((SyncMode.Event, Memory), (sync.Mode, sync.Data));
            Assert.Equal(new DeviceEvent(Event, Device.Cuda), sync.Event);
            sync.ReleaseEvent();
            Refused(HurrayStatus.InvalidHandle, sync.ReleaseEvent);
            Refused(HurrayStatus.InvalidHandle, () => _ = sync.Event);
            Refused(HurrayStatus.IndexOutOfBounds, () => _ = tensor.SyncOf(1).Mode);
            Refused(HurrayStatus.IndexOutOfBounds, tensor.SyncOf(-1).ReleaseEvent);
        }

        using var list = new BufferList();
        list.Push(Handed(released));
        Assert.Equal(new DeviceEvent(Event, Device.Cuda), list.SyncOf(0).Event);
        Refused(HurrayStatus.IndexOutOfBounds, () => _ = list.SyncOf(1).Event);
        Refused(HurrayStatus.IndexOutOfBounds, () => _ = list.SyncOf(ulong.MaxValue).Stream);
        list.SyncOf(0).ReleaseEvent();
        Assert.Equal(2, released.Count);
    }

    [Fact]
    public void Shares_and_slices_carry_neither_event_nor_stream()
    {
        using TensorBuffer buffer = Handed([]);
        using TensorBuffer ordered =
            TensorBuffer.Handoff(Entry(SyncMode.ConsumerStream), (void*)Memory, null, new DeviceStream(Stream, Device.Cuda));
        using TensorBuffer share = buffer.Share();
        using TensorBuffer slice = buffer.Slice(0, 0);
        using TensorBuffer orderedShare = ordered.Share();
        foreach (TensorBuffer one in new[] { share, slice, orderedShare })
        {
            Refused(HurrayStatus.SyncModeMismatch, () => _ = one.Sync.Event);
            Refused(HurrayStatus.SyncModeMismatch, one.Sync.ReleaseEvent);
            Refused(HurrayStatus.SyncModeMismatch, () => _ = one.Sync.Stream);
        }
    }

    [Fact]
    public void Each_mode_answers_for_its_own_payload_only()
    {
        using TensorBuffer synced = TensorBuffer.Handoff(Entry(SyncMode.ProducerSynced), (void*)Memory);
        using TensorBuffer ordered =
            TensorBuffer.Handoff(Entry(SyncMode.ConsumerStream), (void*)Memory, null, new DeviceStream(Stream, Device.Cuda));
        using TensorBuffer withEvent = Handed([]);
        Assert.Equal(new DeviceStream(Stream, Device.Cuda), ordered.Sync.Stream);
        foreach (TensorBuffer one in new[] { synced, ordered })
        {
            Refused(HurrayStatus.SyncModeMismatch, () => _ = one.Sync.Event);
            Refused(HurrayStatus.SyncModeMismatch, one.Sync.ReleaseEvent);
        }

        Refused(HurrayStatus.SyncModeMismatch, () => _ = synced.Sync.Stream);
        Refused(HurrayStatus.SyncModeMismatch, () => _ = withEvent.Sync.Stream);
    }

    [Fact]
    public void What_is_not_host_memory_gives_no_host_view_in_any_mode()
    {
        foreach (SyncMode mode in Enum.GetValues<SyncMode>())
        {
            var payload = mode == SyncMode.Event ? new EventPayload(Event, Device.Cuda, _ => { }) : null;
            DeviceStream? stream = mode == SyncMode.ConsumerStream ? new DeviceStream(Stream, Device.Cuda) : null;
            using (TensorBuffer buffer = TensorBuffer.Handoff(Entry(mode), (void*)Memory, payload, stream))
            {
                Refused(HurrayStatus.Unsupported, () => buffer.Pin());
            }

            foreach (ElementType type in new[] { ElementType.Float32, ElementType.Bool })
            {
                var list = new BufferList();
                list.Push(TensorBuffer.Handoff(Entry(mode), (void*)Memory, payload, stream));
                using Tensor tensor = Tensor.FromParts(
                    new DescriptorBuilder(type, Layout.RowMajor, [2, 2]).AddBuffer(Entry(mode)).Build(), list);
                Assert.Equal(Device.Cuda, tensor.Device);
                Refused(HurrayStatus.Unsupported, () => tensor.Pin<byte>());
                Refused(HurrayStatus.Unsupported, () => tensor.Pin<float>());
                Refused(HurrayStatus.Unsupported, () => tensor.PinStrided<float>());
                Refused(HurrayStatus.Unsupported, () => tensor.PinPacked());
                Assert.ThrowsAny<HurrayException>(() => tensor.Copy());
                using TensorStreamWriter writer = TensorStreamWriter.ToMemory();
                Assert.ThrowsAny<HurrayException>(() => writer.Write(tensor));
            }
        }
    }

    [Fact]
    public void Tensor_with_an_event_is_not_exported_because_shares_carry_none()
    {
        var released = new List<nint>();
        using (Tensor tensor = EventTensor(released))
        {
            Refused(HurrayStatus.SyncModeMismatch, () => tensor.Export(out _, out _));
            Assert.Empty(released);
            Assert.Equal(Event, tensor.SyncOf(0).Event.Handle);
        }

        Assert.Single(released);
    }

    [Fact]
    public void Handed_off_list_is_imported_with_its_event()
    {
        var released = new List<nint>();
        int memory = 0;
        var list = new BufferList();
        list.Push(Handed(released, () => ++memory));
        var context = new TensorContext(EventDescriptor().Encoded);
        nint rawList = list.Detach();
        nint rawContext = context.Detach();
        using (Tensor tensor = Tensor.Import(ref rawList, ref rawContext))
        {
            Assert.Equal(Event, tensor.SyncOf(0).Event.Handle);
            tensor.SyncOf(0).ReleaseEvent();
            Assert.Equal([Event], released);
        }

        Assert.Equal([Event], released);
        Assert.Equal(1, memory);
    }

    [Fact]
    public void Use_after_close_is_a_typed_error()
    {
        TensorBuffer buffer = Handed([]);
        BufferSync sync = buffer.Sync;
        buffer.Dispose();
        Tensor tensor = EventTensor([]);
        BufferSync ofTensor = tensor.SyncOf(0);
        tensor.Dispose();
        var list = new BufferList();
        BufferSync ofList = list.SyncOf(0);
        list.Dispose();
        Action[] uses =
        [
            () => _ = buffer.Sync, () => _ = tensor.SyncOf(0), () => _ = list.SyncOf(0),
            .. new[] { sync, ofTensor, ofList }.SelectMany<BufferSync, Action>(
                one => [() => _ = one.Mode, () => _ = one.Data, () => _ = one.Event, () => _ = one.Stream, one.ReleaseEvent]),
        ];
        Assert.All(uses, use => Assert.Throws<ObjectDisposedException>(use));
    }

    [Fact]
    public void Exception_of_an_event_release_stays_in_dotnet_and_the_event_counts_as_released()
    {
        using TensorBuffer buffer = TensorBuffer.Handoff(
            Entry(SyncMode.Event), (void*)Memory, new EventPayload(Event, Device.Cuda, _ => throw new FormatException("mine")));
        buffer.Sync.ReleaseEvent();
        Assert.Equal("mine", Assert.IsType<FormatException>(TakeFailure()).Message);
        Refused(HurrayStatus.InvalidHandle, buffer.Sync.ReleaseEvent);
    }

    [Fact]
    public void Callbacks_may_use_the_library_and_the_buffer_that_they_belong_to()
    {
        TensorBuffer? buffer = null;
        TensorBuffer other = TensorBuffer.Allocate(64);
        var codes = new List<HurrayStatus>();
        buffer = TensorBuffer.Handoff(
            Entry(SyncMode.Event), (void*)Memory,
            new EventPayload(Event, Device.Cuda, _ =>
            {
                // Released already, from within.
                codes.Add(Refused(HurrayStatus.InvalidHandle, () => buffer!.Sync.ReleaseEvent()).Code);
                other.Dispose();
                Tensor.FromArray(new[] { 1 }).Dispose();
            }),
            null,
            () => Tensor.FromArray(new[] { 1 }).Dispose());
        buffer.Sync.ReleaseEvent();
        buffer.Dispose();
        Assert.Single(codes);
        Assert.Throws<ObjectDisposedException>(() => other.ByteSize);
    }

    [Fact]
    public void Forgotten_buffer_releases_its_event_at_once_and_its_memory_on_a_thread_of_the_users()
    {
        // An event's release is safe on any thread: that is its contract. The memory's is not.
        var events = new List<int>();
        var memory = new List<int>();
        Forget(events, memory);
        GC.Collect();
        GC.WaitForPendingFinalizers();
        Assert.Equal([CollectorThread.Id], events);
        Assert.Empty(memory);
        HurrayRuntime.Drain();
        Assert.Equal([Environment.CurrentManagedThreadId], memory);
        Assert.Single(events);
    }

    [Fact]
    public void Storm_of_collections_releases_every_event_and_every_memory_once()
    {
        const int Rounds = 200;
        int[] events = new int[Rounds];
        int[] memory = new int[Rounds];
        for (int i = 0; i < Rounds; ++i)
        {
            ForgetOne(i, events, memory);
            if (i % 20 == 0)
            {
                GC.Collect();
            }
        }

        Collect();
        Assert.All(events, times => Assert.Equal(1, times));
        Assert.All(memory, times => Assert.Equal(1, times));
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Forget(List<int> events, List<int> memory) => _ = TensorBuffer.Handoff(
        Entry(SyncMode.Event), (void*)Memory,
        new EventPayload(Event, Device.Cuda, _ => events.Add(Environment.CurrentManagedThreadId)), null,
        () => memory.Add(Environment.CurrentManagedThreadId));

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void ForgetOne(int i, int[] events, int[] memory)
    {
        TensorBuffer buffer = TensorBuffer.Handoff(
            Entry(SyncMode.Event), (void*)Memory,
            new EventPayload(Event, Device.Cuda, _ => System.Threading.Interlocked.Increment(ref events[i])), null,
            () => System.Threading.Interlocked.Increment(ref memory[i]));
        if (i % 2 == 0)
        {
            buffer.Sync.ReleaseEvent();
        }

        if (i % 3 == 0)
        {
            buffer.Dispose();
        }
    }

    private static TensorBuffer Handed(List<nint> released, Action? memory = null) => TensorBuffer.Handoff(
        Entry(SyncMode.Event), (void*)Memory, new EventPayload(Event, Device.Cuda, released.Add), null, memory);

    private static Descriptor EventDescriptor() =>
        new DescriptorBuilder(ElementType.Float32, Layout.RowMajor, [4, 4]).AddBuffer(Entry(SyncMode.Event)).Build();

    private static Tensor EventTensor(List<nint> released)
    {
        var list = new BufferList();
        list.Push(Handed(released));
        return Tensor.FromParts(EventDescriptor(), list);
    }
}
