"""Tensors: a descriptor and its buffers, as views of the same memory from Python and from every other runtime."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from . import _native
from ._constants import (
    C_ABI_VERSION,
    AlignmentPolicy,
    DecodeFlags,
    ElementType,
    HandleKind,
    Layout,
    SectionFlags,
    Status,
    ViewFlags,
)
from ._structs import DecodeOptions, DescriptorInfo
from .buffer import Buffer, BufferList, TensorContext
from .compute import TensorWork
from .descriptor import Descriptor, Shard, known_layout, layout_name
from .dlpack import DlpackExporter
from .dtypes import DType, element_type, known_type, type_name
from .errors import HurrayError

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Tensor", "from_hurray"]

_View = memoryview  # the methods of that name hide it from annotations
_numpy: Any = None  # the module, once somebody asked for an array: without NumPy all else works


def _import_numpy() -> Any:
    global _numpy
    from . import _numpy as module

    _numpy = module
    return module


class Tensor(TensorWork, DlpackExporter):
    """A tensor over memory that it owns a share of.

    `with tensor:` or `close()` ends it: memory that nothing else shares is given back at once, on the closing thread.
    While a memoryview or NumPy array of it is alive, close() raises BufferError: no view outlives its memory. A tensor
    that is forgotten is closed by the garbage collector with a ResourceWarning. Thread rule: one thread at a time, any
    thread; `share` makes an independent tensor for another thread. Views may be read by any thread.
    """

    __slots__ = ("__weakref__", "_cached", "_copied")
    _cached: DescriptorInfo
    _copied: int

    # --- Making tensors ----------------------------------------------------------------------------------------

    @classmethod
    def wrap(
        cls,
        data: Any,
        dtype: DType | None = None,
        shape: Iterable[int] | None = None,
        *,
        strides: Iterable[int] | None = None,
        byte_offset: int = 0,
        layout: int | None = None,
        readonly: bool = False,
        alignment: AlignmentPolicy = AlignmentPolicy.OFFSET,
    ) -> Tensor:
        """A tensor over the memory of any object with the buffer protocol, without copying.

        Without `shape` the object's own type, shape and strides count (bytes count as uint8; `dtype` may name another
        type of the same width, such as bfloat16 over uint16). With `shape` the object is contiguous bytes, and
        `dtype`, `layout` (row-major, or strided when `strides` are given), `strides` in elements and `byte_offset`,
        where element (0, ..., 0) lies in bytes, say what they are.

        The object is kept, and its buffer given back exactly once, when the last share of the memory is closed. It is
        read-only when the object is, or when `readonly` says so. Memory is aligned to 64 bytes, or a prefix is named
        (AlignmentPolicy.OFFSET), or it is copied (COPY, counted in `copied_bytes`), or refused (REQUIRE: MISALIGNED).

        Raises HurrayError (INVALID_TYPE, INVALID_LAYOUT, ...); the object then is as it was.
        """
        if shape is None:
            if strides is not None or layout is not None or byte_offset != 0:
                raise HurrayError(Status.INVALID_ARGUMENT, "shape: is needed with strides, layout or byte_offset")
            tag = 0 if dtype is None else element_type(dtype)
            return apply_alignment(_native.tensor_from_array(data, tag, readonly), alignment)
        if dtype is None:
            raise HurrayError(Status.INVALID_ARGUMENT, "dtype: is needed with shape")
        if layout is None:
            layout = Layout.ROW_MAJOR if strides is None else Layout.STRIDED
        tensor = _native.tensor_from_memory(data, element_type(dtype), layout, shape, strides, byte_offset, readonly)
        return apply_alignment(tensor, alignment)

    @classmethod
    def from_numpy(
        cls,
        array: Any,
        *,
        copy: bool | None = None,
        readonly: bool = False,
        alignment: AlignmentPolicy = AlignmentPolicy.OFFSET,
    ) -> Tensor:
        """A tensor over a NumPy array, types of ml_dtypes included.

        Nothing is copied, except booleans and types below a byte: NumPy has a byte each where the format packs, so
        they are packed into a copy (counted in `copied_bytes`), or refused with copy=False. copy=True always copies.
        """
        return (_numpy or _import_numpy()).from_numpy(array, copy, readonly, alignment)  # type: ignore[no-any-return]

    @classmethod
    def zeros(cls, dtype: DType, shape: Iterable[int], *, alignment: int = 64) -> Tensor:
        """A row-major tensor over new zeroed memory of the library, aligned as asked (at least to 64 bytes)."""
        from .dtypes import bits_of

        kind, sizes = element_type(dtype), tuple(shape)
        bits, count = bits_of(kind), 1
        for size in sizes:
            count *= size
        size = -(-count // 4) * 3 if bits == 6 else -(-count * bits // 8)
        if not 0 <= size < 1 << 63:
            raise HurrayError(Status.INVALID_ARGUMENT, f"shape: {list(sizes)} is no shape of memory")
        with Buffer.allocate(size, alignment=alignment) as buffer:
            descriptor = Descriptor.build(kind, sizes, buffers=[buffer.handle])
            return cls.from_buffers(descriptor, [buffer])

    @classmethod
    def from_buffers(cls, descriptor: Descriptor, buffers: Iterable[Buffer]) -> Tensor:
        """A tensor of a descriptor and shares of its buffers, in the order of its table. The buffers stay the caller's
        to close."""
        with BufferList() as parts:
            for buffer in buffers:
                share = buffer.share()
                try:
                    parts.append(share)
                except BaseException:
                    share.close()
                    raise
            return cls.from_list(descriptor, parts)

    @classmethod
    def from_list(cls, descriptor: Descriptor, buffers: BufferList) -> Tensor:
        """A tensor of a descriptor and a list, which moves into the tensor; on failure it stays the caller's."""
        return _native.tensor_new(descriptor, buffers)

    @classmethod
    def from_bytes_of(cls, buffer: Buffer) -> Tensor:
        """The bytes of a buffer, without its prefix, as a tensor of uint8 that shares them."""
        prefix = buffer.prefix
        shape = [buffer.nbytes - prefix]
        descriptor = Descriptor.build(ElementType.UINT8, shape, byte_offset=prefix, buffers=[buffer.handle])
        return cls.from_buffers(descriptor, [buffer])

    # --- Exchange with other runtimes --------------------------------------------------------------------------

    @classmethod
    def from_pair(cls, buffers: BufferList | int, context: TensorContext | int, *, private_tags: bool = False,
                  permissive: bool = False) -> Tensor:
        """Takes over a tensor that another runtime exported: both objects, or both addresses of C handles.

        Both move into the tensor; on failure both stay the caller's. A context of another version of the C ABI is
        refused (VERSION_MISMATCH) before anything else of it is read, unless it is a later one and the copy of the library
        that made it vouches for this package's version. `private_tags` and `permissive`, of objects only, are those of
        Descriptor.decode. An address that is no handle is undefined.
        """
        if isinstance(buffers, BufferList) and isinstance(context, TensorContext):
            version = context.abi_version
            if version != C_ABI_VERSION and not (version > C_ABI_VERSION and context.supports()):
                raise HurrayError(Status.VERSION_MISMATCH,
                                  f"context: made by C ABI version {version}, expected version {C_ABI_VERSION}")
            if private_tags or permissive:
                flags = (DecodeFlags.PRIVATE_TAGS if private_tags else 0) | (DecodeFlags.PERMISSIVE if permissive else 0)
                return _native.tensor_import_options(buffers, context, DecodeOptions(flags))
            return _native.tensor_import(buffers, context)
        if isinstance(buffers, _native.Handle) or isinstance(context, _native.Handle):
            raise TypeError("expected a BufferList and a TensorContext, or two addresses")
        if private_tags or permissive:
            raise TypeError("private_tags, permissive: only of a BufferList and a TensorContext")
        return _native.import_pair(buffers, context)

    def export(self) -> tuple[BufferList, TensorContext]:
        """Exports the tensor as the pair that travels between runtimes, sharing its memory. Both are the caller's.

        Only of buffers that are PRODUCER_SYNCED (else SYNC_MODE_MISMATCH): shares carry neither event nor stream. Others
        are handed off in a list of their own: see Buffer.handoff."""
        return _native.tensor_export(self)

    def export_pair(self) -> tuple[int, int]:
        """As `export`, as addresses of C handles: (list, context). Whoever takes them over ends them; nobody else
        does."""
        return _native.export_pair(self)

    def __hurray__(self) -> Any:
        """A capsule named "hurray_tensor" for another package of this process: its pointer is the list, its context
        the context. Who takes both renames it to "used_hurray_tensor"; otherwise the capsule ends them."""
        return _native.capsule_new(self)

    def share(self) -> Tensor:
        """An independent tensor over the same memory: for another thread, or another owner."""
        return _native.tensor_share(self)

    def copy(self, *, alignment: int = 0) -> Tensor:
        """A row-major copy in new memory of the library, aligned to 64 bytes or as asked; counted in `copied_bytes`."""
        tensor, copied = _native.tensor_copy(self, alignment)
        tensor._copied = copied
        return tensor

    # --- What it is --------------------------------------------------------------------------------------------

    @property
    def info(self) -> DescriptorInfo:
        """All fields of the descriptor but the buffer table, as the C ABI has them."""
        self._require_open()
        try:
            cached = self._cached
        except AttributeError:
            cached = self._cached = DescriptorInfo._make(_native.descriptor_info(_native.tensor_descriptor(self)))
        return cached

    @property
    def descriptor(self) -> Descriptor:
        """The descriptor, as an object of its own."""
        return Descriptor.decode(_native.descriptor_encode(_native.tensor_descriptor(self)))

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        """The buffers, borrowed: they end with the tensor."""
        return tuple(_native.tensor_buffer(self, i) for i in range(self.info.buffer_count))

    @property
    def dtype(self) -> ElementType | int:
        """The element type; a plain tag where the format has no name for it."""
        return known_type(self.info.element_type)

    @property
    def layout(self) -> Layout | int:
        """The layout; a plain tag where the format has no name for it."""
        return known_layout(self.info.layout)

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes."""
        return self.info.shape or ()

    @property
    def ndim(self) -> int:
        """The rank."""
        return self.info.rank

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.info.element_count

    @property
    def nbytes(self) -> int:
        """Bytes from the lowest to the highest element: those of the elements, when it is contiguous."""
        return _native.view_info(self)[2]

    @property
    def strides(self) -> tuple[int, ...] | None:
        """Strides in elements; None when it is contiguous in row-major order."""
        return _native.view_info(self)[8]

    @property
    def byte_offset(self) -> int:
        """Offset of the first element in buffer 0, in bytes."""
        return self.info.byte_offset

    @property
    def shard(self) -> Shard | None:
        """Where it lies in a larger tensor, if it is a part of one."""
        return self.descriptor.shard

    @property
    def device(self) -> int:
        """HURRAY_DEVICE_ tag of its memory."""
        return _native.view_info(self)[5]

    @property
    def readonly(self) -> bool:
        """Whether its memory must not be written."""
        return bool(_native.view_info(self)[0] & ViewFlags.READ_ONLY)

    @property
    def quantized(self) -> bool:
        """Whether the elements are stored values to which `descriptor.quantization` is still to be applied."""
        return bool(self.info.flags & SectionFlags.QUANTIZATION)

    @property
    def contiguous(self) -> bool:
        """Whether elements follow one another in row-major order without gaps."""
        return bool(_native.view_info(self)[0] & ViewFlags.CONTIGUOUS)

    @property
    def copied_bytes(self) -> int:
        """Bytes that were copied to make it; 0 for all that wraps, imports or shares."""
        return getattr(self, "_copied", 0)

    # --- Its elements ------------------------------------------------------------------------------------------

    def memoryview(self) -> _View:
        """A view of the elements, without copying; the tensor cannot be closed while it lives.

        Raises BufferError for types that Python has no format letter for (bfloat16, 8-bit floats: see `raw`) and for
        packed types (bool, 4-bit, ...: see `raw_bytes`).
        """
        return _view(self)

    def raw(self) -> _View:
        """A view of the same shape in which each element is an unsigned integer with its bits; not for packed types."""
        return _view(_native.raw_view(self, "bits"))

    def raw_bytes(self) -> _View:
        """The bytes from the lowest to the highest element, flat: the elements in order, when it is contiguous. Packed
        types are packed in it as in the format."""
        return _view(_native.raw_view(self, "span"))

    def numpy(self, *, copy: bool | None = None, bits: bool = False, share: bool = False) -> np.ndarray[Any, Any]:
        """The elements as a NumPy array.

        Where the types match it is a view, read-only when the tensor is, and the tensor cannot be closed while it
        lives. bfloat16 and 8-bit floats need the package ml_dtypes (else HurrayError, UNSUPPORTED); `bits=True` gives
        their bits as unsigned integers instead. Packed types (bool, 4-bit, ...) are unpacked into a *copy*, which
        copy=False refuses; their packed bytes are `raw_bytes()`. copy=True always copies. `share=True` lets the array
        own a share of the memory: the tensor may be closed before it.
        """
        module = _numpy or _import_numpy()
        if copy is None and not bits and not share:
            array = module.view_numpy(self)
            if array is not None:
                return array  # type: ignore[no-any-return]
        return module.to_numpy(self, copy, bits, share)  # type: ignore[no-any-return]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        """NumPy's protocol: see `numpy`."""
        array = self.numpy(copy=copy)
        return array if dtype is None else array.astype(dtype, copy=False)

    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers."""
        return self.numpy().tolist()

    def __repr__(self) -> str:
        if self.closed:
            return "<hurray.Tensor closed>"
        info = self.info
        return f"<hurray.Tensor {type_name(info.element_type)} {list(info.shape or ())} {layout_name(info.layout)}>"

    def __reduce__(self) -> Any:
        raise TypeError("a hurray.Tensor is not pickled: write it to a stream or file, or send its NumPy array")


def from_hurray(source: Any) -> Tensor:
    """Takes a tensor from an object with a `__hurray__` method, or from a capsule that such a method returned.

    A capsule of another name, one that was taken already, a handle that no copy of this library made, and a context of
    another version of the C ABI (but see Tensor.from_pair) are refused with HurrayError; the capsule then keeps what it has.
    """
    method = getattr(source, "__hurray__", None)
    return _native.capsule_import(source if method is None else method())


def _view(source: Any) -> _View:
    # Any: the buffer protocol of classes has hints from Python 3.12 on.
    return memoryview(source)


def apply_alignment(tensor: Tensor, alignment: AlignmentPolicy) -> Tensor:
    """Holds a new tensor against the caller's alignment policy."""
    if alignment == AlignmentPolicy.OFFSET:
        return tensor
    try:
        prefix = tensor.buffers[0].prefix
        if prefix == 0:
            return tensor
        if alignment == AlignmentPolicy.COPY:
            copied = tensor.copy()
            tensor.close()
            return copied
        if alignment == AlignmentPolicy.REQUIRE:
            raise HurrayError(Status.MISALIGNED, f"data: expected alignment to 64 bytes, it starts {prefix} bytes behind one")
        raise HurrayError(Status.INVALID_ARGUMENT, f"alignment: expected an AlignmentPolicy, got {alignment!r}")
    except BaseException:
        tensor.close()
        raise


_native.set_class(HandleKind.TENSOR, Tensor)
