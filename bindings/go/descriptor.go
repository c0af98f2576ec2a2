package hurray

import (
	"encoding/binary"
	"runtime"
	"unsafe"

	"hurray.dev/go/hurray/internal/capi"
	"hurray.dev/go/hurray/internal/native"
)

// BufferHandleSize is the length of an encoded BufferHandle in bytes.
const BufferHandleSize = 16

// A BufferHandle is an entry of a descriptor's buffer table. (format: buffer table)
type BufferHandle struct {
	// ByteSize is the length of the buffer in bytes.
	ByteSize uint64
	// Alignment of its first byte: a power of two, at least 64 when ByteSize is not 0.
	Alignment   uint32
	Device      Device
	SyncMode    SyncMode
	MemoryClass MemoryClass
}

// Bytes encodes the handle as it stands in the table.
func (b BufferHandle) Bytes() [BufferHandleSize]byte {
	var encoded [BufferHandleSize]byte
	binary.LittleEndian.PutUint64(encoded[0:], b.ByteSize)
	binary.LittleEndian.PutUint32(encoded[8:], b.Alignment)
	encoded[12] = byte(b.Device)
	encoded[13] = byte(b.SyncMode)
	encoded[14] = byte(b.MemoryClass)
	return encoded
}

func bufferHandle(encoded *capi.BufferHandleBytes) BufferHandle {
	bytes := encoded.Bytes[:]
	return BufferHandle{
		ByteSize:    binary.LittleEndian.Uint64(bytes[0:]),
		Alignment:   binary.LittleEndian.Uint32(bytes[8:]),
		Device:      Device(bytes[12]),
		SyncMode:    SyncMode(bytes[13]),
		MemoryClass: MemoryClass(bytes[14]),
	}
}

// A Shard says which part of a larger tensor a tensor is. Both slices have one entry a dimension, in elements.
type Shard struct {
	// ParentShape is the shape of the whole tensor.
	ParentShape []uint64
	// Offset is the place of this part's first element in it.
	Offset []uint64
}

// A DescriptorSpec holds what a descriptor is made of; NewDescriptor checks it.
type DescriptorSpec struct {
	ElementType ElementType
	Layout      Layout
	// Shape has one size a dimension, DimensionDynamic for one that is not known. Empty for a scalar.
	Shape []uint64
	// Strides, one a dimension, in elements: of LayoutStrided only, else nil.
	Strides []int64
	// LayoutFields are the fields of the other layouts that have any, else nil.
	LayoutFields LayoutFields
	// ByteOffset is the offset of the first element in buffer 0, in bytes.
	ByteOffset uint64
	// Buffers is the buffer table.
	Buffers []BufferHandle
	// Shard is nil unless the tensor is a part of a larger one.
	Shard *Shard
	// Quantization is nil unless the elements are quantized.
	Quantization Quantization
	// Statistics is nil unless the writer says something about the values.
	Statistics *Statistics
	// ExtensionType says what the elements of a private type are; nil for other types.
	ExtensionType *ExtensionType
	// MemberRole is the role of a member of an overlay; nil for other tensors.
	MemberRole *MemberRole
}

// DescriptorFields are the fields of a descriptor, copied.
type DescriptorFields struct {
	// VersionMajor and VersionMinor are the version of the format.
	VersionMajor, VersionMinor uint8
	// Length of the encoded descriptor in bytes.
	Length uint64
	// Flags of the fixed header.
	Flags uint32
	DescriptorSpec
	// ElementBits is the size of one element in bits.
	ElementBits uint32
	// ElementCount is the product of the shape, or DimensionDynamic where a dimension is dynamic.
	ElementCount uint64
	// QuantizationPayload are the bytes of the quantization section behind its length.
	QuantizationPayload []byte
	// Trailing is what a later minor version put behind the sections, or what is unread; encoded again as it was.
	Trailing []byte
	// Opaque says that a permissive reader met a tag that it does not know: nobody may touch the data then. Unread: it is
	// the layout that is not known. There are no LayoutFields, Buffers and sections then, whatever Flags says; all of
	// that is in Trailing.
	Opaque, Unread bool
}

// DecodeOptions say what a reader of descriptors accepts. The zero value, or nil, is a strict reader.
type DecodeOptions struct {
	// PrivateTags accepts private layouts, quantization schemes, devices and memory classes, upon which writer and reader
	// have agreed.
	PrivateTags bool
	// Permissive accepts element types, layouts and quantization schemes that are not known: the descriptor is opaque
	// then.
	Permissive bool
	// MaxLength is the longest descriptor accepted, in bytes; 0 means 16 MiB.
	MaxLength uint64
}

// A Descriptor is a validated, immutable tensor descriptor. Several goroutines may use it. It is ended by Close.
type Descriptor struct {
	owned[*capi.Descriptor]
}

func newDescriptor(handle *capi.Descriptor) *Descriptor {
	d := &Descriptor{owned[*capi.Descriptor]{handle: handle, what: "descriptor"}}
	runtime.SetFinalizer(d, func(d *Descriptor) { _ = d.collect("Descriptor", destroyDescriptor) })
	return d
}

// DecodeDescriptor decodes and fully validates the descriptor that encoded starts with. Bytes behind its length are
// not looked at; nothing of encoded is kept.
//
// Errors: ErrInvalidMagic, ErrVersionMismatch, ErrInvalidLayout, ErrInvalidType, ErrInvalidSyncMode, ErrUnsupported,
// ErrLimitExceeded, with the byte offset of the fault.
func DecodeDescriptor(encoded []byte) (*Descriptor, error) {
	const op = "DecodeDescriptor"
	return decodeDescriptor(op, func(out **capi.Descriptor, report *capi.Error) int32 {
		return capi.CallDescriptorDecode(unsafe.SliceData(encoded), uint64(len(encoded)), out, report)
	})
}

// DecodeDescriptorOptions is DecodeDescriptor for a reader with options, which may be nil.
func DecodeDescriptorOptions(encoded []byte, options *DecodeOptions) (*Descriptor, error) {
	const op = "DecodeDescriptorOptions"
	accepted := options.native()
	return decodeDescriptor(op, func(out **capi.Descriptor, report *capi.Error) int32 {
		return capi.CallDescriptorDecodeOptions(unsafe.SliceData(encoded), uint64(len(encoded)), &accepted, out, report)
	})
}

func decodeDescriptor(op string, decode func(**capi.Descriptor, *capi.Error) int32) (*Descriptor, error) {
	if err := load(op); err != nil {
		return nil, err
	}
	var handle *capi.Descriptor
	err := call(op, func(report *capi.Error) int32 { return decode(&handle, report) })
	if err != nil {
		return nil, err
	}
	return newDescriptor(handle), nil
}

func (o *DecodeOptions) native() capi.DecodeOptions {
	options := capi.DecodeOptions{StructSize: uint32(unsafe.Sizeof(capi.DecodeOptions{}))}
	if o == nil {
		return options
	}
	options.MaxLength = o.MaxLength
	if o.PrivateTags {
		options.Flags |= uint32(DecodeFlagPrivateTags)
	}
	if o.Permissive {
		options.Flags |= uint32(DecodeFlagPermissive)
	}
	return options
}

// PeekDescriptorLength tells how long the descriptor is that encoded starts with, from its first 20 bytes.
func PeekDescriptorLength(encoded []byte) (uint64, error) {
	const op = "PeekDescriptorLength"
	if err := load(op); err != nil {
		return 0, err
	}
	var length uint64
	err := call(op, func(report *capi.Error) int32 {
		return capi.CallDescriptorPeekLength(unsafe.SliceData(encoded), uint64(len(encoded)), &length, report)
	})
	return length, err
}

// NewDescriptor validates a spec and makes it a descriptor of version 1.0 of the format. Nothing of the spec is kept.
//
// Errors: as DecodeDescriptor; ErrInvalidArgument for slices whose lengths do not fit each other.
func NewDescriptor(spec DescriptorSpec) (*Descriptor, error) {
	return buildDescriptor("NewDescriptor", spec, false)
}

// NewPrivateDescriptor is NewDescriptor, and accepts private layouts, quantization schemes, devices and memory classes,
// upon which the readers have agreed.
func NewPrivateDescriptor(spec DescriptorSpec) (*Descriptor, error) {
	return buildDescriptor("NewPrivateDescriptor", spec, true)
}

func buildDescriptor(op string, spec DescriptorSpec, privateTags bool) (*Descriptor, error) {
	if err := load(op); err != nil {
		return nil, err
	}
	if shard := spec.Shard; shard != nil && (len(shard.ParentShape) != len(spec.Shape) || len(shard.Offset) != len(spec.Shape)) {
		return nil, invalid(op, "the shard's slices and the shape differ in length")
	}
	builder, err := newBuilder(op, &spec, privateTags)
	if err != nil {
		return nil, err
	}
	defer capi.CallDescriptorBuilderDestroy(&builder)
	var handle *capi.Descriptor
	err = call(op, func(report *capi.Error) int32 { return capi.CallDescriptorBuilderBuild(builder, &handle, report) })
	if err != nil {
		return nil, err
	}
	return newDescriptor(handle), nil
}

// newBuilder makes a builder that has everything of a spec, and that the caller destroys.
func newBuilder(op string, spec *DescriptorSpec, privateTags bool) (*capi.DescriptorBuilder, error) {
	var builder *capi.DescriptorBuilder
	err := call(op, func(report *capi.Error) int32 {
		return capi.CallDescriptorBuilderNew(uint8(spec.ElementType), uint8(spec.Layout), unsafe.SliceData(spec.Shape),
			uint32(len(spec.Shape)), &builder, report)
	})
	if err == nil && privateTags {
		err = call(op, func(report *capi.Error) int32 { return capi.CallDescriptorBuilderAllowPrivateTags(builder, report) })
	}
	if err == nil {
		err = fill(op, builder, spec)
	}
	if err != nil {
		capi.CallDescriptorBuilderDestroy(&builder)
		return nil, err
	}
	return builder, nil
}

func fill(op string, builder *capi.DescriptorBuilder, spec *DescriptorSpec) error {
	err := call(op, func(report *capi.Error) int32 {
		return capi.CallDescriptorBuilderSetByteOffset(builder, spec.ByteOffset, report)
	})
	if err == nil && spec.Strides != nil {
		err = call(op, func(report *capi.Error) int32 {
			return capi.CallDescriptorBuilderSetStrides(builder, unsafe.SliceData(spec.Strides), uint32(len(spec.Strides)), report)
		})
	}
	if err == nil {
		err = buildLayout(op, builder, spec)
	}
	if err == nil {
		err = buildSections(op, builder, spec)
	}
	if err == nil && spec.Shard != nil {
		err = call(op, func(report *capi.Error) int32 {
			return capi.CallDescriptorBuilderSetShard(builder, unsafe.SliceData(spec.Shard.ParentShape),
				unsafe.SliceData(spec.Shard.Offset), uint32(len(spec.Shape)), report)
		})
	}
	for index := 0; err == nil && index < len(spec.Buffers); index++ {
		encoded := &capi.BufferHandleBytes{Bytes: spec.Buffers[index].Bytes()}
		err = call(op, func(report *capi.Error) int32 {
			return capi.CallDescriptorBuilderAddBuffer(builder, encoded, report)
		})
	}
	return err
}

// Fields copies the fields out of the descriptor.
func (d *Descriptor) Fields() (DescriptorFields, error) {
	var fields DescriptorFields
	err := d.use("Descriptor.Fields", func(handle *capi.Descriptor) (err error) {
		fields, err = readFields("Descriptor.Fields", handle)
		return err
	})
	runtime.KeepAlive(d)
	return fields, err
}

func readFields(op string, handle *capi.Descriptor) (DescriptorFields, error) {
	info := &capi.DescriptorInfo{StructSize: uint32(unsafe.Sizeof(capi.DescriptorInfo{}))}
	err := call(op, func(report *capi.Error) int32 { return capi.CallDescriptorInfo(handle, info, report) })
	if err != nil {
		return DescriptorFields{}, err
	}
	rank := uint64(info.Rank)
	fields := DescriptorFields{
		VersionMajor: info.VersionMajor,
		VersionMinor: info.VersionMinor,
		Length:       info.DescriptorLength,
		Flags:        info.Flags,
		DescriptorSpec: DescriptorSpec{
			ElementType: ElementType(info.ElementType),
			Layout:      Layout(info.Layout),
			Shape:       native.Slice[uint64](info.Shape, rank),
			Strides:     native.Slice[int64](info.Strides, rank),
			ByteOffset:  info.ByteOffset,
		},
		ElementBits:  info.Bits,
		ElementCount: info.ElementCount,
		Trailing:     native.Slice[byte](info.Trailing, info.TrailingLength),
		Opaque:       DescriptorFlag(info.Reading)&DescriptorFlagOpaque != 0,
		Unread:       DescriptorFlag(info.Reading)&DescriptorFlagUnread != 0,
	}
	if fields.LayoutFields, err = readLayout(op, handle); err != nil {
		return DescriptorFields{}, err
	}
	if err := readSections(op, handle, &fields); err != nil {
		return DescriptorFields{}, err
	}
	if info.ParentShape != 0 {
		fields.Shard = &Shard{native.Slice[uint64](info.ParentShape, rank), native.Slice[uint64](info.ShardOffset, rank)}
	}
	fields.Buffers = make([]BufferHandle, info.BufferCount)
	encoded := new(capi.BufferHandleBytes)
	for index := range fields.Buffers {
		err := call(op, func(report *capi.Error) int32 {
			return capi.CallDescriptorBuffer(handle, uint32(index), encoded, report)
		})
		if err != nil {
			return DescriptorFields{}, err
		}
		fields.Buffers[index] = bufferHandle(encoded)
	}
	return fields, nil
}

// Encode returns the descriptor's bytes.
func (d *Descriptor) Encode() ([]byte, error) { return d.AppendBinary(nil) }

// MarshalBinary is Encode, for encoding.BinaryMarshaler.
func (d *Descriptor) MarshalBinary() ([]byte, error) { return d.AppendBinary(nil) }

// AppendBinary appends the descriptor's bytes to a slice and returns the longer one.
func (d *Descriptor) AppendBinary(to []byte) ([]byte, error) {
	const op = "Descriptor.Encode"
	result := to
	err := d.use(op, func(handle *capi.Descriptor) (err error) {
		result, err = appendEncoded(op, handle, to)
		return err
	})
	runtime.KeepAlive(d)
	return result, err
}

func appendEncoded(op string, handle *capi.Descriptor, to []byte) ([]byte, error) {
	info := &capi.DescriptorInfo{StructSize: uint32(unsafe.Sizeof(capi.DescriptorInfo{}))}
	err := call(op, func(report *capi.Error) int32 { return capi.CallDescriptorInfo(handle, info, report) })
	if err != nil {
		return to, err
	}
	// An encoded descriptor is at hand already, or was built from what is: its length is no stranger's word.
	start := len(to)
	grown := append(to, make([]byte, info.DescriptorLength)...)
	var written uint64
	err = call(op, func(report *capi.Error) int32 {
		return capi.CallDescriptorEncode(handle, unsafe.SliceData(grown[start:]), info.DescriptorLength, &written, report)
	})
	if err != nil {
		return to, err
	}
	return grown[:start+int(written)], nil
}

// Close ends the descriptor. Closing once more does nothing.
func (d *Descriptor) Close() error {
	runtime.SetFinalizer(d, nil)
	return d.end("Descriptor.Close", destroyDescriptor)
}

func destroyDescriptor(handle *capi.Descriptor) int32 { return capi.CallDescriptorDestroy(&handle) }
