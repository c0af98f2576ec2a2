package native

// #include "native.h"
import "C"

import (
	"runtime"
	"runtime/cgo"
)

// A Frame is a call of the library from which callbacks may come back to Go, on the same thread, before it returns. It
// carries what C has no room for: the Go error of a callback that failed, and releases that wait for the call's end.
type Frame struct {
	// Postpone says that releases of events wait for RunPostponed.
	Postpone  bool
	postponed []*Loan
	// PostponeMemory says that releases of memory wait for RunPostponedMemory.
	PostponeMemory  bool
	postponedMemory []uintptr
	// logging says that the call is one of the log callback's.
	logging bool
	// Owner is the object whose call this is: see Within.
	Owner any
	outer uintptr
	// Err is the error of the callback that made the call fail.
	Err error
}

// Enter begins a frame on this thread; leave ends it. Callbacks see the innermost one.
func Enter() (frame *Frame, leave func()) {
	runtime.LockOSThread()
	frame = new(Frame)
	handle := cgo.NewHandle(frame)
	outer := C.hurray_go_frame_set(C.uintptr_t(handle))
	frame.outer = uintptr(outer)
	return frame, func() {
		C.hurray_go_frame_set(outer)
		handle.Delete()
		runtime.UnlockOSThread()
	}
}

// current is the innermost frame of the thread that a callback came on, or nil.
func current() *Frame {
	return frameOf(uintptr(C.hurray_go_frame_get()))
}

func frameOf(handle uintptr) *Frame {
	if handle == 0 {
		return nil
	}
	return cgo.Handle(handle).Value().(*Frame)
}

// Within reports whether the caller is a callback that a call of the owner's made: the owner is locked then, by its own
// caller.
func Within(owner any) bool {
	for frame := current(); frame != nil; frame = frameOf(frame.outer) {
		if frame.Owner == owner {
			return true
		}
	}
	return false
}

// RunPostponedMemory runs the releases of memory that the frame made wait.
func (f *Frame) RunPostponedMemory() {
	for _, context := range f.postponedMemory {
		released(context)
	}
}

// RunPostponed runs the releases that the frame made wait. A panic in one goes to the caller.
func (f *Frame) RunPostponed() {
	for _, loan := range f.postponed {
		if loan.release != nil {
			loan.release()
		}
	}
}
