"""Where a stage's tensors come from and go to: streams over standard input and output, or channels."""

import numpy as np

import hurray

# Whoever is next may have to start first; nobody waits for ever.
PATIENCE = 120


def _channel(number):
    options = hurray.ChannelOptions(flags=hurray.ChannelFlags.CLOSE_FD, send_timeout_ms=1000 * PATIENCE)
    return hurray.Channel.from_fd(number, options=options)


class Input:
    def __init__(self, channel):
        self._channel = None if channel is None else _channel(channel)
        self._reader = hurray.Reader.from_fd(0) if channel is None else None

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def __iter__(self):
        if self._reader is not None:
            yield from self._reader
            return
        while (tensor := self._channel.receive(PATIENCE)) is not None:
            yield tensor

    def totals(self):
        return {"received_bytes": None if self._channel is None else self._channel.info.received_bytes}

    def close(self):
        (self._reader or self._channel).close()


class Output:
    def __init__(self, channel):
        self._channel = None if channel is None else _channel(channel)
        self._writer = hurray.Writer.to_fd(1) if channel is None else None

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def put(self, tensor):
        if self._channel is None:
            self._writer.write(tensor)
        else:
            self._channel.send(tensor)

    def finish(self):
        if self._channel is not None:
            self._channel.finish()

    def totals(self):
        if self._channel is None:
            return {"passed_bytes": None, "copied_bytes": None}
        info = self._channel.info
        return {"passed_bytes": info.passed_bytes, "copied_bytes": info.copied_bytes}

    def close(self):
        (self._writer or self._channel).close()


def _first_address(tensor):
    if tensor.contiguous or tensor.dtype is hurray.ElementType.BOOL:
        return np.frombuffer(tensor.raw_bytes(), np.uint8).ctypes.data
    return np.asarray(tensor.raw()).ctypes.data


def mapped(tensor):
    """DEVICE:INODE of what is mapped at the address of the first element, as the kernel says; None for memory of no file."""
    if tensor.nbytes == 0:
        return None
    address = _first_address(tensor)
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        for line in maps:
            bounds, _, _, device, inode = line.split(None, 5)[:5]
            start, end = (int(bound, 16) for bound in bounds.split("-"))
            if start <= address < end:
                return None if inode == "0" else f"{device}:{inode}"
    return None
