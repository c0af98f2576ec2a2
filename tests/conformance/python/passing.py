"""Tensors of any kind from files, streams and channels to files, streams and channels, many times in one process."""

import contextlib
import json
import sys

import hurray
from transport import Input, Output


@contextlib.contextmanager
def _source(text, names):
    """The tensors of an end with their names."""
    kind, _, where = text.partition(":")
    if kind == "hrry":
        with hurray.File.open(where) as file:
            yield ((name, file.tensor(i)) for i, name in enumerate(file.keys()))
    elif kind == "stream":
        with open(where, "rb", buffering=0) as stream, hurray.Reader.from_fd(stream) as reader:
            yield zip(names, reader)
    elif kind == "channel":
        with Input(int(where)) as arriving:
            yield zip(names, arriving)
    else:
        raise ValueError(f"no such end: {text}")


@contextlib.contextmanager
def _target(text):
    """What takes a tensor with its name."""
    kind, _, where = text.partition(":")
    if kind == "hrry":
        with hurray.FileWriter.create(where, format=hurray.FileFormat.HRRY) as writer:
            yield writer.add
            writer.finish()
    elif kind == "stream":
        with open(where, "wb", buffering=0) as stream, hurray.Writer.to_fd(stream) as writer:
            yield lambda _, tensor: writer.write(tensor)
    elif kind == "channel":
        with Output(int(where)) as leaving:
            yield lambda _, tensor: leaving.put(tensor)
            leaving.finish()
    else:
        raise ValueError(f"no such end: {text}")


def run(names_path):
    hurray.load()
    before = hurray.live_handles().handles
    with open(names_path, encoding="utf-8") as file:
        names = [json.loads(line) for line in file if line.strip()]
    for line in sys.stdin:
        source, _, target = line.rstrip("\n").partition("\t")
        count = 0
        with _target(target) as put, _source(source, names) as tensors:
            for name, arrived in tensors:
                with arrived, hurray.from_hurray(arrived) as tensor:
                    put(name, tensor)
                count += 1
        hurray.drain()
        print(json.dumps({"tensors": count, "live_handles": hurray.live_handles().handles - before}), flush=True)
