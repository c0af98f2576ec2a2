"""The fields of the layouts: one class a layout that has any. (format: memory layout)

They are plain values: reading them copies them out of the descriptor, and they may outlive it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Union

from . import _native
from ._constants import NO_LAYER, CombineOp, CompositionRule, KvRole, Layout, TableIndex
from ._structs import LayoutFields, TileLevel

__all__ = ["AnyLayout", "BlockPaged", "CompositeHead", "Coo", "Csc", "Csf", "Csr", "Hilbert", "Morton", "PrivateLayout",
           "Strided", "Tile", "Tiled", "layout_fields", "layout_tag", "set_layout"]


@dataclass(frozen=True, slots=True)
class Strided:
    """A step for each dimension."""

    #: One a dimension, in elements; negative and 0 are legal.
    strides: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Tile:
    """One level of tiles: element i lies in tile i // tile_shape of the level's grid, at i % tile_shape in it."""

    #: One size a dimension, in elements.
    tile_shape: tuple[int, ...]
    #: Order of the tiles: ROW_MAJOR, COL_MAJOR or STRIDED.
    outer_layout: int = Layout.ROW_MAJOR
    #: Order inside a tile: the same, or TILED, then the next level says it.
    inner_layout: int = Layout.ROW_MAJOR
    #: In tiles, when outer_layout is STRIDED; else None.
    outer_strides: tuple[int, ...] | None = None
    #: In elements, when inner_layout is STRIDED; else None.
    inner_strides: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Tiled:
    """Tiles, or tiles of tiles."""

    #: The outermost first; at most MAX_TILE_LEVELS.
    levels: tuple[Tile, ...]


@dataclass(frozen=True, slots=True)
class Morton:
    """Elements in the order of their Morton codes."""

    #: Bits of each index in the code, one number a dimension.
    bits: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Hilbert:
    """Elements along a Hilbert curve."""

    #: Every dimension's size is 2**order.
    order: int


@dataclass(frozen=True, slots=True)
class Coo:
    """Stored elements with an index each. Buffers: values, indices."""

    #: Number of stored elements.
    nnz: int
    #: Whether the indices ascend.
    is_sorted: bool = True


@dataclass(frozen=True, slots=True)
class Csr:
    """Sparse rows. Buffers: values, column indices, row pointers."""

    #: Number of stored elements.
    nnz: int


@dataclass(frozen=True, slots=True)
class Csc:
    """Sparse columns. Buffers: values, row indices, column pointers."""

    #: Number of stored elements.
    nnz: int


@dataclass(frozen=True, slots=True)
class Csf:
    """Compressed sparse fibers. Buffers: values, then positions and coordinates of each level."""

    #: Number of stored elements.
    nnz: int
    #: The dimensions in the order of the levels.
    mode_order: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class BlockPaged:
    """Pages of tokens. Buffers: page pool, block table, sequence pointers."""

    #: Tokens of a page.
    page_size: int
    #: Pages in the pool.
    num_pages: int
    num_seqs: int
    kv_role: KvRole | int = KvRole.OTHER
    #: Number of the layer; None when it is not said.
    layer_index: int | None = None
    #: Type of the page numbers in the block table.
    index_type: TableIndex | int = TableIndex.UINT32
    #: The dimension that is cut into pages.
    paged_axis: int = 0


@dataclass(frozen=True, slots=True)
class CompositeHead:
    """The head of a composite, whose members follow it in a stream or file. No buffers."""

    rule: CompositionRule | int
    member_count: int
    combine_op: CombineOp | int = CombineOp.NONE


@dataclass(frozen=True, slots=True)
class PrivateLayout:
    """A layout upon which writer and reader have agreed."""

    #: Layout tag, 0xF0 to 0xFE.
    tag: int
    #: Its number.
    id: int
    #: Its own fields.
    data: bytes = b""


#: The fields of a layout; None for row-major and column-major, which have none, and for one that is not known.
AnyLayout = Union[Strided, Tiled, Morton, Hilbert, Coo, Csr, Csc, Csf, BlockPaged, CompositeHead, PrivateLayout, None]


def _member(kind: Callable[[int], int], value: int) -> int:
    """The enum member of a value, or the value itself when there is none."""
    try:
        return kind(value)
    except ValueError:
        return value


def _is_private(tag: int) -> bool:
    return 0xF0 <= tag <= 0xFE


def _tile(level: TileLevel) -> Tile:
    return Tile(level.tile_shape or (), _member(Layout, level.outer_layout), _member(Layout, level.inner_layout),
                level.outer_strides, level.inner_strides)


def layout_fields(descriptor: _native.Handle) -> AnyLayout:
    """The fields of a descriptor's layout."""
    fields = LayoutFields._make(_native.descriptor_layout_fields(descriptor))
    match fields.layout:
        case Layout.STRIDED:
            return Strided(fields.strides or ())
        case Layout.TILED:
            levels = range(fields.tile_level_count)
            return Tiled(tuple(_tile(TileLevel._make(_native.descriptor_tile_level(descriptor, i))) for i in levels))
        case Layout.MORTON:
            return Morton(fields.morton_bits or ())
        case Layout.HILBERT:
            return Hilbert(fields.hilbert_order)
        case Layout.COO:
            return Coo(fields.nnz, bool(fields.is_sorted))
        case Layout.CSR:
            return Csr(fields.nnz)
        case Layout.CSC:
            return Csc(fields.nnz)
        case Layout.CSF:
            return Csf(fields.nnz, fields.mode_order or ())
        case Layout.BLOCK_PAGED:
            return BlockPaged(fields.page_size, fields.num_pages, fields.num_seqs, _member(KvRole, fields.kv_role),
                              None if fields.layer_index == NO_LAYER else fields.layer_index,
                              _member(TableIndex, fields.index_type), fields.paged_axis)
        case Layout.COMPOSITE:
            return CompositeHead(_member(CompositionRule, fields.composition_rule), fields.member_count,
                             _member(CombineOp, fields.combine_op))
        case tag if _is_private(tag):
            return PrivateLayout(tag, fields.private_id, fields.private_data)
    return None


_TAGS = {Strided: Layout.STRIDED, Tiled: Layout.TILED, Morton: Layout.MORTON, Hilbert: Layout.HILBERT, Coo: Layout.COO,
         Csr: Layout.CSR, Csc: Layout.CSC, Csf: Layout.CSF, BlockPaged: Layout.BLOCK_PAGED, CompositeHead: Layout.COMPOSITE}


def layout_tag(layout: AnyLayout | int) -> int:
    """The tag of a layout that is given by its fields, or by its tag."""
    if isinstance(layout, int):
        return layout
    if isinstance(layout, PrivateLayout):
        return layout.tag
    try:
        return _TAGS[type(layout)]  # type: ignore[index]
    except KeyError:
        raise TypeError(f"layout: expected a Layout or the fields of one, got {type(layout).__name__}") from None


def set_layout(builder: _native.Handle, layout: AnyLayout) -> None:
    """Gives the fields of its layout to a builder."""
    fields: dict[str, object]
    match layout:
        case Tiled(levels):
            for tile in levels:
                _native.descriptor_builder_add_tile_level(
                    builder, TileLevel(len(tile.tile_shape), tile.tile_shape, tile.outer_strides, tile.inner_strides,
                                       tile.outer_layout, tile.inner_layout))
            return
        case Strided(strides):
            fields = {"rank": len(strides), "strides": strides}
        case Morton(bits):
            fields = {"rank": len(bits), "morton_bits": bits}
        case Hilbert(order):
            fields = {"hilbert_order": order}
        case Coo(nnz, is_sorted):
            fields = {"nnz": nnz, "is_sorted": int(is_sorted)}
        case Csr(nnz) | Csc(nnz):
            fields = {"nnz": nnz}
        case Csf(nnz, mode_order):
            fields = {"rank": len(mode_order), "nnz": nnz, "mode_order": mode_order}
        case BlockPaged():
            fields = {"page_size": layout.page_size, "num_pages": layout.num_pages, "num_seqs": layout.num_seqs,
                      "kv_role": layout.kv_role, "index_type": layout.index_type, "paged_axis": layout.paged_axis,
                      "layer_index": NO_LAYER if layout.layer_index is None else layout.layer_index}
        case CompositeHead():
            fields = {"composition_rule": layout.rule, "combine_op": layout.combine_op,
                      "member_count": layout.member_count}
        case PrivateLayout():
            fields = {"private_id": layout.id, "private_data": layout.data}
        case _:
            raise TypeError(f"layout: expected the fields of a layout, got {type(layout).__name__}")
    _native.descriptor_builder_set_layout_fields(builder, LayoutFields(layout=layout_tag(layout), **fields))
