"""Hurray: tensors that travel between languages, files and processes without being copied.

The package is a thin layer over libhurray, which it loads when it is first needed (see `load`).
"""

from __future__ import annotations

import atexit
import os

from . import _native, errors
from ._constants import (
    C_ABI_VERSION,
    DIMENSION_DYNAMIC,
    MAX_RANK,
    MAX_TILE_LEVELS,
    AlignmentPolicy,
    BufferFlags,
    ChannelFlags,
    CombineOp,
    CompositionRule,
    Device,
    ElementType,
    FileAccess,
    FileFormat,
    HandleKind,
    InexactBlocks,
    KvRole,
    Layout,
    MemberRole,
    MemoryClass,
    MetadataType,
    Scheme,
    SectionFlags,
    StatisticsFlags,
    Status,
    StreamFlags,
    SyncMode,
    TableIndex,
    ValidationLevel,
    ViewFlags,
)
from ._loader import load
from ._version import __version__
from .buffer import Buffer, BufferList, ReleaseQueue, TensorContext
from .channel import Channel, ChannelInfo, ChannelListener, ChannelOptions
from .composite import Composite, CompositeBuilder
from .compute import Progress
from .descriptor import BufferHandle, Descriptor, DescriptorBuilder, peek_length
from .dlpack import from_dlpack
from .errors import (
    BusyError,
    ClosedError,
    HurrayError,
    LibraryLoadError,
    LibraryVersionError,
    NotFoundError,
    OutOfBoundsError,
)
from .file import File, TensorInfo
from .filewriter import FileWriter, save_file
from .handoff import Event, EventPayload, Producer, StreamPayload, TensorProducer, request
from .layouts import (
    BlockPaged,
    CompositeHead,
    Coo,
    Csc,
    Csf,
    Csr,
    Hilbert,
    Morton,
    PrivateLayout,
    Strided,
    Tile,
    Tiled,
)
from .metadata import MetadataEntry, MetadataValue
from .runtime import (
    LiveHandles,
    c_abi_supports,
    diagnostics,
    drain,
    format_name,
    live_handles,
    runtime_info,
    set_handle_checks,
    set_log_callback,
    status_name,
)
from . import safetensors
from .safetensors import SafeSlice, safe_open
from .sections import (
    ExtensionType,
    Mxfp,
    Nf4,
    PerBlockAffine,
    PerChannelAffine,
    PerTensorAffine,
    PrivateScheme,
    Shard,
    Statistics,
)
from .stream import Reader, Writer
from .tensor import Tensor, from_hurray

__all__ = [
    "C_ABI_VERSION",
    "DIMENSION_DYNAMIC",
    "MAX_RANK",
    "MAX_TILE_LEVELS",
    "AlignmentPolicy",
    "BlockPaged",
    "Buffer",
    "BufferFlags",
    "BufferHandle",
    "BufferList",
    "BusyError",
    "Channel",
    "ChannelFlags",
    "ChannelInfo",
    "ChannelListener",
    "ChannelOptions",
    "ClosedError",
    "CombineOp",
    "Composite",
    "CompositeBuilder",
    "CompositeHead",
    "CompositionRule",
    "Coo",
    "Csc",
    "Csf",
    "Csr",
    "Descriptor",
    "DescriptorBuilder",
    "Device",
    "ElementType",
    "Event",
    "EventPayload",
    "ExtensionType",
    "File",
    "FileAccess",
    "FileFormat",
    "FileWriter",
    "HandleKind",
    "Hilbert",
    "HurrayError",
    "InexactBlocks",
    "KvRole",
    "Layout",
    "LibraryLoadError",
    "LibraryVersionError",
    "LiveHandles",
    "MemberRole",
    "MemoryClass",
    "MetadataEntry",
    "MetadataType",
    "MetadataValue",
    "Morton",
    "Mxfp",
    "Nf4",
    "NotFoundError",
    "OutOfBoundsError",
    "PerBlockAffine",
    "PerChannelAffine",
    "PerTensorAffine",
    "PrivateLayout",
    "PrivateScheme",
    "Producer",
    "Progress",
    "Reader",
    "ReleaseQueue",
    "SafeSlice",
    "Scheme",
    "SectionFlags",
    "Shard",
    "Statistics",
    "StatisticsFlags",
    "Status",
    "StreamFlags",
    "StreamPayload",
    "Strided",
    "SyncMode",
    "TableIndex",
    "Tensor",
    "TensorContext",
    "TensorInfo",
    "TensorProducer",
    "Tile",
    "Tiled",
    "ValidationLevel",
    "ViewFlags",
    "Writer",
    "__version__",
    "c_abi_supports",
    "diagnostics",
    "drain",
    "format_name",
    "from_dlpack",
    "from_hurray",
    "live_handles",
    "load",
    "peek_length",
    "request",
    "runtime_info",
    "safe_open",
    "save_file",
    "set_handle_checks",
    "set_log_callback",
    "status_name",
]

_native.set_error_factory(errors.make_error)
_native.set_load_error_factory(errors.make_load_error)
_native.set_loader(load)
# After the end of Python a release is leaked, never run; and a child of fork releases nothing of its parent's.
atexit.register(_native.runtime_end)
os.register_at_fork(after_in_child=_native.runtime_forked)
