package hurray_test

import (
	"runtime"
	"testing"

	"hurray.dev/go/hurray"
)

// The crossings into C are the cost that matters: import, view and close take one each.
func TestCrossingsOfAnExchange(t *testing.T) {
	noLeak(t)
	tensor := closing(t, value(hurray.FromSlice(make([]float32, 16), []int{16}, nil))(t))
	for range 3 {
		list, context, err := tensor.Export()
		ok(t, err)
		before := runtime.NumCgoCall()
		imported, err := hurray.Import(list, context)
		ok(t, err)
		view, err := imported.View()
		ok(t, err)
		if elements, err := hurray.Slice[float32](view); err != nil || len(elements) != 16 {
			t.Fatal(elements, err)
		}
		ok(t, imported.Close())
		ok(t, view.Close())
		if crossings := runtime.NumCgoCall() - before; crossings > 3 {
			t.Fatalf("%d crossings", crossings)
		}
	}
}

func BenchmarkFromSliceClose(b *testing.B) {
	data := make([]float32, 1024)
	shape := []int{32, 32}
	b.ReportAllocs()
	for range b.N {
		tensor, err := hurray.FromSlice(data, shape, nil)
		if err != nil {
			b.Fatal(err)
		}
		if err := tensor.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkExportImportViewClose(b *testing.B) {
	tensor, err := hurray.FromSlice(make([]float32, 1024), []int{32, 32}, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer tensor.Close()
	b.ReportAllocs()
	for range b.N {
		list, context, err := tensor.Export()
		if err != nil {
			b.Fatal(err)
		}
		imported, err := hurray.Import(list, context)
		if err != nil {
			b.Fatal(err)
		}
		if err := hurray.Borrow(imported, func([]float32) error { return nil }); err != nil {
			b.Fatal(err)
		}
		if err := imported.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSumThroughValues(b *testing.B) {
	tensor, err := hurray.FromSlice(make([]float32, 1<<16), []int{256, 256}, &hurray.HostOptions{Strides: []int{1, 256}})
	if err != nil {
		b.Fatal(err)
	}
	defer tensor.Close()
	view, err := tensor.View()
	if err != nil {
		b.Fatal(err)
	}
	defer view.Close()
	b.SetBytes(4 << 16)
	for range b.N {
		values, err := view.Float64s()
		if err != nil {
			b.Fatal(err)
		}
		sum := 0.0
		for x := range values {
			sum += x
		}
		if sum != 0 {
			b.Fatal(sum)
		}
	}
}
