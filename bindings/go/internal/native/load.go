// Package native loads the shared library, checks its version before anything else of it is used, and keeps what the
// library borrows from Go.
package native

// #cgo linux LDFLAGS: -ldl
// #include <stdlib.h>
// #include "native.h"
import "C"

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"unsafe"

	"hurray.dev/go/hurray/internal/capi"
)

// LibraryVariable names the environment variable that overrides where the library is looked for.
const LibraryVariable = "HURRAY_LIBRARY"

// A LoadError tells why the library cannot be used.
type LoadError struct {
	// Version says that the library is there and is of another version of the C ABI.
	Version bool
	// Text is the whole reason.
	Text string
}

func (e *LoadError) Error() string { return e.Text }

var (
	loadOnce  sync.Once
	loadError *LoadError
	queue     *capi.ReleaseQueue
	version   uint32
)

// Load opens the library and checks its version, once a process; every later call returns the outcome of the first.
func Load() *LoadError {
	loadOnce.Do(func() { loadError = load() })
	return loadError
}

func load() *LoadError {
	name := os.Getenv(LibraryVariable)
	switch {
	case C.hurray_go_linked() != 0:
		name = "the Hurray library that is linked with the program"
	case name == "":
		name = defaultName
	}
	cName := C.CString(name)
	defer C.free(unsafe.Pointer(cName))
	var message *C.char
	library := C.hurray_go_open(cName, &message)
	if library == nil {
		text := C.GoString(message)
		C.free(unsafe.Pointer(message))
		return &LoadError{Text: fmt.Sprintf("the Hurray library %q cannot be loaded: %s (set %s to its path)", name, text, LibraryVariable)}
	}
	if failed := check(library, name); failed != nil {
		C.hurray_go_close(library)
		return failed
	}
	var report capi.Error
	if status := capi.CallReleaseQueueNew(&queue, &report); status != 0 {
		return &LoadError{Text: fmt.Sprintf("%s: its release queue cannot be made: %s", name, Message(&report))}
	}
	return nil
}

// check asks the version by name, and resolves everything else only when the answer is fit.
func check(library unsafe.Pointer, name string) *LoadError {
	found := uint32(C.hurray_go_version(library))
	version = found
	if found == 0 {
		return &LoadError{Version: true, Text: fmt.Sprintf(
			"%s does not tell the version of its C ABI (no hurray_c_abi_version, or 0); this package was built for version %d",
			name, capi.ABIVersion)}
	}
	if found != capi.ABIVersion && C.hurray_go_supports(library, C.uint32_t(capi.ABIVersion)) != 1 {
		return &LoadError{Version: true, Text: fmt.Sprintf(
			"%s implements version %d of the C ABI; this package was built for version %d, which the library does not support",
			name, found, capi.ABIVersion)}
	}
	if missing := capi.Resolve(C.hurray_go_find, library); missing != "" {
		return &LoadError{Text: fmt.Sprintf("%s lacks the function %s of version %d of the C ABI", name, missing, capi.ABIVersion)}
	}
	return nil
}

// Queue is the release queue of this binding: releases that the collector caused wait on it. Valid after Load.
func Queue() *capi.ReleaseQueue { return queue }

// Version is the version of the C ABI of the loaded library, which supports that of this package. Valid after Load.
func Version() uint32 { return version }

// deferred is set while something may wait on the queue; it spares the others a call into C.
var deferred atomic.Bool

// MarkDeferred says that a deferred destroy has taken place.
func MarkDeferred() { deferred.Store(true) }

// waiting are ends of objects that no queue of the library's takes.
var waiting struct {
	sync.Mutex
	ends []func()
}

// Defer keeps the end of an object that the collector found for the next Drain.
func Defer(end func()) {
	waiting.Lock()
	waiting.ends = append(waiting.ends, end)
	waiting.Unlock()
	MarkDeferred()
}

// Drain runs the releases that wait on the queue, when there may be any, and returns how many ran. It is called with
// no lock held: releases run code of the user's.
func Drain() uint64 {
	if !deferred.Swap(false) {
		return 0
	}
	waiting.Lock()
	ends := waiting.ends
	waiting.ends = nil
	waiting.Unlock()
	for _, end := range ends {
		end()
	}
	var released uint64
	// What it may answer beside 0 is said of releases that throw, which none of Go's does: the others have run.
	capi.CallReleaseQueueDrain(queue, ^uint64(0), &released, nil)
	return released + uint64(len(ends))
}

// Pending tells how many releases wait on the queue.
func Pending() uint64 {
	var pending uint64
	if capi.CallReleaseQueuePending(queue, &pending, nil) != 0 {
		return 0
	}
	return pending
}

// Message is the text of an error report.
func Message(report *capi.Error) string {
	for length, b := range report.Message {
		if b == 0 {
			return string(report.Message[:length])
		}
	}
	return string(report.Message[:])
}
