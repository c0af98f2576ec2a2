"""Tensors to and from NumPy arrays."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _native
from ._constants import AlignmentPolicy, ElementType, Status
from .dtypes import bits_of, element_type, ml_dtype_name, numpy_dtype, type_name
from .errors import HurrayError

if TYPE_CHECKING:
    from .tensor import Tensor

_MAX_RANK = 32 if int(np.__version__.split(".")[0]) < 2 else 64


def view_numpy(tensor: Tensor) -> np.ndarray[Any, Any] | None:
    """The short way, for types that NumPy and the buffer protocol both have; None for all that to_numpy must look at."""
    try:
        return _array(memoryview(tensor))  # type: ignore[arg-type]
    except (BufferError, RuntimeError, ValueError):
        return None


def to_numpy(tensor: Tensor, copy: bool | None, bits: bool, share: bool) -> np.ndarray[Any, Any]:
    """See Tensor.numpy."""
    tag = tensor.info.element_type
    try:
        dtype = ElementType(tag)
    except ValueError:
        raise HurrayError(Status.UNSUPPORTED, f"tensor: NumPy has no form of element type {type_name(tag)}") from None
    if tensor.ndim > _MAX_RANK:
        raise HurrayError(Status.UNSUPPORTED, f"tensor: rank {tensor.ndim}, but this NumPy takes at most {_MAX_RANK}")
    if bits_of(dtype) % 8:
        if copy is False:
            raise HurrayError(Status.UNSUPPORTED, f"tensor: {type_name(tag)} is packed; NumPy needs an unpacked copy")
        return _unpack(tensor, dtype, bits)
    owner = tensor
    if share:
        owner = tensor.share()
        owner._quiet = True  # ended by the array's end, not by a close
    array = _view(owner, dtype, bits)
    return array.copy() if copy else array


def _view(tensor: Tensor, dtype: ElementType, bits: bool) -> np.ndarray[Any, Any]:
    name = type_name(dtype)
    if bits:
        if bits_of(dtype) > 64:
            raise HurrayError(Status.UNSUPPORTED, f"tensor: no unsigned integer has the bits of {name}; see raw_bytes()")
        return _array(tensor.raw())
    found = numpy_dtype(dtype)
    if found is None:
        hint = "install ml_dtypes, or ask for bits=True" if ml_dtype_name(dtype) else "see raw_bytes()"
        raise HurrayError(Status.UNSUPPORTED, f"tensor: NumPy has no type {name}; {hint}")
    if ml_dtype_name(dtype) is None:
        return _array(tensor.memoryview())
    return _array(tensor.raw()).view(found)


def _array(view: Any) -> np.ndarray[Any, Any]:
    # Any: NumPy's hints do not know that it takes a memoryview.
    return np.asarray(view)


# --- Packed types -----------------------------------------------------------------------------------------------


def _unpack(tensor: Tensor, dtype: ElementType, bits: bool) -> np.ndarray[Any, Any]:
    """A copy with a byte for each element."""
    name = type_name(dtype)
    found = np.dtype(np.uint8) if bits else numpy_dtype(dtype)
    if found is None:
        raise HurrayError(Status.UNSUPPORTED, f"tensor: NumPy has no type {name}; install ml_dtypes, or ask for bits=True")
    values = _unpacked_bits(tensor, bits_of(dtype))
    if found == np.uint8:
        return values
    if dtype is ElementType.BOOL:
        return values.view(np.bool_)
    if dtype in (ElementType.INT4, ElementType.INT2):
        sign = 1 << (bits_of(dtype) - 1)
        return ((values.astype(np.int8) ^ sign) - sign).astype(found)
    if dtype in (ElementType.UINT4, ElementType.UINT2):
        return values.astype(found)
    return values.view(found)


def _unpacked_bits(tensor: Tensor, width: int) -> np.ndarray[Any, Any]:
    info = _native.view_info(tensor)
    shape, strides, below, count = info[7], info[8], info[9], info[10]
    if count == 0:
        return np.zeros(shape, np.uint8)
    with tensor.raw_bytes() as raw:
        span = np.frombuffer(raw, np.uint8)
        try:
            if strides is None and width == 1:
                return np.unpackbits(span, count=count, bitorder="little").reshape(shape)
            return _gather_bits(span, shape, strides, below, width)
        finally:
            del span  # the view is released before the memoryview is


def _gather_bits(span: np.ndarray[Any, Any], shape: tuple[int, ...], strides: tuple[int, ...] | None, below: int,
                 width: int) -> np.ndarray[Any, Any]:
    """Elements of any width below 8 and any strides, out of the LSB-first stream of bits."""
    if strides is None:
        at = np.arange(math.prod(shape), dtype=np.int64).reshape(shape)
    else:
        at = np.zeros(shape, np.int64)
        for axis, (size, stride) in enumerate(zip(shape, strides, strict=True)):
            steps = np.arange(size, dtype=np.int64) * stride
            at += steps.reshape([-1 if k == axis else 1 for k in range(len(shape))])
    position = at * width + below * 8
    index, shift = position >> 3, position & 7
    pair = span[index].astype(np.uint16)
    # An element of 6 bits may lie in two bytes; the last byte has no next one, and needs none.
    following = np.minimum(index + 1, span.size - 1)
    pair |= span[following].astype(np.uint16) << 8
    unpacked: np.ndarray[Any, Any] = ((pair >> shift.astype(np.uint16)) & ((1 << width) - 1)).astype(np.uint8)
    return unpacked


def pack_bits(values: np.ndarray[Any, Any], width: int) -> np.ndarray[Any, Any]:
    """Bytes with the low `width` bits of each value, in row-major order, least significant bit first; the format's
    length: 6-bit elements come in groups of four."""
    flat = np.ascontiguousarray(values, np.uint8).reshape(-1)
    if width == 1:
        return np.packbits(flat, bitorder="little")
    if width == 6 and flat.size % 4:
        flat = np.concatenate([flat, np.zeros(4 - flat.size % 4, np.uint8)])
    stream = np.unpackbits(flat[:, None], axis=1, count=width, bitorder="little")
    return np.packbits(stream.reshape(-1), bitorder="little")


# --- From NumPy -------------------------------------------------------------------------------------------------


def from_numpy(array: Any, copy: bool | None, readonly: bool, alignment: AlignmentPolicy) -> Tensor:
    """See Tensor.from_numpy."""
    from .tensor import Tensor

    source = np.asarray(array)
    dtype = element_type(source.dtype)
    width = bits_of(dtype)
    if width % 8:
        if copy is False:
            raise HurrayError(Status.UNSUPPORTED, f"array: {type_name(dtype)} takes a byte each; the format needs a packed copy")
        values = source if dtype is ElementType.BOOL else source.astype(np.int8).view(np.uint8) if "INT" in dtype.name \
            else source.view(np.uint8)
        packed = pack_bits(values, width)
        tensor = Tensor.wrap(packed, dtype, source.shape, readonly=readonly, alignment=alignment)
        tensor._copied = tensor.copied_bytes + packed.nbytes
        return tensor
    if copy:
        source = source.copy()
    if ml_dtype_name(dtype) is not None:
        # NumPy lends no buffer of types that are not its own, but does of their bits.
        plain = source.view(np.dtype(f"u{source.dtype.itemsize}"))
        tensor = Tensor.wrap(plain, dtype, readonly=readonly, alignment=alignment)
    else:
        tensor = Tensor.wrap(source, readonly=readonly, alignment=alignment)
    if copy:
        tensor._copied = tensor.copied_bytes + source.nbytes
    return tensor
