package hurray_test

import (
	"context"
	"math"
	"testing"

	"hurray.dev/go/hurray"
)

// One element by the library is what a view reads, for every trap of dense memory.
func TestElementsOfDenseTensors(t *testing.T) {
	noLeak(t)
	memory := make([]int16, 64)
	for i := range memory {
		memory[i] = int16(i*i - 900)
	}
	for name, c := range map[string]struct {
		shape   []int
		options hurray.HostOptions
	}{
		"scalar":       {nil, hurray.HostOptions{}},
		"offset":       {[]int{5}, hurray.HostOptions{ByteOffset: 6}},
		"column-major": {[]int{2, 3, 4}, hurray.HostOptions{ColumnMajor: true}},
		"negative":     {[]int{4, 3}, hurray.HostOptions{Strides: []int{-6, 2}, ByteOffset: 36}},
		"broadcast":    {[]int{5, 2}, hurray.HostOptions{Strides: []int{0, 7}}},
		"no element":   {[]int{3, 0}, hurray.HostOptions{}},
	} {
		t.Run(name, func(t *testing.T) {
			tensor := closing(t, value(hurray.FromSlice(memory, c.shape, &c.options))(t))
			view := closing(t, value(tensor.View())(t))
			buffer := closing(t, value(tensor.Buffer(0))(t))
			base := value(buffer.Info())(t).Address
			indices(c.shape, func(index []int) {
				want := value(hurray.At[int16](view, index...))(t)
				if got := value(tensor.Float64At(index...))(t); got != float64(want) {
					t.Errorf("%v is %v, want %v", index, got, want)
				}
				if got := value(tensor.Complex128At(index...))(t); got != complex(float64(want), 0) {
					t.Errorf("%v is %v, want %v", index, got, want)
				}
				if got := value(tensor.BitsAt(index...))(t); got != (hurray.ElementBits{Width: 16, Low: uint64(uint16(want))}) {
					t.Errorf("%v is %+v, want %v", index, got, want)
				}
				address := value(tensor.ElementAddress(index...))(t)
				place := int(view.Address()-base) + 2*func() (at int) {
					for k, i := range index {
						at += i * view.Strides()[k]
					}
					return at
				}()
				if address != (hurray.ElementAddress{Present: true, ByteOffset: uint64(place), Bits: 16}) {
					t.Errorf("%v is at %+v, want byte %d", index, address, place)
				}
			})
			outside := make([]int, len(c.shape))
			if len(outside) != 0 {
				outside[0] = c.shape[0]
				wants(t, errorOf(tensor.Float64At(outside...)), hurray.ErrIndexOutOfBounds)
				outside[0] = -1
				wants(t, errorOf(tensor.BitsAt(outside...)), hurray.ErrIndexOutOfBounds)
			}
			wants(t, errorOf(tensor.ElementAddress(make([]int, len(c.shape)+1)...)), hurray.ErrInvalidArgument)
			ok(t, tensor.Close())
			wants(t, errorOf(tensor.Complex128At()), hurray.ErrClosed)
		})
	}
}

func TestElementsOfPackedAndComplexTypes(t *testing.T) {
	noLeak(t)
	truth := closing(t, value(hurray.FromSlice(hurray.PackBits([]bool{false, true, false, false, false, false, false, false, false, true}),
		[]int{10}, &hurray.HostOptions{ElementType: hurray.TypeBool}))(t))
	for i := range 10 {
		want := uint64(0)
		if i == 1 || i == 9 {
			want = 1
		}
		if got := value(truth.BitsAt(i))(t); got.Low != want || got.Width != 1 {
			t.Errorf("bit %d is %+v", i, got)
		}
	}
	if at := value(truth.ElementAddress(9))(t); at.BitOffset != 1 || at.Bits != 1 {
		t.Errorf("%+v", at)
	}
	waves := closing(t, value(hurray.FromSlice([]complex128{complex(1, -2), complex(math.Inf(1), 0)}, []int{2}, nil))(t))
	if got := value(waves.Complex128At(0))(t); got != complex(1, -2) {
		t.Error(got)
	}
	bits := value(waves.BitsAt(0))(t)
	if bits != (hurray.ElementBits{Width: 128, Low: math.Float64bits(1), High: math.Float64bits(-2)}) {
		t.Errorf("%+v", bits)
	}
	wants(t, errorOf(waves.Float64At(0)), hurray.ErrUnsupported)
}

func TestElementsOfComposites(t *testing.T) {
	noLeak(t)
	whole := closing(t, partition(t, []float32{1, 2}, []float32{3}))
	merged := closing(t, value(whole.Merged(context.Background(), nil))(t))
	ok(t, hurray.Borrow(merged, func(elements []float32) error {
		for i, want := range elements {
			if got := value(whole.Float64At(i))(t); float32(got) != want || want != float32(i+1) {
				t.Errorf("%d is %v, merged %v", i, got, want)
			}
			if got := value(whole.Complex128At(i))(t); got != complex(float64(want), 0) {
				t.Errorf("%d is %v", i, got)
			}
			if got := value(whole.BitsAt(i))(t); got != (hurray.ElementBits{Width: 32, Low: uint64(math.Float32bits(want))}) {
				t.Errorf("%d is %+v", i, got)
			}
			if got := value(whole.MemberAt(i))(t); got != i/2 {
				t.Errorf("%d is in member %d", i, got)
			}
		}
		return nil
	}))
	wants(t, errorOf(whole.MemberAt(3)), hurray.ErrIndexOutOfBounds)
	wants(t, errorOf(whole.Float64At(-1)), hurray.ErrIndexOutOfBounds)
	wants(t, errorOf(whole.BitsAt()), hurray.ErrInvalidArgument)
	ok(t, whole.Close())
	wants(t, errorOf(whole.MemberAt(0)), hurray.ErrClosed)
	wants(t, errorOf(whole.Merged(context.Background(), nil)), hurray.ErrClosed)
}
