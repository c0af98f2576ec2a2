"""Quantizing: what comes out is read back with NumPy and compared with what went in, against the bound of each scheme, and
parameters and codes against a second implementation of the rules in docs/quantization.md."""

import math
import random
import struct
import unittest

import dense_layouts
import numpy as np
import program
import reference as ref
import wire

ALL = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int4", "uint4", "int2", "uint2")
SMALL = ("int8", "uint8", "int4", "uint4", "int2", "uint2")
MX = ("float8_e4m3", "float8_e5m2", "float4_e2m1", "float6_e2m3", "float6_e3m2", "int8", "int4")
LARGEST_EXPONENT = {"float8_e4m3": 8, "float8_e5m2": 15, "float4_e2m1": 2, "float6_e2m3": 2, "float6_e3m2": 4, "int8": 6,
                    "int4": 2}
FLOAT32_MAX = float(np.finfo(np.float32).max)


def source(numbers, shape, kind=ref.FLOAT32, layout=1):
    """A tensor to quantize."""
    if layout == 1:
        data = ref.to_target(np.asarray(numbers, np.float32), kind) if kind != ref.FLOAT64 else np.asarray(
            numbers, "<f8").tobytes()
        descriptor = wire.Descriptor(kind, tuple(shape), buffers=(wire.Handle(len(data)),))
        return ref.tensor_bytes(descriptor, [data])
    tag = 2 if layout == 2 else 3 if isinstance(layout, tuple) else layout.tag
    places = [ref.place_of(layout, shape, shape, index) for index in ref.indices(shape)]
    room = max(places) + 1 if isinstance(layout, tuple) or layout == 2 else max(layout.places(shape)) + 1
    values = np.zeros(room, "<f4")
    values[places] = numbers
    descriptor = wire.Descriptor(
        kind, tuple(shape), tag, strides=layout if isinstance(layout, tuple) else (),
        layout=None if isinstance(layout, tuple) or layout == 2 else layout, buffers=(wire.Handle(room * 4),)
    )
    return ref.tensor_bytes(descriptor, [values.tobytes()])


def scale_up(exact, scale_type):
    """The smallest number of the type that is not below `exact`."""
    with np.errstate(all="ignore"):
        if scale_type == ref.FLOAT16:
            scale = np.float16(exact)
            return float(scale if float(scale) >= exact else np.nextafter(scale, np.float16(np.inf)))
        scale = np.float32(exact)
        if not float(scale) >= exact:
            scale = np.nextafter(scale, np.float32(np.inf))
    if scale_type == ref.BFLOAT16:
        bits = struct.unpack("<I", struct.pack("<f", scale))[0]
        bits += -bits & 0xFFFF
        return struct.unpack("<f", struct.pack("<I", bits))[0]
    return min(float(scale), FLOAT32_MAX)


def affine_parameters(name, group, symmetric, scale_type):
    low, high = ref.integer_range(name)
    lowest, highest = min(0.0, min(group)), max(0.0, max(group))
    if symmetric:
        exact = max(-lowest, highest) / high
    else:
        exact = max((highest - lowest) / (high - low), -lowest / (min(high, 2**31 - 1) - low))
    scale = scale_up(exact, scale_type) if exact != 0 else 1.0
    zero = 0
    if not symmetric and (lowest, highest) != (0, 0):
        # Python rounds half way to the even integer.
        zero = max(low, min(min(high, 2**31 - 1), round(low - lowest / scale)))
    return scale, zero


def affine_code(name, number, scale, zero, symmetric):
    low, high = ref.integer_range(name)
    low = -high if symmetric and low < 0 else low
    code = max(low, min(high, round(number / scale) + zero))
    with np.errstate(all="ignore"):
        while np.isinf(np.float32(scale) * np.float32(code - zero)):
            code += -1 if code > zero else 1
    return code


class Result:
    """A quantized tensor that the program made, read as the format says."""

    def __init__(self, answer, scheme, name, shape, axis, block, scale_type):
        self.shape, self.scheme, self.name = tuple(shape), scheme, name
        data, *parameters = answer.buffers
        stored = ref.stored_shape(scheme, shape, axis, block, 1)
        bits = ref.BITS[name]
        self.entry = [ref.entry_of(scheme, shape, axis, block, index) for index in ref.indices(shape)]
        self.codes = [ref.unpack(data, ref.place_of(1, shape, stored, i), bits) for i in ref.indices(shape)]
        if scheme == ref.PER_TENSOR:
            scale, zero = struct.unpack("<fi", answer.descriptor[-12:-4])
            self.scales, self.zeros = [np.float32(scale)], [zero]
        elif scheme == ref.MXFP:
            self.scales = [np.float32(2.0) ** np.float32(byte - 127) for byte in parameters[0]]
        else:
            self.scales = [np.float32(s) for s in ref.from_target(parameters[0], scale_type)]
        entries = ref.entry_count(scheme, shape, axis, block)
        if scheme != ref.PER_TENSOR:
            self.zeros = struct.unpack(f"<{entries}i", parameters[1]) if len(parameters) > 1 else [0] * entries
        assert len(self.scales) == entries
        self.numbers = np.array(
            [ref.number_of(scheme, name, c, self.scales[e], self.zeros[e]) for c, e in zip(self.codes, self.entry)],
            np.float32,
        ).astype(np.float64)
        # What is beyond the shape is 0.
        used = {ref.place_of(1, shape, stored, index) for index in ref.indices(shape)}
        padding = [p for p in range(int(np.prod(stored, dtype=np.int64))) if p not in used]
        self.padding = [ref.unpack(data, place, bits) for place in padding]

    def groups(self, numbers):
        groups = {}
        for number, entry in zip(numbers, self.entry):
            groups.setdefault(entry, []).append(number)
        return groups


def kinds_of_numbers(rng, count):
    """Random and hostile data, by name."""
    normal = [rng.gauss(0, 1) for _ in range(count)]
    yield "normal", normal
    yield "uniform, above 0", [rng.uniform(3, 4) for _ in range(count)]
    yield "uniform, below 0", [rng.uniform(-4, -3) for _ in range(count)]
    yield "subnormal", [rng.choice((-1, 1)) * rng.randrange(1, 1000) * 2.0**-149 for _ in range(count)]
    yield "huge", [rng.choice((-1, 1)) * FLOAT32_MAX * rng.random() for _ in range(count)]
    yield "largest", [rng.choice((-1, 1)) * FLOAT32_MAX for _ in range(count)]
    outlier = list(normal)
    outlier[count // 2] = 1e6
    yield "one outlier", outlier
    yield "zero", [0.0] * count
    yield "negative zero", [-0.0] * count
    yield "constant", [0.7] * count
    yield "negative constant", [-1e-3] * count
    yield "powers", [2.0 ** rng.randrange(-30, 30) for _ in range(count)]
    yield "zeros and ones", [float(rng.randrange(2)) for _ in range(count)]


class QuantizeTest(unittest.TestCase):
    def setUp(self):
        self.rng = random.Random(self.id())

    def results(self, runs):
        """runs: (numbers, shape, scheme, name, axis, block, symmetric, scale type)."""
        cases = []
        for numbers, shape, scheme, name, axis, block, symmetric, scale_type in runs:
            given = scale_type if scheme == ref.PER_BLOCK else 0
            cases.append(program.quantize(source(numbers, shape), scheme, name, given, symmetric, axis, block))
        for run, answer in zip(runs, program.run(cases)):
            numbers, shape, scheme, name, axis, block, symmetric, scale_type = run
            self.assertEqual(answer.code, 0, (run[1:], answer.message))
            result = Result(answer, scheme, name, shape, axis, block, scale_type)
            self.assertEqual(set(result.padding) - {0}, set())
            first = (result.scales[0], result.zeros[0]) if result.scales else (0, 0)
            expected = wire.Descriptor(
                ref.T[name],
                tuple(shape),
                buffers=tuple(wire.Handle(len(b)) for b in answer.buffers),
                quantization=ref.section(scheme, axis, block, scale_type, bool(symmetric), *first),
            )
            self.assertEqual(answer.descriptor, expected.encoded(), run[1:])
            yield np.array(numbers, np.float32).astype(np.float64), result, run

    def shapes(self, scheme):
        if scheme == ref.PER_TENSOR:
            return [((120,), 0, 0), ((5, 24), 0, 0)]
        if scheme == ref.PER_CHANNEL:
            return [((5, 24), 0, 0), ((5, 24), 1, 0), ((2, 3, 20), 1, 0)]
        if scheme == ref.MXFP:
            return [((3, 32), 1, 16), ((32, 3), 0, 16), ((2, 32, 2), 1, 32)]
        return [((3, 40), 1, 16), ((40, 3), 0, 16), ((2, 19, 3), 1, 8), ((120,), 0, 64)]

    def test_affine_parameters_codes_and_bounds(self):
        runs = []
        for scheme, names in ((ref.PER_TENSOR, ALL), (ref.PER_CHANNEL, ALL), (ref.PER_BLOCK, SMALL)):
            for name in names:
                for shape, axis, block in self.shapes(scheme):
                    for kind, numbers in kinds_of_numbers(self.rng, int(np.prod(shape))):
                        for symmetric in (0, 1):
                            if symmetric and name.startswith("uint"):
                                numbers = [abs(number) for number in numbers]
                            scale_type = 3
                            if scheme == ref.PER_BLOCK:
                                # Scales that fit into them all, or not: float16, bfloat16.
                                fit = {"huge": (3,), "largest": (3,), "powers": (2, 3), "one outlier": (2, 3)}
                                scale_type = self.rng.choice(fit.get(kind, (1, 2, 3)))
                            runs.append((numbers, shape, scheme, name, axis, block, symmetric, scale_type))
        for numbers, result, (_, _, _, name, _, _, symmetric, scale_type) in self.results(runs):
            groups = result.groups(numbers)
            for entry, group in groups.items():
                scale, zero = affine_parameters(name, group, symmetric, scale_type)
                self.assertEqual((float(result.scales[entry]), result.zeros[entry]), (scale, zero))
            codes = [
                affine_code(name, x, float(result.scales[e]), result.zeros[e], symmetric)
                for x, e in zip(numbers, result.entry)
            ]
            self.assertEqual([ref.integer(name, code) for code in result.codes], codes)
            # Half a step, and what float32 rounds in the formula itself; a whole one where the nearest step would be
            # beyond float32.
            scales = np.abs(np.array([float(result.scales[e]) for e in result.entry]))
            beyond = np.round(np.abs(numbers) / scales) * scales > FLOAT32_MAX
            bound = scales * np.where(beyond, 1, 0.5 + 1e-12) + np.abs(numbers) * 2.0**-22 + 2.0**-149
            error = np.abs(result.numbers - numbers)
            self.assertTrue(np.all(np.isfinite(result.numbers)))
            self.assertLessEqual(np.max(error / bound, initial=0), 1)

    def test_nf4(self):
        runs = []
        for shape, axis, block in self.shapes(ref.NF4):
            for _, numbers in kinds_of_numbers(self.rng, int(np.prod(shape))):
                runs.append((numbers, shape, ref.NF4, "uint4", axis, block, 0, 3))
        levels = [float(np.float32(level)) for level in ref.NF4_LEVELS]
        largest_gap = max(b - a for a, b in zip(levels, levels[1:]))
        for numbers, result, _ in self.results(runs):
            for entry, group in result.groups(numbers).items():
                self.assertEqual(float(result.scales[entry]), max(abs(x) for x in group))
            for x, code, entry, got in zip(numbers, result.codes, result.entry, result.numbers):
                scale = float(result.scales[entry])
                distances = [abs(x / scale - level) if scale else abs(level) for level in levels]
                # The nearest level, the lower one of two.
                self.assertEqual(distances[code], min(distances))
                self.assertEqual(code, distances.index(min(distances)))
                self.assertLessEqual(abs(got - x), scale * largest_gap / 2 * (1 + 1e-6) + 2.0**-149)

    def test_mxfp(self):
        runs = []
        for name in MX:
            for shape, axis, block in self.shapes(ref.MXFP):
                for _, numbers in kinds_of_numbers(self.rng, int(np.prod(shape))):
                    runs.append((numbers, shape, ref.MXFP, name, axis, block, 0, 3))
        tables = {}
        for name in MX:
            codes = range(1 << ref.BITS[name])
            values = {c: ref.small_float(name, c) if name in ref.SMALL_FLOATS else float(ref.integer(name, c)) for c in codes}
            finite = {c: v for c, v in values.items() if math.isfinite(v)}
            if name not in ref.SMALL_FLOATS:
                finite = {c: v for c, v in finite.items() if v != min(finite.values())}
            tables[name] = finite
        for numbers, result, (_, _, _, name, _, _, _, _) in self.results(runs):
            table = tables[name]
            largest = max(table.values())
            for entry, group in result.groups(numbers).items():
                absmax = max(abs(x) for x in group)
                exponent = 0
                if absmax != 0:
                    exponent = max(-126, min(127, math.frexp(absmax)[1] - 1 - LARGEST_EXPONENT[name]))
                self.assertEqual(float(result.scales[entry]), 2.0**exponent)
            for x, code, entry, got in zip(numbers, result.codes, result.entry, result.numbers):
                scaled = x / float(result.scales[entry])
                clamped = max(-largest, min(largest, scaled))
                nearest = min(abs(value - clamped) for value in table.values())
                value = table[code]
                self.assertEqual(abs(value - clamped), nearest)
                near = [c for c, v in table.items() if abs(v - clamped) == nearest]
                if len({table[c] for c in near}) > 1 and name in ref.SMALL_FLOATS:
                    self.assertEqual(code & 1, 0)
                elif len({table[c] for c in near}) > 1:
                    self.assertEqual(value % 2, 0)
                if name in ref.SMALL_FLOATS:
                    self.assertEqual(np.signbit(value), np.signbit(x))
                self.assertTrue(math.isfinite(got))
                # Half the distance of the numbers there, or what saturation takes away.
                bits = ref.SMALL_FLOATS[name][1] if name in ref.SMALL_FLOATS else None
                step = 1.0 if bits is None else max(
                    2.0 ** (math.frexp(abs(scaled))[1] - 1 - bits) if scaled else 0, min(v for v in table.values() if v > 0))
                bound = max(step / 2, abs(scaled) - largest)
                self.assertLessEqual(abs(got - x), bound * float(result.scales[entry]) + 2.0**-149)

    def test_other_types_and_layouts_of_the_numbers(self):
        rng, shape = self.rng, (8, 32)
        numbers = [rng.gauss(0, 1) for _ in range(256)]
        halves = np.array(numbers, np.float16).astype(np.float32)
        brain = ref.from_target(ref.to_target(np.array(numbers, np.float32), ref.BFLOAT16), ref.BFLOAT16)
        pairs = [(halves, ref.FLOAT16), (brain, ref.BFLOAT16), (np.array(numbers, np.float32), ref.FLOAT64)]
        spec = (ref.PER_BLOCK, "int4", 1, 0, 1, 16)
        cases = []
        for values, kind in pairs:
            cases += [program.quantize(source(values, shape, kind), *spec),
                      program.quantize(source(values, shape), *spec)]
        plain = np.array(numbers, np.float32)
        layouts = [2, (32, 1), (1, 8), (40, 1), dense_layouts.Tiles((4, 16)), dense_layouts.Morton((3, 5))]
        for axis in (0, 1):
            axis_spec = (ref.PER_BLOCK, "int4", 1, 0, axis, 8)
            for layout in layouts:
                cases += [program.quantize(source(plain, shape, layout=layout), *axis_spec),
                          program.quantize(source(plain, shape), *axis_spec)]
        answers = program.run(cases)
        for got, expected in zip(answers[::2], answers[1::2]):
            self.assertEqual(got.code, 0, got.message)
            self.assertEqual((got.descriptor, got.buffers), (expected.descriptor, expected.buffers))

    def test_long_blocks(self):
        rng, runs = self.rng, []
        for shape, axis, block in (((9000,), 0, 8192), ((2, 5000), 1, 4096), ((70, 90), 0, 64)):
            numbers = [rng.gauss(0, 1) for _ in range(int(np.prod(shape)))]
            runs.append((numbers, shape, ref.PER_BLOCK, "int8", axis, block, 0, 3))
            runs.append((numbers, shape, ref.NF4, "uint4", axis, block, 0, 3))
        for numbers, result, (_, _, scheme, name, _, _, symmetric, scale_type) in self.results(runs):
            for entry, group in result.groups(numbers).items():
                expected = max(abs(x) for x in group)
                if scheme == ref.PER_BLOCK:
                    expected = affine_parameters(name, group, symmetric, scale_type)[0]
                self.assertEqual(float(result.scales[entry]), expected)

    def test_numbers_that_are_refused(self):
        cases, expected = [], []
        for kind in (ref.FLOAT16, ref.BFLOAT16, ref.FLOAT32, ref.FLOAT64):
            for bad in (math.nan, math.inf, -math.inf):
                for scheme, name, axis, block in (
                    (ref.PER_TENSOR, "int8", 0, 0),
                    (ref.PER_CHANNEL, "int8", 1, 0),
                    (ref.PER_BLOCK, "int4", 0, 4),
                    (ref.NF4, "uint4", 1, 16),
                    (ref.MXFP, "int8", 1, 16),
                ):
                    numbers = [1.0] * 128
                    numbers[77] = bad
                    cases.append(program.quantize(source(numbers, (4, 32), kind), scheme, name, 0, 0, axis, block))
                    expected.append((-18, "element 77: "))
        beyond = [1.0, 3.5e38, 1.0, 1.0]
        cases.append(program.quantize(source(beyond, (4,), ref.FLOAT64), ref.PER_TENSOR, "int8"))
        expected.append((-18, "element 1: "))
        cases.append(program.quantize(source([1, 2, -3, 4], (4,)), ref.PER_TENSOR, "uint8", 0, 1))
        expected.append((-18, "element 2: "))
        # A scale beyond float16.
        cases.append(program.quantize(source([1.0] * 32 + [1e8] * 16, (48,)), ref.PER_BLOCK, "int4", 1, 1, 0, 16))
        expected.append((-18, "scale 2: scale_type: "))
        for (code, start), answer in zip(expected, program.run(cases)):
            # Offsets are in bytes: an index is none.
            self.assertEqual((answer.code, answer.offset), (code, 2**64 - 1), answer.message)
            self.assertTrue(answer.message.startswith(start), answer.message)

    def test_the_largest_float64_that_is_a_float32(self):
        just = FLOAT32_MAX + 2.0**102
        for name in ("int8", "int2"):
            tensor = source([just, -just, 0.0, 1.0], (4,), ref.FLOAT64)
            (answer,) = program.run([program.quantize(tensor, ref.PER_TENSOR, name, 0, 1)])
            self.assertEqual(answer.code, 0, answer.message)
            result = Result(answer, ref.PER_TENSOR, name, (4,), 0, 0, 3)
            self.assertTrue(np.all(np.isfinite(result.numbers)))
            self.assertAlmostEqual(result.numbers[0] / FLOAT32_MAX, 1, delta=0.01)

    def test_specs_that_are_refused(self):
        tensor = source([1.0] * 64, (2, 32))
        specs = [
            ((0, "int8"), "scheme"),
            ((6, "int8"), "scheme"),
            ((0xF0, "int8"), "scheme"),
            ((1, "float8_e4m3"), "storage_type"),
            ((1, 0xFF), "storage_type"),
            ((3, "int16", 0, 0, 1, 16), "storage_type"),
            ((4, "int4", 0, 0, 1, 16), "storage_type"),
            ((5, "uint8", 0, 0, 1, 16), "storage_type"),
            ((1, "int8", 1), "scale_type"),
            ((2, "int8", 1, 0, 1), "scale_type"),
            ((3, "int8", 4, 0, 1, 16), "scale_type"),
            ((4, "uint4", 1, 0, 1, 16), "scale_type"),
            ((5, "int8", 3, 0, 1, 16), "scale_type"),
            ((4, "uint4", 0, 1, 1, 16), "symmetric"),
            ((5, "int8", 0, 1, 1, 16), "symmetric"),
            ((1, "int8", 0, 0, 1), "axis"),
            ((2, "int8", 0, 0, 2), "axis"),
            ((3, "int8", 0, 0, 2**32 - 1, 16), "axis"),
            ((1, "int8", 0, 0, 0, 16), "block_size"),
            ((2, "int8", 0, 0, 0, 16), "block_size"),
            ((3, "int8", 0, 0, 1, 0), "block_size"),
            ((3, "int8", 0, 0, 1, 1), "block_size"),
            ((3, "int8", 0, 0, 1, 24), "block_size"),
            ((3, "int8", 0, 0, 1, 64), "block_size"),
            ((4, "uint4", 0, 0, 1, 4), "block_size"),
            ((5, "int8", 0, 0, 1, 8), "block_size"),
            ((5, "int8", 0, 0, 0, 16), "block_size"),
        ]
        for (spec, field), answer in zip(specs, program.run([program.quantize(tensor, *spec) for spec, _ in specs])):
            self.assertEqual(answer.code, -18, (spec, answer.message))
            self.assertTrue(answer.message.startswith(field), (spec, answer.message))
        scalar = source([1.0], ())
        answers = program.run([program.quantize(scalar, 2, "int8"), program.quantize(scalar, 1, "int8")])
        self.assertEqual([answer.code for answer in answers], [-18, 0])

    def test_tensors_that_are_refused(self):
        whole = wire.Descriptor(0x10, (4,))
        quantized = wire.Descriptor(0x10, (4,), quantization=ref.section(1, 0, 0, 3, True, 1, 0))
        dynamic = wire.Descriptor(ref.FLOAT32, (wire.DYNAMIC,), buffers=(wire.Handle(16),))
        cases = [(whole, bytes(4), -4), (quantized, bytes(4), -15), (dynamic, bytes(16), -3)]
        answers = program.run([program.quantize(ref.tensor_bytes(d, [data]), 1, "int8") for d, data, _ in cases])
        for (_, _, code), answer in zip(cases, answers):
            self.assertEqual(answer.code, code, answer.message)

    def test_tensors_without_elements(self):
        for shape, axis in (((0,), 0), ((0, 32), 1), ((32, 0), 0)):
            runs = [((ref.PER_TENSOR, "int8"), 0)]
            runs += [((ref.PER_CHANNEL, "int8", 0, symmetric, axis), 0) for symmetric in (0, 1)]
            runs += [((ref.PER_BLOCK, "uint4", 1, 0, axis, 16), 0), ((ref.NF4, "uint4", 0, 0, axis, 16), 0)]
            answers = program.run([program.quantize(source([], shape), *spec) for spec, _ in runs])
            again = []
            for answer in answers:
                self.assertEqual(answer.code, 0, answer.message)
                again.append(struct.pack("<I", len(answer.descriptor)) + answer.descriptor + b"".join(answer.buffers))
            for answer in program.run([program.check(tensor) for tensor in again]):
                self.assertEqual(answer.code, 0, answer.message)


if __name__ == "__main__":
    unittest.main()
