"""Instructions of single calls of the C ABI, counted by valgrind: the same on every run, whatever the clock does."""

import dataclasses
import re
import shutil
import struct
import subprocess

from runner.rows import Row
from sections import per_block
from wire import TAG_OF_TYPE, Descriptor, Handle

FLOAT32, INT8 = TAG_OF_TYPE["float32"], TAG_OF_TYPE["int8"]
CSR = 0x07


@dataclasses.dataclass
class Count:
    """Counts an action of the program codec.c on a descriptor."""

    name: str
    action: str
    descriptor: bytes
    target: int


def csr():
    """float32, 3 x 4 with 5 elements stored: values, column indices, row pointers."""
    table = b"".join(Handle(size).encoded() for size in (5 * 4, 5 * 8, 4 * 8))
    body = struct.pack("<QQQQQB", 3, 4, 0, 5, 0, 3) + table
    return b"HRRY" + struct.pack("<BBIIBBI", 1, 0, 20 + len(body), 0, FLOAT32, CSR, 2) + body


ROW_MAJOR = Descriptor(FLOAT32, (3, 4)).encoded()
# Blocks of 32 along axis 1 with float16 scales.
PER_BLOCK = Descriptor(
    INT8, (4, 64), buffers=(Handle(256), Handle(16)), quantization=per_block(axis=1, block=32, scale_type=0x01)
).encoded()
SHARDED = Descriptor(FLOAT32, (3, 4), parent_shape=(6, 4), shard_offset=(3, 0)).encoded()

COUNTS = [
    Count("decode+destroy/row_major", "decode", ROW_MAJOR, 600),
    Count("decode+destroy/per_block", "decode", PER_BLOCK, 950),
    Count("decode+destroy/csr", "decode", csr(), 900),
    Count("decode+destroy/sharded", "decode", SHARDED, 800),
    Count("encode/row_major", "encode", ROW_MAJOR, 400),
]

# What a program does before and after its calls is the same for both numbers of calls.
FEW, MANY = 1000, 3000


class CountFailed(Exception):
    """The program refused the descriptor, or valgrind printed no count."""


def measure(program, counts):
    """Yields a row for each of the counts."""
    valgrind = shutil.which("valgrind")
    for count in counts:
        row = Row(count.name, "instructions", None, count.target, {"unit": "instructions a call", "bytes": len(count.descriptor)})
        if valgrind is None:
            row.note = "needs Debian's valgrind (tools/setup installs it)"
        else:
            try:
                executed = [instructions(valgrind, program, count, calls) for calls in (FEW, MANY)]
                row.value = (executed[1] - executed[0]) / (MANY - FEW)
            except CountFailed as failure:
                row.note = str(failure)
        yield row


def instructions(valgrind, program, count, calls):
    """How many instructions the program executes in all."""
    return executed_by(valgrind, [program, count.action, count.descriptor.hex(), str(calls)])


def executed_by(valgrind, command):
    """How many instructions a command executes in all."""
    command = [valgrind, "--tool=callgrind", "--callgrind-out-file=/dev/null", *command]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        own = [line for line in ran.stderr.splitlines() if not line.startswith("==")]
        raise CountFailed(own[-1] if own else f"ended with {ran.returncode}")
    found = re.search(r"Collected : (\d+)", ran.stderr)
    if not found:
        raise CountFailed("valgrind printed no count")
    return int(found.group(1))
