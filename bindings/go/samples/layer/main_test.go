package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"hurray.dev/go/hurray"
)

// A model is what a file of it holds, in plain Go.
type model struct {
	weight      [][]float32
	bias, input []float32
}

func random(rows, columns int) model {
	state := uint32(1)
	next := func() float32 {
		state = state*1664525 + 1013904223
		return float32(int32(state)) / (1 << 31)
	}
	m := model{}
	for range rows {
		row := make([]float32, columns)
		for j := range row {
			row[j] = next()
		}
		m.weight = append(m.weight, row)
		m.bias = append(m.bias, next())
	}
	for range columns {
		m.input = append(m.input, next())
	}
	return m
}

// write makes a file of the model, its weight as it is or quantized.
func (m model) write(t *testing.T, format hurray.FileFormat, scheme *hurray.QuantizeSpec) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a model")
	writer, err := hurray.CreateFile(path, format)
	check(t, err)
	defer writer.Close()
	var flat []float32
	for _, row := range m.weight {
		flat = append(flat, row...)
	}
	for name, c := range map[string]struct {
		data  []float32
		shape []int
	}{"weight": {flat, []int{len(m.weight), len(m.input)}}, "bias": {m.bias, []int{len(m.bias)}}, "input": {m.input, []int{len(m.input)}}} {
		tensor, err := hurray.FromSlice(c.data, c.shape, nil)
		check(t, err)
		if name == "weight" && scheme != nil {
			plain := tensor
			tensor, err = plain.Quantize(context.Background(), *scheme, nil)
			check(t, errors.Join(err, plain.Close()))
		}
		check(t, errors.Join(writer.Add(name, tensor), tensor.Close()))
	}
	check(t, writer.Finish())
	return path
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// expected is the layer in another order of operations, in float64.
func (m model) expected(i int) float64 {
	products := make([]float64, len(m.input))
	for j := range products {
		products[j] = float64(m.weight[i][j]) * float64(m.input[j])
	}
	for len(products) > 1 {
		half := (len(products) + 1) / 2
		for j := half; j < len(products); j++ {
			products[j-half] += products[j]
		}
		products = products[:half]
	}
	z := products[0] + float64(m.bias[i])
	return z * 0.5 * math.Erfc(-z/math.Sqrt2)
}

func TestTheLayerOfAModelFile(t *testing.T) {
	m := random(5, 64)
	blocks := &hurray.QuantizeSpec{Scheme: hurray.SchemePerBlockAffine, StorageType: hurray.TypeInt8, ScaleType: hurray.TypeFloat16,
		Symmetric: true, Axis: 1, BlockSize: 32}
	for name, c := range map[string]struct {
		format hurray.FileFormat
		scheme *hurray.QuantizeSpec
		// off is what quantizing may change: 64 products of at most 1, each off by half of a step of 1/127.
		off float64
	}{
		"safetensors":    {hurray.FormatSafetensors, nil, 1e-6},
		"GGUF":           {hurray.FormatGguf, nil, 1e-6},
		"hrry":           {hurray.FormatHrry, nil, 1e-6},
		"quantized GGUF": {hurray.FormatGguf, blocks, 64.0 / 254},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			check(t, run(context.Background(), m.write(t, c.format, c.scheme), &out))
			lines := strings.Fields(out.String())
			if len(lines) != len(m.weight) {
				t.Fatalf("%q", out.String())
			}
			for i, line := range lines {
				got, err := strconv.ParseFloat(line, 64)
				check(t, err)
				if want := m.expected(i); math.Abs(got-want) > c.off*1.2 {
					t.Errorf("y[%d] is %v, want %v", i, got, want)
				}
			}
			handles, _, err := hurray.LiveHandles(hurray.HandleAny)
			if check(t, err); handles > 1 {
				t.Errorf("%d handles are live", handles)
			}
		})
	}
}

func TestWhatIsNoLayerIsRefused(t *testing.T) {
	m := random(5, 64)
	m.input = m.input[:63]
	for i := range m.weight {
		m.weight[i] = m.weight[i][:63]
	}
	m.bias = m.bias[:4]
	err := run(context.Background(), m.write(t, hurray.FormatSafetensors, nil), &strings.Builder{})
	if err == nil || fmt.Sprint(err) != "weight is [5 63], bias [4], input [63]" {
		t.Error(err)
	}
	if err := run(context.Background(), filepath.Join(t.TempDir(), "none"), &strings.Builder{}); !errors.Is(err, hurray.ErrNotFound) {
		t.Error(err)
	}
}
