package hurray_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"hurray.dev/go/hurray"
)

// safetensors writes a file of a header and data by hand.
func safetensors(t testing.TB, header string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "model.safetensors")
	file := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	file = append(append(file, header...), data...)
	ok(t, os.WriteFile(path, file, 0o600))
	return path
}

var strangeNames = []string{"plain", "with\x00a NUL", "ä→😀", "quote\" back\\slash\n", "", strings.Repeat("long", 1000)}

func TestFilesComeBackAsTheyWereWritten(t *testing.T) {
	noLeak(t)
	path := filepath.Join(t.TempDir(), "ä model.safetensors")
	writer := closing(t, value(hurray.CreateFile(path, hurray.FormatSafetensors))(t))
	released := 0
	data := make(map[string][]float32)
	for i, name := range strangeNames {
		data[name] = []float32{float32(i), -1.5, float32(i) / 3}
		tensor := value(hurray.FromSlice(data[name], []int{3, 1}, &hurray.HostOptions{Release: func() { released++ }}))(t)
		ok(t, writer.Add(name, tensor))
		ok(t, tensor.Close())
	}
	scalar := value(hurray.FromSlice([]int64{-7}, nil, nil))(t)
	empty := value(hurray.FromSlice([]uint16{}, []int{2, 0}, nil))(t)
	truth := value(hurray.FromSlice([]byte{0x59, 0x02}, []int{10}, &hurray.HostOptions{ElementType: hurray.TypeBool}))(t)
	for name, tensor := range map[string]*hurray.Tensor{"scalar": scalar, "empty": empty, "truth": truth} {
		ok(t, writer.Add(name, tensor))
		ok(t, tensor.Close())
	}
	metadata := map[string]any{"key": "value", "": "", "with\x00a NUL": "ä\x00→", "format": "pt"}
	for key, text := range metadata {
		ok(t, writer.SetMetadata(key, text.(string)))
	}
	if released != 0 {
		t.Fatal("released before the file is written")
	}
	wants(t, writer.SetMetadata("no \xff UTF-8", ""), hurray.ErrInvalidArgument)
	ok(t, writer.Finish())
	wants(t, writer.Finish(), hurray.ErrInvalidArgument)
	ok(t, writer.Close())
	if released != len(strangeNames) {
		t.Fatalf("released %d of %d", released, len(strangeNames))
	}

	file := closing(t, value(hurray.Open(path, nil))(t))
	info := value(file.Info())(t)
	if info.Format != hurray.FormatSafetensors || info.Tensors != len(strangeNames)+3 || info.Metadata != len(metadata) {
		t.Fatalf("%+v", info)
	}
	if got := maps.Collect(file.Metadata()); !reflect.DeepEqual(got, metadata) {
		t.Fatalf("%q", got)
	}
	for name, elements := range data {
		i := value(file.Find(name))(t)
		described := value(file.TensorInfo(i))(t)
		if described.Name != name || described.ElementType != hurray.TypeFloat32 || !slices.Equal(described.Shape, []uint64{3, 1}) ||
			described.ByteSize != 12 || described.ElementBits != 32 || described.Layout != hurray.LayoutRowMajor {
			t.Fatalf("%+v", described)
		}
		tensor := value(file.TensorByName(name))(t)
		wants(t, hurray.BorrowMutable(tensor, func([]float32) error { return nil }), hurray.ErrReadOnly)
		ok(t, hurray.Borrow(tensor, func(got []float32) error {
			if !slices.Equal(got, elements) {
				t.Errorf("%q: %v, want %v", name, got, elements)
			}
			return nil
		}))
		ok(t, tensor.Close())
	}
	if copied := value(file.Info())(t).CopiedBytes; copied != 0 {
		t.Errorf("%d bytes were copied", copied)
	}
	tensor := value(file.TensorByName("truth"))(t)
	ok(t, hurray.BorrowBytes(tensor, func(got []byte) error {
		if !bytes.Equal(got, []byte{0x59, 0x02}) {
			t.Errorf("% x", got)
		}
		return nil
	}))
	ok(t, tensor.Close())
	if copied := value(file.Info())(t).CopiedBytes; copied == 0 {
		t.Error("packing is a copy, and not counted")
	}
	wants(t, errorOf(file.Find("no such name")), hurray.ErrNotFound)
	wants(t, errorOf(file.TensorByName("plain\x00")), hurray.ErrNotFound)
	wants(t, errorOf(file.TensorInfo(info.Tensors)), hurray.ErrIndexOutOfBounds)
	wants(t, errorOf(file.TensorInfo(-1)), hurray.ErrIndexOutOfBounds)
	wants(t, errorOf(file.Tensor(info.Tensors)), hurray.ErrIndexOutOfBounds)
	_, _, err := file.MetadataEntry(info.Metadata)
	wants(t, err, hurray.ErrIndexOutOfBounds)

	// Iteration sees all of them, can be left at any time, and closes what it gave out.
	var names []string
	for described, err := range file.Infos() {
		ok(t, err)
		names = append(names, described.Name)
	}
	i := 0
	var kept *hurray.Tensor
	for named, err := range file.Tensors() {
		ok(t, err)
		if named.Name != names[i] {
			t.Errorf("%q, want %q", named.Name, names[i])
		}
		if i++; i == 3 {
			kept = value(named.Share())(t)
			break
		}
	}
	for range file.Infos() {
		break
	}
	for range file.Metadata() {
		break
	}
	ok(t, file.Close())
	// A tensor of a file outlives it.
	view := value(kept.View())(t)
	if view.Len() < 0 || len(value(view.AppendRowMajor(nil))(t)) != int(view.ByteSize()) {
		t.Error(view.Len())
	}
	ok(t, errors.Join(view.Close(), kept.Close()))
}

func TestWriterThatIsNotFinishedLeavesNothing(t *testing.T) {
	noLeak(t)
	folder := t.TempDir()
	path := filepath.Join(folder, "model.safetensors")
	ok(t, os.WriteFile(path, []byte("what was there"), 0o600))
	writer := value(hurray.CreateFile(path, hurray.FormatSafetensors))(t)
	tensor := closing(t, value(hurray.FromSlice([]byte{1, 2}, []int{2}, nil))(t))
	ok(t, writer.Add("x", tensor))
	wants(t, writer.Add("x", tensor), hurray.ErrInvalidArgument)
	wants(t, writer.Add("no \xff UTF-8", tensor), hurray.ErrInvalidArgument)
	ok(t, writer.Close())
	if got := value(os.ReadFile(path))(t); string(got) != "what was there" {
		t.Fatalf("%q", got)
	}
	if entries := value(os.ReadDir(folder))(t); len(entries) != 1 {
		t.Fatal(entries)
	}
	missing := filepath.Join(folder, "no such folder", "x")
	wants(t, errorOf(hurray.CreateFile(missing, hurray.FormatSafetensors)), hurray.ErrNotFound)
	wants(t, errorOf(hurray.CreateFile(path, hurray.FileFormat(77))), hurray.ErrInvalidArgument)
	wants(t, errorOf(hurray.CreateFile("a\x00b", hurray.FormatSafetensors)), hurray.ErrInvalidArgument)
}

// Releases that become due in Finish and Close may use the writer: no lock is held.
func TestReleaseMayUseTheWriter(t *testing.T) {
	noLeak(t)
	for _, finish := range []bool{true, false} {
		writer := value(hurray.CreateFile(filepath.Join(t.TempDir(), "x"), hurray.FormatSafetensors))(t)
		var errs []error
		tensor := value(hurray.FromSlice([]byte{1}, nil, &hurray.HostOptions{Release: func() {
			errs = append(errs, writer.SetMetadata("too", "late"))
		}}))(t)
		ok(t, writer.Add("x", tensor))
		ok(t, tensor.Close())
		want := hurray.ErrClosed
		soon(t, "the release", func() {
			if finish {
				ok(t, writer.Finish())
				want = hurray.ErrInvalidArgument
			}
			ok(t, writer.Close())
		})
		if len(errs) != 1 {
			t.Fatalf("released %d times", len(errs))
		}
		wants(t, errs[0], want)
	}
}

func TestHostileFiles(t *testing.T) {
	tensor := func(name, dtype, shape string, begin, end int) string {
		return fmt.Sprintf(`%q:{"dtype":%q,"shape":%s,"data_offsets":[%d,%d]}`, name, dtype, shape, begin, end)
	}
	for name, c := range map[string]struct {
		header string
		data   int
		want   error
	}{
		"no JSON":          {"garbage", 0, hurray.ErrInvalidFormat},
		"empty":            {"", 0, hurray.ErrInvalidFormat},
		"overlap":          {"{" + tensor("a", "U8", "[4]", 0, 4) + "," + tensor("b", "U8", "[4]", 2, 6) + "}", 6, hurray.ErrInvalidFormat},
		"gap":              {"{" + tensor("a", "U8", "[4]", 0, 4) + "," + tensor("b", "U8", "[4]", 5, 9) + "}", 9, hurray.ErrInvalidFormat},
		"duplicate":        {"{" + tensor("a", "U8", "[4]", 0, 4) + "," + tensor("a", "U8", "[4]", 4, 8) + "}", 8, hurray.ErrInvalidFormat},
		"too short":        {"{" + tensor("a", "U8", "[4]", 0, 4) + "}", 3, hurray.ErrInvalidFormat},
		"too long":         {"{" + tensor("a", "U8", "[4]", 0, 4) + "}", 5, hurray.ErrInvalidFormat},
		"size and shape":   {"{" + tensor("a", "U8", "[5]", 0, 4) + "}", 4, hurray.ErrInvalidFormat},
		"overflow":         {"{" + tensor("a", "F64", "[4294967296,4294967296,4294967296]", 0, 0) + "}", 0, hurray.ErrInvalidFormat},
		"negative size":    {"{" + tensor("a", "U8", "[-1]", 0, 4) + "}", 4, hurray.ErrInvalidFormat},
		"backwards":        {"{" + tensor("a", "U8", "[4]", 4, 0) + "}", 4, hurray.ErrInvalidFormat},
		"unknown dtype":    {"{" + tensor("a", "Q7", "[4]", 0, 4) + "}", 4, nil},
		"no UTF-8":         {"{\"\xff\":{}}", 0, hurray.ErrInvalidFormat},
		"open string":      {"{\"a", 0, hurray.ErrInvalidFormat},
		"deep":             {strings.Repeat("[", 100000), 0, hurray.ErrInvalidFormat},
		"trailing garbage": {"{} x", 0, hurray.ErrInvalidFormat},
	} {
		t.Run(name, func(t *testing.T) {
			noLeak(t)
			file, err := hurray.Open(safetensors(t, c.header, make([]byte, c.data)), nil)
			var failed *hurray.Error
			if file != nil || !errors.As(err, &failed) {
				t.Fatalf("got %v, %v", file, err)
			}
			if c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
	noLeak(t)
	good := safetensors(t, "{"+tensor("a", "U8", "[4]", 0, 4)+"}", make([]byte, 4))
	wants(t, errorOf(hurray.Open(good, &hurray.FileOptions{HeaderLimit: 10})), hurray.ErrLimitExceeded)
	wants(t, errorOf(hurray.Open(good, &hurray.FileOptions{Format: 77})), hurray.ErrInvalidArgument)
	wants(t, errorOf(hurray.Open(good, &hurray.FileOptions{Alignment: 77})), hurray.ErrInvalidArgument)
	wants(t, errorOf(hurray.Open(good+" that is not there", nil)), hurray.ErrNotFound)
	wants(t, errorOf(hurray.Open("a\x00b", nil)), hurray.ErrInvalidArgument)
	if _, err := hurray.Open(t.TempDir(), nil); err == nil {
		t.Error("a folder was opened")
	}
	// Every cut of a good file.
	whole := value(os.ReadFile(good))(t)
	cut := filepath.Join(t.TempDir(), "cut")
	for length := range whole {
		ok(t, os.WriteFile(cut, whole[:length], 0o600))
		var failed *hurray.Error
		if _, err := hurray.Open(cut, nil); !errors.As(err, &failed) {
			t.Fatalf("cut at %d: %v", length, err)
		}
	}
	bad := safetensors(t, "{"+tensor("b", "BOOL", "[2]", 0, 2)+"}", []byte{1, 2})
	file := closing(t, value(hurray.Open(bad, nil))(t))
	wants(t, errorOf(file.Tensor(0)), hurray.ErrInvalidFormat)
}

// Data that is aligned to nothing: handed over as it lies, copied, or refused, as the options say.
func TestAlignmentPolicies(t *testing.T) {
	noLeak(t)
	header := `{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`
	for len(header)%64 != 61 { // the data starts at 8 + 61 = 5 modulo 64
		header += " "
	}
	path := safetensors(t, header, bytesOf([]float32{1.5, -2}))
	read := func(tensor *hurray.Tensor) (got []float64) {
		view := closing(t, value(tensor.View())(t))
		value(view.Float64s())(t)(func(x float64) bool { got = append(got, x); return true })
		return got
	}
	for policy, copied := range map[hurray.AlignmentPolicy]uint64{hurray.AlignOffset: 0, hurray.AlignCopy: 8} {
		file := closing(t, value(hurray.Open(path, &hurray.FileOptions{Alignment: policy}))(t))
		tensor := closing(t, value(file.Tensor(0))(t))
		if got := read(tensor); !slices.Equal(got, []float64{1.5, -2}) {
			t.Errorf("%v: %v", policy, got)
		}
		if info := value(file.Info())(t); info.CopiedBytes != copied {
			t.Errorf("%v: %+v", policy, info)
		}
		err := hurray.Borrow(tensor, func([]float32) error { return nil })
		if policy == hurray.AlignCopy {
			ok(t, err)
		} else {
			wants(t, err, hurray.ErrMisaligned)
		}
	}
	file := closing(t, value(hurray.Open(path, &hurray.FileOptions{Alignment: hurray.AlignRequire}))(t))
	wants(t, errorOf(file.Tensor(0)), hurray.ErrMisaligned)
}

// Files that others wrote, where they lie beside the project.
func TestFilesOfOthers(t *testing.T) {
	shared := os.Getenv("HURRAY_SHARED")
	paths, _ := filepath.Glob(filepath.Join(shared, "data", "safetensors", "*.safetensors"))
	if shared == "" || len(paths) == 0 {
		t.Skip("the shared files are not beside the project")
	}
	tensors := 0
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			noLeak(t)
			file := closing(t, value(hurray.Open(path, nil))(t))
			whole := value(os.ReadFile(path))(t)
			for i := range value(file.Len())(t) {
				info := value(file.TensorInfo(i))(t)
				tensor := closing(t, value(file.Tensor(i))(t))
				if info.ElementType == hurray.TypeBool {
					continue // packed, not as it lies in the file
				}
				ok(t, hurray.BorrowBytes(tensor, func(data []byte) error {
					if !bytes.Equal(data, whole[info.FileOffset:info.FileOffset+info.ByteSize]) {
						t.Errorf("%q: other bytes", info.Name)
					}
					return nil
				}))
				tensors++
			}
			if copied := value(file.Info())(t).CopiedBytes; copied != 0 {
				t.Errorf("%d bytes were copied", copied)
			}
		})
	}
	if tensors < len(paths) {
		t.Errorf("%d tensors in %d files", tensors, len(paths))
	}
}

// More than 2 GiB, and a view of it: the lengths and indices are 64 bits wide. The file is sparse and takes no room.
func TestViewOfMoreThanTwoGiB(t *testing.T) {
	if testing.Short() {
		t.Skip("large address space")
	}
	noLeak(t)
	const size = 5 << 29 // 2.5 GiB
	path := safetensors(t, fmt.Sprintf(`{"a":{"dtype":"U8","shape":[%d],"data_offsets":[0,%d]}}`, size, size), nil)
	sparse := value(os.OpenFile(path, os.O_RDWR, 0))(t)
	length := value(sparse.Stat())(t).Size()
	ok(t, sparse.Truncate(length+size))
	value(sparse.WriteAt([]byte{77}, length+size-1))(t)
	ok(t, sparse.Close())
	file := closing(t, value(hurray.Open(path, nil))(t))
	tensor := closing(t, value(file.Tensor(0))(t))
	ok(t, hurray.Borrow(tensor, func(elements []byte) error {
		if len(elements) != size || elements[size-1] != 77 || elements[size-2] != 0 {
			t.Error(len(elements))
		}
		return nil
	}))
	view := closing(t, value(tensor.View())(t))
	if view.Len() != size || view.ByteSize() != size || value(hurray.At[byte](view, size-1))(t) != 77 {
		t.Error(view.Len())
	}
}
