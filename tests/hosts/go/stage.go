// Package main is the stage of Go, a shared library that the host loads.
package main

import "C"

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"hurray.dev/go/hurray"
)

func main() {}

// hosts_pass takes list and context over, and puts others in their place.
//
//export hosts_pass
func hosts_pass(list, context *unsafe.Pointer, sum *float64) int32 {
	return report(pass(list, context, sum))
}

// hosts_make makes a tensor over a slice.
//
//export hosts_make
func hosts_make(list, context *unsafe.Pointer) int32 {
	return report(make12(list, context))
}

// hosts_settle collects garbage, and runs the releases that wait.
//
//export hosts_settle
func hosts_settle() {
	runtime.GC()
	_, err := hurray.DrainReleases()
	report(err)
}

func report(err error) int32 {
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, "go:", err)
	return 1
}

// nothing is always nil, which the compiler does not know.
var nothing *float64

// fault reads through a nil pointer: a SIGSEGV that Go must get, whoever else has a handler.
func fault() (err error) {
	if os.Getenv("HOSTS_GO_FAULTS") == "0" {
		return nil
	}
	defer func() {
		if recover() == nil {
			err = errors.New("a nil pointer made no panic")
		}
	}()
	fmt.Fprintln(os.Stderr, "nil points to", *nothing)
	return nil
}

func pass(list, context *unsafe.Pointer, sum *float64) error {
	if err := fault(); err != nil {
		return err
	}
	tensor, err := hurray.ImportPointers(*list, *context)
	if err != nil {
		return err
	}
	err = hurray.Borrow(tensor, func(elements []float32) error {
		for _, element := range elements {
			*sum += float64(element)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return handOn(tensor, list, context)
}

func make12(list, context *unsafe.Pointer) error {
	values := make([]float32, 12)
	for i := range values {
		values[i] = float32(i)
	}
	tensor, err := hurray.FromSlice(values, []int{3, 4}, nil)
	if err != nil {
		return err
	}
	return handOn(tensor, list, context)
}

// handOn exports the tensor and closes it.
func handOn(tensor *hurray.Tensor, list, context *unsafe.Pointer) error {
	buffers, described, err := tensor.Export()
	if err != nil {
		return err
	}
	*list, *context = buffers.Detach(), described.Detach()
	return tensor.Close()
}
