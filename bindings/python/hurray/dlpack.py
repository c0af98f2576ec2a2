"""DLPack: tensors to and from NumPy, PyTorch, JAX, CuPy and whatever else has `__dlpack__`, without copying."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _native
from ._constants import AlignmentPolicy, Device, Status
from .errors import HurrayError

if TYPE_CHECKING:
    from .tensor import Tensor

__all__ = ["DlpackExporter", "from_dlpack"]

_CPU = (1, 0)
_OFFSET = AlignmentPolicy.OFFSET


class DlpackExporter(_native.TensorHandle):
    """The part of hurray.Tensor that is DLPack's protocol."""

    __slots__ = ()

    if TYPE_CHECKING:  # of hurray.Tensor

        @property
        def device(self) -> int: ...
        def copy(self) -> Tensor: ...

    def __dlpack__(self, *, stream: Any = None, max_version: tuple[int, int] | None = None,
                   dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> Any:
        """A capsule of DLPack: of version 1 where `max_version` says that the consumer knows it, else the older one. While a
        consumer has it, it counts as a view: close() raises BufferError.

        Raises BufferError for what DLPack cannot say: packed types (bool, 4-bit, ...), float128, 8-bit floats before version
        1.1, quantized elements, layouts without strides, read-only memory before version 1, memory of devices. `copy=True`
        exports a row-major copy.
        """
        if stream is not None:
            raise BufferError("host memory is ordered on no stream: stream must be None")
        if dl_device is not None and tuple(dl_device) != _CPU:
            raise BufferError(f"dl_device: the memory is the host's, {_CPU}, and is not moved to {tuple(dl_device)}")
        minor = -1
        if max_version is not None and max_version[0] >= 1:
            minor = max_version[1] if max_version[0] == 1 else (1 << 31) - 1
        if not copy:
            return _native.dlpack_export(self, minor, False)
        try:
            copied = self.copy()
        except HurrayError as error:
            raise BufferError(f"DLPack cannot say this: {error}") from error
        copied._quiet = True  # ended by the consumer
        return _native.dlpack_export(copied, minor, True)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Device type and number, as DLPack counts them: (1, 0), the host. Raises BufferError for memory of devices."""
        if self.device != Device.CPU:
            raise BufferError("DLPack needs the number of the device, which a Hurray tensor does not have")
        return _CPU


def from_dlpack(source: Any, *, device: Any = None, copy: bool | None = None,
                alignment: AlignmentPolicy = _OFFSET) -> Tensor:
    """Takes a tensor from an object with `__dlpack__`, or from a capsule of DLPack that nobody has taken.

    Nothing is copied; read-only memory stays so (the older capsule cannot say it: what comes in one counts as writable). The
    memory is given back to its owner exactly once, when its last user here ends. `device` is None, "cpu" or (1, 0). `copy=True`
    asks for a copy. `alignment` is that of Tensor.wrap.

    Raises HurrayError: UNSUPPORTED (memory of devices, booleans, vector types), INVALID_TYPE, INVALID_LAYOUT, VERSION_MISMATCH,
    INVALID_ARGUMENT (the capsule was taken, or is another); the capsule then keeps what it has. What the exporter raises goes
    on as it is.
    """
    if device is not None and device != "cpu" and device != _CPU:
        raise HurrayError(Status.UNSUPPORTED, f'device: expected "cpu" or {_CPU}, got {device!r}')
    tensor = _native.dlpack_import(source, None) if copy is None else _import_copied(source, copy)
    if alignment is _OFFSET:
        return tensor
    from .tensor import apply_alignment

    return apply_alignment(tensor, alignment)


def _import_copied(source: Any, copy: bool) -> Tensor:
    if hasattr(source, "__dlpack__"):
        try:
            return _native.dlpack_import(source, {"copy": copy})
        except TypeError:
            pass  # an exporter that knows no `copy`: it never copies
    tensor = _native.dlpack_import(source, None)
    if not copy:
        return tensor
    with tensor:
        return tensor.copy()
