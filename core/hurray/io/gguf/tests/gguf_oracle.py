"""GGUF in plain Python: a writer, a reader, and the numbers of ggml's blocks, one element at a time in float32.

Written from the format's description alone; shares nothing with the library. Numbers are float32 as Python floats:
single() rounds to the nearest after every operation, as a processor does.
"""

import math
import struct

MAGIC = b"GGUF"
ALIGNMENT = 32

# name: number, elements of a block, bytes of a block
TYPES = {
    "F32": (0, 1, 4),
    "F16": (1, 1, 2),
    "Q4_0": (2, 32, 18),
    "Q4_1": (3, 32, 20),
    "Q5_0": (6, 32, 22),
    "Q5_1": (7, 32, 24),
    "Q8_0": (8, 32, 34),
    "Q8_1": (9, 32, 36),
    "Q2_K": (10, 256, 84),
    "Q3_K": (11, 256, 110),
    "Q4_K": (12, 256, 144),
    "Q5_K": (13, 256, 176),
    "Q6_K": (14, 256, 210),
    "Q8_K": (15, 256, 292),
    "IQ2_XXS": (16, 256, 66),
    "IQ2_XS": (17, 256, 74),
    "IQ3_XXS": (18, 256, 98),
    "IQ1_S": (19, 256, 50),
    "IQ4_NL": (20, 32, 18),
    "IQ3_S": (21, 256, 110),
    "IQ2_S": (22, 256, 82),
    "IQ4_XS": (23, 256, 136),
    "I8": (24, 1, 1),
    "I16": (25, 1, 2),
    "I32": (26, 1, 4),
    "I64": (27, 1, 8),
    "F64": (28, 1, 8),
    "IQ1_M": (29, 256, 56),
    "BF16": (30, 1, 2),
    "TQ1_0": (34, 256, 54),
    "TQ2_0": (35, 256, 66),
    "MXFP4": (39, 32, 17),
    "NVFP4": (40, 64, 36),
    "Q1_0": (41, 128, 18),
}
NAME_OF = {number: name for name, (number, _, _) in TYPES.items()}

# Forms of struct of the types of values; 8 is a string, 9 an array.
VALUE_FORMS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
STRING, ARRAY = 8, 9


def padded(size, alignment):
    return -(-size // alignment) * alignment


def write_string(text):
    data = text if isinstance(text, bytes) else text.encode()
    return struct.pack("<Q", len(data)) + data


def write_value(kind, value):
    if kind == STRING:
        return write_string(value)
    if kind == ARRAY:
        element, values = value
        return struct.pack("<IQ", element, len(values)) + b"".join(write_value(element, v) for v in values)
    return struct.pack("<" + VALUE_FORMS[kind], value)


def write(metadata, tensors, version=3, alignment=ALIGNMENT):
    """metadata: key, type, value; an array's value: type of the elements, elements.
    tensors: name, dimensions (the outermost first), type, bytes."""
    out = MAGIC + struct.pack("<IQQ", version, len(tensors), len(metadata))
    for key, kind, value in metadata:
        out += write_string(key) + struct.pack("<I", kind) + write_value(kind, value)
    offset = 0
    for name, shape, kind, data in tensors:
        out += write_string(name) + struct.pack("<I", len(shape)) + struct.pack(f"<{len(shape)}Q", *reversed(shape))
        out += struct.pack("<IQ", TYPES[kind][0], offset)
        offset += padded(len(data), alignment)
    out += bytes(padded(len(out), alignment) - len(out))
    for _, _, _, data in tensors:
        out += data + bytes(padded(len(data), alignment) - len(data))
    return out


class Reader:
    """A file that is well-formed."""

    def __init__(self, data):
        self.data, self.at = data, 4
        assert data[:4] == MAGIC
        self.version, tensor_count, metadata_count = self.take("IQQ")
        self.metadata = []
        for _ in range(metadata_count):
            key = self.string()
            (kind,) = self.take("I")
            self.metadata.append((key, kind, self.value(kind)))
        alignment = [value for key, kind, value in self.metadata if key == "general.alignment"]
        self.alignment = alignment[0] if alignment else ALIGNMENT
        infos = []
        for _ in range(tensor_count):
            name = self.string()
            (rank,) = self.take("I")
            shape = tuple(reversed(self.take(f"{rank}Q")))
            kind, offset = self.take("IQ")
            infos.append((name, shape, NAME_OF[kind], offset))
        start = padded(self.at, self.alignment)
        assert not any(data[self.at : start]), "padding of the header"
        self.tensors, end = [], start
        for name, shape, kind, offset in infos:
            _, elements, size = TYPES[kind]
            length = math.prod(shape) // elements * size
            # As ggml demands it: one behind the other, padded with zeros to the alignment.
            assert start + offset == end, f"{name} is not where the one before ends"
            end = padded(start + offset + length, self.alignment)
            self.tensors.append((name, shape, kind, data[start + offset : start + offset + length]))
            assert not any(data[start + offset + length : end]), "padding of the data"
        assert end == len(data) or not infos, "the file ends elsewhere"

    def take(self, form):
        values = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return values

    def string(self):
        (length,) = self.take("Q")
        self.at += length
        return self.data[self.at - length : self.at].decode()

    def value(self, kind):
        if kind == STRING:
            return self.string()
        if kind == ARRAY:
            element, count = self.take("IQ")
            return element, [self.value(element) for _ in range(count)]
        return self.take(VALUE_FORMS[kind])[0]


def single(number):
    """The nearest float32."""
    try:
        return struct.unpack("<f", struct.pack("<f", number))[0]
    except OverflowError:
        return math.copysign(math.inf, number)


def times(a, b):
    # The product of two float32 is exact in a Python float (unless it is far below the smallest float32).
    return single(a * b)


def plus(a, b):
    # So is the sum, or the error is far below half a step: float64 has more than twice the digits and two more.
    return single(a + b)


def half(data, at):
    return struct.unpack_from("<e", data, at)[0]


def signed(byte):
    return byte - 256 if byte > 127 else byte


def nibble(data, start, i, halves):
    """Code i where byte j has codes j and j + halves."""
    byte = data[start + i % halves]
    return byte & 15 if i < halves else byte >> 4


DOUBLED_E2M1 = (0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12)
UNEVEN = (-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113)


def q4_0(b):
    return [times(nibble(b, 2, i, 16) - 8, half(b, 0)) for i in range(32)]


def q4_1(b):
    return [plus(times(nibble(b, 4, i, 16), half(b, 0)), half(b, 2)) for i in range(32)]


def q5_0(b):
    high = int.from_bytes(b[2:6], "little")
    return [times((nibble(b, 6, i, 16) | (high >> i & 1) << 4) - 16, half(b, 0)) for i in range(32)]


def q5_1(b):
    high = int.from_bytes(b[4:8], "little")
    return [plus(times(nibble(b, 8, i, 16) | (high >> i & 1) << 4, half(b, 0)), half(b, 2)) for i in range(32)]


def q8_0(b):
    return [times(signed(b[2 + i]), half(b, 0)) for i in range(32)]


def q8_1(b):
    return [times(signed(b[4 + i]), half(b, 0)) for i in range(32)]


def mxfp4(b):
    return [times(DOUBLED_E2M1[nibble(b, 1, i, 16)], 2.0 ** (b[0] - 128)) for i in range(32)]


def nvfp4(b):
    out = []
    for part in range(4):
        code = b[part] & 127
        exponent, mantissa = code >> 3, code & 7
        scale = mantissa * 2.0**-9 if exponent == 0 else (1 + mantissa / 8) * 2.0 ** (exponent - 7)
        if b[part] == 127:
            scale = 0.0
        out += [times(DOUBLED_E2M1[nibble(b, 4 + part * 8, i, 8)], scale / 2) for i in range(16)]
    return out


def q1_0(b):
    return [half(b, 0) if b[2 + i // 8] >> i % 8 & 1 else -half(b, 0) for i in range(128)]


def q2_k(b):
    out = []
    for i in range(256):
        packed = b[i // 16]
        code = b[16 + i // 128 * 32 + i % 32] >> i % 128 // 32 * 2 & 3
        step, least = times(half(b, 80), packed & 15), times(half(b, 82), packed >> 4)
        out.append(plus(times(step, code), -least))
    return out


def q3_k(b):
    out = []
    for i in range(256):
        # Scale k: four bits in a nibble of bytes 0 to 7, two more in bytes 8 to 11.
        k = i // 16
        low = b[96 + k % 8] >> k // 8 * 4 & 15
        scale = (low | (b[104 + k % 4] >> k // 4 * 2 & 3) << 4) - 32
        code = b[32 + i // 128 * 32 + i % 32] >> i % 128 // 32 * 2 & 3
        if not b[i % 32] >> i // 32 & 1:
            code -= 4
        out.append(times(times(half(b, 108), scale), code))
    return out


def k_scales(s, k):
    """Scale and minimum k of the twelve bytes of Q4_K and Q5_K."""
    if k < 4:
        return s[k] & 63, s[4 + k] & 63
    return s[4 + k] & 15 | s[k - 4] >> 6 << 4, s[4 + k] >> 4 | s[k] >> 6 << 4


def k_number(b, i, code):
    scale, minimum = k_scales(b[4:16], i // 32)
    return plus(times(times(half(b, 0), scale), code), -times(half(b, 2), minimum))


def q4_k(b):
    return [k_number(b, i, nibble(b, 16 + i // 64 * 32, i % 64, 32)) for i in range(256)]


def q5_k(b):
    high = b[16:48]
    fifth = [(high[i % 32] >> i // 32 & 1) << 4 for i in range(256)]
    return [k_number(b, i, nibble(b, 48 + i // 64 * 32, i % 64, 32) | fifth[i]) for i in range(256)]


def q6_k(b):
    out = []
    for i in range(256):
        code = nibble(b, i // 128 * 64, i % 128, 64) | (b[128 + i // 128 * 32 + i % 32] >> i % 128 // 32 * 2 & 3) << 4
        out.append(times(times(half(b, 208), signed(b[192 + i // 16])), code - 32))
    return out


def q8_k(b):
    (scale,) = struct.unpack_from("<f", b)
    return [times(scale, signed(b[4 + i])) for i in range(256)]


def iq4_nl(b):
    return [times(half(b, 0), UNEVEN[nibble(b, 2, i, 16)]) for i in range(32)]


def iq4_xs(b):
    high = b[2] | b[3] << 8
    out = []
    for i in range(256):
        k = i // 32
        scale = (b[4 + k // 2] >> k % 2 * 4 & 15 | (high >> 2 * k & 3) << 4) - 32
        out.append(times(times(half(b, 0), scale), UNEVEN[nibble(b, 8 + k * 16, i % 32, 16)]))
    return out


def tq1_0(b):
    out = []
    for start, count, digits in ((0, 32, 5), (32, 16, 5), (48, 4, 4)):
        for digit in range(digits):
            for i in range(count):
                rest = b[start + i] * 3**digit % 256
                out.append(times(rest * 3 // 256 - 1, half(b, 52)))
    return out


def tq2_0(b):
    return [times((b[i // 128 * 32 + i % 32] >> i % 128 // 32 * 2 & 3) - 1, half(b, 64)) for i in range(256)]


NUMBERS = {
    "Q4_0": q4_0,
    "Q4_1": q4_1,
    "Q5_0": q5_0,
    "Q5_1": q5_1,
    "Q8_0": q8_0,
    "Q8_1": q8_1,
    "Q2_K": q2_k,
    "Q3_K": q3_k,
    "Q4_K": q4_k,
    "Q5_K": q5_k,
    "Q6_K": q6_k,
    "Q8_K": q8_k,
    "IQ4_NL": iq4_nl,
    "IQ4_XS": iq4_xs,
    "TQ1_0": tq1_0,
    "TQ2_0": tq2_0,
    "MXFP4": mxfp4,
    "NVFP4": nvfp4,
    "Q1_0": q1_0,
}
# Where each type has its float16 numbers, which must not be NaN when random blocks are compared.
HALVES = {
    "Q4_0": (0,), "Q4_1": (0, 2), "Q5_0": (0,), "Q5_1": (0, 2), "Q8_0": (0,), "Q8_1": (0, 2), "Q2_K": (80, 82),
    "Q3_K": (108,), "Q4_K": (0, 2), "Q5_K": (0, 2), "Q6_K": (208,), "Q8_K": (), "IQ4_NL": (0,), "IQ4_XS": (0,),
    "TQ1_0": (52,), "TQ2_0": (64,), "MXFP4": (), "NVFP4": (), "Q1_0": (0,),
}


def dequantize(kind, data):
    """float32 bytes."""
    size = TYPES[kind][2]
    numbers = [n for at in range(0, len(data), size) for n in NUMBERS[kind](data[at : at + size])]
    return struct.pack(f"<{len(numbers)}f", *numbers)
