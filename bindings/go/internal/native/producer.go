package native

// #include <stdlib.h>
// #include "native.h"
import "C"

import (
	"runtime/cgo"
	"unsafe"

	"hurray.dev/go/hurray/internal/capi"
)

// maxStruct is the largest size of a struct that the C ABI allows.
const maxStruct = 4096

// An ExportFunc makes a list and a context for a consumer's stream, or says why not: then failed is not nil.
type ExportFunc func(stream uintptr, device uint8) (list, context unsafe.Pointer, failed *Failure)

// A Failure is why a callback failed, as C gets to see it, and as Go does when it is also the caller.
type Failure struct {
	Status  int32
	Message string
	Err     error
}

// producerLoan is what the context of a producer of Go's stands for.
type producerLoan struct {
	export  ExportFunc
	release func()
}

// NewProducer makes a producer in C's memory, which FreeProducer gives back. release, which may be nil, runs when the
// producer is released.
func NewProducer(export ExportFunc, release func()) *capi.Producer {
	producer := (*capi.Producer)(C.calloc(1, C.size_t(unsafe.Sizeof(capi.Producer{}))))
	producer.StructSize = uint32(unsafe.Sizeof(capi.Producer{}))
	producer.ABIVersion = capi.ABIVersion
	producer.Context = uintptr(cgo.NewHandle(&producerLoan{export, release}))
	producer.ExportTensor = uintptr(unsafe.Pointer(C.hurray_go_export_tensor))
	producer.Release = uintptr(unsafe.Pointer(C.hurray_go_producer_release))
	return producer
}

// ProducerFits reports whether a producer's struct has the size of one, or more.
func ProducerFits(producer *capi.Producer) bool {
	return producer.StructSize >= uint32(unsafe.Sizeof(capi.Producer{})) && producer.StructSize <= maxStruct
}

// MoveProducer copies a producer into new memory of C's and makes the source one that was released.
func MoveProducer(source *capi.Producer) *capi.Producer {
	// Nothing is lost of a later version's struct.
	size := source.StructSize
	moved := (*capi.Producer)(C.calloc(1, C.size_t(size)))
	copy(unsafe.Slice((*byte)(unsafe.Pointer(moved)), size), unsafe.Slice((*byte)(unsafe.Pointer(source)), size))
	source.ExportTensor, source.Release = 0, 0
	return moved
}

// FreeProducer gives the memory of a producer back, which was released before.
func FreeProducer(producer *capi.Producer) { C.free(unsafe.Pointer(producer)) }

//export hurrayGoExportTensor
func hurrayGoExportTensor(context, stream C.uintptr_t, device C.uint8_t, list, ctx *unsafe.Pointer, report unsafe.Pointer) C.int32_t {
	loan := cgo.Handle(context).Value().(*producerLoan)
	var failed *Failure
	*list, *ctx, failed = export(loan.export, uintptr(stream), uint8(device))
	if failed == nil {
		return 0
	}
	if frame := current(); frame != nil {
		frame.Err = failed.Err
	}
	if report != nil {
		fill((*capi.Error)(report), failed.Status, failed.Message)
	}
	return C.int32_t(failed.Status)
}

// export keeps a panic out of the C frames below: it is the failure of the call.
func export(f ExportFunc, stream uintptr, device uint8) (list, context unsafe.Pointer, failed *Failure) {
	defer func() {
		if cause := recover(); cause != nil {
			list, context, failed = nil, nil, panicked(cause)
		}
	}()
	return f(stream, device)
}

// fill writes a report; a message that is too long is cut between characters.
func fill(report *capi.Error, status int32, message string) {
	report.Code = status
	room := len(report.Message) - 1
	if len(message) > room {
		for room > 0 && message[room]&0xc0 == 0x80 {
			room--
		}
		message = message[:room]
	}
	clear(report.Message[copy(report.Message[:], message):])
}

//export hurrayGoProducerReleased
func hurrayGoProducerReleased(context C.uintptr_t) {
	handle := cgo.Handle(context)
	loan := handle.Value().(*producerLoan)
	handle.Delete()
	if loan.release != nil {
		run(loan.release)
	}
}
