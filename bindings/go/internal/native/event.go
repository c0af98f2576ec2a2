package native

// #include "native.h"
import "C"

import (
	"runtime/cgo"
	"unsafe"
)

// EventCallback is the address of the callback for events, whose context is that of a loan.
func EventCallback() uintptr { return uintptr(unsafe.Pointer(C.hurray_go_event_release)) }

//export hurrayGoEventReleased
func hurrayGoEventReleased(context C.uintptr_t) {
	frame := current()
	if frame == nil || !frame.Postpone {
		released(uintptr(context))
		return
	}
	handle := cgo.Handle(context)
	frame.postponed = append(frame.postponed, handle.Value().(*Loan))
	handle.Delete()
}
