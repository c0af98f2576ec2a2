package hurray

import (
	"context"
	"io"
	"os"
	"runtime"

	"hurray.dev/go/hurray/internal/capi"
	"hurray.dev/go/hurray/internal/native"
)

// A Writer writes a stream of tensors. (format: stream) Several goroutines may use it. It is ended by Close.
type Writer struct {
	owned[*capi.Writer]
	ctx  context.Context
	pump *pump
	// last is the error after which nothing more can be written.
	last error
}

// NewWriter writes a stream to w, which stays the caller's. A *os.File is written by the library itself, without a
// copy, and is put into blocking mode; anything else goes through a pipe, and w is written by a goroutine: what Write
// wrote has reached w for certain when Close returns.
func NewWriter(w io.Writer) (*Writer, error) { return NewWriterContext(context.Background(), w) }

// NewWriterContext is NewWriter with a context whose end ends the stream: a Write that waits returns at once, and its
// error wraps the cause. A write of w itself that waits is not interrupted.
func NewWriterContext(ctx context.Context, w io.Writer) (*Writer, error) {
	const op = "NewWriter"
	if err := load(op); err != nil {
		return nil, err
	}
	if file, ok := w.(*os.File); ok && direct(ctx, file) {
		return writeFile(op, ctx, nil, file)
	}
	p, err := pumpTo(ctx, w)
	if err != nil {
		return nil, &Error{Op: op, Code: StatusIO, Message: err.Error(), Offset: -1, Err: err}
	}
	writer, err := writeFile(op, ctx, p, p.library)
	// The library has a descriptor of its own; without one, the pump reads the end and ends.
	_ = p.library.Close()
	if err != nil {
		p.stopWatching()
	}
	return writer, err
}

// NewMemoryWriter writes a stream into memory that grows; see Take.
func NewMemoryWriter() (*Writer, error) {
	const op = "NewMemoryWriter"
	if err := load(op); err != nil {
		return nil, err
	}
	var handle *capi.Writer
	err := call(op, func(report *capi.Error) int32 { return capi.CallWriterToMemory(&handle, report) })
	if err != nil {
		return nil, err
	}
	return newWriter(context.Background(), nil, handle), nil
}

func writeFile(op string, ctx context.Context, p *pump, file *os.File) (*Writer, error) {
	descriptor, err := native.Duplicate(file)
	runtime.KeepAlive(file)
	if err != nil {
		return nil, &Error{Op: op, Code: StatusIO, Message: err.Error(), Offset: -1, Err: err}
	}
	var handle *capi.Writer
	var options *StreamOptions
	err = call(op, func(report *capi.Error) int32 {
		return capi.CallWriterToFD(descriptor, options.record(StreamCloseFD), &handle, report)
	})
	if err != nil {
		native.CloseDescriptor(descriptor)
		return nil, err
	}
	return newWriter(ctx, p, handle), nil
}

func newWriter(ctx context.Context, p *pump, handle *capi.Writer) *Writer {
	w := &Writer{owned: owned[*capi.Writer]{handle: handle, what: "writer"}, ctx: ctx, pump: p}
	runtime.SetFinalizer(w, func(w *Writer) {
		_ = w.collect("Writer", destroyWriter)
		if w.pump != nil {
			w.pump.stopWatching()
		}
	})
	return w
}

// Write writes a tensor: its descriptor and the bytes of its buffers. After an error in the middle of a tensor the
// writer returns that error for ever.
//
// Errors: ErrIO, also for a failing io.Writer, whose error it wraps; ErrUnsupported when the memory is not the host's, and
// ErrInvalidSyncMode when its bytes may not be there yet, which leave the stream as it was; ErrCancelled, which wraps the
// cause of the context's end.
func (w *Writer) Write(tensor *Tensor) error {
	const op = "Writer.Write"
	core, err := tensor.retain(op)
	if err != nil {
		return err
	}
	err = w.step(op, func(handle *capi.Writer, report *capi.Error) int32 {
		core.mutex.Lock()
		defer core.mutex.Unlock()
		return capi.CallWriterWrite(handle, core.handle, report)
	})
	runtime.KeepAlive(tensor)
	if ended := core.drop(false); err == nil {
		err = ended
	}
	return err
}

// step runs a call of the library that writes on. An error of the stream ends the writer.
func (w *Writer) step(op string, f func(handle *capi.Writer, report *capi.Error) int32) error {
	err := w.use(op, func(handle *capi.Writer) error {
		if w.last == nil && w.ctx.Err() != nil {
			w.last = streamError(op, w.ctx, w.pump, nil)
		}
		if w.last != nil {
			return w.last
		}
		err := call(op, func(report *capi.Error) int32 { return f(handle, report) })
		if err == nil {
			return nil
		}
		if code := err.(*Error).Code; code == StatusIO {
			err = streamError(op, w.ctx, w.pump, err)
			w.last = err
		}
		return err
	})
	runtime.KeepAlive(w)
	return err
}

// Take takes the bytes that were written into memory so far, as a buffer that the caller closes; the writer goes on
// with an empty one.
//
// Errors: ErrInvalidArgument when the writer does not write into memory; ErrOutOfMemory.
func (w *Writer) Take() (*Buffer, error) {
	const op = "Writer.Take"
	var buffer *capi.Buffer
	err := w.use(op, func(handle *capi.Writer) error {
		return call(op, func(report *capi.Error) int32 { return capi.CallWriterTake(handle, &buffer, report) })
	})
	runtime.KeepAlive(w)
	if err != nil {
		return nil, err
	}
	return newBuffer(buffer), nil
}

// Close ends the writer; what was written stays written. Behind an io.Writer it waits until everything has reached
// it, or the context has ended, and returns the error of the io.Writer when it failed. A Write that waits is waited
// for. Closing once more does nothing.
func (w *Writer) Close() error {
	runtime.SetFinalizer(w, nil)
	handle := w.take()
	if handle == nil {
		return nil
	}
	const op = "Writer.Close"
	err := seedCall(op, "the writer could not be ended", destroyWriter(handle))
	native.Drain()
	if w.pump == nil {
		return err
	}
	select {
	case <-w.pump.done:
	case <-w.ctx.Done():
	}
	w.pump.stopWatching()
	if err == nil && !w.pump.carriedAll() {
		err = streamError(op, w.ctx, w.pump, nil)
	}
	return err
}

func destroyWriter(handle *capi.Writer) int32 { return capi.CallWriterDestroy(&handle) }
