"""The library against gguf_oracle.py: files that Python wrote, files that the library wrote, numbers of every type."""

import math
import os
import random
import struct
import subprocess
import tempfile
import unittest

import gguf_oracle as oracle

PLAIN = {"F32": 3, "F16": 1, "BF16": 2, "F64": 4, "I8": 16, "I16": 18, "I32": 20, "I64": 22}
SCHEMES = {"Q4_0": (0x48, 3), "Q8_0": (0x10, 3), "MXFP4": (0x43, 5)}
TABLES_ONLY = ("IQ2_XXS", "IQ2_XS", "IQ3_XXS", "IQ1_S", "IQ3_S", "IQ2_S", "IQ1_M")


def run(*arguments):
    program = os.environ["HURRAY_GGUF_PROGRAM"]
    return subprocess.run([program, *arguments], capture_output=True, check=False, text=True)


class File(unittest.TestCase):
    maxDiff = 2000

    def setUp(self):
        self.rng = random.Random(20240613)
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def file(self, data, name="a.gguf"):
        with open(self.path(name), "wb") as out:
            out.write(data)
        return self.path(name)

    def dump(self, path, inexact="raw", exact="schemes"):
        done = run("dump", path, inexact, exact)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [line.split(" ") for line in done.stdout.splitlines()]

    def blocks(self, kind, count):
        """Random blocks, whose float16 numbers are finite and not 0."""
        _, _, size = oracle.TYPES[kind]
        out = b""
        for _ in range(count):
            block = bytearray(self.rng.randbytes(size))
            for at in oracle.HALVES[kind]:
                sign, power = self.rng.choice((-1, 1)), 2.0 ** self.rng.randint(-22, 10)
                struct.pack_into("<e", block, at, sign * self.rng.uniform(1, 2) * power)
            if kind == "Q8_K":
                struct.pack_into("<f", block, 0, self.rng.uniform(-2, 2) * 2.0 ** self.rng.randint(-100, 100))
            if kind == "MXFP4":
                block[0] = self.rng.choice((1, 2, 3, 100, 127, 200, 253, 254))
            out += bytes(block)
        return out

    def test_numbers_of_every_block_type(self):
        for kind in oracle.NUMBERS:
            elements, count = oracle.TYPES[kind][1], 24
            data = self.blocks(kind, count)
            path = self.file(oracle.write([], [("t", (3, count // 3 * elements), kind, data)]))
            with self.subTest(kind):
                expected = oracle.dequantize(kind, data).hex()
                (tensor,) = self.dump(path, "float32", "blocks")
                self.assertEqual(tensor[2:5], [kind, "3", "0"])
                self.assertEqual(tensor[5:9], ["[", "3", str(count // 3 * elements), "]"])
                self.assertEqual(tensor[9], expected)

    def test_float16_is_the_float32_number_rounded_once(self):
        for kind in ("Q4_1", "Q4_K", "Q6_K", "IQ4_XS", "TQ1_0", "NVFP4"):
            data = self.blocks(kind, 6)
            path = self.file(oracle.write([], [("t", (6 * oracle.TYPES[kind][1],), kind, data)]))
            with self.subTest(kind):
                (tensor,) = self.dump(path, "float16", "blocks")
                wide = struct.unpack(f"<{6 * oracle.TYPES[kind][1]}f", oracle.dequantize(kind, data))
                largest = 65520.0  # from here on it is infinity
                halves = b"".join(
                    struct.pack("<e", n if abs(n) < largest else math.copysign(math.inf, n)) for n in wide)
                self.assertEqual(tensor[-2], halves.hex())

    def test_schemes_say_the_same_numbers(self):
        for kind, (tag, scheme) in SCHEMES.items():
            data = self.blocks(kind, 40)
            path = self.file(oracle.write([], [("t", (2, 5, 4 * 32), kind, data)]))
            with self.subTest(kind):
                (tensor,) = self.dump(path)
                self.assertEqual(tensor[2:5], [kind, str(tag), str(scheme)])
                self.assertEqual(tensor[11], oracle.dequantize(kind, data).hex() + ".")

    def test_raw_rows(self):
        for kind, (_, elements, size) in oracle.TYPES.items():
            if elements == 1:
                continue
            data = self.rng.randbytes(6 * size)
            path = self.file(oracle.write([], [("t", (2, 3 * elements), kind, data)]))
            with self.subTest(kind):
                (tensor,) = self.dump(path, "raw", "blocks")
                self.assertEqual(tensor[2:], [kind, "17", "240", "[", "2", str(3 * size), "]", data.hex(), "."])

    def test_plain_types(self):
        for kind, tag in PLAIN.items():
            data = self.rng.randbytes(30 * oracle.TYPES[kind][2])
            for shape in ((30,), (5, 6), (1, 3, 2, 5), ()):
                part = data[: max(1, math.prod(shape)) * oracle.TYPES[kind][2]]
                path = self.file(oracle.write([], [("t", shape, kind, part)]))
                with self.subTest((kind, shape)):
                    (tensor,) = self.dump(path)
                    self.assertEqual(tensor[2:4], [kind, str(tag)])
                    self.assertEqual(tensor[5:-2], ["[", *map(str, shape), "]"])
                    self.assertEqual(tensor[-2], part.hex())

    def metadata(self):
        rng = self.rng
        return [
            ("u8", 0, 200), ("i8", 1, -7), ("u16", 2, 65535), ("i16", 3, -300), ("u32", 4, 2**32 - 1),
            ("i32", 5, -(2**31)), ("f32", 6, oracle.single(0.1)), ("yes", 7, True), ("no", 7, False),
            ("text", 8, "a\0é€"), ("nothing", 8, ""), ("u64", 10, 2**64 - 1), ("i64", 11, -(2**63)),
            ("f64", 12, 0.1),
            ("inf", 12, math.inf), ("tiny", 12, 5e-324),
            ("empty", 9, (4, [])), ("strings", 9, (8, [str(i) * (i % 5) for i in range(200)])),
            ("bools", 9, (7, [True, False, True])), ("bytes", 9, (0, list(rng.randbytes(50)))),
            ("floats", 9, (6, [oracle.single(rng.gauss(0, 1)) for _ in range(9)])),
            ("doubles", 9, (12, [rng.gauss(0, 1) for _ in range(9)])), ("shorts", 9, (3, [-1, 5, -300])),
            ("longs", 9, (11, [2**40, -1])), ("wide", 9, (10, [1, 2**63])),
        ]

    @staticmethod
    def shown(kind, value):
        if kind == oracle.STRING:
            return "s" + value.encode().hex()
        if kind == 7:
            return f"b{int(value)}"
        if kind in (6, 12):
            return value.hex()
        return ("i" if kind in (1, 3, 5, 11) else "u") + str(value)

    def assert_shown(self, fields, kind, value):
        if kind in (6, 12):
            self.assertEqual(struct.pack("<d", float.fromhex(fields[1:])), struct.pack("<d", value))
        else:
            self.assertEqual(fields, self.shown(kind, value))

    def test_metadata(self):
        for version in (2, 3):
            entries = self.metadata()
            lines = self.dump(self.file(oracle.write(entries, [], version)))
            self.assertEqual(len(lines), len(entries))
            for fields, (key, kind, value) in zip(lines, entries):
                self.assertEqual(bytes.fromhex(fields[1]).decode(), key)
                if kind != oracle.ARRAY:
                    self.assert_shown(fields[2], kind, value)
                    continue
                self.assertEqual(len(fields) - 3, len(value[1]))
                for field, element in zip(fields[3:], value[1]):
                    self.assert_shown(field, value[0], element)

    def test_what_the_library_writes_is_what_it_read(self):
        tensors = [(f"plain.{kind}", (3, 5), kind, self.rng.randbytes(15 * oracle.TYPES[kind][2])) for kind in PLAIN]
        for kind in oracle.NUMBERS:
            tensors.append((f"blocks.{kind}", (3, 2 * oracle.TYPES[kind][1]), kind, self.blocks(kind, 6)))
        for kind in TABLES_ONLY:
            tensors.append((kind, (2, 256), kind, self.rng.randbytes(2 * oracle.TYPES[kind][2])))
        entries = self.metadata()
        for alignment in (8, 32, 64, 4096):
            aligned = entries + ([("general.alignment", 4, alignment)] if alignment != 32 else [])
            data = oracle.write(aligned, tensors, alignment=alignment)
            for exact in ("schemes", "blocks"):
                done = run("copy", self.file(data), "raw", exact, self.path("b.gguf"))
                self.assertEqual(done.returncode, 0, done.stderr)
                with open(self.path("b.gguf"), "rb") as copy:
                    read = oracle.Reader(copy.read())
                self.assertEqual((read.version, read.alignment), (3, alignment))
                self.assert_same_metadata(read.metadata, aligned)
                self.assertEqual(len(read.tensors), len(tensors))
                for (name, shape, kind, old), (other, new_shape, new_kind, new) in zip(tensors, read.tensors):
                    self.assertEqual((name, shape, kind), (other, new_shape, new_kind))
                    if kind == "MXFP4" and exact == "schemes":
                        # The code of -0, which is 0 to ggml, is that of 0 now.
                        self.assertEqual(oracle.dequantize(kind, old), oracle.dequantize(kind, new))
                    else:
                        self.assertEqual(old, new, kind)

    def assert_same_metadata(self, written, expected):
        """The same keys and values; numbers in 32 bits where those hold them."""
        self.assertEqual([key for key, _, _ in written], [key for key, _, _ in expected])
        for (key, kind, value), (_, old_kind, old) in zip(written, expected):
            self.assertEqual(kind == oracle.ARRAY, old_kind == oracle.ARRAY, key)
            element, values = value if kind == oracle.ARRAY else (kind, [value])
            old_element, old_values = old if kind == oracle.ARRAY else (old_kind, [old])
            self.assertEqual(values, old_values, key)
            unsigned, integers, floats = (0, 2, 4, 10), (1, 3, 5, 11), (6, 12)
            if old_element in unsigned:
                self.assertEqual(element, 4 if all(v < 2**32 for v in values) else 10, key)
            elif old_element in integers:
                self.assertEqual(element, 5 if all(-(2**31) <= v < 2**31 for v in values) else 11, key)
            elif old_element in floats:
                self.assertEqual(element, 6 if all(oracle.single(v) == v for v in values) else 12, key)
            else:
                self.assertEqual(element, old_element, key)

    def test_the_oracle_reads_what_it_writes(self):
        entries = self.metadata()
        read = oracle.Reader(oracle.write(entries, [("t", (2, 3), "F32", bytes(24)), ("u", (), "I8", b"1")]))
        self.assertEqual(read.metadata, entries)
        self.assertEqual(read.tensors, [("t", (2, 3), "F32", bytes(24)), ("u", (), "I8", b"1")])


if __name__ == "__main__":
    unittest.main()
