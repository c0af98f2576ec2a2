"""Inputs that every strict reader must refuse, each with the code and the offset of the field at fault."""

import dataclasses
import struct

from valid_descriptors import CLASSES, CLASSES_OF_DEVICE, DEVICES
from wire import COL_MAJOR, DYNAMIC, STRIDED, TAG_OF_TYPE, Descriptor, Handle

NAMES = {
    -1: "INVALID_MAGIC",
    -2: "VERSION_MISMATCH",
    -3: "INVALID_LAYOUT",
    -4: "INVALID_TYPE",
    -8: "INVALID_SYNC_MODE",
    -15: "UNSUPPORTED",
    -19: "INVALID_QUANTIZATION",
    -20: "INVALID_COMPOSITE",
    -24: "LIMIT_EXCEEDED",
}
MAGIC, VERSION, STRUCTURE, TYPE, SYNC, UNSUPPORTED, QUANTIZATION, COMPOSITE, LIMIT = NAMES

F32 = TAG_OF_TYPE["float32"]
F64 = TAG_OF_TYPE["float64"]
BOOL = TAG_OF_TYPE["bool"]
INT4 = TAG_OF_TYPE["int4"]
F6 = TAG_OF_TYPE["float6_e3m2"]
U8 = TAG_OF_TYPE["uint8"]

GOOD = Descriptor(F32, (3, 4))
SHARD = Descriptor(F32, (8, 4), parent_shape=(8, 8), shard_offset=(0, 4))


@dataclasses.dataclass
class Refused:
    """An input and the error that it must give."""

    name: str
    description: str
    data: bytes
    code: int
    offset: int
    # The field at fault, where it has one.
    field: str = None


def at(name, description, descriptor, code, field):
    """A wrong descriptor whose fault is a field."""
    return Refused(name, description, descriptor.encoded(), code, descriptor.offset_of(field))


def changed(base=GOOD, **fields):
    return dataclasses.replace(base, **fields)


def handles(*table, shape=(16,), **fields):
    return Descriptor(F32, shape, buffers=table, **fields)


def cut(name, description, descriptor, length, field):
    """A descriptor that says itself that it ends early."""
    short = changed(descriptor, length=length)
    return Refused(name, description, short.encoded()[:length], STRUCTURE, short.offset_of(field))


def header():
    for k in range(4):
        magic = bytearray(b"HRRY")
        magic[k] ^= 0x20
        yield at(f"magic_byte_{k}", "a wrong byte in the magic", changed(magic=bytes(magic)), MAGIC, "magic")
    yield at("magic_reversed", "the magic of another byte order", changed(magic=b"YRRH"), MAGIC, "magic")
    for major in (0, 2, 255):
        yield at(
            f"version_major_{major}", "a major version other than 1", changed(major=major), VERSION, "version_major"
        )
    for length in (0, 1, 19):
        yield at(
            f"length_{length}", "shorter than the fixed header", changed(length=length), STRUCTURE, "descriptor_length"
        )
    for length, name in ((2**24 + 1, "over_limit"), (2**32 - 1, "largest")):
        yield at(f"length_{name}", "longer than a reader takes", changed(length=length), LIMIT, "descriptor_length")
    yield at("length_one_over", "one byte more than there is", changed(length=62), STRUCTURE, "descriptor_length")
    yield at("length_at_limit", "allowed, but not there", changed(length=2**24), STRUCTURE, "descriptor_length")
    for bit in (5, 8, 16, 31):
        yield at(f"flag_bit_{bit}", "a reserved flag", changed(flags=1 << bit), STRUCTURE, "flags")
    for tag in (0x00, 0x05, 0x0F, 0x18, 0x21, 0x3F, 0x47, 0x4C, 0x52, 0x7F, 0x80, 0xEF, 0xFF):
        yield at(
            f"type_{tag:02x}",
            "an invalid or reserved type",
            Descriptor(tag, (1,), buffers=(Handle(64),)),
            TYPE,
            "type_tag",
        )
    for tag in (0xF0, 0xFE):
        yield at(
            f"type_{tag:02x}_undescribed",
            "a private type without its extension section",
            Descriptor(tag, (1,), buffers=(Handle(64),)),
            TYPE,
            "type_tag",
        )
    for tag in (0x00, 0x0C, 0x3F, 0x41, 0x7F, 0x80, 0xEF, 0xFF):
        yield at(f"layout_{tag:02x}", "an invalid or reserved layout", changed(layout_tag=tag), STRUCTURE, "layout_tag")
    for tag in (0xF0, 0xFE):
        yield at(
            f"layout_{tag:02x}_private",
            "a private layout, which a strict reader refuses",
            changed(layout_tag=tag),
            STRUCTURE,
            "layout_tag",
        )
    yield at("rank_65", "one dimension too many", Descriptor(U8, (1,) * 65), STRUCTURE, "rank")
    yield at("rank_largest", "a rank that only its number has", changed(rank=2**32 - 1), STRUCTURE, "rank")
    # Eight times this rank is 8 in 32 bits.
    yield at("rank_wraps", "a rank whose size in bytes wraps", changed(rank=2**29 + 1), STRUCTURE, "rank")
    for layout, name in ((COL_MAJOR, "col_major"), (STRIDED, "strided")):
        yield at(f"scalar_{name}", "a scalar is row-major", Descriptor(F32, (), layout), STRUCTURE, "rank")


def truncations():
    encoded = GOOD.encoded()
    starts = {0: 0, 3: 0, 4: 4, 5: 5, 6: 6, 9: 6, 10: 6, 19: 6, 20: 6, 36: 6, 44: 6, 45: 6, 60: 6}
    for length, offset in starts.items():
        yield Refused(f"input_{length}_bytes", "an input that ends early", encoded[:length], STRUCTURE, offset)
    yield cut("ends_before_shape", "no shape", GOOD, 20, "shape[0]")
    yield cut("ends_in_shape", "half of the shape", GOOD, 31, "shape[1]")
    yield cut("ends_before_byte_offset", "no byte_offset", GOOD, 36, "byte_offset")
    yield cut("ends_in_byte_offset", "half of byte_offset", GOOD, 43, "byte_offset")
    yield cut("ends_before_buffer_count", "no buffer table", GOOD, 44, "buffer_count")
    yield cut("ends_before_buffers", "a table without its entry", GOOD, 45, "buffers[0].byte_size")
    yield cut("ends_in_byte_size", "half of byte_size", GOOD, 52, "buffers[0].byte_size")
    yield cut("ends_before_alignment", "no alignment", GOOD, 53, "buffers[0].alignment")
    yield cut("ends_in_alignment", "half of the alignment", GOOD, 56, "buffers[0].alignment")
    yield cut("ends_before_device_tag", "no device", GOOD, 57, "buffers[0].device_tag")
    yield cut("ends_before_sync_mode", "no sync mode", GOOD, 58, "buffers[0].sync_mode")
    yield cut("ends_before_memory_class", "no memory class", GOOD, 59, "buffers[0].memory_class")
    yield cut("ends_before_reserved", "no reserved byte", GOOD, 60, "buffers[0].reserved")
    wide = Descriptor(F32, (3, 4), STRIDED, strides=(4, 1))
    yield cut("ends_before_strides", "no strides", wide, 44, "strides[0]")
    yield cut("ends_in_strides", "half of the strides", wide, 59, "strides[1]")
    yield cut("ends_before_parent_shape", "a shard flag without a section", SHARD, 61, "parent_shape[0]")
    yield cut("ends_in_parent_shape", "half of parent_shape", SHARD, 76, "parent_shape[1]")
    yield cut("ends_before_shard_offset", "no shard_offset", SHARD, 77, "shard_offset[0]")
    yield cut("ends_in_shard_offset", "half of shard_offset", SHARD, 92, "shard_offset[1]")
    for extra in (1, 16):
        yield at(
            f"left_over_{extra}",
            "bytes that belong to no field of version 1.0",
            changed(trailing=bytes(extra)),
            STRUCTURE,
            "trailing",
        )
    yield at(
        "left_over_after_shard", "likewise, behind a section", changed(SHARD, trailing=b"\0"), STRUCTURE, "trailing"
    )


def shapes():
    big = (Handle(2**64 - 1),)
    yield at(
        "product_wraps_to_0", "2^32 times 2^32", Descriptor(U8, (2**32, 2**32), buffers=big), STRUCTURE, "shape[1]"
    )
    yield at(
        "product_wraps_to_small",
        "a product of 2^64 + 16",
        Descriptor(U8, (2, 2**63 + 8), buffers=big),
        STRUCTURE,
        "shape[1]",
    )
    yield at(
        "product_wraps_last", "three sizes", Descriptor(U8, (2**20, 2**40, 16), buffers=big), STRUCTURE, "shape[2]"
    )
    yield at(
        "product_wraps_middle",
        "the first size that is too much",
        Descriptor(U8, (2**40, 2**40, 2), buffers=big),
        STRUCTURE,
        "shape[1]",
    )
    yield at(
        "bytes_wrap",
        "2^61 elements of 8 bytes",
        Descriptor(F64, (2**61,), buffers=big),
        STRUCTURE,
        "buffers[0].byte_size",
    )
    yield at(
        "bytes_wrap_to_small",
        "2^61 + 1 elements of 8 bytes",
        Descriptor(F64, (2**61 + 1,), buffers=(Handle(64),)),
        STRUCTURE,
        "buffers[0].byte_size",
    )
    yield at(
        "byte_offset_one_over",
        "one byte behind the buffer",
        Descriptor(F32, (0,), byte_offset=65, buffers=(Handle(64),)),
        STRUCTURE,
        "byte_offset",
    )
    yield at(
        "byte_offset_largest",
        "the largest offset",
        Descriptor(F32, (1,), byte_offset=2**64 - 1, buffers=(Handle(64),)),
        STRUCTURE,
        "byte_offset",
    )
    yield at(
        "byte_offset_over_dynamic",
        "checked while the shape is unknown, too",
        Descriptor(F32, (DYNAMIC,), byte_offset=65, buffers=(Handle(64),)),
        STRUCTURE,
        "byte_offset",
    )
    yield at(
        "byte_offset_over_empty_buffer",
        "an offset into nothing",
        Descriptor(F32, (0,), byte_offset=1, buffers=(Handle(0),)),
        STRUCTURE,
        "byte_offset",
    )


def extents():
    size = "buffers[0].byte_size"
    yield at("buffer_one_byte_short", "47 bytes for 12 float32", changed(buffers=(Handle(47),)), STRUCTURE, size)
    yield at("buffer_empty", "no bytes for 12 elements", changed(buffers=(Handle(0),)), STRUCTURE, size)
    yield at(
        "buffer_short_col_major",
        "likewise, column-major",
        changed(layout_tag=COL_MAJOR, buffers=(Handle(47),)),
        STRUCTURE,
        size,
    )
    yield at(
        "buffer_short_by_offset",
        "room without byte_offset only",
        changed(byte_offset=1, buffers=(Handle(48),)),
        STRUCTURE,
        size,
    )
    yield at("buffer_short_scalar", "no room for a scalar", Descriptor(F32, (), buffers=(Handle(3),)), STRUCTURE, size)
    yield at("buffer_short_bool", "9 bits in a byte", Descriptor(BOOL, (9,), buffers=(Handle(1),)), STRUCTURE, size)
    yield at("buffer_short_int4", "3 nibbles in a byte", Descriptor(INT4, (3,), buffers=(Handle(1),)), STRUCTURE, size)
    yield at(
        "buffer_short_float6",
        "5 elements take two groups of 3 bytes",
        Descriptor(F6, (5,), buffers=(Handle(5),)),
        STRUCTURE,
        size,
    )

    def strided(name, description, type_tag, shape, strides, byte_offset, byte_size, field):
        wrong = Descriptor(type_tag, shape, STRIDED, byte_offset, strides, (Handle(byte_size),))
        return at(f"strided_{name}", description, wrong, STRUCTURE, field)

    yield strided("above_by_one", "the last element ends outside", F32, (3, 4), (4, 1), 0, 47, size)
    yield strided("above_by_offset", "byte_offset pushes it out", F32, (3, 4), (4, 1), 4, 48, size)
    yield strided(
        "below_by_one", "the first element in memory starts outside", F32, (3, 4), (-4, 1), 31, 4096, "byte_offset"
    )
    yield strided("below_from_0", "negative strides from the start", F32, (2,), (-1,), 0, 4096, "byte_offset")
    yield strided("below_bool", "9 bits before take two bytes", BOOL, (10,), (-1,), 1, 64, "byte_offset")
    yield strided("below_float6", "5 elements before take two groups", F6, (6,), (-1,), 5, 64, "byte_offset")
    yield strided("above_bool", "bit 8 is in the second byte", BOOL, (2,), (8,), 0, 1, size)
    yield strided("above_wraps", "a reach that wraps to 0", U8, (5,), (2**62,), 0, 64, size)
    yield strided(
        "above_wraps_in_sum", "two reaches whose sum wraps", U8, (2, 2, 2), (2**63 - 1, 2**63 - 1, 2), 0, 64, size
    )
    yield strided("above_bytes_wrap", "a reach of 2^64 bytes", F64, (2,), (2**61,), 0, 2**64 - 1, size)
    yield strided("above_largest_bytes", "an end behind 2^64 bytes", F64, (2,), (2**61 - 1,), 1, 2**64 - 1, size)
    yield strided("below_wraps", "a reach below that wraps", U8, (5,), (-(2**62),), 64, 128, "byte_offset")
    yield strided(
        "below_most_negative", "the most negative stride", U8, (3,), (-(2**63),), 2**63, 2**64 - 1, "byte_offset"
    )
    yield strided("broadcast_nothing", "one element is one too many", F32, (9,), (0,), 0, 0, size)


def tables():
    yield at("buffers_0", "a dense tensor without a buffer", handles(), STRUCTURE, "buffer_count")
    yield at("buffers_2", "a dense tensor with two buffers", handles(Handle(64), Handle(64)), STRUCTURE, "buffer_count")
    yield at("buffers_255", "the largest table", handles(*[Handle(64)] * 255), STRUCTURE, "buffer_count")
    yield at("buffers_255_missing", "a table that is not there", changed(buffer_count=255), STRUCTURE, "buffer_count")
    yield at(
        "buffers_2_strided",
        "likewise, strided",
        handles(Handle(64), Handle(64), layout_tag=STRIDED, strides=(1,)),
        STRUCTURE,
        "buffer_count",
    )
    for alignment in (0, 1, 16, 32, 48, 63, 65, 96, 2**32 - 1):
        yield at(
            f"alignment_{alignment}",
            "no power of two of at least 64",
            handles(Handle(64, alignment)),
            STRUCTURE,
            "buffers[0].alignment",
        )
    for alignment in (0, 3, 2**31 + 1):
        yield at(
            f"empty_alignment_{alignment}",
            "no power of two",
            handles(Handle(0, alignment), shape=(0,)),
            STRUCTURE,
            "buffers[0].alignment",
        )
    for device in (0x09, 0x0A, 0x7F, 0xEF, 0xFF):
        yield at(
            f"device_{device:02x}",
            "an invalid or reserved device",
            handles(Handle(64, 64, device)),
            TYPE,
            "buffers[0].device_tag",
        )
    for device in (0xF0, 0xFE):
        yield at(
            f"device_{device:02x}_private",
            "a private device, which a strict reader refuses",
            handles(Handle(64, 64, device)),
            TYPE,
            "buffers[0].device_tag",
        )
    for mode in (3, 0x7F, 0xFF):
        yield at(
            f"sync_mode_{mode:02x}",
            "an unknown sync mode",
            handles(Handle(64, 64, 1, mode)),
            SYNC,
            "buffers[0].sync_mode",
        )
    for mode in (1, 2, 3):
        yield at(
            f"sync_mode_{mode:02x}_cpu",
            "the CPU has PRODUCER_SYNCED only",
            handles(Handle(64, 64, 0, mode)),
            SYNC,
            "buffers[0].sync_mode",
        )
    for memory in (0x04, 0x7F, 0xEF, 0xFF):
        yield at(
            f"memory_class_{memory:02x}",
            "an invalid or reserved class",
            handles(Handle(64, 64, 1, 0, memory)),
            TYPE,
            "buffers[0].memory_class",
        )
    for memory in (0xF0, 0xFE):
        yield at(
            f"memory_class_{memory:02x}_private",
            "a private class of a public device",
            handles(Handle(64, 64, 1, 0, memory)),
            TYPE,
            "buffers[0].memory_class",
        )
    for device, name in enumerate(DEVICES):
        for memory in sorted({0, 1, 2, 3} - set(CLASSES_OF_DEVICE[name])):
            yield at(
                f"{name}_{CLASSES[memory]}",
                f"{name} has no class {CLASSES[memory]}",
                handles(Handle(64, 64, device, 0, memory)),
                TYPE,
                "buffers[0].memory_class",
            )
    for reserved in (0x01, 0x80):
        yield at(
            f"reserved_{reserved:02x}",
            "the handle's last byte is 0",
            handles(Handle(64, reserved=reserved)),
            STRUCTURE,
            "buffers[0].reserved",
        )


def shards():
    def make(shape, parent, offset, **other):
        return Descriptor(F32, shape, parent_shape=parent, shard_offset=offset, **other)

    yield at("shard_beyond_end", "one column too far", make((8, 4), (8, 8), (0, 5)), STRUCTURE, "shard_offset[1]")
    yield at("shard_beyond_end_first", "one row too far", make((8, 4), (8, 8), (1, 4)), STRUCTURE, "shard_offset[0]")
    yield at(
        "shard_sum_wraps",
        "offset + size wraps to a small number",
        make((8, 4), (8, 8), (0, 2**64 - 4)),
        STRUCTURE,
        "shard_offset[1]",
    )
    yield at(
        "shard_larger_than_parent",
        "more columns than the parent",
        make((8, 4), (8, 3), (0, 0)),
        STRUCTURE,
        "parent_shape[1]",
    )
    yield at("shard_of_empty_parent", "elements of nothing", make((1,), (0,), (0,)), STRUCTURE, "parent_shape[0]")
    yield at(
        "shard_empty_beyond_end", "no elements, but outside", make((0,), (10,), (11,)), STRUCTURE, "shard_offset[0]"
    )
    yield at(
        "shard_parent_dynamic",
        "a parent of unknown size",
        make((8, 4), (8, DYNAMIC), (0, 0)),
        STRUCTURE,
        "parent_shape[1]",
    )
    yield at(
        "shard_dynamic",
        "a shard of unknown size",
        make((8, DYNAMIC), (8, DYNAMIC), (0, 0), buffers=(Handle(64),)),
        STRUCTURE,
        "shape[1]",
    )
    yield at(
        "shard_offset_dynamic",
        "an offset that is the mark of unknown sizes",
        make((8, 4), (8, 8), (0, DYNAMIC)),
        STRUCTURE,
        "shard_offset[1]",
    )


def precedence():
    """Several faults: the earliest field counts."""

    def wrong(name, field, code, **fields):
        return at(f"first_{name}", "of several faults the earliest counts", changed(**fields), code, field)

    bad = (Handle(8, 3, 0xFF, 0xFF, 0xFF, 0xFF),)
    yield wrong("magic_before_version", "magic", MAGIC, magic=b"hrry", major=9)
    yield wrong("version_before_length", "version_major", VERSION, major=0, length=3)
    yield wrong("length_before_flags", "descriptor_length", STRUCTURE, length=3, flags=2**32 - 1)
    yield wrong("flags_before_type", "flags", STRUCTURE, flags=2**31, type_tag=0, buffers=(Handle(48),))
    yield wrong("type_before_layout", "type_tag", TYPE, type_tag=0xFF, layout_tag=0, buffers=(Handle(48),))
    yield wrong("layout_before_rank", "layout_tag", STRUCTURE, layout_tag=0xFF, rank=65)
    yield wrong("shape_before_byte_offset", "shape[1]", STRUCTURE, shape=(2**33, 2**33), byte_offset=99, buffers=bad)
    yield wrong("byte_offset_before_table", "byte_offset", STRUCTURE, byte_offset=9, buffers=bad)
    yield wrong("byte_offset_before_count", "byte_offset", STRUCTURE, byte_offset=65, buffers=(Handle(64), Handle(64)))
    yield wrong(
        "reach_before_count",
        "byte_offset",
        STRUCTURE,
        layout_tag=STRIDED,
        strides=(-4, 1),
        buffers=(Handle(64), Handle(64)),
    )
    yield wrong("count_before_size", "buffer_count", STRUCTURE, buffers=bad + bad)
    yield wrong("size_before_alignment", "buffers[0].byte_size", STRUCTURE, buffers=bad)
    yield wrong(
        "alignment_before_device", "buffers[0].alignment", STRUCTURE, buffers=(Handle(64, 3, 0xFF, 0xFF, 0xFF, 0xFF),)
    )
    yield wrong("device_before_sync", "buffers[0].device_tag", TYPE, buffers=(Handle(64, 64, 0xFF, 0xFF, 0xFF, 0xFF),))
    yield wrong("sync_before_class", "buffers[0].sync_mode", SYNC, buffers=(Handle(64, 64, 0, 0xFF, 0xFF, 0xFF),))
    yield wrong("class_before_reserved", "buffers[0].memory_class", TYPE, buffers=(Handle(64, 64, 0, 0, 0xFF, 0xFF),))
    yield wrong(
        "reserved_before_shard",
        "buffers[0].reserved",
        STRUCTURE,
        buffers=(Handle(64, reserved=1),),
        parent_shape=(1, 1),
        shard_offset=(9, 9),
    )
    yield wrong("parent_before_offset", "parent_shape[1]", STRUCTURE, parent_shape=(3, 1), shard_offset=(9, 9))
    yield wrong(
        "shard_before_left_over", "shard_offset[0]", STRUCTURE, parent_shape=(3, 4), shard_offset=(1, 0), trailing=b"\0"
    )
    early = changed(byte_offset=100, buffers=(Handle(48),), length=53)
    yield Refused(
        "first_byte_offset_before_end",
        "an offset outside, in a table that ends early",
        early.encoded()[:53],
        STRUCTURE,
        36,
    )
    early = changed(SHARD, shape=(DYNAMIC, 4), buffers=(Handle(64),), length=29)
    yield Refused(
        "first_dynamic_shard_before_end",
        "a shard of unknown size, in a shape that ends early",
        early.encoded()[:29],
        STRUCTURE,
        20,
    )
    early = changed(SHARD, parent_shape=(7, 8), length=70)
    yield Refused(
        "first_parent_before_end",
        "a parent too small, in a section that ends early",
        early.encoded()[:70],
        STRUCTURE,
        61,
    )


def noise():
    yield Refused("text", "not a descriptor at all", b"{\"shape\": [3, 4], \"dtype\": \"F32\"}", MAGIC, 0)
    yield Refused(
        "file_magic", "the header of a file", b"HRRYFILE" + struct.pack("<BBHI", 1, 0, 0, 0) + bytes(48), VERSION, 4
    )
    yield Refused("zeros", "64 bytes of 0", bytes(64), MAGIC, 0)
    yield Refused("ones", "64 bytes of FF", b"\xff" * 64, MAGIC, 0)


def all_invalid():
    """Everything that must be refused."""
    for group in (header, truncations, shapes, extents, tables, shards, precedence, noise):
        yield from group()
