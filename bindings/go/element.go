package hurray

import (
	"math"
	"reflect"
	"unsafe"
)

// Float16 holds the bits of an IEEE binary16 number.
type Float16 uint16

// Float32 converts the number; every binary16 number, NaN payloads included, has its like in float32.
func (f Float16) Float32() float32 {
	sign := uint32(f&0x8000) << 16
	exponent := uint32(f>>10) & 0x1f
	fraction := uint32(f & 0x3ff)
	switch {
	case exponent == 0x1f:
		return math.Float32frombits(sign | 0xff<<23 | fraction<<13)
	case exponent == 0:
		// Zero or subnormal: fraction times 2^-24, exact in float32.
		value := float32(fraction) * 0x1p-24
		return math.Float32frombits(math.Float32bits(value) | sign)
	}
	return math.Float32frombits(sign | (exponent+127-15)<<23 | fraction<<13)
}

// BFloat16 holds the bits of a bfloat16 number.
type BFloat16 uint16

// Float32 converts the number; bfloat16 is the upper half of a float32.
func (f BFloat16) Float32() float32 { return math.Float32frombits(uint32(f) << 16) }

// Element is satisfied by the Go types that elements of tensors are viewed as: each stands for one element type, and
// Float16 and BFloat16 for those that Go has no number for. Types that are smaller than a byte, and float8 and the
// other types of tier 2, have no such type: View.Bytes gives their bytes, and Bit the bits of a bool tensor.
type Element interface {
	~int8 | ~uint8 | ~int16 | ~uint16 | ~int32 | ~uint32 | ~int64 | ~uint64 | ~float32 | ~float64 | ~complex64 | ~complex128
}

var (
	float16Type  = reflect.TypeFor[Float16]()
	bfloat16Type = reflect.TypeFor[BFloat16]()
)

// TypeOf is the element type that T stands for.
func TypeOf[T Element]() ElementType {
	// The common types without reflection: this stands in every typed view.
	switch any(*new(T)).(type) {
	case float32:
		return TypeFloat32
	case float64:
		return TypeFloat64
	case Float16:
		return TypeFloat16
	case BFloat16:
		return TypeBFloat16
	}
	t := reflect.TypeFor[T]()
	switch t {
	case float16Type:
		return TypeFloat16
	case bfloat16Type:
		return TypeBFloat16
	}
	switch t.Kind() {
	case reflect.Int8:
		return TypeInt8
	case reflect.Uint8:
		return TypeUint8
	case reflect.Int16:
		return TypeInt16
	case reflect.Uint16:
		return TypeUint16
	case reflect.Int32:
		return TypeInt32
	case reflect.Uint32:
		return TypeUint32
	case reflect.Int64:
		return TypeInt64
	case reflect.Uint64:
		return TypeUint64
	case reflect.Float32:
		return TypeFloat32
	case reflect.Float64:
		return TypeFloat64
	case reflect.Complex64:
		return TypeComplex64
	default:
		return TypeComplex128
	}
}

// Bit reads element i of packed bool data: eight elements a byte, the least significant bit first. It panics when the
// data has no such element, as an index expression does.
func Bit(packed []byte, i int) bool { return packed[i>>3]>>(i&7)&1 != 0 }

// PackBits packs truth values as the data of a bool tensor has them. Unused bits of the last byte are 0.
func PackBits(values []bool) []byte {
	packed := make([]byte, (len(values)+7)/8)
	for i, value := range values {
		if value {
			packed[i>>3] |= 1 << (i & 7)
		}
	}
	return packed
}

// elementAt copies the element at a place of any alignment.
func elementAt[T Element](at unsafe.Pointer) (value T) {
	size := unsafe.Sizeof(value)
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&value)), size), unsafe.Slice((*byte)(at), size))
	return value
}
