// A library in Go for programs of other languages, made with -buildmode=c-shared.
package main

import "C"

import "hurray.dev/go/hurray"

// firstOf gives the first element of a tensor of the model at a path, as its library reads it.
//
//export firstOf
func firstOf(path, name *C.char) C.double {
	file, err := hurray.Open(C.GoString(path), nil)
	if err != nil {
		return -1
	}
	defer file.Close()
	tensor, err := file.TensorByName(C.GoString(name))
	if err != nil {
		return -2
	}
	defer tensor.Close()
	value, err := tensor.Float64At(0)
	if err != nil {
		return -3
	}
	return C.double(value)
}

func main() {}
