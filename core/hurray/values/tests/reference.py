"""What elements are worth, worked out from the formats' definitions with exact fractions; shares nothing with the library.

Numbers are found by looking for the nearest one, never by shifting and rounding bits as the library does.
"""

import bisect
import functools
import math
import struct
from dataclasses import dataclass
from fractions import Fraction

INFINITY = math.inf


@functools.cache
def power_of_two(exponent: int) -> Fraction:
    return Fraction(2) ** exponent


@dataclass(frozen=True)
class Format:
    """A floating-point format. `special`: "ieee", "nan" (all ones is NaN), "infinity" (all ones is infinity) or "none"."""

    name: str
    sign: int
    exponent: int
    mantissa: int
    bias: int
    special: str

    @property
    def bits(self) -> int:
        return self.sign + self.exponent + self.mantissa

    def value(self, pattern: int):
        """A Fraction, +-INFINITY, or "nan". Minus zero is Fraction(0), too: see is_negative."""
        mantissa = pattern % 2**self.mantissa
        field = pattern // 2**self.mantissa % 2**self.exponent
        sign = -1 if self.is_negative(pattern) else 1
        top = field == 2**self.exponent - 1
        if self.special == "ieee" and top:
            return sign * INFINITY if mantissa == 0 else "nan"
        if self.special == "nan" and top and mantissa == 2**self.mantissa - 1:
            return "nan"
        if self.special == "infinity" and top:
            return sign * INFINITY
        if field == 0:
            return sign * mantissa * power_of_two(1 - self.bias - self.mantissa)
        return sign * (2**self.mantissa + mantissa) * power_of_two(field - self.bias - self.mantissa)

    def is_negative(self, pattern: int) -> bool:
        return self.sign == 1 and pattern >= 2 ** (self.exponent + self.mantissa)

    def payload(self, pattern: int) -> int:
        return pattern % 2**self.mantissa

    @property
    def sign_bit(self) -> int:
        return 2 ** (self.exponent + self.mantissa) if self.sign else 0

    @property
    def infinity(self):
        """Its pattern; None where there is none."""
        if self.special in ("ieee", "infinity"):
            return (2**self.exponent - 1) * 2**self.mantissa
        return None

    @property
    def largest(self) -> int:
        """The pattern of the largest finite number."""
        below_sign = 2 ** (self.exponent + self.mantissa) - 1
        return {
            "none": below_sign,
            "nan": below_sign - 1,
            "infinity": below_sign - 1,
            "ieee": (2**self.exponent - 1) * 2**self.mantissa - 1,
        }[self.special]

    @functools.cache
    def beyond_largest(self) -> Fraction:
        """The number that would follow the largest if the format went on."""
        field, mantissa = divmod(self.largest + 1, 2**self.mantissa)
        return (2**self.mantissa + mantissa) * power_of_two(field - self.bias - self.mantissa)


FLOAT16 = Format("float16", 1, 5, 10, 15, "ieee")
BFLOAT16 = Format("bfloat16", 1, 8, 7, 127, "ieee")
FLOAT32 = Format("float32", 1, 8, 23, 127, "ieee")
FLOAT64 = Format("float64", 1, 11, 52, 1023, "ieee")
FLOAT128 = Format("float128", 1, 15, 112, 16383, "ieee")
E4M3 = Format("float8_e4m3", 1, 4, 3, 7, "nan")
E5M2 = Format("float8_e5m2", 1, 5, 2, 15, "ieee")
E2M1 = Format("float4_e2m1", 1, 2, 1, 1, "none")
E2M3 = Format("float6_e2m3", 1, 2, 3, 1, "none")
E3M2 = Format("float6_e3m2", 1, 3, 2, 3, "none")

TAGS = {
    FLOAT16: 0x01, BFLOAT16: 0x02, FLOAT32: 0x03, FLOAT64: 0x04, FLOAT128: 0x46,
    E4M3: 0x40, E5M2: 0x41, E2M1: 0x43, E2M3: 0x44, E3M2: 0x45,
}

# Tag: bits, signed.
INTEGERS = {
    0x10: (8, True), 0x11: (8, False), 0x12: (16, True), 0x13: (16, False), 0x14: (32, True), 0x15: (32, False),
    0x16: (64, True), 0x17: (64, False), 0x48: (4, True), 0x49: (4, False), 0x4A: (2, True), 0x4B: (2, False),
}


def integer_value(bits: int, signed: bool, pattern: int) -> int:
    return pattern - 2**bits if signed and pattern >= 2 ** (bits - 1) else pattern


class Nearest:
    """Finds the pattern of the nearest number of a format, the even pattern of two, among those that there are."""

    def __init__(self, target: Format):
        self.target = target
        self.end = target.beyond_largest()
        # Small formats: every number that is not negative, in order, and the one past the end.
        self.table = None
        if target.bits <= 16:
            self.table = [target.value(p) for p in range(target.largest + 1)] + [target.beyond_largest()]

    def quick(self, number: Fraction):
        """The answer of magnitude where C has it, too; None where it has not. Wide formats take long otherwise."""
        if self.target not in (FLOAT32, FLOAT64):
            return None
        try:
            double = float(number)
            if self.target is FLOAT64:
                return int.from_bytes(struct.pack("<d", double), "little")
            # One rounding only, if the first one changed nothing.
            return int.from_bytes(struct.pack("<f", double), "little") if Fraction(double) == number else None
        except OverflowError:
            return None

    def _below(self, number: Fraction) -> int:
        """The largest pattern whose number is not above `number`, which lies below the end."""
        if self.table is not None:
            return bisect.bisect_right(self.table, number) - 1
        # Patterns without sign are in the order of their numbers.
        low, high = 0, self.target.largest
        while low < high:
            middle = (low + high + 1) // 2
            if self.target.value(middle) <= number:
                low = middle
            else:
                high = middle - 1
        return low

    def magnitude(self, number: Fraction):
        """Pattern of a number >= 0; None when it is too large."""
        quick = self.quick(number)
        return quick if quick is not None else self.search(number)

    def search(self, number: Fraction):
        target = self.target
        if number >= self.end:
            return None
        below = self._below(number)
        value = target.value(below)
        above = target.beyond_largest() if below == target.largest else target.value(below + 1)
        to_below, to_above = number - value, above - number
        up = to_above < to_below or (to_above == to_below and below % 2 == 1)
        if not up:
            return below
        return None if below == target.largest else below + 1


# What the library may answer instead of a pattern.
REFUSED = "refused"


def convert(source: Format, pattern: int, nearest: Nearest, overflow: str = "to_infinity"):
    """The pattern in another format, or REFUSED. `overflow`: "to_infinity", "saturate" or "refuse"."""
    target = nearest.target
    value = source.value(pattern)
    negative = source.is_negative(pattern)
    sign = target.sign_bit if negative else 0
    if value == "nan":
        if target.special == "nan":
            return sign + 2 ** (target.exponent + target.mantissa) - 1
        if target.special != "ieee":
            return REFUSED
        payload = 0
        if source.special == "ieee":
            # The payload's most significant bits stay the most significant ones.
            payload = source.payload(pattern) * 2**target.mantissa // 2**source.mantissa
        return sign + target.infinity + (payload or 2 ** (target.mantissa - 1))
    return place(value, negative, nearest, overflow)


def place(value, negative: bool, nearest: Nearest, overflow: str):
    """As convert, of a Fraction or +-INFINITY; `negative` tells minus zero."""
    target = nearest.target
    sign = target.sign_bit if negative else 0
    infinite = value in (INFINITY, -INFINITY)
    magnitude = None if infinite else nearest.magnitude(abs(value))
    if target.sign == 0 and negative and magnitude != 0:
        return 0 if overflow == "saturate" else REFUSED
    if magnitude is not None:
        return sign + magnitude
    if overflow == "saturate":
        return sign + target.largest
    if overflow == "refuse":
        return sign + target.infinity if infinite and target.infinity is not None else REFUSED
    if target.infinity is not None:
        return sign + target.infinity
    if target.special == "nan":
        return sign + 2 ** (target.exponent + target.mantissa) - 1
    return sign + target.largest


def place_integer(value, bits: int, signed: bool, overflow: str):
    """Pattern of a Fraction, +-INFINITY or "nan" as an integer, rounded to nearest, ties to even."""
    if value == "nan":
        return REFUSED
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    if value not in (INFINITY, -INFINITY):
        whole = value.numerator // value.denominator
        rest = value - whole
        if rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2 == 1):
            whole += 1
        if low <= whole <= high:
            return whole % 2**bits
    if overflow != "saturate":
        return REFUSED
    return (low if value < 0 else high) % 2**bits


def place_exponent(value, overflow: str):
    """Pattern of float8_e8m0."""
    if value == "nan" or value <= 0:
        return REFUSED
    if value != INFINITY:
        # Half way between two powers of two, the even code.
        best = min(range(256), key=lambda code: (abs(power_of_two(code - 127) - value), code % 2))
    else:
        best = 255
    if 1 <= best <= 254:
        return best
    return REFUSED if overflow != "saturate" else (1 if best == 0 else 254)


# Elements that fill whole bytes whatever their width; longer runs are taken apart, as long numbers are slow.
RUN = 64


def pack(patterns, bits: int) -> bytes:
    """The first element in the least significant bits, whole groups as the format has them."""
    if len(patterns) > RUN:
        return b"".join(pack(patterns[i : i + RUN], bits) for i in range(0, len(patterns), RUN))
    number = 0
    for i, pattern in enumerate(patterns):
        number |= pattern << (i * bits)
    size = -(-len(patterns) // 4) * 3 if bits == 6 else -(-len(patterns) * bits // 8)
    return number.to_bytes(size, "little")


def unpack(data: bytes, bits: int, count: int):
    patterns = []
    for first in range(0, count, RUN):
        number = int.from_bytes(data[first * bits // 8 : (first + RUN) * bits // 8], "little")
        patterns += [(number >> (i * bits)) % 2**bits for i in range(min(RUN, count - first))]
    return patterns
