"""Buffers, lists of buffers and tensor contexts: what tensors are made of and exchanged as."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from . import _native
from ._constants import C_ABI_VERSION, BufferFlags, Device, HandleKind
from ._structs import BufferInfo
from .descriptor import BufferHandle
from .handoff import Event, EventPayload, StreamPayload

__all__ = ["Buffer", "BufferList", "ReleaseQueue", "TensorContext"]


class Buffer(_native.Handle):
    """Memory with shared ownership, and the 16-byte handle that describes it.

    Ownership: a buffer that was pushed into a list belongs to the list, and this object is closed. One that was read
    from a list or tensor is borrowed: it ends with it. Thread rule: one thread at a time; shares are independent.
    """

    __slots__ = ()

    @classmethod
    def wrap(cls, data: Any, *, readonly: bool = False) -> tuple[Buffer, int]:
        """A buffer over contiguous memory of any alignment, and the byte_offset at which the memory starts in it.

        `data` is any object with the buffer protocol; it is not copied, and given back when the last share is closed.
        """
        return _native.buffer_from_memory(data, readonly)

    @classmethod
    def wrap_aligned(cls, data: Any, *, alignment: int = 64, device: int = Device.CPU) -> Buffer:
        """A buffer over contiguous memory that has the alignment. Raises HurrayError (MISALIGNED) when it has not."""
        return _native.buffer_from_ptr(data, alignment, device)

    @classmethod
    def allocate(cls, byte_size: int, *, alignment: int = 64) -> Buffer:
        """New zeroed memory of the library."""
        return _native.buffer_allocate(byte_size, alignment)

    @classmethod
    def allocate_shared(cls, byte_size: int, *, alignment: int = 64) -> Buffer:
        """New zeroed memory that goes through a channel without a copy: Channel.send makes it read-only where nobody else has it,
        or where it was marked with set_readonly. See docs/channel.md."""
        return _native.buffer_allocate_shared(byte_size, alignment)

    @classmethod
    def handoff(
        cls,
        handle: BufferHandle,
        data: Any,
        *,
        release: Callable[[int], object] | None = None,
        event: EventPayload | None = None,
        stream: StreamPayload | None = None,
    ) -> Buffer:
        """Hands memory off with what the sync mode of its handle demands: neither payload for PRODUCER_SYNCED, `event` for
        EVENT, `stream` for CONSUMER_STREAM, each of the buffer's own device. (ABI: Buffer Handoff Synchronisation; since
        C ABI 2)

        `data` is the address of memory of at least `handle.byte_size` bytes, aligned as the handle says (None: there is none,
        and byte_size is 0), or an object with the buffer protocol, which is kept. `release(address)` runs exactly once, when
        the last handle that shares the memory goes: on the thread that ends it, or, after a garbage collector, where the
        package's queue is drained; without it, memory at an address lives for ever. What it raises goes to
        sys.unraisablehook.

        Before the call the producer has waited for its writes (PRODUCER_SYNCED), recorded the event (EVENT), or ordered its
        writes before later work on the consumer's stream (CONSUMER_STREAM).

        Raises HurrayError: SYNC_MODE_MISMATCH for another payload than the mode demands, INVALID_SYNC_MODE for a mode that
        does not exist, MISALIGNED, INVALID_TYPE, NULL_POINTER, BUFFER_TOO_SMALL. On failure nothing has moved, and neither
        callback runs. Thread rule: any thread.
        """
        return _native.buffer_handoff(handle.encode(), data, release, event, stream)

    @property
    def event(self) -> Event:
        """The event to wait for, before the memory is touched: on every stream that will do so.

        Raises HurrayError: SYNC_MODE_MISMATCH when the buffer is not of sync mode EVENT, or a share or slice, which carry
        no event; INVALID_HANDLE when the event was released.
        """
        return Event._make(_native.buffer_event(self))

    def release_event(self) -> None:
        """Releases the event, once all waits are issued: its maker's callback runs on this thread, exactly once.

        Works on a borrowed buffer of a list or tensor, too. An event that nobody released is released when its buffer ends.
        Raises as `event` does; the second time is INVALID_HANDLE.
        """
        _native.buffer_event_release(self)

    @contextmanager
    def waiting(self) -> Iterator[Event]:
        """`with buffer.waiting() as event:` gives the event to issue waits for, and releases it at the end of the block."""
        event = self.event
        try:
            yield event
        finally:
            self.release_event()

    @property
    def consumer_stream(self) -> StreamPayload:
        """The consumer's stream that the memory is ordered on; any other stream first waits for this one.

        Raises HurrayError (SYNC_MODE_MISMATCH) when the buffer is not of sync mode CONSUMER_STREAM, or a share or slice.
        """
        return StreamPayload._make(_native.buffer_stream(self))

    def share(self) -> Buffer:
        """A further handle for the same memory, independent of this one."""
        return _native.buffer_share(self)

    def slice(self, offset: int, byte_size: int) -> Buffer:
        """A handle for a part of the memory, independent of this one. `offset` is a multiple of 64."""
        return _native.buffer_slice(self, offset, byte_size)

    @property
    def info(self) -> BufferInfo:
        """Flags, address, sizes, and how many handles share the memory."""
        return BufferInfo._make(_native.buffer_info(self))

    @property
    def handle(self) -> BufferHandle:
        """The entry of a descriptor's buffer table that describes it."""
        return BufferHandle.decode(_native.buffer_handle_bytes(self))

    @property
    def nbytes(self) -> int:
        """Length in bytes, the prefix included."""
        return self.info.byte_size

    @property
    def prefix(self) -> int:
        """How many bytes at the start belong to somebody else and are never read."""
        return _native.buffer_prefix(self)

    @property
    def readonly(self) -> bool:
        """Whether the memory must not be written."""
        return bool(self.info.flags & BufferFlags.READ_ONLY)

    def set_readonly(self) -> None:
        """Marks the memory as not to be written through this handle and those made from it."""
        _native.buffer_set_read_only(self)

    def set_release_queue(self, queue: ReleaseQueue) -> None:
        """Lets a release that a garbage collector makes due wait on `queue`, instead of the package's own queue.

        Holds for all handles that share the memory. Raises HurrayError (INVALID_ARGUMENT) when the library owns the
        memory or it is shared already.
        """
        _native.buffer_set_release_queue(self, queue)

    def set_release_any_thread(self) -> None:
        """Consents to releasing the memory at once on whatever thread ends its last handle, a garbage collector's
        included.

        Raises HurrayError (INVALID_ARGUMENT) when the library owns the memory (and needs no consent) or it is shared
        already.
        """
        _native.buffer_set_release_any_thread(self)

    def tobytes(self) -> bytes:
        """A copy of the bytes, without the prefix."""
        from .tensor import Tensor

        with Tensor.from_bytes_of(self) as tensor:
            return bytes(tensor.raw_bytes())

    def __repr__(self) -> str:
        return "<hurray.Buffer closed>" if self.closed else f"<hurray.Buffer {self.nbytes} bytes>"


class BufferList(_native.Handle):
    """The buffers of one tensor, in the order of its buffer table. It owns them."""

    __slots__ = ()

    def __new__(cls, capacity_hint: int = 0) -> BufferList:
        return _native.buffer_list_new(capacity_hint)

    def append(self, buffer: Buffer) -> None:
        """Appends a buffer, which moves into the list and is closed; on failure it stays the caller's."""
        _native.buffer_list_push(self, buffer)

    def __len__(self) -> int:
        return _native.buffer_list_len(self)

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, index: int) -> Buffer:
        """Borrows a buffer; it ends with the list."""
        if index < 0:
            index += len(self)
        return _native.buffer_list_get(self, index)

    def __iter__(self) -> Iterator[Buffer]:
        return (self[i] for i in range(len(self)))


class TensorContext(_native.Handle):
    """The encoded descriptor of a tensor on its way to another runtime, and what keeps its memory alive."""

    __slots__ = ()

    @classmethod
    def new(cls, descriptor: Any, *, owner: Any = None, abi_version: int = C_ABI_VERSION) -> TensorContext:
        """A context with a copy of the descriptor's bytes. `owner`, any object, is kept until the context is closed,
        or, once a tensor was imported from it, until the last handle that needs the memory is."""
        return _native.tensor_context_new(abi_version, descriptor, owner)

    @property
    def abi_version(self) -> int:
        """Version of the C ABI of the build that made it; to be looked at before anything else."""
        return _native.tensor_context_abi_version(self)

    def supports(self, version: int = C_ABI_VERSION) -> bool:
        """Whether the copy of the library that made it vouches for `version` and for its own: then a program that was built
        for `version` may go on with a context of a later one. Nothing else of the context is read."""
        return bool(_native.tensor_context_supports(self, version))

    def set_release_queue(self, queue: ReleaseQueue | None) -> None:
        """Names the queue on which the owner's release waits when a garbage collector drops its last user; None: the
        process's default queue. Before the context is exported or a tensor imported from it."""
        _native.tensor_context_set_release_queue(self, queue)

    @property
    def descriptor_bytes(self) -> bytes:
        """A copy of the encoded descriptor."""
        return _native.tensor_context_descriptor(self)


class ReleaseQueue(_native.Handle):
    """Where releases wait for a thread that may run them. The package has one of its own (hurray.drain); another is
    for memory whose release must run on a thread of the program's choice: see Buffer.set_release_queue.

    `close()` runs what waits, on the closing thread. A queue that is forgotten is closed by the next `hurray.drain`,
    or when the next object is made or closed."""

    __slots__ = ()

    def __new__(cls) -> ReleaseQueue:
        return _native.release_queue_new()

    @property
    def pending(self) -> int:
        """How many releases wait."""
        return _native.release_queue_pending(self)

    def drain(self, limit: int = (1 << 64) - 1) -> int:
        """Runs releases on this thread, oldest first; returns how many."""
        return _native.release_queue_drain(self, limit)


_native.set_class(HandleKind.BUFFER, Buffer)
_native.set_class(HandleKind.BUFFER_LIST, BufferList)
_native.set_class(HandleKind.TENSOR_CONTEXT, TensorContext)
_native.set_class(HandleKind.RELEASE_QUEUE, ReleaseQueue)
