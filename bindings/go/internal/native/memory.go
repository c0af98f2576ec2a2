package native

// #include <string.h>
import "C"

import "unsafe"

// String copies a NUL-terminated string of the library; the address 0 is the empty string.
func String(address uintptr) string {
	if address == 0 {
		return ""
	}
	return C.GoString((*C.char)(Pointer(address)))
}

// Text copies text of the library that has a length and may hold NUL characters.
func Text(address uintptr, length uint64) string {
	if length == 0 {
		return ""
	}
	return string(unsafe.Slice((*byte)(Pointer(address)), length))
}

// Slice copies an array of the library; length 0, whatever the address, is nil.
func Slice[T any](address uintptr, length uint64) []T {
	if length == 0 || address == 0 {
		return nil
	}
	copied := make([]T, length)
	copy(copied, unsafe.Slice((*T)(Pointer(address)), length))
	return copied
}

// Pointer makes an address that came from the library a pointer. Only for addresses of memory that is there: the
// collector must not be shown any other.
func Pointer(address uintptr) unsafe.Pointer {
	return *(*unsafe.Pointer)(unsafe.Pointer(&address))
}
