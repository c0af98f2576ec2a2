"""A stream that the plain Python encoder wrote goes through a driver and comes out with the same bytes."""

import itertools
import json
import pathlib
import struct
import tempfile
import unittest
import zlib

import driver_support
import wire

STRUCT_CODES = {
    "float16": "e",
    "float32": "f",
    "float64": "d",
    "int8": "b",
    "uint8": "B",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "uint32": "I",
    "int64": "q",
    "uint64": "Q",
}
TIER_1 = [name for tag, (name, _, _) in wire.TYPES.items() if tag < 0x40]


def pattern(size, seed):
    """Bytes that look random and are the same every time."""
    state = seed * 2654435761 % 2**32 or 1
    out = bytearray()
    while len(out) < size:
        state ^= (state << 13) % 2**32
        state ^= state >> 17
        state ^= (state << 5) % 2**32
        out += struct.pack("<I", state)
    return bytes(out[:size])


def decode_element(type_name, raw):
    if type_name == "bfloat16":
        return struct.unpack("<f", b"\0\0" + raw)[0]
    return float(struct.unpack("<" + STRUCT_CODES[type_name], raw)[0])


def strides_of(descriptor):
    """Strides in elements, from the layout."""
    shape = descriptor.shape
    if descriptor.layout_tag == wire.STRIDED:
        return list(descriptor.strides)
    order = range(len(shape)) if descriptor.layout_tag == wire.COL_MAJOR else reversed(range(len(shape)))
    strides, step = [0] * len(shape), 1
    for k in order:
        strides[k] = step
        step *= shape[k]
    return strides


def expected_line(name, descriptor, data):
    """What a driver must report: computed element by element from the bytes, with Python's own CRC-32 and floats."""
    type_name, group, size = wire.TYPES[descriptor.type_tag]
    strides = strides_of(descriptor)
    elements = bytearray()
    bits = []
    total = 0.0
    for index in itertools.product(*(range(n) for n in descriptor.shape)):
        position = sum(i * s for i, s in zip(index, strides))
        if type_name == "bool":
            at = descriptor.byte_offset * 8 + position
            bit = data[at // 8] >> (at % 8) & 1
            bits.append(bit)
            total += bit
        else:
            at = descriptor.byte_offset + position * size
            elements += data[at : at + size]
            total += decode_element(type_name, data[at : at + size])
    if type_name == "bool":
        elements = bytearray((len(bits) + 7) // 8)
        for i, bit in enumerate(bits):
            elements[i // 8] |= bit << (i % 8)
    finite = total == total and abs(total) != float("inf")
    sum_bits = struct.pack(">d", total).hex() if total == total else "7ff8000000000000"
    return {
        "name": name,
        "type": type_name,
        "shape": list(descriptor.shape),
        "bytes": len(elements),
        "crc32": f"{zlib.crc32(bytes(elements)):08x}",
        "sum": total if finite else None,
        "sum_bits": sum_bits,
    }


def tensors():
    """Names, descriptors and data: every tier-1 type in every layout of this version, and the shapes that break readers."""
    seed = 0
    for type_name in TIER_1:
        tag = wire.TAG_OF_TYPE[type_name]
        variants = [
            ("row", wire.Descriptor(tag, (3, 5, 2))),
            ("column", wire.Descriptor(tag, (3, 5, 2), wire.COL_MAJOR)),
            ("scalar", wire.Descriptor(tag, ())),
            ("empty", wire.Descriptor(tag, (3, 0, 2))),
            ("offset", wire.Descriptor(tag, (11,), byte_offset=24)),
            ("negative", wire.Descriptor(tag, (4, 3), wire.STRIDED, byte_offset=192, strides=(-6, 1))),
            ("broadcast", wire.Descriptor(tag, (4, 3), wire.STRIDED, strides=(0, 2))),
            ("shard", wire.Descriptor(tag, (2, 4), parent_shape=(8, 4), shard_offset=(6, 0))),
        ]
        for what, descriptor in variants:
            seed += 1
            size = sum(handle.byte_size for handle in descriptor.table())
            data = pattern(size, seed)
            if type_name == "bool" and descriptor.layout_tag != wire.STRIDED and size:
                used = descriptor.element_count() % 8
                if used:
                    data = data[:-1] + bytes([data[-1] & ((1 << used) - 1)])
            yield f"{type_name}.{what}", descriptor, data
    special = struct.pack("<4f", 1.5, float("inf"), -0.0, 2.0)
    yield "infinite \u00e4\u2192\U0001f600\u2028\u0085", wire.Descriptor(0x03, (4,)), special
    yield "not\0a number \"\\\n", wire.Descriptor(0x04, (2,)), struct.pack("<2d", float("nan"), 1.0)


class StageTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.tensors = list(tensors())
        self.stream = b"".join(descriptor.encoded() + data for _, descriptor, data in self.tensors)

    def relay(self, stream, names=None, check=True):
        names_file, report = self.folder / "names", self.folder / "report"
        names = [name for name, _, _ in self.tensors] if names is None else names
        names_file.write_text("".join(json.dumps(name, ensure_ascii=False) + "\n" for name in names), encoding="utf-8")
        done = driver_support.run(["relay", str(names_file), str(report)], stream, check)
        lines = driver_support.json_lines(report.read_bytes()) if report.exists() and done.returncode == 0 else []
        return done, lines

    def test_every_element_is_read_and_every_byte_passed_on(self):
        done, lines = self.relay(self.stream)
        self.assertEqual(len(lines), len(self.tensors) + 1)
        for (name, descriptor, data), line in zip(self.tensors, lines):
            with self.subTest(name):
                nanos = line.pop("nanos")
                self.assertIsNone(line.pop("mapped", None), "what came through a pipe is mapped from no file")
                self.assertGreaterEqual(nanos, 0)
                self.assertEqual(line, expected_line(name, descriptor, data))
        last = lines[-1]
        self.assertEqual(last["tensors"], len(self.tensors))
        self.assertEqual(last["bytes"], sum(line["bytes"] for line in lines[:-1]))
        self.assertEqual(last["abi_version"], 4)
        self.assertEqual(last["live_handles"], 0, "handles leaked")
        self.assertEqual(done.stdout, self.stream)

    def test_empty_stream_is_a_clean_end(self):
        done, lines = self.relay(b"", names=[])
        self.assertEqual(done.stdout, b"")
        self.assertEqual(lines[-1]["tensors"], 0)

    def test_cut_streams_are_errors_and_no_hang(self):
        first = self.tensors[0][1].encoded() + self.tensors[0][2]
        for cut in (1, 19, 20, len(self.tensors[0][1].encoded()) - 1, len(first) - 1, len(first) + 7):
            with self.subTest(cut=cut):
                done, _ = self.relay(self.stream[:cut], check=False)
                self.assertEqual(done.returncode, 1)
                self.assertIn(b"INVALID", done.stderr.upper())

    def test_garbage_and_absurd_lengths_are_errors(self):
        header = self.tensors[0][1]
        absurd = wire.Descriptor(header.type_tag, header.shape, buffers=(wire.Handle(2**63),))
        for what, stream in {
            "garbage": b"garbage that is no descriptor at all",
            "length": wire.Descriptor(0x03, (1,), length=2**32 - 1).encoded(),
            "buffer": absurd.encoded() + b"only some bytes",
        }.items():
            with self.subTest(what):
                done, _ = self.relay(stream, check=False)
                self.assertEqual(done.returncode, 1)
                self.assertTrue(done.stderr)

    def test_names_that_do_not_match_the_stream_are_errors(self):
        names = [name for name, _, _ in self.tensors]
        for wrong in (names[:-1], names + ["one more"]):
            done, _ = self.relay(self.stream, names=wrong, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn(b"names", done.stderr)


if __name__ == "__main__":
    unittest.main()
