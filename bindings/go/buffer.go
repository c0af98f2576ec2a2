package hurray

import (
	"io"
	"runtime"
	"unsafe"

	"hurray.dev/go/hurray/internal/capi"
	"hurray.dev/go/hurray/internal/native"
)

// A Buffer is memory with shared ownership. The memory is released when the last Buffer, BufferList, Tensor or View
// that shares it is closed, here or in another runtime. Several goroutines may use a Buffer. It is ended by Close.
type Buffer struct {
	owned[*capi.Buffer]
}

// BufferInfo says what a buffer stands for.
type BufferInfo struct {
	// ByteSize is the length in bytes, the prefix included.
	ByteSize uint64
	// Alignment that the buffer declares, in bytes.
	Alignment uint32
	// Prefix is how many bytes at the start belong to somebody else, because the start was rounded down to 64 bytes.
	Prefix uint32
	// ReadOnly says that the memory must not be written.
	ReadOnly bool
	// Shared says that the memory lies in a file or in shared memory: it goes through a Channel without a copy. Sealed says
	// that nobody can write to it any more, in any process.
	Shared, Sealed bool
	// Shares is how many handles share the memory; 0 for memory that is borrowed for ever.
	Shares uint64
	// Address of the first byte, the prefix included, in the memory of the buffer's device; 0 when there is none. It is
	// good as long as the memory is shared.
	Address uintptr
}

func newBuffer(handle *capi.Buffer) *Buffer {
	b := &Buffer{owned[*capi.Buffer]{handle: handle, what: "buffer"}}
	runtime.SetFinalizer(b, func(b *Buffer) {
		if handle := b.take(); handle != nil {
			capi.CallBufferDestroyDeferred(handle, nil)
			native.MarkDeferred()
		}
	})
	return b
}

// AllocateBuffer allocates zeroed memory of the library, aligned to a power of two of at least 64 bytes; 0 means 64.
//
// Errors: ErrOutOfMemory; ErrInvalidLayout for an alignment that is no power of two.
func AllocateBuffer(byteSize uint64, alignment uint32) (*Buffer, error) {
	return allocate("AllocateBuffer", byteSize, alignment, capi.CallBufferAllocate)
}

// AllocateSharedBuffer is AllocateBuffer for memory that goes through a Channel without a copy. It is shared with forks
// of the process. Channel.Send says when it becomes read-only. Linux only. Since version 4 of the C ABI.
//
// Errors: those of AllocateBuffer; ErrLimitExceeded when no further file descriptor may be opened; ErrIO.
func AllocateSharedBuffer(byteSize uint64, alignment uint32) (*Buffer, error) {
	return allocate("AllocateSharedBuffer", byteSize, alignment, capi.CallBufferAllocateShared)
}

func allocate(op string, byteSize uint64, alignment uint32,
	from func(uint64, uint32, **capi.Buffer, *capi.Error) int32) (*Buffer, error) {
	if err := load(op); err != nil {
		return nil, err
	}
	native.Drain()
	var handle *capi.Buffer
	err := call(op, func(report *capi.Error) int32 {
		return from(byteSize, alignment, &handle, report)
	})
	if err != nil {
		return nil, err
	}
	return newBuffer(handle), nil
}

// BufferOf lends the memory of a slice to a new buffer, without copying. The slice stays where it is until the last
// share of the buffer is closed; then release, which may be nil, runs. Until then nobody may write to it.
//
// A buffer starts at a multiple of 64 bytes: byteOffset, the distance from there to the slice's first byte, belongs
// into DescriptorSpec.ByteOffset. When BufferOf fails, release does not run.
func BufferOf[T Element](data []T, release func()) (buffer *Buffer, byteOffset uint64, err error) {
	const op = "BufferOf"
	if err := load(op); err != nil {
		return nil, 0, err
	}
	native.Drain()
	first, size := memoryOf(data)
	loan := native.NewLoan(data, first, release)
	var handle *capi.Buffer
	offset := new(uint64)
	err = call(op, func(report *capi.Error) int32 {
		return capi.CallBufferFromHost((*byte)(first), size, 0, loan.Callback(), loan.Context(), &handle, offset, report)
	})
	runtime.KeepAlive(data)
	if err != nil {
		loan.Cancel()
		return nil, 0, err
	}
	buffer = newBuffer(handle)
	err = call(op, func(report *capi.Error) int32 {
		return capi.CallBufferSetReleaseQueue(handle, native.Queue(), report)
	})
	runtime.KeepAlive(buffer)
	if err != nil {
		loan.Mute()
		_ = buffer.Close()
		return nil, 0, err
	}
	return buffer, *offset, nil
}

// memoryOf is the first byte of a slice's memory, nil for an empty one, and its length in bytes.
func memoryOf[T any](data []T) (unsafe.Pointer, uint64) {
	if len(data) == 0 {
		// The address of an empty slice may be that of another object's memory: nothing is pinned or lent.
		return nil, 0
	}
	return unsafe.Pointer(unsafe.SliceData(data)), uint64(len(data)) * uint64(unsafe.Sizeof(data[0]))
}

// Share makes a further buffer of the same memory, independent of this one.
func (b *Buffer) Share() (*Buffer, error) {
	return b.derive("Buffer.Share", func(handle *capi.Buffer, out **capi.Buffer, report *capi.Error) int32 {
		return capi.CallBufferShare(handle, out, report)
	})
}

// Slice makes a buffer of a part of the memory, sharing it.
//
// Errors: ErrIndexOutOfBounds; ErrMisaligned when a part that is not empty starts at no multiple of 64.
func (b *Buffer) Slice(offset, byteSize uint64) (*Buffer, error) {
	return b.derive("Buffer.Slice", func(handle *capi.Buffer, out **capi.Buffer, report *capi.Error) int32 {
		return capi.CallBufferSlice(handle, offset, byteSize, out, report)
	})
}

func (b *Buffer) derive(op string, make func(*capi.Buffer, **capi.Buffer, *capi.Error) int32) (*Buffer, error) {
	var derived *capi.Buffer
	err := b.use(op, func(handle *capi.Buffer) error {
		return call(op, func(report *capi.Error) int32 { return make(handle, &derived, report) })
	})
	runtime.KeepAlive(b)
	if err != nil {
		return nil, err
	}
	return newBuffer(derived), nil
}

// SetReadOnly marks the memory as not to be written through this buffer and those made from it.
func (b *Buffer) SetReadOnly() error {
	const op = "Buffer.SetReadOnly"
	err := b.use(op, func(handle *capi.Buffer) error {
		return call(op, func(report *capi.Error) int32 { return capi.CallBufferSetReadOnly(handle, report) })
	})
	runtime.KeepAlive(b)
	return err
}

// SetReleaseAnyThread consents, for whoever lent the memory, to its release on any thread: when the collector ends the
// last share, release then runs at once, on the collector's goroutine, where it must not block. Without that it waits
// for the next call that makes or closes something. Call it before the memory is shared.
//
// Errors: ErrInvalidArgument when the memory is shared already, or is the library's, which needs no consent.
func (b *Buffer) SetReleaseAnyThread() error {
	const op = "Buffer.SetReleaseAnyThread"
	err := b.use(op, func(handle *capi.Buffer) error {
		return call(op, func(report *capi.Error) int32 { return capi.CallBufferSetReleaseAnyThread(handle, report) })
	})
	runtime.KeepAlive(b)
	return err
}

// Info says what the buffer stands for.
func (b *Buffer) Info() (BufferInfo, error) {
	info, err := b.info("Buffer.Info")
	if err != nil {
		return BufferInfo{}, err
	}
	flags := BufferFlag(info.Flags)
	return BufferInfo{
		ByteSize:  info.ByteSize,
		Alignment: info.Alignment,
		Prefix:    info.Prefix,
		ReadOnly:  flags&BufferReadOnly != 0,
		Shared:    flags&BufferShared != 0,
		Sealed:    flags&BufferSealed != 0,
		Shares:    info.ShareCount,
		Address:   info.Data,
	}, nil
}

func (b *Buffer) info(op string) (*capi.BufferInfo, error) {
	info := &capi.BufferInfo{StructSize: uint32(unsafe.Sizeof(capi.BufferInfo{}))}
	err := b.use(op, func(handle *capi.Buffer) error {
		return call(op, func(report *capi.Error) int32 { return capi.CallBufferInfo(handle, info, report) })
	})
	runtime.KeepAlive(b)
	return info, err
}

// Handle is the entry that describes the buffer in a descriptor's buffer table.
func (b *Buffer) Handle() (BufferHandle, error) {
	const op = "Buffer.Handle"
	encoded := new(capi.BufferHandleBytes)
	err := b.use(op, func(handle *capi.Buffer) error {
		return call(op, func(report *capi.Error) int32 { return capi.CallBufferHandleBytes(handle, encoded, report) })
	})
	runtime.KeepAlive(b)
	if err != nil {
		return BufferHandle{}, err
	}
	return bufferHandle(encoded), nil
}

// Borrow runs f on the buffer's bytes, without those of the prefix. The slice is good until f returns; it must not be
// written when the buffer is read-only. The memory must be the host's.
func (b *Buffer) Borrow(f func(bytes []byte) error) error {
	const op = "Buffer.Borrow"
	// A share of its own: f may close b, and the lock is not held while f runs.
	share, err := b.Share()
	if err != nil {
		return err
	}
	defer share.Close()
	handle, err := share.Handle()
	if err != nil {
		return err
	}
	if handle.Device != DeviceCPU {
		return &Error{Op: op, Code: StatusUnsupported, Message: "the memory is that of device " + handle.Device.String(), Offset: -1}
	}
	info, err := share.info(op)
	if err != nil {
		return err
	}
	size := info.ByteSize - uint64(info.Prefix)
	var bytes []byte
	if size != 0 {
		bytes = unsafe.Slice((*byte)(native.Pointer(info.Data+uintptr(info.Prefix))), size)
	}
	err = f(bytes)
	runtime.KeepAlive(share)
	return err
}

// ReadAt copies bytes of the buffer, for io.ReaderAt; the prefix is not counted.
func (b *Buffer) ReadAt(p []byte, offset int64) (n int, err error) {
	if offset < 0 {
		return 0, invalid("Buffer.ReadAt", "the offset is negative")
	}
	err = b.Borrow(func(bytes []byte) error {
		if offset < int64(len(bytes)) {
			n = copy(p, bytes[offset:])
		}
		return nil
	})
	if err == nil && n < len(p) {
		err = io.EOF
	}
	return n, err
}

// WriteTo writes the buffer's bytes, for io.WriterTo; the prefix is left out.
func (b *Buffer) WriteTo(w io.Writer) (n int64, err error) {
	err = b.Borrow(func(bytes []byte) error {
		written, err := w.Write(bytes)
		n = int64(written)
		return err
	})
	return n, err
}

// Close ends the buffer; when it was the last share, the memory is released before Close returns. Closing once more
// does nothing. A buffer that was pushed onto a list is closed: the list owns it.
func (b *Buffer) Close() error {
	runtime.SetFinalizer(b, nil)
	return b.end("Buffer.Close", capi.CallBufferDestroy)
}
