package native

// #include "native.h"
import "C"

import (
	"fmt"
	"runtime/cgo"
	"unsafe"

	"hurray.dev/go/hurray/internal/capi"
)

// A Callback is a function of Go's that the library calls until Free. What fails in it, fails the call of the library,
// and the frame of that call gets its error.
type Callback struct {
	handle cgo.Handle
	freed  bool
}

// Context is the word that the callback gets.
func (c *Callback) Context() uintptr { return uintptr(c.handle) }

// Free ends the callback: the library does not call it any more. Freeing once more does nothing.
func (c *Callback) Free() {
	if !c.freed {
		c.freed = true
		c.handle.Delete()
	}
}

// WriteFunc takes bytes, which are good until it returns; it says why not, where it does not take all of them.
type WriteFunc func(bytes []byte) *Failure

// NewWriteCallback makes a callback for bytes.
func NewWriteCallback(write WriteFunc) *Callback { return &Callback{handle: cgo.NewHandle(write)} }

// WriteFn is the address that goes with the contexts of callbacks for bytes.
func WriteFn() capi.WriteFn { return capi.WriteFn(C.hurray_go_write) }

// SourceFunc makes a tensor, which is the library's then.
type SourceFunc func() (*capi.Tensor, *Failure)

// NewSourceCallback makes a callback that makes a tensor.
func NewSourceCallback(source SourceFunc) *Callback { return &Callback{handle: cgo.NewHandle(source)} }

// SourceFn is the address that goes with the contexts of callbacks that make tensors.
func SourceFn() capi.TensorSourceFn { return capi.TensorSourceFn(C.hurray_go_source) }

// ProgressFunc is told how far long work is; it says why, where the work is to stop.
type ProgressFunc func(done, total uint64) *Failure

// NewProgressCallback makes a callback for the progress of long work.
func NewProgressCallback(progress ProgressFunc) *Callback {
	return &Callback{handle: cgo.NewHandle(progress)}
}

// ProgressFn is the address that goes with the contexts of callbacks for progress.
func ProgressFn() uintptr { return uintptr(unsafe.Pointer(C.hurray_go_progress)) }

//export hurrayGoProgress
func hurrayGoProgress(context C.uintptr_t, done, total C.uint64_t) C.int32_t {
	progress := cgo.Handle(context).Value().(ProgressFunc)
	return outcome(func() *Failure { return progress(uint64(done), uint64(total)) })
}

//export hurrayGoWrite
func hurrayGoWrite(context C.uintptr_t, bytes unsafe.Pointer, length C.uint64_t) C.int32_t {
	write := cgo.Handle(context).Value().(WriteFunc)
	return outcome(func() *Failure { return write(unsafe.Slice((*byte)(bytes), length)) })
}

//export hurrayGoSource
func hurrayGoSource(context C.uintptr_t, tensor *unsafe.Pointer) C.int32_t {
	source := cgo.Handle(context).Value().(SourceFunc)
	return outcome(func() *Failure {
		made, failed := source()
		*tensor = unsafe.Pointer(made)
		return failed
	})
}

// outcome runs a callback and is what C gets to see of it. A panic does not go through the C frames below: it is a
// failure like any other.
func outcome(callback func() *Failure) (status C.int32_t) {
	failed := func() (failed *Failure) {
		defer func() {
			if cause := recover(); cause != nil {
				failed = panicked(cause)
			}
		}()
		return callback()
	}()
	if failed == nil {
		return 0
	}
	if frame := current(); frame != nil {
		frame.Err = failed.Err
	}
	return C.int32_t(failed.Status)
}

// panicked is the failure of a callback that panicked.
func panicked(cause any) *Failure {
	err, ok := cause.(error)
	if !ok {
		err = fmt.Errorf("%v", cause)
	}
	return &Failure{C.HURRAY_ERR_INTERNAL_PANIC, fmt.Sprintf("panic: %v", cause), err}
}
