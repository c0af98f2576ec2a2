package hurray

import (
	"runtime"
	"strconv"
	"unsafe"

	"hurray.dev/go/hurray/internal/capi"
)

// ElementAddress says where an element of a tensor is.
type ElementAddress struct {
	// Present is false for an element of a sparse tensor that is not stored, and therefore 0: then the others say
	// nothing.
	Present bool
	// Buffer is the number of the buffer.
	Buffer int
	// ByteOffset is the byte of the buffer in which the element starts; BitOffset the bit of that byte, counted from the
	// lowest, 0 for types of whole bytes.
	ByteOffset uint64
	BitOffset  int
	// Bits of the element.
	Bits int
}

// ElementBits are the bits of an element as an unsigned number of up to 128 bits.
type ElementBits struct {
	// Width is how many bits the element has.
	Width int
	// Low are bits 0 to 63, High bits 64 to 127.
	Low, High uint64
}

// position makes an index what the library takes.
func position(op string, index []int) ([]uint64, error) {
	numbers := make([]uint64, len(index))
	for i, at := range index {
		if at < 0 {
			return nil, &Error{Op: op, Code: StatusIndexOutOfBounds, Offset: -1,
				Message: "index " + strconv.Itoa(at) + " of dimension " + strconv.Itoa(i) + " is negative"}
		}
		numbers[i] = uint64(at)
	}
	return numbers, nil
}

// element runs a call of the library on an element of the tensor.
func (t *Tensor) element(op string, index []int,
	f func(handle *capi.Tensor, index *uint64, rank uint32, report *capi.Error) int32) error {
	numbers, err := position(op, index)
	if err != nil {
		return err
	}
	return t.use(op, func(handle *capi.Tensor, report *capi.Error) int32 {
		return f(handle, unsafe.SliceData(numbers), uint32(len(numbers)), report)
	})
}

// ElementAddress tells where an element is, of a tensor of any layout: one number a dimension; of a block-paged tensor
// three, or four: sequence, token in it, head, element. Of dense tensors no memory is read, so that it may be anywhere.
// Since version 4 of the C ABI. (format: element address computation)
//
// Errors: ErrInvalidArgument for another number of numbers; ErrIndexOutOfBounds; ErrUnsupported for a composite head, a
// private layout, an opaque descriptor, memory that the CPU cannot read; ErrInvalidLayout for a dynamic dimension, and
// index arrays that lead to nowhere; ErrInvalidSyncMode where memory is read.
func (t *Tensor) ElementAddress(index ...int) (ElementAddress, error) {
	out := &capi.ElementAddress{StructSize: uint32(unsafe.Sizeof(capi.ElementAddress{}))}
	err := t.element("Tensor.ElementAddress", index,
		func(handle *capi.Tensor, index *uint64, rank uint32, report *capi.Error) int32 {
			return capi.CallTensorElementAddress(handle, index, rank, out, report)
		})
	if err != nil {
		return ElementAddress{}, err
	}
	return ElementAddress{out.Present != 0, int(out.Buffer), out.ByteOffset, int(out.BitOffset), int(out.Bits)}, nil
}

// Float64At reads an element, of any layout and type, as a number, rounded to nearest where float64 cannot hold it. Of a
// quantized tensor that is the number that is stored: see DequantizedAt. Each costs a call of the library: for many
// elements there are views, Transcode and Dequantize. Since version 4 of the C ABI.
//
// Errors: those of ElementAddress; ErrUnsupported for complex types, and private types without defined numbers;
// ErrInvalidType for a pattern that is no element; ErrInvalidSyncMode.
func (t *Tensor) Float64At(index ...int) (float64, error) {
	out := new(float64)
	err := t.element("Tensor.Float64At", index,
		func(handle *capi.Tensor, index *uint64, rank uint32, report *capi.Error) int32 {
			return capi.CallTensorElementFloat64(handle, index, rank, out, report)
		})
	return *out, err
}

// Complex128At reads an element as a complex number; of real types with the imaginary part 0. Since version 4 of the
// C ABI.
//
// Errors: those of Float64At.
func (t *Tensor) Complex128At(index ...int) (complex128, error) {
	out := new([2]float64)
	err := t.element("Tensor.Complex128At", index,
		func(handle *capi.Tensor, index *uint64, rank uint32, report *capi.Error) int32 {
			return capi.CallTensorElementComplex128(handle, index, rank, &out[0], &out[1], report)
		})
	return complex(out[0], out[1]), err
}

// BitsAt reads the bits of an element as they are stored; all 0 for one of a sparse tensor that is not. Since version 4
// of the C ABI.
//
// Errors: those of ElementAddress; ErrUnsupported for elements of more than 128 bits; ErrInvalidSyncMode.
func (t *Tensor) BitsAt(index ...int) (ElementBits, error) {
	out := &capi.ElementBits{StructSize: uint32(unsafe.Sizeof(capi.ElementBits{}))}
	err := t.element("Tensor.BitsAt", index,
		func(handle *capi.Tensor, index *uint64, rank uint32, report *capi.Error) int32 {
			return capi.CallTensorElementBits(handle, index, rank, out, report)
		})
	return readBits(out, err)
}

func readBits(out *capi.ElementBits, err error) (ElementBits, error) {
	if err != nil {
		return ElementBits{}, err
	}
	return ElementBits{int(out.Bits), out.Low, out.High}, nil
}

// DequantizedAt reads the number that a quantized element stands for, worked out in float32 as the format says. Since
// version 4 of the C ABI. (format: quantization)
//
// Errors: those of ElementAddress; ErrInvalidArgument when the tensor is not quantized; those of Dequantize.
func (t *Tensor) DequantizedAt(index ...int) (float64, error) {
	out := new(float64)
	err := t.element("Tensor.DequantizedAt", index,
		func(handle *capi.Tensor, index *uint64, rank uint32, report *capi.Error) int32 {
			return capi.CallTensorElementDequantized(handle, index, rank, out, report)
		})
	return *out, err
}

// element runs a call of the library on an element of the composite.
func (c *Composite) element(op string, index []int,
	f func(handle *capi.Composite, index *uint64, rank uint32, report *capi.Error) int32) error {
	numbers, err := position(op, index)
	if err != nil {
		return err
	}
	err = c.use(op, func(handle *capi.Composite) error {
		return call(op, func(report *capi.Error) int32 {
			return f(handle, unsafe.SliceData(numbers), uint32(len(numbers)), report)
		})
	})
	runtime.KeepAlive(c)
	return err
}

// MemberAt finds the member of a partition that an element lies in, without touching any data. Since version 4 of the
// C ABI. (format: composite, partition)
//
// Errors: ErrInvalidArgument when there is not one number a dimension; ErrIndexOutOfBounds; ErrUnsupported when the
// composite is no partition.
func (c *Composite) MemberAt(index ...int) (int, error) {
	out := new(uint32)
	err := c.element("Composite.MemberAt", index,
		func(handle *capi.Composite, index *uint64, rank uint32, report *capi.Error) int32 {
			return capi.CallCompositeMemberAt(handle, index, rank, out, report)
		})
	return int(*out), err
}

// Float64At reads an element of a partition or an overlay as a number: that of the member in which it lies, dequantized
// where that is quantized; of overlays the last correction that has it, or the sum of all. Since version 4 of the C ABI.
//
// Errors: ErrInvalidArgument when there is not one number a dimension; ErrIndexOutOfBounds; ErrUnsupported for a group, a
// private rule, a complex type, sums that are not defined, memory that the CPU cannot read; ErrInvalidSyncMode; those of
// reading members that are sparse or quantized.
func (c *Composite) Float64At(index ...int) (float64, error) {
	out := new(float64)
	err := c.element("Composite.Float64At", index,
		func(handle *capi.Composite, index *uint64, rank uint32, report *capi.Error) int32 {
			return capi.CallCompositeElementFloat64(handle, index, rank, out, report)
		})
	return *out, err
}

// Complex128At is Float64At for a complex number; of real types the imaginary part is 0. Since version 4 of the C ABI.
//
// Errors: those of Float64At.
func (c *Composite) Complex128At(index ...int) (complex128, error) {
	out := new([2]float64)
	err := c.element("Composite.Complex128At", index,
		func(handle *capi.Composite, index *uint64, rank uint32, report *capi.Error) int32 {
			return capi.CallCompositeElementComplex128(handle, index, rank, &out[0], &out[1], report)
		})
	return complex(out[0], out[1]), err
}

// BitsAt is Float64At for the bits of the head's type. Since version 4 of the C ABI.
//
// Errors: those of Float64At; ErrUnsupported for elements of more than 128 bits.
func (c *Composite) BitsAt(index ...int) (ElementBits, error) {
	out := &capi.ElementBits{StructSize: uint32(unsafe.Sizeof(capi.ElementBits{}))}
	err := c.element("Composite.BitsAt", index,
		func(handle *capi.Composite, index *uint64, rank uint32, report *capi.Error) int32 {
			return capi.CallCompositeElementBits(handle, index, rank, out, report)
		})
	return readBits(out, err)
}
