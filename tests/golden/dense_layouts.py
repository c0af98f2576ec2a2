"""Tiled, Morton and Hilbert tensors from the format's text alone: their encoded form, and where each element lies.

Shares nothing with the C++ code. Sizes of buffers are counted element by element, so that only small tensors are for it.
Units: offsets, strides of elements and tile sizes in elements, outer strides in tiles.
"""

import dataclasses
import itertools
import struct

import wire

ROW_MAJOR, COL_MAJOR, STRIDED, TILED, MORTON, HILBERT = 1, 2, 3, 4, 5, 0x40


def linear(layout, shape, strides, index):
    """The place of an index in row-major, column-major or strided order."""
    if layout == STRIDED:
        return sum(i * step for i, step in zip(index, strides))
    order = range(len(shape)) if layout == ROW_MAJOR else reversed(range(len(shape)))
    place = 0
    for k in order:
        place = place * shape[k] + index[k]
    return place


def indices(shape):
    """All indices in row-major order."""
    return itertools.product(*(range(size) for size in shape))


@dataclasses.dataclass
class Tiles:
    """One level of tiles."""

    tag = TILED
    shape: tuple
    outer: int = ROW_MAJOR
    inner: int = ROW_MAJOR
    outer_strides: tuple = ()
    inner_strides: tuple = ()
    reserved: bytes = b"\0\0"
    nested: "Tiles" = None

    def __post_init__(self):
        if self.nested is not None:
            self.inner = TILED

    def elements(self):
        count = 1
        for size in self.shape:
            count *= size
        return count

    def offset(self, whole, index):
        """The place of an element of a tensor, or a larger tile, of shape `whole`."""
        grid = [-(-size // tile) for size, tile in zip(whole, self.shape)]
        tile = [i // size for i, size in zip(index, self.shape)]
        inside = [i % size for i, size in zip(index, self.shape)]
        start = linear(self.outer, grid, self.outer_strides, tile) * self.elements()
        if self.nested is not None:
            return start + self.nested.offset(self.shape, inside)
        return start + linear(self.inner, self.shape, self.inner_strides, inside)

    def places(self, whole):
        """The places that whole tiles take: all of their elements, and their room without gaps."""
        if self.nested is not None:
            inner = self.nested.places(self.shape)
        else:
            inner = {linear(self.inner, self.shape, self.inner_strides, inside) for inside in indices(self.shape)}
        inner |= {0, self.elements() - 1}
        grid = [-(-size // tile) for size, tile in zip(whole, self.shape)]
        starts = [linear(self.outer, grid, self.outer_strides, tile) * self.elements() for tile in indices(grid)]
        return {start + place for start in starts for place in (min(inner), max(inner))}

    def fields(self, level=1):
        tag = f"level {level}: "
        yield from ((f"{tag}tile_shape[{k}]", struct.pack("<Q", size)) for k, size in enumerate(self.shape))
        yield f"{tag}outer_layout", struct.pack("<B", self.outer)
        yield f"{tag}inner_layout", struct.pack("<B", self.inner)
        yield f"{tag}reserved", self.reserved
        yield from ((f"{tag}outer_strides[{k}]", struct.pack("<q", s)) for k, s in enumerate(self.outer_strides))
        yield from ((f"{tag}inner_strides[{k}]", struct.pack("<q", s)) for k, s in enumerate(self.inner_strides))
        if self.nested is not None:
            yield from self.nested.fields(level + 1)

    def as_json(self):
        return {
            "tile_shape": list(self.shape),
            "outer_layout": self.outer,
            "inner_layout": self.inner,
            "outer_strides": list(self.outer_strides),
            "inner_strides": list(self.inner_strides),
            "inner_tiled": None if self.nested is None else self.nested.as_json(),
        }


@dataclasses.dataclass
class Morton:
    """Bits of each index in the code."""

    tag = MORTON
    bits: tuple

    def offset(self, whole, index):
        code = 0
        for b in range(max(self.bits)):
            for d in range(len(whole)):
                if b < self.bits[d]:
                    code |= ((index[d] >> b) & 1) << (b * len(whole) + d)
        return code

    def places(self, whole):
        return {self.offset(whole, index) for index in indices(whole)} | {0, 2 ** sum(self.bits) - 1}

    def fields(self):
        return [(f"morton_bits[{k}]", struct.pack("<I", bits)) for k, bits in enumerate(self.bits)]

    def as_json(self):
        return {"morton_bits": list(self.bits)}


@dataclasses.dataclass
class Hilbert:
    """The order of the curve; `rank` is what the field of that name says."""

    tag = HILBERT
    order: int
    rank: int

    def offset(self, whole, index):
        x, top = list(index), 1 << (self.order - 1)
        bit = top
        while bit > 1:
            for i in range(len(x)):
                if x[i] & bit:
                    x[0] ^= bit - 1
                else:
                    swap = (x[0] ^ x[i]) & (bit - 1)
                    x[0] ^= swap
                    x[i] ^= swap
            bit >>= 1
        for i in range(1, len(x)):
            x[i] ^= x[i - 1]
        flip, bit = 0, top
        while bit > 1:
            if x[-1] & bit:
                flip ^= bit - 1
            bit >>= 1
        digits = [x[d] ^ flip for d in range(len(x))]
        place = 0
        for b in reversed(range(self.order)):
            for d in range(len(x)):
                place = place << 1 | (digits[d] >> b) & 1
        return place

    def places(self, whole):
        return {0, 2 ** (self.order * len(whole)) - 1}

    def fields(self):
        return [("hilbert_order", struct.pack("<I", self.order)), ("hilbert_rank", struct.pack("<I", self.rank))]

    def as_json(self):
        return {"hilbert_order": self.order, "hilbert_rank": self.rank}


def room(layout, type_tag, shape):
    """Bytes that whole tiles or the curve take before and from element (0, ..., 0) on."""
    if 0 in shape or wire.DYNAMIC in shape:
        return 0, 0
    places = layout.places(shape)
    return (
        wire.packed_bytes(type_tag, max(0, -min(places))),
        wire.packed_bytes(type_tag, max(places) + 1),
    )


def dense(type_tag, shape, layout, byte_offset=None, byte_size=None, **other):
    """A descriptor of one of the layouts above. Where they are not given, byte_offset and the size of the buffer are the
    least that there is room with."""
    if byte_offset is None:
        byte_offset = room(layout, type_tag, shape)[0]
    if "buffers" not in other:
        if byte_size is None:
            byte_size = byte_offset + room(layout, type_tag, shape)[1]
        other["buffers"] = (wire.Handle(byte_size),)
    return wire.Descriptor(type_tag, shape, layout.tag, byte_offset, layout=layout, **other)
