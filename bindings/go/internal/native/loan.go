package native

// #include "native.h"
import "C"

import (
	"runtime"
	"runtime/cgo"
	"unsafe"

	"hurray.dev/go/hurray/internal/capi"
)

// A Loan is memory, or an owner of memory, that was lent to the library. It keeps what it holds alive and in place
// until the library says that it is no longer needed, or until it is cancelled because the library did not take it.
type Loan struct {
	pinner  runtime.Pinner
	keep    any
	release func()
	handle  cgo.Handle
}

// NewLoan lends what `keep` refers to; release, which may be nil, runs when the library is done with it. pin is the
// first byte of Go memory that must stay in place, or nil.
func NewLoan(keep any, pin unsafe.Pointer, release func()) *Loan {
	loan := &Loan{keep: keep, release: release}
	if pin != nil {
		loan.pinner.Pin(pin)
	}
	loan.handle = cgo.NewHandle(loan)
	return loan
}

// Context is the word that the callback gets.
func (l *Loan) Context() uintptr { return uintptr(l.handle) }

// Callback is the callback for memory.
func (l *Loan) Callback() capi.ReleaseCallback {
	return capi.ReleaseCallback(C.hurray_go_release)
}

// OwnerCallback is the callback for owners of tensor contexts.
func (l *Loan) OwnerCallback() capi.OwnerReleaseFn {
	return capi.OwnerReleaseFn(C.hurray_go_owner_release)
}

// Cancel takes the loan back, because the library did not accept it: release does not run.
func (l *Loan) Cancel() {
	l.handle.Delete()
	l.pinner.Unpin()
	l.keep = nil
}

// Mute makes the release not run when the library gives the loan back: what was lent was lent to an object that is
// ended again because its constructor fails.
func (l *Loan) Mute() { l.release = nil }

//export hurrayGoReleased
func hurrayGoReleased(context C.uintptr_t) {
	if frame := current(); frame != nil && frame.PostponeMemory {
		frame.postponedMemory = append(frame.postponedMemory, uintptr(context))
		return
	}
	released(uintptr(context))
}

// released ends a loan: the library is done with it.
func released(context uintptr) {
	handle := cgo.Handle(context)
	loan := handle.Value().(*Loan)
	handle.Delete()
	loan.pinner.Unpin()
	loan.keep = nil
	if loan.release != nil {
		run(loan.release)
	}
}

// run keeps a panic out of the C frames below: it ends the program from a goroutine of its own, as a panic in any
// other callback without a caller would.
func run(release func()) {
	defer func() {
		if cause := recover(); cause != nil {
			go panic(cause)
		}
	}()
	release()
}
