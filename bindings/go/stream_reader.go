package hurray

import (
	"context"
	"io"
	"iter"
	"os"
	"runtime"
	"unsafe"

	"hurray.dev/go/hurray/internal/capi"
	"hurray.dev/go/hurray/internal/native"
)

// StreamOptions are the limits of a Reader. The zero value, or nil, are the defaults.
type StreamOptions struct {
	// MaxDescriptorLength is the longest descriptor accepted, in bytes; 0 means 16 MiB.
	MaxDescriptorLength uint64
	// MaxTensorBytes is the largest tensor accepted, in bytes over all its buffers; 0 means no limit.
	MaxTensorBytes uint64
	// MaxAlignment is the largest alignment of a buffer accepted, in bytes; 0 means 2 MiB.
	MaxAlignment uint32
	// PrivateTags: accept private layouts and quantization schemes.
	PrivateTags bool
	// Permissive: accept element types and quantization schemes that are not known.
	Permissive bool
	// HrryFile: what is read is no stream but a .hrry file, from its start, in sequence. Reader.Name gives the names of
	// its tensors at the end.
	HrryFile bool
}

// A Reader reads a stream of tensors. (format: stream) Several goroutines may use it. It is ended by Close.
type Reader struct {
	owned[*capi.Reader]
	ctx  context.Context
	pump *pump
	// bytes is the memory that is read, pinned until the reader is closed.
	bytes  []byte
	pinner runtime.Pinner
	// last is the error, io.EOF included, after which there is nothing more to read.
	last error
}

// NewReader reads a stream from r, which stays the caller's. A *os.File is read by the library itself, without a copy,
// and is put into blocking mode; anything else goes through a pipe, and r is read by a goroutine, which may read
// farther than the last tensor that was asked for. options may be nil.
func NewReader(r io.Reader, options *StreamOptions) (*Reader, error) {
	return NewReaderContext(context.Background(), r, options)
}

// NewReaderContext is NewReader with a context whose end ends the stream: a Next that waits returns at once. Its error
// then wraps the cause. A read of r itself that waits is not interrupted: its goroutine ends when r returns.
func NewReaderContext(ctx context.Context, r io.Reader, options *StreamOptions) (*Reader, error) {
	const op = "NewReader"
	if err := load(op); err != nil {
		return nil, err
	}
	if file, ok := r.(*os.File); ok && direct(ctx, file) {
		return readFile(op, ctx, nil, file, options)
	}
	p, err := pumpFrom(ctx, r)
	if err != nil {
		return nil, &Error{Op: op, Code: StatusIO, Message: err.Error(), Offset: -1, Err: err}
	}
	reader, err := readFile(op, ctx, p, p.library, options)
	// The library has a descriptor of its own; without one, the pump fails to write and ends.
	_ = p.library.Close()
	if err != nil {
		p.stopWatching()
	}
	return reader, err
}

// NewReaderBytes reads a stream that lies in memory, which is borrowed until the reader is closed and must not change.
// Tensors are copied out of it.
func NewReaderBytes(bytes []byte, options *StreamOptions) (*Reader, error) {
	const op = "NewReaderBytes"
	if err := load(op); err != nil {
		return nil, err
	}
	reader := &Reader{owned: owned[*capi.Reader]{what: "reader"}, ctx: context.Background(), bytes: bytes}
	first, size := memoryOf(bytes)
	if first != nil {
		reader.pinner.Pin(first)
	}
	// The variable is apart from the reader: C must not see an object with Go pointers.
	var handle *capi.Reader
	err := call(op, func(report *capi.Error) int32 {
		return capi.CallReaderFromMemory((*byte)(first), size, options.record(0), &handle, report)
	})
	if err != nil {
		reader.pinner.Unpin()
		return nil, err
	}
	reader.handle = handle
	runtime.SetFinalizer(reader, (*Reader).finalize)
	return reader, nil
}

func (o *StreamOptions) record(flags StreamFlag) *capi.StreamOptions {
	record := &capi.StreamOptions{StructSize: uint32(unsafe.Sizeof(capi.StreamOptions{})), Flags: uint32(flags)}
	if o != nil {
		for _, option := range []struct {
			set  bool
			flag StreamFlag
		}{{o.PrivateTags, StreamPrivateTags}, {o.Permissive, StreamPermissive}, {o.HrryFile, StreamHrryFile}} {
			if option.set {
				flags |= option.flag
			}
		}
		record.Flags = uint32(flags)
		record.MaxAlignment = o.MaxAlignment
		record.MaxDescriptorLength = o.MaxDescriptorLength
		record.MaxTensorBytes = o.MaxTensorBytes
	}
	return record
}

func readFile(op string, ctx context.Context, p *pump, file *os.File, options *StreamOptions) (*Reader, error) {
	descriptor, err := native.Duplicate(file)
	runtime.KeepAlive(file)
	if err != nil {
		return nil, &Error{Op: op, Code: StatusIO, Message: err.Error(), Offset: -1, Err: err}
	}
	var handle *capi.Reader
	err = call(op, func(report *capi.Error) int32 {
		return capi.CallReaderFromFD(descriptor, options.record(StreamCloseFD), &handle, report)
	})
	if err != nil {
		native.CloseDescriptor(descriptor)
		return nil, err
	}
	reader := &Reader{owned: owned[*capi.Reader]{handle: handle, what: "reader"}, ctx: ctx, pump: p}
	runtime.SetFinalizer(reader, (*Reader).finalize)
	return reader, nil
}

// Next reads the next tensor, which the caller closes. At the clean end of the stream it returns io.EOF. After an
// error the reader returns that error for ever, but for ErrInvalidArgument, which says that a tensor that was begun is not
// complete.
//
// Errors: those of DecodeDescriptor, with the byte offset in the stream; ErrInvalidFormat when the stream ends within a
// tensor; ErrLimitExceeded; ErrIO, also for a failing io.Reader, whose error it wraps; ErrCancelled, which wraps the
// cause of the context's end; ErrOutOfMemory.
func (r *Reader) Next() (*Tensor, error) {
	const op = "Reader.Next"
	native.Drain()
	var tensor *capi.Tensor
	err := r.step(op, func(handle *capi.Reader, report *capi.Error) int32 {
		return capi.CallReaderNext(handle, &tensor, report)
	}, func() bool { return tensor == nil })
	if err != nil {
		return nil, err
	}
	return newTensor(tensor), nil
}

// step runs a call of the library that reads on. An error ends the reader, unless it says that nothing has changed; so
// does the end, where atEnd can tell it.
func (r *Reader) step(op string, f func(handle *capi.Reader, report *capi.Error) int32, atEnd func() bool) error {
	err := r.use(op, func(handle *capi.Reader) error {
		if r.last != nil {
			return r.last
		}
		if r.ctx.Err() != nil {
			r.last = streamError(op, r.ctx, r.pump, nil)
			return r.last
		}
		err := call(op, func(report *capi.Error) int32 { return f(handle, report) })
		if err == nil && (atEnd == nil || !atEnd()) {
			return nil
		}
		if err == nil {
			err = io.EOF
		} else if err.(*Error).Code == StatusInvalidArgument {
			return err
		}
		r.last = streamError(op, r.ctx, r.pump, err)
		return r.last
	})
	runtime.KeepAlive(r)
	return err
}

// Tensors goes through the tensors of the stream. Each is closed when the body of the loop is done with it: what is
// to last longer is shared with Tensor.Share. It ends at the end of the stream, or after an error.
func (r *Reader) Tensors() iter.Seq2[*Tensor, error] { return items(r.Next) }

// Close ends the reader; tensors that it gave out are not affected. A Next that waits for an io.Reader returns; one
// that waits for a file is waited for. Closing once more does nothing.
func (r *Reader) Close() error {
	runtime.SetFinalizer(r, nil)
	err := r.close()
	native.Drain()
	return err
}

func (r *Reader) finalize() { _ = r.close() }

func (r *Reader) close() error {
	if r.pump != nil {
		r.pump.stopWatching()
		// Ends a Next that waits, and with it the hold on the lock.
		_ = r.pump.far.Close()
	}
	return r.collect("Reader.Close", func(handle *capi.Reader) int32 {
		status := capi.CallReaderDestroy(&handle)
		r.pinner.Unpin()
		return status
	})
}
