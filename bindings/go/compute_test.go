package hurray_test

import (
	"context"
	"errors"
	"math"
	"math/rand"
	"slices"
	"testing"

	"hurray.dev/go/hurray"
)

// floats makes a tensor of random numbers, and returns them in row-major order.
func floats(t testing.TB, shape ...int) (*hurray.Tensor, []float32) {
	t.Helper()
	count := 1
	for _, size := range shape {
		count *= size
	}
	random := rand.New(rand.NewSource(int64(count)))
	numbers := make([]float32, count)
	for i := range numbers {
		numbers[i] = float32(random.NormFloat64())
	}
	return closing(t, value(hurray.FromSlice(numbers, shape, nil))(t)), numbers
}

// elements reads all elements of a tensor of float32, one by one, by the library.
func elements(t testing.TB, tensor interface {
	Float64At(index ...int) (float64, error)
}, shape []int) []float32 {
	t.Helper()
	var all []float32
	indices(shape, func(index []int) { all = append(all, float32(value(tensor.Float64At(index...))(t))) })
	return all
}

func TestTranscodeKeepsElementsInEveryLayout(t *testing.T) {
	noLeak(t)
	for name, spec := range map[string]hurray.TranscodeSpec{
		"row-major":    {Layout: hurray.LayoutRowMajor},
		"column-major": {Layout: hurray.LayoutColMajor, Alignment: 4096},
		"strided":      {Layout: hurray.LayoutStrided, Strides: []int64{1, 8}},
		"tiled": {Layout: hurray.LayoutTiled, LayoutFields: hurray.TiledLayout{Levels: []hurray.TileLevel{
			{TileShape: []uint64{4, 2}, OuterLayout: hurray.LayoutRowMajor, InnerLayout: hurray.LayoutColMajor}}}},
		"Morton":  {Layout: hurray.LayoutMorton},
		"Hilbert": {Layout: hurray.LayoutHilbert},
		"COO":     {Layout: hurray.LayoutCOO},
		"CSR":     {Layout: hurray.LayoutCSR},
		"CSC":     {Layout: hurray.LayoutCSC},
		"CSF":     {Layout: hurray.LayoutCSF, LayoutFields: hurray.CSFLayout{ModeOrder: []uint64{2, 0, 1}}},
	} {
		t.Run(name, func(t *testing.T) {
			noLeak(t)
			shape := []int{8, 8}
			if spec.Layout == hurray.LayoutCSF {
				shape = []int{4, 3, 5}
			}
			tensor, numbers := floats(t, shape...)
			numbers[3], numbers[17] = 0, 0
			other := closing(t, value(tensor.Transcode(context.Background(), spec, nil))(t))
			fields := value(other.Fields())(t)
			if fields.Layout != spec.Layout || spec.Alignment != 0 && fields.Buffers[0].Alignment != spec.Alignment {
				t.Fatalf("%+v", fields)
			}
			if got := elements(t, other, shape); !slices.Equal(got, numbers) {
				t.Fatalf("%v, want %v", got, numbers)
			}
			back := closing(t, value(other.Transcode(context.Background(), hurray.TranscodeSpec{Layout: hurray.LayoutRowMajor}, nil))(t))
			ok(t, hurray.Borrow(back, func(got []float32) error {
				if !slices.Equal(got, numbers) {
					t.Errorf("%v, want %v", got, numbers)
				}
				return nil
			}))
		})
	}
}

func TestTranscodeRefusesWhatItCannotMake(t *testing.T) {
	noLeak(t)
	tensor, _ := floats(t, 2, 3)
	for name, c := range map[string]struct {
		spec hurray.TranscodeSpec
		want error
	}{
		"fields of another layout": {hurray.TranscodeSpec{Layout: hurray.LayoutCSR, LayoutFields: hurray.COOLayout{}}, hurray.ErrInvalidArgument},
		"alignment":                {hurray.TranscodeSpec{Layout: hurray.LayoutRowMajor, Alignment: 65}, hurray.ErrInvalidArgument},
		"Hilbert of no cube":       {hurray.TranscodeSpec{Layout: hurray.LayoutHilbert}, hurray.ErrInvalidArgument},
		"a sequence of none":       {hurray.TranscodeSpec{Layout: hurray.LayoutRowMajor, Sequence: new(uint32)}, hurray.ErrInvalidArgument},
		"counts of none":           {hurray.TranscodeSpec{Layout: hurray.LayoutRowMajor, TokenCounts: []uint64{1}}, hurray.ErrInvalidArgument},
		"a composite":              {hurray.TranscodeSpec{Layout: hurray.LayoutComposite}, hurray.ErrUnsupported},
		"strides that are missing": {hurray.TranscodeSpec{Layout: hurray.LayoutStrided}, hurray.ErrInvalidArgument},
		"strides of another rank":  {hurray.TranscodeSpec{Layout: hurray.LayoutStrided, Strides: []int64{1}}, hurray.ErrInvalidArgument},
	} {
		t.Run(name, func(t *testing.T) {
			wants(t, errorOf(tensor.Transcode(context.Background(), c.spec, nil)), c.want)
		})
	}
	ok(t, tensor.Close())
	wants(t, errorOf(tensor.Transcode(context.Background(), hurray.TranscodeSpec{Layout: hurray.LayoutStrided, Strides: []int64{1, 2}}, nil)), hurray.ErrClosed)
	wants(t, errorOf(tensor.Transcode(context.Background(), hurray.TranscodeSpec{Layout: hurray.LayoutCOO}, nil)), hurray.ErrClosed)
}

// A block of the affine schemes, worked out anew: what is read must be what the nearest step gives.
func TestQuantizeAndDequantizeAgainstOwnArithmetic(t *testing.T) {
	for name, c := range map[string]struct {
		spec  hurray.QuantizeSpec
		steps float64
		block int
	}{
		"per tensor":  {hurray.QuantizeSpec{Scheme: hurray.SchemePerTensorAffine, StorageType: hurray.TypeInt8, Symmetric: true}, 127, 256},
		"per channel": {hurray.QuantizeSpec{Scheme: hurray.SchemePerChannelAffine, StorageType: hurray.TypeInt8, Symmetric: true}, 127, 64},
		"per block": {hurray.QuantizeSpec{Scheme: hurray.SchemePerBlockAffine, StorageType: hurray.TypeInt4,
			ScaleType: hurray.TypeFloat32, Symmetric: true, Axis: 1, BlockSize: 32}, 7, 32},
	} {
		t.Run(name, func(t *testing.T) {
			noLeak(t)
			shape := []int{4, 64}
			tensor, numbers := floats(t, shape...)
			quantized := closing(t, value(tensor.Quantize(context.Background(), c.spec, nil))(t))
			fields := value(quantized.Fields())(t)
			if fields.ElementType != c.spec.StorageType || fields.Quantization == nil {
				t.Fatalf("%+v", fields)
			}
			plain := closing(t, value(quantized.Dequantize(context.Background(), hurray.TypeFloat32, nil))(t))
			ok(t, hurray.Borrow(plain, func(got []float32) error {
				for start := 0; start < len(numbers); start += c.block {
					greatest := 0.0
					for _, x := range numbers[start : start+c.block] {
						greatest = max(greatest, math.Abs(float64(x)))
					}
					step := greatest / c.steps
					for i := start; i < start+c.block; i++ {
						if off := math.Abs(float64(got[i] - numbers[i])); off > step*0.5001 {
							t.Fatalf("element %d is %v, was %v, a step is %v", i, got[i], numbers[i], step)
						}
						at := []int{i / 64, i % 64}
						if one := value(quantized.DequantizedAt(at...))(t); float32(one) != got[i] {
							t.Fatalf("element %d is %v, read alone %v", i, got[i], one)
						}
						code := value(quantized.BitsAt(at...))(t)
						if stored := value(quantized.Float64At(at...))(t); code.Width != int(fields.ElementBits) || code.High != 0 ||
							uint64(int64(stored))&(1<<code.Width-1) != code.Low {
							t.Fatalf("element %d is stored as %v, bits %+v", i, stored, code)
						}
					}
				}
				return nil
			}))
			wants(t, errorOf(plain.Dequantize(context.Background(), hurray.TypeFloat32, nil)), hurray.ErrInvalidArgument)
			wants(t, errorOf(plain.DequantizedAt(0, 0)), hurray.ErrInvalidArgument)
			wants(t, errorOf(quantized.Quantize(context.Background(), c.spec, nil)), hurray.ErrUnsupported)
			wants(t, errorOf(quantized.Dequantize(context.Background(), hurray.TypeInt8, nil)), hurray.ErrInvalidArgument)
		})
	}
}

func TestQuantizeRefusesElementsWithoutAPlace(t *testing.T) {
	noLeak(t)
	tensor := closing(t, value(hurray.FromSlice([]float32{1, float32(math.NaN())}, []int{2}, nil))(t))
	spec := hurray.QuantizeSpec{Scheme: hurray.SchemePerTensorAffine, StorageType: hurray.TypeInt8}
	wants(t, errorOf(tensor.Quantize(context.Background(), spec, nil)), hurray.ErrInvalidArgument)
	wants(t, errorOf(tensor.Quantize(context.Background(), hurray.QuantizeSpec{}, nil)), hurray.ErrInvalidArgument)
}

func TestStatisticsAgainstOwnArithmetic(t *testing.T) {
	noLeak(t)
	tensor, numbers := floats(t, 3, 5, 7)
	numbers[4], numbers[50] = 0, 0
	const all = hurray.StatisticsFlagNnz | hurray.StatisticsFlagSparsity | hurray.StatisticsFlagRange | hurray.StatisticsFlagMoments |
		hurray.StatisticsFlagNanInf
	got := value(tensor.Statistics(context.Background(), all, nil))(t)
	sum, squares, least, greatest := 0.0, 0.0, math.Inf(1), math.Inf(-1)
	for _, x := range numbers {
		sum += float64(x)
		least, greatest = min(least, float64(x)), max(greatest, float64(x))
	}
	mean := sum / float64(len(numbers))
	for _, x := range numbers {
		squares += (float64(x) - mean) * (float64(x) - mean)
	}
	deviation := math.Sqrt(squares / float64(len(numbers)))
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-12*(1+math.Abs(b)) }
	if got.Computed != all || got.NNZ != 103 || !near(got.SparsityRatio, 2.0/105) || got.Min != least || got.Max != greatest ||
		got.AbsMax != max(-least, greatest) || !near(got.Mean, mean) || !near(got.StdDev, deviation) || got.HasNaN || got.HasInf {
		t.Fatalf("%+v; min %v max %v mean %v deviation %v", got, least, greatest, mean, deviation)
	}
	// As a section of a descriptor.
	descriptor := value(hurray.NewDescriptor(hurray.DescriptorSpec{ElementType: hurray.TypeFloat32, Layout: hurray.LayoutRowMajor,
		Shape: []uint64{105}, Buffers: table(420), Statistics: &got}))(t)
	if again := value(descriptor.Fields())(t).Statistics; *again != got {
		t.Errorf("%+v, want %+v", again, got)
	}
	ok(t, descriptor.Close())
	wants(t, errorOf(tensor.Statistics(context.Background(), 1<<31, nil)), hurray.ErrInvalidArgument)
}

func TestValidateLevels(t *testing.T) {
	noLeak(t)
	ctx := context.Background()
	tensor, _ := floats(t, 4, 4)
	sparse := closing(t, value(tensor.Transcode(ctx, hurray.TranscodeSpec{Layout: hurray.LayoutCSR}, nil))(t))
	for _, level := range []hurray.ValidationLevel{hurray.ValidationLevelDescriptor, hurray.ValidationLevelBuffers, hurray.ValidationLevelData} {
		ok(t, tensor.Validate(ctx, level, nil))
		ok(t, sparse.Validate(ctx, level, nil))
	}
	wants(t, tensor.Validate(ctx, 9, nil), hurray.ErrInvalidArgument)
	// Columns in an order that the format forbids: only the data says so.
	descriptor := closing(t, value(hurray.NewDescriptor(hurray.DescriptorSpec{ElementType: hurray.TypeFloat32, Layout: hurray.LayoutCSR,
		Shape: []uint64{1, 4}, LayoutFields: hurray.CSRLayout{NNZ: 2}, Buffers: table(8, 16, 16)}))(t))
	var buffers []*hurray.Buffer
	for _, words := range [][]uint64{{0}, {3, 1}, {0, 2}} {
		buffer, _, err := hurray.BufferOf(words, nil)
		ok(t, err)
		copied := value(hurray.AllocateBuffer(uint64(8*len(words)), 0))(t)
		ok(t, copied.Borrow(func(to []byte) error {
			_, err := buffer.ReadAt(to, 0)
			return err
		}))
		ok(t, buffer.Close())
		buffers = append(buffers, copied)
	}
	wrong := closing(t, value(hurray.NewTensor(descriptor, value(hurray.NewBufferList(buffers...))(t)))(t))
	ok(t, wrong.Validate(ctx, hurray.ValidationLevelBuffers, nil))
	wants(t, wrong.Validate(ctx, hurray.ValidationLevelData, nil), hurray.ErrInvalidLayout)
}

// Every long piece of work ends with its context, says how far it is, and keeps to its limit.
func TestLongWorkObeysItsContextAndOptions(t *testing.T) {
	noLeak(t)
	tensor, _ := floats(t, 2048, 1024)
	spec := hurray.QuantizeSpec{Scheme: hurray.SchemePerTensorAffine, StorageType: hurray.TypeInt8}
	quantized := closing(t, value(tensor.Quantize(context.Background(), spec, nil))(t))
	whole := closing(t, partition(t, make([]float32, 1<<20), make([]float32, 1<<20)))
	for name, work := range map[string]func(ctx context.Context, options *hurray.WorkOptions) error{
		"transcode": func(ctx context.Context, options *hurray.WorkOptions) error {
			return finished(tensor.Transcode(ctx, hurray.TranscodeSpec{Layout: hurray.LayoutColMajor}, options))
		},
		"quantize": func(ctx context.Context, options *hurray.WorkOptions) error {
			return finished(tensor.Quantize(ctx, spec, options))
		},
		"dequantize": func(ctx context.Context, o *hurray.WorkOptions) error {
			return finished(quantized.Dequantize(ctx, hurray.TypeFloat32, o))
		},
		"validate": func(ctx context.Context, options *hurray.WorkOptions) error {
			return tensor.Validate(ctx, hurray.ValidationLevelData, options)
		},
		"statistics": func(ctx context.Context, options *hurray.WorkOptions) error {
			return errorOf(tensor.Statistics(ctx, hurray.StatisticsFlagRange, options))
		},
		"merged": func(ctx context.Context, options *hurray.WorkOptions) error {
			return finished(whole.Merged(ctx, options))
		},
	} {
		t.Run(name, func(t *testing.T) {
			noLeak(t)
			mine := errors.New("mine")
			ended, end := context.WithCancelCause(context.Background())
			end(mine)
			failed := wants(t, work(ended, nil), hurray.ErrCancelled)
			if failed.Err != mine || failed.Message != "mine" {
				t.Errorf("%#v", failed)
			}
			// A context that ends meanwhile, in the first report.
			meanwhile, end := context.WithCancelCause(context.Background())
			reports := 0
			failed = wants(t, work(meanwhile, &hurray.WorkOptions{Progress: func(uint64, uint64) error { reports++; end(mine); return nil }}),
				hurray.ErrCancelled)
			if failed.Err != mine || reports != 1 {
				t.Errorf("%#v after %d reports", failed, reports)
			}
			failed = wants(t, work(context.Background(), &hurray.WorkOptions{Progress: func(uint64, uint64) error { return mine }}), hurray.ErrCancelled)
			if failed.Err != mine {
				t.Errorf("%#v", failed)
			}
			// A panic ends the work, too, and goes no further.
			failed = wants(t, work(context.Background(), &hurray.WorkOptions{Progress: func(uint64, uint64) error { panic(mine) }}), hurray.ErrCancelled)
			if failed.Err != mine {
				t.Errorf("%#v", failed)
			}
			last, whole := uint64(0), uint64(0)
			ok(t, work(context.Background(), &hurray.WorkOptions{Progress: func(done, total uint64) error {
				if done < last || done > total || whole != 0 && total != whole {
					t.Errorf("%d of %d, before %d of %d", done, total, last, whole)
				}
				last, whole = done, total
				// Others may use the tensor meanwhile.
				return errorOf(tensor.Fields())
			}}))
			if last != whole || whole == 0 {
				t.Errorf("%d of %d at the end", last, whole)
			}
			live, end := context.WithCancelCause(context.Background())
			ok(t, work(live, nil))
			end(nil)
			if name != "validate" && name != "statistics" {
				wants(t, work(context.Background(), &hurray.WorkOptions{MemoryLimit: 100}), hurray.ErrLimitExceeded)
			}
		})
	}
}

// finished closes a result.
func finished[T closer](made T, err error) error {
	if err != nil {
		return err
	}
	return made.Close()
}

// The tensor may be closed in the middle of work on it: its memory is released when the work is done, once.
func TestTensorClosedDuringWorkOnIt(t *testing.T) {
	noLeak(t)
	released := 0
	tensor := value(hurray.FromSlice(make([]float32, 1<<16), []int{1 << 16}, &hurray.HostOptions{Release: func() { released++ }}))(t)
	during := -1
	ok(t, tensor.Validate(context.Background(), hurray.ValidationLevelData, &hurray.WorkOptions{Progress: func(uint64, uint64) error {
		err := tensor.Close()
		during = released
		return err
	}}))
	if during != 0 || released != 1 {
		t.Fatalf("released %d times during the work, %d in all", during, released)
	}
}
