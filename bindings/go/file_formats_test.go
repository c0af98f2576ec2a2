package hurray_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"testing"

	"hurray.dev/go/hurray"
)

// written is what write wrote in a format, in memory.
func written(t testing.TB, options *hurray.FileWriterOptions, write func(w *hurray.FileWriter)) []byte {
	t.Helper()
	var file bytes.Buffer
	writer := closing(t, value(hurray.NewFileWriter(&file, options))(t))
	write(writer)
	ok(t, writer.Finish())
	ok(t, writer.Close())
	return file.Bytes()
}

func add(t testing.TB, w *hurray.FileWriter, name string, data []float32, shape ...int) {
	t.Helper()
	tensor := value(hurray.FromSlice(data, shape, nil))(t)
	ok(t, w.Add(name, tensor))
	ok(t, tensor.Close())
}

var fileFormats = []hurray.FileWriterOptions{
	{Format: hurray.FormatSafetensors}, {Format: hurray.FormatHrry}, {Format: hurray.FormatHrry, UnsortedIndex: true, DataAlignment: 8192},
	{Format: hurray.FormatGguf}, {Format: hurray.FormatGguf, DataAlignment: 64}, {Format: hurray.FormatNpy}, {Format: hurray.FormatNpz},
	{Format: hurray.FormatNpz, Compress: true},
}

func TestEveryFormatIsWrittenAndOpened(t *testing.T) {
	for _, options := range fileFormats {
		t.Run(fmt.Sprintf("%+v", options), func(t *testing.T) {
			noLeak(t)
			data := []float32{1, -2, 3.5, 4, 5, 6}
			name := "data" // .npy has no other
			image := written(t, &options, func(w *hurray.FileWriter) { add(t, w, name, data, 2, 3) })
			path := filepath.Join(t.TempDir(), "file")
			writer := value(hurray.CreateFileOptions(path, &options))(t)
			add(t, writer, name, data, 2, 3)
			ok(t, writer.Finish())
			value(writer.CopiedBytes())(t)
			ok(t, writer.Close())
			if onDisk := value(os.ReadFile(path))(t); !bytes.Equal(onDisk, image) {
				t.Errorf("%d bytes on disk, %d to the io.Writer", len(onDisk), len(image))
			}
			opened := map[string]*hurray.File{
				"map":    value(hurray.Open(path, nil))(t),
				"read":   value(hurray.Open(path, &hurray.FileOptions{Access: hurray.FileAccessRead, Format: options.Format}))(t),
				"memory": value(hurray.OpenBytes(image, nil))(t),
			}
			for how, file := range opened {
				info := value(file.Info())(t)
				described := value(file.TensorInfo(0))(t)
				if info.Format != options.Format || info.Tensors != 1 || described.Name != name || described.Scheme != 0 ||
					described.ElementType != hurray.TypeFloat32 || !reflect.DeepEqual(described.Shape, []uint64{2, 3}) ||
					(described.StoredType == "") != (options.Format == hurray.FormatHrry) {
					t.Errorf("%s: %+v, %+v", how, info, described)
				}
				descriptor := value(file.Descriptor(0))(t)
				if fields := value(descriptor.Fields())(t); !reflect.DeepEqual(fields.Shape, []uint64{2, 3}) {
					t.Errorf("%s: %+v", how, fields)
				}
				ok(t, descriptor.Close())
				offset, size, err := file.BufferRange(0, 0)
				ok(t, err)
				if offset+size > uint64(len(image)) || size == 0 {
					t.Errorf("%s: bytes %d to %d", how, offset, offset+size)
				}
				_, _, err = file.BufferRange(0, 1)
				wants(t, err, hurray.ErrIndexOutOfBounds)
				wants(t, errorOf(file.Descriptor(1)), hurray.ErrIndexOutOfBounds)
				tensor := value(file.TensorByName(name))(t)
				ok(t, file.Close())
				runtime.GC()
				view := value(tensor.View())(t)
				var got []float32
				for x := range value(view.Float64s())(t) {
					got = append(got, float32(x))
				}
				if !reflect.DeepEqual(got, data) {
					t.Errorf("%s: %v", how, got)
				}
				ok(t, view.Close())
				ok(t, tensor.Close())
			}
		})
	}
}

func TestMetadataOfEveryType(t *testing.T) {
	noLeak(t)
	values := map[string]any{
		"text": "ä\x00→", "empty": "", "int": int64(-1 << 63), "uint": ^uint64(0), "float": -0.5, "true": true, "false": false,
		"bytes": []byte{0, 255}, "no bytes": []byte{}, "texts": []string{"", "a\x00", "😀"}, "ints": []int64{-1, 2},
		"uints": []uint64{1 << 63}, "floats": []float64{1.5, -2}, "bools": []bool{true, false}, "blobs": [][]byte{{1}, {}},
		"nothing": []string{},
	}
	image := written(t, &hurray.FileWriterOptions{Format: hurray.FormatHrry}, func(w *hurray.FileWriter) {
		ok(t, w.SetValue("text", "is overwritten"))
		for key, v := range values {
			ok(t, w.SetValue(key, v))
		}
		ok(t, w.SetValue("plain int", 7))
		ok(t, w.SetValue("plain ints", []int{7, -8}))
		for _, wrong := range []any{nil, 1.5i, float32(1), struct{}{}, []any{1}, hurray.UnknownMetadata{}} {
			wants(t, w.SetValue("wrong", wrong), hurray.ErrInvalidArgument)
		}
		wants(t, w.SetValue("text", "no \xff UTF-8"), hurray.ErrInvalidArgument)
		wants(t, w.SetValue("no \xff UTF-8", 1), hurray.ErrInvalidArgument)
	})
	values["plain int"], values["plain ints"] = int64(7), []int64{7, -8}
	file := closing(t, value(hurray.OpenBytes(image, nil))(t))
	got := map[string]any{}
	for key, v := range file.Metadata() {
		got[key] = v
	}
	if !reflect.DeepEqual(got, values) {
		t.Errorf("got %#v\nwant %#v", got, values)
	}
	if v := value(file.MetadataValue("floats"))(t); !reflect.DeepEqual(v, []float64{1.5, -2}) {
		t.Errorf("%#v", v)
	}
	wants(t, errorOf(file.MetadataValue("none")), hurray.ErrNotFound)
	ok(t, file.Close())
	wants(t, errorOf(file.MetadataValue("text")), hurray.ErrClosed)
	npy := closing(t, value(hurray.NewFileWriter(io.Discard, &hurray.FileWriterOptions{Format: hurray.FormatNpy}))(t))
	wants(t, npy.SetValue("x", 1), hurray.ErrUnsupported)
}

func TestFileWriterOptionsOfOtherFormatsAreRefused(t *testing.T) {
	noLeak(t)
	for _, options := range []*hurray.FileWriterOptions{
		nil, {}, {Format: 99}, {Format: hurray.FormatNpy, Compress: true}, {Format: hurray.FormatSafetensors, UnsortedIndex: true},
		{Format: hurray.FormatHrry, DataAlignment: 64}, {Format: hurray.FormatGguf, DataAlignment: 7},
	} {
		wants(t, errorOf(hurray.NewFileWriter(io.Discard, options)), hurray.ErrInvalidArgument)
		wants(t, errorOf(hurray.CreateFileOptions(filepath.Join(t.TempDir(), "x"), options)), hurray.ErrInvalidArgument)
	}
	image := written(t, &hurray.FileWriterOptions{Format: hurray.FormatNpy}, func(w *hurray.FileWriter) { add(t, w, "data", []float32{1}, 1) })
	for _, options := range []*hurray.FileOptions{{Format: 99}, {Alignment: 99}, {InexactBlocks: 99}} {
		wants(t, errorOf(hurray.OpenBytes(image, options)), hurray.ErrInvalidArgument)
	}
}

// failing takes so many bytes and then fails with its error, or panics with it.
type failing struct {
	left   int
	err    error
	panics bool
}

func (f *failing) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left >= 0 {
		return len(p), nil
	}
	if f.panics {
		panic(f.err)
	}
	return 0, f.err
}

type shortWriter struct{}

func (shortWriter) Write(p []byte) (int, error) { return len(p) / 2, nil }

func TestErrorsOfCallbacksComeOut(t *testing.T) {
	noLeak(t)
	mine := errors.New("mine")
	data := make([]float32, 10000)
	typed := &hurray.Error{Op: "mine", Code: hurray.StatusLimitExceeded, Message: "full", Offset: -1}
	for name, c := range map[string]struct {
		sink     io.Writer
		sentinel error
		cause    error
	}{
		"error":       {&failing{left: 100, err: mine}, hurray.ErrIO, mine},
		"typed error": {&failing{err: typed}, hurray.ErrLimitExceeded, typed},
		"panic":       {&failing{err: mine, panics: true}, hurray.ErrInternalPanic, mine},
		"short write": {shortWriter{}, hurray.ErrIO, io.ErrShortWrite},
	} {
		for _, format := range []hurray.FileFormat{hurray.FormatHrry, hurray.FormatSafetensors} {
			t.Run(name+" "+format.String(), func(t *testing.T) {
				writer := closing(t, value(hurray.NewFileWriter(c.sink, &hurray.FileWriterOptions{Format: format}))(t))
				tensor := closing(t, value(hurray.FromSlice(data, []int{len(data)}, nil))(t))
				err := writer.Add("x", tensor)
				if err == nil {
					err = writer.Finish()
				}
				wants(t, err, c.sentinel)
				if !errors.Is(err, c.cause) {
					t.Errorf("%v does not wrap %v", err, c.cause)
				}
			})
		}
	}
}

func TestSourcesMakeTensorsWhenTheyAreWritten(t *testing.T) {
	for _, format := range []hurray.FileFormat{hurray.FormatHrry, hurray.FormatSafetensors} {
		t.Run(format.String(), func(t *testing.T) {
			noLeak(t)
			open, most, released := 0, 0, 0
			make := func(x float32) (*hurray.Tensor, error) {
				open++
				most = max(most, open)
				return hurray.FromSlice([]float32{x, x}, []int{2}, &hurray.HostOptions{Release: func() { open--; released++ }})
			}
			descriptor := closing(t, value(hurray.NewDescriptor(hurray.DescriptorSpec{
				ElementType: hurray.TypeFloat32,
				Layout:      hurray.LayoutRowMajor,
				Shape:       []uint64{2},
				Buffers:     []hurray.BufferHandle{{ByteSize: 8, Alignment: 64}},
			}))(t))
			image := written(t, &hurray.FileWriterOptions{Format: format}, func(w *hurray.FileWriter) {
				for i, name := range []string{"a", "b", "c"} {
					ok(t, w.AddSource(name, descriptor, func() (*hurray.Tensor, error) {
						// The descriptor may be used, the writer not.
						if _, err := descriptor.Fields(); err != nil {
							t.Error(err)
						}
						wants(t, w.SetMetadata("x", "y"), hurray.ErrInvalidArgument)
						wants(t, w.Close(), hurray.ErrInvalidArgument)
						return make(float32(i))
					}))
				}
			})
			if most != 1 || released != 3 {
				t.Errorf("%d tensors at a time, %d released", most, released)
			}
			file := closing(t, value(hurray.OpenBytes(image, nil))(t))
			tensor := closing(t, value(file.TensorByName("c"))(t))
			ok(t, hurray.Borrow(tensor, func(elements []float32) error {
				if elements[1] != 2 {
					t.Error(elements)
				}
				return nil
			}))
			mine := errors.New("mine")
			for name, c := range map[string]struct {
				source   func() (*hurray.Tensor, error)
				sentinel error
			}{
				"error":   {func() (*hurray.Tensor, error) { return nil, mine }, hurray.ErrIO},
				"panic":   {func() (*hurray.Tensor, error) { panic(mine) }, hurray.ErrInternalPanic},
				"nothing": {func() (*hurray.Tensor, error) { return nil, nil }, hurray.ErrNullPointer},
				"another": {func() (*hurray.Tensor, error) { return hurray.FromSlice([]float32{1}, []int{1}, nil) }, hurray.ErrInvalidArgument},
			} {
				writer := value(hurray.NewFileWriter(io.Discard, &hurray.FileWriterOptions{Format: format}))(t)
				err := writer.AddSource("x", descriptor, c.source)
				if err == nil {
					err = writer.Finish()
				}
				wants(t, err, c.sentinel)
				if (name == "error" || name == "panic") && !errors.Is(err, mine) {
					t.Errorf("%s: %v", name, err)
				}
				ok(t, writer.Close())
			}
			// One that is never asked, since the writer does not finish.
			if format == hurray.FormatSafetensors {
				writer := value(hurray.NewFileWriter(io.Discard, &hurray.FileWriterOptions{Format: format}))(t)
				ok(t, writer.AddSource("x", descriptor, func() (*hurray.Tensor, error) { t.Error("asked"); return nil, mine }))
				ok(t, writer.Close())
			}
		})
	}
}

func TestHostileFilesAreRefusedWithTypedErrors(t *testing.T) {
	noLeak(t)
	for _, options := range fileFormats {
		image := written(t, &options, func(w *hurray.FileWriter) { add(t, w, "data", []float32{1, 2, 3}, 3) })
		for cut := range len(image) {
			if cut > 200 && cut%97 != 0 {
				continue
			}
			file, err := hurray.OpenBytes(image[:cut], &hurray.FileOptions{Format: options.Format})
			if err == nil {
				// What was cut is padding, or found when it is asked for.
				ok(t, file.Close())
				continue
			}
			var failed *hurray.Error
			if !errors.As(err, &failed) || failed.Code >= 0 || failed.Message == "" {
				t.Fatalf("%v cut to %d bytes: %v", options.Format, cut, err)
			}
		}
	}
	wants(t, errorOf(hurray.OpenBytes(nil, nil)), hurray.ErrInvalidFormat)
	wants(t, errorOf(hurray.OpenBytes([]byte("GGUF\x03\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), nil)),
		hurray.ErrInvalidFormat)
}

func TestForgottenFilesInMemoryAreCollected(t *testing.T) {
	noLeak(t)
	image := written(t, &hurray.FileWriterOptions{Format: hurray.FormatNpy}, func(w *hurray.FileWriter) { add(t, w, "data", []float32{1}, 1) })
	before, _ := live(t)
	func() { value(hurray.OpenBytes(image, nil))(t) }()
	collect(t, "the end of a file that was forgotten", func() bool { now, _ := live(t); return now == before })
}

// A readerAt gives bytes from places, a few at a time, and an error at one of them.
type readerAt struct {
	io.ReaderAt
	failsAt int64
	err     error
	reads   func()
}

func (r readerAt) ReadAt(p []byte, offset int64) (int, error) {
	if r.reads != nil {
		r.reads()
	}
	if r.err != nil && offset+int64(len(p)) > r.failsAt {
		n, _ := r.ReaderAt.ReadAt(p[:max(0, r.failsAt-offset)], offset)
		return n, r.err
	}
	return r.ReaderAt.ReadAt(p, offset)
}

func TestFilesAreReadFromAReaderAt(t *testing.T) {
	noLeak(t)
	image := written(t, &hurray.FileWriterOptions{Format: hurray.FormatSafetensors}, func(w *hurray.FileWriter) {
		add(t, w, "x", []float32{1, 2, 3}, 3)
		add(t, w, "large", make([]float32, 1<<20), 1<<20)
	})
	source, size := bytes.NewReader(image), int64(len(image))
	ctx := context.Background()
	file := value(hurray.OpenReaderAt(ctx, source, size, nil))(t)
	tensor := closing(t, value(file.TensorByName("x"))(t))
	ok(t, file.Close())
	ok(t, hurray.Borrow(tensor, func(elements []float32) error {
		if len(elements) != 3 || elements[2] != 3 {
			t.Error(elements)
		}
		return nil
	}))
	failed := wants(t, errorOf(hurray.OpenReaderAt(ctx, source, size+1, nil)), hurray.ErrIO)
	if failed.Err != io.ErrUnexpectedEOF || failed.Offset != size {
		t.Errorf("%#v", failed)
	}
	mine := errors.New("mine")
	failed = wants(t, errorOf(hurray.OpenReaderAt(ctx, readerAt{source, 1<<20 + 5, mine, nil}, size, nil)), hurray.ErrIO)
	if failed.Err != mine || failed.Offset != 1<<20+5 {
		t.Errorf("%#v", failed)
	}
	ended, end := context.WithCancelCause(ctx)
	reads := 0
	failed = wants(t, errorOf(hurray.OpenReaderAt(ended, readerAt{source, 0, nil, func() { reads++; end(mine) }}, size, nil)), hurray.ErrCancelled)
	if failed.Err != mine || reads != 1 {
		t.Errorf("%#v after %d reads", failed, reads)
	}
	wants(t, errorOf(hurray.OpenReaderAt(ctx, source, -1, nil)), hurray.ErrInvalidArgument)
	wants(t, errorOf(hurray.OpenReaderAt(ctx, source, math.MaxInt64, nil)), hurray.ErrOutOfMemory)
	wants(t, errorOf(hurray.OpenReaderAt(ctx, source, 0, nil)), hurray.ErrInvalidFormat)
}
