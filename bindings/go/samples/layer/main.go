// Command layer runs one layer of a model on an input, y = gelu(W x + b): W, b and x are the tensors "weight", "bias" and
// "input" of a model file of any format, in float32 or quantized. It prints y, an element a line.
//
//	go run hurray.dev/go/hurray/samples/layer MODEL
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"

	"hurray.dev/go/hurray"
)

func main() {
	// Ctrl-C ends the work, where it is long.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: layer MODEL")
		os.Exit(2)
	}
	if err := run(ctx, os.Args[1], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "layer:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, path string, out io.Writer) error {
	file, err := hurray.Open(path, nil)
	if err != nil {
		return err
	}
	defer file.Close()
	result, err := layer(ctx, file)
	for _, y := range result {
		fmt.Fprintf(out, "%.9g\n", y)
	}
	return err
}

// sample: layer
func layer(ctx context.Context, file *hurray.File) (result []float32, err error) {
	weight, rows, err := numbers(ctx, file, "weight")
	if err != nil {
		return nil, err
	}
	defer weight.Close()
	bias, b, err := numbers(ctx, file, "bias")
	if err != nil {
		return nil, err
	}
	defer bias.Close()
	input, x, err := numbers(ctx, file, "input")
	if err != nil {
		return nil, err
	}
	defer input.Close()
	if shape := weight.Shape(); len(shape) != 2 || shape[0] != len(b) || shape[1] != len(x) {
		return nil, fmt.Errorf("weight is %v, bias %v, input %v", shape, bias.Shape(), input.Shape())
	}
	for i := range b {
		sum := float64(b[i])
		for j, w := range rows[i*len(x) : (i+1)*len(x)] {
			sum += float64(w) * float64(x[j])
		}
		result = append(result, float32(sum/2*(1+math.Erf(sum/math.Sqrt2))))
	}
	return result, nil
}

// numbers are the elements of a tensor of the file: where they lie in it, or dequantized, or moved to where Go can read
// them. They are good until the view is closed.
func numbers(ctx context.Context, file *hurray.File, name string) (*hurray.View, []float32, error) {
	tensor, err := file.TensorByName(name)
	if err != nil {
		return nil, nil, err
	}
	defer tensor.Close()
	view, elements, err := borrow(tensor)
	switch {
	case errors.Is(err, hurray.ErrElementType):
		tensor, err = tensor.Dequantize(ctx, hurray.TypeFloat32, nil)
	case errors.Is(err, hurray.ErrMisaligned):
		tensor, _, err = tensor.Copy(0)
	default:
		return view, elements, err
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	defer tensor.Close()
	return borrow(tensor)
}

func borrow(tensor *hurray.Tensor) (*hurray.View, []float32, error) {
	view, err := tensor.View()
	if err != nil {
		return nil, nil, err
	}
	elements, err := hurray.Slice[float32](view)
	if err != nil {
		return nil, nil, errors.Join(err, view.Close())
	}
	return view, elements, nil
}

// end sample
