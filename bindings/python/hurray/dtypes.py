"""Element types: by name, by NumPy type, and back."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Union

from ._constants import ElementType, Status
from .errors import HurrayError

if TYPE_CHECKING:
    import numpy as np

__all__ = ["DType", "bits_of", "element_type", "ml_dtype_name", "numpy_dtype", "type_name"]

#: What names an element type: an ElementType or its tag, its name ("float32"), or a NumPy type.
DType = Union[ElementType, int, str, Any]

# Types that NumPy itself has, and those that the package ml_dtypes adds to it.
_NUMPY = frozenset(
    "float16 float32 float64 int8 uint8 int16 uint16 int32 uint32 int64 uint64 complex64 complex128 bool".split())
_ML_DTYPES = {
    "bfloat16": "bfloat16",
    "float8_e4m3": "float8_e4m3fn",
    "float8_e5m2": "float8_e5m2",
    "float8_e8m0": "float8_e8m0fnu",
    "float4_e2m1": "float4_e2m1fn",
    "float6_e2m3": "float6_e2m3fn",
    "float6_e3m2": "float6_e3m2fn",
    "int4": "int4",
    "uint4": "uint4",
    "int2": "int2",
    "uint2": "uint2",
}
# Every name but bool carries its width.
_BITS = {member: int(re.sub(r"[^0-9]*([0-9]*).*", r"\1", member.name) or 1) for member in ElementType}
_FROM_ML_DTYPES = {theirs: ours for ours, theirs in _ML_DTYPES.items()}


def bits_of(dtype: ElementType) -> int:
    """Bits of one element."""
    return _BITS[dtype]


def type_name(tag: int) -> str:
    """Name of an element type in the format's terms, such as "bfloat16"; "private" for a private tag."""
    try:
        return ElementType(tag).name.lower()
    except ValueError:
        return "private" if 0xF0 <= tag <= 0xFE else f"unknown_{tag:02x}"


def known_type(tag: int) -> ElementType | int:
    """The enum member of a tag, or the tag itself when there is none."""
    try:
        return ElementType(tag)
    except ValueError:
        return tag


def element_type(dtype: DType) -> ElementType:
    """The element type that something names. Raises HurrayError (INVALID_TYPE) when it names none."""
    if isinstance(dtype, ElementType):
        return dtype
    try:
        if isinstance(dtype, int) and not isinstance(dtype, bool):
            return ElementType(dtype)
        name = dtype if isinstance(dtype, str) else _numpy_name(dtype)
        return ElementType[_FROM_ML_DTYPES.get(name, name).upper()]
    except (KeyError, ValueError):
        raise HurrayError(Status.INVALID_TYPE, f"dtype: {dtype!r} is no element type of the format") from None


def _numpy_name(dtype: Any) -> str:
    import numpy as np

    try:
        found = np.dtype(dtype)
    except TypeError:
        raise KeyError(dtype) from None
    if not found.isnative:
        raise KeyError(dtype)  # the format is little-endian
    return found.name


def ml_dtype_name(dtype: ElementType) -> str | None:
    """Name of the type in the package ml_dtypes, for types that NumPy lacks."""
    return _ML_DTYPES.get(dtype.name.lower())


def numpy_dtype(dtype: ElementType) -> np.dtype[Any] | None:
    """The NumPy type of an element type; None when neither NumPy nor an installed ml_dtypes has one."""
    import numpy as np

    name = dtype.name.lower()
    if name in _NUMPY:
        return np.dtype(name)
    if name not in _ML_DTYPES:
        return None
    try:
        import ml_dtypes  # type: ignore[import]
    except ImportError:
        return None
    found = getattr(ml_dtypes, _ML_DTYPES[name], None)
    return None if found is None else np.dtype(found)
