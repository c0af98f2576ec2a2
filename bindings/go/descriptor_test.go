package hurray_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"hurray.dev/go/hurray"
)

// dense is the buffer table of a dense tensor.
func dense(byteSize uint64) []hurray.BufferHandle {
	return []hurray.BufferHandle{{ByteSize: byteSize, Alignment: 64}}
}

// specs are descriptors of every kind that this version of the format's library makes.
func specs() map[string]hurray.DescriptorSpec {
	spec := func(layout hurray.Layout, shape []uint64, size uint64) hurray.DescriptorSpec {
		return hurray.DescriptorSpec{ElementType: hurray.TypeFloat32, Layout: layout, Shape: shape, Buffers: dense(size)}
	}
	all := map[string]hurray.DescriptorSpec{
		"row-major":    spec(hurray.LayoutRowMajor, []uint64{2, 3}, 24),
		"column-major": spec(hurray.LayoutColMajor, []uint64{2, 3}, 24),
		"scalar":       spec(hurray.LayoutRowMajor, nil, 4),
		"empty":        spec(hurray.LayoutRowMajor, []uint64{7, 0, 3}, 0),
		"dynamic":      spec(hurray.LayoutRowMajor, []uint64{hurray.DimensionDynamic, 3}, 24),
		"broad":        spec(hurray.LayoutRowMajor, []uint64{1 << 40}, 1<<42),
	}
	strided := spec(hurray.LayoutStrided, []uint64{4, 3}, 256)
	strided.Strides, strided.ByteOffset = []int64{-6, 0}, 128
	all["strided"] = strided
	offset := spec(hurray.LayoutRowMajor, []uint64{5}, 64)
	offset.ByteOffset = 40
	all["offset"] = offset
	shard := spec(hurray.LayoutRowMajor, []uint64{2, 4}, 32)
	shard.Shard = &hurray.Shard{ParentShape: []uint64{8, 4}, Offset: []uint64{6, 0}}
	all["shard"] = shard
	deep := spec(hurray.LayoutRowMajor, make([]uint64, hurray.MaxRank), 4)
	for i := range deep.Shape {
		deep.Shape[i] = 1
	}
	all["rank 64"] = deep
	device := spec(hurray.LayoutRowMajor, []uint64{2}, 8)
	device.Buffers = []hurray.BufferHandle{{ByteSize: 8, Alignment: 4096, Device: hurray.DeviceCUDA, SyncMode: hurray.SyncEvent,
		MemoryClass: hurray.MemoryUnified}}
	all["device"] = device
	for name, elementType := range map[string]hurray.ElementType{"bool": hurray.TypeBool, "int4": hurray.TypeInt4,
		"float6": hurray.TypeFloat6E3M2, "complex128": hurray.TypeComplex128} {
		typed := spec(hurray.LayoutRowMajor, []uint64{10}, 160)
		typed.ElementType = elementType
		all[name] = typed
	}
	return all
}

func TestDescriptorsComeBackAsTheyWereBuilt(t *testing.T) {
	for name, spec := range specs() {
		t.Run(name, func(t *testing.T) {
			noLeak(t)
			built := closing(t, value(hurray.NewDescriptor(spec))(t))
			encoded := value(built.Encode())(t)
			if length := value(hurray.PeekDescriptorLength(encoded[:20]))(t); length != uint64(len(encoded)) {
				t.Fatalf("length %d of %d", length, len(encoded))
			}
			// Whatever stands behind a descriptor is not looked at, and what stands before a result is kept.
			decoded := closing(t, value(hurray.DecodeDescriptor(append(bytes.Clone(encoded), 0xff)))(t))
			again := value(decoded.AppendBinary([]byte("before")))(t)
			if !bytes.Equal(again, append([]byte("before"), encoded...)) {
				t.Fatalf("encoded again: % x, was % x", again, encoded)
			}
			fields := value(decoded.Fields())(t)
			if fields.VersionMajor != 1 || fields.VersionMinor != 0 || fields.Length != uint64(len(encoded)) {
				t.Errorf("%+v", fields)
			}
			if got, want := fmt.Sprintf("%+v", plain(fields.DescriptorSpec)), fmt.Sprintf("%+v", plain(spec)); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// plain is a spec that prints the same when it is the same.
func plain(spec hurray.DescriptorSpec) any {
	shard := hurray.Shard{}
	if spec.Shard != nil {
		shard = *spec.Shard
	}
	isShard := spec.Shard != nil
	spec.Shard = nil
	return []any{spec, isShard, shard}
}

func TestMarshalBinary(t *testing.T) {
	d := closing(t, value(hurray.NewDescriptor(specs()["strided"]))(t))
	if !bytes.Equal(value(d.MarshalBinary())(t), value(d.Encode())(t)) {
		t.Fatal("MarshalBinary and Encode differ")
	}
}

func TestLaterMinorVersionKeepsItsBytes(t *testing.T) {
	noLeak(t)
	d := closing(t, value(hurray.NewDescriptor(specs()["row-major"]))(t))
	later := append(value(d.Encode())(t), "something new"...)
	later[5] = 7
	binary.LittleEndian.PutUint32(later[6:], uint32(len(later)))
	decoded := closing(t, value(hurray.DecodeDescriptor(later))(t))
	if fields := value(decoded.Fields())(t); fields.VersionMinor != 7 || fields.Length != uint64(len(later)) {
		t.Fatalf("%+v", fields)
	}
	if again := value(decoded.Encode())(t); !bytes.Equal(again, later) {
		t.Fatalf("% x became % x", later, again)
	}
}

func TestBadSpecsAreRefused(t *testing.T) {
	noLeak(t)
	base := func() hurray.DescriptorSpec { return specs()["row-major"] }
	for name, c := range map[string]struct {
		change func(*hurray.DescriptorSpec)
		want   error
	}{
		"type":          {func(s *hurray.DescriptorSpec) { s.ElementType = 0 }, hurray.ErrInvalidType},
		"layout":        {func(s *hurray.DescriptorSpec) { s.Layout = 0xff }, hurray.ErrInvalidLayout},
		"rank":          {func(s *hurray.DescriptorSpec) { s.Shape = make([]uint64, 65) }, hurray.ErrInvalidArgument},
		"no buffer":     {func(s *hurray.DescriptorSpec) { s.Buffers = nil }, hurray.ErrInvalidLayout},
		"small buffer":  {func(s *hurray.DescriptorSpec) { s.Buffers[0].ByteSize = 23 }, hurray.ErrInvalidLayout},
		"alignment":     {func(s *hurray.DescriptorSpec) { s.Buffers[0].Alignment = 48 }, hurray.ErrInvalidLayout},
		"device":        {func(s *hurray.DescriptorSpec) { s.Buffers[0].Device = 0x77 }, hurray.ErrInvalidType},
		"sync mode":     {func(s *hurray.DescriptorSpec) { s.Buffers[0].SyncMode = 9 }, hurray.ErrInvalidSyncMode},
		"CPU and event": {func(s *hurray.DescriptorSpec) { s.Buffers[0].SyncMode = hurray.SyncEvent }, hurray.ErrInvalidSyncMode},
		"memory class":  {func(s *hurray.DescriptorSpec) { s.Buffers[0].MemoryClass = 9 }, hurray.ErrInvalidType},
		"offset":        {func(s *hurray.DescriptorSpec) { s.ByteOffset = 25 }, hurray.ErrInvalidLayout},
		"no strides":    {func(s *hurray.DescriptorSpec) { s.Layout = hurray.LayoutStrided }, hurray.ErrInvalidLayout},
		"few strides": {func(s *hurray.DescriptorSpec) { s.Layout, s.Strides = hurray.LayoutStrided, []int64{1} },
			hurray.ErrInvalidLayout},
		"shard lengths": {func(s *hurray.DescriptorSpec) { s.Shard = &hurray.Shard{ParentShape: []uint64{1}} }, hurray.ErrInvalidArgument},
		"shard too far": {func(s *hurray.DescriptorSpec) {
			s.Shard = &hurray.Shard{ParentShape: []uint64{2, 3}, Offset: []uint64{1, 0}}
		}, hurray.ErrInvalidLayout},
		"256 buffers": {func(s *hurray.DescriptorSpec) { s.Buffers = make([]hurray.BufferHandle, 256) }, hurray.ErrInvalidLayout},
	} {
		t.Run(name, func(t *testing.T) {
			spec := base()
			c.change(&spec)
			d, err := hurray.NewDescriptor(spec)
			var failed *hurray.Error
			if d != nil || !errors.As(err, &failed) {
				t.Fatalf("got %v, %v", d, err)
			}
			if !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

// Every cut and every changed byte of a descriptor gives either a descriptor or a typed error; a cut one an error.
func TestHostileBytes(t *testing.T) {
	noLeak(t)
	for name, spec := range specs() {
		d := value(hurray.NewDescriptor(spec))(t)
		encoded := value(d.Encode())(t)
		ok(t, d.Close())
		for cut := range encoded {
			_, err := hurray.DecodeDescriptor(encoded[:cut])
			var failed *hurray.Error
			if !errors.As(err, &failed) || failed.Offset < 0 || failed.Offset > int64(len(encoded)) {
				t.Fatalf("%s cut at %d: %v", name, cut, err)
			}
		}
		for at := range encoded {
			for _, change := range []byte{0x01, 0x80, 0xff} {
				hostile := bytes.Clone(encoded)
				hostile[at] ^= change
				d, err := hurray.DecodeDescriptor(hostile)
				if err == nil {
					ok(t, d.Close())
					continue
				}
				var failed *hurray.Error
				if !errors.As(err, &failed) {
					t.Fatalf("%s byte %d: %v", name, at, err)
				}
			}
		}
	}
	wants(t, errorOf(hurray.DecodeDescriptor(nil)), hurray.ErrInvalidLayout)
	failed := wants(t, errorOf(hurray.DecodeDescriptor(make([]byte, 20))), hurray.ErrInvalidMagic)
	if failed.Offset != 0 {
		t.Errorf("offset %d", failed.Offset)
	}
	if _, err := hurray.PeekDescriptorLength([]byte("HRR")); err == nil {
		t.Error("a length of 3 bytes")
	}
}

func errorOf[T any](_ T, err error) error { return err }

func TestBufferHandleBytes(t *testing.T) {
	got := hurray.BufferHandle{ByteSize: 0x0102030405060708, Alignment: 64, Device: 1, SyncMode: 2, MemoryClass: 3}.Bytes()
	want := [16]byte{8, 7, 6, 5, 4, 3, 2, 1, 64, 0, 0, 0, 1, 2, 3, 0}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("% x", got)
	}
}
