"""Conversions of elements against the definitions of their formats (reference.py) and against NumPy.

Every pattern of every type of at most 16 bits is read and written; around every number of these types the midpoints and
their neighbours are written; wider types are tried at their edges and at random (with a fixed seed).
"""

import os
import random
import struct
import subprocess
import unittest
from fractions import Fraction

import numpy

import reference
from reference import REFUSED, Format, Nearest

PROGRAM = "core/hurray/values/tests/values_program"
NATIVE = {32: reference.FLOAT32, 64: reference.FLOAT64}
NEAREST = {width: Nearest(format) for width, format in NATIVE.items()}
SMALL = [f for f in reference.TAGS if f.bits <= 16]

# Private types, as their extension section tells of them.
PRIVATE = [
    Format("unsigned e5m3 with NaN", 0, 5, 3, 15, "nan"),
    Format("unsigned e3m1", 0, 3, 1, 2, "none"),
    Format("e3m0 with infinity", 1, 3, 0, 1, "infinity"),
    Format("e4m3 as IEEE has it", 1, 4, 3, 7, "ieee"),
    Format("float16 again", 1, 5, 10, 15, "ieee"),
    Format("e10m5, beyond float32 both ways", 1, 10, 5, 511, "ieee"),
    Format("e8m7 without a bias, beyond float32", 1, 8, 7, 0, "nan"),
    Format("24 bits", 1, 7, 16, 63, "ieee"),
    Format("40 bits", 1, 9, 30, 255, "none"),
    Format("80 bits", 1, 15, 64, 16383, "ieee"),
    Format("128 bits with a long exponent", 1, 20, 107, 524287, "ieee"),
]
PRIVATE_INTEGERS = [(1, True), (1, False), (2, True), (4, False), (8, True), (24, True), (24, False), (40, True), (56, False), (64, True)]


def spell(format: Format) -> str:
    if format in reference.TAGS:
        return f"{reference.TAGS[format]:02X}"
    nan, infinity = {"ieee": (1, 1), "nan": (1, 0), "infinity": (0, 1), "none": (0, 0)}[format.special]
    return f"F0:{format.bits},1,0,{format.sign},{format.exponent},{format.mantissa},{format.bias},{nan},{infinity}"


def spell_integer(bits: int, signed: bool) -> str:
    return f"F1:{bits},0,{int(signed)},0,0,0,0,0,0"


def run(arguments, data: bytes) -> bytes:
    done = subprocess.run([PROGRAM, *map(str, arguments)], input=data, capture_output=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{arguments}: {done.returncode}: {done.stderr.decode()}")
    return done.stdout


def read(width: int, spelling: str, bits: int, patterns, first: int = 0, before=()):
    """The patterns as native ones of `width` bits."""
    data = reference.pack([*before, *patterns], bits)
    out = run([f"to{width}", spelling, first, len(patterns)], data)
    return reference.unpack(out, width, len(patterns))


def write(width: int, spelling: str, overflow: str, natives):
    """Native patterns as the type's, or REFUSED."""
    out = run([f"from{width}", spelling, overflow], b"".join(n.to_bytes(width // 8, "little") for n in natives))
    answers = []
    for i in range(len(natives)):
        answer = out[17 * i : 17 * i + 17]
        answers.append(REFUSED if answer[0] else int.from_bytes(answer[1:], "little"))
    return answers


def native_of(number, width: int):
    """The pattern of a Fraction that the native format has exactly; None if it has not."""
    format = NATIVE[width]
    magnitude = NEAREST[width].magnitude(abs(number))
    if magnitude is None or format.value(magnitude) != abs(number):
        return None
    return magnitude + (format.sign_bit if number < 0 else 0)


class Case(unittest.TestCase):
    def same(self, answers, expected, about, show):
        """Lists of patterns; says which element differs first."""
        self.assertEqual(len(answers), len(expected))
        if answers == expected:
            return
        wrong = [i for i in range(len(answers)) if answers[i] != expected[i]]
        i = wrong[0]
        spelled = [a if a == REFUSED else f"{a:X}" for a in (answers[i], expected[i])]
        self.fail(f"{about}: {len(wrong)} differ, the first one {show(i)}: got {spelled[0]}, expected {spelled[1]}")


class TheReference(Case):
    def test_what_c_answers_is_what_the_search_finds(self):
        chance = random.Random(3)
        for nearest in NEAREST.values():
            target = nearest.target
            for _ in range(300):
                pattern = chance.choice([chance.randrange(target.largest), chance.randrange(2 * 2**target.mantissa)])
                value, following = target.value(pattern), target.value(pattern + 1)
                for part in (Fraction(0), Fraction(1, 2), Fraction(chance.randrange(1, 32), 32)):
                    number = value + part * (following - value)
                    quick = nearest.quick(number)
                    if quick is not None:
                        self.assertEqual(quick, nearest.search(number))
            self.assertIsNotNone(nearest.quick(Fraction(3, 4)))


class Reading(Case):
    def test_every_pattern_of_small_floats(self):
        for format in SMALL + [f for f in PRIVATE if f.bits <= 16]:
            patterns = list(range(2**format.bits))
            for width in NATIVE:
                with self.subTest(format.name, width=width):
                    expected = [reference.convert(format, p, NEAREST[width]) for p in patterns]
                    self.assertNotIn(REFUSED, expected)
                    answers = read(width, spell(format), format.bits, patterns)
                    self.same(answers, expected, f"{format.name} to float{width}", lambda i: f"{i:X}")

    def test_float16_is_numpys(self):
        patterns = numpy.arange(65536, dtype=numpy.uint16)
        halves = patterns.view(numpy.float16)
        for width, type_, unsigned in ((32, numpy.float32, numpy.uint32), (64, numpy.float64, numpy.uint64)):
            with numpy.errstate(invalid="ignore"):
                theirs = halves.astype(type_)
            ours = numpy.frombuffer(run([f"to{width}", "01", 0, 65536], patterns.tobytes()), dtype=type_)
            numbers = ~numpy.isnan(halves)
            self.assertEqual(int(numbers.sum()), 65536 - 2 * 1023)
            self.assertTrue((ours.view(unsigned)[numbers] == theirs.view(unsigned)[numbers]).all())
            self.assertTrue(numpy.isnan(ours[~numbers]).all())

    def test_bfloat16_is_the_upper_half_of_float32(self):
        patterns = list(range(65536))
        self.same(read(32, "02", 16, patterns), [p << 16 for p in patterns], "bfloat16", lambda i: f"{i:X}")

    def test_e8m0(self):
        patterns = list(range(1, 255))
        for width in NATIVE:
            expected = [native_of(Fraction(2) ** (p - 127), width) for p in patterns]
            self.same(read(width, "42", 8, patterns), expected, "e8m0", lambda i: f"{i + 1:X}")

    def test_wide_floats(self):
        chance = random.Random(4)
        wide = [reference.FLOAT32, reference.FLOAT64, reference.FLOAT128] + [f for f in PRIVATE if f.bits > 16]
        for format in wide:
            for width, native in NATIVE.items():
                with self.subTest(format.name, width=width):
                    patterns = self.interesting(format, native, chance)
                    expected = [reference.convert(format, p, NEAREST[width]) for p in patterns]
                    answers = read(width, spell(format), format.bits, patterns)
                    self.same(answers, expected, f"{format.name} to float{width}", lambda i: f"{patterns[i]:X}")

    @staticmethod
    def interesting(format: Format, native: Format, chance):
        """Patterns at the edges of both formats, midpoints of the native one, and some at random."""
        top = 2**format.bits
        near = {0, 1, 2, format.largest - 1, format.largest, format.largest + 1, 2**format.mantissa - 1,
                2**format.mantissa, 2**format.mantissa + 1, 2 ** (format.exponent + format.mantissa) - 1}
        if format.special == "ieee":
            near |= {format.infinity + 1, format.infinity + 2**format.mantissa - 1, format.infinity + 2 ** (format.mantissa - 1)}
            near |= {format.infinity + chance.randrange(1, 2**format.mantissa) for _ in range(20)}
        if format.mantissa > native.mantissa:
            finder = Nearest(format)
            edges = [0, 1, 2, 2**native.mantissa - 1, 2**native.mantissa, native.largest - 1, native.largest]
            edges += [chance.randrange(native.largest) for _ in range(60)]
            edges += [chance.randrange(2**native.mantissa) for _ in range(60)]
            for edge in edges:
                following = native.beyond_largest() if edge == native.largest else native.value(edge + 1)
                midpoint = finder.magnitude((native.value(edge) + following) / 2)
                if midpoint is not None:
                    near |= {midpoint - 1, midpoint, midpoint + 1}
        near = {p for p in near if 0 <= p < 2 ** (format.exponent + format.mantissa)}
        near |= {p + format.sign_bit for p in near}
        # Exponents that the native format has, too: most random patterns of a wide format lie far beyond it.
        for _ in range(300):
            field = format.bias + chance.randrange(-native.bias - 30, native.bias + 3)
            if 0 <= field < 2**format.exponent:
                near.add(field * 2**format.mantissa + chance.randrange(2**format.mantissa))
        near |= {chance.randrange(top) for _ in range(200)}
        return sorted(near)

    def test_integers(self):
        chance = random.Random(5)
        types = [(f"{tag:02X}", *shape) for tag, shape in reference.INTEGERS.items()]
        types += [(spell_integer(*shape), *shape) for shape in PRIVATE_INTEGERS]
        for spelling, bits, signed in types:
            if bits <= 16:
                patterns = list(range(2**bits))
            else:
                edges = {2**k + d for k in range(bits + 1) for d in (-1, 0, 1)}
                # Midpoints of float32 and float64, which two roundings would get wrong.
                for k in range(24, bits):
                    edges |= {2**k + 2 ** (k - 24) + d for d in (-1, 0, 1)} | {2**k + 3 * 2 ** (k - 24) + d for d in (-1, 0, 1)}
                    if k > 53:
                        edges |= {2**k + 2 ** (k - 53) + d for d in (-1, 0, 1)} | {2**k + 2 ** (k - 24) + 2 ** (k - 54)}
                edges |= {2**bits - e for e in edges}
                edges |= {chance.randrange(2**bits) for _ in range(300)}
                patterns = sorted(e for e in edges if 0 <= e < 2**bits)
            for width in NATIVE:
                with self.subTest(spelling, width=width):
                    expected = []
                    for p in patterns:
                        value = Fraction(reference.integer_value(bits, signed, p))
                        expected.append(reference.place(value, value < 0, NEAREST[width], "to_infinity"))
                    answers = read(width, spelling, bits, patterns)
                    self.same(answers, expected, f"{bits} bits, signed {signed}", lambda i: f"{patterns[i]:X}")

    def test_bool(self):
        bits = [1, 0, 1, 1, 0, 0, 0, 1, 1, 0]
        self.assertEqual(read(32, "20", 1, bits), [0x3F800000 * b for b in bits])

    def test_complex(self):
        patterns = [0x3FC00000, 0xC0100000, 0x7FC00001, 0x80000000, 0x7F800000, 0x00000001]
        out = run(["toc", "50", 0, 3], struct.pack("<6I", *patterns))
        expected = [reference.convert(reference.FLOAT32, p, NEAREST[64]) for p in patterns]
        self.assertEqual(reference.unpack(out, 64, 6), expected)
        doubles = struct.pack("<4d", 1.5, -0.0, float("inf"), 5e-324)
        self.assertEqual(run(["toc", "51", 0, 2], doubles), doubles)
        # Real numbers are complex ones.
        self.assertEqual(run(["toc", "10", 1, 2], bytes([9, 0xFF, 3])), struct.pack("<4d", -1, 0, 3, 0))


class Writing(Case):
    def natives_around(self, format: Format, nearest: Nearest, width: int, patterns):
        """Every number, the midpoint to the next one and both neighbours of that, with both signs, and the specials."""
        native = NATIVE[width]
        natives = set()
        for p in patterns:
            value = format.value(p)
            following = format.beyond_largest() if p == format.largest else format.value(p + 1)
            for number in (value, (value + following) / 2, following):
                magnitude = NEAREST[width].magnitude(number)
                if magnitude is None:
                    continue
                natives |= {m for m in (magnitude - 1, magnitude, magnitude + 1) if 0 <= m <= native.largest}
        natives |= {0, 1, native.largest, native.infinity, native.infinity + 1,
                    native.infinity + 2 ** (native.mantissa - 1), native.infinity + 2**native.mantissa - 1,
                    native.infinity + 0x155 * 2 ** (native.mantissa - 9)}
        return sorted(natives | {n + native.sign_bit for n in natives})

    def check(self, format: Format, width: int, natives, nearest: Nearest, overflows=("to_infinity", "saturate", "refuse")):
        for overflow in overflows:
            with self.subTest(format.name, width=width, overflow=overflow):
                expected = [reference.convert(NATIVE[width], n, nearest, overflow) for n in natives]
                answers = write(width, spell(format), overflow, natives)
                self.same(answers, expected, f"float{width} to {format.name}", lambda i: f"{natives[i]:X}")

    def test_around_every_number_of_floats_of_8_bits_and_less(self):
        for format in [f for f in SMALL + PRIVATE if f.bits <= 9]:
            nearest = Nearest(format)
            for width in NATIVE:
                self.check(format, width, self.natives_around(format, nearest, width, range(format.largest + 1)), nearest)

    def test_around_numbers_of_floats_of_16_bits(self):
        chance = random.Random(6)
        for format in [f for f in SMALL + PRIVATE if f.bits == 16]:
            nearest = Nearest(format)
            # At all edges of exponents and some between; every pattern comes back in the test below.
            step = 2**format.mantissa
            patterns = {p for field in range(2**format.exponent) for p in (field * step, field * step + 1, field * step + step - 1)}
            patterns |= {chance.randrange(format.largest + 1) for _ in range(300)}
            patterns |= set(range(24)) | {format.largest}
            patterns = sorted(p for p in patterns if p <= format.largest)
            for width in NATIVE:
                self.check(format, width, self.natives_around(format, nearest, width, patterns), nearest, ["to_infinity"])
                edges = [0, 1, format.largest - 1, format.largest]
                self.check(format, width, self.natives_around(format, nearest, width, edges), nearest)

    def test_every_midpoint_of_float16_is_numpys(self):
        patterns = numpy.arange(0x7C00, dtype=numpy.uint16)
        values = patterns.view(numpy.float16).astype(numpy.float64)
        following = numpy.append(values[1:], 65536.0)
        middle = (values + following) / 2
        numbers = numpy.concatenate([middle, numpy.nextafter(middle, 0), numpy.nextafter(middle, 1e9)])
        numbers = numpy.concatenate([numbers, -numbers])
        with numpy.errstate(over="ignore"):
            theirs = numbers.astype(numpy.float16).view(numpy.uint16)
        size = 2 * len(numbers)
        out = run(["put64", "01", "to_infinity", 0], size.to_bytes(8, "little") + bytes(size) + numbers.tobytes())
        self.assertTrue((numpy.frombuffer(out, dtype=numpy.uint16) == theirs).all())

    def test_every_pattern_of_16_bits_and_less_comes_back(self):
        for format in SMALL + [f for f in PRIVATE if f.bits <= 16]:
            patterns = list(range(2**format.bits))
            for width in NATIVE:
                with self.subTest(format.name, width=width):
                    if "beyond float32" in format.name and width == 32:
                        continue
                    size = len(reference.pack(patterns, format.bits))
                    natives = run([f"to{width}", spell(format), 0, len(patterns)], reference.pack(patterns, format.bits))
                    out = run([f"put{width}", spell(format), "refuse", 0], size.to_bytes(8, "little") + bytes(size) + natives)
                    self.same(reference.unpack(out, format.bits, len(patterns)), patterns, format.name, lambda i: f"{i:X}")

    def test_to_wide_floats(self):
        chance = random.Random(7)
        wide = [reference.FLOAT32, reference.FLOAT64, reference.FLOAT128] + [f for f in PRIVATE if f.bits > 16]
        for format in wide:
            nearest = Nearest(format)
            for width, native in NATIVE.items():
                natives = Reading.interesting(native, format, chance) if format.bits < 128 else []
                natives += [0, 1, 2, native.largest, native.infinity, native.infinity + 1, native.sign_bit]
                natives += [chance.randrange(2**width) for _ in range(40)]
                self.check(format, width, natives, nearest, ("to_infinity", "saturate"))

    def test_integers(self):
        chance = random.Random(8)
        types = [(f"{tag:02X}", *shape) for tag, shape in reference.INTEGERS.items()]
        types += [(spell_integer(*shape), *shape) for shape in PRIVATE_INTEGERS]
        for spelling, bits, signed in types:
            low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
            numbers = {Fraction(edge) + Fraction(part, 8) for edge in (low - 1, low, -1, 0, 1, 2, high - 1, high, high + 1)
                       for part in range(-9, 10)}
            numbers |= {Fraction(chance.uniform(low - 2, high + 2)) for _ in range(200)}
            for width, native in NATIVE.items():
                natives = {0, native.sign_bit, native.infinity, native.infinity + native.sign_bit, native.infinity + 1,
                           native.largest, native.largest + native.sign_bit, 1, native.sign_bit + 1}
                for number in numbers:
                    magnitude = NEAREST[width].magnitude(abs(number))
                    for m in (magnitude - 1, magnitude, magnitude + 1):
                        if 0 <= m <= native.largest:
                            natives.add(m + (native.sign_bit if number < 0 else 0))
                natives = sorted(natives)
                for overflow in ("to_infinity", "saturate", "refuse"):
                    with self.subTest(spelling, width=width, overflow=overflow):
                        expected = [reference.place_integer(native.value(n), bits, signed, overflow) for n in natives]
                        answers = write(width, spelling, overflow, natives)
                        self.same(answers, expected, f"{bits} bits, signed {signed}", lambda i: f"{natives[i]:X}")

    def test_e8m0(self):
        for width, native in NATIVE.items():
            codes = [*range(-2, 8), *range(100, 140), *range(248, 260)]
            numbers = [Fraction(2) ** (code - 127) * factor for code in codes for factor in (1, Fraction(3, 2))]
            natives = set()
            for number in numbers:
                magnitude = NEAREST[width].magnitude(number)
                if magnitude is not None:
                    natives |= {m for m in (magnitude - 1, magnitude, magnitude + 1) if 0 <= m <= native.largest}
            natives = sorted(natives | {native.infinity, native.infinity + 1, native.sign_bit, native.sign_bit + 2**native.mantissa})
            for overflow in ("to_infinity", "saturate", "refuse"):
                expected = [reference.place_exponent(native.value(n), overflow) for n in natives]
                self.same(write(width, "42", overflow, natives), expected, f"e8m0, {overflow}", lambda i: f"{natives[i]:X}")

    def test_bool(self):
        numbers = [0.0, -0.0, 1.0, 0.5, 2.0, -1.0, float("nan"), float("inf")]
        natives = [int.from_bytes(struct.pack("<d", n), "little") for n in numbers]
        self.assertEqual(write(64, "20", "refuse", natives), [0, 0, 1] + [REFUSED] * 5)
        self.assertEqual(write(64, "20", "saturate", natives), [0, 0, 1, 1, 1, 1, REFUSED, 1])


class Packing(Case):
    TYPES = [("20", 1), ("4A", 2), ("4B", 2), ("43", 4), ("48", 4), ("44", 6), ("45", 6), ("40", 8), ("41", 8), ("01", 16),
             ("02", 16), ("13", 16), ("15", 32), ("46", 128), (spell(PRIVATE[2]), 4), (spell(PRIVATE[7]), 24)]

    def test_runs_that_start_anywhere(self):
        chance = random.Random(9)
        for spelling, bits in self.TYPES:
            patterns = [chance.randrange(2**bits) for _ in range(97)]
            alone = read(64, spelling, bits, patterns)
            for first in range(9):
                for count in (0, 1, 2, 3, 5, 16, 17, 97 - first):
                    with self.subTest(spelling, first=first, count=count):
                        data = reference.pack(patterns, bits)
                        out = run(["to64", spelling, first, count], data)
                        self.assertEqual(reference.unpack(out, 64, count), alone[first : first + count])

    def test_writing_leaves_the_neighbours_alone(self):
        chance = random.Random(10)
        for spelling, bits in self.TYPES:
            patterns = [chance.randrange(2**bits) for _ in range(20)]
            if spelling == "40":
                patterns = [p & 0x77 for p in patterns]
            natives = read(64, spelling, bits, patterns)
            numbers = b"".join(n.to_bytes(8, "little") for n in natives)
            for first in range(9):
                with self.subTest(spelling, first=first):
                    before = [chance.randrange(2**bits) for _ in range(32)]
                    data = reference.pack(before, bits)
                    if any(natives[i] & 0x7FF0000000000000 == 0x7FF0000000000000 for i in range(20)) and bits == 128:
                        continue
                    out = run(["put64", spelling, "to_infinity", first], len(data).to_bytes(8, "little") + data + numbers)
                    after = reference.unpack(out, bits, 32)
                    self.assertEqual(after[:first] + after[first + 20 :], before[:first] + before[first + 20 :])
                    if bits <= 32:
                        self.assertEqual(after[first : first + 20], patterns)


if __name__ == "__main__":
    unittest.main()
