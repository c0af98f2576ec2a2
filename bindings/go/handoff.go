package hurray

import (
	"runtime"

	"hurray.dev/go/hurray/internal/capi"
	"hurray.dev/go/hurray/internal/native"
)

// An Event is a mark in a device's queue of work, such as a cudaEvent_t. Its handle is a number to this package, which
// never looks behind it. Since version 2 of the C ABI.
type Event struct {
	// Handle is the device's event; 0 is none.
	Handle uintptr
	// Device that the event belongs to: the same as the buffer's.
	Device Device
}

// A Stream is a device's queue of work, such as a cudaStream_t. Its handle is a number to this package, which never
// looks behind it: numbers with a meaning of their own, as CUDA has them, are fine. Since version 2 of the C ABI.
type Stream struct {
	// Handle is the device's stream; 0 is none.
	Handle uintptr
	// Device that the stream belongs to: the same as the buffer's.
	Device Device
}

// A Handoff is memory on its way from a producer to a consumer, and what tells the consumer when the bytes are there.
//
// The sync mode is that of Handle and is said nowhere else. What the producer must have done before HandOff:
//
//   - SyncProducerSynced: waited, on the host, for all work that writes the memory. Neither event nor stream.
//   - SyncEvent: recorded Event on the streams that write the memory.
//   - SyncConsumerStream: made Stream, which the consumer named, wait on the device for those streams.
type Handoff struct {
	// Handle says what is handed off: byte size, alignment, device, sync mode and memory class, in the 16 bytes of the
	// format. BufferHandle.Bytes makes them.
	Handle [BufferHandleSize]byte
	// Data is the address of the first byte: the device's, or of host memory that is not Go's. It may be 0 only when
	// there are no bytes. For memory of Go's there is BufferOf.
	Data uintptr
	// Release runs exactly once, when the last share of the memory was closed, here or in another runtime, on the
	// goroutine or thread that closed it. It may be nil. A panic in it ends the program.
	Release func()
	// ReleaseAnyThread consents to Release on any thread, as it does in HostOptions.
	ReleaseAnyThread bool
	// Event of SyncEvent, else zero.
	Event Event
	// ReleaseEvent of SyncEvent, else nil: it runs exactly once, when the consumer has issued its waits for the event,
	// or when the buffer ends without that. It must be safe on any thread; the collector's goroutine, too, may run it.
	// A panic in it comes out of the ReleaseEvent of a consumer in Go, and else ends the program.
	ReleaseEvent func()
	// Stream of SyncConsumerStream, else zero: that of the request.
	Stream Stream
}

// HandOff makes a buffer of memory that is handed off, without copying or touching it, after it has checked that sync
// mode, event and stream belong together. The caller owns the buffer; the memory and the event belong to it. When
// HandOff fails, nothing has moved, and neither Release nor ReleaseEvent runs. Since version 4 of the C ABI, the modes
// since 2. Any goroutine may call it.
//
// Errors: ErrInvalidSyncMode for a mode that the format does not define; ErrSyncModeMismatch for an event or stream
// that is missing, is of another device, or does not belong to the mode; ErrInvalidLayout, ErrMisaligned,
// ErrInvalidType, ErrNullPointer and ErrInvalidArgument for the memory.
func HandOff(h Handoff) (*Buffer, error) {
	const op = "HandOff"
	if err := load(op); err != nil {
		return nil, err
	}
	native.Drain()
	var loans []*native.Loan
	lend := func(release func()) *native.Loan {
		loans = append(loans, native.NewLoan(nil, nil, release))
		return loans[len(loans)-1]
	}
	memory := lend(h.Release)
	encoded := &capi.BufferHandleBytes{Bytes: h.Handle}
	event := &capi.EventPayload{SyncHandle: h.Event.Handle, SyncHandleDeviceTag: uint8(h.Event.Device)}
	if h.ReleaseEvent != nil {
		event.EventReleaseFn = native.EventCallback()
		event.EventReleaseContext = lend(h.ReleaseEvent).Context()
	}
	stream := &capi.StreamPayload{ConsumerStream: h.Stream.Handle, ConsumerStreamDeviceTag: uint8(h.Stream.Device)}
	var handle *capi.Buffer
	err := call(op, func(report *capi.Error) int32 {
		return capi.CallBufferHandoff(encoded, h.Data, memory.Callback(), memory.Context(), event, stream, &handle, report)
	})
	if err != nil {
		for _, loan := range loans {
			loan.Cancel()
		}
		return nil, err
	}
	buffer := newBuffer(handle)
	err = call(op, func(report *capi.Error) int32 {
		if h.ReleaseAnyThread {
			return capi.CallBufferSetReleaseAnyThread(handle, report)
		}
		return capi.CallBufferSetReleaseQueue(handle, native.Queue(), report)
	})
	runtime.KeepAlive(buffer)
	if err != nil {
		for _, loan := range loans {
			loan.Mute()
		}
		_ = buffer.Close()
		return nil, err
	}
	return buffer, nil
}

// The three questions about the sync mode of a buffer, whoever owns its handle: a Buffer, a list or a tensor.

func eventOf(op string, buffer *capi.Buffer) (Event, error) {
	handle, device := new(uintptr), new(uint8)
	err := call(op, func(report *capi.Error) int32 { return capi.CallBufferEvent(buffer, handle, device, report) })
	return Event{*handle, Device(*device)}, err
}

func streamOf(op string, buffer *capi.Buffer) (Stream, error) {
	handle, device := new(uintptr), new(uint8)
	err := call(op, func(report *capi.Error) int32 { return capi.CallBufferStream(buffer, handle, device, report) })
	return Stream{*handle, Device(*device)}, err
}

// releaseEventOf releases the event of the buffer that use gives its handle to f for. A release of Go's runs when no
// lock is held any more, so that it may use the buffer, and a panic in it reaches the caller.
func releaseEventOf(op string, use func(f func(buffer *capi.Buffer) error) error) error {
	frame, leave := native.Enter()
	frame.Postpone = true
	defer frame.RunPostponed()
	defer leave()
	return use(func(buffer *capi.Buffer) error {
		return call(op, func(report *capi.Error) int32 { return capi.CallBufferEventRelease(buffer, report) })
	})
}

// Event is what to wait for before the bytes of a SyncEvent buffer are touched: the consumer makes every stream that
// will touch them wait for it, and then calls ReleaseEvent. It is the buffer's until then. Shares and slices of a buffer
// have no event.
//
// Errors: ErrSyncModeMismatch when the buffer has no event; ErrInvalidHandle when it was released.
func (b *Buffer) Event() (event Event, err error) {
	const op = "Buffer.Event"
	err = b.use(op, func(handle *capi.Buffer) error {
		event, err = eventOf(op, handle)
		return err
	})
	runtime.KeepAlive(b)
	return event, err
}

// ReleaseEvent gives the event of a SyncEvent buffer back to its producer, exactly once, after all waits for it were
// issued. The memory stays. A buffer that is closed before does it by itself.
//
// Errors: ErrInvalidHandle when it was released before; ErrSyncModeMismatch when the buffer has no event.
func (b *Buffer) ReleaseEvent() error {
	const op = "Buffer.ReleaseEvent"
	err := releaseEventOf(op, func(f func(*capi.Buffer) error) error { return b.use(op, f) })
	runtime.KeepAlive(b)
	return err
}

// Stream is the consumer's stream that the bytes of a SyncConsumerStream buffer are ready for. On another stream they
// may be touched only when that has waited for this one.
//
// Errors: ErrSyncModeMismatch when the buffer is of another mode.
func (b *Buffer) Stream() (stream Stream, err error) {
	const op = "Buffer.Stream"
	err = b.use(op, func(handle *capi.Buffer) error {
		stream, err = streamOf(op, handle)
		return err
	})
	runtime.KeepAlive(b)
	return stream, err
}

// Event is Buffer.Event for buffer i of the list.
//
// Errors: those of Buffer.Event; ErrIndexOutOfBounds.
func (l *BufferList) Event(i int) (event Event, err error) {
	const op = "BufferList.Event"
	err = l.borrow(op, i, func(buffer *capi.Buffer) error {
		event, err = eventOf(op, buffer)
		return err
	})
	return event, err
}

// ReleaseEvent is Buffer.ReleaseEvent for buffer i of the list.
//
// Errors: those of Buffer.ReleaseEvent; ErrIndexOutOfBounds.
func (l *BufferList) ReleaseEvent(i int) error {
	const op = "BufferList.ReleaseEvent"
	return releaseEventOf(op, func(f func(*capi.Buffer) error) error { return l.borrow(op, i, f) })
}

// Stream is Buffer.Stream for buffer i of the list.
//
// Errors: those of Buffer.Stream; ErrIndexOutOfBounds.
func (l *BufferList) Stream(i int) (stream Stream, err error) {
	const op = "BufferList.Stream"
	err = l.borrow(op, i, func(buffer *capi.Buffer) error {
		stream, err = streamOf(op, buffer)
		return err
	})
	return stream, err
}

// Event is Buffer.Event for buffer i of the tensor.
//
// Errors: those of Buffer.Event; ErrIndexOutOfBounds.
func (t *Tensor) Event(i int) (event Event, err error) {
	const op = "Tensor.Event"
	err = t.borrow(op, i, func(buffer *capi.Buffer) error {
		event, err = eventOf(op, buffer)
		return err
	})
	return event, err
}

// ReleaseEvent is Buffer.ReleaseEvent for buffer i of the tensor.
//
// Errors: those of Buffer.ReleaseEvent; ErrIndexOutOfBounds.
func (t *Tensor) ReleaseEvent(i int) error {
	const op = "Tensor.ReleaseEvent"
	return releaseEventOf(op, func(f func(*capi.Buffer) error) error { return t.borrow(op, i, f) })
}

// Stream is Buffer.Stream for buffer i of the tensor.
//
// Errors: those of Buffer.Stream; ErrIndexOutOfBounds.
func (t *Tensor) Stream(i int) (stream Stream, err error) {
	const op = "Tensor.Stream"
	err = t.borrow(op, i, func(buffer *capi.Buffer) error {
		stream, err = streamOf(op, buffer)
		return err
	})
	return stream, err
}

// WaitEvents runs wait for the event of every SyncEvent buffer of the tensor whose event is not released yet, and
// releases the event when wait returns nil. wait makes the streams that will touch the tensor wait for the event; it
// must not keep it. When wait fails, WaitEvents ends with its error, and that event and the later ones stay.
//
// Errors: ErrClosed, and what wait returns.
func (t *Tensor) WaitEvents(wait func(event Event) error) error {
	const op = "Tensor.WaitEvents"
	fields, err := t.Fields()
	if err != nil {
		return err
	}
	for i, buffer := range fields.Buffers {
		if buffer.SyncMode != SyncEvent {
			continue
		}
		event, err := t.Event(i)
		if failed, ok := err.(*Error); ok && failed.Code == StatusInvalidHandle && failed.Err != ErrClosed {
			continue // released before
		}
		if err == nil {
			err = wait(event)
		}
		if err == nil {
			err = t.ReleaseEvent(i)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
