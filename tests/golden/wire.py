"""The encoded form of a tensor descriptor, written from the format's text alone.

Fields of layouts are in dense_layouts.py and indexed_layouts.py, those of sections in sections.py.

This is one of two encoders that must agree: it shares nothing with the C++ one, checks nothing, and writes wrong
descriptors as readily as right ones. Units: byte_offset, byte_size and alignment in bytes, strides in elements.
"""

import dataclasses
import struct

import section_json

DYNAMIC = 2**64 - 1
ROW_MAJOR, COL_MAJOR, STRIDED = 1, 2, 3

# tag: (name, elements in a group, bytes of a group)
TYPES = {
    0x01: ("float16", 1, 2),
    0x02: ("bfloat16", 1, 2),
    0x03: ("float32", 1, 4),
    0x04: ("float64", 1, 8),
    0x10: ("int8", 1, 1),
    0x11: ("uint8", 1, 1),
    0x12: ("int16", 1, 2),
    0x13: ("uint16", 1, 2),
    0x14: ("int32", 1, 4),
    0x15: ("uint32", 1, 4),
    0x16: ("int64", 1, 8),
    0x17: ("uint64", 1, 8),
    0x20: ("bool", 8, 1),
    0x40: ("float8_e4m3", 1, 1),
    0x41: ("float8_e5m2", 1, 1),
    0x42: ("float8_e8m0", 1, 1),
    0x43: ("float4_e2m1", 2, 1),
    0x44: ("float6_e2m3", 4, 3),
    0x45: ("float6_e3m2", 4, 3),
    0x46: ("float128", 1, 16),
    0x48: ("int4", 2, 1),
    0x49: ("uint4", 2, 1),
    0x4A: ("int2", 4, 1),
    0x4B: ("uint2", 4, 1),
    0x50: ("complex64", 1, 8),
    0x51: ("complex128", 1, 16),
}
TAG_OF_TYPE = {name: tag for tag, (name, _, _) in TYPES.items()}

LAYOUTS = {
    ROW_MAJOR: "row_major",
    COL_MAJOR: "col_major",
    STRIDED: "strided",
    0x04: "tiled",
    0x05: "morton",
    0x06: "coo",
    0x07: "csr",
    0x08: "csc",
    0x09: "csf",
    0x0A: "block_paged",
    0x0B: "composite",
    0x40: "hilbert",
}
PRIVATE_TAGS = range(0xF0, 0xFF)


def type_name(tag):
    """The name of a type; private types have one name, and those that nobody knows another."""
    if tag in TYPES:
        return TYPES[tag][0]
    return "private" if tag in PRIVATE_TAGS else "unknown"


def layout_name(tag):
    """Likewise of a layout."""
    if tag in LAYOUTS:
        return LAYOUTS[tag]
    return "private_extension" if tag in PRIVATE_TAGS else "unknown"


def packed_bytes(type_tag, elements):
    """Bytes of `elements` elements without gaps."""
    _, group, size = TYPES[type_tag]
    return (elements + group - 1) // group * size


@dataclasses.dataclass
class Handle:
    """An entry of the buffer table."""

    byte_size: int
    alignment: int = 64
    device_tag: int = 0
    sync_mode: int = 0
    memory_class: int = 0
    reserved: int = 0

    def encoded(self):
        return struct.pack(
            "<QIBBBB",
            self.byte_size,
            self.alignment,
            self.device_tag,
            self.sync_mode,
            self.memory_class,
            self.reserved,
        )

    def as_json(self):
        fields = dataclasses.asdict(self)
        del fields["reserved"]
        return fields


@dataclasses.dataclass
class Descriptor:
    """All fields of a descriptor. Those that are None are the ones that follow from the others."""

    type_tag: int
    shape: tuple
    layout_tag: int = ROW_MAJOR
    byte_offset: int = 0
    strides: tuple = ()
    buffers: tuple = None
    parent_shape: tuple = None
    shard_offset: tuple = None
    # Other sections as pairs of a field's name and its bytes, see sections.py.
    quantization: tuple = None
    statistics: tuple = None
    extension_type: tuple = None
    composite_member: tuple = None
    # The fields of other layouts: an object with fields(), as_json(), and the buffer table where it can tell that.
    layout: object = None
    minor: int = 0
    # What a later minor version put behind the sections.
    trailing: bytes = b""
    # What follows the descriptor in the input.
    after: bytes = b""
    # Fields that say something else than what is there.
    magic: bytes = b"HRRY"
    major: int = 1
    length: int = None
    flags: int = None
    rank: int = None
    buffer_count: int = None

    def element_count(self):
        count = 1
        for size in self.shape:
            count *= size
        return count

    def reach(self):
        """Bytes that the elements take before and from byte_offset on."""
        if 0 in self.shape:
            return 0, 0
        if self.layout_tag != STRIDED:
            return 0, packed_bytes(self.type_tag, self.element_count())
        ends = [step * (size - 1) for size, step in zip(self.shape, self.strides)]
        below = sum(-end for end in ends if end < 0)
        above = sum(end for end in ends if end > 0)
        return packed_bytes(self.type_tag, below), packed_bytes(self.type_tag, above + 1)

    def table(self):
        if self.buffers is not None:
            return self.buffers
        if self.layout is not None:
            return self.layout.table(self)
        return (Handle(self.byte_offset + self.reach()[1]),)

    def flag_bits(self):
        if self.flags is not None:
            return self.flags
        sections = (
            self.quantization,
            self.parent_shape,
            self.extension_type,
            self.statistics,
            self.composite_member,
        )
        return sum(1 << bit for bit, section in enumerate(sections) if section is not None)

    def fields(self):
        """The fields in wire order as pairs of name and bytes."""
        rank = len(self.shape) if self.rank is None else self.rank
        table = self.table()
        count = len(table) if self.buffer_count is None else self.buffer_count
        body = [(f"shape[{k}]", struct.pack("<Q", size)) for k, size in enumerate(self.shape)]
        body.append(("byte_offset", struct.pack("<Q", self.byte_offset)))
        body += [(f"strides[{k}]", struct.pack("<q", step)) for k, step in enumerate(self.strides)]
        if self.layout is not None:
            body += self.layout.fields()
        body.append(("buffer_count", struct.pack("<B", count)))
        for i, handle in enumerate(table):
            encoded = handle.encoded()
            ends = (0, 8, 12, 13, 14, 15, 16)
            names = ("byte_size", "alignment", "device_tag", "sync_mode", "memory_class", "reserved")
            for name, start, end in zip(names, ends, ends[1:]):
                body.append((f"buffers[{i}].{name}", encoded[start:end]))
        body += self.quantization or ()
        if self.parent_shape is not None:
            body += [(f"parent_shape[{k}]", struct.pack("<Q", size)) for k, size in enumerate(self.parent_shape)]
            body += [(f"shard_offset[{k}]", struct.pack("<Q", start)) for k, start in enumerate(self.shard_offset)]
        for section in (self.statistics, self.extension_type, self.composite_member):
            body += section or ()
        body.append(("trailing", self.trailing))
        length = self.length
        if length is None:
            length = 20 + sum(len(encoded) for _, encoded in body)
        header = [
            ("magic", self.magic),
            ("version_major", struct.pack("<B", self.major)),
            ("version_minor", struct.pack("<B", self.minor)),
            ("descriptor_length", struct.pack("<I", length)),
            ("flags", struct.pack("<I", self.flag_bits())),
            ("type_tag", struct.pack("<B", self.type_tag)),
            ("layout_tag", struct.pack("<B", self.layout_tag)),
            ("rank", struct.pack("<I", rank)),
        ]
        return header + body + [("after", self.after)]

    def encoded(self):
        return b"".join(encoded for _, encoded in self.fields())

    def offset_of(self, field):
        """Where a field starts."""
        offset = 0
        for name, encoded in self.fields():
            if name == field:
                return offset
            offset += len(encoded)
        raise KeyError(field)

    def layout_json(self):
        if self.layout is not None:
            return self.layout.as_json()
        return {"strides": list(self.strides)} if self.layout_tag == STRIDED else {}

    def as_json(self):
        """What a reader finds in a valid descriptor, as `hurray inspect --json` prints it."""
        # Of an unknown layout nothing behind byte_offset is read.
        read = layout_name(self.layout_tag) != "unknown"
        return {
            "version_major": self.major,
            "version_minor": self.minor,
            "descriptor_length": len(self.encoded()) - len(self.after),
            "trailing_bytes": len(self.after),
            "flags": self.flag_bits(),
            "type": type_name(self.type_tag),
            "type_tag": self.type_tag,
            "layout": layout_name(self.layout_tag),
            "layout_tag": self.layout_tag,
            "rank": len(self.shape),
            "shape": list(self.shape),
            "byte_offset": self.byte_offset,
            "layout_fields": self.layout_json() if read else {},
            "buffers": [handle.as_json() for handle in self.table()] if read else [],
            "quantization": section_json.quantization(self.quantization) if read else None,
            "shard": None
            if self.parent_shape is None or not read
            else {"parent_shape": list(self.parent_shape), "shard_offset": list(self.shard_offset)},
            "statistics": section_json.statistics(self.statistics) if read else None,
            "extension_type": section_json.extension_type(self.extension_type) if read else None,
            "composite_member": section_json.composite_member(self.composite_member) if read else None,
        }
