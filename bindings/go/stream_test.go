package hurray_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"hurray.dev/go/hurray"
)

// stream is the bytes of a stream of vectors, 3 float32 each, and how long each tensor is in it.
func stream(t testing.TB, vectors ...[]float32) (encoded []byte, lengths []int) {
	t.Helper()
	writer := closing(t, value(hurray.NewMemoryWriter())(t))
	for _, v := range vectors {
		tensor := value(hurray.FromSlice(v, []int{len(v)}, nil))(t)
		ok(t, writer.Write(tensor))
		ok(t, tensor.Close())
		buffer := value(writer.Take())(t)
		before := len(encoded)
		ok(t, buffer.Borrow(func(bytes []byte) error {
			encoded = append(encoded, bytes...)
			return nil
		}))
		ok(t, buffer.Close())
		lengths = append(lengths, len(encoded)-before)
	}
	return encoded, lengths
}

var vectors = [][]float32{{1, 2, 3}, {}, {-4.5}, {5, 6}}

// expectVectors reads a stream to its end.
func expectVectors(t testing.TB, reader *hurray.Reader, want [][]float32) {
	t.Helper()
	i := 0
	for tensor, err := range reader.Tensors() {
		ok(t, err)
		ok(t, hurray.Borrow(tensor, func(elements []float32) error {
			if !slices.Equal(elements, want[i]) {
				t.Errorf("tensor %d is %v, want %v", i, elements, want[i])
			}
			return nil
		}))
		i++
	}
	if i != len(want) {
		t.Fatalf("%d tensors, want %d", i, len(want))
	}
	for range 2 {
		if _, err := reader.Next(); err != io.EOF {
			t.Fatalf("after the end: %v", err)
		}
	}
}

func TestStreamsFromEverySource(t *testing.T) {
	encoded, _ := stream(t, vectors...)
	path := filepath.Join(t.TempDir(), "stream")
	ok(t, os.WriteFile(path, encoded, 0o600))
	cancellable, cancel := context.WithCancel(context.Background())
	defer cancel()
	fromFile := func(ctx context.Context) func(t *testing.T) (*hurray.Reader, error) {
		return func(t *testing.T) (*hurray.Reader, error) {
			file := value(os.Open(path))(t)
			reader, err := hurray.NewReaderContext(ctx, file, nil)
			// The reader does not need the file any more.
			return reader, errors.Join(err, file.Close())
		}
	}
	fromPipe := func(ctx context.Context) func(t *testing.T) (*hurray.Reader, error) {
		return func(t *testing.T) (*hurray.Reader, error) {
			reading, writing, err := os.Pipe()
			ok(t, err)
			closing(t, onceCloser{reading})
			go func() {
				_, _ = io.Copy(writing, iotest.HalfReader(bytes.NewReader(encoded)))
				_ = writing.Close()
			}()
			return hurray.NewReaderContext(ctx, reading, nil)
		}
	}
	for name, open := range map[string]func(t *testing.T) (*hurray.Reader, error){
		"bytes":     func(*testing.T) (*hurray.Reader, error) { return hurray.NewReaderBytes(encoded, nil) },
		"io.Reader": func(*testing.T) (*hurray.Reader, error) { return hurray.NewReader(bytes.NewReader(encoded), nil) },
		"single bytes": func(*testing.T) (*hurray.Reader, error) {
			return hurray.NewReader(iotest.OneByteReader(bytes.NewReader(encoded)), nil)
		},
		"data with EOF": func(*testing.T) (*hurray.Reader, error) {
			return hurray.NewReader(iotest.DataErrReader(bytes.NewReader(encoded)), nil)
		},
		"file":             fromFile(context.Background()),
		"file, context":    fromFile(cancellable),
		"pipe":             fromPipe(context.Background()),
		"pipe and context": fromPipe(cancellable),
	} {
		t.Run(name, func(t *testing.T) {
			noLeak(t)
			reader := closing(t, value(open(t))(t))
			expectVectors(t, reader, vectors)
		})
	}
}

// onceCloser hides that a file is closed already.
type onceCloser struct{ file *os.File }

func (c onceCloser) Close() error { _ = c.file.Close(); return nil }

func TestStreamsToEverySink(t *testing.T) {
	encoded, _ := stream(t, vectors...)
	write := func(t *testing.T, writer *hurray.Writer) {
		for _, v := range vectors {
			tensor := value(hurray.FromSlice(v, []int{len(v)}, nil))(t)
			ok(t, writer.Write(tensor))
			ok(t, tensor.Close())
		}
		ok(t, writer.Close())
		ok(t, writer.Close())
	}
	cancellable, cancel := context.WithCancel(context.Background())
	defer cancel()
	for name, ctx := range map[string]context.Context{"": context.Background(), " with a context": cancellable} {
		t.Run("io.Writer"+name, func(t *testing.T) {
			noLeak(t)
			var written bytes.Buffer
			write(t, value(hurray.NewWriterContext(ctx, &written))(t))
			if !bytes.Equal(written.Bytes(), encoded) {
				t.Fatal("other bytes")
			}
		})
		t.Run("file"+name, func(t *testing.T) {
			noLeak(t)
			path := filepath.Join(t.TempDir(), "stream")
			file := value(os.Create(path))(t)
			writer := value(hurray.NewWriterContext(ctx, file))(t)
			ok(t, file.Close())
			write(t, writer)
			if !bytes.Equal(value(os.ReadFile(path))(t), encoded) {
				t.Fatal("other bytes")
			}
		})
	}
	t.Run("connection", func(t *testing.T) {
		noLeak(t)
		near, far := net.Pipe()
		go func() {
			defer near.Close()
			writer, err := hurray.NewWriter(near)
			if err != nil {
				t.Error(err)
				return
			}
			write(t, writer)
		}()
		reader := closing(t, value(hurray.NewReader(far, nil))(t))
		expectVectors(t, reader, vectors)
		ok(t, far.Close())
	})
}

func TestCutAndHostileStreams(t *testing.T) {
	noLeak(t)
	encoded, lengths := stream(t, vectors...)
	ends := map[int]int{0: 0}
	for i, at := 0, 0; i < len(lengths); i++ {
		at += lengths[i]
		ends[at] = i + 1
	}
	for cut := range encoded {
		for name, open := range map[string]func() (*hurray.Reader, error){
			"bytes":  func() (*hurray.Reader, error) { return hurray.NewReaderBytes(encoded[:cut], nil) },
			"reader": func() (*hurray.Reader, error) { return hurray.NewReader(bytes.NewReader(encoded[:cut]), nil) },
		} {
			reader := value(open())(t)
			read := 0
			var failed error
			for _, err := range reader.Tensors() {
				if failed = err; err == nil {
					read++
				}
			}
			if whole, clean := ends[cut]; clean && (failed != nil || read != whole) {
				t.Fatalf("%s cut at %d: %d tensors, %v", name, cut, read, failed)
			} else if !clean {
				wants(t, failed, failed.(*hurray.Error))
				if _, again := reader.Next(); again != failed {
					t.Fatalf("%s cut at %d: %v, then %v", name, cut, failed, again)
				}
			}
			ok(t, reader.Close())
		}
	}
	reader := closing(t, value(hurray.NewReaderBytes(append(bytes.Clone(encoded), "garbage that is no descriptor"...), nil))(t))
	var err error
	for err == nil {
		var tensor *hurray.Tensor
		if tensor, err = reader.Next(); err == nil {
			ok(t, tensor.Close())
		}
	}
	if failed := wants(t, err, hurray.ErrInvalidMagic); failed.Offset != int64(len(encoded)) {
		t.Errorf("offset %d, want %d", failed.Offset, len(encoded))
	}
	for _, limits := range []hurray.StreamOptions{{MaxDescriptorLength: 30}, {MaxTensorBytes: 11}} {
		reader := closing(t, value(hurray.NewReaderBytes(encoded, &limits))(t))
		wants(t, errorOf(reader.Next()), hurray.ErrLimitExceeded)
	}
}

func TestFailuresOfTheCallersReaderAndWriter(t *testing.T) {
	noLeak(t)
	encoded, lengths := stream(t, vectors...)
	mine := errors.New("mine")
	// The source fails within a tensor, and between two: that is no clean end either.
	for _, after := range []int{0, 10, lengths[0], lengths[0] + 1} {
		source := io.MultiReader(bytes.NewReader(encoded[:after]), iotest.ErrReader(mine))
		reader := value(hurray.NewReader(source, nil))(t)
		var err error
		for _, err = range reader.Tensors() {
		}
		if !errors.Is(err, mine) || !errors.Is(err, hurray.ErrIO) {
			t.Errorf("after %d bytes: %v", after, err)
		}
		ok(t, reader.Close())
	}
	tensor := closing(t, value(hurray.FromSlice(make([]byte, 1<<20), []int{1 << 20}, nil))(t))
	writer := value(hurray.NewWriter(failingWriter{mine}))(t)
	// It is more than a pipe holds, so the failure comes back at once; and it lasts.
	for range 2 {
		if err := writer.Write(tensor); !errors.Is(err, mine) || !errors.Is(err, hurray.ErrIO) {
			t.Error(err)
		}
	}
	if err := writer.Close(); !errors.Is(err, mine) {
		t.Error(err)
	}
	// A small tensor is in the pipe before the sink fails: Close says so.
	small := closing(t, value(hurray.FromSlice([]byte{1}, nil, nil))(t))
	writer = value(hurray.NewWriter(failingWriter{mine}))(t)
	_ = writer.Write(small)
	if err := writer.Close(); !errors.Is(err, mine) {
		t.Error(err)
	}
	// A pipe that nobody reads is an error and no signal.
	reading, writing, err := os.Pipe()
	ok(t, err)
	ok(t, reading.Close())
	writer = closing(t, value(hurray.NewWriter(writing))(t))
	wants(t, writer.Write(tensor), hurray.ErrIO)
	ok(t, writing.Close())
	wants(t, errorOf(hurray.NewReader(writing, nil)), hurray.ErrIO)
	wants(t, errorOf(hurray.NewWriter(writing)), hurray.ErrIO)
	wants(t, errorOf(writer.Take()), hurray.ErrInvalidArgument)
}

type failingWriter struct{ err error }

func (f failingWriter) Write([]byte) (int, error) { return 0, f.err }

// soon fails the test when f takes long: it would wait for ever.
func soon(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatalf("%s hangs", what)
	}
}

func TestContextsEndStreamsThatWait(t *testing.T) {
	noLeak(t)
	encoded, lengths := stream(t, vectors...)
	cause := errors.New("enough")

	// A reader whose source gives half a tensor and no more.
	ctx, cancel := context.WithCancelCause(context.Background())
	source, feed := io.Pipe()
	go func() { _, _ = feed.Write(encoded[:lengths[0]+5]) }()
	reader := value(hurray.NewReaderContext(ctx, source, nil))(t)
	ok(t, value(reader.Next())(t).Close())
	time.AfterFunc(10*time.Millisecond, func() { cancel(cause) })
	soon(t, "Next", func() {
		_, err := reader.Next()
		if !errors.Is(err, cause) || !errors.Is(err, hurray.ErrCancelled) {
			t.Error(err)
		}
	})
	ok(t, reader.Close())
	ok(t, source.Close())

	// A pipe of the operating system, which is read directly unless there is a context.
	ctx, cancel = context.WithCancelCause(context.Background())
	reading, writing, err := os.Pipe()
	ok(t, err)
	reader = value(hurray.NewReaderContext(ctx, reading, nil))(t)
	time.AfterFunc(10*time.Millisecond, func() { cancel(cause) })
	soon(t, "Next", func() { wants(t, errorOf(reader.Next()), hurray.ErrCancelled) })
	ok(t, errors.Join(reader.Close(), writing.Close(), reading.Close()))

	// A writer whose sink takes nothing.
	ctx, cancel = context.WithCancelCause(context.Background())
	near, far := net.Pipe()
	writer := value(hurray.NewWriterContext(ctx, near))(t)
	tensor := closing(t, value(hurray.FromSlice(make([]byte, 1<<20), []int{1 << 20}, nil))(t))
	time.AfterFunc(10*time.Millisecond, func() { cancel(cause) })
	soon(t, "Write", func() { wants(t, writer.Write(tensor), hurray.ErrCancelled) })
	soon(t, "Close", func() {
		if err := writer.Close(); !errors.Is(err, cause) {
			t.Error(err)
		}
	})
	ok(t, errors.Join(near.Close(), far.Close()))

	// A context that has ended before.
	reader = closing(t, value(hurray.NewReaderContext(ctx, bytes.NewReader(encoded), nil))(t))
	wants(t, errorOf(reader.Next()), hurray.ErrCancelled)
	writer = value(hurray.NewWriterContext(ctx, io.Discard))(t)
	wants(t, writer.Write(tensor), hurray.ErrCancelled)
	_ = writer.Close()
}

func TestCloseEndsANextThatWaits(t *testing.T) {
	noLeak(t)
	source, feed := io.Pipe()
	reader := value(hurray.NewReader(source, nil))(t)
	var waiting sync.WaitGroup
	waiting.Add(1)
	go func() {
		defer waiting.Done()
		if _, err := reader.Next(); err == nil {
			t.Error("a tensor of nothing")
		}
	}()
	time.Sleep(10 * time.Millisecond)
	soon(t, "Close", func() { ok(t, reader.Close()) })
	soon(t, "Next", waiting.Wait)
	ok(t, feed.Close())
}

func TestStreamOfEveryKindOfTensor(t *testing.T) {
	noLeak(t)
	memory := make([]byte, 400)
	for i := range memory {
		memory[i] = byte(i * 7)
	}
	var written bytes.Buffer
	writer := value(hurray.NewWriter(&written))(t)
	var wanted [][]byte
	for _, options := range []hurray.HostOptions{
		{ElementType: hurray.TypeFloat16}, {ElementType: hurray.TypeBFloat16, ColumnMajor: true},
		{ElementType: hurray.TypeInt64, Strides: []int{-4, 1}, ByteOffset: 200}, {ElementType: hurray.TypeUint8, Strides: []int{0, 3}},
		{ElementType: hurray.TypeInt4}, {ElementType: hurray.TypeFloat6E2M3}, {ElementType: hurray.TypeComplex128},
		{ElementType: hurray.TypeBool, Strides: []int{9, -2}, ByteOffset: 5},
	} {
		// Odd addresses, whose bytes before them must not travel.
		tensor := value(hurray.FromSlice(memory[3:], []int{3, 4}, &options))(t)
		view := value(tensor.View())(t)
		wanted = append(wanted, value(view.AppendRowMajor(nil))(t))
		ok(t, writer.Write(tensor))
		ok(t, errors.Join(view.Close(), tensor.Close()))
	}
	ok(t, writer.Close())
	reader := closing(t, value(hurray.NewReader(&written, nil))(t))
	i := 0
	for tensor, err := range reader.Tensors() {
		ok(t, err)
		view := value(tensor.View())(t)
		if got := value(view.AppendRowMajor(nil))(t); !bytes.Equal(got, wanted[i]) {
			t.Errorf("tensor %d: % x, want % x", i, got, wanted[i])
		}
		ok(t, view.Close())
		i++
	}
	if i != len(wanted) {
		t.Fatal(i)
	}
}
