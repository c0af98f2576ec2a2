"""Dequantizing against the formulas of the format with NumPy, element by element: every scheme, storage type and kind of
scale, every dense layout and axis, with short last blocks, sparse and block-paged tensors, by every set of kernels."""

import random
import struct
import unittest

import dense_layouts
import indexed_layouts
import numpy as np
import program
import reference as ref
import sections
import wire

ALL = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int4", "uint4", "int2", "uint2")
STORAGE = {
    ref.PER_TENSOR: ALL,
    ref.PER_CHANNEL: ALL,
    ref.PER_BLOCK: ("int8", "uint8", "int4", "uint4", "int2", "uint2"),
    ref.NF4: ("uint4",),
    ref.MXFP: ("float8_e4m3", "float8_e5m2", "float4_e2m1", "float6_e2m3", "float6_e3m2", "int8", "int4"),
}
# Numbers of the sets of kernels; the program takes the last one for those beyond.
SETS = (0, 1, 2, 3)


class Case:
    """A quantized tensor of random codes and parameters, and its numbers."""

    def __init__(self, rng, scheme, name, shape, axis=0, block=0, layout=1, scale_type=3, symmetric=False, shared=False,
                 byte_offset=0, scales=None):
        self.scheme, self.name, self.shape = scheme, name, tuple(shape)
        tag = layout if layout in (1, 2) else 3 if isinstance(layout, tuple) else layout.tag
        self.col_major = layout == 2
        affine = scheme in (ref.PER_TENSOR, ref.PER_CHANNEL, ref.PER_BLOCK)
        symmetric = symmetric or not affine
        bits = ref.BITS[name]
        low, high = ref.integer_range(name) if affine else (0, 0)
        entries = ref.entry_count(scheme, self.shape, axis, block)
        scale_data, self.scales, zeros = b"", [], []
        for i in range(entries):
            if scales is not None:
                scale = scales[i % len(scales)]
            elif scheme == ref.MXFP:
                scale = rng.choice((1, 2, 100, 127, 130, 200, 253, 254))
            else:
                scale = rng.choice((1, -1)) * 2.0 ** rng.randint(-12, 12) * (1 + rng.random())
                scale = abs(scale) if scheme == ref.NF4 else scale
            data, value = ref.encode_scale(scheme, scale_type, scale)
            scale_data += data
            self.scales.append(value)
            zeros.append(0 if symmetric else max(-2**31, min(2**31 - 1, rng.randint(low, high))))
        self.zeros = zeros
        all_indices = ref.indices(self.shape)
        self.codes = {index: rng.getrandbits(bits) for index in all_indices}
        stored = ref.stored_shape(scheme, self.shape, axis, block, tag)
        places = {index: ref.place_of(layout, self.shape, stored, index) for index in all_indices}
        lowest = min(places.values(), default=0)
        if lowest < 0:
            byte_offset += -(-(-lowest * bits) // 24) * 3
        if isinstance(layout, tuple) or layout in (1, 2):
            count = 1
            for size in stored:
                count *= size
            reach = max(places.values(), default=-1) + 1 if isinstance(layout, tuple) else count
            size = byte_offset + wire.packed_bytes(ref.T[name], reach)
        else:
            size = byte_offset + dense_layouts.room(layout, ref.T[name], self.shape)[1]
        # Elements that share a place have one code.
        at = {}
        for index in all_indices:
            self.codes[index] = at.setdefault(places[index], self.codes[index])
        # 6-bit elements lie in a stream of bits, whatever byte it starts at.
        data = bytes(byte_offset) + bytes(size - byte_offset)
        data = bytearray(data)
        for place, code in at.items():
            bit = byte_offset * 8 + place * bits
            for b in range(bits):
                data[(bit + b) // 8] |= (code >> b & 1) << (bit + b) % 8
        self.data = bytes(data)
        parameters = []
        zero_data = b"".join(struct.pack("<i", zero) for zero in zeros)
        if scheme != ref.PER_TENSOR:
            parameters = [scale_data] if symmetric else [scale_data + zero_data] if shared else [scale_data, zero_data]
        payload = ref.section(scheme, axis, block, scale_type, symmetric, self.scales[0] if entries else 1, zeros[0] if zeros else 0,
                              1, 1 if shared else 2)
        self.buffers = [self.data, *parameters]
        self.descriptor = wire.Descriptor(
            ref.T[name],
            self.shape,
            tag,
            byte_offset,
            strides=layout if isinstance(layout, tuple) else (),
            layout=None if isinstance(layout, tuple) or layout in (1, 2) else layout,
            buffers=tuple(wire.Handle(len(buffer)) for buffer in self.buffers),
            quantization=payload,
        )
        self.tensor = ref.tensor_bytes(self.descriptor, self.buffers)
        order = all_indices
        if self.col_major:
            order = [index[::-1] for index in ref.indices(self.shape[::-1])]
        self.numbers = np.array(
            [self.number(index, ref.entry_of(scheme, self.shape, axis, block, index)) for index in order], np.float32
        )

    def number(self, index, entry):
        return ref.number_of(self.scheme, self.name, self.codes[index], self.scales[entry], self.zeros[entry])

    def __repr__(self):
        return f"scheme {self.scheme} of {self.name}, shape {self.shape}, {self.descriptor.layout_tag}"


class DequantizeTest(unittest.TestCase):
    def setUp(self):
        self.rng = random.Random(self.id())

    def check(self, cases, targets=(ref.FLOAT32,), sets=SETS):
        runs = [(case, target, kernels) for case in cases for target in targets for kernels in (*sets, 255)]
        answers = program.run([program.dequantize(case.tensor, target, kernels) for case, target, kernels in runs])
        for (case, target, kernels), answer in zip(runs, answers):
            with self.subTest(case=case, target=target, kernels=kernels):
                self.assertEqual(answer.code, 0, answer.message)
                expected = ref.to_target(case.numbers, target)
                got = answer.data
                if kernels == 255:
                    self.assertEqual(len(answer.buffers), 1)
                    got = answer.buffers[0]
                    result = wire.Descriptor(target, case.shape, 2 if case.col_major else 1,
                                             buffers=(wire.Handle(len(expected)),))
                    self.assertEqual(answer.descriptor, result.encoded())
                self.assertEqual(len(got), len(expected))
                if got != expected:
                    # NaN is compared as such: its payload is the processor's.
                    got_numbers, wanted = ref.from_target(got, target), ref.from_target(expected, target)
                    np.testing.assert_array_equal(got_numbers, wanted)
                    np.testing.assert_array_equal(np.signbit(got_numbers), np.signbit(wanted))

    def test_every_scheme_and_storage_type_to_every_target(self):
        cases = []
        for scheme, names in STORAGE.items():
            for name in names:
                for symmetric in (False, True):
                    cases.append(Case(self.rng, scheme, name, (5, 96), axis=1, block=32 if scheme > 2 else 0,
                                      symmetric=symmetric))
        self.check(cases, targets=(ref.FLOAT16, ref.BFLOAT16, ref.FLOAT32, ref.FLOAT64))

    def test_every_code(self):
        for scheme, names in STORAGE.items():
            cases = []
            for name in names:
                if ref.BITS[name] > 8:
                    continue
                case = Case(self.rng, scheme, name, (256,), axis=0, block=32 if scheme > 2 else 0)
                bits = ref.BITS[name]
                for i in range(256):
                    case.codes[(i,)] = i % (1 << bits)
                data = bytearray(ref.pack([(i, i % (1 << bits)) for i in range(256)], bits, len(case.data)))
                case.tensor = ref.tensor_bytes(case.descriptor, [bytes(data), *case.buffers[1:]])
                case.numbers = np.array(
                    [case.number((i,), ref.entry_of(scheme, (256,), 0, 32, (i,))) for i in range(256)], np.float32
                )
                cases.append(case)
            self.check(cases)

    def test_axes_and_short_blocks(self):
        cases = []
        for shape in ((32,), (35,), (3, 37), (40, 5), (2, 33, 3), (33, 2, 3), (3, 2, 70), (2, 16, 1, 5)):
            for axis in range(len(shape)):
                for layout in (1, 2):
                    cases.append(Case(self.rng, ref.PER_CHANNEL, "int8", shape, axis, layout=layout))
                    cases.append(Case(self.rng, ref.PER_CHANNEL, "uint4", shape, axis, layout=layout))
                    for block in (2, 4, 8, 16, 32):
                        if block > shape[axis]:
                            continue
                        name = self.rng.choice(STORAGE[ref.PER_BLOCK])
                        cases.append(Case(self.rng, ref.PER_BLOCK, name, shape, axis, block, layout,
                                          scale_type=self.rng.choice((1, 2, 3)), symmetric=self.rng.random() < 0.5,
                                          shared=self.rng.random() < 0.3))
                        if block >= 8:
                            cases.append(Case(self.rng, ref.NF4, "uint4", shape, axis, block, layout))
                        if block >= 16 and shape[axis] % block == 0:
                            name = self.rng.choice(STORAGE[ref.MXFP])
                            cases.append(Case(self.rng, ref.MXFP, name, shape, axis, block, layout))
        self.check(cases, sets=(0, 3))

    def test_every_dense_layout(self):
        tiles, nested = dense_layouts.Tiles((4, 8)), dense_layouts.Tiles((8, 16), nested=dense_layouts.Tiles((4, 4), 2, 2))
        layouts = (
            ((21, 34), tiles),
            ((21, 34), nested),
            ((21, 34), dense_layouts.Tiles((2, 8), 2, 2)),
            ((12, 32), dense_layouts.Morton((4, 5))),
            ((16, 16), dense_layouts.Hilbert(4, 2)),
            ((8, 32), (32, 1)),
            ((8, 32), (40, 1)),
            ((8, 32), (1, 8)),
            ((8, 32), (-32, -1)),
            ((8, 32), (0, 1)),
            ((8, 32), (3, 0)),
            ((9, 33), (1, 9)),
            ((3, 4, 16), (64, -16, 1)),
        )
        cases = []
        for shape, layout in layouts:
            for axis in range(len(shape)):
                for scheme, names in STORAGE.items():
                    name = self.rng.choice(names)
                    block = 0
                    if scheme > 2:
                        block = 8 if scheme == ref.NF4 else 4 if scheme == ref.PER_BLOCK else 16
                        if shape[axis] < block or scheme == ref.MXFP and shape[axis] % block != 0:
                            continue
                    cases.append(Case(self.rng, scheme, name, shape, axis, block, layout))
        self.check(cases, sets=(0, 3))

    def test_offsets(self):
        cases = []
        for offset in (1, 3, 6, 64, 65):
            for name in ("int8", "uint4", "int2", "int16", "uint32"):
                cases.append(Case(self.rng, ref.PER_TENSOR, name, (7, 5), byte_offset=offset))
                cases.append(Case(self.rng, ref.PER_CHANNEL, name, (7, 5), axis=1, byte_offset=offset))
            cases.append(Case(self.rng, ref.MXFP, "float6_e2m3", (3, 32), 1, 16, byte_offset=offset))
            cases.append(Case(self.rng, ref.PER_BLOCK, "int4", (3, 18), 1, 16, byte_offset=offset))
        self.check(cases)

    def test_long_rows(self):
        cases = [
            Case(self.rng, ref.PER_TENSOR, "int8", (9001,)),
            Case(self.rng, ref.PER_TENSOR, "uint2", (9001,)),
            Case(self.rng, ref.PER_CHANNEL, "int8", (3001, 3), 1),
            Case(self.rng, ref.PER_CHANNEL, "int4", (2, 4999), 1),
            Case(self.rng, ref.PER_CHANNEL, "uint4", (2, 4999), 0),
            Case(self.rng, ref.PER_BLOCK, "int4", (10000,), 0, 8192),
            Case(self.rng, ref.PER_BLOCK, "int8", (130, 129), 1, 64, scale_type=1),
            Case(self.rng, ref.PER_BLOCK, "int8", (4, 5000), 0, 2, scale_type=2),
            Case(self.rng, ref.NF4, "uint4", (8200,), 0, 4096),
            Case(self.rng, ref.MXFP, "float8_e4m3", (8192,), 0, 2048),
            Case(self.rng, ref.MXFP, "float6_e3m2", (3, 4096), 1, 128),
        ]
        self.check(cases)

    def test_more_columns_than_are_gathered_at_once(self):
        self.check([Case(self.rng, ref.PER_BLOCK, "int4", (2, 70000), 0, 2, scale_type=1)], sets=(0,))

    def test_scalars_and_empty_tensors(self):
        cases = [Case(self.rng, ref.PER_TENSOR, name, ()) for name in ("int8", "uint2", "int32")]
        for shape in ((0,), (0, 8), (8, 0)):
            cases.append(Case(self.rng, ref.PER_TENSOR, "int8", shape))
            cases.append(Case(self.rng, ref.PER_CHANNEL, "int8", shape, 0))
            cases.append(Case(self.rng, ref.PER_BLOCK, "int4", shape, len(shape) - 1, 4))
            cases.append(Case(self.rng, ref.NF4, "uint4", shape, 0, 8))
        cases.append(Case(self.rng, ref.MXFP, "int8", (16, 0), 0, 16))
        self.check(cases)

    def test_extreme_scales(self):
        cases = []
        for scale in (1e-45, -1e-45, 1.1754942e-38, 3.4028235e38, -3.4028235e38, 1e30):
            cases.append(Case(self.rng, ref.PER_CHANNEL, "int8", (64,), 0, scales=[scale]))
            cases.append(Case(self.rng, ref.PER_BLOCK, "uint4", (64,), 0, 16, scales=[scale]))
            cases.append(Case(self.rng, ref.PER_TENSOR, "int32", (64,), 0, scales=[scale]))
            if scale > 0:
                cases.append(Case(self.rng, ref.NF4, "uint4", (64,), 0, 16, scales=[scale, 0.0]))
        for name in STORAGE[ref.MXFP]:
            cases.append(Case(self.rng, ref.MXFP, name, (8, 64), 1, 32, scales=list(range(1, 255))))
        self.check(cases)

    def sparse(self, layout_name, scheme, name, axis, block, scale_type=3):
        rng = self.rng
        shape = (32, 48) if layout_name in ("csr", "csc") else (16, 6, 32)
        chosen = sorted(rng.sample(ref.indices(shape), 150))
        if layout_name == "unsorted":
            rng.shuffle(chosen)
        if layout_name == "csc":
            chosen.sort(key=lambda index: index[::-1])
        mode_order = (2, 0, 1)
        if layout_name == "csf":
            chosen.sort(key=lambda index: [index[mode] for mode in mode_order])
        bits = ref.BITS[name]
        codes = [rng.getrandbits(bits) for _ in chosen]

        def u64(values):
            return b"".join(struct.pack("<Q", value) for value in values)

        values = ref.pack(list(enumerate(codes)), bits, wire.packed_bytes(ref.T[name], len(codes)))
        if layout_name in ("coo", "unsorted"):
            layout = indexed_layouts.Coo(len(codes), 1 if layout_name == "coo" else 0)
            own = [values, u64(i for index in chosen for i in index)]
        elif layout_name in ("csr", "csc"):
            major = 0 if layout_name == "csr" else 1
            layout = getattr(indexed_layouts, layout_name)(len(codes))
            pointers = [sum(index[major] < line for index in chosen) for line in range(shape[major] + 1)]
            own = [values, u64(index[1 - major] for index in chosen), u64(pointers)]
        else:
            paths = [tuple(index[mode] for mode in mode_order) for index in chosen]
            levels, own = [[()]], [values]
            for depth in range(1, 4):
                levels.append(sorted(set(path[:depth] for path in paths)))
                starts = [sum(node[:-1] < parent for node in levels[-1]) for parent in levels[-2]]
                own += [u64([*starts, len(levels[-1])]), u64(node[-1] for node in levels[-1])]
            layout = indexed_layouts.Csf(len(codes), mode_order, tuple(len(level) for level in levels[1:-1]))
        entries = ref.entry_count(scheme, shape, axis, block)
        encoded = [ref.encode_scale(scheme, scale_type, rng.randint(90, 160) if scheme == ref.MXFP else 0.1 + i / 7)
                   for i in range(entries)]
        affine = scheme in (ref.PER_CHANNEL, ref.PER_BLOCK)
        low, high = ref.integer_range(name) if affine else (0, 0)
        zeros = [min(2**31 - 1, rng.randint(low, high)) for _ in range(entries)]
        buffers = own + ([b"".join(data for data, _ in encoded)] if scheme != ref.PER_TENSOR else [])
        if affine:
            buffers.append(b"".join(struct.pack("<i", zero) for zero in zeros))
        payload = ref.section(scheme, axis, block, scale_type, not affine, encoded[0][1], zeros[0], len(own), len(own) + 1)
        descriptor = indexed_layouts.indexed(
            ref.T[name], shape, layout, quantization=payload, buffers=tuple(wire.Handle(len(b)) for b in buffers)
        )
        entry = [ref.entry_of(scheme, shape, axis, block, index) for index in chosen]
        numbers = np.array(
            [ref.number_of(scheme, name, code, encoded[e][1], zeros[e]) for code, e in zip(codes, entry)], np.float32
        )
        return ref.tensor_bytes(descriptor, buffers), numbers, (shape, layout, own)

    def test_sparse_tensors(self):
        made = []
        for layout_name in ("coo", "unsorted", "csr", "csc", "csf"):
            for scheme, names in STORAGE.items():
                for axis in range(2 if layout_name in ("csr", "csc") else 3):
                    block = 0 if scheme <= 2 else 16
                    if axis == 1 and layout_name in ("coo", "unsorted", "csf"):
                        if scheme in (ref.NF4, ref.MXFP):
                            continue
                        block = 4 if scheme == ref.PER_BLOCK else 0
                    made.append(self.sparse(layout_name, scheme, self.rng.choice(names), axis, block,
                                            self.rng.choice((1, 2, 3)) if scheme == ref.PER_BLOCK else 3))
        cases = []
        for tensor, _, _ in made:
            cases += [program.dequantize(tensor, ref.FLOAT32), program.dequantize(tensor, ref.FLOAT16, 0)]
        answers = program.run(cases)
        for (_, numbers, (shape, layout, own)), whole, halves in zip(made, answers[::2], answers[1::2]):
            self.assertEqual(whole.code, 0, whole.message)
            self.assertEqual(halves.code, 0, halves.message)
            expected = ref.to_target(numbers, ref.FLOAT32)
            np.testing.assert_array_equal(np.frombuffer(whole.buffers[0], "<f4"), numbers)
            self.assertEqual(whole.buffers[1:], own[1:])
            handles = tuple(wire.Handle(size) for size in (len(expected), *(len(b) for b in own[1:])))
            result = indexed_layouts.indexed(ref.FLOAT32, shape, layout, buffers=handles)
            self.assertEqual(whole.descriptor, result.encoded())
            np.testing.assert_array_equal(
                ref.from_target(halves.data, ref.FLOAT16), ref.from_target(ref.to_target(numbers, ref.FLOAT16), ref.FLOAT16)
            )

    def test_sparse_indices_beyond_the_shape(self):
        tensor, _, (_, _, own) = self.sparse("coo", ref.PER_CHANNEL, "int8", 0, 0)
        indices = own[1]
        for beyond in (16, 2**63, 2**64 - 1):
            bad = tensor.replace(indices, struct.pack("<Q", beyond) + indices[8:])
            self.assertNotEqual(bad, tensor)
            (answer,) = program.run([program.dequantize(bad, ref.FLOAT32)])
            self.assertEqual(answer.code, -3, answer.message)

    def test_block_paged(self):
        pages, page_size, heads, dim = 5, 4, 2, 6
        slots = pages * page_size
        for scheme, axis, scale_type in (
            (ref.PER_TENSOR, 0, 3),
            (ref.PER_CHANNEL, 1, 3),
            (ref.PER_CHANNEL, 2, 3),
            (ref.PER_BLOCK, 0, 1),
            (ref.PER_BLOCK, 0, 3),
        ):
            for name in ("int8", "uint4", "int2"):
                bits = ref.BITS[name]
                shape = (slots, heads, dim)
                codes = {index: self.rng.getrandbits(bits) for index in ref.indices(shape)}
                ordered = [codes[index] for index in ref.indices(shape)]
                pool = ref.pack(list(enumerate(ordered)), bits, wire.packed_bytes(ref.T[name], len(ordered)))
                entries = {ref.PER_TENSOR: 1, ref.PER_BLOCK: slots}.get(scheme, shape[axis])
                encoded = [ref.encode_scale(scheme, scale_type, 0.3 + i) for i in range(entries)]
                if scheme == ref.PER_BLOCK:
                    # Slots without a token: anything.
                    encoded[-1] = (b"\0" * len(encoded[0][0]), np.float32(0))
                low, high = ref.integer_range(name)
                zeros = [self.rng.randint(low, high) for _ in range(entries)]
                table = struct.pack("<3I", 0, 1, 0), struct.pack("<3I", 0, 2, 3)
                buffers = [pool, *table]
                if scheme != ref.PER_TENSOR:
                    buffers += [b"".join(d for d, _ in encoded), b"".join(struct.pack("<i", z) for z in zeros)]
                layout = indexed_layouts.Paged(page_size=page_size, num_pages=pages)
                descriptor = indexed_layouts.indexed(
                    ref.T[name],
                    (9, heads, dim),
                    layout,
                    quantization=ref.section(scheme, axis, page_size, scale_type, False, encoded[0][1], zeros[0], 3, 4),
                    buffers=tuple(wire.Handle(len(b)) for b in buffers),
                )
                entry = {ref.PER_TENSOR: lambda i: 0, ref.PER_BLOCK: lambda i: i[0]}.get(scheme, lambda i: i[axis])
                numbers = np.array(
                    [ref.number_of(scheme, name, codes[i], encoded[entry(i)][1], zeros[entry(i)])
                     for i in ref.indices(shape)],
                    np.float32,
                )
                (answer,) = program.run([program.dequantize(ref.tensor_bytes(descriptor, buffers), ref.FLOAT32)])
                self.assertEqual(answer.code, 0, answer.message)
                np.testing.assert_array_equal(np.frombuffer(answer.buffers[0], "<f4"), numbers)
                self.assertEqual(answer.buffers[1:], list(table))
                self.assertEqual(answer.descriptor[14], ref.FLOAT32)

    def test_parameters_that_the_schemes_forbid(self):
        nan, inf = float("nan"), float("inf")
        half = {"zero": b"\0\0", "inf": b"\0\x7c", "nan": b"\x01\xfe"}
        runs = []

        def refuse(case, buffer, entry, data, width):
            parameters = bytearray(case.buffers[buffer])
            parameters[entry * width : entry * width + len(data)] = data
            buffers = list(case.buffers)
            buffers[buffer] = bytes(parameters)
            runs.append((ref.tensor_bytes(case.descriptor, buffers), entry * width))

        channels = Case(self.rng, ref.PER_CHANNEL, "int4", (5, 2000), 1)
        for bad in (0.0, -0.0, nan, inf, -inf):
            refuse(channels, 1, 1999, struct.pack("<f", bad), 4)
            refuse(channels, 1, 0, struct.pack("<f", bad), 4)
        for bad in (8, -9, 2**31 - 1, -(2**31)):
            refuse(channels, 2, 1500, struct.pack("<i", bad), 4)
        blocks = Case(self.rng, ref.PER_BLOCK, "uint4", (3, 64), 1, 16, scale_type=1)
        for bad in half.values():
            refuse(blocks, 1, 7, bad, 2)
        for bad in (-1, 16):
            refuse(blocks, 2, 11, struct.pack("<i", bad), 4)
        levels = Case(self.rng, ref.NF4, "uint4", (3, 64), 1, 16)
        for bad in (-1.0, nan, inf, -1e-45):
            refuse(levels, 1, 5, struct.pack("<f", bad), 4)
        mx = Case(self.rng, ref.MXFP, "float4_e2m1", (3, 64), 1, 16)
        for bad in (b"\0", b"\xff"):
            refuse(mx, 1, 9, bad, 1)
        cases = []
        for tensor, _ in runs:
            cases += [program.check(tensor), program.dequantize(tensor, ref.FLOAT32)]
        answers = program.run(cases)
        for i, (_, offset) in enumerate(runs):
            for answer in answers[2 * i : 2 * i + 2]:
                self.assertEqual((answer.code, answer.offset), (-19, offset), answer.message)
        good = [program.check(case.tensor) for case in (channels, blocks, levels, mx)]
        # -0 is not negative, and absmax may be 0.
        good.append(program.check(Case(self.rng, ref.NF4, "uint4", (64,), 0, 16, scales=[0.0, -0.0]).tensor))
        for answer in program.run(good):
            self.assertEqual(answer.code, 0, answer.message)

    def test_refused(self):
        plain = wire.Descriptor(ref.FLOAT32, (4,))
        quantized = Case(self.rng, ref.PER_TENSOR, "int8", (4,))
        dynamic = sections.quantized("int8", (wire.DYNAMIC, 4), sections.per_tensor(), stored=(4,))
        cases = [
            (program.dequantize(ref.tensor_bytes(plain, [bytes(16)]), ref.FLOAT32), -18),
            (program.dequantize(quantized.tensor, 0x10), -18),
            (program.dequantize(quantized.tensor, 0), -18),
            (program.dequantize(ref.tensor_bytes(dynamic, [bytes(4)]), ref.FLOAT32), -3),
        ]
        for (_, code), answer in zip(cases, program.run([case for case, _ in cases])):
            self.assertEqual(answer.code, code, answer.message)


if __name__ == "__main__":
    unittest.main()
