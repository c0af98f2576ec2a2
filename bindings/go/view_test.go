package hurray_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand"
	"slices"
	"testing"
	"unsafe"

	"hurray.dev/go/hurray"
)

// numbers checks every way to read elements of one Go type in one shape and placement, against plain index arithmetic.
func numbers[T hurray.Element](t *testing.T, elementType hurray.ElementType) {
	t.Run(elementType.String(), func(t *testing.T) {
		noLeak(t)
		memory := make([]T, 64)
		raw := unsafe.Slice((*byte)(unsafe.Pointer(&memory[0])), 64*int(unsafe.Sizeof(memory[0])))
		random := rand.New(rand.NewSource(int64(elementType)))
		for i := range raw {
			raw[i] = byte(random.Int())
		}
		size := int(unsafe.Sizeof(memory[0]))
		for name, c := range map[string]struct {
			shape   []int
			options hurray.HostOptions
			strides []int // expected
			first   int
		}{
			"scalar":       {nil, hurray.HostOptions{}, nil, 0},
			"vector":       {[]int{64}, hurray.HostOptions{}, []int{1}, 0},
			"row-major":    {[]int{2, 3, 4}, hurray.HostOptions{}, []int{12, 4, 1}, 0},
			"column-major": {[]int{2, 3, 4}, hurray.HostOptions{ColumnMajor: true}, []int{1, 2, 6}, 0},
			"offset":       {[]int{5}, hurray.HostOptions{ByteOffset: uint64(3 * size)}, []int{1}, 3},
			"negative":     {[]int{4, 3}, hurray.HostOptions{Strides: []int{-6, 2}, ByteOffset: uint64(18 * size)}, []int{-6, 2}, 18},
			"broadcast":    {[]int{5, 2}, hurray.HostOptions{Strides: []int{0, 7}}, []int{0, 7}, 0},
			"one element":  {[]int{1, 1, 1}, hurray.HostOptions{Strides: []int{9, 9, 9}}, []int{9, 9, 9}, 0},
			"no element":   {[]int{3, 0}, hurray.HostOptions{}, nil, 0},
			"none strided": {[]int{0, 3}, hurray.HostOptions{Strides: []int{1, -1}}, nil, 0},
			"transposed":   {[]int{8, 8}, hurray.HostOptions{Strides: []int{1, 8}}, []int{1, 8}, 0},
		} {
			t.Run(name, func(t *testing.T) {
				c.options.ElementType = elementType
				tensor := closing(t, value(hurray.FromSlice(memory, c.shape, &c.options))(t))
				view := closing(t, value(tensor.View())(t))
				if view.ElementType() != elementType || !slices.Equal(view.Shape(), c.shape) || view.ElementBits() != 8*size {
					t.Fatalf("%v %v %d", view.ElementType(), view.Shape(), view.ElementBits())
				}
				// What is expected, by index arithmetic on the memory.
				var expected []T
				indices(c.shape, func(index []int) {
					at := c.first
					for k, i := range index {
						at += i * c.strides[k]
					}
					expected = append(expected, memory[at])
					if got := value(hurray.At[T](view, index...))(t); !same(got, memory[at]) {
						t.Fatalf("element %v is %v, want %v", index, got, memory[at])
					}
				})
				if view.Len() != len(expected) {
					t.Fatalf("%d elements, want %d", view.Len(), len(expected))
				}
				var got []T
				value(hurray.Values[T](view))(t)(func(x T) bool { got = append(got, x); return true })
				if !slices.EqualFunc(got, expected, same[T]) {
					t.Fatalf("values %v, want %v", got, expected)
				}
				wanted := bytesOf(expected)
				if appended := value(view.AppendRowMajor([]byte("x")))(t); !bytes.Equal(appended, append([]byte("x"), wanted...)) {
					t.Fatalf("% x, want % x", appended[1:], wanted)
				}
				elements, err := hurray.Slice[T](view)
				if !view.Contiguous() {
					wants(t, err, hurray.ErrNotContiguous)
					wants(t, errorOf(view.Bytes()), hurray.ErrNotContiguous)
				} else if ok(t, err); !slices.EqualFunc(elements, expected, same[T]) {
					t.Fatalf("slice %v, want %v", elements, expected)
				} else if raw := value(view.Bytes())(t); !bytes.Equal(raw, wanted) {
					t.Fatalf("% x, want % x", raw, wanted)
				}
				copied, copiedBytes, err := tensor.Copy(256)
				ok(t, err)
				if copiedBytes != uint64(len(wanted)) {
					t.Errorf("copied %d bytes of %d", copiedBytes, len(wanted))
				}
				ok(t, hurray.Borrow(copied, func(elements []T) error {
					if !slices.EqualFunc(elements, expected, same[T]) {
						t.Errorf("copy %v, want %v", elements, expected)
					}
					return nil
				}))
				ok(t, copied.Close())
			})
		}
	})
}

// same compares bits: NaNs are themselves.
func same[T hurray.Element](a, b T) bool {
	return bytes.Equal(bytesOf([]T{a}), bytesOf([]T{b}))
}

func bytesOf[T hurray.Element](elements []T) []byte {
	if len(elements) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&elements[0])), len(elements)*int(unsafe.Sizeof(elements[0])))
}

// indices calls f for every index of a shape in row-major order.
func indices(shape []int, f func(index []int)) {
	index := make([]int, len(shape))
	if slices.Contains(shape, 0) {
		return
	}
	for {
		f(index)
		k := len(shape) - 1
		for ; k >= 0; k-- {
			if index[k]++; index[k] < shape[k] {
				break
			}
			index[k] = 0
		}
		if k < 0 {
			return
		}
	}
}

type myFloat float32

func TestEveryElementTypeInEveryPlacement(t *testing.T) {
	numbers[int8](t, hurray.TypeInt8)
	numbers[uint8](t, hurray.TypeUint8)
	numbers[int16](t, hurray.TypeInt16)
	numbers[uint16](t, hurray.TypeUint16)
	numbers[int32](t, hurray.TypeInt32)
	numbers[uint32](t, hurray.TypeUint32)
	numbers[int64](t, hurray.TypeInt64)
	numbers[uint64](t, hurray.TypeUint64)
	numbers[float32](t, hurray.TypeFloat32)
	numbers[float64](t, hurray.TypeFloat64)
	numbers[hurray.Float16](t, hurray.TypeFloat16)
	numbers[hurray.BFloat16](t, hurray.TypeBFloat16)
	numbers[complex64](t, hurray.TypeComplex64)
	numbers[complex128](t, hurray.TypeComplex128)
	numbers[myFloat](t, hurray.TypeFloat32)
}

func TestOtherTypeParameterIsRefused(t *testing.T) {
	noLeak(t)
	tensor := closing(t, value(hurray.FromSlice([]int32{1}, []int{1}, nil))(t))
	view := closing(t, value(tensor.View())(t))
	for name, err := range map[string]error{
		"float32":      errorOf(hurray.Slice[float32](view)),
		"uint32":       errorOf(hurray.MutableSlice[uint32](view)),
		"byte":         errorOf(hurray.At[byte](view, 0)),
		"int64":        errorOf(hurray.Values[int64](view)),
		"borrow":       hurray.Borrow(tensor, func([]float32) error { return nil }),
		"borrow again": hurray.BorrowMutable(tensor, func([]float32) error { return nil }),
	} {
		if !errors.Is(err, hurray.ErrElementType) || !errors.Is(err, hurray.ErrInvalidType) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// uint16 is not float16, although it has its bits.
	half := closing(t, value(hurray.FromSlice([]hurray.Float16{0x3c00}, nil, nil))(t))
	wants(t, hurray.Borrow(half, func([]uint16) error { return nil }), hurray.ErrElementType)
}

func TestIndicesOutOfBounds(t *testing.T) {
	noLeak(t)
	tensor := closing(t, value(hurray.FromSlice([]int8{1, 2, 3, 4}, []int{2, 2}, nil))(t))
	view := closing(t, value(tensor.View())(t))
	wants(t, errorOf(hurray.At[int8](view, 2, 0)), hurray.ErrIndexOutOfBounds)
	wants(t, errorOf(hurray.At[int8](view, 0, -1)), hurray.ErrIndexOutOfBounds)
	wants(t, errorOf(hurray.At[int8](view, 0)), hurray.ErrInvalidArgument)
	wants(t, errorOf(hurray.At[int8](view, 0, 0, 0)), hurray.ErrInvalidArgument)
	wants(t, errorOf(view.CodeAt(0, 2)), hurray.ErrIndexOutOfBounds)
	wants(t, errorOf(tensor.Buffer(1)), hurray.ErrIndexOutOfBounds)
	wants(t, errorOf(tensor.Buffer(-1)), hurray.ErrIndexOutOfBounds)
}

func TestReadOnlyIsRespected(t *testing.T) {
	noLeak(t)
	data := []float32{1, 2}
	fixed := closing(t, value(hurray.FromSlice(data, []int{2}, &hurray.HostOptions{ReadOnly: true}))(t))
	view := closing(t, value(fixed.View())(t))
	if !view.ReadOnly() {
		t.Error("not read-only")
	}
	wants(t, errorOf(hurray.MutableSlice[float32](view)), hurray.ErrReadOnly)
	wants(t, errorOf(view.MutableBytes()), hurray.ErrReadOnly)
	wants(t, hurray.BorrowMutable(fixed, func([]float32) error { return nil }), hurray.ErrReadOnly)
	share := closing(t, value(fixed.Share())(t))
	wants(t, hurray.BorrowMutable(share, func([]float32) error { return nil }), hurray.ErrReadOnly)
	ok(t, hurray.Borrow(fixed, func([]float32) error { return nil }))

	free := closing(t, value(hurray.FromSlice(data, []int{2}, nil))(t))
	ok(t, hurray.BorrowMutable(free, func(elements []float32) error { elements[0] = 9; return nil }))
	if data[0] != 9 {
		t.Error("the memory is another one")
	}
	buffer := closing(t, value(hurray.AllocateBuffer(64, 0))(t))
	ok(t, buffer.SetReadOnly())
	if info := value(buffer.Info())(t); !info.ReadOnly || info.ByteSize != 64 || info.Shares != 1 {
		t.Errorf("%+v", info)
	}
}

// Data at an odd address is handed over as it lies: typed slices are refused, everything else reads it.
func TestUnalignedMemory(t *testing.T) {
	noLeak(t)
	memory := make([]byte, 200)
	for start := 0; start < 70; start++ {
		at := memory[start : start+24]
		copy(at, bytesOf([]float64{1.5, -2, math.Inf(1)}))
		tensor := value(hurray.FromSlice(at, []int{3}, &hurray.HostOptions{ElementType: hurray.TypeFloat64}))(t)
		view := value(tensor.View())(t)
		elements, err := hurray.Slice[float64](view)
		if uintptr(unsafe.Pointer(&at[0]))%8 == 0 {
			if ok(t, err); elements[1] != -2 {
				t.Fatal(elements)
			}
		} else {
			wants(t, err, hurray.ErrMisaligned)
		}
		if got := value(hurray.At[float64](view, 1))(t); got != -2 {
			t.Fatal(got)
		}
		var got []float64
		value(view.Float64s())(t)(func(x float64) bool { got = append(got, x); return true })
		if !slices.Equal(got, []float64{1.5, -2, math.Inf(1)}) {
			t.Fatal(got)
		}
		if raw := value(view.Bytes())(t); &raw[0] != &at[0] || len(raw) != 24 {
			t.Fatal("the bytes are others")
		}
		copied, _, err := tensor.Copy(0)
		ok(t, err)
		ok(t, hurray.Borrow(copied, func(elements []float64) error {
			if elements[0] != 1.5 {
				t.Error(elements)
			}
			return nil
		}))
		ok(t, errors.Join(copied.Close(), view.Close(), tensor.Close()))
	}
}

// The types that are smaller than a byte, in layouts that tear their bytes apart, against a plain bit stream.
func TestPackedElements(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	memory := make([]byte, 96)
	random.Read(memory)
	code := func(bits, position int) uint64 {
		value := uint64(0)
		for i := range bits {
			bit := position*bits + i
			value |= uint64(memory[bit/8]>>(bit%8)&1) << i
		}
		return value
	}
	for elementType, bits := range map[hurray.ElementType]int{hurray.TypeBool: 1, hurray.TypeInt2: 2, hurray.TypeUint4: 4,
		hurray.TypeFloat6E2M3: 6, hurray.TypeFloat8E5M2: 8, hurray.TypeFloat4E2M1: 4} {
		for name, c := range map[string]struct {
			shape   []int
			strides []int
			offset  int // in elements
		}{
			"vector":    {[]int{13}, nil, 0},
			"matrix":    {[]int{3, 5}, nil, 0},
			"scalar":    {nil, nil, 0},
			"negative":  {[]int{3, 5}, []int{-8, 1}, 16},
			"backwards": {[]int{11}, []int{-1}, 16},
			"broadcast": {[]int{4, 3}, []int{0, 3}, 8},
			"empty":     {[]int{0}, nil, 0},
		} {
			t.Run(fmt.Sprint(elementType, " ", name), func(t *testing.T) {
				noLeak(t)
				options := &hurray.HostOptions{ElementType: elementType, Strides: c.strides, ByteOffset: uint64(c.offset * bits / 8)}
				data := memory
				if c.strides == nil {
					// Unused bits of the last byte are 0 in the format.
					data = bytes.Clone(memory)
				}
				tensor := closing(t, value(hurray.FromSlice(data, c.shape, options))(t))
				view := closing(t, value(tensor.View())(t))
				if view.Packed() != (bits < 8) || view.ElementBits() != bits {
					t.Fatalf("packed %v, %d bits", view.Packed(), view.ElementBits())
				}
				strides := c.strides
				if strides == nil && len(c.shape) > 0 {
					strides = []int{5, 1}[2-len(c.shape):]
				}
				var want []uint64
				indices(c.shape, func(index []int) {
					position := c.offset
					for k, i := range index {
						position += i * strides[k]
					}
					want = append(want, code(bits, position))
					if got := value(view.CodeAt(index...))(t); got != code(bits, position) {
						t.Fatalf("element %v has code %x, want %x", index, got, code(bits, position))
					}
				})
				gathered := value(view.AppendRowMajor(nil))(t)
				for i, w := range want {
					got := uint64(0)
					for b := range bits {
						got |= uint64(gathered[(i*bits+b)/8]>>((i*bits+b)%8)&1) << b
					}
					if got != w {
						t.Fatalf("gathered element %d is %x, want %x", i, got, w)
					}
				}
				if elementType != hurray.TypeBool {
					return
				}
				n := 0
				value(view.Float64s())(t)(func(x float64) bool {
					if x != float64(want[n]) {
						t.Fatalf("truth value %d is %v", n, x)
					}
					n++
					return true
				})
				if n != len(want) {
					t.Fatalf("%d truth values, want %d", n, len(want))
				}
			})
		}
	}
}

func TestBits(t *testing.T) {
	values := []bool{true, false, false, true, true, false, true, false, false, true}
	packed := hurray.PackBits(values)
	if !bytes.Equal(packed, []byte{0x59, 0x02}) {
		t.Fatalf("% x", packed)
	}
	tensor := closing(t, value(hurray.FromSlice(packed, []int{10}, &hurray.HostOptions{ElementType: hurray.TypeBool}))(t))
	ok(t, hurray.BorrowBytes(tensor, func(data []byte) error {
		for i, want := range values {
			if hurray.Bit(data, i) != want {
				t.Errorf("bit %d is not %v", i, want)
			}
		}
		return nil
	}))
	if len(hurray.PackBits(nil)) != 0 {
		t.Error("bytes of no values")
	}
}

// Against the format's definition, value for value, with float64 arithmetic that shares nothing with the conversion.
func TestHalfNumbers(t *testing.T) {
	for bits := range 1 << 16 {
		sign, exponent, fraction := 1.0, bits>>10&0x1f, float64(bits&0x3ff)
		if bits&0x8000 != 0 {
			sign = -1
		}
		var want float64
		switch {
		case exponent == 31 && fraction == 0:
			want = math.Inf(int(sign))
		case exponent == 31:
			want = math.NaN()
		case exponent == 0:
			want = sign * fraction / 1024 * math.Pow(2, -14)
		default:
			want = sign * (1 + fraction/1024) * math.Pow(2, float64(exponent-15))
		}
		got := hurray.Float16(bits).Float32()
		if math.IsNaN(want) != (got != got) || !math.IsNaN(want) && float64(got) != want ||
			math.Signbit(float64(got)) != (sign < 0) {
			t.Fatalf("%04x is %v, want %v", bits, got, want)
		}
		if got := hurray.BFloat16(bits).Float32(); math.Float32bits(got) != uint32(bits)<<16 {
			t.Fatalf("bfloat16 %04x is %v", bits, got)
		}
	}
}

func TestTypesWithoutANumberAreNotConverted(t *testing.T) {
	noLeak(t)
	for _, elementType := range []hurray.ElementType{hurray.TypeFloat8E4M3, hurray.TypeInt4, hurray.TypeComplex64, hurray.TypeFloat128} {
		tensor := closing(t, value(hurray.FromSlice(make([]uint64, 4), []int{1}, &hurray.HostOptions{ElementType: elementType}))(t))
		view := closing(t, value(tensor.View())(t))
		wants(t, errorOf(view.Float64s()), hurray.ErrUnsupported)
		if elementType == hurray.TypeFloat128 {
			wants(t, errorOf(view.CodeAt(0)), hurray.ErrUnsupported)
		}
	}
}

// More elements than memory: each stands for the same byte. Nothing is allocated for them.
func TestBroadcastBeyondMemory(t *testing.T) {
	noLeak(t)
	tensor := closing(t, value(hurray.FromSlice([]byte{7}, []int{1 << 40, 1 << 20}, &hurray.HostOptions{Strides: []int{0, 0}}))(t))
	view := closing(t, value(tensor.View())(t))
	if view.Len() != 1<<60 || value(hurray.At[byte](view, 1<<39, 5))(t) != 7 {
		t.Fatal(view.Len())
	}
	wants(t, errorOf(view.AppendRowMajor(nil)), hurray.ErrOutOfMemory)
	seen := 0
	for x := range value(hurray.Values[byte](view))(t) {
		if seen++; x != 7 || seen == 1000 {
			break
		}
	}
	if seen != 1000 {
		t.Fatal(seen)
	}
}

func TestMemoryThatIsNotGos(t *testing.T) {
	noLeak(t)
	buffer := value(hurray.AllocateBuffer(64, 128))(t)
	released := 0
	ok(t, buffer.Borrow(func(memory []byte) error {
		copy(memory, bytesOf([]int32{5, 6, 7}))
		tensor := value(hurray.FromPointer(unsafe.Pointer(&memory[0]), 64, []int{3}, &hurray.HostOptions{
			ElementType: hurray.TypeInt32, Release: func() { released++ }}))(t)
		ok(t, hurray.Borrow(tensor, func(elements []int32) error {
			if !slices.Equal(elements, []int32{5, 6, 7}) {
				t.Error(elements)
			}
			return nil
		}))
		return tensor.Close()
	}))
	if released != 1 {
		t.Fatal(released)
	}
	ok(t, buffer.Close())
}
