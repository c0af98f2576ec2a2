package hurray_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"hurray.dev/go/hurray"
)

// Memory, an event and a stream of a device that is not there: nobody may look behind the numbers.
const (
	deviceMemory = uintptr(0x7d0000000000)
	someEvent    = uintptr(0x7e0000000008)
	someStream   = uintptr(2) // as CUDA's stream of the thread, which is a number
)

// entry is the handle of a buffer of 12 bytes of device memory.
func entry(mode hurray.SyncMode) hurray.BufferHandle {
	return hurray.BufferHandle{ByteSize: 12, Alignment: 64, Device: hurray.DeviceCUDA, SyncMode: mode}
}

// counts tells how often the two releases of a handoff ran.
type counts struct{ memory, event atomic.Int64 }

func (c *counts) want(t testing.TB, memory, event int64) {
	t.Helper()
	if m, e := c.memory.Load(), c.event.Load(); m != memory || e != event {
		t.Errorf("the memory was released %d times, the event %d times; want %d and %d", m, e, memory, event)
	}
}

// handoff is one that is complete, of a mode.
func handoff(mode hurray.SyncMode) (hurray.Handoff, *counts) {
	c := new(counts)
	h := hurray.Handoff{Handle: entry(mode).Bytes(), Data: deviceMemory, Release: func() { c.memory.Add(1) }}
	switch mode {
	case hurray.SyncEvent:
		h.Event = hurray.Event{Handle: someEvent, Device: hurray.DeviceCUDA}
		h.ReleaseEvent = func() { c.event.Add(1) }
	case hurray.SyncConsumerStream:
		h.Stream = hurray.Stream{Handle: someStream, Device: hurray.DeviceCUDA}
	}
	return h, c
}

// deviceTensor is a tensor of three float32 in device memory, handed off in a mode.
func deviceTensor(t testing.TB, mode hurray.SyncMode) (*hurray.Tensor, *counts) {
	t.Helper()
	h, c := handoff(mode)
	return value(hurray.Import(devicePair(t, h)))(t), c
}

// devicePair is the list and the context of three float32 that are handed off so.
func devicePair(t testing.TB, handoffs ...hurray.Handoff) (*hurray.BufferList, *hurray.TensorContext) {
	t.Helper()
	list, context, err := pairOf(handoffs...)
	ok(t, err)
	return list, context
}

func pairOf(handoffs ...hurray.Handoff) (*hurray.BufferList, *hurray.TensorContext, error) {
	spec := vector
	list, err := hurray.NewBufferList()
	if err != nil {
		return nil, nil, err
	}
	for _, h := range handoffs {
		buffer, err := hurray.HandOff(h)
		if err != nil {
			return nil, nil, errors.Join(err, list.Close())
		}
		handle, err := buffer.Handle()
		spec.Buffers = append(spec.Buffers, handle)
		if err := errors.Join(err, list.Push(buffer)); err != nil {
			return nil, nil, errors.Join(err, list.Close())
		}
	}
	descriptor, err := hurray.NewDescriptor(spec)
	if err != nil {
		return nil, nil, errors.Join(err, list.Close())
	}
	encoded, err := descriptor.Encode()
	context, failed := hurray.NewTensorContext(hurray.CABIVersion, encoded, nil)
	return list, context, errors.Join(err, failed, descriptor.Close())
}

// All sync modes that a byte can hold, each with every combination of what may come with it: what does not belong
// together is refused before there is a buffer, and then neither release runs.
func TestABICrossCheckOfModeAndPayload(t *testing.T) {
	noLeak(t)
	nothing := func() {}
	events := map[string]struct {
		event   hurray.Event
		release func()
		full    bool
		none    bool
	}{
		"no event":                 {none: true},
		"event":                    {hurray.Event{Handle: someEvent, Device: hurray.DeviceCUDA}, nothing, true, false},
		"event without a release":  {hurray.Event{Handle: someEvent, Device: hurray.DeviceCUDA}, nil, false, false},
		"event without a handle":   {hurray.Event{Device: hurray.DeviceCUDA}, nothing, false, false},
		"only the event's device":  {hurray.Event{Device: hurray.DeviceCUDA}, nil, false, false},
		"only the event's release": {hurray.Event{}, nothing, false, false},
		"event of another device":  {hurray.Event{Handle: someEvent, Device: hurray.DeviceROCm}, nothing, false, false},
		"event of the host":        {hurray.Event{Handle: someEvent}, nothing, false, false},
	}
	streams := map[string]struct {
		stream hurray.Stream
		full   bool
		none   bool
	}{
		"no stream":                {none: true},
		"stream":                   {hurray.Stream{Handle: someStream, Device: hurray.DeviceCUDA}, true, false},
		"only the stream's device": {hurray.Stream{Device: hurray.DeviceCUDA}, false, false},
		"stream of another device": {hurray.Stream{Handle: someStream, Device: hurray.DeviceMetal}, false, false},
		"stream of the host":       {hurray.Stream{Handle: someStream}, false, false},
	}
	made := 0
	for mode := range 256 {
		for eventName, e := range events {
			for streamName, s := range streams {
				what := fmt.Sprintf("mode %#02x, %s, %s", mode, eventName, streamName)
				c := new(counts)
				h := hurray.Handoff{
					Handle: entry(hurray.SyncMode(mode)).Bytes(), Data: deviceMemory, Release: func() { c.memory.Add(1) },
					Event: e.event, Stream: s.stream,
				}
				if e.release != nil {
					h.ReleaseEvent = func() { c.event.Add(1) }
				}
				var want error
				switch {
				case mode > 2:
					want = hurray.ErrInvalidSyncMode
				case mode == 0 && !(e.none && s.none), mode == 1 && !(e.full && s.none), mode == 2 && !(e.none && s.full):
					want = hurray.ErrSyncModeMismatch
				}
				buffer, err := hurray.HandOff(h)
				if want != nil {
					var failed *hurray.Error
					if buffer != nil || !errors.As(err, &failed) || !errors.Is(err, want) || failed.Message == "" {
						t.Errorf("%s: got %v, %v, want %v", what, buffer, err, want)
					}
					c.want(t, 0, 0)
					continue
				}
				if err != nil {
					t.Errorf("%s: %v", what, err)
					continue
				}
				made++
				if got := value(buffer.Handle())(t); got != entry(hurray.SyncMode(mode)) {
					t.Errorf("%s: handle %+v", what, got)
				}
				ok(t, buffer.Close())
				released := int64(0)
				if mode == 1 {
					released = 1
				}
				c.want(t, 1, released)
			}
		}
	}
	if made != 3 {
		t.Errorf("%d combinations are right, want one a mode", made)
	}
}

// What is wrong with the memory or the 16 bytes is found as well, and nothing moves.
func TestHandoffOfWrongMemoryMovesNothing(t *testing.T) {
	noLeak(t)
	for name, c := range map[string]struct {
		change func(h *hurray.Handoff)
		want   error
	}{
		"misaligned":        {func(h *hurray.Handoff) { h.Data += 32 }, hurray.ErrMisaligned},
		"address 1":         {func(h *hurray.Handoff) { h.Data = 1 }, hurray.ErrMisaligned},
		"null":              {func(h *hurray.Handoff) { h.Data = 0 }, hurray.ErrNullPointer},
		"wraps around":      {func(h *hurray.Handoff) { h.Data, h.Handle[0] = ^uintptr(63), 128 }, hurray.ErrInvalidArgument},
		"alignment 0":       {func(h *hurray.Handoff) { h.Handle[8] = 0 }, hurray.ErrInvalidLayout},
		"alignment 32":      {func(h *hurray.Handoff) { h.Handle[8] = 32 }, hurray.ErrInvalidLayout},
		"alignment 96":      {func(h *hurray.Handoff) { h.Handle[8] = 96 }, hurray.ErrInvalidLayout},
		"byte 15":           {func(h *hurray.Handoff) { h.Handle[15] = 1 }, hurray.ErrInvalidLayout},
		"device":            {func(h *hurray.Handoff) { h.Handle[12] = 0x50 }, hurray.ErrInvalidType},
		"device FF":         {func(h *hurray.Handoff) { h.Handle[12] = 0xff }, hurray.ErrInvalidType},
		"memory class":      {func(h *hurray.Handoff) { h.Handle[14] = 0x70 }, hurray.ErrInvalidType},
		"host with event":   {func(h *hurray.Handoff) { h.Handle[12], h.Event.Device = 0, 0 }, hurray.ErrInvalidSyncMode},
		"2^64-1 bytes":      {func(h *hurray.Handoff) { copy(h.Handle[:8], "\xff\xff\xff\xff\xff\xff\xff\xff") }, hurray.ErrInvalidArgument},
		"a mode of nobody":  {func(h *hurray.Handoff) { h.Handle[13] = 3 }, hurray.ErrInvalidSyncMode},
		"the invalid mode":  {func(h *hurray.Handoff) { h.Handle[13] = 0xff }, hurray.ErrInvalidSyncMode},
		"nothing but zeros": {func(h *hurray.Handoff) { h.Handle = [16]byte{} }, nil},
	} {
		h, released := handoff(hurray.SyncEvent)
		c.change(&h)
		buffer, err := hurray.HandOff(h)
		var failed *hurray.Error
		if buffer != nil || !errors.As(err, &failed) || (c.want != nil && !errors.Is(err, c.want)) {
			t.Errorf("%s: got %v, %v, want %v", name, buffer, err, c.want)
		}
		released.want(t, 0, 0)
	}
	// No bytes need no memory, and no alignment.
	h, released := handoff(hurray.SyncConsumerStream)
	h.Handle = hurray.BufferHandle{Alignment: 1, Device: hurray.DeviceCUDA, SyncMode: hurray.SyncConsumerStream}.Bytes()
	h.Data = 0
	ok(t, value(hurray.HandOff(h))(t).Close())
	released.want(t, 1, 0)
}

// sources are the ways to a buffer's sync: its own, and those of its list and its tensor.
type source interface {
	event() (hurray.Event, error)
	releaseEvent() error
	stream() (hurray.Stream, error)
	Close() error
}

type ofBuffer struct{ *hurray.Buffer }

func (b ofBuffer) event() (hurray.Event, error)   { return b.Event() }
func (b ofBuffer) releaseEvent() error            { return b.ReleaseEvent() }
func (b ofBuffer) stream() (hurray.Stream, error) { return b.Stream() }

type ofList struct{ *hurray.BufferList }

func (l ofList) event() (hurray.Event, error)   { return l.Event(0) }
func (l ofList) releaseEvent() error            { return l.ReleaseEvent(0) }
func (l ofList) stream() (hurray.Stream, error) { return l.Stream(0) }

type ofTensor struct{ *hurray.Tensor }

func (x ofTensor) event() (hurray.Event, error)   { return x.Event(0) }
func (x ofTensor) releaseEvent() error            { return x.ReleaseEvent(0) }
func (x ofTensor) stream() (hurray.Stream, error) { return x.Stream(0) }

var sources = map[string]func(t testing.TB, mode hurray.SyncMode) (source, *counts){
	"buffer": func(t testing.TB, mode hurray.SyncMode) (source, *counts) {
		h, c := handoff(mode)
		return ofBuffer{value(hurray.HandOff(h))(t)}, c
	},
	"list": func(t testing.TB, mode hurray.SyncMode) (source, *counts) {
		h, c := handoff(mode)
		return ofList{value(hurray.NewBufferList(value(hurray.HandOff(h))(t)))(t)}, c
	},
	"pushed": func(t testing.TB, mode hurray.SyncMode) (source, *counts) {
		h, c := handoff(mode)
		list := value(hurray.NewBufferList())(t)
		ok(t, list.Push(value(hurray.HandOff(h))(t)))
		return ofList{list}, c
	},
	"tensor": func(t testing.TB, mode hurray.SyncMode) (source, *counts) {
		tensor, c := deviceTensor(t, mode)
		return ofTensor{tensor}, c
	},
}

// The consumer releases the event once, and a second time is an error; the memory has a release of its own.
func TestEventIsReleasedExactlyOnce(t *testing.T) {
	for name, make := range sources {
		t.Run(name, func(t *testing.T) {
			noLeak(t)
			s, c := make(t, hurray.SyncEvent)
			if event := value(s.event())(t); event != (hurray.Event{Handle: someEvent, Device: hurray.DeviceCUDA}) {
				t.Errorf("%+v", event)
			}
			wants(t, errorOf(s.stream()), hurray.ErrSyncModeMismatch)
			c.want(t, 0, 0)
			ok(t, s.releaseEvent())
			c.want(t, 0, 1)
			for range 2 {
				wants(t, s.releaseEvent(), hurray.ErrInvalidHandle)
				wants(t, errorOf(s.event()), hurray.ErrInvalidHandle)
			}
			c.want(t, 0, 1)
			for range 2 {
				ok(t, s.Close())
				c.want(t, 1, 1)
			}
			wants(t, s.releaseEvent(), hurray.ErrClosed)
			wants(t, errorOf(s.event()), hurray.ErrClosed)
			wants(t, errorOf(s.stream()), hurray.ErrClosed)
			c.want(t, 1, 1)
		})
	}
}

// Many at once: one of them releases the event, the others are told; and a Close among them does it once, too.
func TestEventIsReleasedOnceByManyGoroutines(t *testing.T) {
	noLeak(t)
	for round := range 100 {
		tensor, c := deviceTensor(t, hurray.SyncEvent)
		var released, refused atomic.Int64
		var all sync.WaitGroup
		for i := range 8 {
			all.Add(1)
			go func() {
				defer all.Done()
				if i == 7 && round%2 == 0 {
					if err := tensor.Close(); err != nil {
						t.Error(err)
					}
					return
				}
				switch err := tensor.ReleaseEvent(0); {
				case err == nil:
					released.Add(1)
				case errors.Is(err, hurray.ErrInvalidHandle):
					refused.Add(1)
				default:
					t.Error(err)
				}
			}()
		}
		all.Wait()
		if released.Load() > 1 || (round%2 == 1 && released.Load() != 1) {
			t.Errorf("%d released it, %d were refused", released.Load(), refused.Load())
		}
		ok(t, tensor.Close())
		c.want(t, 1, 1)
	}
}

// A buffer that ends with its event unreleased releases it.
func TestEventOfABufferThatEndsIsReleased(t *testing.T) {
	for name, make := range sources {
		t.Run(name, func(t *testing.T) {
			noLeak(t)
			s, c := make(t, hurray.SyncEvent)
			for range 2 {
				ok(t, s.Close())
				c.want(t, 1, 1)
			}
		})
	}
}

// The collector ends what was forgotten: events, whose release is safe on any thread, at once, and memory in the next
// drain.
func TestEventOfAForgottenBufferIsReleased(t *testing.T) {
	for name, make := range sources {
		t.Run(name, func(t *testing.T) {
			noLeak(t)
			var c *counts
			func() { _, c = make(t, hurray.SyncEvent) }()
			collect(t, "the release of the event", func() bool { return c.event.Load() != 0 })
			if c.memory.Load() != 0 {
				t.Error("the memory was released before anybody drained")
			}
			ok(t, errorOf(hurray.DrainReleases()))
			c.want(t, 1, 1)
		})
	}
}

func TestStreamOfAConsumer(t *testing.T) {
	for name, make := range sources {
		t.Run(name, func(t *testing.T) {
			noLeak(t)
			s, c := make(t, hurray.SyncConsumerStream)
			if stream := value(s.stream())(t); stream != (hurray.Stream{Handle: someStream, Device: hurray.DeviceCUDA}) {
				t.Errorf("%+v", stream)
			}
			wants(t, errorOf(s.event()), hurray.ErrSyncModeMismatch)
			wants(t, s.releaseEvent(), hurray.ErrSyncModeMismatch)
			ok(t, s.Close())
			c.want(t, 1, 0)
		})
	}
}

func TestSyncedBuffersHaveNeitherEventNorStream(t *testing.T) {
	for name, make := range sources {
		t.Run(name, func(t *testing.T) {
			noLeak(t)
			s, c := make(t, hurray.SyncProducerSynced)
			wants(t, errorOf(s.event()), hurray.ErrSyncModeMismatch)
			wants(t, s.releaseEvent(), hurray.ErrSyncModeMismatch)
			wants(t, errorOf(s.stream()), hurray.ErrSyncModeMismatch)
			ok(t, s.Close())
			c.want(t, 1, 0)
		})
	}
	noLeak(t)
	tensor, _ := deviceTensor(t, hurray.SyncEvent)
	wants(t, errorOf(tensor.Event(1)), hurray.ErrIndexOutOfBounds)
	wants(t, errorOf(tensor.Event(-1)), hurray.ErrIndexOutOfBounds)
	wants(t, tensor.ReleaseEvent(1), hurray.ErrIndexOutOfBounds)
	wants(t, errorOf(tensor.Stream(1<<40)), hurray.ErrIndexOutOfBounds)
	ok(t, tensor.Close())
	list := value(hurray.NewBufferList())(t)
	wants(t, errorOf(list.Event(0)), hurray.ErrIndexOutOfBounds)
	wants(t, list.ReleaseEvent(-1), hurray.ErrIndexOutOfBounds)
	wants(t, errorOf(list.Stream(0)), hurray.ErrIndexOutOfBounds)
	ok(t, list.Close())
}

// Shares and slices keep the memory and know nothing of the event, which stays with the buffer that was handed off.
func TestSharesCarryNoEvent(t *testing.T) {
	noLeak(t)
	h, c := handoff(hurray.SyncEvent)
	buffer := value(hurray.HandOff(h))(t)
	share := value(buffer.Share())(t)
	slice := value(buffer.Slice(0, 4))(t)
	for _, derived := range []*hurray.Buffer{share, slice} {
		wants(t, errorOf(derived.Event()), hurray.ErrSyncModeMismatch)
		wants(t, derived.ReleaseEvent(), hurray.ErrSyncModeMismatch)
		wants(t, errorOf(derived.Stream()), hurray.ErrSyncModeMismatch)
	}
	ok(t, buffer.Close())
	c.want(t, 0, 1)
	ok(t, errors.Join(share.Close(), slice.Close()))
	c.want(t, 1, 1)
	tensor, c := deviceTensor(t, hurray.SyncEvent)
	part := value(tensor.Buffer(0))(t)
	wants(t, errorOf(part.Event()), hurray.ErrSyncModeMismatch)
	ok(t, tensor.Close())
	c.want(t, 0, 1)
	ok(t, part.Close())
	c.want(t, 1, 1)
}

// The release of an event of Go's runs with no lock held: it may use the buffer that it belongs to.
func TestReleaseOfAnEventMayUseItsBuffer(t *testing.T) {
	noLeak(t)
	h, c := handoff(hurray.SyncEvent)
	var buffer *hurray.Buffer
	h.ReleaseEvent = func() {
		c.event.Add(1)
		wants(t, errorOf(buffer.Event()), hurray.ErrInvalidHandle)
		wants(t, buffer.ReleaseEvent(), hurray.ErrInvalidHandle)
		ok(t, buffer.Close())
	}
	buffer = value(hurray.HandOff(h))(t)
	ok(t, buffer.ReleaseEvent())
	c.want(t, 1, 1)
}

// A panic in the release of an event reaches the consumer who asked for it, and does not unwind the library.
func TestPanicInTheReleaseOfAnEventReachesTheConsumer(t *testing.T) {
	noLeak(t)
	h, c := handoff(hurray.SyncEvent)
	h.ReleaseEvent = func() { c.event.Add(1); panic("out") }
	buffer := value(hurray.HandOff(h))(t)
	func() {
		defer func() {
			if cause := recover(); cause != "out" {
				t.Errorf("the panic came out as %v", cause)
			}
		}()
		_ = buffer.ReleaseEvent()
	}()
	wants(t, buffer.ReleaseEvent(), hurray.ErrInvalidHandle)
	ok(t, buffer.Close())
	c.want(t, 1, 1)
}

func TestListsTakeBuffersWithTheirEvents(t *testing.T) {
	noLeak(t)
	h1, c1 := handoff(hurray.SyncEvent)
	h2, c2 := handoff(hurray.SyncConsumerStream)
	first, second := value(hurray.HandOff(h1))(t), value(hurray.HandOff(h2))(t)
	closed := value(hurray.AllocateBuffer(1, 0))(t)
	ok(t, closed.Close())
	// A failure leaves all as they were, events included.
	wants(t, errorOf(hurray.NewBufferList(first, second, closed)), hurray.ErrClosed)
	wants(t, errorOf(hurray.NewBufferList(first, second, first)), hurray.ErrClosed)
	wants(t, errorOf(hurray.NewBufferList(make([]*hurray.Buffer, 4097)...)), hurray.ErrLimitExceeded)
	ok(t, errors.Join(errorOf(first.Event()), errorOf(second.Stream())))
	list := value(hurray.NewBufferList(first, second))(t)
	wants(t, errorOf(first.Event()), hurray.ErrClosed)
	if value(list.Event(0))(t).Handle != someEvent || value(list.Stream(1))(t).Handle != someStream {
		t.Error("event or stream are lost")
	}
	c1.want(t, 0, 0)
	ok(t, list.Close())
	c1.want(t, 1, 1)
	c2.want(t, 1, 0)
}

// Memory of a device is not read or written from here, whatever the sync mode.
func TestDeviceMemoryGivesNoHostView(t *testing.T) {
	for _, mode := range []hurray.SyncMode{hurray.SyncProducerSynced, hurray.SyncEvent, hurray.SyncConsumerStream} {
		t.Run(mode.String(), func(t *testing.T) {
			noLeak(t)
			tensor, c := deviceTensor(t, mode)
			view := value(tensor.View())(t)
			if view.Device() != hurray.DeviceCUDA || view.Len() != 3 || view.Address() != deviceMemory {
				t.Error(view.Device(), view.Len(), view.Address())
			}
			buffer := value(tensor.Buffer(0))(t)
			writer := closing(t, value(hurray.NewMemoryWriter())(t))
			fileWriter := closing(t, value(hurray.CreateFile(t.TempDir()+"/x", hurray.FormatSafetensors))(t))
			if info := value(buffer.Info())(t); info.Address != deviceMemory || info.ByteSize != 12 {
				t.Errorf("%+v", info)
			}
			for name, use := range map[string]func() error{
				"Slice":               func() error { return errorOf(hurray.Slice[float32](view)) },
				"MutableSlice":        func() error { return errorOf(hurray.MutableSlice[float32](view)) },
				"View.Bytes":          func() error { return errorOf(view.Bytes()) },
				"View.MutableBytes":   func() error { return errorOf(view.MutableBytes()) },
				"At":                  func() error { return errorOf(hurray.At[float32](view, 0)) },
				"View.CodeAt":         func() error { return errorOf(view.CodeAt(0)) },
				"Values":              func() error { return errorOf(hurray.Values[float32](view)) },
				"View.Float64s":       func() error { return errorOf(view.Float64s()) },
				"View.AppendRowMajor": func() error { return errorOf(view.AppendRowMajor(nil)) },
				"Borrow":              func() error { return hurray.Borrow(tensor, func([]float32) error { return nil }) },
				"BorrowMutable":       func() error { return hurray.BorrowMutable(tensor, func([]float32) error { return nil }) },
				"BorrowBytes":         func() error { return hurray.BorrowBytes(tensor, func([]byte) error { return nil }) },
				"Tensor.Copy":         func() error { _, _, err := tensor.Copy(0); return err },
				"Buffer.Borrow":       func() error { return buffer.Borrow(func([]byte) error { return nil }) },
				"Buffer.ReadAt":       func() error { return errorOf(buffer.ReadAt(make([]byte, 1), 0)) },
				"Buffer.WriteTo":      func() error { return errorOf(buffer.WriteTo(&strings.Builder{})) },
				"Writer.Write":        func() error { return writer.Write(tensor) },
				"FileWriter.Add":      func() error { return fileWriter.Add("x", tensor) },
			} {
				want := hurray.ErrUnsupported
				if mode != hurray.SyncProducerSynced && strings.Contains(name, "Writer.") {
					want = hurray.ErrInvalidSyncMode
				}
				if err := use(); !errors.Is(err, want) {
					t.Errorf("%s: got %v", name, err)
				}
			}
			if mode != hurray.SyncProducerSynced {
				// An export makes shares, which carry no event and no stream.
				_, _, err := tensor.Export()
				wants(t, err, hurray.ErrSyncModeMismatch)
			}
			ok(t, errors.Join(view.Close(), buffer.Close(), tensor.Close()))
			c.want(t, 1, map[hurray.SyncMode]int64{hurray.SyncEvent: 1}[mode])
		})
	}
}

func TestWaitEvents(t *testing.T) {
	noLeak(t)
	tensor, c := deviceTensor(t, hurray.SyncEvent)
	mine := errors.New("mine")
	if err := tensor.WaitEvents(func(hurray.Event) error { return mine }); err != mine {
		t.Fatal(err)
	}
	c.want(t, 0, 0)
	waits := 0
	for range 2 {
		ok(t, tensor.WaitEvents(func(event hurray.Event) error {
			waits++
			c.want(t, 0, 0)
			if event.Handle != someEvent {
				t.Error(event)
			}
			return nil
		}))
		c.want(t, 0, 1)
	}
	if waits != 1 {
		t.Errorf("waited %d times", waits)
	}
	ok(t, tensor.Close())
	c.want(t, 1, 1)
	wants(t, tensor.WaitEvents(func(hurray.Event) error { return nil }), hurray.ErrClosed)
	for _, mode := range []hurray.SyncMode{hurray.SyncProducerSynced, hurray.SyncConsumerStream} {
		tensor, _ := deviceTensor(t, mode)
		ok(t, tensor.WaitEvents(func(hurray.Event) error { t.Error("there is no event"); return nil }))
		ok(t, tensor.Close())
	}
}

func TestConsentOfAHandoff(t *testing.T) {
	noLeak(t)
	released := make(chan struct{}, 1)
	func() {
		h, _ := handoff(hurray.SyncProducerSynced)
		h.Release, h.ReleaseAnyThread = func() { released <- struct{}{} }, true
		runtime.KeepAlive(value(hurray.HandOff(h))(t))
	}()
	collect(t, "a release without a drain", func() bool { return len(released) != 0 })
}

// What callbacks refer to is kept as long as they can be called, and no longer: not after a failure, and not after they
// were called.
func TestCallbacksAreForgottenWhenTheyCannotBeCalled(t *testing.T) {
	noLeak(t)
	for name, use := range map[string]func(watched *probe) error{
		"failed handoff": func(watched *probe) error {
			h, _ := handoff(hurray.SyncEvent)
			h.Release = func() { runtime.KeepAlive(watched) }
			h.Data++
			wants(t, errorOf(hurray.HandOff(h)), hurray.ErrMisaligned)
			return nil
		},
		"failed handoff's event": func(watched *probe) error {
			h, _ := handoff(hurray.SyncEvent)
			h.ReleaseEvent = func() { runtime.KeepAlive(watched) }
			h.Event.Device = hurray.DeviceMetal
			wants(t, errorOf(hurray.HandOff(h)), hurray.ErrSyncModeMismatch)
			return nil
		},
		"released event": func(watched *probe) error {
			h, _ := handoff(hurray.SyncEvent)
			h.ReleaseEvent = func() { runtime.KeepAlive(watched) }
			buffer := value(hurray.HandOff(h))(t)
			return errors.Join(buffer.ReleaseEvent(), buffer.Close())
		},
		"closed buffer": func(watched *probe) error {
			h, _ := handoff(hurray.SyncEvent)
			h.Release = func() { runtime.KeepAlive(watched) }
			h.ReleaseEvent = h.Release
			return value(hurray.HandOff(h))(t).Close()
		},
		"closed producer": func(watched *probe) error {
			producer := value(hurray.NewProducer(hurray.ExporterFunc(
				func(hurray.Stream) (*hurray.BufferList, *hurray.TensorContext, error) {
					return nil, nil, fmt.Errorf("%p", watched)
				}), func() { runtime.KeepAlive(watched) }))(t)
			wants(t, errorOf(producer.Request(hurray.Stream{})), hurray.ErrCancelled)
			return producer.Close()
		},
		"replaced log": func(watched *probe) error {
			return errors.Join(hurray.SetLog(func(hurray.Diagnostic) { runtime.KeepAlive(watched) }), hurray.SetLog(nil))
		},
	} {
		gone := make(chan struct{})
		func() {
			watched := new(probe)
			runtime.SetFinalizer(watched, func(*probe) { close(gone) })
			ok(t, use(watched))
		}()
		collect(t, "what callbacks referred to: "+name, func() bool {
			select {
			case <-gone:
				return true
			default:
				return false
			}
		})
	}
}

// A handoff without releases is one of memory that lives for ever.
func TestHandoffWithoutARelease(t *testing.T) {
	noLeak(t)
	h, _ := handoff(hurray.SyncConsumerStream)
	h.Release = nil
	ok(t, value(hurray.HandOff(h))(t).Close())
}
