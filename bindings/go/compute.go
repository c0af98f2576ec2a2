package hurray

import (
	"context"
	"runtime"
	"unsafe"

	"hurray.dev/go/hurray/internal/capi"
	"hurray.dev/go/hurray/internal/native"
)

// A TranscodeSpec names the layout that a tensor is wanted in.
type TranscodeSpec struct {
	Layout Layout
	// Strides, one a dimension, in elements: of LayoutStrided only, else nil.
	Strides []int64
	// LayoutFields are the fields that the new layout is to have; nil for those that will do, which LayoutTiled has none
	// of. NNZ of sparse layouts is not looked at: the elements tell.
	LayoutFields LayoutFields
	// Alignment of the new buffers in bytes, a power of two of at least 64; 0 means 64.
	Alignment uint32
	// Sequence is the one sequence wanted of a block-paged tensor; nil for all of them, one after the other.
	Sequence *uint32
	// TokenCounts are the tokens of each sequence of a block-paged tensor; nil when they are not known. The format stores
	// pages only: without them, tensors of several sequences whose last pages are not full cannot be transcoded.
	TokenCounts []uint64
}

// A QuantizeSpec says how to quantize.
type QuantizeSpec struct {
	Scheme Scheme
	// StorageType of the stored elements.
	StorageType ElementType
	// ScaleType of the scales; 0 for what the scheme has.
	ScaleType ElementType
	// Symmetric, of the affine schemes: all zero points are 0, and steps reach as far down as up.
	Symmetric bool
	// Axis is the dimension along which channels or blocks follow one another; 0 for SchemePerTensorAffine.
	Axis uint32
	// BlockSize is the number of elements of a block along the axis; 0 for schemes without blocks.
	BlockSize uint32
}

// work runs long work on a share of the tensor, so that everybody, callbacks of the work included, may use the tensor
// meanwhile.
func (t *Tensor) work(op string, ctx context.Context, options *WorkOptions,
	f func(handle *capi.Tensor, record *capi.WorkOptions, report *capi.Error) int32) error {
	var share *capi.Tensor
	err := t.use(op, func(handle *capi.Tensor, report *capi.Error) int32 {
		return capi.CallTensorShare(handle, &share, report)
	})
	if err != nil {
		return err
	}
	defer func() {
		// The last share, if the tensor was closed meanwhile: its release runs here.
		capi.CallTensorDestroy(&share)
		native.Drain()
	}()
	return work(op, ctx, options, func(record *capi.WorkOptions, report *capi.Error) int32 {
		return f(share, record, report)
	})
}

// made is work that makes a tensor.
func (t *Tensor) made(op string, ctx context.Context, options *WorkOptions,
	f func(handle *capi.Tensor, record *capi.WorkOptions, out **capi.Tensor, report *capi.Error) int32) (*Tensor, error) {
	var result *capi.Tensor
	err := t.work(op, ctx, options, func(handle *capi.Tensor, record *capi.WorkOptions, report *capi.Error) int32 {
		return f(handle, record, &result, report)
	})
	if err != nil {
		return nil, err
	}
	return newTensor(result), nil
}

// Transcode makes a new tensor with the same elements, bit for bit, in another layout: dense, sparse (COO, CSR, CSC,
// CSF) or, as a source only, block-paged. Padding is 0, sections stay. The new tensor, which the caller closes, may share
// memory of this one: scales and zero points. The unit of progress is bytes of the elements; from dense to sparse and back
// elements, between sparse layouts entries. Since version 4 of the C ABI.
//
// Errors: ErrUnsupported for a pair of layouts that is not offered, an opaque descriptor, memory that the CPU cannot read;
// ErrInvalidArgument for the spec; ErrInvalidLayout for a dynamic dimension, and fields that the layout refuses;
// ErrInvalidSyncMode; ErrLimitExceeded; ErrOutOfMemory; ErrCancelled.
func (t *Tensor) Transcode(ctx context.Context, spec TranscodeSpec, options *WorkOptions) (*Tensor, error) {
	const op = "Tensor.Transcode"
	var fields *capi.DescriptorBuilder
	if spec.LayoutFields != nil || spec.Strides != nil {
		var err error
		if fields, err = t.layoutBuilder(op, &spec); err != nil {
			return nil, err
		}
		defer capi.CallDescriptorBuilderDestroy(&fields)
	}
	var pinner runtime.Pinner
	defer pinner.Unpin()
	record := &capi.TranscodeSpec{
		StructSize:        uint32(unsafe.Sizeof(capi.TranscodeSpec{})),
		Layout:            uint8(spec.Layout),
		Alignment:         spec.Alignment,
		TokenCounts:       pinned(&pinner, spec.TokenCounts),
		TokenCountsLength: uint64(len(spec.TokenCounts)),
	}
	if spec.Sequence != nil {
		record.Flags, record.Sequence = TranscodeSequence, *spec.Sequence
	}
	return t.made(op, ctx, options,
		func(handle *capi.Tensor, options *capi.WorkOptions, out **capi.Tensor, report *capi.Error) int32 {
			return capi.CallTensorTranscode(handle, record, fields, options, out, report)
		})
}

// layoutBuilder makes a builder of the tensor's type and shape that has the fields of another layout.
func (t *Tensor) layoutBuilder(op string, spec *TranscodeSpec) (*capi.DescriptorBuilder, error) {
	of, err := t.Fields()
	if err != nil {
		return nil, err
	}
	return newBuilder(op, &DescriptorSpec{ElementType: of.ElementType, Layout: spec.Layout, Shape: of.Shape,
		Strides: spec.Strides, LayoutFields: spec.LayoutFields}, false)
}

// Dequantize makes a new tensor, which the caller closes, of the numbers that quantized elements stand for: worked out
// in float32, as the format says, and then rounded once to the target type, TypeFloat16, TypeBFloat16, TypeFloat32 or
// TypeFloat64. Dense tensors become row-major, column-major ones stay so; sparse and block-paged ones keep their layout and
// share all buffers but the values. The unit of progress is elements. Since version 4 of the C ABI. (format: quantization)
//
// Errors: ErrInvalidArgument when the tensor is not quantized, and for another type; ErrUnsupported; ErrInvalidLayout for
// a dynamic dimension; ErrInvalidQuantization for a scale or zero point that the scheme forbids; ErrInvalidSyncMode;
// ErrLimitExceeded; ErrOutOfMemory; ErrCancelled.
func (t *Tensor) Dequantize(ctx context.Context, to ElementType, options *WorkOptions) (*Tensor, error) {
	return t.made("Tensor.Dequantize", ctx, options,
		func(handle *capi.Tensor, options *capi.WorkOptions, out **capi.Tensor, report *capi.Error) int32 {
			return capi.CallTensorDequantize(handle, uint8(to), options, out, report)
		})
}

// Quantize makes a new quantized tensor, which the caller closes, of a dense one of TypeFloat16, TypeBFloat16,
// TypeFloat32 or TypeFloat64: row-major, with the scales that the numbers of the tensor, channel or block need. The unit of
// progress is elements. Since version 4 of the C ABI. (format: quantization)
//
// Errors: ErrInvalidArgument for a field of the spec, or an element that has no place in it (NaN, infinite, too large);
// ErrInvalidType; ErrUnsupported; ErrInvalidLayout for a dynamic dimension; ErrInvalidSyncMode; ErrLimitExceeded;
// ErrOutOfMemory; ErrCancelled.
func (t *Tensor) Quantize(ctx context.Context, spec QuantizeSpec, options *WorkOptions) (*Tensor, error) {
	record := &capi.QuantizeSpec{
		StructSize:  uint32(unsafe.Sizeof(capi.QuantizeSpec{})),
		Scheme:      uint8(spec.Scheme),
		StorageType: uint8(spec.StorageType),
		ScaleType:   uint8(spec.ScaleType),
		Symmetric:   boolByte(spec.Symmetric),
		Axis:        spec.Axis,
		BlockSize:   spec.BlockSize,
	}
	return t.made("Tensor.Quantize", ctx, options,
		func(handle *capi.Tensor, options *capi.WorkOptions, out **capi.Tensor, report *capi.Error) int32 {
			return capi.CallTensorQuantize(handle, record, options, out, report)
		})
}

// Validate checks the tensor up to a level and returns the first violation. Of a composite head the descriptor alone is
// looked at. The unit of progress is bytes of the buffers, about. Since version 4 of the C ABI.
//
// Errors: those of DecodeDescriptor; from ValidationLevelBuffers on those of NewTensor; on ValidationLevelData
// ErrInvalidLayout for index arrays and unused bits, ErrInvalidType for a pattern that is no element,
// ErrInvalidQuantization for scales, zero points and padding, ErrUnsupported, ErrInvalidSyncMode. ErrInvalidArgument for
// the level; ErrLimitExceeded; ErrOutOfMemory; ErrCancelled.
func (t *Tensor) Validate(ctx context.Context, level ValidationLevel, options *WorkOptions) error {
	return t.work("Tensor.Validate", ctx, options,
		func(handle *capi.Tensor, options *capi.WorkOptions, report *capi.Error) int32 {
			return capi.CallTensorValidate(handle, uint32(level), options, report)
		})
}

// Statistics works out the statistics that a mask asks for, in one pass over the elements: dequantized where they are
// quantized, and of a sparse tensor with those that are not stored. What has no answer for these elements is left out of
// Computed. The unit of progress is bytes of stored elements. Since version 4 of the C ABI. (format: statistics)
//
// Errors: ErrInvalidArgument for other bits in the mask; ErrUnsupported for range or moments of complex numbers and of
// float128, composite heads, private layouts, opaque descriptors, memory that the CPU cannot read; ErrInvalidType for a
// pattern that is no element; ErrInvalidLayout; ErrInvalidSyncMode; those of Dequantize; ErrLimitExceeded; ErrOutOfMemory;
// ErrCancelled.
func (t *Tensor) Statistics(ctx context.Context, mask StatisticsFlag, options *WorkOptions) (Statistics, error) {
	out := &capi.Statistics{StructSize: uint32(unsafe.Sizeof(capi.Statistics{}))}
	err := t.work("Tensor.Statistics", ctx, options,
		func(handle *capi.Tensor, options *capi.WorkOptions, report *capi.Error) int32 {
			return capi.CallTensorStatistics(handle, uint32(mask), options, out, report)
		})
	if err != nil {
		return Statistics{}, err
	}
	return *readStatistics(out), nil
}
