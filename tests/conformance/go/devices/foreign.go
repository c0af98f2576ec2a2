package devices

// #include <stdlib.h>
// #include "foreign.h"
//
// static size_t producer_size(void) { return sizeof(HurrayProducer); }
import "C"

import "unsafe"

// A ForeignProducer is a HurrayProducer in memory of C's.
type ForeignProducer struct{ producer *C.HurrayProducer }

// NewForeignProducer makes room for one.
func NewForeignProducer() ForeignProducer {
	return ForeignProducer{(*C.HurrayProducer)(C.calloc(1, C.producer_size()))}
}

// Pointer is the struct's address.
func (p ForeignProducer) Pointer() unsafe.Pointer { return unsafe.Pointer(p.producer) }

// Free gives the room back.
func (p ForeignProducer) Free() { C.free(p.Pointer()) }

// Request asks the producer on a thread of C's for a tensor, and tells the stream of its first buffer.
func (p ForeignProducer) Request(stream uintptr, device uint8) (ordered uintptr, status int32, message string) {
	report := (*C.HurrayError)(C.calloc(1, C.sizeof_HurrayError))
	defer C.free(unsafe.Pointer(report))
	var found C.uintptr_t
	code := C.foreign_request(p.producer, C.uintptr_t(stream), C.uint8_t(device), &found, report)
	return uintptr(found), int32(code), C.GoString(&report.message[0])
}

// Release releases the producer, twice, on a thread of C's.
func (p ForeignProducer) Release() int32 { return int32(C.foreign_release(p.producer)) }

// Counts are how often careless callbacks were called.
type Counts struct{ counts *[2]C.uint32_t }

// NewCounts begins at 0.
func NewCounts() Counts { return Counts{(*[2]C.uint32_t)(C.calloc(2, 4))} }

// Calls is how often what throws was called.
func (c Counts) Calls() int { return int(c.counts[0]) }

// Releases is how often a producer was released.
func (c Counts) Releases() int { return int(c.counts[1]) }

// Free ends the counts.
func (c Counts) Free() { C.free(unsafe.Pointer(c.counts)) }

// CarelessList is a HurrayBufferList whose release throws.
func CarelessList(c Counts) unsafe.Pointer { return unsafe.Pointer(C.careless_list(&c.counts[0])) }

// CarelessEventList is one whose event's release throws, too.
func CarelessEventList(c Counts) unsafe.Pointer {
	return unsafe.Pointer(C.careless_event_list(&c.counts[0]))
}

// BeCareless makes the producer one that throws.
func (p ForeignProducer) BeCareless(c Counts) {
	C.careless_producer(p.producer, &c.counts[0], &c.counts[1])
}

// Exit ends the program as C's exit does.
func Exit(code int) { C.foreign_exit(C.int(code)) }

// Fork forks a child that ends list and context, and returns its exit code.
func Fork(list, context unsafe.Pointer) int {
	return int(C.foreign_fork((*C.HurrayBufferList)(list), (*C.HurrayTensorContext)(context)))
}
