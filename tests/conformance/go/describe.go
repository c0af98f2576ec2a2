package main

import (
	"encoding/hex"
	"fmt"
	"math"

	"hurray.dev/go/hurray"
)

// object is a JSON object whose fields differ from layout to layout and from scheme to scheme.
type object = map[string]any

// list is a JSON array, an empty one for a slice that is nil.
func list[T any](values []T) []T { return append([]T{}, values...) }

// put adds a floating-point field twice: as a number, where it is finite, and as its bits.
func put(to object, name string, value float64, bits string) {
	to[name], to[name+"_bits"] = nil, bits
	if !math.IsNaN(value) && !math.IsInf(value, 0) {
		to[name] = value
	}
}

func put64(to object, name string, value float64) {
	put(to, name, value, fmt.Sprintf("%016x", math.Float64bits(value)))
}

func put32(to object, name string, value float32) {
	put(to, name, float64(value), fmt.Sprintf("%08x", math.Float32bits(value)))
}

func isPrivate(tag uint8) bool { return tag >= 0xF0 && tag <= 0xFE }

// typeName is what the manifests call a type; the binding's own text of a tag without a name is another.
func typeName(tag hurray.ElementType) string {
	switch text := tag.String(); {
	case isPrivate(uint8(tag)):
		return "private"
	case text == fmt.Sprintf("ElementType(%d)", uint8(tag)):
		return "unknown"
	default:
		return text
	}
}

func layoutName(tag hurray.Layout) string {
	switch text := tag.String(); {
	case isPrivate(uint8(tag)):
		return "private_extension"
	case text == fmt.Sprintf("Layout(%d)", uint8(tag)):
		return "unknown"
	default:
		return text
	}
}

func describe(fields hurray.DescriptorFields, inputLength uint64) descriptorFields {
	described := descriptorFields{
		VersionMajor:     fields.VersionMajor,
		VersionMinor:     fields.VersionMinor,
		DescriptorLength: fields.Length,
		TrailingBytes:    inputLength - fields.Length,
		Flags:            fields.Flags,
		Type:             typeName(fields.ElementType),
		TypeTag:          uint8(fields.ElementType),
		Layout:           layoutName(fields.Layout),
		LayoutTag:        uint8(fields.Layout),
		Rank:             len(fields.Shape),
		Shape:            list(fields.Shape),
		ByteOffset:       fields.ByteOffset,
		LayoutFields:     describeLayout(fields),
		Buffers:          []bufferFields{},
		Quantization:     describeQuantization(fields),
		Statistics:       describeStatistics(fields.Statistics),
		ExtensionType:    describeExtension(fields.ExtensionType),
	}
	for _, b := range fields.Buffers {
		described.Buffers = append(described.Buffers,
			bufferFields{b.ByteSize, b.Alignment, uint8(b.Device), uint8(b.SyncMode), uint8(b.MemoryClass)})
	}
	if fields.Shard != nil {
		described.Shard = &shardFields{list(fields.Shard.ParentShape), list(fields.Shard.Offset)}
	}
	if fields.MemberRole != nil {
		described.CompositeMember = object{"member_role": uint8(*fields.MemberRole)}
	}
	return described
}

func describeLayout(fields hurray.DescriptorFields) object {
	switch layout := fields.LayoutFields.(type) {
	case hurray.TiledLayout:
		return describeTiles(layout.Levels)
	case hurray.MortonLayout:
		return object{"morton_bits": list(layout.Bits)}
	case hurray.HilbertLayout:
		return object{"hilbert_order": layout.Order, "hilbert_rank": len(fields.Shape)}
	case hurray.COOLayout:
		return object{"nnz": layout.NNZ, "is_sorted": layout.Sorted}
	case hurray.CSRLayout:
		return object{"nnz": layout.NNZ}
	case hurray.CSCLayout:
		return object{"nnz": layout.NNZ}
	case hurray.CSFLayout:
		return object{"nnz": layout.NNZ, "mode_order": list(layout.ModeOrder)}
	case hurray.BlockPagedLayout:
		return object{"page_size": layout.PageSize, "num_pages": layout.NumPages, "paged_axis": layout.PagedAxis,
			"num_seqs": layout.NumSeqs, "kv_role": uint8(layout.KVRole), "layer_index": layout.LayerIndex,
			"block_table_index_type": uint8(layout.IndexType)}
	case hurray.CompositeLayout:
		return object{"composition_rule": uint8(layout.Rule), "combine_op": uint8(layout.CombineOp),
			"member_count": layout.MemberCount}
	case hurray.PrivateLayout:
		return object{"extension_layout_id": layout.ID, "extension_data_length": len(layout.Data),
			"extension_data_hex": hex.EncodeToString(layout.Data)}
	}
	if fields.Strides != nil {
		return object{"strides": fields.Strides}
	}
	return object{}
}

func describeTiles(levels []hurray.TileLevel) object {
	if len(levels) == 0 {
		return nil
	}
	level := levels[0]
	described := object{"tile_shape": list(level.TileShape), "outer_layout": uint8(level.OuterLayout),
		"inner_layout": uint8(level.InnerLayout), "outer_strides": list(level.OuterStrides),
		"inner_strides": list(level.InnerStrides), "inner_tiled": nil}
	if len(levels) > 1 {
		described["inner_tiled"] = describeTiles(levels[1:])
	}
	return described
}

func describeQuantization(fields hurray.DescriptorFields) any {
	described := object{"quantization_length": len(fields.QuantizationPayload), "flags": 0,
		"raw_hex": hex.EncodeToString(fields.QuantizationPayload)}
	name := func(scheme hurray.Scheme, header hurray.SchemeHeader) {
		described["scheme_tag"], described["scheme"], described["scheme_version"] = uint8(scheme), scheme.String(), header.Version
	}
	parameters := func(axis, scales, zeroPoints uint32, scaleType hurray.ElementType) {
		described["axis"], described["scale_buffer_index"], described["zero_point_buffer_index"] = axis, scales, zeroPoints
		described["scale_type_tag"], described["symmetric"] = uint8(scaleType), zeroPoints == hurray.NoBuffer
		if zeroPoints == hurray.NoBuffer {
			described["flags"] = 1
		}
	}
	blocks := func(axis, size, scales uint32) {
		described["axis"], described["block_size"], described["scale_buffer_index"] = axis, size, scales
	}
	switch section := fields.Quantization.(type) {
	case hurray.PerTensorAffine:
		name(hurray.SchemePerTensorAffine, section.SchemeHeader)
		put32(described, "scale", section.Scale)
		described["zero_point"] = section.ZeroPoint
	case hurray.PerChannelAffine:
		name(hurray.SchemePerChannelAffine, section.SchemeHeader)
		parameters(section.Axis, section.ScaleBuffer, section.ZeroPointBuffer, section.ScaleType)
	case hurray.PerBlockAffine:
		name(hurray.SchemePerBlockAffine, section.SchemeHeader)
		parameters(section.Axis, section.ScaleBuffer, section.ZeroPointBuffer, section.ScaleType)
		described["block_size"] = section.BlockSize
	case hurray.NF4:
		name(hurray.SchemeNf4, section.SchemeHeader)
		blocks(section.Axis, section.BlockSize, section.ScaleBuffer)
	case hurray.MXFP:
		name(hurray.SchemeMxfp, section.SchemeHeader)
		blocks(section.Axis, section.BlockSize, section.ScaleBuffer)
	case hurray.PrivateScheme:
		described["scheme_tag"], described["scheme_version"] = uint8(section.Scheme), section.Version
		described["flags"], described["scheme"] = uint32(section.Flags), "unknown"
		if isPrivate(uint8(section.Scheme)) {
			described["scheme"] = "private"
		}
	default:
		return nil
	}
	return described
}

func describeStatistics(s *hurray.Statistics) any {
	if s == nil {
		return nil
	}
	described := object{"computed_mask": uint32(s.Computed), "nnz": s.NNZ, "nm_n": s.NMN, "nm_m": s.NMM,
		"has_nan": s.HasNaN, "has_inf": s.HasInf}
	put64(described, "sparsity_ratio", s.SparsityRatio)
	put64(described, "value_min", s.Min)
	put64(described, "value_max", s.Max)
	put64(described, "value_abs_max", s.AbsMax)
	put64(described, "value_mean", s.Mean)
	put64(described, "value_stddev", s.StdDev)
	return described
}

func describeExtension(e *hurray.ExtensionType) any {
	if e == nil {
		return nil
	}
	return object{"bit_width": e.BitWidth, "packing_factor": e.PackingFactor(), "is_float": e.IsFloat,
		"is_signed": e.IsSigned, "sign_bits": e.SignBits, "exponent_bits": e.ExponentBits, "mantissa_bits": e.MantissaBits,
		"exponent_bias": e.ExponentBias, "has_nan": e.HasNaN, "has_inf": e.HasInf}
}
