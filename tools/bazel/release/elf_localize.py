"""Makes the symbols of one ELF object local, so that nothing outside of it can see them or clash with them.

For an object that was linked from many (ld -r) and holds a C++ runtime: a program that it is linked into may have another
one. Two things have to change together: a symbol table has its local symbols first, so that relocations get new numbers;
and groups of sections that linkers keep once a program (COMDAT) become plain groups, since their names are those of other
people's templates, too.
"""

import fnmatch
import struct

_PROGBITS, _SYMTAB, _RELA, _REL, _GROUP, _SYMTAB_SHNDX, _ADDRSIG = 1, 2, 4, 9, 17, 18, 0x6FFF4C03
_EXCLUDE = 0x80000000
_LOCAL = 0
_COMDAT = 1


class LocalizeError(ValueError):
    """The file is not an object that can be handled. The message says what was expected."""


def localize(data: bytes, keep: list[str]) -> bytes:
    """The object with all defined global symbols local, but for those that match one of the patterns in keep."""
    if data[:6] != b"\x7fELF\x02\x01" or struct.unpack_from("<H", data, 16)[0] != 1:
        raise LocalizeError("a little-endian ELF object of 64 bits was expected")
    result = bytearray(data)
    (table,) = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    if count == 0:
        # More sections than the header can say: the first one's size says how many.
        (count,) = struct.unpack_from("<Q", data, table + 32)
    sections = [list(struct.unpack_from("<IIQQQQIIQQ", data, table + i * size)) for i in range(count)]
    tables = [i for i, section in enumerate(sections) if section[1] == _SYMTAB]
    if len(tables) != 1:
        raise LocalizeError(f"one symbol table was expected, there are {len(tables)}")
    symtab = tables[0]
    order, locals_ = _order(data, sections, symtab, keep)
    _write_symbols(data, result, sections[symtab][4], order, locals_)
    _set_info(result, table + symtab * size, locals_)
    number = {old: new for new, old in enumerate(order)}
    for i, (_, kind, _, _, at, length, link, info, _, _) in enumerate(sections):
        if kind == _RELA and link == symtab:
            for entry in range(at, at + length, 24):
                (old,) = struct.unpack_from("<Q", data, entry + 8)
                struct.pack_into("<Q", result, entry + 8, number[old >> 32] << 32 | old & 0xFFFFFFFF)
        elif kind == _GROUP and link == symtab:
            _set_info(result, table + i * size, number[info])
            (flags,) = struct.unpack_from("<I", data, at)
            struct.pack_into("<I", result, at, flags & ~_COMDAT)
        elif kind == _SYMTAB_SHNDX and link == symtab:
            for new, old in enumerate(order):
                result[at + 4 * new : at + 4 * new + 4] = data[at + 4 * old : at + 4 * old + 4]
        elif kind == _ADDRSIG:
            # Numbers of symbols whose address matters, for LLD's folding of equal functions: without it, LLD folds none.
            struct.pack_into("<IQ", result, table + i * size + 4, _PROGBITS, _EXCLUDE)
            struct.pack_into("<QI", result, table + i * size + 32, 0, 0)
        elif kind == _REL:
            raise LocalizeError(f"section {i} refers to symbols in a form that is not handled: {kind:#x}")
    return bytes(result)


def _symbol_name(data: bytes, strings: int, offset: int) -> str:
    start = strings + offset
    return data[start : data.index(b"\0", start)].decode("utf-8", "surrogateescape")


def _order(data: bytes, sections, symtab: int, keep: list[str]):
    """Old numbers of all symbols in their new order, and how many of them are local."""
    at, length, link = sections[symtab][4:7]
    strings = sections[link][4]
    first, last = [], []
    for i in range(length // 24):
        name, info, _, section = struct.unpack_from("<IBBH", data, at + 24 * i)
        text = _symbol_name(data, strings, name)
        defined = section != 0
        kept = any(fnmatch.fnmatchcase(text, pattern) for pattern in keep)
        if info >> 4 == _LOCAL or (defined and not kept):
            first.append(i)
        else:
            last.append(i)
    return first + last, len(first)


def _write_symbols(data: bytes, result: bytearray, at: int, order, locals_: int) -> None:
    for new, old in enumerate(order):
        symbol = bytearray(data[at + 24 * old : at + 24 * old + 24])
        if new < locals_:
            # Local, and with the default visibility, as local symbols have it.
            symbol[4] &= 0x0F
            symbol[5] &= ~3
        result[at + 24 * new : at + 24 * new + 24] = symbol


def _set_info(result: bytearray, header: int, value: int) -> None:
    struct.pack_into("<I", result, header + 44, value)
