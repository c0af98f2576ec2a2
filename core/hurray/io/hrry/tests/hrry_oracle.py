"""The .hrry format in plain Python, from its text alone: an encoder and a decoder that share nothing with the C++ ones.

A file is a list of tensors (name, descriptor, buffers: all bytes but the name, which is text) and a list of metadata (key,
tag, value), where the value of tag 7 is (element tag, values).
"""

import dataclasses
import struct

HEADER, TRAILER = 64, 40
HAS_KV, SORTED, HAS_CRC = 1, 2, 4


def crc32c(data):
    """Bit by bit, as RFC 3720 defines it."""
    state = 0xFFFFFFFF
    for byte in data:
        state ^= byte
        for _ in range(8):
            state = state >> 1 ^ (0x82F63B78 if state & 1 else 0)
    return state ^ 0xFFFFFFFF


@dataclasses.dataclass
class Tensor:
    name: str
    descriptor: bytes
    buffers: list


@dataclasses.dataclass
class Form:
    """What a writer may choose."""

    alignment: int = 4096
    sorted_index: bool = True
    checksum: bool = True
    #: Padding behind the last buffer of a tensor goes to the next multiple of alignment, or of 8 only.
    long_padding: bool = True
    #: What a composite head is followed by: padding to the next multiple of 8, or of alignment.
    padded_heads: bool = False
    kv_flag: bool = True
    #: A metadata section without entries is written.
    empty_kv: bool = True
    first_offset: int = 64
    count_hint: int = 2**64 - 1
    index_order: list = None


def _up(number, alignment):
    return (number + alignment - 1) // alignment * alignment


def encode_value(tag, value):
    if tag in (1, 6):
        data = value.encode() if tag == 1 else value
        return struct.pack("<I", len(data)) + data
    if tag == 7:
        inner, values = value
        return struct.pack("<BI", inner, len(values)) + b"".join(encode_value(inner, v) for v in values)
    return struct.pack({2: "<q", 3: "<Q", 4: "<d", 5: "<B"}[tag], value)


def encode_metadata(entries):
    out = struct.pack("<I", len(entries))
    for key, tag, value in entries:
        name = key.encode()
        out += struct.pack("<H", len(name)) + name + bytes([tag]) + encode_value(tag, value)
    return out


def encode(tensors, metadata, form=Form()):
    has_kv = bool(metadata) or form.empty_kv
    flags = (HAS_KV if has_kv and form.kv_flag else 0) | (SORTED if form.sorted_index else 0) | (HAS_CRC if form.checksum else 0)
    out = bytearray(b"HRRYFILE" + struct.pack("<BBHIIQQ", 1, 0, 0, flags, form.alignment, form.first_offset, form.count_hint))
    out += bytes(form.first_offset - len(out))
    entries = []
    for tensor in tensors:
        start = len(out)
        out += tensor.descriptor
        if tensor.buffers or form.padded_heads:
            out += bytes(_up(len(out), form.alignment) - len(out))
        data = end = len(out)
        for buffer in tensor.buffers:
            out += bytes(_up(len(out), form.alignment) - len(out))
            out += buffer
            end = len(out)
        if form.long_padding and tensor.buffers:
            out += bytes(_up(len(out), form.alignment) - len(out))
        out += bytes(_up(len(out), 8) - len(out))
        entries.append((tensor.name.encode(), start, len(tensor.descriptor), data, end - data))
    kv = encode_metadata(metadata) if has_kv else b""
    kv_offset = len(out) if has_kv else 0
    out += kv
    out += bytes(_up(len(out), 8) - len(out))
    if form.sorted_index:
        entries.sort()
    elif form.index_order:
        entries = [entries[i] for i in form.index_order]
    index = struct.pack("<Q", len(entries))
    for name, *numbers in entries:
        index += struct.pack("<H", len(name)) + name + struct.pack("<QIQQI", *numbers, 0)
    index_offset = len(out)
    out += index
    out += struct.pack("<QQQIII4s", index_offset, len(index), kv_offset, len(kv), crc32c(index) if form.checksum else 0, 0, b"HRRY")
    return bytes(out)


def decode_value(data, at, tag):
    if tag in (1, 6):
        (length,) = struct.unpack_from("<I", data, at)
        raw = data[at + 4:at + 4 + length]
        return raw.decode() if tag == 1 else raw, at + 4 + length
    if tag == 7:
        inner, count = struct.unpack_from("<BI", data, at)
        at += 5
        values = []
        for _ in range(count):
            value, at = decode_value(data, at, inner)
            values.append(value)
        return (inner, values), at
    size, form = {2: (8, "<q"), 3: (8, "<Q"), 4: (8, "<d"), 5: (1, "<B")}[tag]
    return struct.unpack_from(form, data, at)[0], at + size


def decode(data, sizes):
    """Tensors in the order of the file, and the metadata. `sizes`: buffer sizes by descriptor, which it does not read."""
    magic, major, _, zero, flags, alignment, first, _ = struct.unpack_from("<8sBBHIIQQ", data)
    assert magic == b"HRRYFILE" and major == 1 and zero == 0 and flags < 8 and not any(data[36:64])
    index_offset, index_length, kv_offset, kv_length, crc, zero, magic = struct.unpack_from("<QQQIII4s", data, len(data) - TRAILER)
    assert magic == b"HRRY" and zero == 0 and index_offset % 8 == 0 and index_offset + index_length <= len(data) - TRAILER
    assert bool(flags & HAS_KV) == bool(kv_offset)
    index = data[index_offset:index_offset + index_length]
    assert crc == (crc32c(index) if flags & HAS_CRC else 0)
    (count,) = struct.unpack_from("<Q", index)
    at, entries = 8, []
    for _ in range(count):
        (length,) = struct.unpack_from("<H", index, at)
        name = index[at + 2:at + 2 + length]
        at += 2 + length
        entries.append((name, *struct.unpack_from("<QIQQI", index, at)))
        at += 32
    assert at == len(index)
    if flags & SORTED:
        assert entries == sorted(entries)
    taken = []

    def take(start, length):
        taken.append((start, start + length))
        return data[start:start + length]

    take(0, HEADER)
    take(index_offset, index_length)
    take(len(data) - TRAILER, TRAILER)
    tensors = []
    entries.sort(key=lambda entry: entry[1])
    assert not entries or entries[0][1] == first
    for name, descriptor_offset, descriptor_length, data_offset, data_length, entry_flags in entries:
        assert descriptor_offset % 8 == 0 and entry_flags == 0
        descriptor = take(descriptor_offset, descriptor_length)
        assert struct.unpack_from("<I", descriptor, 6)[0] == descriptor_length
        buffers, end = [], data_offset
        for size in sizes[descriptor]:
            start = _up(end, alignment)
            buffers.append(take(start, size))
            end = start + size
        assert data_length == end - data_offset
        if buffers:
            assert data_offset == _up(descriptor_offset + descriptor_length, alignment)
        tensors.append(Tensor(name.decode(), descriptor, buffers))
    metadata = []
    if kv_offset:
        kv = take(kv_offset, kv_length)
        (count,) = struct.unpack_from("<I", kv)
        at = 4
        for _ in range(count):
            (length,) = struct.unpack_from("<H", kv, at)
            key = kv[at + 2:at + 2 + length].decode()
            tag = kv[at + 2 + length]
            value, at = decode_value(kv, at + 3 + length, tag)
            metadata.append((key, tag, value))
        assert at == len(kv)
    end = 0
    for start, behind in sorted(taken):
        assert start >= end, "overlap"
        assert data.count(0, end, start) == start - end, "padding"
        end = behind
    assert end == len(data)
    return tensors, metadata


def row_major(type_tag, shape, size, shard=None):
    """A descriptor of one buffer; shard: (parent shape, offset)."""
    tail = b"".join(struct.pack("<%dQ" % len(shape), *part) for part in shard or ())
    body = struct.pack("<%dQ" % len(shape), *shape) + struct.pack("<QBQIBBBB", 0, 1, size, 64, 0, 0, 0, 0) + tail
    return struct.pack("<4sBBIIBBI", b"HRRY", 1, 0, 20 + len(body), 2 if shard else 0, type_tag, 1, len(shape)) + body


def composite_head(type_tag, shape, rule, members):
    body = struct.pack("<%dQ" % len(shape), *shape) + struct.pack("<QBBHIB", 0, rule, 0, 0, members, 0)
    return struct.pack("<4sBBIIBBI", b"HRRY", 1, 0, 20 + len(body), 0, type_tag, 0x0B, len(shape)) + body
