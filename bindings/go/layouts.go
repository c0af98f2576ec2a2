package hurray

import (
	"fmt"
	"runtime"
	"unsafe"

	"hurray.dev/go/hurray/internal/capi"
	"hurray.dev/go/hurray/internal/native"
)

// LayoutFields are the fields of a layout that has any: one of TiledLayout, MortonLayout, HilbertLayout, COOLayout,
// CSRLayout, CSCLayout, CSFLayout, BlockPagedLayout, CompositeLayout and PrivateLayout. Those of LayoutStrided are the
// Strides of the DescriptorSpec. (format: memory layout)
type LayoutFields interface {
	// fit says whether these are the fields of a layout.
	fit(layout Layout) bool
	// build gives them to a builder of that layout.
	build(op string, builder *capi.DescriptorBuilder, layout Layout) error
}

// A TileLevel is one level of tiles: element i lies in tile i / TileShape of the level's grid, at i % TileShape in it.
type TileLevel struct {
	// TileShape has one size a dimension, in elements.
	TileShape []uint64
	// OuterLayout is the order of the tiles: LayoutRowMajor, LayoutColMajor or LayoutStrided.
	OuterLayout Layout
	// InnerLayout is the order inside a tile: likewise, or LayoutTiled, then the next level says it.
	InnerLayout Layout
	// OuterStrides are in tiles, InnerStrides in elements, one a dimension: of LayoutStrided only, else nil.
	OuterStrides, InnerStrides []int64
}

// TiledLayout are the fields of LayoutTiled.
type TiledLayout struct {
	// Levels of tiles, the outermost first; at most MaxTileLevels.
	Levels []TileLevel
}

// MortonLayout are the fields of LayoutMorton.
type MortonLayout struct {
	// Bits of each index in the code, one number a dimension.
	Bits []uint64
}

// HilbertLayout are the fields of LayoutHilbert.
type HilbertLayout struct {
	// Order is the binary logarithm of every dimension's size.
	Order uint32
}

// COOLayout are the fields of LayoutCOO. Buffers: values, indices.
type COOLayout struct {
	// NNZ is the number of stored elements.
	NNZ uint64
	// Sorted says that the indices ascend.
	Sorted bool
}

// CSRLayout are the fields of LayoutCSR. Buffers: values, column indices, row pointers.
type CSRLayout struct {
	// NNZ is the number of stored elements.
	NNZ uint64
}

// CSCLayout are the fields of LayoutCSC. Buffers: values, row indices, column pointers.
type CSCLayout struct {
	// NNZ is the number of stored elements.
	NNZ uint64
}

// CSFLayout are the fields of LayoutCSF. Buffers: values, then positions and coordinates of each level.
type CSFLayout struct {
	// NNZ is the number of stored elements.
	NNZ uint64
	// ModeOrder has the dimensions in the order of the levels.
	ModeOrder []uint64
}

// BlockPagedLayout are the fields of LayoutBlockPaged. Buffers: page pool, block table, sequence pointers.
type BlockPagedLayout struct {
	// PageSize is the number of tokens of a page.
	PageSize uint32
	// NumPages is the number of pages in the pool.
	NumPages uint64
	// PagedAxis is the dimension that is cut into pages: 0.
	PagedAxis uint32
	// NumSeqs is the number of sequences.
	NumSeqs uint32
	KVRole  KvRole
	// LayerIndex is the number of the layer; NoLayer for none.
	LayerIndex uint32
	// IndexType is the type of the page numbers in the block table.
	IndexType TableIndex
}

// CompositeLayout are the fields of LayoutComposite, the head of a composite, whose members follow it in a stream or
// file. It has no buffers.
type CompositeLayout struct {
	Rule        CompositionRule
	CombineOp   CombineOp
	MemberCount uint32
}

// PrivateLayout are the fields of a layout upon which writer and reader have agreed; its tag is the Layout of the
// DescriptorSpec.
type PrivateLayout struct {
	// ID is the layout's number.
	ID uint64
	// Data are its own fields.
	Data []byte
}

func (TiledLayout) fit(layout Layout) bool      { return layout == LayoutTiled }
func (MortonLayout) fit(layout Layout) bool     { return layout == LayoutMorton }
func (HilbertLayout) fit(layout Layout) bool    { return layout == LayoutHilbert }
func (COOLayout) fit(layout Layout) bool        { return layout == LayoutCOO }
func (CSRLayout) fit(layout Layout) bool        { return layout == LayoutCSR }
func (CSCLayout) fit(layout Layout) bool        { return layout == LayoutCSC }
func (CSFLayout) fit(layout Layout) bool        { return layout == LayoutCSF }
func (BlockPagedLayout) fit(layout Layout) bool { return layout == LayoutBlockPaged }
func (CompositeLayout) fit(layout Layout) bool  { return layout == LayoutComposite }
func (PrivateLayout) fit(layout Layout) bool    { return layout.isPrivate() }

func (l Layout) isPrivate() bool { return l >= 0xF0 && l <= 0xFE }

func sizedLayoutFields() *capi.LayoutFields {
	return &capi.LayoutFields{StructSize: uint32(unsafe.Sizeof(capi.LayoutFields{}))}
}

// pinned is the address of a slice's elements, which stay where they are until the pinner is done.
func pinned[T any](pinner *runtime.Pinner, values []T) uintptr {
	if len(values) == 0 {
		return 0
	}
	pinner.Pin(unsafe.SliceData(values))
	return uintptr(unsafe.Pointer(unsafe.SliceData(values)))
}

func setLayoutFields(op string, builder *capi.DescriptorBuilder, layout Layout, fields *capi.LayoutFields) error {
	fields.Layout = uint8(layout)
	return call(op, func(report *capi.Error) int32 {
		return capi.CallDescriptorBuilderSetLayoutFields(builder, fields, report)
	})
}

func (t TiledLayout) build(op string, builder *capi.DescriptorBuilder, _ Layout) error {
	for i := range t.Levels {
		if err := t.Levels[i].build(op, builder); err != nil {
			return err
		}
	}
	return nil
}

func (l *TileLevel) build(op string, builder *capi.DescriptorBuilder) error {
	rank := len(l.TileShape)
	if l.OuterStrides != nil && len(l.OuterStrides) != rank || l.InnerStrides != nil && len(l.InnerStrides) != rank {
		return invalid(op, "a tile's shape and strides differ in length")
	}
	var pinner runtime.Pinner
	defer pinner.Unpin()
	level := &capi.TileLevel{
		StructSize:   uint32(unsafe.Sizeof(capi.TileLevel{})),
		Rank:         uint32(rank),
		TileShape:    pinned(&pinner, l.TileShape),
		OuterStrides: pinned(&pinner, l.OuterStrides),
		InnerStrides: pinned(&pinner, l.InnerStrides),
		OuterLayout:  uint8(l.OuterLayout),
		InnerLayout:  uint8(l.InnerLayout),
	}
	return call(op, func(report *capi.Error) int32 {
		return capi.CallDescriptorBuilderAddTileLevel(builder, level, report)
	})
}

func (m MortonLayout) build(op string, builder *capi.DescriptorBuilder, layout Layout) error {
	var pinner runtime.Pinner
	defer pinner.Unpin()
	fields := sizedLayoutFields()
	fields.Rank, fields.MortonBits = uint32(len(m.Bits)), pinned(&pinner, m.Bits)
	return setLayoutFields(op, builder, layout, fields)
}

func (h HilbertLayout) build(op string, builder *capi.DescriptorBuilder, layout Layout) error {
	fields := sizedLayoutFields()
	fields.HilbertOrder = h.Order
	return setLayoutFields(op, builder, layout, fields)
}

func (c COOLayout) build(op string, builder *capi.DescriptorBuilder, layout Layout) error {
	fields := sizedLayoutFields()
	fields.Nnz, fields.IsSorted = c.NNZ, boolByte(c.Sorted)
	return setLayoutFields(op, builder, layout, fields)
}

func (c CSRLayout) build(op string, builder *capi.DescriptorBuilder, layout Layout) error {
	fields := sizedLayoutFields()
	fields.Nnz = c.NNZ
	return setLayoutFields(op, builder, layout, fields)
}

func (c CSCLayout) build(op string, builder *capi.DescriptorBuilder, layout Layout) error {
	fields := sizedLayoutFields()
	fields.Nnz = c.NNZ
	return setLayoutFields(op, builder, layout, fields)
}

func (c CSFLayout) build(op string, builder *capi.DescriptorBuilder, layout Layout) error {
	var pinner runtime.Pinner
	defer pinner.Unpin()
	fields := sizedLayoutFields()
	fields.Nnz, fields.Rank, fields.ModeOrder = c.NNZ, uint32(len(c.ModeOrder)), pinned(&pinner, c.ModeOrder)
	return setLayoutFields(op, builder, layout, fields)
}

func (b BlockPagedLayout) build(op string, builder *capi.DescriptorBuilder, layout Layout) error {
	fields := sizedLayoutFields()
	fields.PageSize, fields.NumPages, fields.PagedAxis, fields.NumSeqs = b.PageSize, b.NumPages, b.PagedAxis, b.NumSeqs
	fields.KvRole, fields.LayerIndex, fields.IndexType = uint8(b.KVRole), b.LayerIndex, uint8(b.IndexType)
	return setLayoutFields(op, builder, layout, fields)
}

func (c CompositeLayout) build(op string, builder *capi.DescriptorBuilder, layout Layout) error {
	fields := sizedLayoutFields()
	fields.CompositionRule, fields.CombineOp, fields.MemberCount = uint8(c.Rule), uint8(c.CombineOp), c.MemberCount
	return setLayoutFields(op, builder, layout, fields)
}

func (p PrivateLayout) build(op string, builder *capi.DescriptorBuilder, layout Layout) error {
	var pinner runtime.Pinner
	defer pinner.Unpin()
	fields := sizedLayoutFields()
	fields.PrivateID, fields.PrivateLength, fields.PrivateData = p.ID, uint64(len(p.Data)), pinned(&pinner, p.Data)
	return setLayoutFields(op, builder, layout, fields)
}

// buildLayout gives the fields of its layout to a builder.
func buildLayout(op string, builder *capi.DescriptorBuilder, spec *DescriptorSpec) error {
	if spec.LayoutFields == nil {
		return nil
	}
	if !spec.LayoutFields.fit(spec.Layout) {
		return invalid(op, fmt.Sprintf("LayoutFields: a %T is not of layout %v", spec.LayoutFields, spec.Layout))
	}
	return spec.LayoutFields.build(op, builder, spec.Layout)
}

// readLayout copies the fields of a descriptor's layout; nil where there are none, and for LayoutStrided.
func readLayout(op string, handle *capi.Descriptor) (LayoutFields, error) {
	fields := sizedLayoutFields()
	err := call(op, func(report *capi.Error) int32 { return capi.CallDescriptorLayoutFields(handle, fields, report) })
	if err != nil {
		return nil, err
	}
	rank := uint64(fields.Rank)
	switch layout := Layout(fields.Layout); layout {
	case LayoutTiled:
		return readTiles(op, handle, fields.TileLevelCount)
	case LayoutMorton:
		return MortonLayout{native.Slice[uint64](fields.MortonBits, rank)}, nil
	case LayoutHilbert:
		return HilbertLayout{fields.HilbertOrder}, nil
	case LayoutCOO:
		return COOLayout{fields.Nnz, fields.IsSorted != 0}, nil
	case LayoutCSR:
		return CSRLayout{fields.Nnz}, nil
	case LayoutCSC:
		return CSCLayout{fields.Nnz}, nil
	case LayoutCSF:
		return CSFLayout{fields.Nnz, native.Slice[uint64](fields.ModeOrder, rank)}, nil
	case LayoutBlockPaged:
		return BlockPagedLayout{fields.PageSize, fields.NumPages, fields.PagedAxis, fields.NumSeqs, KvRole(fields.KvRole),
			fields.LayerIndex, TableIndex(fields.IndexType)}, nil
	case LayoutComposite:
		return CompositeLayout{CompositionRule(fields.CompositionRule), CombineOp(fields.CombineOp), fields.MemberCount}, nil
	default:
		if layout.isPrivate() {
			return PrivateLayout{fields.PrivateID, native.Slice[byte](fields.PrivateData, fields.PrivateLength)}, nil
		}
		return nil, nil
	}
}

func readTiles(op string, handle *capi.Descriptor, count uint32) (LayoutFields, error) {
	tiled := TiledLayout{make([]TileLevel, count)}
	level := &capi.TileLevel{}
	for i := range tiled.Levels {
		*level = capi.TileLevel{StructSize: uint32(unsafe.Sizeof(capi.TileLevel{}))}
		err := call(op, func(report *capi.Error) int32 {
			return capi.CallDescriptorTileLevel(handle, uint32(i), level, report)
		})
		if err != nil {
			return nil, err
		}
		rank := uint64(level.Rank)
		tiled.Levels[i] = TileLevel{native.Slice[uint64](level.TileShape, rank), Layout(level.OuterLayout),
			Layout(level.InnerLayout), native.Slice[int64](level.OuterStrides, rank),
			native.Slice[int64](level.InnerStrides, rank)}
	}
	return tiled, nil
}
