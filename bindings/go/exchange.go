package hurray

import (
	"fmt"
	"runtime"
	"unsafe"

	"hurray.dev/go/hurray/internal/capi"
	"hurray.dev/go/hurray/internal/native"
)

// A BufferList owns the buffers of one tensor, in the order of its buffer table. Together with a TensorContext it is
// what runtimes exchange. Several goroutines may use it. It is ended by Close, or by whoever takes it over.
type BufferList struct {
	owned[*capi.BufferList]
}

func newBufferList(handle *capi.BufferList) *BufferList {
	l := &BufferList{owned[*capi.BufferList]{handle: handle, what: "buffer list"}}
	runtime.SetFinalizer(l, func(l *BufferList) {
		if handle := l.take(); handle != nil {
			capi.CallBufferListDestroyDeferred(&handle, nil)
			native.MarkDeferred()
		}
	})
	return l
}

// maxListed is how many buffers a new list has room for before the first is pushed: more than a buffer table can have.
const maxListed = 4096

// NewBufferList makes a list of buffers, which it takes over: they are closed when NewBufferList succeeds. When it
// fails they are the caller's as before. Until it returns, the buffers are closed to other goroutines.
//
// Errors: ErrClosed, also for a buffer that is named twice; ErrLimitExceeded for more than 4096 buffers.
func NewBufferList(buffers ...*Buffer) (*BufferList, error) {
	const op = "NewBufferList"
	if err := load(op); err != nil {
		return nil, err
	}
	if len(buffers) > maxListed {
		return nil, &Error{Op: op, Code: StatusLimitExceeded, Message: "a list is made of at most 4096 buffers", Offset: -1}
	}
	var handle *capi.BufferList
	if status := capi.CallBufferListNew(uint64(len(buffers)), &handle); status != 0 {
		return nil, seedCall(op, "the list could not be made", status)
	}
	list := newBufferList(handle)
	// All are taken before the first is pushed: what is in the list cannot come out of it again. There is room for them,
	// so that a push of a buffer of our own has no reason to fail.
	taken := make([]*capi.Buffer, 0, len(buffers))
	for _, buffer := range buffers {
		handle := buffer.take()
		if handle == nil {
			giveBack(buffers, taken)
			_ = list.Close()
			return nil, closedError(op, "buffer")
		}
		taken = append(taken, handle)
	}
	for i := range taken {
		if err := seedCall(op, "the list does not take the buffer", capi.CallBufferListPush(handle, taken[i])); err != nil {
			giveBack(buffers[i:], taken[i:])
			_ = list.Close()
			return nil, err
		}
	}
	runtime.KeepAlive(list)
	for _, buffer := range buffers {
		runtime.SetFinalizer(buffer, nil)
	}
	return list, nil
}

// giveBack opens buffers again whose handles were taken.
func giveBack(buffers []*Buffer, taken []*capi.Buffer) {
	for i, handle := range taken {
		buffers[i].mutex.Lock()
		buffers[i].handle = handle
		buffers[i].mutex.Unlock()
	}
}

// Push appends a buffer, which the list takes over: it is closed when Push succeeds.
func (l *BufferList) Push(buffer *Buffer) error {
	const op = "BufferList.Push"
	err := bothOpen(op, &l.owned, &buffer.owned, func(list *capi.BufferList, pushed *capi.Buffer) error {
		err := seedCall(op, "the list does not take the buffer", capi.CallBufferListPush(list, pushed))
		if err == nil {
			buffer.handle = nil
		}
		return err
	})
	runtime.KeepAlive(l)
	runtime.KeepAlive(buffer)
	return err
}

// Len is the number of buffers in the list.
func (l *BufferList) Len() (int, error) {
	const op = "BufferList.Len"
	length := new(uint64)
	err := l.use(op, func(list *capi.BufferList) error {
		return seedCall(op, "the list is not valid", capi.CallBufferListLen(list, length))
	})
	runtime.KeepAlive(l)
	return int(*length), err
}

// borrow runs f on the handle of buffer i, which the list keeps.
func (l *BufferList) borrow(op string, i int, f func(buffer *capi.Buffer) error) error {
	err := l.use(op, func(list *capi.BufferList) error {
		var borrowed *capi.Buffer
		if err := seedCall(op, "there is no buffer of that index", capi.CallBufferListGet(list, uint64(i), &borrowed)); err != nil {
			return err
		}
		return f(borrowed)
	})
	runtime.KeepAlive(l)
	return err
}

// Buffer makes a share of buffer i, which the caller closes. It has no event: see Event.
//
// Errors: ErrIndexOutOfBounds.
func (l *BufferList) Buffer(i int) (*Buffer, error) {
	const op = "BufferList.Buffer"
	var share *capi.Buffer
	err := l.borrow(op, i, func(buffer *capi.Buffer) error {
		return call(op, func(report *capi.Error) int32 { return capi.CallBufferShare(buffer, &share, report) })
	})
	if err != nil {
		return nil, err
	}
	return newBuffer(share), nil
}

// Detach gives the list's HurrayBufferList to somebody else, who ends it; this object is closed. It is nil when the
// list was closed already.
func (l *BufferList) Detach() unsafe.Pointer {
	runtime.SetFinalizer(l, nil)
	return unsafe.Pointer(l.take())
}

// BufferListFromPointer takes over a HurrayBufferList that somebody else made; nil is refused.
func BufferListFromPointer(list unsafe.Pointer) (*BufferList, error) {
	const op = "BufferListFromPointer"
	if err := load(op); err != nil {
		return nil, err
	}
	if list == nil {
		return nil, &Error{Op: op, Code: StatusNullPointer, Message: "the list is nil", Offset: -1}
	}
	return newBufferList((*capi.BufferList)(list)), nil
}

// Close ends the list and the buffers in it. Closing once more does nothing.
func (l *BufferList) Close() error {
	runtime.SetFinalizer(l, nil)
	return l.end("BufferList.Close", func(handle *capi.BufferList) int32 { return capi.CallBufferListDestroy(&handle) })
}

// A TensorContext carries the encoded descriptor of a tensor and what keeps its memory alive. Several goroutines may
// use it. It is ended by Close, or by whoever takes it over.
type TensorContext struct {
	owned[*capi.TensorContext]
}

func newTensorContext(handle *capi.TensorContext) *TensorContext {
	c := &TensorContext{owned[*capi.TensorContext]{handle: handle, what: "tensor context"}}
	runtime.SetFinalizer(c, func(c *TensorContext) {
		if handle := c.take(); handle != nil {
			capi.CallTensorContextDestroyDeferred(&handle, nil)
			native.MarkDeferred()
		}
	})
	return c
}

// NewTensorContext makes a context of an encoded descriptor, which is copied and not looked at. abiVersion is the
// version of the C ABI of the build that makes the context: CABIVersion. release, which may be nil, runs exactly once,
// when the context, or the last share of a tensor imported from it, is closed; it does not run when NewTensorContext
// fails.
func NewTensorContext(abiVersion uint32, descriptor []byte, release func()) (*TensorContext, error) {
	const op = "NewTensorContext"
	if err := load(op); err != nil {
		return nil, err
	}
	native.Drain()
	loan := native.NewLoan(nil, nil, release)
	var handle *capi.TensorContext
	status := capi.CallTensorContextNew(abiVersion, unsafe.SliceData(descriptor), uint64(len(descriptor)), loan.Context(),
		loan.OwnerCallback(), &handle)
	runtime.KeepAlive(descriptor)
	if status != 0 {
		loan.Cancel()
		return nil, seedCall(op, "the context could not be made", status)
	}
	context := newTensorContext(handle)
	err := call(op, func(report *capi.Error) int32 {
		return capi.CallTensorContextSetReleaseQueue(handle, native.Queue(), report)
	})
	runtime.KeepAlive(context)
	if err != nil {
		loan.Mute()
		_ = context.Close()
		return nil, err
	}
	return context, nil
}

// ABIVersion is the version of the C ABI of the build that made the context.
func (c *TensorContext) ABIVersion() (uint32, error) {
	const op = "TensorContext.ABIVersion"
	version := new(uint32)
	err := c.use(op, func(context *capi.TensorContext) error {
		return seedCall(op, "the context is not valid", capi.CallTensorContextABIVersion(context, version))
	})
	runtime.KeepAlive(c)
	return *version, err
}

// Descriptor copies the encoded descriptor that the context carries; nil when it carries none.
//
// Errors: ErrVersionMismatch when the context is of a version that this package does not know.
func (c *TensorContext) Descriptor() ([]byte, error) {
	const op = "TensorContext.Descriptor"
	var descriptor []byte
	err := c.use(op, func(context *capi.TensorContext) error {
		version := new(uint32)
		if err := seedCall(op, "the context is not valid", capi.CallTensorContextABIVersion(context, version)); err != nil {
			return err
		}
		supported := *version == CABIVersion
		if *version > CABIVersion {
			// A later one is readable where the copy of the library that made the context vouches for it and for ours.
			vouched := new(uint8)
			err := call(op, func(report *capi.Error) int32 {
				return capi.CallTensorContextSupports(context, CABIVersion, vouched, report)
			})
			if err != nil {
				return err
			}
			supported = *vouched != 0
		}
		if !supported {
			return &Error{Op: op, Code: StatusVersionMismatch, Offset: -1, Message: fmt.Sprintf(
				"the context was made by version %d of the C ABI; this package was built for version %d", *version, CABIVersion)}
		}
		address, length := new(uintptr), new(uint64)
		err := seedCall(op, "the context is not valid", capi.CallTensorContextDescriptor(context, address, length))
		if err == nil {
			descriptor = native.Slice[byte](*address, *length)
		}
		return err
	})
	runtime.KeepAlive(c)
	return descriptor, err
}

// Detach gives the context's HurrayTensorContext to somebody else, who ends it; this object is closed. It is nil when
// the context was closed already.
func (c *TensorContext) Detach() unsafe.Pointer {
	runtime.SetFinalizer(c, nil)
	return unsafe.Pointer(c.take())
}

// TensorContextFromPointer takes over a HurrayTensorContext that somebody else made; nil is refused.
func TensorContextFromPointer(context unsafe.Pointer) (*TensorContext, error) {
	const op = "TensorContextFromPointer"
	if err := load(op); err != nil {
		return nil, err
	}
	if context == nil {
		return nil, &Error{Op: op, Code: StatusNullPointer, Message: "the context is nil", Offset: -1}
	}
	return newTensorContext((*capi.TensorContext)(context)), nil
}

// Close ends the context and releases its owner. Closing once more does nothing.
func (c *TensorContext) Close() error {
	runtime.SetFinalizer(c, nil)
	return c.end("TensorContext.Close", func(handle *capi.TensorContext) int32 { return capi.CallTensorContextDestroy(&handle) })
}
