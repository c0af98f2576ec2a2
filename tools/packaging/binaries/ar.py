"""Static archives: the members of an ar file, GNU's and BSD's forms."""

from __future__ import annotations

from .model import BinaryError

MAGIC = b"!<arch>\n"


def members(data: bytes) -> dict[str, bytes]:
    """The members under their names, without the archive's own tables."""
    if data[:8] != MAGIC:
        raise BinaryError("at 0: an ar archive was expected")
    result: dict[str, bytes] = {}
    long_names = b""
    at = 8
    while at + 60 <= len(data):
        header = data[at : at + 60]
        if header[58:60] != b"`\n":
            raise BinaryError(f"at {at + 58}: the end of a member's header was expected")
        name = header[:16].decode("ascii", "replace").rstrip()
        size = int(header[48:58])
        body = data[at + 60 : at + 60 + size]
        if len(body) != size:
            raise BinaryError(f"at {at + 60}: {size} bytes were expected, the file has {len(data)}")
        at += 60 + size + (size & 1)
        if name == "//":
            long_names = body
        elif name.startswith("#1/"):
            length = int(name[3:])
            name, body = body[:length].rstrip(b"\0").decode("utf-8", "replace"), body[length:]
            if not name.startswith("__.SYMDEF"):
                result[name] = body
        elif name not in ("/", "/SYM64/"):
            if name[:1] == "/" and name[1:].isdigit():
                start = int(name[1:])
                name = long_names[start : long_names.index(b"\n", start)].decode("utf-8", "replace")
            result[name.rstrip("/")] = body
    return result
