"""PE of 64 bits: DLLs and programs."""

from __future__ import annotations

from .model import Binary, BinaryError, Reader

_MACHINES = {0x8664: "x86_64", 0xAA64: "aarch64"}
_DLL = 0x2000


def read(data: bytes) -> Binary:
    """Reads a whole file."""
    reader = Reader(data)
    if data[:2] != b"MZ":
        raise BinaryError("at 0: a PE file was expected")
    (header,) = reader.unpack("I", 60)
    if reader.unpack("4s", header)[0] != b"PE\0\0":
        raise BinaryError(f"at {header}: PE was expected")
    machine, count, _, _, _, optional, flags = reader.unpack("HHIIIHH", header + 4)
    start = header + 24
    if reader.unpack("H", start)[0] != 0x20B:
        raise BinaryError(f"at {start}: a PE file of 64 bits was expected")
    table = start + optional
    sections = [reader.unpack("8sIIII", table + 40 * i) for i in reader.count(count, 40, table)]

    def position(address: int) -> int:
        for _, size, begin, stored, offset in sections:
            if begin <= address < begin + max(size, stored):
                return offset + address - begin
        raise BinaryError(f"address {address}: no section holds it")

    binary = Binary("pe", "shared" if flags & _DLL else "program", _MACHINES.get(machine, hex(machine)))
    (directories,) = reader.unpack("I", start + 108)
    tables = [reader.unpack("II", start + 112 + 8 * i) for i in range(min(directories, 2))]
    if tables and tables[0][0]:
        _read_exports(reader, position, position(tables[0][0]), binary)
    if len(tables) > 1 and tables[1][0]:
        _read_imports(reader, position, position(tables[1][0]), binary)
    return binary


def _read_exports(reader: Reader, position, at: int, binary: Binary) -> None:
    name, _, _, count, _, names = reader.unpack("IIIIII", at + 12)
    binary.name = reader.text(position(name))
    if count:
        table = position(names)
        binary.exports = sorted(reader.text(position(reader.unpack("I", table + 4 * i)[0])) for i in reader.count(count, 4, table))


def _read_imports(reader: Reader, position, at: int, binary: Binary) -> None:
    imports = []
    while True:
        thunks, _, _, name, addresses = reader.unpack("IIIII", at)
        if not name:
            break
        binary.needed.append(reader.text(position(name)))
        entry = position(thunks or addresses)
        while value := reader.unpack("Q", entry)[0]:
            if not value >> 63:
                imports.append(reader.text(position(value) + 2))
            entry += 8
        at += 20
    binary.imports = sorted(imports)
