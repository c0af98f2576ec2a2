"""A model of one layer, written by hand in two formats, and what the layer gives: computed without the library."""

from __future__ import annotations

import json
import math
import random
import struct
from pathlib import Path

ROWS, COLUMNS = 5, 64
BLOCK = 32


def _float32(value: float) -> float:
    return struct.unpack("<f", struct.pack("<f", value))[0]


def _halves(value: float) -> bytes:
    return struct.pack("<e", value)


class Layer:
    """Weights and a bias, chosen so that float32 and Q8_0 both hold them exactly."""

    def __init__(self, name: str, seed: int = 7) -> None:
        chosen = random.Random(seed)
        self.name = name
        # Of each row and block: a scale that is a power of two, and whole numbers.
        self.scales = [[2.0 ** -chosen.randint(5, 8) for _ in range(COLUMNS // BLOCK)] for _ in range(ROWS)]
        self.codes = [[chosen.randint(-127, 127) for _ in range(COLUMNS)] for _ in range(ROWS)]
        self.weight = [[self.scales[r][c // BLOCK] * self.codes[r][c] for c in range(COLUMNS)] for r in range(ROWS)]
        self.bias = [_float32(chosen.uniform(-1, 1)) for _ in range(ROWS)]

    def result(self) -> list[float]:
        """silu(weight * x + bias) in float64, for the x that the sample uses."""
        x = [i % 7 / 4 - 0.75 for i in range(COLUMNS)]
        sums = [self.bias[r] + math.fsum(w * v for w, v in zip(self.weight[r], x)) for r in range(ROWS)]
        return [value / (1 + math.exp(-value)) for value in sums]

    def write_safetensors(self, path: Path) -> None:
        weight = struct.pack(f"<{ROWS * COLUMNS}f", *[value for row in self.weight for value in row])
        bias = struct.pack(f"<{ROWS}f", *self.bias)
        # The bias first, so that the weights start where they are not aligned to 64 bytes.
        header = json.dumps(
            {
                self.name + ".bias": {"dtype": "F32", "shape": [ROWS], "data_offsets": [0, len(bias)]},
                self.name + ".weight": {
                    "dtype": "F32",
                    "shape": [ROWS, COLUMNS],
                    "data_offsets": [len(bias), len(bias) + len(weight)],
                },
            },
            ensure_ascii=False,
        ).encode()
        path.write_bytes(struct.pack("<Q", len(header)) + header + bias + weight)

    def write_gguf(self, path: Path) -> None:
        """The weights as Q8_0 (type 8), the bias as F32 (type 0)."""

        def text(value: str) -> bytes:
            return struct.pack("<Q", len(value.encode())) + value.encode()

        weight = b"".join(
            _halves(self.scales[r][b]) + struct.pack(f"<{BLOCK}b", *self.codes[r][b * BLOCK : (b + 1) * BLOCK])
            for r in range(ROWS)
            for b in range(COLUMNS // BLOCK)
        )
        bias = struct.pack(f"<{ROWS}f", *self.bias)
        padded = weight + bytes(-len(weight) % 32)
        head = b"GGUF" + struct.pack("<IQQ", 3, 2, 1) + text("general.architecture") + struct.pack("<I", 8) + text("test")
        head += text(self.name + ".weight") + struct.pack("<IQQIQ", 2, COLUMNS, ROWS, 8, 0)
        head += text(self.name + ".bias") + struct.pack("<IQIQ", 1, ROWS, 0, len(padded))
        path.write_bytes(head + bytes(-len(head) % 32) + padded + bias)
