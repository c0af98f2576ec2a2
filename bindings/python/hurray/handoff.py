"""Handoff of device memory: when the bytes are there, told by an event, by a stream, or by having waited.

Which of the three holds stands in a buffer's 16-byte handle (BufferHandle.sync_mode); what belongs to it travels beside it:

- PRODUCER_SYNCED: nothing. The producer has waited for its writes.
- EVENT: an EventPayload, recorded before the handoff. The consumer makes every stream of its own that will touch the memory
  wait for the event, and then releases it (Buffer.event, Buffer.release_event, Buffer.waiting).
- CONSUMER_STREAM: a StreamPayload. The consumer asks for the tensor with its stream (`request`), and the producer orders its
  writes before later work on that stream.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from . import _native
from ._constants import Status
from .errors import HurrayError

if TYPE_CHECKING:
    from .buffer import BufferList, TensorContext
    from .tensor import Tensor

__all__ = ["Event", "EventPayload", "Producer", "StreamPayload", "TensorProducer", "request"]


class EventPayload(NamedTuple):
    """What a buffer of sync mode EVENT is handed off with. (ABI: Per-Mode Payloads; since C ABI 2)"""

    #: Address of the device's event, opaque: recorded on every stream that writes the memory, before the handoff.
    sync_handle: int
    #: Called with `sync_handle`, exactly once: when the consumer releases the event, or else when the buffer ends. It may run
    #: on any thread, a garbage collector's included, always with the GIL. What it raises goes to sys.unraisablehook.
    event_release: Callable[[int], object] | None
    #: Device tag of the event: the buffer's own.
    sync_handle_device_tag: int


class StreamPayload(NamedTuple):
    """The consumer's stream, which a buffer of sync mode CONSUMER_STREAM is ordered on. (ABI: Per-Mode Payloads; since
    C ABI 2)"""

    #: Address of the stream, opaque.
    consumer_stream: int
    #: Device tag of the stream: the buffer's own.
    consumer_stream_device_tag: int


class Event(NamedTuple):
    """The event that a consumer waits for. It belongs to its buffer, and is valid until it is released."""

    #: Address of the device's event.
    sync_handle: int
    #: Device tag of the event.
    device_tag: int


class TensorProducer(Protocol):
    """What an object needs to be asked for tensors: see `Producer.of`."""

    def export_tensor(self, stream: StreamPayload | None, /) -> tuple[BufferList, TensorContext]:
        """A pair of list and context, which the caller takes over. `stream` is the consumer's, None when it has none.

        Before it returns, it has ordered its writes before later work on that stream, for every buffer that it hands off as
        CONSUMER_STREAM; other buffers may be PRODUCER_SYNCED or carry an event.

        What it raises becomes the status and message of the request: those of a HurrayError, OUT_OF_MEMORY for a
        MemoryError, CANCELLED for what is no ordinary exception (KeyboardInterrupt), INTERNAL_PANIC for all else.
        """


class Producer(_native.ProducerHandle):
    """Makes tensors on request, ordered on the stream of whoever asks (a HurrayProducer). Python's own, or another runtime's.

    `with producer:` or `close()` releases what it keeps, exactly once. Thread rule: one thread at a time; an export runs on
    the thread that asks, with the GIL. Since C ABI 4.
    """

    __slots__ = ()

    @classmethod
    def of(cls, source: TensorProducer) -> Producer:
        """A producer that asks `source.export_tensor(stream)`. It keeps `source` until it is closed.

        `address` is that of a C struct for other runtimes of the process: valid until this object is closed or collected,
        so whoever hands it out keeps this object.
        """
        return _native.producer_new(_exporter(source.export_tensor))

    @classmethod
    def at(cls, address: int) -> Producer:
        """Takes over the producer of another runtime: the HurrayProducer at this address, which stays in its place.

        `close()` runs its release. A forgotten one is leaked with a ResourceWarning: no collector may run it. An address
        that is not of such a struct is undefined.
        """
        return _native.producer_at(address)

    def request(self, stream: StreamPayload | None = None) -> Tensor:
        """Asks for a tensor that is ready for work on the consumer's stream; None: the consumer has none.

        The version of what was exported is looked at first, and every CONSUMER_STREAM buffer must be ordered on exactly this
        stream (SYNC_MODE_MISMATCH); what was exported is ended when the request fails. Raises ClosedError when the producer
        is closed, BusyError while a request is under way, and what the export reports as HurrayError.
        """
        return _native.producer_request(self, *((0, 0) if stream is None else stream))

    def __repr__(self) -> str:
        return "<hurray.Producer closed>" if self.closed else f"<hurray.Producer at {self.address:#x}>"


def request(source: TensorProducer | Producer, stream: StreamPayload | None = None) -> Tensor:
    """Asks a producer, or any object with `export_tensor`, for a tensor that is ready for work on the consumer's stream."""
    if isinstance(source, Producer):
        return source.request(stream)
    with Producer.of(source) as producer:
        return producer.request(stream)


def _exporter(export: Callable[[StreamPayload | None], Any]) -> Callable[[int, int], tuple[Any, ...]]:
    """What the extension calls: a pair of handles, or status, message and exception of a failure."""

    def call(stream: int, device: int) -> tuple[Any, ...]:
        try:
            result = export(StreamPayload(stream, device) if stream or device else None)
            pair = tuple(result) if isinstance(result, (tuple, list)) else ()
            if len(pair) != 2:
                raise TypeError(f"expected a pair of BufferList and TensorContext, got {type(result).__name__}")
            _native.check_pair(*pair)
            return pair
        except BaseException as error:
            return (*_report(error), error)

    return call


def _report(error: BaseException) -> tuple[int, str]:
    if isinstance(error, HurrayError) and int(error.code) < 0:
        return int(error.code), _utf8(error.message)
    try:
        text = f"Python raised {type(error).__name__}: {error}"
    except Exception:  # whatever __str__ does
        text = f"Python raised {type(error).__name__}"
    if isinstance(error, MemoryError):
        return Status.OUT_OF_MEMORY, _utf8(text)
    return (Status.INTERNAL_PANIC if isinstance(error, Exception) else Status.CANCELLED), _utf8(text)


def _utf8(text: str) -> str:
    """Without what UTF-8 cannot say (a lone surrogate)."""
    return text.encode("utf-8", "backslashreplace").decode()


_native.set_producer_class(Producer)
