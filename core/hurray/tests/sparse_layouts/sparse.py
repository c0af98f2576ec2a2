"""COO, CSR, CSC and CSF tensors from the format's text alone: their encoded form, and what is in their buffers.

Shares nothing with the C++ code. Elements are their bits as integers, and a tensor is a dictionary from index to bits that
has an entry for each element that is stored.
"""

import dataclasses
import itertools
import struct

import wire

COO, CSR, CSC, CSF = 6, 7, 8, 9


def element_bits(type_tag):
    _, group, size = wire.TYPES[type_tag]
    return size * 8 // group


def packed(type_tag, values):
    """Elements from the lowest bit on, with the last group filled up with zeros."""
    bits = element_bits(type_tag)
    stream = sum(value << i * bits for i, value in enumerate(values))
    return stream.to_bytes(wire.packed_bytes(type_tag, len(values)), "little")


def u64s(values):
    return struct.pack(f"<{len(values)}Q", *values)


def indices(shape):
    """All indices in row-major order."""
    return itertools.product(*(range(size) for size in shape))


def dense(type_tag, shape, elements):
    return packed(type_tag, [elements.get(index, 0) for index in indices(shape)])


def coo_arrays(shape, order):
    """@param order the indices of the entries in the order in which they are stored"""
    return [[i for index in order for i in index]]


def compressed_arrays(shape, order, major):
    """@param major the dimension whose slices follow each other"""
    starts = [sum(1 for index in order if index[major] < row) for row in range(shape[major] + 1)]
    return [[index[1 - major] for index in order], starts]


def csf_arrays(mode_order, order):
    arrays = []
    above = [()]
    for level in range(len(mode_order)):
        nodes = []
        for index in order:
            path = tuple(index[mode] for mode in mode_order[: level + 1])
            if path not in nodes[-1:]:
                nodes.append(path)
        arrays.append([sum(1 for path in nodes if path[:-1] in above[:k]) for k in range(len(above) + 1)])
        arrays.append([path[-1] for path in nodes])
        above = nodes
    return arrays


@dataclasses.dataclass
class Sparse:
    """A tensor of one of the layouts above. The fields that are None follow from the others."""

    layout_tag: int
    type_tag: int
    shape: tuple
    elements: dict = dataclasses.field(default_factory=dict)
    # COO: the indices in the order of storage; in lexicographic order when it is None.
    order: tuple = None
    mode_order: tuple = None
    is_sorted: int = None
    nnz: int = None
    # The arrays of u64 in the place of those that follow from the elements: by the number of their buffer.
    arrays: dict = dataclasses.field(default_factory=dict)
    # Handles in the place of those that follow from the sizes of the arrays.
    buffers: tuple = None
    # Bytes that a buffer has behind what is needed.
    spare: dict = dataclasses.field(default_factory=dict)
    # Buffers with parameters of a quantization scheme.
    parameters: tuple = ()
    byte_offset: int = 0
    reserved: bytes = None
    length: int = None
    shard: tuple = None
    quantization: tuple = None
    statistics: tuple = None

    def modes(self):
        return tuple(range(len(self.shape))) if self.mode_order is None else self.mode_order

    def stored(self):
        """The indices in the order of storage."""
        if self.order is not None:
            return list(self.order)
        if self.layout_tag == CSC:
            return sorted(self.elements, key=lambda index: (index[1], index[0]))
        if self.layout_tag == CSF:
            return sorted(self.elements, key=lambda index: [index[mode] for mode in self.modes()])
        return sorted(self.elements)

    def count(self):
        return len(self.elements) if self.nnz is None else self.nnz

    def contents(self):
        """The bytes of each buffer."""
        order = self.stored()
        if self.layout_tag == COO:
            arrays = coo_arrays(self.shape, order)
        elif self.layout_tag == CSF:
            arrays = csf_arrays(self.modes(), order)
        else:
            arrays = compressed_arrays(self.shape, order, 0 if self.layout_tag == CSR else 1)
        contents = [packed(self.type_tag, [self.elements[index] for index in order])]
        contents += [u64s(self.arrays.get(i + 1, array)) for i, array in enumerate(arrays)]
        contents += self.parameters
        return [content + b"\xa5" * self.spare.get(i, 0) for i, content in enumerate(contents)]

    def table(self):
        if self.buffers is not None:
            return self.buffers
        return tuple(wire.Handle(len(content)) for content in self.contents())

    def own_fields(self):
        yield "nnz", struct.pack("<Q", self.count())
        if self.layout_tag == COO:
            is_sorted = 1 if self.order is None else 0
            yield "is_sorted", struct.pack("<B", is_sorted if self.is_sorted is None else self.is_sorted)
        elif self.layout_tag == CSF:
            yield from ((f"mode_order[{level}]", struct.pack("<I", mode)) for level, mode in enumerate(self.modes()))
        yield "reserved", self.reserved or bytes(7 if self.layout_tag == COO else 8)

    def base(self, length):
        parent, offset = (None, None) if self.shard is None else self.shard
        return wire.Descriptor(
            self.type_tag,
            self.shape,
            self.layout_tag,
            self.byte_offset,
            buffers=self.table(),
            parent_shape=parent,
            shard_offset=offset,
            quantization=self.quantization,
            statistics=self.statistics,
            length=length,
        )

    def fields(self):
        """The fields in wire order as pairs of name and bytes."""
        own = list(self.own_fields())
        length = self.length
        if length is None:
            length = len(self.base(0).encoded()) + sum(len(encoded) for _, encoded in own)
        everything = self.base(length).fields()
        at = [name for name, _ in everything].index("byte_offset") + 1
        return everything[:at] + own + everything[at:]

    def encoded(self):
        return b"".join(encoded for _, encoded in self.fields())

    def offset_of(self, field):
        offset = 0
        for name, encoded in self.fields():
            if name == field:
                return offset
            offset += len(encoded)
        raise KeyError(field)

    def as_json(self):
        fields = {"nnz": self.count()}
        if self.layout_tag == COO:
            fields["is_sorted"] = self.order is None if self.is_sorted is None else bool(self.is_sorted)
        elif self.layout_tag == CSF:
            fields["mode_order"] = self.modes()
        return fields
