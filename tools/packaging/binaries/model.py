"""What the readers of ELF, Mach-O and PE files find."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field


class BinaryError(ValueError):
    """A file that is not what it says it is: the message names the byte offset and what was expected there."""


@dataclass
class Binary:
    """One compiled file.

    format: elf, mach-o or pe; kind: shared (a library that is loaded), program or object (to be linked).
    machine: x86_64 or aarch64 (others: their number). name: soname, install name or name in the export table.
    needed: libraries that the loader loads with it. search: folders that it has the loader look in.
    exports: names that others can bind to, sorted; nodes: version nodes that it defines (ELF).
    required: version nodes that it asks of others, such as GLIBC_2.17, by library (ELF).
    imports: names that it expects of others, sorted.
    """

    format: str
    kind: str
    machine: str
    name: str | None = None
    needed: list[str] = field(default_factory=list)
    search: list[str] = field(default_factory=list)
    exports: list[str] = field(default_factory=list)
    imports: list[str] = field(default_factory=list)
    nodes: list[str] = field(default_factory=list)
    required: dict[str, list[str]] = field(default_factory=dict)


class Reader:
    """Bounds-checked reading of little-endian structures."""

    def __init__(self, data: bytes):
        self.data = data

    def unpack(self, form: str, offset: int) -> tuple:
        size = struct.calcsize("<" + form)
        if offset < 0 or offset + size > len(self.data):
            raise BinaryError(f"at {offset}: {size} bytes were expected, the file has {len(self.data)}")
        return struct.unpack_from("<" + form, self.data, offset)

    def text(self, offset: int) -> str:
        end = self.data.find(b"\0", offset) if 0 <= offset < len(self.data) else -1
        if end < 0:
            raise BinaryError(f"at {offset}: a text that ends with 0 was expected")
        return self.data[offset:end].decode("utf-8", "surrogateescape")

    def count(self, count: int, size: int, offset: int) -> range:
        """Indexes of a table, once it is known to lie in the file."""
        if count < 0 or offset < 0 or offset + count * size > len(self.data):
            raise BinaryError(f"at {offset}: a table of {count} entries of {size} bytes was expected")
        return range(count)
