package native

// #include "native.h"
import "C"

import (
	"os"
	"syscall"
)

// Duplicate makes a further descriptor of a file, in blocking mode, that the library may own: whoever closes the file
// then does not pull it from under the library, nor give its number to another file.
func Duplicate(file *os.File) (int32, error) {
	// Fd puts the file into blocking mode, as the library's plain reads and writes need it.
	descriptor := file.Fd()
	if descriptor == ^uintptr(0) {
		return -1, os.ErrClosed
	}
	return DuplicateDescriptor(int32(descriptor))
}

// DuplicateDescriptor makes a further descriptor of an open file.
func DuplicateDescriptor(descriptor int32) (int32, error) {
	copied := C.hurray_go_duplicate(C.int(descriptor))
	if copied < 0 {
		return -1, syscall.Errno(-copied)
	}
	return int32(copied), nil
}

// Writable reports whether a write to a socket would not have to wait, be it that it would fail.
func Writable(descriptor int32) bool { return C.hurray_go_writable(C.int(descriptor)) != 0 }

// CloseDescriptor closes what Duplicate made and the library did not take.
func CloseDescriptor(descriptor int32) { _ = syscall.Close(int(descriptor)) }
