package hurray_test

import (
	"bytes"
	"io"
	"testing"
	"testing/iotest"

	"hurray.dev/go/hurray"
)

// streamed is a stream of tensors of bytes.
func streamed(t testing.TB, tensors ...[]byte) []byte {
	t.Helper()
	var stream bytes.Buffer
	writer := value(hurray.NewWriter(&stream))(t)
	for _, data := range tensors {
		tensor := value(hurray.FromSlice(data, []int{len(data)}, nil))(t)
		ok(t, writer.Write(tensor))
		ok(t, tensor.Close())
	}
	ok(t, writer.Close())
	return stream.Bytes()
}

func TestDataOfAStreamIsReadBeforeItsTensorIsComplete(t *testing.T) {
	noLeak(t)
	first, second := bytes.Repeat([]byte("ab"), 5000), []byte("skipped")
	stream := streamed(t, first, second, nil, []byte("last"))
	for name, open := range map[string]func() (*hurray.Reader, error){
		"bytes":  func() (*hurray.Reader, error) { return hurray.NewReaderBytes(stream, nil) },
		"reader": func() (*hurray.Reader, error) { return hurray.NewReader(bytes.NewReader(stream), nil) },
		"trickle": func() (*hurray.Reader, error) {
			return hurray.NewReader(iotest.OneByteReader(bytes.NewReader(stream)), nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			noLeak(t)
			reader := closing(t, value(open())(t))
			_, err := reader.Read(make([]byte, 1))
			wants(t, err, hurray.ErrInvalidArgument)
			wants(t, reader.Skip(), hurray.ErrInvalidArgument)
			descriptor := value(reader.Begin())(t)
			if fields := value(descriptor.Fields())(t); len(fields.Shape) != 1 || fields.Shape[0] != uint64(len(first)) {
				t.Errorf("%+v", fields)
			}
			ok(t, descriptor.Close())
			var start [3]byte
			// Memory within an object that has pointers, too.
			holder := &struct {
				into    [4]byte
				pointer *int
			}{pointer: new(int)}
			value(io.ReadFull(reader, start[:]))(t)
			value(io.ReadFull(reader, holder.into[:]))(t)
			// Nothing has changed by calls at a wrong time.
			wants(t, errorOf(reader.Begin()), hurray.ErrInvalidArgument)
			wants(t, errorOf(reader.Next()), hurray.ErrInvalidArgument)
			if n, err := reader.Read(nil); n != 0 || err != nil {
				t.Errorf("%d, %v", n, err)
			}
			rest := value(io.ReadAll(reader))(t)
			if got := append(append(start[:], holder.into[:]...), rest...); !bytes.Equal(got, first) {
				t.Errorf("%d bytes, want %d", len(got), len(first))
			}
			ok(t, value(reader.Begin())(t).Close())
			ok(t, reader.Skip())
			ok(t, value(reader.Begin())(t).Close())
			if n, err := reader.Read(make([]byte, 1)); n != 0 || err != io.EOF {
				t.Errorf("a tensor without bytes: %d, %v", n, err)
			}
			last := value(reader.Next())(t)
			if got := string(contentOf(t, last)); got != "last" {
				t.Error(got)
			}
			ok(t, last.Close())
			if d, err := reader.Begin(); d != nil || err != io.EOF {
				t.Errorf("%v, %v", d, err)
			}
			ok(t, reader.Close())
			wants(t, errorOf(reader.Begin()), hurray.ErrClosed)
			wants(t, reader.Skip(), hurray.ErrClosed)
			wants(t, errorOf(reader.Read(make([]byte, 1))), hurray.ErrClosed)
			wants(t, errorOf(reader.Name(0)), hurray.ErrClosed)
		})
	}
	torn := closing(t, value(hurray.NewReaderBytes(stream[:len(stream)-1], nil))(t))
	for range 3 {
		ok(t, value(torn.Begin())(t).Close())
		ok(t, torn.Skip())
	}
	ok(t, value(torn.Begin())(t).Close())
	for range 2 {
		_, err := io.ReadAll(torn)
		wants(t, err, hurray.ErrInvalidFormat)
	}
}

func TestStreamLimitOfTheAlignment(t *testing.T) {
	noLeak(t)
	buffer := value(hurray.AllocateBuffer(1, 8192))(t)
	tensor := over(t, buffer, []byte{1})
	var stream bytes.Buffer
	writer := value(hurray.NewWriter(&stream))(t)
	ok(t, writer.Write(tensor))
	ok(t, writer.Close())
	ok(t, tensor.Close())
	reader := closing(t, value(hurray.NewReaderBytes(stream.Bytes(), &hurray.StreamOptions{MaxAlignment: 4096}))(t))
	wants(t, errorOf(reader.Next()), hurray.ErrLimitExceeded)
}

func TestHrryFilesAreReadFromAPipe(t *testing.T) {
	noLeak(t)
	image := written(t, &hurray.FileWriterOptions{Format: hurray.FormatHrry}, func(w *hurray.FileWriter) {
		add(t, w, "z", []float32{1}, 1)
		add(t, w, "a\x00", []float32{2, 3}, 2)
	})
	reader := closing(t, value(hurray.NewReader(bytes.NewReader(image), &hurray.StreamOptions{HrryFile: true}))(t))
	count := 0
	for tensor, err := range reader.Tensors() {
		ok(t, err)
		if fields := value(tensor.Fields())(t); fields.Shape[0] != uint64(count+1) {
			t.Errorf("%+v", fields)
		}
		count++
	}
	if first, second := value(reader.Name(0))(t), value(reader.Name(1))(t); count != 2 || first != "z" || second != "a\x00" {
		t.Errorf("%d tensors, %q, %q", count, first, second)
	}
	wants(t, errorOf(reader.Name(2)), hurray.ErrIndexOutOfBounds)
	plain := closing(t, value(hurray.NewReaderBytes(nil, nil))(t))
	wants(t, errorOf(plain.Name(0)), hurray.ErrInvalidArgument)
}
