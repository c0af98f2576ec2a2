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
	copied := C.hurray_go_duplicate(C.int(descriptor))
	if copied < 0 {
		return -1, syscall.Errno(-copied)
	}
	return int32(copied), nil
}

// CloseDescriptor closes what Duplicate made and the library did not take.
func CloseDescriptor(descriptor int32) { _ = syscall.Close(int(descriptor)) }
