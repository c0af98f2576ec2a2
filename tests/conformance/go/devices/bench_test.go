package devices_test

import (
	"errors"
	"slices"
	"testing"

	"hurray.dev/go/conformance/devices"
	"hurray.dev/go/hurray"
)

const (
	synced = hurray.SyncProducerSynced
	event  = hurray.SyncEvent
	stream = hurray.SyncConsumerStream
)

const byteSize = 48

// bench is a device with memory, a producer's stream and two of the consumer's.
type bench struct {
	t                         testing.TB
	device                    *devices.Device
	producer, consumer, other uintptr
	memory                    uintptr
}

func newBench(t testing.TB) *bench {
	t.Helper()
	noLeak(t)
	d := devices.NewDevice()
	b := &bench{t: t, device: d, memory: d.Memory(byteSize)}
	b.producer, b.consumer, b.other = d.Stream("producer"), d.Stream("consumer"), d.Stream("other")
	t.Cleanup(d.Destroy)
	return b
}

// recorded is an event that is recorded on a stream.
func (b *bench) recorded(stream uintptr) uintptr {
	event := b.device.Event()
	if got := b.device.Record(event, stream); got != devices.OK {
		b.t.Errorf("record: %v", got)
	}
	return event
}

// handOff is the producer's call of the binding between the device's marks. with is the event or the stream.
func (b *bench) handOff(memory uintptr, mode hurray.SyncMode, with uintptr) (*hurray.Buffer, error) {
	handle := hurray.BufferHandle{ByteSize: byteSize, Alignment: 64, Device: devices.Tag, SyncMode: mode}
	h := hurray.Handoff{Handle: handle.Bytes(), Data: memory, Release: func() { b.device.ReleaseMemory(memory) }}
	switch mode {
	case event:
		h.Event = hurray.Event{Handle: with, Device: devices.Tag}
		h.ReleaseEvent = func() { b.device.ReleaseEvent(with) }
	case stream:
		h.Stream = hurray.Stream{Handle: with, Device: devices.Tag}
	}
	b.device.HandoffBegins(memory, uint8(mode), with)
	buffer, err := hurray.HandOff(h)
	if err != nil {
		b.device.HandoffFailed(memory, uint8(mode), with)
		return nil, err
	}
	b.device.HandoffReturned(memory, uint8(mode), with)
	return buffer, nil
}

// handedOff hands the bench's memory off.
func (b *bench) handedOff(mode hurray.SyncMode, with uintptr) *hurray.Buffer {
	b.t.Helper()
	return value(b.handOff(b.memory, mode, with))(b.t)
}

// encoded is the descriptor of float32 [3, 4] in one buffer of the device.
func encoded(mode hurray.SyncMode) ([]byte, error) {
	descriptor, err := hurray.NewDescriptor(hurray.DescriptorSpec{
		ElementType: hurray.TypeFloat32, Layout: hurray.LayoutRowMajor, Shape: []uint64{3, 4},
		Buffers: []hurray.BufferHandle{{ByteSize: byteSize, Alignment: 64, Device: devices.Tag, SyncMode: mode}},
	})
	if err != nil {
		return nil, err
	}
	bytes, err := descriptor.Encode()
	return bytes, errors.Join(err, descriptor.Close())
}

// pair is what travels to the consumer; it takes the buffer over.
func pair(buffer *hurray.Buffer, mode hurray.SyncMode) (*hurray.BufferList, *hurray.TensorContext, error) {
	list, err := hurray.NewBufferList(buffer)
	if err != nil {
		return nil, nil, errors.Join(err, buffer.Close())
	}
	bytes, err := encoded(mode)
	if err != nil {
		return list, nil, err
	}
	context, err := hurray.NewTensorContext(hurray.CABIVersion, bytes, nil)
	return list, context, err
}

// imported is the consumer's tensor of a buffer.
func (b *bench) imported(buffer *hurray.Buffer, mode hurray.SyncMode) *hurray.Tensor {
	b.t.Helper()
	list, context, err := pair(buffer, mode)
	ok(b.t, err)
	return value(hurray.Import(list, context))(b.t)
}

// address is where the consumer finds the elements: what its kernels get.
func (b *bench) address(tensor *hurray.Tensor) uintptr {
	b.t.Helper()
	view := value(tensor.View())(b.t)
	defer view.Close()
	if view.Device() != devices.Tag {
		b.t.Errorf("the elements are on %v", view.Device())
	}
	return view.Address()
}

// only expects exactly these violations of a test that has ended everything.
func (b *bench) only(violations ...devices.Violation) {
	b.t.Helper()
	b.device.Finish()
	if got := b.device.Violations(); !slices.Equal(got, violations) {
		b.t.Errorf("the device found %v, want %v:\n%s", got, violations, b.device.Log())
	}
}

// clean expects that everything was in order, and was released once.
func (b *bench) clean() {
	b.t.Helper()
	b.only()
	if n := b.device.MemoryReleases(b.memory); n != 1 {
		b.t.Errorf("the memory was released %d times", n)
	}
}

// before expects one line of the log before another.
func (b *bench) before(first, second string) {
	b.t.Helper()
	if f, s := b.device.Find(first), b.device.Find(second); f < 0 || s <= f {
		b.t.Errorf("%q (line %d) does not come before %q (line %d):\n%s", first, f, second, s, b.device.Log())
	}
}
