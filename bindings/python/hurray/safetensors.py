"""The interface of the package safetensors over mapped files: `safe_open` with keys, get_tensor, get_slice, metadata; and
`load_file`, `load` and `save` of its module for NumPy (`save_file` is hurray.save_file)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Union

from ._constants import ElementType, FileFormat, Status
from .dtypes import type_name
from .errors import ClosedError, HurrayError
from .file import File
from .filewriter import FileWriter
from .tensor import Tensor

__all__ = ["SafeSlice", "load", "load_file", "safe_open", "save"]

_DTYPES = {
    ElementType.BOOL: "BOOL",
    ElementType.UINT8: "U8",
    ElementType.INT8: "I8",
    ElementType.UINT16: "U16",
    ElementType.INT16: "I16",
    ElementType.UINT32: "U32",
    ElementType.INT32: "I32",
    ElementType.UINT64: "U64",
    ElementType.INT64: "I64",
    ElementType.FLOAT16: "F16",
    ElementType.BFLOAT16: "BF16",
    ElementType.FLOAT32: "F32",
    ElementType.FLOAT64: "F64",
    ElementType.FLOAT8_E4M3: "F8_E4M3",
    ElementType.FLOAT8_E5M2: "F8_E5M2",
    ElementType.FLOAT8_E8M0: "F8_E8M0",
    ElementType.COMPLEX64: "C64",
}


def _to_numpy(tensor: Tensor) -> Any:
    return tensor.numpy(share=True)


def _to_torch(tensor: Tensor) -> Any:
    import torch  # type: ignore[import]

    if tensor.dtype is ElementType.BOOL:
        return torch.from_numpy(tensor.numpy())  # unpacked into a copy
    # The older capsule, which every version of PyTorch takes, cannot say that a mapped file is read-only.
    return torch.from_dlpack(tensor.__dlpack__(copy=True))


_TO = {"np": _to_numpy, "numpy": _to_numpy, "pt": _to_torch, "torch": _to_torch}


class SafeSlice:
    """A tensor of a file that is read where it is indexed."""

    def __init__(self, owner: safe_open, name: str) -> None:
        self._owner = owner
        self._name = name
        self._info = owner._opened.tensor_info(name)

    def get_shape(self) -> list[int]:
        """The sizes."""
        return list(self._info.shape)

    def get_dtype(self) -> str:
        """The type as safetensors names it, such as "F32"."""
        return _DTYPES.get(self._info.dtype, type_name(self._info.dtype).upper())  # type: ignore[call-overload, no-any-return]

    def __getitem__(self, key: Any) -> Any:
        return self._owner.get_tensor(self._name)[key]


class safe_open:
    """Opens a safetensors file by mapping it.

    `framework` is "np" (or "numpy"): get_tensor gives NumPy arrays, views of the mapping that stay valid after the
    file is closed; "pt" (or "torch"): PyTorch's tensors, which are copies, since PyTorch cannot say that memory is read-only; or
    "hurray": it gives hurray.Tensor, the caller's to close. Only device "cpu" exists. A context manager, as the original; the
    constructor opens at once, and `close` closes.
    """

    def __init__(self, filename: Union[str, "os.PathLike[str]"], framework: str = "np", device: str = "cpu") -> None:
        if framework not in ("np", "numpy", "pt", "torch", "hurray"):
            raise HurrayError(Status.UNSUPPORTED, f'framework: expected "np", "pt" or "hurray", got {framework!r}')
        if device != "cpu":
            raise HurrayError(Status.UNSUPPORTED, f'device: expected "cpu", got {device!r}')
        self._convert = _TO.get(framework)
        self._file: File | None = File.open(filename)

    @property
    def _opened(self) -> File:
        if self._file is None:
            raise ClosedError(Status.INVALID_HANDLE, "safe_open: is closed")
        return self._file

    def __enter__(self) -> safe_open:
        self._opened
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the file; what was read from it stays valid."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def keys(self) -> list[str]:
        """The names, sorted."""
        return sorted(self._opened.keys())

    def offset_keys(self) -> list[str]:
        """The names, in the order of their data in the file."""
        return [info.name for info in sorted(self._opened.infos(), key=lambda info: info.file_offset)]

    def metadata(self) -> dict[str, Any] | None:
        """The metadata; None when there is none."""
        return self._opened.metadata or None

    def get_tensor(self, name: str) -> Any:
        """A tensor by name. Raises NotFoundError, which is a KeyError."""
        tensor = self._opened[name]
        if self._convert is None:
            return tensor
        with tensor:
            return self._convert(tensor)

    def get_slice(self, name: str) -> SafeSlice:
        """A tensor by name, of which only what is indexed is read."""
        return SafeSlice(self, name)


def load_file(filename: Union[str, "os.PathLike[str]"]) -> dict[str, Any]:
    """All tensors of a safetensors file as NumPy arrays by name: views of the mapping, read-only."""
    with safe_open(filename) as file:
        return {name: file.get_tensor(name) for name in file.offset_keys()}


def load(data: bytes) -> dict[str, Any]:
    """All tensors of a safetensors file in memory as NumPy arrays by name: views of `data`, read-only."""
    with File.from_memory(data, format=FileFormat.SAFETENSORS) as file:
        found = {}
        for name in file:
            with file[name] as tensor:
                found[name] = tensor.numpy(share=True)
        return found


def save(tensors: Mapping[str, Any], metadata: Mapping[str, str] | None = None) -> bytes:
    """The bytes of a safetensors file of tensors, or NumPy arrays, by name."""
    parts: list[bytes] = []
    with FileWriter.to_file(parts.append) as writer:
        for key, value in (metadata or {}).items():
            writer.set_metadata(key, value)
        for name, value in tensors.items():
            with value.share() if isinstance(value, Tensor) else Tensor.from_numpy(value) as tensor:
                writer.add(name, tensor)
    return b"".join(parts)
