"""ELF of 64 bits, little-endian: shared libraries, programs and objects."""

from __future__ import annotations

from .model import Binary, BinaryError, Reader

_MACHINES = {62: "x86_64", 183: "aarch64"}
_KINDS = {1: "object", 2: "program", 3: "shared"}
_LOAD, _DYNAMIC, _INTERP = 1, 2, 3
_SYMTAB = 2
_NEEDED, _STRTAB, _DYNSYM, _SONAME, _RPATH, _RUNPATH, _HASH, _FLAGS_1 = 1, 5, 6, 14, 15, 29, 4, 0x6FFFFFFB
_GNU_HASH, _VERDEF, _VERDEFNUM, _VERNEED, _VERNEEDNUM = 0x6FFFFEF5, 0x6FFFFFFC, 0x6FFFFFFD, 0x6FFFFFFE, 0x6FFFFFFF
_PIE = 0x08000000


def read(data: bytes) -> Binary:
    """Reads a whole file."""
    reader = Reader(data)
    if data[:4] != b"\x7fELF" or data[4:6] != b"\x02\x01":
        raise BinaryError("at 0: a little-endian ELF file of 64 bits was expected")
    kind, machine = reader.unpack("HH", 16)
    binary = Binary("elf", _KINDS.get(kind, str(kind)), _MACHINES.get(machine, str(machine)))
    if binary.kind == "object":
        _read_object(reader, binary)
    else:
        _read_loaded(reader, binary)
    return binary


def _read_loaded(reader: Reader, binary: Binary) -> None:
    (table,) = reader.unpack("Q", 32)
    size, count = reader.unpack("HH", 54)
    segments = [reader.unpack("IIQQQQQQ", table + i * size) for i in reader.count(count, size, table)]

    def position(address: int) -> int:
        for kind, _, offset, start, _, length, _, _ in segments:
            if kind == _LOAD and start <= address < start + length:
                return offset + address - start
        raise BinaryError(f"address {address}: no segment of the file holds it")

    dynamic: dict[int, list[int]] = {}
    for kind, _, offset, _, _, length, _, _ in segments:
        if kind == _DYNAMIC:
            for i in reader.count(length // 16, 16, offset):
                tag, value = reader.unpack("qQ", offset + 16 * i)
                if tag == 0:
                    break
                dynamic.setdefault(tag & 0xFFFFFFFFFFFFFFFF, []).append(value)
    if any(segment[0] == _INTERP for segment in segments) or dynamic.get(_FLAGS_1, [0])[0] & _PIE:
        binary.kind = "program"
    if not dynamic:
        return
    strings = position(dynamic[_STRTAB][0])

    def texts(tag: int) -> list[str]:
        return [reader.text(strings + value) for value in dynamic.get(tag, [])]

    binary.needed = texts(_NEEDED)
    binary.name = (texts(_SONAME) or [None])[0]
    binary.search = texts(_RPATH) + texts(_RUNPATH)
    if _DYNSYM in dynamic:
        _read_symbols(reader, position(dynamic[_DYNSYM][0]), _dynamic_count(reader, dynamic, position), strings, binary)
    _read_versions(reader, dynamic, position, strings, binary)


def _dynamic_count(reader: Reader, dynamic: dict[int, list[int]], position) -> int:
    if _HASH in dynamic:
        return reader.unpack("II", position(dynamic[_HASH][0]))[1]
    if _GNU_HASH not in dynamic:
        raise BinaryError("a hash table of the dynamic symbols was expected")
    # The GNU table does not say how many there are: the last chain's end does.
    base = position(dynamic[_GNU_HASH][0])
    buckets, first, bloom, _ = reader.unpack("IIII", base)
    at = base + 16 + 8 * bloom
    last = max((reader.unpack("I", at + 4 * i)[0] for i in reader.count(buckets, 4, at)), default=0)
    if last < first:
        return first
    chains = at + 4 * buckets
    while not reader.unpack("I", chains + 4 * (last - first))[0] & 1:
        last += 1
    return last + 1


def _read_symbols(reader: Reader, table: int, count: int, strings: int, binary: Binary) -> None:
    exports, imports = set(), set()
    for i in reader.count(count, 24, table):
        name, info, other, section = reader.unpack("IBBH", table + 24 * i)
        # Local ones, and those that only their own file sees.
        if i == 0 or info >> 4 == 0:
            continue
        text = reader.text(strings + name)
        if section == 0:
            imports.add(text)
        elif other & 3 in (0, 3):
            # Names of version nodes are absolute symbols.
            if not (section == 0xFFF1 and info & 15 == 1):
                exports.add(text)
    binary.exports, binary.imports = sorted(exports), sorted(imports)


def _read_versions(reader: Reader, dynamic, position, strings: int, binary: Binary) -> None:
    if _VERDEF in dynamic:
        at = position(dynamic[_VERDEF][0])
        for _ in range(dynamic[_VERDEFNUM][0]):
            _, flags, _, _, _, names, following = reader.unpack("HHHHIII", at)
            # The base version is the library's own name.
            if not flags & 1:
                binary.nodes.append(reader.text(strings + reader.unpack("I", at + names)[0]))
            at += following
    if _VERNEED in dynamic:
        at = position(dynamic[_VERNEED][0])
        for _ in range(dynamic[_VERNEEDNUM][0]):
            _, count, file, entries, following = reader.unpack("HHIII", at)
            names = binary.required.setdefault(reader.text(strings + file), [])
            entry = at + entries
            for _ in range(count):
                _, _, _, name, step = reader.unpack("IHHII", entry)
                names.append(reader.text(strings + name))
                entry += step
            at += following


def _read_object(reader: Reader, binary: Binary) -> None:
    (table,) = reader.unpack("Q", 40)
    size, count = reader.unpack("HH", 58)
    sections = [reader.unpack("IIQQQQIIQQ", table + i * size) for i in reader.count(count, size, table)]
    for section in sections:
        if section[1] == _SYMTAB:
            if section[6] >= len(sections):
                raise BinaryError(f"section {section[6]}: names of symbols were expected, there is no such section")
            _read_symbols(reader, section[4], section[5] // 24, sections[section[6]][4], binary)
