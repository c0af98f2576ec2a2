"""Sparse, block-paged, composite and private layouts from the format's text alone: their fields and buffers.

Shares nothing with the C++ code. Counts are of elements, pages and nodes; sizes of buffers follow from them.
"""

import dataclasses
import struct

import wire

COO, CSR, CSC, CSF, BLOCK_PAGED, COMPOSITE = 0x06, 0x07, 0x08, 0x09, 0x0A, 0x0B
PARTITION, OVERLAY, GROUP = 1, 2, 3
REPLACE, ADD = 1, 2
NO_LAYER = 0xFFFFFFFF
# Bytes of an index of a sparse layout.
INDEX = 8


def handles(*sizes):
    return tuple(wire.Handle(size) for size in sizes)


@dataclasses.dataclass
class Coo:
    """Elements with all of their indices."""

    nnz: int
    is_sorted: int = 1
    reserved: bytes = bytes(7)

    tag = COO

    def fields(self):
        return [
            ("nnz", struct.pack("<Q", self.nnz)),
            ("is_sorted", struct.pack("<B", self.is_sorted)),
            ("reserved", self.reserved),
        ]

    def as_json(self):
        return {"nnz": self.nnz, "is_sorted": self.is_sorted != 0}

    def table(self, tensor):
        values = wire.packed_bytes(tensor.type_tag, self.nnz)
        return handles(values, self.nnz * len(tensor.shape) * INDEX)


@dataclasses.dataclass
class Compressed:
    """Rows (CSR) or columns (CSC) of a matrix one after the other."""

    tag: int
    nnz: int
    reserved: bytes = bytes(8)

    def fields(self):
        return [("nnz", struct.pack("<Q", self.nnz)), ("reserved", self.reserved)]

    def as_json(self):
        return {"nnz": self.nnz}

    def table(self, tensor):
        lines = tensor.shape[0 if self.tag == CSR else 1]
        values = wire.packed_bytes(tensor.type_tag, self.nnz)
        return handles(values, self.nnz * INDEX, (lines + 1) * INDEX)


def csr(nnz, **other):
    return Compressed(CSR, nnz, **other)


def csc(nnz, **other):
    return Compressed(CSC, nnz, **other)


@dataclasses.dataclass
class Csf:
    """A tree with a level for each dimension. `nodes`: how many of them the levels above the leaves have; one each when not
    given, none without elements."""

    nnz: int
    mode_order: tuple
    nodes: tuple = None
    reserved: bytes = bytes(8)

    tag = CSF

    def fields(self):
        order = [(f"mode_order[{level}]", struct.pack("<I", mode)) for level, mode in enumerate(self.mode_order)]
        return [("nnz", struct.pack("<Q", self.nnz)), *order, ("reserved", self.reserved)]

    def as_json(self):
        return {"nnz": self.nnz, "mode_order": list(self.mode_order)}

    def table(self, tensor):
        above = self.nodes
        if above is None:
            above = (min(self.nnz, 1),) * (len(tensor.shape) - 1)
        sizes = [wire.packed_bytes(tensor.type_tag, self.nnz)]
        parents = 1
        for count in (*above, self.nnz):
            sizes += [(parents + 1) * INDEX, count * INDEX]
            parents = count
        return handles(*sizes)


@dataclasses.dataclass
class Paged:
    """Pages of tokens and the tables that say which sequence has which. `entries`: of the block table."""

    page_size: int = 4
    num_pages: int = 5
    num_seqs: int = 2
    entries: int = 3
    paged_axis: int = 0
    kv_role: int = 0
    layer_index: int = NO_LAYER
    index_type: int = 0
    reserved: bytes = bytes(6)

    tag = BLOCK_PAGED

    def fields(self):
        return [
            ("page_size", struct.pack("<I", self.page_size)),
            ("num_pages", struct.pack("<Q", self.num_pages)),
            ("paged_axis", struct.pack("<I", self.paged_axis)),
            ("num_seqs", struct.pack("<I", self.num_seqs)),
            ("kv_role", struct.pack("<B", self.kv_role)),
            ("layer_index", struct.pack("<I", self.layer_index)),
            ("block_table_index_type", struct.pack("<B", self.index_type)),
            ("reserved", self.reserved),
        ]

    def as_json(self):
        return {
            "page_size": self.page_size,
            "num_pages": self.num_pages,
            "paged_axis": self.paged_axis,
            "num_seqs": self.num_seqs,
            "kv_role": self.kv_role,
            "layer_index": self.layer_index,
            "block_table_index_type": self.index_type,
        }

    def table(self, tensor):
        width = 8 if self.index_type == 1 else 4
        _, heads, dim = tensor.shape
        pool = wire.packed_bytes(tensor.type_tag, self.num_pages * self.page_size * heads * dim)
        return handles(pool, self.entries * width, (self.num_seqs + 1) * width)


@dataclasses.dataclass
class Composite:
    """The head of a composite, which has no buffers."""

    rule: int = PARTITION
    combine_op: int = 0
    member_count: int = 2
    reserved: bytes = bytes(2)

    tag = COMPOSITE

    def fields(self):
        return [
            ("composition_rule", struct.pack("<B", self.rule)),
            ("combine_op", struct.pack("<B", self.combine_op)),
            ("reserved", self.reserved),
            ("member_count", struct.pack("<I", self.member_count)),
        ]

    def as_json(self):
        return {"composition_rule": self.rule, "combine_op": self.combine_op, "member_count": self.member_count}

    def table(self, _):
        return ()


@dataclasses.dataclass
class Private:
    """A layout that is agreed upon outside the format."""

    tag: int
    identifier: int
    data: bytes = b""
    # What the field says when it says something else than what is there.
    length: int = None

    def fields(self):
        length = len(self.data) if self.length is None else self.length
        return [
            ("extension_layout_id", struct.pack("<Q", self.identifier)),
            ("extension_data_length", struct.pack("<I", length)),
            ("extension_data", self.data),
        ]

    def as_json(self):
        return {
            "extension_layout_id": self.identifier,
            "extension_data_length": len(self.data),
            "extension_data_hex": self.data.hex(),
        }

    def table(self, tensor):
        return handles(wire.packed_bytes(tensor.type_tag, tensor.element_count()))


def indexed(type_tag, shape, layout, **other):
    """A descriptor of one of the layouts above, with buffers of the sizes that its fields ask for."""
    return wire.Descriptor(type_tag, shape, layout.tag, layout=layout, **other)
