package devices

// #include <stdlib.h>
// #include "../../device/fake_device.h"
// #include "../../device/stranger.h"
//
// static void event_pair(Spy *spy, uintptr_t event, FakeDevice *device, void **list, void **context) {
//     spy_event_pair_new(spy, (void *)event, fake_event_release_address(), device, list, context);
// }
// static void stream_pair(Spy *spy, uintptr_t stream, void **list, void **context) {
//     spy_stream_pair_new(spy, (void *)stream, list, context);
// }
import "C"

import "unsafe"

// A Spy is a pretended other copy of the library, with a log of the calls of its functions.
type Spy struct{ spy *C.Spy }

// NewSpy makes a copy of a version, which vouches for none.
func NewSpy(version uint32) *Spy { return &Spy{C.spy_new(C.uint32_t(version))} }

// Destroy ends the copy.
func (s *Spy) Destroy() { C.spy_destroy(s.spy) }

// Vouch makes it vouch for versions.
func (s *Spy) Vouch(lowest, highest uint32) {
	C.spy_vouch(s.spy, C.uint32_t(lowest), C.uint32_t(highest))
}

// Pair makes a list and a context that belong together.
func (s *Spy) Pair() (list, context unsafe.Pointer) {
	C.spy_pair_new(s.spy, &list, &context)
	return list, context
}

// EventPair makes one of the device's memory, whose event is released by the device.
func (s *Spy) EventPair(d *Device, event uintptr) (list, context unsafe.Pointer) {
	C.event_pair(s.spy, C.uintptr_t(event), d.device, &list, &context)
	return list, context
}

// StreamPair makes one of the device's memory, ordered on a stream.
func (s *Spy) StreamPair(stream uintptr) (list, context unsafe.Pointer) {
	C.stream_pair(s.spy, C.uintptr_t(stream), &list, &context)
	return list, context
}

// LiveHandles is how many handles of the copy are not destroyed.
func (s *Spy) LiveHandles() int { return int(C.spy_live_handles(s.spy)) }

// Misuses is how many calls had a wrong handle.
func (s *Spy) Misuses() int { return int(C.spy_misuses(s.spy)) }

// AccessorCalls is how many calls went past the question for the version.
func (s *Spy) AccessorCalls() int { return int(C.spy_accessor_calls(s.spy)) }

// CallsOf is how many lines of the log are exactly this.
func (s *Spy) CallsOf(line string) int {
	text := C.CString(line)
	defer C.free(unsafe.Pointer(text))
	return int(C.spy_calls_of(s.spy, text))
}

// Log is all calls in order, one a line.
func (s *Spy) Log() string {
	return copied(func(out *C.char, capacity C.uint64_t) C.uint64_t { return C.spy_log_copy(s.spy, out, capacity) })
}

// ClearLog forgets the calls.
func (s *Spy) ClearLog() { C.spy_log_clear(s.spy) }

// The kinds of handles that strangers pretend to be.
const (
	KindList    = C.STRANGER_LIST
	KindContext = C.STRANGER_CONTEXT
)

// Foreign is a pretended handle of another implementation: a wrong magic, behind which nothing may be read.
func Foreign() unsafe.Pointer { return C.stranger_foreign_new() }

// Generation is a handle of a generation that does not exist, behind which nothing may be read.
func Generation(kind uint32) unsafe.Pointer { return C.stranger_generation_new(C.uint32_t(kind)) }

// FreeStranger ends a stranger.
func FreeStranger(stranger unsafe.Pointer) { C.stranger_free(stranger) }
