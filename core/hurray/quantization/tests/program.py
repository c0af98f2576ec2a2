"""Runs quantization_program: cases in, answers out."""

import os
import struct
import subprocess

import wire


class Answer:
    """What the program says of one case: an error, or bytes, or a tensor."""

    def __init__(self):
        self.code = 0
        self.offset = None
        self.message = ""
        self.data = b""
        self.descriptor = b""
        self.buffers = []


class Reader:
    def __init__(self, data):
        self.data = data
        self.at = 0

    def take(self, form):
        values = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return values[0]

    def bytes(self, count):
        self.at += count
        assert self.at <= len(self.data), "the answer ends early"
        return self.data[self.at - count : self.at]


def buffer_sizes(descriptor):
    """Sizes in the buffer table of an encoded descriptor of row-major, column-major, sparse or block-paged layout."""
    layout, rank = descriptor[15], struct.unpack_from("<I", descriptor, 16)[0]
    at = 20 + 8 * rank + 8
    at += {1: 0, 2: 0, 6: 16, 7: 16, 8: 16, 9: 16 + 4 * rank, 10: 32}[layout]
    count = descriptor[at]
    return [struct.unpack_from("<Q", descriptor, at + 1 + 16 * i)[0] for i in range(count)]


def run(cases):
    """cases: bytes, kind of answer ("tensor", "bytes", "nothing")."""
    program = os.environ["HURRAY_QUANTIZATION_PROGRAM"]
    done = subprocess.run([program], input=b"".join(case for case, _ in cases), capture_output=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"exit {done.returncode}: {done.stderr.decode()}")
    reader, answers = Reader(done.stdout), []
    for _, kind in cases:
        answer = Answer()
        answers.append(answer)
        if reader.take("B") != 0:
            answer.code, answer.offset = reader.take("i"), reader.take("Q")
            answer.message = reader.bytes(reader.take("H")).decode()
        elif kind == "bytes":
            answer.data = reader.bytes(reader.take("Q"))
        elif kind == "tensor":
            answer.descriptor = reader.bytes(reader.take("I"))
            answer.buffers = [reader.bytes(size) for size in buffer_sizes(answer.descriptor)]
    assert reader.at == len(reader.data), "the program says more than was asked"
    return answers


def dequantize(tensor, target, kernels=255):
    return b"D" + struct.pack("<BB", target, kernels) + tensor, "tensor" if kernels == 255 else "bytes"


def quantize(tensor, scheme, storage, scale_type=0, symmetric=0, axis=0, block=0):
    head = struct.pack("<BBBBII", scheme, wire.TAG_OF_TYPE.get(storage, storage), scale_type, symmetric, axis, block)
    return b"Q" + head + tensor, "tensor"


def check(tensor):
    return b"C" + tensor, "nothing"
