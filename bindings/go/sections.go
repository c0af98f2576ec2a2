package hurray

import (
	"runtime"
	"unsafe"

	"hurray.dev/go/hurray/internal/capi"
	"hurray.dev/go/hurray/internal/native"
)

// Quantization says how the elements of a tensor are quantized: one of PerTensorAffine, PerChannelAffine,
// PerBlockAffine, NF4, MXFP and PrivateScheme. The buffers with scales and zero points are entries of the buffer
// table. (format: quantization)
type Quantization interface {
	quantization(pinner *runtime.Pinner) capi.Quantization
}

// A SchemeHeader is what all schemes of the format share.
type SchemeHeader struct {
	// Version of the scheme; 0 stands for 1.
	Version uint8
	// Padding is the number of zero bytes that the writer put behind the fields.
	Padding uint32
}

// PerTensorAffine has one scale and zero point: value = Scale * (q - ZeroPoint). (format: per-tensor affine)
type PerTensorAffine struct {
	// Scale is finite and not 0.
	Scale     float32
	ZeroPoint int32
	SchemeHeader
}

// PerChannelAffine has a scale, and a zero point, for each index of an axis. (format: per-channel affine)
type PerChannelAffine struct {
	Axis uint32
	// ScaleBuffer is the number of the buffer with the scales, ZeroPointBuffer that of the zero points: the same one when
	// they follow the scales there, NoBuffer when all are 0.
	ScaleBuffer, ZeroPointBuffer uint32
	// ScaleType is TypeFloat32.
	ScaleType ElementType
	SchemeHeader
}

// PerBlockAffine has a scale, and a zero point, for each block along an axis. (format: per-block affine)
type PerBlockAffine struct {
	Axis uint32
	// BlockSize is the number of elements of a block: a power of 2.
	BlockSize uint32
	// ScaleBuffer and ZeroPointBuffer are as for PerChannelAffine.
	ScaleBuffer, ZeroPointBuffer uint32
	// ScaleType is TypeFloat16, TypeBFloat16 or TypeFloat32.
	ScaleType ElementType
	SchemeHeader
}

// NF4 has 4-bit quantiles of the normal distribution, times the largest magnitude of the block. (format: NF4)
type NF4 struct {
	Axis, BlockSize, ScaleBuffer uint32
	SchemeHeader
}

// MXFP has small floating-point numbers with an exponent that a block shares. (format: MXFP)
type MXFP struct {
	Axis, BlockSize, ScaleBuffer uint32
	SchemeHeader
}

// PrivateScheme is a scheme upon which writer and reader have agreed, or one that a permissive reader does not know.
type PrivateScheme struct {
	Scheme  Scheme
	Version uint8
	Flags   uint16
	// Data is what follows the first 4 bytes.
	Data []byte
}

// Statistics are what the writer says about the values, dequantized ones where they are quantized. Nobody may rely on
// them. Fields whose bit of Computed is not set have no meaning. (format: statistics)
type Statistics struct {
	Computed StatisticsFlag
	// NNZ is the number of elements other than 0.
	NNZ uint64
	// SparsityRatio is the fraction of elements that are 0.
	SparsityRatio float64
	Min, Max      float64
	// AbsMax is the greatest magnitude.
	AbsMax float64
	Mean   float64
	// StdDev is that of the whole population.
	StdDev float64
	// At most NMN of each NMM elements that follow one another are not 0.
	NMN, NMM       uint8
	HasNaN, HasInf bool
}

// An ExtensionType says what a private element type is. Fields of floating-point types are 0 for integers.
// (format: extension type)
type ExtensionType struct {
	// BitWidth is 1, 2, 4, or a multiple of 8.
	BitWidth     uint32
	IsFloat      bool
	IsSigned     bool
	SignBits     uint8
	ExponentBits uint8
	MantissaBits uint8
	ExponentBias uint32
	HasNaN       bool
	HasInf       bool
}

// PackingFactor is the number of elements in a byte; 1 for types of whole bytes.
func (e ExtensionType) PackingFactor() uint8 {
	if e.BitWidth > 0 && e.BitWidth < 8 {
		return uint8(8 / e.BitWidth)
	}
	return 1
}

func (h SchemeHeader) of(scheme Scheme) capi.Quantization {
	version := h.Version
	if version == 0 {
		version = 1
	}
	return capi.Quantization{StructSize: uint32(unsafe.Sizeof(capi.Quantization{})), Present: 1, Scheme: uint8(scheme),
		Version: version, Padding: h.Padding, ScaleBuffer: NoBuffer, ZeroPointBuffer: NoBuffer}
}

func (p PerTensorAffine) quantization(*runtime.Pinner) capi.Quantization {
	section := p.of(SchemePerTensorAffine)
	section.Scale, section.ZeroPoint = p.Scale, p.ZeroPoint
	return section
}

func (p PerChannelAffine) quantization(*runtime.Pinner) capi.Quantization {
	section := p.of(SchemePerChannelAffine)
	section.Axis, section.ScaleType = p.Axis, uint8(p.ScaleType)
	setParameters(&section, p.ScaleBuffer, p.ZeroPointBuffer)
	return section
}

func (p PerBlockAffine) quantization(*runtime.Pinner) capi.Quantization {
	section := p.of(SchemePerBlockAffine)
	section.Axis, section.BlockSize, section.ScaleType = p.Axis, p.BlockSize, uint8(p.ScaleType)
	setParameters(&section, p.ScaleBuffer, p.ZeroPointBuffer)
	return section
}

func setParameters(section *capi.Quantization, scales, zeroPoints uint32) {
	section.ScaleBuffer, section.ZeroPointBuffer = scales, zeroPoints
	if zeroPoints == NoBuffer {
		section.Flags = QuantizationSymmetric
	}
}

func (n NF4) quantization(*runtime.Pinner) capi.Quantization {
	section := n.of(SchemeNf4)
	section.Axis, section.BlockSize, section.ScaleBuffer = n.Axis, n.BlockSize, n.ScaleBuffer
	return section
}

func (m MXFP) quantization(*runtime.Pinner) capi.Quantization {
	section := m.of(SchemeMxfp)
	section.Axis, section.BlockSize, section.ScaleBuffer = m.Axis, m.BlockSize, m.ScaleBuffer
	return section
}

func (p PrivateScheme) quantization(pinner *runtime.Pinner) capi.Quantization {
	section := SchemeHeader{Version: p.Version}.of(p.Scheme)
	section.Flags, section.PrivateLength, section.PrivateData = p.Flags, uint64(len(p.Data)), pinned(pinner, p.Data)
	return section
}

// buildSections gives the sections of a spec, but the shard, to a builder.
func buildSections(op string, builder *capi.DescriptorBuilder, spec *DescriptorSpec) error {
	if spec.Quantization != nil {
		var pinner runtime.Pinner
		defer pinner.Unpin()
		section := spec.Quantization.quantization(&pinner)
		err := call(op, func(report *capi.Error) int32 {
			return capi.CallDescriptorBuilderSetQuantization(builder, &section, report)
		})
		if err != nil {
			return err
		}
	}
	if s := spec.Statistics; s != nil {
		section := &capi.Statistics{StructSize: uint32(unsafe.Sizeof(capi.Statistics{})), ComputedMask: uint32(s.Computed),
			Nnz: s.NNZ, SparsityRatio: s.SparsityRatio, ValueMin: s.Min, ValueMax: s.Max, ValueAbsMax: s.AbsMax,
			ValueMean: s.Mean, ValueStddev: s.StdDev, Present: 1, NmN: s.NMN, NmM: s.NMM, HasNan: boolByte(s.HasNaN),
			HasInf: boolByte(s.HasInf)}
		err := call(op, func(report *capi.Error) int32 {
			return capi.CallDescriptorBuilderSetStatistics(builder, section, report)
		})
		if err != nil {
			return err
		}
	}
	if e := spec.ExtensionType; e != nil {
		section := &capi.ExtensionType{StructSize: uint32(unsafe.Sizeof(capi.ExtensionType{})), BitWidth: e.BitWidth,
			ExponentBias: e.ExponentBias, Present: 1, PackingFactor: e.PackingFactor(), IsFloat: boolByte(e.IsFloat),
			IsSigned: boolByte(e.IsSigned), SignBits: e.SignBits, ExponentBits: e.ExponentBits,
			MantissaBits: e.MantissaBits, HasNan: boolByte(e.HasNaN), HasInf: boolByte(e.HasInf)}
		err := call(op, func(report *capi.Error) int32 {
			return capi.CallDescriptorBuilderSetExtensionType(builder, section, report)
		})
		if err != nil {
			return err
		}
	}
	if spec.MemberRole == nil {
		return nil
	}
	section := &capi.CompositeMember{StructSize: uint32(unsafe.Sizeof(capi.CompositeMember{})), Present: 1,
		MemberRole: uint8(*spec.MemberRole)}
	return call(op, func(report *capi.Error) int32 {
		return capi.CallDescriptorBuilderSetCompositeMember(builder, section, report)
	})
}

// readSections copies the sections, but the shard, out of a descriptor.
func readSections(op string, handle *capi.Descriptor, fields *DescriptorFields) error {
	quantization := &capi.Quantization{StructSize: uint32(unsafe.Sizeof(capi.Quantization{}))}
	err := call(op, func(report *capi.Error) int32 { return capi.CallDescriptorQuantization(handle, quantization, report) })
	if err != nil {
		return err
	}
	if quantization.Present != 0 {
		fields.Quantization = readQuantization(quantization)
		fields.QuantizationPayload = native.Slice[byte](quantization.Payload, quantization.PayloadLength)
	}
	statistics := &capi.Statistics{StructSize: uint32(unsafe.Sizeof(capi.Statistics{}))}
	err = call(op, func(report *capi.Error) int32 { return capi.CallDescriptorStatistics(handle, statistics, report) })
	if err != nil {
		return err
	}
	if statistics.Present != 0 {
		fields.Statistics = readStatistics(statistics)
	}
	extension := &capi.ExtensionType{StructSize: uint32(unsafe.Sizeof(capi.ExtensionType{}))}
	err = call(op, func(report *capi.Error) int32 { return capi.CallDescriptorExtensionType(handle, extension, report) })
	if err != nil {
		return err
	}
	if e := extension; e.Present != 0 {
		fields.ExtensionType = &ExtensionType{e.BitWidth, e.IsFloat != 0, e.IsSigned != 0, e.SignBits, e.ExponentBits,
			e.MantissaBits, e.ExponentBias, e.HasNan != 0, e.HasInf != 0}
	}
	member := &capi.CompositeMember{StructSize: uint32(unsafe.Sizeof(capi.CompositeMember{}))}
	err = call(op, func(report *capi.Error) int32 { return capi.CallDescriptorCompositeMember(handle, member, report) })
	if err == nil && member.Present != 0 {
		role := MemberRole(member.MemberRole)
		fields.MemberRole = &role
	}
	return err
}

func readStatistics(s *capi.Statistics) *Statistics {
	return &Statistics{StatisticsFlag(s.ComputedMask), s.Nnz, s.SparsityRatio, s.ValueMin, s.ValueMax, s.ValueAbsMax,
		s.ValueMean, s.ValueStddev, s.NmN, s.NmM, s.HasNan != 0, s.HasInf != 0}
}

func readQuantization(section *capi.Quantization) Quantization {
	header := SchemeHeader{section.Version, section.Padding}
	scaleType := ElementType(section.ScaleType)
	switch scheme := Scheme(section.Scheme); scheme {
	case SchemePerTensorAffine:
		return PerTensorAffine{section.Scale, section.ZeroPoint, header}
	case SchemePerChannelAffine:
		return PerChannelAffine{section.Axis, section.ScaleBuffer, section.ZeroPointBuffer, scaleType, header}
	case SchemePerBlockAffine:
		return PerBlockAffine{section.Axis, section.BlockSize, section.ScaleBuffer, section.ZeroPointBuffer, scaleType,
			header}
	case SchemeNf4:
		return NF4{section.Axis, section.BlockSize, section.ScaleBuffer, header}
	case SchemeMxfp:
		return MXFP{section.Axis, section.BlockSize, section.ScaleBuffer, header}
	default:
		return PrivateScheme{scheme, section.Version, section.Flags,
			native.Slice[byte](section.PrivateData, section.PrivateLength)}
	}
}
