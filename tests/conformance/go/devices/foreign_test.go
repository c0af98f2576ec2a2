package devices_test

import (
	"strings"
	"testing"

	"hurray.dev/go/conformance/devices"
	"hurray.dev/go/hurray"
)

// A producer of Go's serves a consumer of C's, on a thread that Go did not make, in the same order; and is released there.
func TestProducerOfGosServesAForeignConsumer(t *testing.T) {
	b := newBench(t)
	released := uint64(0)
	producer := value(hurray.NewProducer(hurray.ExporterFunc(
		func(asked hurray.Stream) (*hurray.BufferList, *hurray.TensorContext, error) {
			if asked != b.mine() {
				t.Errorf("asked for %+v", asked)
			}
			b.device.Write(b.producer, b.memory)
			b.inOrder(asked.Handle)
			buffer, err := b.handOff(b.memory, stream, asked.Handle)
			if err != nil {
				return nil, nil, err
			}
			return pair(buffer, stream)
		}), func() { released = devices.CurrentThread() }))(t)
	foreign := devices.NewForeignProducer()
	defer foreign.Free()
	ok(t, producer.MoveTo(foreign.Pointer()))
	ordered, status, message := foreign.Request(b.consumer, devices.Tag)
	if status != 0 || ordered != b.consumer {
		t.Fatalf("%d %s: ordered on %x", status, message, ordered)
	}
	if status := foreign.Release(); status != 0 || released == 0 || released == devices.CurrentThread() {
		t.Errorf("%d: released on thread %d", status, released)
	}
	b.clean()
	b.before("wait consumer for producer", "handoff returned memory 1 mode 2 consumer")
	if thread := b.device.MemoryThread(b.memory); thread == devices.CurrentThread() {
		t.Error("the memory was not released on the thread that ended the tensor")
	}
	// A released one answers with an error.
	if _, status, _ := foreign.Request(b.consumer, devices.Tag); hurray.Status(status) != hurray.StatusNullPointer {
		t.Error(hurray.Status(status))
	}
	wants(t, errorOf(hurray.ProducerFromPointer(foreign.Pointer())), hurray.ErrInvalidHandle)
}

// An event of Go's is released on whichever thread ends its buffer, also one that Go did not make.
func TestEventOfGosIsReleasedOnAForeignThread(t *testing.T) {
	b := newBench(t)
	recorded := b.recorded(b.producer)
	producer := value(hurray.NewProducer(hurray.ExporterFunc(
		func(hurray.Stream) (*hurray.BufferList, *hurray.TensorContext, error) {
			buffer, err := b.handOff(b.memory, event, recorded)
			if err != nil {
				return nil, nil, err
			}
			return pair(buffer, event)
		}), nil))(t)
	foreign := devices.NewForeignProducer()
	defer foreign.Free()
	ok(t, producer.MoveTo(foreign.Pointer()))
	// The consumer looks for a stream, which a buffer of this mode does not have, and ends the tensor.
	if _, status, message := foreign.Request(b.consumer, devices.Tag); hurray.Status(status) != hurray.StatusSyncModeMismatch {
		t.Errorf("%v %s", hurray.Status(status), message)
	}
	if thread := b.device.EventThread(recorded); thread == 0 || thread == devices.CurrentThread() {
		t.Errorf("released on thread %d", thread)
	}
	if status := foreign.Release(); status != 0 {
		t.Error(hurray.Status(status))
	}
	b.clean()
}

// Errors and panics of an exporter are a status and a message to a consumer of C's; nothing unwinds its frames.
func TestFailuresOfAnExporterAreAStatusToAForeignConsumer(t *testing.T) {
	noLeak(t)
	type export = func(hurray.Stream) (*hurray.BufferList, *hurray.TensorContext, error)
	for name, c := range map[string]struct {
		export export
		status hurray.Status
		text   string
	}{
		"error": {func(hurray.Stream) (*hurray.BufferList, *hurray.TensorContext, error) {
			return nil, nil, &hurray.Error{Op: "Load", Code: hurray.StatusNotFound, Message: "no such layer", Offset: -1}
		}, hurray.StatusNotFound, "no such layer"},
		"panic": {func(hurray.Stream) (*hurray.BufferList, *hurray.TensorContext, error) { panic("burnt") },
			hurray.StatusInternalPanic, "burnt"},
		"nothing": {func(hurray.Stream) (*hurray.BufferList, *hurray.TensorContext, error) { return nil, nil, nil },
			hurray.StatusNullPointer, "no list"},
	} {
		producer := value(hurray.NewProducer(hurray.ExporterFunc(c.export), nil))(t)
		foreign := devices.NewForeignProducer()
		ok(t, producer.MoveTo(foreign.Pointer()))
		_, status, message := foreign.Request(1, devices.Tag)
		if hurray.Status(status) != c.status || !strings.Contains(message, c.text) {
			t.Errorf("%s: %v %q", name, hurray.Status(status), message)
		}
		if status := foreign.Release(); status != 0 {
			t.Error(hurray.Status(status))
		}
		foreign.Free()
	}
}

// Callbacks of C++ that throw: everything ends exactly once all the same, and the close says that something was wrong,
// as the log and the diagnostics do.
func TestCallbacksThatThrowAreErrorsAndEverythingEnds(t *testing.T) {
	noLeak(t)
	var logged []hurray.Diagnostic
	ok(t, hurray.SetLog(func(d hurray.Diagnostic) { logged = append(logged, d) }))
	defer func() { ok(t, hurray.SetLog(nil)) }()

	counts := devices.NewCounts()
	defer counts.Free()
	list := value(hurray.BufferListFromPointer(devices.CarelessList(counts)))(t)
	wants(t, list.Close(), hurray.ErrInternalPanic)
	ok(t, list.Close())
	if counts.Calls() != 1 {
		t.Errorf("released %d times", counts.Calls())
	}

	events := devices.NewCounts()
	defer events.Free()
	list = value(hurray.BufferListFromPointer(devices.CarelessEventList(events)))(t)
	wants(t, list.ReleaseEvent(0), hurray.ErrInternalPanic)
	wants(t, list.ReleaseEvent(0), hurray.ErrInvalidHandle)
	wants(t, list.Close(), hurray.ErrInternalPanic)
	if events.Calls() != 2 {
		t.Errorf("event and memory were released %d times", events.Calls())
	}

	exports := devices.NewCounts()
	defer exports.Free()
	foreign := devices.NewForeignProducer()
	defer foreign.Free()
	foreign.BeCareless(exports)
	producer := value(hurray.ProducerFromPointer(foreign.Pointer()))(t)
	wants(t, errorOf(producer.Request(hurray.Stream{})), hurray.ErrInternalPanic)
	ok(t, producer.Close())
	if exports.Calls() != 1 || exports.Releases() != 1 {
		t.Errorf("exported %d times, released %d times", exports.Calls(), exports.Releases())
	}

	if len(logged) != 4 {
		t.Errorf("logged %q", logged)
	}
	for _, d := range logged {
		if d.Code != hurray.StatusInternalPanic || !strings.Contains(d.Message, "a careless callback") {
			t.Errorf("%+v", d)
		}
	}
	kept := value(hurray.Diagnostics())(t)
	if len(kept) < 4 || kept[len(kept)-1] != logged[len(logged)-1] {
		t.Errorf("kept %q", kept)
	}
}
