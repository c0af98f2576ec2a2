package hurray_test

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"hurray.dev/go/hurray"
)

var mine = hurray.Stream{Handle: someStream, Device: hurray.DeviceCUDA}

// exporting makes a producer whose tensors are of one buffer in the mode; a stream that is not zero replaces the consumer's.
func exporting(t testing.TB, mode hurray.SyncMode, stream hurray.Stream) (hurray.Exporter, *counts) {
	c := new(counts)
	return hurray.ExporterFunc(func(asked hurray.Stream) (*hurray.BufferList, *hurray.TensorContext, error) {
		h, _ := handoff(mode)
		h.Release = func() { c.memory.Add(1) }
		if h.ReleaseEvent != nil {
			h.ReleaseEvent = func() { c.event.Add(1) }
		}
		if mode == hurray.SyncConsumerStream {
			h.Stream = asked
			if stream.Handle != 0 {
				h.Stream = stream
			}
		}
		// The test must not end in here, with the library's frames below: a failure is an error.
		return pairOf(h)
	}), c
}

func TestConsumersStreamReachesTheProducerAndComesBack(t *testing.T) {
	noLeak(t)
	exporter, c := exporting(t, hurray.SyncConsumerStream, hurray.Stream{})
	released := 0
	producer := value(hurray.NewProducer(exporter, func() { released++ }))(t)
	for _, stream := range []hurray.Stream{mine, {Handle: 1 << 63, Device: hurray.DeviceCUDA}} {
		tensor := value(producer.Request(stream))(t)
		if got := value(tensor.Stream(0))(t); got != stream {
			t.Errorf("%+v, want %+v", got, stream)
		}
		ok(t, tensor.Close())
	}
	c.want(t, 2, 0)
	for range 2 {
		ok(t, producer.Close())
	}
	if released != 1 {
		t.Errorf("the producer was released %d times", released)
	}
	wants(t, errorOf(producer.Request(mine)), hurray.ErrClosed)
	wants(t, errorOf(hurray.NewProducer(nil, func() { t.Error("released") })), hurray.ErrNullPointer)
}

// Other modes need no stream; and what was exported for a stream that nobody asked for is refused and ended.
func TestRequestChecksWhatComes(t *testing.T) {
	noLeak(t)
	for name, c := range map[string]struct {
		mode  hurray.SyncMode
		other hurray.Stream
		asked hurray.Stream
		want  error
	}{
		"synced, no stream":          {hurray.SyncProducerSynced, hurray.Stream{}, hurray.Stream{}, nil},
		"synced":                     {hurray.SyncProducerSynced, hurray.Stream{}, mine, nil},
		"event, no stream":           {hurray.SyncEvent, hurray.Stream{}, hurray.Stream{}, nil},
		"event":                      {hurray.SyncEvent, hurray.Stream{}, mine, nil},
		"another stream":             {hurray.SyncConsumerStream, hurray.Stream{Handle: 3, Device: hurray.DeviceCUDA}, mine, hurray.ErrSyncModeMismatch},
		"a stream, none was asked":   {hurray.SyncConsumerStream, mine, hurray.Stream{}, hurray.ErrSyncModeMismatch},
		"none for one of no device":  {hurray.SyncConsumerStream, hurray.Stream{}, hurray.Stream{Handle: someStream}, hurray.ErrSyncModeMismatch},
		"stream of another device":   {hurray.SyncConsumerStream, mine, hurray.Stream{Handle: someStream, Device: hurray.DeviceROCm}, hurray.ErrSyncModeMismatch},
		"a device without a stream":  {hurray.SyncProducerSynced, hurray.Stream{}, hurray.Stream{Device: hurray.DeviceCUDA}, hurray.ErrInvalidArgument},
		"a mode that nobody defines": {7, hurray.Stream{}, mine, hurray.ErrInvalidSyncMode},
	} {
		if c.mode == 7 {
			// The handoff itself fails in the producer, whose error comes through.
			producer := value(hurray.NewProducer(hurray.ExporterFunc(
				func(hurray.Stream) (*hurray.BufferList, *hurray.TensorContext, error) {
					h, _ := handoff(c.mode)
					_, err := hurray.HandOff(h)
					return nil, nil, err
				}), nil))(t)
			wants(t, errorOf(producer.Request(c.asked)), c.want)
			ok(t, producer.Close())
			continue
		}
		exporter, released := exporting(t, c.mode, c.other)
		producer := value(hurray.NewProducer(exporter, nil))(t)
		tensor, err := producer.Request(c.asked)
		if c.want == nil {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			ok(t, tensor.Close())
			released.want(t, 1, map[hurray.SyncMode]int64{hurray.SyncEvent: 1}[c.mode])
		} else if tensor != nil || !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
		if err != nil && released.memory.Load() > 1 {
			t.Errorf("%s: released %d times", name, released.memory.Load())
		}
		ok(t, producer.Close())
	}
}

// An error of the exporter's is that of the request: typed, with its text, and still the same error to Go.
func TestErrorsOfAnExporterReachTheConsumer(t *testing.T) {
	noLeak(t)
	own := errors.New("no tensor today")
	closed := func() *hurray.BufferList {
		list := value(hurray.NewBufferList())(t)
		ok(t, list.Close())
		return list
	}
	context := func() *hurray.TensorContext {
		return value(hurray.NewTensorContext(hurray.CABIVersion, []byte("x"), nil))(t)
	}
	type export = func(hurray.Stream) (*hurray.BufferList, *hurray.TensorContext, error)
	for name, c := range map[string]struct {
		export export
		want   error
		text   string
		is     error
	}{
		"plain error": {func(hurray.Stream) (*hurray.BufferList, *hurray.TensorContext, error) { return nil, nil, own },
			hurray.ErrCancelled, "no tensor today", own},
		"wrapped": {func(hurray.Stream) (*hurray.BufferList, *hurray.TensorContext, error) {
			return nil, nil, fmt.Errorf("%w: %w", own, &hurray.Error{Op: "x", Code: hurray.StatusNotFound, Message: "gone", Offset: -1})
		}, hurray.ErrNotFound, "no tensor today", own},
		"typed": {func(hurray.Stream) (*hurray.BufferList, *hurray.TensorContext, error) {
			return nil, nil, &hurray.Error{Op: "Load", Code: hurray.StatusIO, Message: "disk on fire", Offset: -1, Err: own}
		}, hurray.ErrIO, "Load: disk on fire", own},
		"code that is none": {func(hurray.Stream) (*hurray.BufferList, *hurray.TensorContext, error) {
			return nil, nil, &hurray.Error{Op: "Load", Code: 7, Message: "seven", Offset: -1}
		}, hurray.ErrCancelled, "seven", nil},
		"unknown code": {func(hurray.Stream) (*hurray.BufferList, *hurray.TensorContext, error) {
			return nil, nil, &hurray.Error{Op: "Load", Code: -9999, Message: "later version", Offset: -1}
		}, hurray.ErrInvalidArgument, "later version", nil},
		"made and failed": {func(hurray.Stream) (*hurray.BufferList, *hurray.TensorContext, error) {
			return value(hurray.NewBufferList())(t), context(), own
		}, hurray.ErrCancelled, "no tensor today", own},
		"panic": {func(hurray.Stream) (*hurray.BufferList, *hurray.TensorContext, error) { panic("out of order") },
			hurray.ErrInternalPanic, "panic: out of order", nil},
		"panic with an error": {func(hurray.Stream) (*hurray.BufferList, *hurray.TensorContext, error) { panic(own) },
			hurray.ErrInternalPanic, "no tensor today", own},
		"run-time panic": {func(hurray.Stream) (*hurray.BufferList, *hurray.TensorContext, error) {
			var none []int
			return nil, nil, fmt.Errorf("%d", none[len(os.Args)])
		}, hurray.ErrInternalPanic, "index out of range", nil},
		"nothing": {func(hurray.Stream) (*hurray.BufferList, *hurray.TensorContext, error) { return nil, nil, nil },
			hurray.ErrNullPointer, "no list or no context", nil},
		"no context": {func(hurray.Stream) (*hurray.BufferList, *hurray.TensorContext, error) {
			return value(hurray.NewBufferList())(t), nil, nil
		}, hurray.ErrNullPointer, "no list or no context", nil},
		"closed list": {func(hurray.Stream) (*hurray.BufferList, *hurray.TensorContext, error) {
			return closed(), context(), nil
		}, hurray.ErrInvalidHandle, "closed", hurray.ErrClosed},
		"descriptor that is none": {func(hurray.Stream) (*hurray.BufferList, *hurray.TensorContext, error) {
			return value(hurray.NewBufferList())(t), context(), nil
		}, hurray.ErrInvalidLayout, "", nil},
		"version 3": {func(hurray.Stream) (*hurray.BufferList, *hurray.TensorContext, error) {
			return value(hurray.NewBufferList())(t), value(hurray.NewTensorContext(3, []byte("x"), nil))(t), nil
		}, hurray.ErrVersionMismatch, "3", nil},
		"long text": {func(hurray.Stream) (*hurray.BufferList, *hurray.TensorContext, error) {
			return nil, nil, errors.New(strings.Repeat("ü", 500))
		}, hurray.ErrCancelled, "üüü", nil},
	} {
		producer := value(hurray.NewProducer(hurray.ExporterFunc(c.export), nil))(t)
		tensor, err := producer.Request(mine)
		var failed *hurray.Error
		if tensor != nil || !errors.As(err, &failed) || !errors.Is(err, c.want) || !strings.Contains(failed.Message, c.text) ||
			(c.is != nil && !errors.Is(err, c.is)) || strings.ContainsRune(failed.Message, '\uFFFD') {
			t.Errorf("%s: got %v, want %v, %q, %v", name, err, c.want, c.text, c.is)
		}
		ok(t, producer.Close())
	}
}

// A forgotten producer is released as memory is: in a drain, and not by the collector.
func TestForgottenProducersAreReleasedInADrain(t *testing.T) {
	noLeak(t)
	var released atomic.Int64
	var stack string
	func() {
		exporter, _ := exporting(t, hurray.SyncProducerSynced, hurray.Stream{})
		_ = value(hurray.NewProducer(exporter, func() {
			text := make([]byte, 1<<14)
			stack = string(text[:runtime.Stack(text, false)])
			released.Add(1)
		}))(t)
	}()
	collect(t, "the release of a producer", func() bool {
		if released.Load() != 0 {
			t.Fatal("released before anybody drained: " + stack)
		}
		return value(hurray.DrainReleases())(t) == 1
	})
	if released.Load() != 1 || !strings.Contains(stack, "hurray.DrainReleases") {
		t.Errorf("released %d times: %s", released.Load(), stack)
	}
}

// A producer that is closed under a request is released when that is done.
func TestProducerClosedUnderARequest(t *testing.T) {
	noLeak(t)
	var producer *hurray.Producer
	released := 0
	inner, _ := exporting(t, hurray.SyncConsumerStream, hurray.Stream{})
	producer = value(hurray.NewProducer(hurray.ExporterFunc(
		func(stream hurray.Stream) (*hurray.BufferList, *hurray.TensorContext, error) {
			ok(t, producer.Close())
			if released != 0 {
				t.Error("released under the request")
			}
			return inner.ExportTensor(stream)
		}), func() { released++ }))(t)
	tensor := value(producer.Request(mine))(t)
	if released != 1 {
		t.Errorf("released %d times", released)
	}
	ok(t, tensor.Close())
	wants(t, errorOf(producer.Request(mine)), hurray.ErrClosed)
}

func TestRequestsOfManyGoroutinesComeOneByOne(t *testing.T) {
	noLeak(t)
	inner, c := exporting(t, hurray.SyncConsumerStream, hurray.Stream{})
	var under, requests atomic.Int64
	producer := value(hurray.NewProducer(hurray.ExporterFunc(
		func(stream hurray.Stream) (*hurray.BufferList, *hurray.TensorContext, error) {
			if under.Add(1) != 1 {
				t.Error("two requests at a time")
			}
			defer under.Add(-1)
			requests.Add(1)
			runtime.Gosched()
			return inner.ExportTensor(stream)
		}), nil))(t)
	var all sync.WaitGroup
	for i := range 8 {
		all.Add(1)
		go func() {
			defer all.Done()
			for range 20 {
				stream := hurray.Stream{Handle: uintptr(100 + i), Device: hurray.DeviceCUDA}
				tensor, err := producer.Request(stream)
				if err != nil {
					t.Error(err)
					return
				}
				if got, err := tensor.Stream(0); got != stream || err != nil {
					t.Errorf("%+v, want %+v: %v", got, stream, err)
				}
				if err := tensor.Close(); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	all.Wait()
	ok(t, producer.Close())
	if requests.Load() != 160 {
		t.Error(requests.Load())
	}
	c.want(t, 160, 0)
}

// A HurrayProducer is a struct of whoever holds it: it can be moved, and is released where it is then.
func TestProducersMove(t *testing.T) {
	noLeak(t)
	exporter, c := exporting(t, hurray.SyncConsumerStream, hurray.Stream{})
	released := 0
	producer := value(hurray.NewProducer(exporter, func() { released++ }))(t)
	wants(t, producer.MoveTo(nil), hurray.ErrNullPointer)
	// As another runtime's memory, which knows of nothing.
	foreign := value(hurray.AllocateBuffer(64, 0))(t)
	ok(t, foreign.Borrow(func(memory []byte) error {
		place := unsafe.Pointer(&memory[0])
		ok(t, producer.MoveTo(place))
		wants(t, producer.MoveTo(place), hurray.ErrClosed)
		wants(t, errorOf(producer.Request(mine)), hurray.ErrClosed)
		ok(t, producer.Close())
		moved := value(hurray.ProducerFromPointer(place))(t)
		wants(t, errorOf(hurray.ProducerFromPointer(place)), hurray.ErrInvalidHandle)
		tensor := value(moved.Request(mine))(t)
		if got := value(tensor.Stream(0))(t); got != mine {
			t.Errorf("%+v", got)
		}
		ok(t, moved.Close())
		if released != 1 {
			t.Errorf("released %d times", released)
		}
		// The tensor outlives its producer.
		ok(t, tensor.Close())
		for _, size := range []uint32{0, 8, 31, 4097, 1<<32 - 1} {
			*(*uint32)(place) = size
			wants(t, errorOf(hurray.ProducerFromPointer(place)), hurray.ErrInvalidArgument)
		}
		return nil
	}))
	ok(t, foreign.Close())
	c.want(t, 1, 0)
	wants(t, errorOf(hurray.ProducerFromPointer(nil)), hurray.ErrNullPointer)
}

// A struct of a later version is longer: nothing of it is lost on the way. One of a version before producers is refused.
func TestProducersOfOtherVersions(t *testing.T) {
	noLeak(t)
	exporter, _ := exporting(t, hurray.SyncProducerSynced, hurray.Stream{})
	released := 0
	foreign := closing(t, value(hurray.AllocateBuffer(128, 0))(t))
	ok(t, foreign.Borrow(func(memory []byte) error {
		place := unsafe.Pointer(&memory[0])
		ok(t, value(hurray.NewProducer(exporter, func() { released++ }))(t).MoveTo(place))
		*(*uint32)(place) = 96
		*(*uint32)(unsafe.Add(place, 4)) = 5
		later := value(hurray.ProducerFromPointer(place))(t)
		wants(t, later.MoveTo(place), hurray.ErrInvalidArgument)
		ok(t, value(later.Request(hurray.Stream{}))(t).Close())
		ok(t, later.Close())
		ok(t, value(hurray.NewProducer(exporter, func() { released++ }))(t).MoveTo(place))
		*(*uint32)(unsafe.Add(place, 4)) = 3
		wants(t, errorOf(hurray.ProducerFromPointer(place)), hurray.ErrVersionMismatch)
		*(*uint32)(unsafe.Add(place, 4)) = 4
		ok(t, value(hurray.ProducerFromPointer(place))(t).Close())
		return nil
	}))
	if released != 2 {
		t.Errorf("released %d times", released)
	}
}

// What the library keeps of broken invariants reaches the log when it happens, and only that of the moment.
func TestLogGetsWhatTheLibraryKeeps(t *testing.T) {
	noLeak(t)
	t.Cleanup(func() { ok(t, hurray.SetLog(nil)) })
	producer := closing(t, value(hurray.NewProducer(hurray.ExporterFunc(
		func(hurray.Stream) (*hurray.BufferList, *hurray.TensorContext, error) {
			return nil, nil, &hurray.Error{Op: "x", Code: hurray.StatusInternal, Message: "an invariant of the test's", Offset: -1}
		}), nil))(t))
	fail := func() { wants(t, errorOf(producer.Request(hurray.Stream{})), hurray.ErrInternal) }
	var first, second []hurray.Diagnostic
	ok(t, hurray.SetLog(func(d hurray.Diagnostic) {
		first = append(first, d)
		wants(t, hurray.SetLog(nil), hurray.ErrInvalidArgument)
	}))
	fail()
	ok(t, hurray.SetLog(func(d hurray.Diagnostic) { second = append(second, d) }))
	fail()
	fail()
	ok(t, hurray.SetLog(nil))
	fail()
	if len(first) != 1 || len(second) != 2 {
		t.Fatalf("%q and %q", first, second)
	}
	if d := first[0]; d.Code != hurray.StatusInternal || !strings.Contains(d.Message, "an invariant of the test's") {
		t.Errorf("%+v", d)
	}
	kept := value(hurray.Diagnostics())(t)
	if last := kept[len(kept)-1]; last != first[0] {
		t.Errorf("%+v, want %+v", last, first[0])
	}
}
