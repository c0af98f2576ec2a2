package hurray

import (
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"hurray.dev/go/hurray/internal/capi"
	"hurray.dev/go/hurray/internal/native"
)

// A Tensor is a descriptor and the buffers that hold its elements. Several goroutines may use it. It is ended by
// Close; its memory lives until the last View, share or buffer of it is closed as well.
type Tensor struct {
	core atomic.Pointer[tensorCore]
}

// tensorCore is the handle that a Tensor and its views share: it ends with the last of them.
type tensorCore struct {
	counted
	// mutex gives the library the one thread at a time that it wants on a handle.
	mutex  sync.Mutex
	handle *capi.Tensor
}

func newTensor(handle *capi.Tensor) *Tensor {
	core := &tensorCore{handle: handle}
	t := new(Tensor)
	t.core.Store(core)
	runtime.SetFinalizer(t, finalizeTensor)
	return t
}

func finalizeTensor(t *Tensor) {
	if core := t.core.Swap(nil); core != nil {
		_ = core.drop(true)
	}
}

// drop takes a reference back; the last one ends the handle. A collector's goroutine drops deferred: what is to be
// released then waits for a goroutine of the user's.
func (c *tensorCore) drop(deferred bool) error {
	if !c.dropped() {
		return nil
	}
	handle := c.handle
	c.handle = nil
	if deferred {
		capi.CallTensorDestroyDeferred(&handle, nil)
		native.MarkDeferred()
		return nil
	}
	status := capi.CallTensorDestroy(&handle)
	native.Drain()
	return seedCall("Tensor.Close", "the tensor could not be ended", status)
}

// retain returns the core with a reference for the caller, who drops it.
func (t *Tensor) retain(op string) (*tensorCore, error) {
	core := t.core.Load()
	if core == nil || !core.retain() {
		return nil, closedError(op, "tensor")
	}
	return core, nil
}

// use runs f on the handle, which stays alive meanwhile even if another goroutine closes the tensor.
func (t *Tensor) use(op string, f func(handle *capi.Tensor, report *capi.Error) int32) error {
	core, err := t.retain(op)
	if err != nil {
		return err
	}
	core.mutex.Lock()
	err = call(op, func(report *capi.Error) int32 { return f(core.handle, report) })
	core.mutex.Unlock()
	runtime.KeepAlive(t)
	if ended := core.drop(false); err == nil {
		err = ended
	}
	return err
}

// HostOptions say what FromSlice and FromPointer cannot see in the memory. The zero value, or nil: row-major, of the
// element type of the slice, first element first, writable.
type HostOptions struct {
	// ElementType, where the memory holds another one than the slice's: such as TypeBool in a []byte, or TypeFloat16
	// in a []uint16. FromPointer needs it.
	ElementType ElementType
	// ColumnMajor: the first dimension is contiguous.
	ColumnMajor bool
	// Strides, one a dimension, in elements; negative ones and 0 are legal. nil: as the layout has it.
	Strides []int
	// ByteOffset is the offset of element (0, ..., 0) from the start of the memory, in bytes.
	ByteOffset uint64
	// ReadOnly: nobody may write to the memory.
	ReadOnly bool
	// Release runs exactly once, when the last share of the tensor was closed, here or in another runtime, on the
	// goroutine or thread that closed it. A panic in it ends the program.
	Release func()
	// ReleaseAnyThread consents to Release on any thread: when the collector ends a tensor that was forgotten, Release
	// then runs at once, on the collector's goroutine, where it must not block; without it, in the next call that makes
	// or closes something.
	ReleaseAnyThread bool
}

// denseFrame holds the arguments of hurray_tensor_from_host that are passed by address, in one object.
type denseFrame struct {
	spec    capi.DenseSpec
	shape   [MaxRank]uint64
	strides [MaxRank]int64
}

var denseFrames = sync.Pool{New: func() any { return new(denseFrame) }}

// FromSlice makes a tensor over the memory of a slice, without copying. The slice stays where it is until the tensor
// and everything that shares its memory is closed; until then it may be read by everybody, and must not be written
// once the tensor was handed to somebody else. An empty shape makes a scalar. options may be nil.
//
// When FromSlice fails, the slice is as it was and Release does not run.
//
// Errors: ErrInvalidType; ErrInvalidLayout, also for memory that does not hold all elements; ErrInvalidArgument;
// ErrUnsupported.
func FromSlice[T Element](data []T, shape []int, options *HostOptions) (*Tensor, error) {
	if options == nil {
		options = &HostOptions{}
	}
	elementType := options.ElementType
	if elementType == 0 {
		elementType = TypeOf[T]()
	}
	first, size := memoryOf(data)
	t, err := fromHost("FromSlice", elementType, data, first, first, size, shape, options)
	runtime.KeepAlive(data)
	return t, err
}

// FromPointer makes a tensor over memory that is not Go's, such as C's or a device's mapping in host memory. The
// memory must stay valid until Release runs. Otherwise it is as FromSlice.
func FromPointer(memory unsafe.Pointer, byteSize uint64, shape []int, options *HostOptions) (*Tensor, error) {
	const op = "FromPointer"
	if options == nil || options.ElementType == 0 {
		return nil, invalid(op, "the options name no element type")
	}
	return fromHost(op, options.ElementType, nil, memory, nil, byteSize, shape, options)
}

func fromHost(op string, elementType ElementType, keep any, memory, pin unsafe.Pointer, size uint64, shape []int,
	options *HostOptions) (*Tensor, error) {
	if err := load(op); err != nil {
		return nil, err
	}
	native.Drain()
	frame := denseFrames.Get().(*denseFrame)
	defer denseFrames.Put(frame)
	if err := frame.fill(op, elementType, shape, options); err != nil {
		return nil, err
	}
	var pinner runtime.Pinner
	defer pinner.Unpin()
	pinner.Pin(frame)
	loan := native.NewLoan(keep, pin, options.Release)
	var handle *capi.Tensor
	err := call(op, func(report *capi.Error) int32 {
		return capi.CallTensorFromHost(&frame.spec, (*byte)(memory), size, loan.Callback(), loan.Context(), native.Queue(),
			&handle, report)
	})
	runtime.KeepAlive(frame)
	if err != nil {
		loan.Cancel()
		return nil, err
	}
	t := newTensor(handle)
	if options.ReleaseAnyThread {
		err := t.use(op, func(handle *capi.Tensor, report *capi.Error) int32 {
			var borrowed *capi.Buffer
			if status := capi.CallTensorBuffer(handle, 0, &borrowed, report); status != 0 {
				return status
			}
			return capi.CallBufferSetReleaseAnyThread(borrowed, report)
		})
		if err != nil {
			loan.Mute()
			_ = t.Close()
			return nil, err
		}
	}
	return t, nil
}

func (f *denseFrame) fill(op string, elementType ElementType, shape []int, options *HostOptions) error {
	if len(shape) > int(MaxRank) {
		return &Error{Op: op, Code: StatusInvalidLayout, Message: "the shape has more than 64 dimensions", Offset: -1}
	}
	f.spec = capi.DenseSpec{
		StructSize:  uint32(unsafe.Sizeof(capi.DenseSpec{})),
		ElementType: uint8(elementType),
		Layout:      uint8(LayoutRowMajor),
		ReadOnly:    boolByte(options.ReadOnly),
		Rank:        uint32(len(shape)),
		Shape:       uintptr(unsafe.Pointer(&f.shape)),
		ByteOffset:  options.ByteOffset,
	}
	for i, size := range shape {
		if size < 0 {
			return invalid(op, "a size in the shape is negative")
		}
		f.shape[i] = uint64(size)
	}
	if options.ColumnMajor {
		f.spec.Layout = uint8(LayoutColMajor)
	}
	if options.Strides == nil {
		return nil
	}
	if options.ColumnMajor {
		return invalid(op, "strides and column-major order exclude each other")
	}
	if len(options.Strides) != len(shape) {
		return invalid(op, "the strides and the shape differ in length")
	}
	f.spec.Layout = uint8(LayoutStrided)
	f.spec.Strides = uintptr(unsafe.Pointer(&f.strides))
	for i, stride := range options.Strides {
		f.strides[i] = int64(stride)
	}
	return nil
}

// NewTensor makes a tensor of a descriptor and its buffers. It takes the list over: it is closed when NewTensor
// succeeds, and stays the caller's when it fails. The descriptor is copied.
//
// Errors: ErrInvalidLayout, ErrBufferTooSmall, ErrMisaligned, ErrInvalidType, ErrSyncModeMismatch.
func NewTensor(descriptor *Descriptor, list *BufferList) (*Tensor, error) {
	const op = "NewTensor"
	var tensor *capi.Tensor
	err := bothOpen(op, &descriptor.owned, &list.owned, func(d *capi.Descriptor, l *capi.BufferList) error {
		return call(op, func(report *capi.Error) int32 {
			status := capi.CallTensorNew(d, &l, &tensor, report)
			if status == 0 {
				list.handle = nil
			}
			return status
		})
	})
	runtime.KeepAlive(descriptor)
	runtime.KeepAlive(list)
	if err != nil {
		return nil, err
	}
	return newTensor(tensor), nil
}

// Import makes a tensor of a pair that another runtime, or Export, made. It takes both over: they are closed when
// Import succeeds, and stay the caller's when it fails. The version of the context is checked first.
//
// Errors: ErrVersionMismatch, ErrInvalidHandle, and those of DecodeDescriptor and NewTensor.
func Import(list *BufferList, context *TensorContext) (*Tensor, error) {
	return importPair("Import", list, context, capi.CallTensorImport)
}

// ImportOptions is Import for a reader of descriptors with options, which may be nil. Since version 4 of the C ABI.
//
// Errors: those of Import; ErrUnsupported when the reader is permissive and the layout is not known.
func ImportOptions(list *BufferList, context *TensorContext, options *DecodeOptions) (*Tensor, error) {
	accepted := options.native()
	return importPair("ImportOptions", list, context,
		func(l **capi.BufferList, c **capi.TensorContext, out **capi.Tensor, report *capi.Error) int32 {
			return capi.CallTensorImportOptions(l, c, &accepted, out, report)
		})
}

func importPair(op string, list *BufferList, context *TensorContext,
	take func(l **capi.BufferList, c **capi.TensorContext, out **capi.Tensor, report *capi.Error) int32) (*Tensor, error) {
	var tensor *capi.Tensor
	err := bothOpen(op, &list.owned, &context.owned, func(l *capi.BufferList, c *capi.TensorContext) error {
		return call(op, func(report *capi.Error) int32 {
			status := take(&l, &c, &tensor, report)
			if status == 0 {
				list.handle, context.handle = nil, nil
			}
			return status
		})
	})
	runtime.KeepAlive(list)
	runtime.KeepAlive(context)
	if err != nil {
		return nil, err
	}
	return newTensor(tensor), nil
}

// ImportPointers is Import for the raw pointers HurrayBufferList * and HurrayTensorContext * that another runtime in
// the process handed over. On failure both stay the property of whoever had them.
func ImportPointers(list, context unsafe.Pointer) (*Tensor, error) {
	const op = "ImportPointers"
	if err := load(op); err != nil {
		return nil, err
	}
	l, c := (*capi.BufferList)(list), (*capi.TensorContext)(context)
	var tensor *capi.Tensor
	err := call(op, func(report *capi.Error) int32 { return capi.CallTensorImport(&l, &c, &tensor, report) })
	if err != nil {
		return nil, err
	}
	return newTensor(tensor), nil
}

// Export makes the pair that travels between runtimes; it shares the memory, and the tensor stays as it is. The caller
// ends both, or gives them on: Detach makes raw pointers of them.
func (t *Tensor) Export() (*BufferList, *TensorContext, error) {
	var list *capi.BufferList
	var context *capi.TensorContext
	err := t.use("Tensor.Export", func(handle *capi.Tensor, report *capi.Error) int32 {
		return capi.CallTensorExport(handle, &list, &context, report)
	})
	if err != nil {
		return nil, nil, err
	}
	return newBufferList(list), newTensorContext(context), nil
}

// Share makes a further tensor of the same memory, independent of this one.
func (t *Tensor) Share() (*Tensor, error) {
	var share *capi.Tensor
	err := t.use("Tensor.Share", func(handle *capi.Tensor, report *capi.Error) int32 {
		return capi.CallTensorShare(handle, &share, report)
	})
	if err != nil {
		return nil, err
	}
	return newTensor(share), nil
}

// Copy copies a dense tensor into new memory of the library: row-major, aligned to a power of two of at least 64
// bytes (0 means 64), byte offset 0. It also returns how many bytes of elements were copied.
//
// Errors: ErrUnsupported when the layout is not dense, the shape dynamic or the memory not the host's; ErrOutOfMemory.
func (t *Tensor) Copy(alignment uint32) (*Tensor, uint64, error) {
	var copied *capi.Tensor
	bytes := new(uint64)
	err := t.use("Tensor.Copy", func(handle *capi.Tensor, report *capi.Error) int32 {
		return capi.CallTensorCopy(handle, alignment, &copied, bytes, report)
	})
	if err != nil {
		return nil, 0, err
	}
	return newTensor(copied), *bytes, nil
}

// withDescriptor runs f on the descriptor that the tensor keeps.
func (t *Tensor) withDescriptor(op string, f func(descriptor *capi.Descriptor) error) error {
	core, err := t.retain(op)
	if err != nil {
		return err
	}
	core.mutex.Lock()
	var descriptor *capi.Descriptor
	err = call(op, func(report *capi.Error) int32 { return capi.CallTensorDescriptor(core.handle, &descriptor, report) })
	if err == nil {
		err = f(descriptor)
	}
	core.mutex.Unlock()
	runtime.KeepAlive(t)
	if ended := core.drop(false); err == nil {
		err = ended
	}
	return err
}

// Fields copies the fields of the tensor's descriptor.
func (t *Tensor) Fields() (DescriptorFields, error) {
	const op = "Tensor.Fields"
	var fields DescriptorFields
	err := t.withDescriptor(op, func(descriptor *capi.Descriptor) (err error) {
		fields, err = readFields(op, descriptor)
		return err
	})
	return fields, err
}

// Descriptor makes a copy of the tensor's descriptor, which the caller closes.
func (t *Tensor) Descriptor() (*Descriptor, error) {
	encoded, err := t.EncodeDescriptor()
	if err != nil {
		return nil, err
	}
	return DecodeDescriptor(encoded)
}

// EncodeDescriptor returns the bytes of the tensor's descriptor.
func (t *Tensor) EncodeDescriptor() ([]byte, error) {
	const op = "Tensor.EncodeDescriptor"
	var encoded []byte
	err := t.withDescriptor(op, func(descriptor *capi.Descriptor) (err error) {
		encoded, err = appendEncoded(op, descriptor, nil)
		return err
	})
	return encoded, err
}

// borrow runs f on the handle of buffer i, which the tensor keeps.
func (t *Tensor) borrow(op string, i int, f func(buffer *capi.Buffer) error) error {
	if i < 0 || uint64(i) > 0xffffffff {
		return &Error{Op: op, Code: StatusIndexOutOfBounds, Message: "there is no buffer of that index", Offset: -1}
	}
	core, err := t.retain(op)
	if err != nil {
		return err
	}
	core.mutex.Lock()
	var borrowed *capi.Buffer
	err = call(op, func(report *capi.Error) int32 {
		return capi.CallTensorBuffer(core.handle, uint32(i), &borrowed, report)
	})
	if err == nil {
		err = f(borrowed)
	}
	core.mutex.Unlock()
	runtime.KeepAlive(t)
	if ended := core.drop(false); err == nil {
		err = ended
	}
	return err
}

// Buffer makes a share of one of the tensor's buffers, which the caller closes.
//
// Errors: ErrIndexOutOfBounds.
func (t *Tensor) Buffer(i int) (*Buffer, error) {
	const op = "Tensor.Buffer"
	var share *capi.Buffer
	err := t.borrow(op, i, func(buffer *capi.Buffer) error {
		return call(op, func(report *capi.Error) int32 { return capi.CallBufferShare(buffer, &share, report) })
	})
	if err != nil {
		return nil, err
	}
	return newBuffer(share), nil
}

// Close ends the tensor. Memory that nothing else shares is released before Close returns; views that are open keep
// it until they are closed. Closing once more does nothing.
func (t *Tensor) Close() error {
	core := t.core.Swap(nil)
	if core == nil {
		return nil
	}
	runtime.SetFinalizer(t, nil)
	return core.drop(false)
}
