"""What an object file leaves to the linker, read from its symbol table."""

from __future__ import annotations

import struct
from typing import Final, NamedTuple

__all__ = ["undefined_thread_locals"]

_TLS: Final = 6  # STT_TLS
_SYMBOL_TABLE: Final = 2  # SHT_SYMTAB


class _Section(NamedTuple):
    """A section header of a 64-bit ELF file."""

    name: int
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int
    entry_size: int


def undefined_thread_locals(content: bytes) -> tuple[str, ...]:
    """Names of the thread-local variables that a 64-bit little-endian object does not define.

    They are a cell's ``extern __shared__`` arrays: dynamic shared memory.
    """
    sections = _sections(content)
    names: dict[str, None] = {}
    for table in (one for one in sections if one.kind == _SYMBOL_TABLE):
        strings = sections[table.link]
        for offset in range(table.offset, table.offset + table.size, table.entry_size):
            name, info, _, section = struct.unpack_from("<IBBH", content, offset)
            if info & 15 == _TLS and section == 0 and name:
                start = strings.offset + name
                names[content[start : content.index(b"\0", start)].decode()] = None
    # The assembler's own anchor of -mtls-dialect=gnu2.
    names.pop("_TLS_MODULE_BASE_", None)
    return tuple(names)


def _sections(content: bytes) -> list[_Section]:
    (start,) = struct.unpack_from("<Q", content, 40)
    size, count = struct.unpack_from("<HH", content, 58)
    form = "<IIQQQQIIQQ"
    headers = [_Section(*struct.unpack_from(form, content, start + i * size)) for i in range(count)]
    # More than 65,279 sections (one for each template instance) are counted in the first header.
    if count == 0 and start:
        first = _Section(*struct.unpack_from(form, content, start))
        headers = [
            _Section(*struct.unpack_from(form, content, start + i * size))
            for i in range(first.size)
        ]
    return headers
