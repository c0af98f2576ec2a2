"""Checksum and sum of a tensor's elements, in the row-major order of their indices, read through NumPy's views."""

import zlib

import numpy as np

from hurray import ElementType

# Elements per step: few enough that the float64 copies stay in the cache.
STEP = 1 << 16


def checksum(tensor):
    """Number and CRC-32 of the element bytes; packed types packed."""
    if tensor.contiguous:
        data = tensor.raw_bytes()
    elif tensor.dtype is ElementType.BOOL:
        data = np.packbits(tensor.numpy().reshape(-1), bitorder="little")
    elif tensor.dtype < 0x40:
        data = np.ascontiguousarray(tensor.numpy(bits=True))
    else:
        with tensor.copy() as copy:
            data = bytes(copy.raw_bytes())
    data = memoryview(data)
    return data.nbytes, zlib.crc32(data)


def sequential_sum(tensor):
    """float64 sum, one element after the other from 0.0; None for types without a plain value."""
    if tensor.dtype >= 0x40:
        return None
    if tensor.dtype is ElementType.BFLOAT16:
        array = tensor.numpy(bits=True)
    else:
        array = tensor.numpy()
    flat = array.reshape(-1)  # a copy where the elements do not lie in this order
    total = 0.0
    with np.errstate(all="ignore"):
        for start in range(0, flat.size, STEP):
            part = flat[start : start + STEP]
            if tensor.dtype is ElementType.BFLOAT16:
                part = (part.astype(np.uint32) << 16).view(np.float32)
            steps = np.empty(part.size + 1, np.float64)
            steps[0] = total
            steps[1:] = part
            total = float(np.add.accumulate(steps)[-1])
    return total
