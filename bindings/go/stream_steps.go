package hurray

import (
	"io"
	"runtime"
	"unsafe"

	"hurray.dev/go/hurray/internal/capi"
	"hurray.dev/go/hurray/internal/native"
)

// Begin begins the next tensor: it returns its descriptor, checked, which the caller closes, before any of its data is
// there. Its data follows with Read, or is passed over with Skip; one of them must have reached its end before the next
// tensor. At the clean end of the stream Begin returns io.EOF. The head of a composite comes first, then its members,
// each begun in its turn. Since version 4 of the C ABI.
//
// Errors: those of Next; ErrInvalidComposite; ErrInvalidArgument, upon which nothing has changed, when the tensor before
// is not complete.
func (r *Reader) Begin() (*Descriptor, error) {
	const op = "Reader.Begin"
	var descriptor *capi.Descriptor
	err := r.step(op, func(handle *capi.Reader, report *capi.Error) int32 {
		return capi.CallReaderBegin(handle, &descriptor, report)
	}, func() bool { return descriptor == nil })
	if err != nil {
		return nil, err
	}
	return newDescriptor(descriptor), nil
}

// Read reads the next bytes of the tensor that was begun, for io.Reader: those of its buffers in the order of the
// descriptor's table, never of two buffers in one call. It waits for the first byte and returns what is there; io.EOF:
// the tensor is complete. Since version 4 of the C ABI.
//
// Errors: ErrInvalidArgument, upon which nothing has changed, when no tensor was begun; ErrInvalidFormat when the stream
// ends within it; those of Next otherwise.
func (r *Reader) Read(p []byte) (int, error) {
	const op = "Reader.Read"
	count := new(uint64)
	err := r.step(op, func(handle *capi.Reader, report *capi.Error) int32 {
		return capi.CallReaderRead(handle, unsafe.SliceData(p), uint64(len(p)), count, report)
	}, nil)
	if err == nil && *count == 0 && len(p) != 0 {
		err = io.EOF
	}
	return int(*count), err
}

// Skip passes over what is left of the tensor that was begun; in a regular file nothing is read for it. Since version 4
// of the C ABI.
//
// Errors: those of Read.
func (r *Reader) Skip() error {
	return r.step("Reader.Skip", capi.CallReaderSkip, nil)
}

// Name is the name of tensor i of a .hrry file that was read as a stream (StreamOptions.HrryFile), in the order of the
// tensors, once its end was reached. Since version 4 of the C ABI.
//
// Errors: ErrInvalidArgument for another kind of stream, and before the end; ErrIndexOutOfBounds.
func (r *Reader) Name(i int) (name string, err error) {
	const op = "Reader.Name"
	err = r.use(op, func(handle *capi.Reader) error {
		address, length := new(uintptr), new(uint64)
		err := call(op, func(report *capi.Error) int32 {
			return capi.CallReaderName(handle, uint64(i), address, length, report)
		})
		if err == nil {
			name = native.Text(*address, *length)
		}
		return err
	})
	runtime.KeepAlive(r)
	return name, err
}
