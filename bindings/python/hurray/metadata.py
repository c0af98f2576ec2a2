"""Metadata of model files: typed values under names. (format: file)"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Union

from ._constants import MetadataType, Status
from ._structs import FileMetadata
from .errors import HurrayError

__all__ = ["MetadataEntry", "MetadataValue"]

#: A value of a metadata entry: text, a number, a truth value, bytes, or a list of values of one of these types.
MetadataValue = Union[str, int, float, bool, bytes, list[Any]]

_INT64_LEAST, _INT64_MOST, _UINT64_MOST = -(1 << 63), (1 << 63) - 1, (1 << 64) - 1


class MetadataEntry(NamedTuple):
    """One metadata entry of a file, with the types that the file has, which Python's values do not tell."""

    key: str
    type: MetadataType
    #: Of an array: the type of its elements, else None.
    element_type: MetadataType | None
    value: MetadataValue


def value_of(entry: FileMetadata, element: Callable[[int], FileMetadata]) -> MetadataValue:
    """The value of an entry; `element(i)` gives those of an array."""
    match entry.type:
        case MetadataType.STRING:
            return entry.value.decode("utf-8")
        case MetadataType.INT64:
            return entry.int64_value
        case MetadataType.UINT64:
            return entry.uint64_value
        case MetadataType.FLOAT64:
            return entry.float64_value
        case MetadataType.BOOL:
            return bool(entry.boolean)
        case MetadataType.BYTES:
            return entry.value
        case MetadataType.ARRAY:
            return [value_of(element(i), element) for i in range(entry.count)]
    raise HurrayError(Status.UNSUPPORTED, f"metadata: type {entry.type} is none that this package knows")


def type_of(value: Any) -> MetadataType:
    """The type of a value that is written without one: INT64 where an integer fits, else UINT64."""
    if isinstance(value, bool):
        return MetadataType.BOOL
    if isinstance(value, str):
        return MetadataType.STRING
    if isinstance(value, int):
        return MetadataType.INT64 if _INT64_LEAST <= value <= _INT64_MOST else MetadataType.UINT64
    if isinstance(value, float):
        return MetadataType.FLOAT64
    if isinstance(value, (bytes, bytearray, memoryview)):
        return MetadataType.BYTES
    if isinstance(value, (list, tuple)):
        return MetadataType.ARRAY
    raise TypeError(f"value: expected str, int, float, bool, bytes or a list of one of them, got {type(value).__name__}")


def scalar(value: Any, kind: MetadataType) -> FileMetadata:
    """The struct of a value of any type but ARRAY."""
    match kind:
        case MetadataType.STRING if isinstance(value, str):
            return FileMetadata(kind, value=value.encode("utf-8"))
        case MetadataType.BYTES if isinstance(value, (bytes, bytearray, memoryview)):
            return FileMetadata(kind, value=bytes(value))
        case MetadataType.BOOL if isinstance(value, bool):
            return FileMetadata(kind, boolean=int(value))
        case MetadataType.INT64 if isinstance(value, int) and _INT64_LEAST <= value <= _INT64_MOST:
            return FileMetadata(kind, int64_value=value)
        case MetadataType.UINT64 if isinstance(value, int) and 0 <= value <= _UINT64_MOST:
            return FileMetadata(kind, uint64_value=value)
        case MetadataType.FLOAT64 if isinstance(value, (int, float)):
            return FileMetadata(kind, float64_value=float(value))
    raise HurrayError(Status.INVALID_ARGUMENT, f"value: {value!r} is no {kind.name}")


def array(values: Iterable[Any], kind: MetadataType | None) -> tuple[MetadataType, list[FileMetadata]]:
    """Type and structs of the elements of an array, which are all of one type."""
    items = list(values)
    if kind is None:
        if not items:
            raise HurrayError(Status.INVALID_ARGUMENT, "element_type: is needed for an array without elements")
        kinds = {type_of(item) for item in items}
        if kinds == {MetadataType.INT64, MetadataType.UINT64} and min(items) >= 0:
            kinds = {MetadataType.UINT64}
        if kinds == {MetadataType.INT64, MetadataType.FLOAT64}:
            kinds = {MetadataType.FLOAT64}
        if len(kinds) > 1:
            names = ", ".join(sorted(found.name for found in kinds))
            raise HurrayError(Status.INVALID_ARGUMENT, f"value: expected elements of one type, got {names}")
        (kind,) = kinds
    if kind == MetadataType.ARRAY:
        raise HurrayError(Status.INVALID_ARGUMENT, "value: an array has no arrays as elements")
    return kind, [scalar(item, kind) for item in items]
