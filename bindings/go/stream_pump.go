package hurray

import (
	"context"
	"io"
	"os"
)

// A pump carries a stream between a pipe, which the library reads or writes, and an io.Reader or io.Writer.
type pump struct {
	// library is the end of the pipe that the library has; far is the other one.
	library, far *os.File
	// done is closed when nothing is carried any more; err then says why, nil at the end of the stream.
	done chan struct{}
	err  error
	// stopWatching ends the watch over the context.
	stopWatching func() bool
}

func newPump(ctx context.Context, library, far *os.File, carry func() error) *pump {
	p := &pump{library: library, far: far, done: make(chan struct{})}
	// The library sees the end of its pipe as soon as the far end is closed, whatever the other side waits for.
	p.stopWatching = context.AfterFunc(ctx, func() { _ = far.Close() })
	go func() {
		p.err = carry()
		// Closed here, and not earlier: the library reads an end, or fails to write, when everything is known.
		close(p.done)
		_ = far.Close()
	}()
	return p
}

func pumpFrom(ctx context.Context, source io.Reader) (*pump, error) {
	reading, writing, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return newPump(ctx, reading, writing, func() error {
		// Not io.Copy to the file itself: ReadFrom of os.File may splice, which cannot be told from a failing source.
		_, err := io.Copy(struct{ io.Writer }{writing}, source)
		return err
	}), nil
}

func pumpTo(ctx context.Context, sink io.Writer) (*pump, error) {
	reading, writing, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return newPump(ctx, writing, reading, func() error {
		_, err := io.Copy(sink, struct{ io.Reader }{reading})
		return err
	}), nil
}

// carriedAll reports whether everything went through and the stream is at its end.
func (p *pump) carriedAll() bool {
	select {
	case <-p.done:
		return p.err == nil
	default:
		return false
	}
}

// streamError is what a failed call of the library on a stream means: the context's end or the failure of the
// caller's reader or writer come first, because the library saw only a pipe that ended.
func streamError(op string, ctx context.Context, p *pump, err error) error {
	if ended := ctx.Err(); ended != nil {
		return &Error{Op: op, Code: StatusCancelled, Message: context.Cause(ctx).Error(), Offset: -1, Err: context.Cause(ctx)}
	}
	if p == nil {
		return err
	}
	select {
	case <-p.done:
		if p.err != nil {
			return &Error{Op: op, Code: StatusIO, Message: p.err.Error(), Offset: -1, Err: p.err}
		}
	default:
	}
	return err
}

// direct reports whether a file can be given to the library as it is: nothing has to be cancelled, or nothing waits.
func direct(ctx context.Context, file *os.File) bool {
	if ctx.Done() == nil {
		return true
	}
	info, err := file.Stat()
	return err == nil && info.Mode().IsRegular()
}
