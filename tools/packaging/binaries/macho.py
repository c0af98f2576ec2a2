"""Mach-O of 64 bits, little-endian: shared libraries, programs and objects."""

from __future__ import annotations

from .model import Binary, BinaryError, Reader

_MACHINES = {0x01000007: "x86_64", 0x0100000C: "aarch64"}
_KINDS = {1: "object", 2: "program", 6: "shared", 8: "shared"}
_SYMTAB, _LOAD_DYLIB, _ID_DYLIB, _WEAK_DYLIB, _REEXPORT, _RPATH = 0x2, 0xC, 0xD, 0x80000018, 0x8000001F, 0x8000001C
# Marks that the linker itself puts into every library, for its own code.
_LINKER = {"_mh_dylib_header", "_mh_execute_header", "__dso_handle"}
_STAB, _PRIVATE, _TYPE, _EXTERNAL = 0xE0, 0x10, 0x0E, 0x01


def read(data: bytes) -> Binary:
    """Reads a whole file."""
    reader = Reader(data)
    magic, machine, _, kind, count, _ = reader.unpack("IIIIII", 0)
    if magic != 0xFEEDFACF:
        raise BinaryError("at 0: a little-endian Mach-O file of 64 bits was expected")
    binary = Binary("mach-o", _KINDS.get(kind, str(kind)), _MACHINES.get(machine, str(machine)))
    at = 32
    for _ in range(count):
        command, size = reader.unpack("II", at)
        if size < 8:
            raise BinaryError(f"at {at}: a load command of at least 8 bytes was expected")
        if command in (_LOAD_DYLIB, _WEAK_DYLIB, _REEXPORT):
            binary.needed.append(reader.text(at + reader.unpack("I", at + 8)[0]))
        elif command == _ID_DYLIB:
            binary.name = reader.text(at + reader.unpack("I", at + 8)[0])
        elif command == _RPATH:
            binary.search.append(reader.text(at + reader.unpack("I", at + 8)[0]))
        elif command == _SYMTAB:
            _read_symbols(reader, *reader.unpack("IIII", at + 8), binary)
        at += size
    return binary


def _read_symbols(reader: Reader, table: int, count: int, strings: int, _size: int, binary: Binary) -> None:
    exports, imports = set(), set()
    for i in reader.count(count, 16, table):
        name, kind, _, _, _ = reader.unpack("IBBHQ", table + 16 * i)
        if kind & _STAB or not kind & _EXTERNAL or kind & _PRIVATE:
            continue
        # C's names have an underscore in front.
        text = reader.text(strings + name).removeprefix("_")
        if text in _LINKER:
            continue
        (imports if kind & _TYPE == 0 else exports).add(text)
    binary.exports, binary.imports = sorted(exports), sorted(imports)
