package hurray

import (
	"iter"
	"runtime"
	"strconv"
	"sync/atomic"
	"unsafe"

	"hurray.dev/go/hurray/internal/capi"
	"hurray.dev/go/hurray/internal/native"
)

// A View reads a dense tensor without copying. It keeps the tensor's memory until it is closed, also when the tensor
// is closed before. Slices that it gave out are good until then and no longer.
//
// The collector never closes a view: it cannot know whether a slice of it is still in use. A view that is not closed
// keeps its memory until the program ends. Borrow is the form that cannot be forgotten.
//
// Several goroutines may use a view.
type View struct {
	core    atomic.Pointer[tensorCore]
	record  *capi.View
	shape   []int
	strides []int
}

// View makes a view of a dense tensor, in one call of the library.
//
// Errors: ErrUnsupported when the layout is not dense or the shape is dynamic.
func (t *Tensor) View() (*View, error) {
	const op = "Tensor.View"
	core, err := t.retain(op)
	if err != nil {
		return nil, err
	}
	// An object of its own: the rules of cgo let C see no object that holds Go pointers.
	record := &capi.View{StructSize: uint32(unsafe.Sizeof(capi.View{}))}
	core.mutex.Lock()
	err = call(op, func(report *capi.Error) int32 { return capi.CallTensorView(core.handle, record, report) })
	core.mutex.Unlock()
	runtime.KeepAlive(t)
	if err != nil {
		_ = core.drop(false)
		return nil, err
	}
	v := &View{record: record}
	v.readShape()
	v.core.Store(core)
	return v, nil
}

func (v *View) readShape() {
	rank := int(v.record.Rank)
	if rank == 0 {
		return
	}
	sizes := make([]int, 2*rank)
	v.shape, v.strides = sizes[:rank:rank], sizes[rank:]
	for i, size := range unsafe.Slice((*int64)(native.Pointer(v.record.Shape)), rank) {
		v.shape[i] = int(size)
	}
	if v.record.Strides != 0 {
		for i, stride := range unsafe.Slice((*int64)(native.Pointer(v.record.Strides)), rank) {
			v.strides[i] = int(stride)
		}
		return
	}
	for i, stride := rank-1, 1; i >= 0; i-- {
		v.strides[i] = stride
		stride *= v.shape[i]
	}
}

// ElementType of the elements.
func (v *View) ElementType() ElementType { return ElementType(v.record.ElementType) }

// ElementBits is the size of one element in bits.
func (v *View) ElementBits() int { return int(v.record.Bits) }

// Layout of the tensor.
func (v *View) Layout() Layout { return Layout(v.record.Layout) }

// Device whose memory holds the elements. The elements of another device than DeviceCPU cannot be read here: see
// Address.
func (v *View) Device() Device { return Device(v.record.Device) }

// Address of element (0, ..., 0) in the memory of the tensor's device, for work on that device; 0 when there are no
// elements and no memory. It is good until the view is closed.
func (v *View) Address() uintptr { return v.record.Data }

// Shape has one size a dimension; it must not be written.
func (v *View) Shape() []int { return v.shape }

// Strides has one stride a dimension, in elements; it must not be written.
func (v *View) Strides() []int { return v.strides }

// Len is the number of elements.
func (v *View) Len() int { return int(v.record.ElementCount) }

// ByteSize is the number of bytes from the lowest to the end of the highest element.
func (v *View) ByteSize() uint64 { return v.record.ByteSize }

// Contiguous reports whether the elements follow one another in row-major order, without gaps.
func (v *View) Contiguous() bool { return ViewFlag(v.record.Flags)&ViewContiguous != 0 }

// ReadOnly reports whether the memory must not be written.
func (v *View) ReadOnly() bool { return ViewFlag(v.record.Flags)&ViewReadOnly != 0 }

// Packed reports whether the elements are smaller than a byte and packed, least significant bit first.
func (v *View) Packed() bool { return ViewFlag(v.record.Flags)&ViewPacked != 0 }

// Quantized says that the elements are stored values to which the Quantization of the descriptor is still to be applied.
func (v *View) Quantized() bool { return ViewFlag(v.record.Flags)&ViewQuantized != 0 }

// Close ends the view. Closing once more does nothing.
func (v *View) Close() error {
	core := v.core.Swap(nil)
	if core == nil {
		return nil
	}
	return core.drop(false)
}

// readable fails when the elements cannot be reached from here.
func (v *View) readable(op string) error {
	if v.core.Load() == nil {
		return closedError(op, "view")
	}
	if device := v.Device(); device != DeviceCPU {
		return &Error{Op: op, Code: StatusUnsupported, Message: "the memory is that of device " + device.String(), Offset: -1}
	}
	return nil
}

// origin is the address of element (0, ..., 0). Only for views that have an element: else there need be no memory
// there, and no Go pointer may point to it.
func (v *View) origin() unsafe.Pointer { return native.Pointer(v.record.Data) }

// at is the address of a byte relative to the origin.
func (v *View) at(offset int) unsafe.Pointer { return unsafe.Add(v.origin(), offset) }

func typed[T Element](op string, v *View) error {
	if err := v.readable(op); err != nil {
		return err
	}
	if wanted := TypeOf[T](); wanted != v.ElementType() {
		return &Error{Op: op, Code: StatusInvalidType, Offset: -1, Err: ErrElementType,
			Message: "the elements are " + v.ElementType().String() + ", the type parameter stands for " + wanted.String()}
	}
	return nil
}

func (v *View) notContiguous(op string) error {
	return &Error{Op: op, Code: StatusUnsupported, Offset: -1, Err: ErrNotContiguous,
		Message: "the elements do not follow one another in row-major order (layout " + v.Layout().String() + ")"}
}

// Slice returns the elements of a contiguous view as a slice of the view's memory, in row-major order. It is good
// until the view is closed, and must not be written: see MutableSlice.
//
// Errors: ErrClosed; ErrElementType; ErrNotContiguous; ErrMisaligned when the data is not aligned to its element, in
// which case At and Values still read it, and Tensor.Copy makes it aligned.
func Slice[T Element](v *View) ([]T, error) { return slice[T]("Slice", v) }

// MutableSlice is Slice for memory that may be written.
//
// Errors: those of Slice; ErrReadOnly.
func MutableSlice[T Element](v *View) ([]T, error) {
	const op = "MutableSlice"
	if v.ReadOnly() {
		return nil, readOnlyError(op)
	}
	return slice[T](op, v)
}

func readOnlyError(op string) error {
	return &Error{Op: op, Code: StatusInvalidArgument, Message: "the memory is read-only", Offset: -1, Err: ErrReadOnly}
}

func slice[T Element](op string, v *View) ([]T, error) {
	if err := typed[T](op, v); err != nil {
		return nil, err
	}
	if v.record.ElementCount == 0 {
		return []T{}, nil
	}
	if !v.Contiguous() {
		return nil, v.notContiguous(op)
	}
	if alignment := unsafe.Alignof(*new(T)); v.record.Data%alignment != 0 {
		return nil, &Error{Op: op, Code: StatusMisaligned, Offset: -1,
			Message: "the data is not aligned to " + strconv.Itoa(int(alignment)) + " bytes"}
	}
	return unsafe.Slice((*T)(v.origin()), v.record.ElementCount), nil
}

// Bytes returns the bytes of a contiguous view of any element type as a slice of the view's memory. It is good until
// the view is closed, and must not be written. Elements that are smaller than a byte are packed as the format says;
// Bit reads those of a bool tensor.
//
// Errors: ErrClosed, ErrNotContiguous.
func (v *View) Bytes() ([]byte, error) {
	const op = "View.Bytes"
	if err := v.readable(op); err != nil {
		return nil, err
	}
	if v.record.ElementCount == 0 {
		return []byte{}, nil
	}
	if !v.Contiguous() {
		return nil, v.notContiguous(op)
	}
	return unsafe.Slice((*byte)(v.origin()), v.record.ByteSize), nil
}

// MutableBytes is Bytes for memory that may be written.
//
// Errors: those of Bytes; ErrReadOnly.
func (v *View) MutableBytes() ([]byte, error) {
	if v.ReadOnly() {
		return nil, readOnlyError("View.MutableBytes")
	}
	return v.Bytes()
}

// position is the place of an element relative to the origin, in elements.
func (v *View) position(op string, index []int) (int, error) {
	if len(index) != len(v.shape) {
		return 0, invalid(op, "the index has "+strconv.Itoa(len(index))+" numbers, the tensor "+
			strconv.Itoa(len(v.shape))+" dimensions")
	}
	position := 0
	for i, at := range index {
		if at < 0 || at >= v.shape[i] {
			return 0, &Error{Op: op, Code: StatusIndexOutOfBounds, Offset: -1, Message: "index " + strconv.Itoa(at) +
				" of dimension " + strconv.Itoa(i) + " is not below " + strconv.Itoa(v.shape[i])}
		}
		position += at * v.strides[i]
	}
	return position, nil
}

// At reads one element, of data of any layout and alignment.
//
// Errors: ErrClosed; ErrElementType; ErrIndexOutOfBounds; ErrInvalidArgument when the index has another rank.
func At[T Element](v *View, index ...int) (T, error) {
	const op = "At"
	var none T
	if err := typed[T](op, v); err != nil {
		return none, err
	}
	position, err := v.position(op, index)
	if err != nil {
		return none, err
	}
	value := elementAt[T](v.at(position * int(unsafe.Sizeof(none))))
	runtime.KeepAlive(v)
	return value, nil
}

// CodeAt reads the bits of one element of at most 64 bits, of data of any element type, layout and alignment: the
// truth value of a bool tensor, the nibble of an int4 one, and so on.
//
// Errors: ErrClosed; ErrUnsupported for wider elements; ErrIndexOutOfBounds; ErrInvalidArgument.
func (v *View) CodeAt(index ...int) (uint64, error) {
	const op = "View.CodeAt"
	if err := v.readable(op); err != nil {
		return 0, err
	}
	if v.record.Bits > 64 {
		return 0, &Error{Op: op, Code: StatusUnsupported, Message: "an element has more than 64 bits", Offset: -1}
	}
	position, err := v.position(op, index)
	if err != nil {
		return 0, err
	}
	code := v.code(position)
	runtime.KeepAlive(v)
	return code, nil
}

// code reads the bits of the element at a position, which may be negative, relative to the origin.
func (v *View) code(position int) uint64 {
	bits := int(v.record.Bits)
	first := position * bits
	code := uint64(0)
	for read := 0; read < bits; {
		bit := first + read
		b := *(*byte)(v.at(bit >> 3))
		code |= uint64(b>>(bit&7)) << read
		read += 8 - bit&7
	}
	if bits < 64 {
		code &= 1<<bits - 1
	}
	return code
}

// runs calls f for every run of the innermost dimension in row-major order: the position of its first element.
func (v *View) runs(f func(position int) bool) {
	outer := len(v.shape) - 1
	if v.record.ElementCount == 0 {
		return
	}
	if outer < 1 {
		f(0)
		return
	}
	index := make([]int, outer)
	position := 0
	for {
		if !f(position) {
			return
		}
		k := outer - 1
		for ; k >= 0; k-- {
			index[k]++
			position += v.strides[k]
			if index[k] < v.shape[k] {
				break
			}
			position -= index[k] * v.strides[k]
			index[k] = 0
		}
		if k < 0 {
			return
		}
	}
}

// inner is length and stride of the innermost dimension; a scalar has one element.
func (v *View) inner() (length, stride int) {
	if rank := len(v.shape); rank > 0 {
		return v.shape[rank-1], v.strides[rank-1]
	}
	return 1, 1
}

// Values returns the elements one after the other in row-major order, of data of any layout and alignment. The view
// must stay open while they are read.
//
// Errors: ErrClosed, ErrElementType.
func Values[T Element](v *View) (iter.Seq[T], error) {
	if err := typed[T]("Values", v); err != nil {
		return nil, err
	}
	return func(yield func(T) bool) {
		length, stride := v.inner()
		size := int(unsafe.Sizeof(*new(T)))
		v.runs(func(position int) bool {
			at := position * size
			for i := 0; i < length; i++ {
				if !yield(elementAt[T](v.at(at))) {
					return false
				}
				at += stride * size
			}
			return true
		})
		runtime.KeepAlive(v)
	}, nil
}

// AppendRowMajor appends the bytes of the elements in row-major order, without gaps, to a slice and returns the
// longer one: what Bytes returns for a contiguous view, of data of any element type, layout and alignment. Elements
// that are smaller than a byte are packed anew; unused bits of the last byte are 0.
//
// Errors: ErrClosed; ErrOutOfMemory when the elements, some of which may be the same ones in memory, are more than
// can be held.
func (v *View) AppendRowMajor(to []byte) ([]byte, error) {
	const op = "View.AppendRowMajor"
	if err := v.readable(op); err != nil {
		return to, err
	}
	if v.record.ElementCount == 0 {
		return to, nil
	}
	if v.Contiguous() {
		return append(to, unsafe.Slice((*byte)(v.origin()), v.record.ByteSize)...), nil
	}
	total, ok := v.packedSize()
	if !ok {
		return to, &Error{Op: op, Code: StatusOutOfMemory, Message: "the elements are more than memory can hold", Offset: -1}
	}
	start := len(to)
	to = append(to, make([]byte, total)...)
	if bits := int(v.record.Bits); bits%8 == 0 {
		v.gatherBytes(to[start:], bits/8)
	} else {
		v.gatherBits(to[start:], bits)
	}
	runtime.KeepAlive(v)
	return to, nil
}

// packedSize is the number of bytes that the elements take without gaps. A tensor with strides of 0 can have far more
// elements than bytes.
func (v *View) packedSize() (int, bool) {
	count, bits := v.record.ElementCount, uint64(v.record.Bits)
	if count > (1<<46)*8/bits {
		return 0, false
	}
	if bits == 6 {
		return int((count + 3) / 4 * 3), true
	}
	return int((count*bits + 7) / 8), true
}

func (v *View) gatherBytes(to []byte, size int) {
	length, stride := v.inner()
	written := 0
	v.runs(func(position int) bool {
		if stride == 1 {
			written += copy(to[written:], unsafe.Slice((*byte)(v.at(position*size)), length*size))
			return true
		}
		for i := 0; i < length; i++ {
			written += copy(to[written:], unsafe.Slice((*byte)(v.at((position+i*stride)*size)), size))
		}
		return true
	})
}

func (v *View) gatherBits(to []byte, bits int) {
	length, stride := v.inner()
	bit := 0
	v.runs(func(position int) bool {
		for i := 0; i < length; i++ {
			code := v.code(position + i*stride)
			to[bit>>3] |= byte(code << (bit & 7))
			if spill := bit&7 + bits - 8; spill > 0 {
				to[bit>>3+1] |= byte(code >> (bits - spill))
			}
			bit += bits
		}
		return true
	})
}

// Borrow runs f on the elements of a contiguous tensor, without copying. The slice is good until f returns and not a
// moment longer; it must not be written: see BorrowMutable. f may close the tensor.
//
// Errors: those of Slice, and what f returns.
func Borrow[T Element](t *Tensor, f func(elements []T) error) error {
	return withView(t, func(v *View) error {
		elements, err := slice[T]("Borrow", v)
		if err != nil {
			return err
		}
		return f(elements)
	})
}

// BorrowMutable is Borrow for memory that may be written.
//
// Errors: those of Borrow; ErrReadOnly.
func BorrowMutable[T Element](t *Tensor, f func(elements []T) error) error {
	return withView(t, func(v *View) error {
		if v.ReadOnly() {
			return readOnlyError("BorrowMutable")
		}
		elements, err := slice[T]("BorrowMutable", v)
		if err != nil {
			return err
		}
		return f(elements)
	})
}

// BorrowBytes runs f on the bytes of a contiguous tensor of any element type. The slice is good until f returns, and
// must not be written.
//
// Errors: those of View.Bytes, and what f returns.
func BorrowBytes(t *Tensor, f func(bytes []byte) error) error {
	return withView(t, func(v *View) error {
		bytes, err := v.Bytes()
		if err != nil {
			return err
		}
		return f(bytes)
	})
}

// withView closes the view also when f panics.
func withView(t *Tensor, f func(v *View) error) (err error) {
	v, err := t.View()
	if err != nil {
		return err
	}
	defer func() {
		if closed := v.Close(); err == nil {
			err = closed
		}
	}()
	return f(v)
}

// Float64s returns the elements in row-major order, converted to float64: integers, floats, and bool as 0 and 1.
//
// Errors: ErrClosed; ErrUnsupported for the types of tier 2.
func (v *View) Float64s() (iter.Seq[float64], error) {
	const op = "View.Float64s"
	switch v.ElementType() {
	case TypeFloat16:
		return converted(v, func(x Float16) float64 { return float64(x.Float32()) })
	case TypeBFloat16:
		return converted(v, func(x BFloat16) float64 { return float64(x.Float32()) })
	case TypeFloat32:
		return converted(v, func(x float32) float64 { return float64(x) })
	case TypeFloat64:
		return converted(v, func(x float64) float64 { return x })
	case TypeInt8:
		return converted(v, func(x int8) float64 { return float64(x) })
	case TypeUint8:
		return converted(v, func(x uint8) float64 { return float64(x) })
	case TypeInt16:
		return converted(v, func(x int16) float64 { return float64(x) })
	case TypeUint16:
		return converted(v, func(x uint16) float64 { return float64(x) })
	case TypeInt32:
		return converted(v, func(x int32) float64 { return float64(x) })
	case TypeUint32:
		return converted(v, func(x uint32) float64 { return float64(x) })
	case TypeInt64:
		return converted(v, func(x int64) float64 { return float64(x) })
	case TypeUint64:
		return converted(v, func(x uint64) float64 { return float64(x) })
	case TypeBool:
		if err := v.readable(op); err != nil {
			return nil, err
		}
		return v.truthValues, nil
	}
	return nil, &Error{Op: op, Code: StatusUnsupported, Offset: -1,
		Message: "elements of type " + v.ElementType().String() + " are not converted"}
}

func converted[T Element](v *View, convert func(T) float64) (iter.Seq[float64], error) {
	values, err := Values[T](v)
	if err != nil {
		return nil, err
	}
	return func(yield func(float64) bool) {
		values(func(value T) bool { return yield(convert(value)) })
	}, nil
}

func (v *View) truthValues(yield func(float64) bool) {
	length, stride := v.inner()
	v.runs(func(position int) bool {
		for i := 0; i < length; i++ {
			if !yield(float64(v.code(position + i*stride))) {
				return false
			}
		}
		return true
	})
	runtime.KeepAlive(v)
}
