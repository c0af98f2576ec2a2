package hurray

import (
	"context"
	"unsafe"

	"hurray.dev/go/hurray/internal/capi"
	"hurray.dev/go/hurray/internal/native"
)

// WorkOptions are what all long work takes beside its context. The zero value, or nil: no limit and no reports.
//
// Long work runs on the goroutine that called. The end of its context stops it, at the next report of the library's:
// the error then matches ErrCancelled and wraps the context's cause, and nothing of a result remains.
type WorkOptions struct {
	// MemoryLimit is the most bytes of new memory that the work may hold at one time, its result included; 0 for no
	// limit.
	MemoryLimit uint64
	// Progress is told now and then, on the goroutine that called, how far the work is: done of total in a unit that
	// the function names, never less than before, and all of it at the end. An error that it returns, or a panic in it,
	// stops the work, whose error matches ErrCancelled and wraps it.
	Progress func(done, total uint64) error
}

// work runs long work of the library under a context.
func work(op string, ctx context.Context, options *WorkOptions,
	f func(record *capi.WorkOptions, report *capi.Error) int32) error {
	if ctx.Err() != nil {
		return cancelled(op, context.Cause(ctx))
	}
	if options == nil {
		options = &WorkOptions{}
	}
	record := &capi.WorkOptions{StructSize: uint32(unsafe.Sizeof(capi.WorkOptions{})), MemoryLimit: options.MemoryLimit}
	if ctx.Done() == nil && options.Progress == nil {
		// Nobody can stop the work: it need not call back.
		return call(op, func(report *capi.Error) int32 { return f(record, report) })
	}
	frame, leave := native.Enter()
	defer leave()
	callback := native.NewProgressCallback(func(done, total uint64) *native.Failure {
		err := context.Cause(ctx)
		if err == nil && options.Progress != nil {
			err = options.Progress(done, total)
		}
		if err == nil {
			return nil
		}
		return &native.Failure{Status: int32(StatusCancelled), Err: err}
	})
	defer callback.Free()
	record.Progress, record.Context = native.ProgressFn(), callback.Context()
	err := call(op, func(report *capi.Error) int32 { return f(record, report) })
	if frame.Err != nil && err != nil {
		return cancelled(op, frame.Err)
	}
	return err
}

func cancelled(op string, cause error) error {
	return &Error{Op: op, Code: StatusCancelled, Message: cause.Error(), Offset: -1, Err: cause}
}
