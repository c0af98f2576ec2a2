package hurray_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"
	"unsafe"

	"hurray.dev/go/hurray"
)

// pair is what another runtime would hand over: a list and a context over Go memory, each with a release.
type pair struct {
	list              *hurray.BufferList
	context           *hurray.TensorContext
	memory, ownership int // how often each was released
}

func newPair(t testing.TB, version uint32, spec hurray.DescriptorSpec, data []float32) *pair {
	t.Helper()
	p := new(pair)
	buffer, offset, err := hurray.BufferOf(data, func() { p.memory++ })
	ok(t, err)
	handle := value(buffer.Handle())(t)
	spec.ByteOffset = offset
	spec.Buffers = []hurray.BufferHandle{handle}
	descriptor := value(hurray.NewDescriptor(spec))(t)
	encoded := value(descriptor.Encode())(t)
	ok(t, descriptor.Close())
	p.list = closing(t, value(hurray.NewBufferList(buffer))(t))
	p.context = closing(t, value(hurray.NewTensorContext(version, encoded, func() { p.ownership++ }))(t))
	return p
}

var vector = hurray.DescriptorSpec{ElementType: hurray.TypeFloat32, Layout: hurray.LayoutRowMajor, Shape: []uint64{3}}

func TestImportTakesThePairOver(t *testing.T) {
	noLeak(t)
	p := newPair(t, hurray.CABIVersion, vector, []float32{1, 2, 3})
	if version := value(p.context.ABIVersion())(t); version != hurray.CABIVersion {
		t.Fatal(version)
	}
	encoded := value(p.context.Descriptor())(t)
	tensor := value(hurray.Import(p.list, p.context))(t)
	wants(t, errorOf(p.list.Len()), hurray.ErrClosed)
	wants(t, errorOf(p.context.ABIVersion()), hurray.ErrClosed)
	ok(t, errors.Join(p.list.Close(), p.context.Close()))
	if p.memory != 0 || p.ownership != 0 {
		t.Fatal("released under the tensor")
	}
	if got := value(tensor.EncodeDescriptor())(t); !bytes.Equal(got, encoded) {
		t.Fatalf("% x, want % x", got, encoded)
	}
	ok(t, hurray.Borrow(tensor, func(elements []float32) error {
		if !slices.Equal(elements, []float32{1, 2, 3}) {
			t.Error(elements)
		}
		return nil
	}))
	view := value(tensor.View())(t)
	ok(t, tensor.Close())
	if p.memory != 0 || p.ownership != 0 {
		t.Fatal("released under the view")
	}
	ok(t, view.Close())
	if p.memory != 1 || p.ownership != 1 {
		t.Fatalf("released %d and %d times", p.memory, p.ownership)
	}
}

func TestRawPointersTravelBetweenRuntimes(t *testing.T) {
	noLeak(t)
	released := 0
	tensor := value(hurray.FromSlice([]float32{4, 5}, []int{2}, &hurray.HostOptions{Release: func() { released++ }}))(t)
	for range 3 {
		list, context, err := tensor.Export()
		ok(t, err)
		l, c := list.Detach(), context.Detach()
		if l == nil || c == nil || list.Detach() != nil || context.Detach() != nil {
			t.Fatal("a pointer is given away once")
		}
		ok(t, errors.Join(list.Close(), context.Close()))
		imported := value(hurray.ImportPointers(l, c))(t)
		ok(t, hurray.Borrow(imported, func(elements []float32) error {
			if elements[1] != 5 {
				t.Error(elements)
			}
			return nil
		}))
		ok(t, imported.Close())
	}
	list, context, err := tensor.Export()
	ok(t, err)
	list = value(hurray.BufferListFromPointer(list.Detach()))(t)
	context = value(hurray.TensorContextFromPointer(context.Detach()))(t)
	ok(t, errors.Join(list.Close(), context.Close(), tensor.Close()))
	if released != 1 {
		t.Fatal(released)
	}
	wants(t, errorOf(hurray.ImportPointers(nil, nil)), hurray.ErrNullPointer)
}

// Contexts of other versions are refused before anything else of them is read; both parts stay the caller's.
func TestContextsOfOtherVersionsAreRefused(t *testing.T) {
	for _, version := range []uint32{1, 3, 5, 99} {
		noLeak(t)
		p := newPair(t, version, vector, []float32{1, 2, 3})
		if got := value(p.context.ABIVersion())(t); got != version {
			t.Fatal(got)
		}
		wants(t, errorOf(hurray.Import(p.list, p.context)), hurray.ErrVersionMismatch)
		wants(t, errorOf(p.context.Descriptor()), hurray.ErrVersionMismatch)
		if n := value(p.list.Len())(t); n != 1 || p.memory != 0 || p.ownership != 0 {
			t.Fatal("the pair is not as it was")
		}
		ok(t, errors.Join(p.list.Close(), p.context.Close()))
		if p.memory != 1 || p.ownership != 1 {
			t.Fatalf("released %d and %d times", p.memory, p.ownership)
		}
	}
	wants(t, errorOf(hurray.NewTensorContext(0, nil, func() { t.Error("released") })), hurray.ErrVersionMismatch)
}

func TestPairsThatDoNotFitAreRefused(t *testing.T) {
	good := newPair(t, hurray.CABIVersion, vector, []float32{1, 2, 3})
	encoded := value(good.context.Descriptor())(t)
	for name, c := range map[string]struct {
		descriptor []byte
		buffers    int
		want       error
	}{
		"no descriptor":    {nil, 1, hurray.ErrInvalidLayout},
		"garbage":          {[]byte("garbage that is no descriptor"), 1, hurray.ErrInvalidMagic},
		"cut":              {encoded[:len(encoded)-1], 1, hurray.ErrInvalidLayout},
		"no buffer":        {encoded, 0, hurray.ErrInvalidLayout},
		"too many buffers": {encoded, 2, hurray.ErrInvalidLayout},
	} {
		t.Run(name, func(t *testing.T) {
			noLeak(t)
			owner := 0
			list := value(hurray.NewBufferList())(t)
			for range c.buffers {
				ok(t, list.Push(value(hurray.AllocateBuffer(64, 0))(t)))
			}
			context := value(hurray.NewTensorContext(hurray.CABIVersion, c.descriptor, func() { owner++ }))(t)
			wants(t, errorOf(hurray.Import(list, context)), c.want)
			if value(list.Len())(t) != c.buffers || owner != 0 {
				t.Fatal("the pair is not as it was")
			}
			ok(t, errors.Join(list.Close(), context.Close()))
			if owner != 1 {
				t.Fatal(owner)
			}
		})
	}
	// A buffer that is too small for its descriptor.
	noLeak(t)
	list := value(hurray.NewBufferList(value(hurray.AllocateBuffer(1, 0))(t)))(t)
	descriptor := closing(t, value(hurray.DecodeDescriptor(encoded))(t))
	wants(t, errorOf(hurray.NewTensor(descriptor, list)), hurray.ErrBufferTooSmall)
	ok(t, list.Close())
}

func TestContextCarriesWhatItWasGiven(t *testing.T) {
	noLeak(t)
	for _, descriptor := range [][]byte{nil, {}, []byte("anything\x00at all")} {
		context := value(hurray.NewTensorContext(hurray.CABIVersion, descriptor, nil))(t)
		if got := value(context.Descriptor())(t); !bytes.Equal(got, descriptor) {
			t.Fatalf("%q, want %q", got, descriptor)
		}
		ok(t, context.Close())
	}
}

func TestTensorOfDescriptorAndList(t *testing.T) {
	noLeak(t)
	spec := vector
	spec.Buffers = dense(12)
	descriptor := closing(t, value(hurray.NewDescriptor(spec))(t))
	buffer := value(hurray.AllocateBuffer(12, 0))(t)
	list := value(hurray.NewBufferList(buffer))(t)
	wants(t, errorOf(buffer.Info()), hurray.ErrClosed)
	tensor := value(hurray.NewTensor(descriptor, list))(t)
	wants(t, errorOf(list.Len()), hurray.ErrClosed)
	ok(t, hurray.BorrowMutable(tensor, func(elements []float32) error {
		copy(elements, []float32{7, 8, 9})
		return nil
	}))
	share := value(tensor.Buffer(0))(t)
	ok(t, tensor.Close())
	data := make([]byte, 12)
	if n, err := share.ReadAt(data, 0); n != 12 || err != nil || !bytes.Equal(data, bytesOf([]float32{7, 8, 9})) {
		t.Fatalf("%d %v % x", n, err, data)
	}
	if n, err := share.ReadAt(data, 8); n != 4 || err != io.EOF {
		t.Fatal(n, err)
	}
	if n, err := share.ReadAt(data, 12); n != 0 || err != io.EOF {
		t.Fatal(n, err)
	}
	wants(t, errorOf(share.ReadAt(data, -1)), hurray.ErrInvalidArgument)
	var written bytes.Buffer
	if n, err := share.WriteTo(&written); n != 12 || err != nil || written.Len() != 12 {
		t.Fatal(n, err)
	}
	ok(t, share.Close())
}

func TestBuffersOfGoMemory(t *testing.T) {
	noLeak(t)
	memory := make([]byte, 300)
	for i := range memory {
		memory[i] = byte(i)
	}
	for start := range 65 {
		released := 0
		buffer, offset, err := hurray.BufferOf(memory[start:start+100], func() { released++ })
		ok(t, err)
		if want := uint64(uintptr(unsafe.Pointer(&memory[start])) % 64); offset != want {
			t.Fatalf("byte offset %d, want %d", offset, want)
		}
		info := value(buffer.Info())(t)
		if info.ByteSize != 100+offset || uint64(info.Prefix) != offset || info.Alignment < 64 {
			t.Fatalf("%+v", info)
		}
		// The bytes before the slice belong to somebody else and are never seen.
		ok(t, buffer.Borrow(func(bytes []byte) error {
			if len(bytes) != 100 || &bytes[0] != &memory[start] {
				t.Error("other bytes")
			}
			return nil
		}))
		part := value(buffer.Slice(64, 16))(t)
		ok(t, part.Borrow(func(bytes []byte) error {
			if bytes[0] != memory[start+64-int(offset)] {
				t.Error("another part")
			}
			return nil
		}))
		wants(t, errorOf(buffer.Slice(100+offset+1, 0)), hurray.ErrIndexOutOfBounds)
		wants(t, errorOf(buffer.Slice(1, 1)), hurray.ErrMisaligned)
		share := value(buffer.Share())(t)
		ok(t, errors.Join(buffer.Close(), part.Close()))
		if released != 0 {
			t.Fatal("released too early")
		}
		ok(t, share.Close())
		if released != 1 {
			t.Fatal(released)
		}
	}
}

func TestListsOfBuffers(t *testing.T) {
	noLeak(t)
	first, second := value(hurray.AllocateBuffer(1, 0))(t), value(hurray.AllocateBuffer(2, 0))(t)
	list := value(hurray.NewBufferList(first, second))(t)
	if n := value(list.Len())(t); n != 2 {
		t.Fatal(n)
	}
	for i, size := range []uint64{1, 2} {
		buffer := value(list.Buffer(i))(t)
		if info := value(buffer.Info())(t); info.ByteSize != size {
			t.Errorf("%+v", info)
		}
		ok(t, buffer.Close())
	}
	wants(t, errorOf(list.Buffer(2)), hurray.ErrIndexOutOfBounds)
	wants(t, errorOf(list.Buffer(-1)), hurray.ErrIndexOutOfBounds)
	ok(t, list.Close())

	// When one of the buffers is closed already, the others stay as they are.
	open := closing(t, value(hurray.AllocateBuffer(1, 0))(t))
	wants(t, errorOf(hurray.NewBufferList(open, first)), hurray.ErrClosed)
	if info := value(open.Info())(t); info.Shares != 1 {
		t.Errorf("%+v", info)
	}
	wants(t, errorOf(hurray.AllocateBuffer(1, 3)), hurray.ErrInvalidLayout)
	wants(t, errorOf(hurray.AllocateBuffer(1<<62, 0)), hurray.ErrOutOfMemory)
}

// A handle of another kind, or none at all, is refused and not dereferenced as what it is not.
func TestForeignPointersAreRefused(t *testing.T) {
	noLeak(t)
	tensor := closing(t, value(hurray.FromSlice([]float32{1}, nil, nil))(t))
	list, context, err := tensor.Export()
	ok(t, err)
	l, c := list.Detach(), context.Detach()
	wants(t, errorOf(hurray.ImportPointers(c, l)), hurray.ErrInvalidHandle)
	strange := value(hurray.AllocateBuffer(256, 0))(t)
	ok(t, strange.Borrow(func(bytes []byte) error {
		wants(t, errorOf(hurray.ImportPointers(unsafe.Pointer(&bytes[0]), c)), hurray.ErrInvalidHandle)
		wants(t, errorOf(hurray.ImportPointers(l, unsafe.Pointer(&bytes[0]))), hurray.ErrInvalidHandle)
		return nil
	}))
	ok(t, errors.Join(strange.Close(), value(hurray.ImportPointers(l, c))(t).Close()))
}

// What a strict reader refuses, one with options takes, and only then does the pair move.
func TestImportByTheOptionsOfTheCaller(t *testing.T) {
	noLeak(t)
	spec := hurray.DescriptorSpec{ElementType: hurray.TypeInt8, Layout: 0xF3, Shape: []uint64{5}, Buffers: table(5),
		LayoutFields: hurray.PrivateLayout{ID: 1, Data: []byte("data")}}
	descriptor := closing(t, value(hurray.NewPrivateDescriptor(spec))(t))
	encoded := value(descriptor.Encode())(t)
	var buffers []*hurray.Buffer
	for _, entry := range spec.Buffers {
		buffers = append(buffers, value(hurray.AllocateBuffer(entry.ByteSize, 0))(t))
	}
	list := value(hurray.NewBufferList(buffers...))(t)
	context := value(hurray.NewTensorContext(hurray.CABIVersion, encoded, nil))(t)
	wants(t, errorOf(hurray.Import(list, context)), hurray.ErrInvalidLayout)
	wants(t, errorOf(hurray.ImportOptions(list, context, nil)), hurray.ErrInvalidLayout)
	tensor := closing(t, value(hurray.ImportOptions(list, context, &hurray.DecodeOptions{PrivateTags: true}))(t))
	wants(t, errorOf(list.Len()), hurray.ErrClosed)
	wants(t, errorOf(context.Descriptor()), hurray.ErrClosed)
	if layout := value(tensor.Fields())(t).Layout; layout != spec.Layout {
		t.Error(layout)
	}
}
