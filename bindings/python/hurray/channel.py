"""Channels: tensors pass to another process of this machine, and their bytes stay where they are. (docs/channel.md)"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, Union

from . import _native
from ._constants import ChannelFlags, HandleKind
from ._structs import ChannelInfo, ChannelOptions
from .tensor import Tensor

__all__ = ["Channel", "ChannelInfo", "ChannelListener", "ChannelOptions"]

Path = Union[str, bytes, "os.PathLike[str]"]


def _milliseconds(timeout: float | None) -> int:
    return -1 if timeout is None else max(0, round(timeout * 1000))


class Channel(_native.Handle):
    """One end of a channel; either end sends and receives. Iterating receives until the peer has finished.

    Times are in seconds; None waits without an end. Thread rule: one thread at a time; other Python threads run while it
    waits. Tensors that were received are independent of it. A child of fork has no channel: FORKED.
    """

    __slots__ = ()

    @classmethod
    def connect(cls, path: Path, *, options: ChannelOptions | None = None, timeout: float | None = None) -> Channel:
        """Connects to a listener, and waits until there is one. Raises HurrayError: TIMED_OUT, IO, INVALID_ARGUMENT."""
        return _native.channel_connect(path, options, _milliseconds(timeout))

    @classmethod
    def from_fd(cls, source: Any, *, options: ChannelOptions | None = None) -> Channel:
        """A channel over a connected Unix socket of type SOCK_SEQPACKET (an int or an object with fileno()), of which it uses
        a duplicate: one of a socketpair, or inherited. ChannelFlags.CLOSE_FD in the options gives the descriptor away."""
        return _native.channel_from_fd(source if isinstance(source, int) else int(source.fileno()), options)

    def send(self, tensor: Tensor) -> None:
        """Sends a tensor, which stays the caller's. Memory of files, of Buffer.allocate_shared and of channels is passed; all
        other is copied once and counted."""
        _native.channel_send(self, tensor)

    def receive(self, timeout: float | None = None) -> Tensor | None:
        """The next tensor, read-only; None when the peer has finished. Raises HurrayError: TIMED_OUT; DISCONNECTED: the peer is
        gone without having finished."""
        return _native.channel_receive(self, _milliseconds(timeout))

    def process(self) -> None:
        """Takes in what has come, without waiting: what the peer has released ends here."""
        _native.channel_process(self)

    def finish(self) -> None:
        """Says to the peer that no more tensors come."""
        _native.channel_finish(self)

    @property
    def info(self) -> ChannelInfo:
        """What the channel has done so far."""
        return ChannelInfo(*_native.channel_info(self))

    def fileno(self) -> int:
        """The descriptor of its socket, for select and its like; it stays the channel's."""
        return _native.channel_fd(self)

    def __iter__(self) -> Iterator[Tensor]:
        return self

    def __next__(self) -> Tensor:
        tensor = self.receive()
        if tensor is None:
            raise StopIteration
        return tensor


class ChannelListener(_native.Handle):
    """Waits for the other ends of channels at a path; the socket file is removed when it is closed."""

    __slots__ = ()

    @classmethod
    def listen(cls, path: Path, *, options: ChannelOptions | None = None) -> ChannelListener:
        """Listens at a path. The options are those of every channel that is accepted."""
        return _native.channel_listen(path, options)

    def accept(self, timeout: float | None = None) -> Channel:
        """The next peer. Raises HurrayError: TIMED_OUT."""
        return _native.channel_accept(self, _milliseconds(timeout))


_native.set_class(HandleKind.CHANNEL, Channel)
_native.set_class(HandleKind.CHANNEL_LISTENER, ChannelListener)
