// Package example calls the C library of the examples.
package example

// #cgo LDFLAGS: -lexample
// #include "example.h"
import "C"

import "unsafe"

// Sum returns the sum of the numbers.
func Sum(values []int32) int64 {
	return int64(C.example_sum((*C.int32_t)(unsafe.SliceData(values)), C.uint64_t(len(values))))
}
