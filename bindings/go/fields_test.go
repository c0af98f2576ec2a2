package hurray_test

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"testing"

	"hurray.dev/go/hurray"
)

func table(sizes ...uint64) []hurray.BufferHandle {
	handles := make([]hurray.BufferHandle, len(sizes))
	for i, size := range sizes {
		handles[i] = hurray.BufferHandle{ByteSize: size, Alignment: 64}
	}
	return handles
}

// laidOut are float32 tensors of the layouts that have fields.
func laidOut() map[string]hurray.DescriptorSpec {
	spec := func(layout hurray.Layout, fields hurray.LayoutFields, shape []uint64, sizes ...uint64) hurray.DescriptorSpec {
		return hurray.DescriptorSpec{ElementType: hurray.TypeFloat32, Layout: layout, LayoutFields: fields, Shape: shape,
			Buffers: table(sizes...)}
	}
	tiles := hurray.TiledLayout{Levels: []hurray.TileLevel{
		{TileShape: []uint64{4, 4}, OuterLayout: hurray.LayoutColMajor, InnerLayout: hurray.LayoutTiled},
		{TileShape: []uint64{2, 2}, OuterLayout: hurray.LayoutStrided, InnerLayout: hurray.LayoutStrided,
			OuterStrides: []int64{2, 1}, InnerStrides: []int64{1, 2}}}}
	return map[string]hurray.DescriptorSpec{
		"tiles in tiles": spec(hurray.LayoutTiled, tiles, []uint64{8, 4}, 128),
		"morton":         spec(hurray.LayoutMorton, hurray.MortonLayout{Bits: []uint64{2, 2}}, []uint64{4, 3}, 64),
		"hilbert":        spec(hurray.LayoutHilbert, hurray.HilbertLayout{Order: 2}, []uint64{4, 4}, 64),
		"coo":            spec(hurray.LayoutCOO, hurray.COOLayout{NNZ: 3, Sorted: true}, []uint64{4, 5}, 12, 48),
		"csr":            spec(hurray.LayoutCSR, hurray.CSRLayout{NNZ: 3}, []uint64{4, 5}, 12, 24, 40),
		"csc":            spec(hurray.LayoutCSC, hurray.CSCLayout{NNZ: 3}, []uint64{4, 5}, 12, 24, 48),
		"csf": spec(hurray.LayoutCSF, hurray.CSFLayout{NNZ: 1, ModeOrder: []uint64{2, 0, 1}}, []uint64{2, 3, 4},
			4, 16, 8, 16, 8, 16, 8),
		"block-paged": spec(hurray.LayoutBlockPaged, hurray.BlockPagedLayout{PageSize: 2, NumPages: 3, NumSeqs: 1,
			KVRole: hurray.KvRoleValue, LayerIndex: hurray.NoLayer, IndexType: hurray.TableIndexUint64},
			[]uint64{5, 2, 4}, 192, 24, 16),
		"composite head": spec(hurray.LayoutComposite, hurray.CompositeLayout{Rule: hurray.CompositionRuleOverlay,
			CombineOp: hurray.CombineOpAdd, MemberCount: 2}, []uint64{4, 4}),
	}
}

// sectioned are tensors with each of the sections, and each of the schemes.
func sectioned() map[string]hurray.DescriptorSpec {
	spec := func(elementType hurray.ElementType, shape []uint64, sizes ...uint64) hurray.DescriptorSpec {
		return hurray.DescriptorSpec{ElementType: elementType, Layout: hurray.LayoutRowMajor, Shape: shape, Buffers: table(sizes...)}
	}
	quantized := func(q hurray.Quantization, elementType hurray.ElementType, shape []uint64, sizes ...uint64) hurray.DescriptorSpec {
		s := spec(elementType, shape, sizes...)
		s.Quantization = q
		return s
	}
	one := hurray.SchemeHeader{Version: 1}
	all := map[string]hurray.DescriptorSpec{
		"per tensor": quantized(hurray.PerTensorAffine{Scale: 0.25, ZeroPoint: -3, SchemeHeader: one}, hurray.TypeInt8,
			[]uint64{4, 8}, 32),
		"per channel": quantized(hurray.PerChannelAffine{Axis: 1, ScaleBuffer: 1, ZeroPointBuffer: 2,
			ScaleType: hurray.TypeFloat32, SchemeHeader: one}, hurray.TypeInt8, []uint64{4, 8}, 32, 32, 32),
		"per block, symmetric": quantized(hurray.PerBlockAffine{Axis: 1, BlockSize: 4, ScaleBuffer: 1,
			ZeroPointBuffer: hurray.NoBuffer, ScaleType: hurray.TypeFloat16, SchemeHeader: one}, hurray.TypeUint4,
			[]uint64{4, 8}, 16, 16),
		"nf4": quantized(hurray.NF4{Axis: 1, BlockSize: 8, ScaleBuffer: 1, SchemeHeader: one}, hurray.TypeUint4,
			[]uint64{4, 8}, 16, 16),
		"mxfp": quantized(hurray.MXFP{Axis: 1, BlockSize: 16, ScaleBuffer: 1, SchemeHeader: one}, hurray.TypeFloat8E4M3,
			[]uint64{4, 16}, 64, 4),
	}
	statistics := spec(hurray.TypeFloat32, []uint64{4, 4}, 64)
	statistics.Statistics = &hurray.Statistics{Computed: hurray.StatisticsFlagNnz | hurray.StatisticsFlagRange, NNZ: 9,
		Min: math.Inf(-1), Max: math.Inf(1), AbsMax: math.Inf(1), Mean: 1.5, HasInf: true}
	all["statistics"] = statistics
	private := spec(0xF0, []uint64{5}, 3)
	private.ExtensionType = &hurray.ExtensionType{BitWidth: 4, IsFloat: true, SignBits: 1, ExponentBits: 2, MantissaBits: 1,
		ExponentBias: 1}
	all["private type"] = private
	role := hurray.MemberRoleBase
	member := spec(hurray.TypeFloat32, []uint64{4, 4}, 64)
	member.MemberRole = &role
	all["member"] = member
	return all
}

func TestFieldsOfEveryLayoutAndSectionAreBuiltAndRead(t *testing.T) {
	for _, group := range []map[string]hurray.DescriptorSpec{laidOut(), sectioned()} {
		for name, spec := range group {
			t.Run(name, func(t *testing.T) {
				noLeak(t)
				built := closing(t, value(hurray.NewDescriptor(spec))(t))
				encoded := value(built.Encode())(t)
				decoded := closing(t, value(hurray.DecodeDescriptor(encoded))(t))
				fields := value(decoded.Fields())(t)
				ok(t, decoded.Close())
				// What was read outlives the descriptor.
				if len(spec.Buffers) == 0 {
					spec.Buffers = []hurray.BufferHandle{}
				}
				if !reflect.DeepEqual(fields.DescriptorSpec, spec) {
					t.Errorf("got  %+v\nwant %+v", fields.DescriptorSpec, spec)
				}
				if (spec.Quantization != nil) != (len(fields.QuantizationPayload) != 0) ||
					!bytes.Contains(encoded, fields.QuantizationPayload) {
					t.Errorf("payload % x", fields.QuantizationPayload)
				}
			})
		}
	}
}

func TestWrongFieldsAreRefused(t *testing.T) {
	noLeak(t)
	base := laidOut()
	for name, c := range map[string]struct {
		of     string
		fields hurray.LayoutFields
		want   error
	}{
		"order":                {"hilbert", hurray.HilbertLayout{Order: 3}, hurray.ErrInvalidLayout},
		"few bits":             {"morton", hurray.MortonLayout{Bits: []uint64{2}}, hurray.ErrInvalidLayout},
		"no levels":            {"tiles in tiles", hurray.TiledLayout{}, hurray.ErrInvalidLayout},
		"nine levels":          {"tiles in tiles", hurray.TiledLayout{Levels: make([]hurray.TileLevel, 9)}, hurray.ErrInvalidLayout},
		"strides of a tile":    {"tiles in tiles", hurray.TiledLayout{Levels: []hurray.TileLevel{{OuterStrides: []int64{1}}}}, hurray.ErrInvalidArgument},
		"no permutation":       {"csf", hurray.CSFLayout{NNZ: 1, ModeOrder: []uint64{0, 1, 1}}, hurray.ErrInvalidLayout},
		"empty page":           {"block-paged", hurray.BlockPagedLayout{NumPages: 3, NumSeqs: 1}, hurray.ErrInvalidLayout},
		"another layout's":     {"csr", hurray.CSCLayout{NNZ: 3}, hurray.ErrInvalidArgument},
		"a private one's":      {"csr", hurray.PrivateLayout{}, hurray.ErrInvalidArgument},
		"rule":                 {"composite head", hurray.CompositeLayout{Rule: 99, MemberCount: 1}, hurray.ErrInvalidComposite},
		"more than the buffer": {"coo", hurray.COOLayout{NNZ: math.MaxUint64}, hurray.ErrInvalidLayout},
	} {
		t.Run(name, func(t *testing.T) {
			spec := base[c.of]
			spec.LayoutFields = c.fields
			wants(t, errorOf(hurray.NewDescriptor(spec)), c.want)
		})
	}
	section := sectioned()["per tensor"]
	section.Quantization = hurray.PerTensorAffine{}
	wants(t, errorOf(hurray.NewDescriptor(section)), hurray.ErrInvalidQuantization)
	section.Quantization = hurray.PerTensorAffine{Scale: 1, ZeroPoint: 128}
	wants(t, errorOf(hurray.NewDescriptor(section)), hurray.ErrInvalidQuantization)
}

func TestPrivateTagsNeedAgreement(t *testing.T) {
	noLeak(t)
	layout := hurray.DescriptorSpec{ElementType: hurray.TypeInt8, Layout: 0xF3, Shape: []uint64{5}, Buffers: table(5),
		LayoutFields: hurray.PrivateLayout{ID: 1<<63 + 1, Data: []byte("any bytes\x00")}}
	scheme := hurray.DescriptorSpec{ElementType: hurray.TypeInt8, Layout: hurray.LayoutRowMajor, Shape: []uint64{5},
		Buffers: table(5), Quantization: hurray.PrivateScheme{Scheme: 0xF1, Version: 1, Flags: 5, Data: []byte("data")}}
	for _, spec := range []hurray.DescriptorSpec{layout, scheme} {
		if _, err := hurray.NewDescriptor(spec); err == nil {
			t.Error("private tags without agreement")
		}
		built := closing(t, value(hurray.NewPrivateDescriptor(spec))(t))
		encoded := value(built.Encode())(t)
		if _, err := hurray.DecodeDescriptor(encoded); err == nil {
			t.Error("private tags without agreement")
		}
		decoded := closing(t, value(hurray.DecodeDescriptorOptions(encoded, &hurray.DecodeOptions{PrivateTags: true}))(t))
		if fields := value(decoded.Fields())(t); !reflect.DeepEqual(fields.DescriptorSpec, spec) {
			t.Errorf("got  %+v\nwant %+v", fields.DescriptorSpec, spec)
		}
	}
}

func TestAPermissiveReaderKeepsWhatItDoesNotKnow(t *testing.T) {
	noLeak(t)
	built := closing(t, value(hurray.NewDescriptor(specs()["row-major"]))(t))
	encoded := value(built.Encode())(t)
	encoded[15] = 0x7F
	wants(t, errorOf(hurray.DecodeDescriptor(encoded)), hurray.ErrInvalidLayout)
	unread := closing(t, value(hurray.DecodeDescriptorOptions(encoded, &hurray.DecodeOptions{Permissive: true}))(t))
	fields := value(unread.Fields())(t)
	if !fields.Opaque || !fields.Unread || fields.LayoutFields != nil || len(fields.Buffers) != 0 {
		t.Errorf("%+v", fields)
	}
	if !bytes.Equal(fields.Trailing, encoded[20+16+8:]) || !bytes.Equal(value(unread.Encode())(t), encoded) {
		t.Errorf("%+v", fields)
	}
	_, err := hurray.DecodeDescriptorOptions(encoded, &hurray.DecodeOptions{MaxLength: 21})
	wants(t, err, hurray.ErrLimitExceeded)
}

// filled is a tensor of a spec whose buffers hold bytes that tell one from the other.
func filled(t *testing.T, spec hurray.DescriptorSpec) *hurray.Tensor {
	t.Helper()
	descriptor := closing(t, value(hurray.NewDescriptor(spec))(t))
	buffers := make([]*hurray.Buffer, len(spec.Buffers))
	for i, handle := range spec.Buffers {
		buffers[i] = value(hurray.AllocateBuffer(handle.ByteSize, 64))(t)
	}
	list := closing(t, value(hurray.NewBufferList(buffers...))(t))
	return closing(t, value(hurray.NewTensor(descriptor, list))(t))
}

func TestTensorsOfEveryLayoutAreExchangedAndStreamed(t *testing.T) {
	for name, spec := range laidOut() {
		t.Run(name, func(t *testing.T) {
			noLeak(t)
			list, context, err := filled(t, spec).Export()
			ok(t, err)
			taken := closing(t, value(hurray.Import(list, context))(t))
			writer := closing(t, value(hurray.NewMemoryWriter())(t))
			ok(t, writer.Write(taken))
			buffer := closing(t, value(writer.Take())(t))
			var stream bytes.Buffer
			_, err = buffer.WriteTo(&stream)
			ok(t, err)
			reader := closing(t, value(hurray.NewReaderBytes(stream.Bytes(), nil))(t))
			read := closing(t, value(reader.Next())(t))
			descriptor := closing(t, value(read.Descriptor())(t))
			if fields := value(descriptor.Fields())(t); !reflect.DeepEqual(fields.LayoutFields, spec.LayoutFields) {
				t.Errorf("got %+v, want %+v", fields.LayoutFields, spec.LayoutFields)
			}
			_, err = read.View()
			wants(t, err, hurray.ErrUnsupported)
		})
	}
}

func TestViewsSayThatTheTensorIsQuantized(t *testing.T) {
	noLeak(t)
	for name, spec := range map[string]hurray.DescriptorSpec{"": specs()["row-major"], "quantized": sectioned()["per tensor"]} {
		view := closing(t, value(filled(t, spec).View())(t))
		if view.Quantized() != (name != "") {
			t.Errorf("%q: %v", name, view.Quantized())
		}
	}
}

func TestFieldsAfterClose(t *testing.T) {
	d := value(hurray.NewDescriptor(laidOut()["csr"]))(t)
	ok(t, d.Close())
	if _, err := d.Fields(); !errors.Is(err, hurray.ErrClosed) {
		t.Errorf("got %v", err)
	}
}
