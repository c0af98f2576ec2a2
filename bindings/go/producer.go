package hurray

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"hurray.dev/go/hurray/internal/capi"
	"hurray.dev/go/hurray/internal/native"
)

// An Exporter makes tensors for consumers that say on which stream they will use them.
type Exporter interface {
	// ExportTensor makes the pair of a tensor, which its caller takes over. Every buffer of the mode SyncConsumerStream
	// is handed off with exactly that stream, and when ExportTensor returns, the device has been told to let the stream
	// wait for what writes the buffer. A stream whose handle is 0 is none: then there are no such buffers.
	//
	// It is called on the thread that asks: by Producer.Request on its goroutine, or by another runtime. An error becomes
	// that of the request: with its code when it is an *Error, else with StatusCancelled. A panic becomes
	// StatusInternalPanic and goes no further; runtime.Goexit, as of a test that fails, has no such way out and must not be
	// called. It is asked by one goroutine or thread at a time, and must not ask its own producer.
	ExportTensor(stream Stream) (*BufferList, *TensorContext, error)
}

// ExporterFunc makes a function an Exporter.
type ExporterFunc func(stream Stream) (*BufferList, *TensorContext, error)

// ExportTensor calls the function.
func (f ExporterFunc) ExportTensor(stream Stream) (*BufferList, *TensorContext, error) {
	return f(stream)
}

// A Producer is whom a consumer asks for a tensor: a HurrayProducer, of this program's or of another runtime's. Several
// goroutines may use it; their requests are made one after the other. It is ended by Close, or by whoever it is moved to.
type Producer struct {
	core atomic.Pointer[producerCore]
}

// producerCore is the struct in C's memory, and those who use it at the moment.
type producerCore struct {
	counted
	// requests gives the library the one thread at a time that it wants.
	requests sync.Mutex
	record   *capi.Producer
}

func newProducer(record *capi.Producer) *Producer {
	p := new(Producer)
	p.core.Store(&producerCore{record: record})
	runtime.SetFinalizer(p, func(p *Producer) {
		if core := p.core.Swap(nil); core != nil && core.dropped() {
			// A release is no business of the collector's goroutine.
			native.Defer(func() { _ = core.end() })
		}
	})
	return p
}

func (c *producerCore) drop() error {
	if !c.dropped() {
		return nil
	}
	err := c.end()
	native.Drain()
	return err
}

func (c *producerCore) end() error {
	err := call("Producer.Close", func(report *capi.Error) int32 { return capi.CallProducerRelease(c.record, report) })
	native.FreeProducer(c.record)
	return err
}

func (p *Producer) retain(op string) (*producerCore, error) {
	core := p.core.Load()
	if core == nil || !core.retain() {
		return nil, closedError(op, "producer")
	}
	return core, nil
}

// NewProducer makes a producer that asks exporter. release, which may be nil, runs exactly once: when the producer is
// closed, or when another runtime that it was moved to releases it, on the goroutine or thread that does. The garbage
// collector does not run it: it then waits, as other releases do. Since version 4 of the C ABI.
func NewProducer(exporter Exporter, release func()) (*Producer, error) {
	const op = "NewProducer"
	if err := load(op); err != nil {
		return nil, err
	}
	if exporter == nil {
		return nil, &Error{Op: op, Code: StatusNullPointer, Message: "the exporter is nil", Offset: -1}
	}
	native.Drain()
	return newProducer(native.NewProducer(func(stream uintptr, device uint8) (list, context unsafe.Pointer, failed *native.Failure) {
		list, context, err := export(exporter, Stream{stream, Device(device)})
		return list, context, failureOf(err)
	}, release)), nil
}

// export asks for a pair and takes it out of its objects.
func export(exporter Exporter, stream Stream) (unsafe.Pointer, unsafe.Pointer, error) {
	const op = "Exporter.ExportTensor"
	list, context, err := exporter.ExportTensor(stream)
	if err == nil && (list == nil || context == nil) {
		err = &Error{Op: op, Code: StatusNullPointer, Message: "it returned no list or no context", Offset: -1}
	}
	if err == nil {
		l, c := list.take(), context.take()
		if l != nil && c != nil {
			return unsafe.Pointer(l), unsafe.Pointer(c), nil
		}
		if l != nil {
			list = newBufferList(l)
		}
		if c != nil {
			context = newTensorContext(c)
		}
		err = closedError(op, "list or context that it returned")
	}
	if list != nil {
		_ = list.Close()
	}
	if context != nil {
		_ = context.Close()
	}
	return nil, nil, err
}

// failureOf is what an error is to a caller in C; nil for none.
func failureOf(err error) *native.Failure {
	if err == nil {
		return nil
	}
	failed := &native.Failure{Status: int32(StatusCancelled), Message: err.Error(), Err: err}
	if own, ok := err.(*Error); ok {
		failed.Message = own.Op + ": " + own.Message
	}
	var typed *Error
	if errors.As(err, &typed) && typed.Code < 0 {
		failed.Status = int32(typed.Code)
	}
	return failed
}

// firstProducerVersion is the version of the C ABI that introduced producers; later ones only add to them.
const firstProducerVersion = 4

// ProducerFromPointer moves the HurrayProducer that producer points to into a new object: the struct, whose memory stays
// its owner's, counts as released from then on, and the object releases what it stood for.
//
// Errors: ErrNullPointer; ErrInvalidArgument for a struct of a wrong size; ErrVersionMismatch for one of a version that
// has no producers; ErrInvalidHandle for one that was released.
func ProducerFromPointer(producer unsafe.Pointer) (*Producer, error) {
	const op = "ProducerFromPointer"
	if err := load(op); err != nil {
		return nil, err
	}
	if producer == nil {
		return nil, &Error{Op: op, Code: StatusNullPointer, Message: "the producer is nil", Offset: -1}
	}
	source := (*capi.Producer)(producer)
	if !native.ProducerFits(source) {
		return nil, invalid(op, "the size that the producer's struct names is not that of a HurrayProducer")
	}
	if source.ABIVersion < firstProducerVersion {
		return nil, &Error{Op: op, Code: StatusVersionMismatch, Offset: -1, Message: fmt.Sprintf(
			"the producer was made by version %d of the C ABI; there are none before version %d", source.ABIVersion, firstProducerVersion)}
	}
	if source.ExportTensor == 0 {
		return nil, &Error{Op: op, Code: StatusInvalidHandle, Message: "the producer was released or moved", Offset: -1}
	}
	native.Drain()
	return newProducer(native.MoveProducer(source)), nil
}

// MoveTo writes the producer into a HurrayProducer of somebody else's memory, who releases it with
// hurray_producer_release; this object is closed. What the struct held before is overwritten.
//
// Errors: ErrClosed; ErrNullPointer; ErrInvalidArgument while a request is under way, after which it may be tried again,
// and for a producer of a later version, whose struct is longer.
func (p *Producer) MoveTo(target unsafe.Pointer) error {
	const op = "Producer.MoveTo"
	if target == nil {
		return &Error{Op: op, Code: StatusNullPointer, Message: "the target is nil", Offset: -1}
	}
	core := p.core.Load()
	if core == nil {
		return closedError(op, "producer")
	}
	if uintptr(core.record.StructSize) != unsafe.Sizeof(capi.Producer{}) {
		return invalid(op, "the producer's struct is longer than this package knows it")
	}
	// The one reference is this object's. Whoever takes it away ends the producer.
	if !core.more.CompareAndSwap(0, -1) {
		if core.more.Load() < 0 {
			return closedError(op, "producer")
		}
		return invalid(op, "a request is under way")
	}
	p.core.Store(nil)
	runtime.SetFinalizer(p, nil)
	*(*capi.Producer)(target) = *core.record
	native.FreeProducer(core.record)
	return nil
}

// Request asks for a tensor that will be used on a stream of the consumer's, or, when the stream's handle is 0, on none
// in particular. What comes is checked: the version of the context first, and that every SyncConsumerStream buffer
// carries exactly that stream. Its SyncConsumerStream buffers may be touched on that stream at once, and on another one
// after that has waited for it; its SyncEvent buffers after WaitEvents. The caller closes the tensor.
//
// Errors: what the producer reports, which wraps the error of an Exporter of Go's; ErrSyncModeMismatch for a buffer of
// another stream; ErrNullPointer when nothing was exported; ErrInvalidArgument for a device without a stream; those of
// Import; ErrClosed.
func (p *Producer) Request(stream Stream) (*Tensor, error) {
	const op = "Producer.Request"
	core, err := p.retain(op)
	if err != nil {
		return nil, err
	}
	native.Drain()
	core.requests.Lock()
	frame, leave := native.Enter()
	var tensor *capi.Tensor
	err = call(op, func(report *capi.Error) int32 {
		return capi.CallProducerRequest(core.record, stream.Handle, uint8(stream.Device), &tensor, report)
	})
	leave()
	core.requests.Unlock()
	if failed, ok := err.(*Error); ok {
		failed.Err = frame.Err
	}
	if ended := core.drop(); err == nil {
		err = ended
	}
	runtime.KeepAlive(p)
	if err != nil {
		if tensor != nil {
			_ = newTensor(tensor).Close()
		}
		return nil, err
	}
	return newTensor(tensor), nil
}

// Close releases the producer; when requests are under way, as soon as the last of them is done. Closing once more does
// nothing. Tensors that it made stay.
func (p *Producer) Close() error {
	core := p.core.Swap(nil)
	if core == nil {
		return nil
	}
	runtime.SetFinalizer(p, nil)
	return core.drop()
}
