// Package devices is what the tests of handoff and exchange need of C: a pretended device, libraries that are not the
// one under test, careless callbacks, and what only C can do to a process. The tests are its only users.
package devices

// #cgo LDFLAGS: -lfake_device -lstranger -ldl
// #include <stdlib.h>
// #include "../../device/fake_device.h"
//
// // Handles of the device are numbers to Go.
// static uintptr_t stream_new(FakeDevice *d, const char *name) { return (uintptr_t)fake_stream_new(d, name); }
// static uintptr_t event_new(FakeDevice *d) { return (uintptr_t)fake_event_new(d); }
// static uintptr_t memory_new(FakeDevice *d, uint64_t size) { return (uintptr_t)fake_memory_new(d, size); }
// static FakeViolation event_record(FakeDevice *d, uintptr_t e, uintptr_t s) { return fake_event_record(d, (void *)e, (void *)s); }
// static FakeViolation wait_event(FakeDevice *d, uintptr_t s, uintptr_t e) { return fake_stream_wait_event(d, (void *)s, (void *)e); }
// static FakeViolation wait_stream(FakeDevice *d, uintptr_t s, uintptr_t o) { return fake_stream_wait_stream(d, (void *)s, (void *)o); }
// static FakeViolation host_wait_stream(FakeDevice *d, uintptr_t s) { return fake_host_wait_stream(d, (void *)s); }
// static FakeViolation host_wait_event(FakeDevice *d, uintptr_t e) { return fake_host_wait_event(d, (void *)e); }
// static FakeViolation stream_read(FakeDevice *d, uintptr_t s, uintptr_t m) { return fake_stream_read(d, (void *)s, (void *)m); }
// static FakeViolation stream_write(FakeDevice *d, uintptr_t s, uintptr_t m) { return fake_stream_write(d, (void *)s, (void *)m); }
// static FakeViolation host_read(FakeDevice *d, uintptr_t m) { return fake_host_read(d, (void *)m); }
// static void handoff_begin(FakeDevice *d, uintptr_t m, uint8_t mode, uintptr_t with) {
//     fake_handoff_begin(d, (void *)m, mode, (void *)with);
// }
// static void handoff_returned(FakeDevice *d, uintptr_t m, uint8_t mode, uintptr_t with) {
//     fake_handoff_returned(d, (void *)m, mode, (void *)with);
// }
// static void handoff_failed(FakeDevice *d, uintptr_t m, uint8_t mode, uintptr_t with) {
//     fake_handoff_failed(d, (void *)m, mode, (void *)with);
// }
// static void event_release(FakeDevice *d, uintptr_t e) { fake_event_release((void *)e, d); }
// static void memory_release(FakeDevice *d, uintptr_t m) { fake_memory_release((void *)m, d); }
// static uint64_t event_releases(FakeDevice *d, uintptr_t e) { return fake_event_release_count(d, (void *)e); }
// static uint64_t memory_releases(FakeDevice *d, uintptr_t m) { return fake_memory_release_count(d, (void *)m); }
// static uint64_t event_thread(FakeDevice *d, uintptr_t e) { return fake_event_release_thread(d, (void *)e); }
// static uint64_t memory_thread(FakeDevice *d, uintptr_t m) { return fake_memory_release_thread(d, (void *)m); }
import "C"

import "unsafe"

// Tag is the device tag of the pretended device's memory, events and streams.
const Tag = C.FAKE_DEVICE_TAG

// A Violation is a kind of what a producer or a consumer did wrong.
type Violation C.FakeViolation

// The kinds; fake_device.h says what they mean.
const (
	OK                     = Violation(C.FAKE_OK)
	UnorderedRead          = Violation(C.FAKE_UNORDERED_READ)
	UnorderedWrite         = Violation(C.FAKE_UNORDERED_WRITE)
	WaitUnrecorded         = Violation(C.FAKE_WAIT_UNRECORDED)
	HandoffUnsynced        = Violation(C.FAKE_HANDOFF_UNSYNCED)
	HandoffEventUnrecorded = Violation(C.FAKE_HANDOFF_EVENT_UNRECORDED)
	HandoffEventMissed     = Violation(C.FAKE_HANDOFF_EVENT_MISSES_WRITE)
	EventRecordedLate      = Violation(C.FAKE_EVENT_RECORDED_LATE)
	HandoffNoDependency    = Violation(C.FAKE_HANDOFF_NO_DEPENDENCY)
	EventReleasedTwice     = Violation(C.FAKE_EVENT_RELEASED_TWICE)
	EventNeverReleased     = Violation(C.FAKE_EVENT_NEVER_RELEASED)
	EventUsedAfterRelease  = Violation(C.FAKE_EVENT_USED_AFTER_RELEASE)
	MemoryReleasedTwice    = Violation(C.FAKE_MEMORY_RELEASED_TWICE)
	MemoryNeverReleased    = Violation(C.FAKE_MEMORY_NEVER_RELEASED)
	MemoryUsedAfterRelease = Violation(C.FAKE_MEMORY_USED_AFTER_RELEASE)
	ReleasedByFailed       = Violation(C.FAKE_RELEASED_BY_FAILED_HANDOFF)
)

// String returns the name of the kind.
func (v Violation) String() string { return C.GoString(C.fake_violation_name(C.FakeViolation(v))) }

// A Device keeps the books of its streams, events and memory.
type Device struct{ device *C.FakeDevice }

// NewDevice makes a device with an empty log.
func NewDevice() *Device { return &Device{C.fake_device_new()} }

// Destroy ends the device.
func (d *Device) Destroy() { C.fake_device_destroy(d.device) }

// Stream makes a stream, which the log calls by a name.
func (d *Device) Stream(name string) uintptr {
	text := C.CString(name)
	defer C.free(unsafe.Pointer(text))
	return uintptr(C.stream_new(d.device, text))
}

// Event makes an event that nobody has recorded.
func (d *Device) Event() uintptr { return uintptr(C.event_new(d.device)) }

// Memory makes memory of the device.
func (d *Device) Memory(byteSize uint64) uintptr {
	return uintptr(C.memory_new(d.device, C.uint64_t(byteSize)))
}

// Record records an event on a stream.
func (d *Device) Record(event, stream uintptr) Violation {
	return Violation(C.event_record(d.device, C.uintptr_t(event), C.uintptr_t(stream)))
}

// WaitEvent makes a stream wait for an event.
func (d *Device) WaitEvent(stream, event uintptr) Violation {
	return Violation(C.wait_event(d.device, C.uintptr_t(stream), C.uintptr_t(event)))
}

// WaitStream makes a stream wait for another one, on the device.
func (d *Device) WaitStream(stream, other uintptr) Violation {
	return Violation(C.wait_stream(d.device, C.uintptr_t(stream), C.uintptr_t(other)))
}

// HostWaitStream makes the host wait for a stream.
func (d *Device) HostWaitStream(stream uintptr) Violation {
	return Violation(C.host_wait_stream(d.device, C.uintptr_t(stream)))
}

// HostWaitEvent makes the host wait for an event.
func (d *Device) HostWaitEvent(event uintptr) Violation {
	return Violation(C.host_wait_event(d.device, C.uintptr_t(event)))
}

// Read and Write are work on a stream; HostRead is the host's.
func (d *Device) Read(stream, memory uintptr) Violation {
	return Violation(C.stream_read(d.device, C.uintptr_t(stream), C.uintptr_t(memory)))
}

// Write is work on a stream that writes the memory.
func (d *Device) Write(stream, memory uintptr) Violation {
	return Violation(C.stream_write(d.device, C.uintptr_t(stream), C.uintptr_t(memory)))
}

// HostRead is a read of the memory by the host.
func (d *Device) HostRead(memory uintptr) Violation {
	return Violation(C.host_read(d.device, C.uintptr_t(memory)))
}

// HandoffBegins marks the moment before a handoff; with is the event or the consumer's stream.
func (d *Device) HandoffBegins(memory uintptr, mode uint8, with uintptr) {
	C.handoff_begin(d.device, C.uintptr_t(memory), C.uint8_t(mode), C.uintptr_t(with))
}

// HandoffReturned marks the moment after a handoff that succeeded.
func (d *Device) HandoffReturned(memory uintptr, mode uint8, with uintptr) {
	C.handoff_returned(d.device, C.uintptr_t(memory), C.uint8_t(mode), C.uintptr_t(with))
}

// HandoffFailed marks the moment after a handoff that failed.
func (d *Device) HandoffFailed(memory uintptr, mode uint8, with uintptr) {
	C.handoff_failed(d.device, C.uintptr_t(memory), C.uint8_t(mode), C.uintptr_t(with))
}

// ReleaseEvent is what the release of an event calls.
func (d *Device) ReleaseEvent(event uintptr) { C.event_release(d.device, C.uintptr_t(event)) }

// ReleaseMemory is what the release of memory calls.
func (d *Device) ReleaseMemory(memory uintptr) { C.memory_release(d.device, C.uintptr_t(memory)) }

// EventReleases is how often an event was released.
func (d *Device) EventReleases(event uintptr) int {
	return int(C.event_releases(d.device, C.uintptr_t(event)))
}

// MemoryReleases is how often memory was released.
func (d *Device) MemoryReleases(memory uintptr) int {
	return int(C.memory_releases(d.device, C.uintptr_t(memory)))
}

// EventThread is the thread that released an event, MemoryThread the one that released memory; 0: none has.
func (d *Device) EventThread(event uintptr) uint64 {
	return uint64(C.event_thread(d.device, C.uintptr_t(event)))
}

// MemoryThread is the thread that released memory.
func (d *Device) MemoryThread(memory uintptr) uint64 {
	return uint64(C.memory_thread(d.device, C.uintptr_t(memory)))
}

// CurrentThread is the thread of the caller, in the same numbers.
func CurrentThread() uint64 { return uint64(C.fake_current_thread()) }

// Finish finds what was handed off and never released.
func (d *Device) Finish() Violation { return Violation(C.fake_device_finish(d.device)) }

// Violations are the kinds of all violations, in order.
func (d *Device) Violations() []Violation {
	found := make([]Violation, C.fake_violation_count(d.device))
	for i := range found {
		found[i] = Violation(C.fake_violation_kind(d.device, C.uint64_t(i)))
	}
	return found
}

// ForgetViolations clears the list of them.
func (d *Device) ForgetViolations() { C.fake_violations_clear(d.device) }

// Log is all lines of the log.
func (d *Device) Log() string {
	return copied(func(out *C.char, capacity C.uint64_t) C.uint64_t { return C.fake_log_copy(d.device, out, capacity) })
}

// Find is the number of the first line that starts with a text; -1 when there is none.
func (d *Device) Find(text string) int {
	c := C.CString(text)
	defer C.free(unsafe.Pointer(c))
	return int(C.fake_log_find(d.device, c, 0))
}

// copied gets a text whose length is told first.
func copied(get func(out *C.char, capacity C.uint64_t) C.uint64_t) string {
	capacity := get(nil, 0) + 1
	room := C.malloc(C.size_t(capacity))
	defer C.free(room)
	get((*C.char)(room), capacity)
	return C.GoString((*C.char)(room))
}
