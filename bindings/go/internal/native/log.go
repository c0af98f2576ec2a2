package native

// #include "native.h"
import "C"

import (
	"runtime/cgo"
	"sync"
	"unsafe"

	"hurray.dev/go/hurray/internal/capi"
)

// A LogFunc gets the messages that the library keeps.
type LogFunc func(status int32, message string)

// logger is the handle of the LogFunc that the library has, 0 for none.
var logger struct {
	sync.Mutex
	handle cgo.Handle
}

// SetLog makes f, or nobody when it is nil, get the library's messages. When it returns, the one before is done.
func SetLog(f LogFunc, report *capi.Error) int32 {
	if frame := current(); frame != nil && frame.logging {
		// Asked before the lock: whoever holds it may be waiting for this callback to end.
		fill(report, C.HURRAY_ERR_INVALID_ARGUMENT, "the log cannot be replaced from within itself")
		return C.HURRAY_ERR_INVALID_ARGUMENT
	}
	logger.Lock()
	defer logger.Unlock()
	var handle cgo.Handle
	var callback capi.LogFn
	if f != nil {
		handle = cgo.NewHandle(f)
		callback = capi.LogFn(C.hurray_go_log)
	}
	if status := capi.CallLogCallbackSet(callback, uintptr(handle), report); status != 0 {
		if handle != 0 {
			handle.Delete()
		}
		return status
	}
	if logger.handle != 0 {
		logger.handle.Delete()
	}
	logger.handle = handle
	return 0
}

//export hurrayGoLogged
func hurrayGoLogged(context C.uintptr_t, status C.int32_t, message unsafe.Pointer) {
	f := cgo.Handle(context).Value().(LogFunc)
	text := C.GoString((*C.char)(message))
	frame, leave := Enter()
	frame.logging = true
	defer leave()
	run(func() { f(int32(status), text) })
}
