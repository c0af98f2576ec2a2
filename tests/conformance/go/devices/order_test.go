package devices_test

import (
	"runtime"
	"strings"
	"testing"

	"hurray.dev/go/conformance/devices"
	"hurray.dev/go/hurray"
)

// Producer and consumer are both Go, through the binding: right, and wrong in each way that the contract forbids, which
// the device must name. (C ABI contract: Buffer Handoff Synchronisation)

// --- SYNC_PRODUCER_SYNCED ---

func TestProducerSyncedTheHostWaitsBeforeTheHandoff(t *testing.T) {
	b := newBench(t)
	b.device.Write(b.producer, b.memory)
	b.device.HostWaitStream(b.producer)
	tensor := b.imported(b.handedOff(synced, 0), synced)
	b.device.Read(b.consumer, b.address(tensor))
	b.device.Read(b.other, b.address(tensor))
	ok(t, tensor.Close())
	b.clean()
	b.before("wait host for producer", "handoff begins memory 1 mode 0")
}

func TestProducerSyncedWithoutAWaitIsCaught(t *testing.T) {
	b := newBench(t)
	b.device.Write(b.producer, b.memory)
	buffer := b.handedOff(synced, 0)
	b.device.HostWaitStream(b.producer) // too late
	ok(t, buffer.Close())
	b.only(devices.HandoffUnsynced)
}

// --- SYNC_EVENT ---

func TestEventIsRecordedBeforeTheHandoffAndWaitedForBeforeAccess(t *testing.T) {
	b := newBench(t)
	b.device.Write(b.producer, b.memory)
	recorded := b.recorded(b.producer)
	tensor := b.imported(b.handedOff(event, recorded), event)
	got := value(tensor.Event(0))(t)
	if got != (hurray.Event{Handle: recorded, Device: devices.Tag}) {
		t.Errorf("%+v", got)
	}
	b.device.WaitEvent(b.consumer, got.Handle)
	b.device.WaitEvent(b.other, got.Handle)
	ok(t, tensor.ReleaseEvent(0))
	if e, m := b.device.EventReleases(recorded), b.device.MemoryReleases(b.memory); e != 1 || m != 0 {
		t.Errorf("event released %d times, memory %d times: they have lives of their own", e, m)
	}
	b.device.Read(b.consumer, b.address(tensor))
	b.device.Write(b.consumer, b.address(tensor))
	ok(t, tensor.Close())
	b.clean()
	if n := b.device.EventReleases(recorded); n != 1 {
		t.Errorf("event released %d times", n)
	}
	b.before("record event 1 on producer", "handoff begins memory 1 mode 1 event 1")
	b.before("handoff returned memory 1 mode 1", "wait consumer for event 1")
	b.before("wait consumer for event 1", "release event 1")
	b.before("wait other for event 1", "release event 1")
	b.before("wait consumer for event 1", "read memory 1 on consumer")
	b.before("release event 1", "release memory 1")
}

func TestWaitEventsIssuesAllWaitsBeforeTheRelease(t *testing.T) {
	b := newBench(t)
	b.device.Write(b.producer, b.memory)
	recorded := b.recorded(b.producer)
	tensor := b.imported(b.handedOff(event, recorded), event)
	ok(t, tensor.WaitEvents(func(e hurray.Event) error {
		b.device.WaitEvent(b.consumer, e.Handle)
		b.device.WaitEvent(b.other, e.Handle)
		return nil
	}))
	b.device.Read(b.consumer, b.address(tensor))
	b.device.Read(b.other, b.address(tensor))
	ok(t, tensor.Close())
	b.clean()
	b.before("wait other for event 1", "release event 1")
	b.before("release event 1", "read memory 1 on consumer")
}

func TestEventNotRecordedIsCaught(t *testing.T) {
	b := newBench(t)
	b.device.Write(b.producer, b.memory)
	buffer := b.handedOff(event, b.device.Event())
	b.device.WaitEvent(b.consumer, value(buffer.Event())(t).Handle) // a real device would hang
	ok(t, buffer.Close())
	b.only(devices.HandoffEventUnrecorded, devices.WaitUnrecorded)
}

func TestEventRecordedAfterTheHandoffIsCaught(t *testing.T) {
	b := newBench(t)
	b.device.Write(b.producer, b.memory)
	late := b.device.Event()
	buffer := b.handedOff(event, late)
	b.device.Record(late, b.producer)
	ok(t, buffer.Close())
	b.only(devices.HandoffEventUnrecorded, devices.EventRecordedLate)
}

func TestEventThatMissesAWriteIsCaught(t *testing.T) {
	b := newBench(t)
	early := b.recorded(b.producer)
	b.device.Write(b.producer, b.memory)
	ok(t, b.handedOff(event, early).Close())
	b.only(devices.HandoffEventMissed)
}

func TestAccessBeforeTheWaitIsCaught(t *testing.T) {
	for name, access := range map[string]func(b *bench, address uintptr) devices.Violation{
		"read":  func(b *bench, address uintptr) devices.Violation { return b.device.Read(b.consumer, address) },
		"write": func(b *bench, address uintptr) devices.Violation { return b.device.Write(b.consumer, address) },
		"host":  func(b *bench, address uintptr) devices.Violation { return b.device.HostRead(address) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.device.Write(b.producer, b.memory)
			tensor := b.imported(b.handedOff(event, b.recorded(b.producer)), event)
			want := map[string]devices.Violation{"write": devices.UnorderedWrite}[name]
			if want == devices.OK {
				want = devices.UnorderedRead
			}
			if got := access(b, b.address(tensor)); got != want {
				t.Errorf("%v", got)
			}
			b.device.WaitEvent(b.consumer, value(tensor.Event(0))(t).Handle)
			ok(t, tensor.Close())
			b.only(want)
		})
	}
}

func TestAccessOnAStreamThatDidNotWaitForTheEventIsCaught(t *testing.T) {
	b := newBench(t)
	b.device.Write(b.producer, b.memory)
	tensor := b.imported(b.handedOff(event, b.recorded(b.producer)), event)
	b.device.WaitEvent(b.consumer, value(tensor.Event(0))(t).Handle)
	b.device.Read(b.consumer, b.address(tensor))
	b.device.Read(b.other, b.address(tensor))
	ok(t, tensor.Close())
	b.only(devices.UnorderedRead)
}

func TestWaitAfterTheReleaseOfTheEventIsCaught(t *testing.T) {
	b := newBench(t)
	b.device.Write(b.producer, b.memory)
	tensor := b.imported(b.handedOff(event, b.recorded(b.producer)), event)
	kept := value(tensor.Event(0))(t)
	ok(t, tensor.ReleaseEvent(0))
	b.device.WaitEvent(b.consumer, kept.Handle)
	ok(t, tensor.Close())
	b.only(devices.EventUsedAfterRelease)
}

// The binding gives the event back once: a second release is an error and does not reach the device. Whoever goes past
// the binding is caught.
func TestEventIsReleasedExactlyOnce(t *testing.T) {
	b := newBench(t)
	recorded := b.recorded(b.producer)
	buffer := b.handedOff(event, recorded)
	ok(t, buffer.ReleaseEvent())
	wants(t, buffer.ReleaseEvent(), hurray.ErrInvalidHandle)
	wants(t, errorOf(buffer.Event()), hurray.ErrInvalidHandle)
	ok(t, buffer.Close())
	if n := b.device.EventReleases(recorded); n != 1 {
		t.Errorf("released %d times", n)
	}
	b.clean()
	b.device.ReleaseEvent(recorded)
	b.only(devices.EventReleasedTwice)
}

func TestEventOfABufferThatEndsIsReleasedOnce(t *testing.T) {
	b := newBench(t)
	recorded := b.recorded(b.producer)
	ok(t, b.handedOff(event, recorded).Close())
	if n := b.device.EventReleases(recorded); n != 1 {
		t.Errorf("released %d times", n)
	}
	b.clean()
	b.before("release event 1", "release memory 1")
}

// What was handed off and is never ended is found, too: the test would notice.
func TestWhatIsNeverReleasedIsCaught(t *testing.T) {
	b := newBench(t)
	buffer := b.handedOff(event, b.recorded(b.producer))
	b.only(devices.EventNeverReleased, devices.MemoryNeverReleased)
	ok(t, buffer.Close())
}

func TestSharesAndSlicesCarryNoEventAndReleaseNone(t *testing.T) {
	b := newBench(t)
	recorded := b.recorded(b.producer)
	buffer := b.handedOff(event, recorded)
	share, slice := value(buffer.Share())(t), value(buffer.Slice(0, 16))(t)
	for _, derived := range []*hurray.Buffer{share, slice} {
		wants(t, errorOf(derived.Event()), hurray.ErrSyncModeMismatch)
		wants(t, derived.ReleaseEvent(), hurray.ErrSyncModeMismatch)
	}
	ok(t, slice.Close())
	if n := b.device.EventReleases(recorded); n != 0 {
		t.Errorf("released %d times", n)
	}
	ok(t, buffer.Close())
	if e, m := b.device.EventReleases(recorded), b.device.MemoryReleases(b.memory); e != 1 || m != 0 {
		t.Errorf("event released %d times, memory %d times", e, m)
	}
	ok(t, share.Close())
	b.clean()
}

// A collector's goroutine ends a forgotten buffer: its event at once, on the collector's thread, as the contract lets
// it; its memory in the next drain, on the thread that drains.
func TestForgottenBufferReleasesItsEventAtOnceAndItsMemoryInADrain(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	b := newBench(t)
	recorded := b.recorded(b.producer)
	func() { runtime.KeepAlive(b.handedOff(event, recorded)) }()
	for i := 0; b.device.EventReleases(recorded) == 0 && i < 10000; i++ {
		runtime.GC()
	}
	if n := b.device.MemoryReleases(b.memory); n != 0 {
		t.Error("the memory was released on the collector's thread")
	}
	if thread := b.device.EventThread(recorded); thread == 0 || thread == devices.CurrentThread() {
		t.Errorf("the event was released on thread %d, this is %d", thread, devices.CurrentThread())
	}
	ok(t, errorOf(hurray.DrainReleases()))
	if thread := b.device.MemoryThread(b.memory); thread != devices.CurrentThread() {
		t.Errorf("the memory was released on thread %d, drained on %d", thread, devices.CurrentThread())
	}
	b.clean()
}

// --- SYNC_CONSUMER_STREAM ---

// producing makes a producer whose exporter orders the consumer's stream as order says, and hands the memory off then.
func (b *bench) producing(order func(asked uintptr), late func(asked uintptr), named uintptr) *hurray.Producer {
	b.t.Helper()
	return value(hurray.NewProducer(hurray.ExporterFunc(
		func(asked hurray.Stream) (*hurray.BufferList, *hurray.TensorContext, error) {
			b.device.Write(b.producer, b.memory)
			if order != nil {
				order(asked.Handle)
			}
			with := asked.Handle
			if named != 0 {
				with = named
			}
			buffer, err := b.handOff(b.memory, stream, with)
			if err != nil {
				return nil, nil, err
			}
			if late != nil {
				late(asked.Handle)
			}
			return pair(buffer, stream)
		}), nil))(b.t)
}

// inOrder is what a producer does: the consumer's stream waits for its own.
func (b *bench) inOrder(asked uintptr) { b.device.WaitStream(asked, b.producer) }

func (b *bench) mine() hurray.Stream { return hurray.Stream{Handle: b.consumer, Device: devices.Tag} }

func TestDependencyIsIssuedBeforeTheHandoffReturns(t *testing.T) {
	b := newBench(t)
	producer := b.producing(b.inOrder, nil, 0)
	tensor := value(producer.Request(b.mine()))(t)
	got := value(tensor.Stream(0))(t)
	if got != b.mine() {
		t.Errorf("%+v", got)
	}
	b.device.Read(got.Handle, b.address(tensor))
	b.device.WaitStream(b.other, got.Handle)
	b.device.Read(b.other, b.address(tensor))
	// There is no second release in this mode.
	wants(t, errorOf(tensor.Event(0)), hurray.ErrSyncModeMismatch)
	wants(t, tensor.ReleaseEvent(0), hurray.ErrSyncModeMismatch)
	ok(t, tensor.Close())
	ok(t, producer.Close())
	b.clean()
	b.before("wait consumer for producer", "handoff returned memory 1 mode 2 consumer")
	b.before("handoff returned memory 1 mode 2 consumer", "read memory 1 on consumer")
	b.before("wait other for consumer", "read memory 1 on other")
	if strings.Contains(b.device.Log(), "wait host") {
		t.Error("the host never blocks in this mode")
	}
}

func TestMissingLateAndWrongDependenciesAreCaught(t *testing.T) {
	for name, order := range map[string]func(b *bench) *hurray.Producer{
		"none":              func(b *bench) *hurray.Producer { return b.producing(nil, nil, 0) },
		"late":              func(b *bench) *hurray.Producer { return b.producing(nil, b.inOrder, 0) },
		"of another stream": func(b *bench) *hurray.Producer { return b.producing(func(uintptr) { b.inOrder(b.other) }, nil, 0) },
		"the wrong way round": func(b *bench) *hurray.Producer {
			return b.producing(func(asked uintptr) { b.device.WaitStream(b.producer, asked) }, nil, 0)
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			producer := order(b)
			tensor := value(producer.Request(b.mine()))(t)
			ok(t, tensor.Close())
			ok(t, producer.Close())
			b.only(devices.HandoffNoDependency)
		})
	}
}

func TestAccessOnAnotherStreamWithoutAWaitIsCaught(t *testing.T) {
	b := newBench(t)
	producer := b.producing(b.inOrder, nil, 0)
	tensor := value(producer.Request(b.mine()))(t)
	b.device.Read(b.consumer, b.address(tensor))
	if got := b.device.Read(b.other, b.address(tensor)); got != devices.UnorderedRead {
		t.Errorf("%v", got)
	}
	if got := b.device.HostRead(b.address(tensor)); got != devices.UnorderedRead {
		t.Errorf("%v", got)
	}
	b.device.WaitStream(b.other, b.consumer)
	b.device.Read(b.other, b.address(tensor))
	ok(t, tensor.Close())
	ok(t, producer.Close())
	b.only(devices.UnorderedRead, devices.UnorderedRead)
}

func TestProducerThatNamesAnotherStreamIsRefused(t *testing.T) {
	b := newBench(t)
	producer := b.producing(func(uintptr) { b.inOrder(b.other) }, nil, b.other)
	wants(t, errorOf(producer.Request(b.mine())), hurray.ErrSyncModeMismatch)
	if n := b.device.MemoryReleases(b.memory); n != 1 {
		t.Errorf("what was exported was released %d times", n)
	}
	ok(t, producer.Close())
	b.only()
}

// --- What is refused moves nothing ---

func TestHandoffThatIsRefusedReleasesNothing(t *testing.T) {
	b := newBench(t)
	recorded := b.recorded(b.producer)
	for mode := range 256 {
		h := hurray.Handoff{
			Handle: hurray.BufferHandle{ByteSize: byteSize, Alignment: 64, Device: devices.Tag, SyncMode: hurray.SyncMode(mode)}.Bytes(),
			Data:   b.memory, Release: func() { b.device.ReleaseMemory(b.memory) },
			// Right for none of the modes.
			Event: hurray.Event{Handle: recorded, Device: devices.Tag}, ReleaseEvent: func() { b.device.ReleaseEvent(recorded) },
			Stream: hurray.Stream{Handle: b.consumer, Device: devices.Tag},
		}
		want := hurray.ErrSyncModeMismatch
		if mode > 2 {
			want = hurray.ErrInvalidSyncMode
		}
		wants(t, errorOf(hurray.HandOff(h)), want)
	}
	// A failure between the device's marks: right mode, memory that is not aligned.
	wants(t, errorOf(b.handOff(b.memory+1, event, recorded)), hurray.ErrMisaligned)
	if e, m := b.device.EventReleases(recorded), b.device.MemoryReleases(b.memory); e != 0 || m != 0 {
		t.Errorf("event released %d times, memory %d times", e, m)
	}
	ok(t, b.handedOff(event, recorded).Close())
	b.clean()
}
