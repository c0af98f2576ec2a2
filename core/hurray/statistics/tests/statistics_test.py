"""Statistics against NumPy and exact sums: every layout with elements, types of every kind, numbers that are hard to add up.

Descriptors are encoded here from the format's text; the program under test decodes them.
"""

import itertools
import math
import random
import struct
import subprocess
import unittest
from fractions import Fraction

import numpy

PROGRAM = "core/hurray/statistics/tests/statistics_program"
ALL = 63
NNZ, SPARSITY, RANGE, MOMENTS, NM, NAN_INF = (1 << bit for bit in range(6))

# name: (tag, NumPy's type)
TYPES = {
    "float16": (0x01, numpy.float16),
    "float32": (0x03, numpy.float32),
    "float64": (0x04, numpy.float64),
    "int8": (0x10, numpy.int8),
    "uint8": (0x11, numpy.uint8),
    "int16": (0x12, numpy.int16),
    "uint16": (0x13, numpy.uint16),
    "int32": (0x14, numpy.int32),
    "uint32": (0x15, numpy.uint32),
    "int64": (0x16, numpy.int64),
    "uint64": (0x17, numpy.uint64),
    "complex64": (0x50, numpy.complex64),
    "complex128": (0x51, numpy.complex128),
}
ROW_MAJOR, COL_MAJOR, STRIDED, TILED, MORTON, COO, CSR, CSC, CSF = range(1, 10)


def descriptor(tag, shape, layout, fields, buffers, byte_offset=0):
    body = struct.pack(f"<{len(shape)}QQ", *shape, byte_offset) + fields + struct.pack("<B", len(buffers))
    for buffer in buffers:
        body += struct.pack("<QIBBBB", len(buffer), 64, 0, 0, 0, 0)
    return b"HRRY" + struct.pack("<BBIIBBI", 1, 0, 20 + len(body), 0, tag, layout, len(shape)) + body


class Tensor:
    def __init__(self, name, shape, layout, fields, buffers, byte_offset=0, tag=None):
        self.buffers = buffers
        tag = TYPES[name][0] if tag is None else tag
        self.descriptor = descriptor(tag, shape, layout, fields, buffers, byte_offset)

    def encoded(self, mask):
        parts = [struct.pack("<II", mask, len(self.descriptor)), self.descriptor]
        for buffer in self.buffers:
            parts += [struct.pack("<Q", len(buffer)), buffer]
        return b"".join(parts)


def run(requests):
    """What the program says of pairs of tensors and masks."""
    data = b"".join(tensor.encoded(mask) for tensor, mask in requests)
    done = subprocess.run([PROGRAM], input=data, capture_output=True, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr.decode())
    lines = done.stdout.decode().splitlines()
    assert len(lines) == len(requests), (len(lines), len(requests))
    return [parsed(line) for line in lines]


def parsed(line):
    if line.startswith("ERROR"):
        return {"error": int(line.split()[1]), "message": line}
    words = line.split()
    names = ("min", "max", "abs_max", "mean", "stddev")
    result = {"mask": int(words[0]), "nnz": int(words[1]), "sparsity": float.fromhex(words[2])}
    result.update({name: float.fromhex(word) for name, word in zip(names, words[3:8])})
    result.update(n=int(words[8]), m=int(words[9]), nan=int(words[10]), inf=int(words[11]))
    return result


def as_float64(array):
    if array.dtype.kind == "c":
        return array.astype(numpy.complex128)
    return array.astype(numpy.float64)


def pattern(array):
    """The smallest group with at most half of its elements not 0."""
    if array.ndim == 0 or array.size == 0 or array.shape[-1] == 0:
        return 0, 0
    row = array.shape[-1]
    sizes = [m for m in (4, 8, 16, 32) if row % m == 0] or [m for m in (2,) if row % m == 0]
    for m in sizes:
        most = int((array.reshape(-1, m) != 0).sum(axis=1).max())
        if most == 0:
            return 0, 0
        if 2 * most <= m:
            return most, m
    return 0, 0


def expected(array, mask=ALL, stored=None):
    """The answers, from the array's elements; `stored` is the number that a sparse layout stores."""
    numbers = as_float64(array).reshape(-1)
    nonzero = int(numpy.count_nonzero(numbers))
    nnz = nonzero if stored is None else stored
    computed = NNZ | NM | NAN_INF
    result = {"nnz": nnz, "sparsity": 0.0, "min": 0.0, "max": 0.0, "abs_max": 0.0, "mean": 0.0, "stddev": 0.0}
    result["n"], result["m"] = pattern(array)
    result["nan"] = int(numpy.isnan(numbers).any())
    result["inf"] = int(numpy.isinf(numbers).any())
    if numbers.size:
        computed |= SPARSITY
        result["sparsity"] = (numbers.size - nnz) / numbers.size
    if numbers.dtype != numpy.complex128:
        ordered = numbers[~numpy.isnan(numbers)]
        if ordered.size:
            computed |= RANGE
            result["min"], result["max"] = float(ordered.min()), float(ordered.max())
            result["abs_max"] = max(abs(result["min"]), abs(result["max"]))
        if numbers.size and numpy.isfinite(numbers).all():
            computed |= MOMENTS
            result["mean"], result["stddev"] = moments(numbers)
    result["mask"] = computed & mask
    fields = {NNZ: ["nnz"], SPARSITY: ["sparsity"], RANGE: ["min", "max", "abs_max"], MOMENTS: ["mean", "stddev"]}
    fields.update({NM: ["n", "m"], NAN_INF: ["nan", "inf"]})
    for bit, names in fields.items():
        if not result["mask"] & bit:
            result.update({name: 0 for name in names})
    return result


def moments(numbers):
    """Mean and deviation: where squares are far from the ends of the range with a longer type, else exactly."""
    largest = max(abs(float(numbers.min())), abs(float(numbers.max())))
    if numpy.finfo(numpy.longdouble).nmant >= 63 and (largest == 0 or 1e-10 < largest < 1e30):
        mean = math.fsum(numbers) / numbers.size
        wide = numbers.astype(numpy.longdouble)
        distances = wide - wide.mean()
        return mean, float(numpy.sqrt((distances * distances).mean()))
    exact = [Fraction(float(x)) for x in numbers]
    mean = sum(exact) / len(exact)
    return float(mean), root(sum((x - mean) ** 2 for x in exact) / len(exact))


def root(variance):
    """The square root of a fraction of any size."""
    if variance == 0:
        return 0.0
    # To a number of a size that float64 has.
    shift = 0
    while variance > 2**200:
        variance /= 4**100
        shift += 100
    while variance < Fraction(1, 2**200):
        variance *= 4**100
        shift -= 100
    return math.ldexp(math.sqrt(variance), shift)


class StatisticsTest(unittest.TestCase):
    def compare(self, found, wanted, what):
        self.assertNotIn("error", found, (what, found))
        for name, value in wanted.items():
            if name == "stddev" or name == "mean":
                spread = max(wanted["stddev"], abs(wanted["mean"]) * 1e-7)
                tolerance = 1e-12 * wanted["stddev"] + 4e-16 * abs(wanted["mean"]) + 1e-13 * (spread if name == "mean" else 0)
                self.assertLessEqual(abs(found[name] - value), tolerance, (what, name, found, wanted))
            else:
                self.assertEqual(found[name], value, (what, name, found, wanted))

    def check(self, cases):
        """Cases are tensors, the arrays that they are, masks, and what they store."""
        answers = run([(tensor, mask) for tensor, _, mask, _, _ in cases])
        for answer, (_, array, mask, stored, what) in zip(answers, cases):
            self.compare(answer, expected(array, mask, stored), what)

    def some(self, name, shape, generator, density=0.7):
        dtype = TYPES[name][1]
        if numpy.dtype(dtype).kind in "iu":
            limits = numpy.iinfo(dtype)
            array = generator.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)
        elif numpy.dtype(dtype).kind == "c":
            array = (generator.normal(size=shape) + 1j * generator.normal(size=shape)).astype(dtype)
        else:
            array = generator.normal(3, 2, shape).astype(dtype)
        return numpy.where(generator.random(shape) < density, array, dtype(0))

    def mask_of(self, name):
        return ALL & ~(RANGE | MOMENTS) if name.startswith("complex") else ALL

    def test_every_kind_of_type_in_every_dense_layout(self):
        generator = numpy.random.default_rng(1)
        cases = []
        shapes = [(), (1,), (7,), (0,), (3, 0), (5, 12), (3, 4, 8), (2, 3, 2, 32), (67, 64), (1, 4099)]
        for name, shape in itertools.product(TYPES, shapes):
            array = self.some(name, shape, generator)
            mask = self.mask_of(name)
            offset = 64 * int(generator.integers(0, 2))
            front = bytes(offset)
            cases.append((Tensor(name, shape, ROW_MAJOR, b"", [front + array.tobytes()], offset), array, mask, None, (name, shape)))
            if not shape:
                continue
            data = front + array.tobytes("F")
            cases.append((Tensor(name, shape, COL_MAJOR, b"", [data], offset), array, mask, None, (name, shape, "F")))
            if 0 in shape:
                continue
            cases.append((*self.strided(name, array), mask, None, (name, shape, "strided")))
            cases.append((*self.tiled(name, array), mask, None, (name, shape, "tiled")))
            if math.prod(shape) < 1000:
                cases.append((*self.morton(name, array), mask, None, (name, shape, "morton")))
        self.check(cases)
        # Once more, with the elements in the order of storage.
        self.check([(t, a, m & ~NM, s, w) for t, a, m, s, w in cases])

    def strided(self, name, array):
        """Every second element of each dimension, backwards in the first."""
        wide = numpy.zeros([2 * size for size in array.shape], array.dtype)
        wide.fill(99)
        places = tuple(slice(None, None, 2) for _ in array.shape)
        wide[places] = array[::-1]
        strides = [2 * step // array.itemsize for step in wide.strides]
        first = strides[0] * (array.shape[0] - 1) * array.itemsize
        strides[0] = -strides[0]
        fields = struct.pack(f"<{array.ndim}q", *strides)
        return Tensor(name, array.shape, STRIDED, fields, [wide.tobytes()], first), array

    def tiled(self, name, array):
        tile = [2 + k for k in range(array.ndim)]
        grid = [-(-size // t) for size, t in zip(array.shape, tile)]
        padded = numpy.full([g * t for g, t in zip(grid, tile)], 77, array.dtype)
        padded[tuple(slice(0, size) for size in array.shape)] = array
        split = padded.reshape([x for pair in zip(grid, tile) for x in pair])
        order = [*range(0, 2 * array.ndim, 2), *range(1, 2 * array.ndim, 2)]
        fields = struct.pack(f"<{array.ndim}QBBH", *tile, 1, 1, 0)
        return Tensor(name, array.shape, TILED, fields, [split.transpose(order).tobytes()]), array

    def morton(self, name, array):
        rank = array.ndim
        bits = max(1, max(size - 1 for size in array.shape).bit_length())
        places = numpy.full(2 ** (bits * rank), 55, array.dtype)
        for index in itertools.product(*(range(size) for size in array.shape)):
            code = sum(((index[d] >> b) & 1) << (b * rank + d) for b in range(bits) for d in range(rank))
            places[code] = array[index]
        fields = struct.pack(f"<{rank}I", *[bits] * rank)
        return Tensor(name, array.shape, MORTON, fields, [places.tobytes()]), array

    def test_repeated_elements_count_as_often_as_they_are_there(self):
        row = numpy.array([1, 0, 0, 5], numpy.float32)
        array = numpy.broadcast_to(row, (1000, 4))
        fields = struct.pack("<2q", 0, 1)
        tensor = Tensor("float32", array.shape, STRIDED, fields, [row.tobytes()])
        self.check([(tensor, array, ALL, None, "broadcast"), (tensor, array, ALL & ~NM, None, "broadcast")])

    def test_packed_types(self):
        generator = numpy.random.default_rng(2)
        cases = []
        for bits, tag, signed in ((1, 0x20, False), (2, 0x4A, True), (2, 0x4B, False), (4, 0x48, True), (4, 0x49, False)):
            for shape in ((1,), (37,), (9, 5), (3, 4096), (40, 32)):
                codes = numpy.where(generator.random(shape) < 0.4, generator.integers(0, 2**bits, shape), 0)
                values = numpy.where(codes >= 2 ** (bits - 1), codes - 2**bits, codes) if signed else codes
                for order, layout in (("C", ROW_MAJOR), ("F", COL_MAJOR)):
                    stream = sum(int(c) << (bits * i) for i, c in enumerate(codes.reshape(-1, order=order)))
                    data = stream.to_bytes((codes.size * bits + 7) // 8, "little")
                    tensor = Tensor(None, shape, layout, b"", [data], tag=tag)
                    cases.append((tensor, values.astype(numpy.float64), ALL, None, (tag, shape, order)))
        self.check(cases)

    def test_sparse_layouts_count_what_they_do_not_store_as_0(self):
        generator = numpy.random.default_rng(3)
        cases = []
        for name in ("float32", "int16", "float64", "complex64"):
            for shape in ((9, 12), (40, 64), (5, 7), (4, 0), (128, 96)):
                array = self.some(name, shape, generator, 0.15)
                mask = self.mask_of(name)
                for layout, tensor in self.sparse(name, array, generator):
                    cases.append((tensor, array, mask, int(numpy.count_nonzero(array)), (name, shape, layout)))
        self.check(cases)

    def sparse(self, name, array, generator):
        rows, columns = numpy.nonzero(array)
        values = array[rows, columns]
        pack = lambda numbers: numpy.ascontiguousarray(numbers, "<u8").tobytes()
        count = struct.pack("<Q", len(values))
        pairs = numpy.stack([rows, columns], axis=1)
        yield COO, Tensor(name, array.shape, COO, count + b"\1" + bytes(7), [values.tobytes(), pack(pairs)])
        order = generator.permutation(len(values))
        yield "unsorted", Tensor(name, array.shape, COO, count + bytes(8), [values[order].tobytes(), pack(pairs[order])])
        pointers = numpy.searchsorted(rows, numpy.arange(array.shape[0] + 1))
        yield CSR, Tensor(name, array.shape, CSR, count + bytes(8), [values.tobytes(), pack(columns), pack(pointers)])
        by_column = numpy.lexsort((rows, columns))
        pointers = numpy.searchsorted(columns[by_column], numpy.arange(array.shape[1] + 1))
        yield CSC, Tensor(
            name, array.shape, CSC, count + bytes(8), [values[by_column].tobytes(), pack(rows[by_column]), pack(pointers)]
        )

    def test_stored_zeros_count_as_stored(self):
        values = numpy.array([0, 2, 0, 0], numpy.float32)
        indices = numpy.array([[0, 0], [0, 5], [1, 0], [1, 1]], "<u8")
        array = numpy.zeros((2, 8), numpy.float32)
        array[0, 5] = 2
        tensor = Tensor("float32", (2, 8), COO, struct.pack("<Q", 4) + b"\1" + bytes(7), [values.tobytes(), indices.tobytes()])
        self.check([(tensor, array, ALL, 4, "zeros")])

    def test_patterns_of_pruned_weights(self):
        generator = numpy.random.default_rng(4)
        cases = []
        for n, m in ((1, 4), (2, 4), (3, 8), (4, 8), (7, 16), (8, 16), (16, 32), (3, 4), (4, 4), (1, 2), (17, 32), (0, 4)):
            for columns in (64, 96, 4128):
                array = numpy.zeros((8, columns), numpy.float32)
                for row, group in itertools.product(range(8), range(columns // m)):
                    places = group * m + generator.permutation(m)[:n]
                    array[row, places] = generator.normal(size=n) + 10
                tensor = Tensor("float32", array.shape, ROW_MAJOR, b"", [array.tobytes()])
                cases.append((tensor, array, ALL, None, (n, m, columns)))
                cases.append((*self.strided("float32", array), ALL, None, (n, m, columns, "strided")))
        for columns in (2, 6, 10, 5, 7):
            array = numpy.tile(numpy.array([1, 0] * columns, numpy.float32)[:columns], (3, 1))
            cases.append((Tensor("float32", array.shape, ROW_MAJOR, b"", [array.tobytes()]), array, ALL, None, columns))
        self.check(cases)
        self.assertEqual(expected(numpy.array([[1, 0], [0, 1]]))["m"], 2)

    def test_nan_and_infinity(self):
        nan, inf = math.nan, math.inf
        cases = []
        for numbers in ([nan], [nan, nan, 1, -2], [inf, 1], [-inf, 0], [inf, -inf, nan], [-0.0, 0.0], [1, 2, nan] * 2000, [inf] + [0] * 5000):
            for name in ("float16", "float32", "float64"):
                array = numpy.array(numbers, TYPES[name][1])
                cases.append((Tensor(name, array.shape, ROW_MAJOR, b"", [array.tobytes()]), array, ALL, None, (name, numbers[:5])))
        pairs = numpy.array([complex(nan, 0), complex(0, inf), complex(0, 1), 0], numpy.complex64)
        tensor = Tensor("complex64", pairs.shape, ROW_MAJOR, b"", [pairs.tobytes()])
        cases.append((tensor, pairs, ALL & ~(RANGE | MOMENTS), None, "complex"))
        self.check(cases)
        found = run([(tensor, ALL), (tensor, RANGE), (tensor, MOMENTS)])
        self.assertEqual([answer["error"] for answer in found], [-15] * 3)

    def test_numbers_that_are_hard_to_add_up(self):
        generator = numpy.random.default_rng(5)
        cases = []
        for array in (
            # A large mean with a small deviation.
            1e9 + generator.normal(size=20000),
            1e15 + generator.integers(0, 3, 9001).astype(numpy.float64),
            # Blocks that differ.
            numpy.repeat(numpy.array([1e-8, 1e8, -1e8, 3.0]), 2500),
            # Squares beyond the range of float64, and below it.
            generator.normal(size=5000) * 1e300,
            numpy.array([1.7976931348623157e308, -1.7976931348623157e308, 1.7976931348623157e308]),
            generator.normal(size=5000) * 1e-200,
            numpy.array([5e-324, 0, 1e-323]),
            numpy.array([1e308, 1e-308, 0, 1.0]),
            numpy.full(12345, 0.1),
        ):
            array = array.astype(numpy.float64)
            cases.append((Tensor("float64", array.shape, ROW_MAJOR, b"", [array.tobytes()]), array, ALL, None, array[:4]))
        self.check(cases)

    def test_every_mask_gives_what_it_asks_for(self):
        generator = numpy.random.default_rng(6)
        array = self.some("float32", (6, 16), generator)
        tensor = Tensor("float32", array.shape, ROW_MAJOR, b"", [array.tobytes()])
        self.check([(tensor, array, mask, None, mask) for mask in range(64)])
        found = run([(tensor, 64), (tensor, 1 << 31)])
        self.assertEqual([answer["error"] for answer in found], [-18, -18])


if __name__ == "__main__":
    unittest.main()
