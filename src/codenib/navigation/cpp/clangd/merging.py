"""Two shards of one file in, one that has what both say out.

A part that several sources include, each with macros of its own, means something else for each of them.
Clangd keeps what the first made of it; with the others' merged into it, it answers for all of them.
"""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

from codenib.navigation.cpp.clangd.shards import read_chunks, refusing

_SYMBOL_STRINGS = 5  # signature, completion suffix, documentation, return type, type


def merge_shards(base: Path, other: Path) -> bytes:
    """The shard `base` with the symbols, references and relations of `other`; raises for a damaged one."""
    with refusing(base):
        chunks = read_chunks(base)
        strings = _inflated(chunks[b"stri"])
    with refusing(other):
        added = read_chunks(other)
        more = _inflated(added[b"stri"])
        known = dict(_Records(chunks.get(b"symb", b""), 0).symbols())
        shift = strings.count(b"\0")
        symbols = [
            record
            for identity, record in _Records(added.get(b"symb", b""), shift).symbols()
            if identity not in known
        ]
        references = _Records(added.get(b"refs", b""), shift).references()
    chunks[b"stri"] = struct.pack("<I", len(strings + more)) + zlib.compress(strings + more, 1)
    chunks[b"symb"] = chunks.get(b"symb", b"") + b"".join(symbols)
    chunks[b"refs"] = chunks.get(b"refs", b"") + references
    chunks[b"rela"] = chunks.get(b"rela", b"") + added.get(b"rela", b"")
    body = b"CdIx" + b"".join(
        name + struct.pack("<I", len(data)) + data + b"\0" * (len(data) & 1) for name, data in chunks.items()
    )
    return b"RIFF" + struct.pack("<I", len(body)) + body


def _inflated(chunk: bytes) -> bytes:
    """A table of strings, each ended by a zero."""
    size = struct.unpack_from("<I", chunk)[0]
    return zlib.decompress(chunk[4:]) if size else chunk[4:]


class _Records:
    """Copies the records of a chunk; the numbers of their strings grow by `shift`."""

    def __init__(self, data: bytes, shift: int) -> None:
        self._data = data
        self._at = 0
        self._shift = shift
        self._out = bytearray()

    def symbols(self) -> list[tuple[bytes, bytes]]:
        """Each symbol's identity and its record."""
        found = []
        while self._at < len(self._data):
            self._out = bytearray()
            identity = self._copy(8)
            self._copy(2)  # kind and language
            for _ in range(3):  # name, scope, arguments of a specialization
                self._string()
            self._place()
            self._place()
            self._number()  # count of references
            self._copy(1)  # flags
            for _ in range(_SYMBOL_STRINGS):
                self._string()
            for _ in range(self._number()):  # headers to include
                self._string()
                self._number()
            found.append((identity, bytes(self._out)))
        return found

    def references(self) -> bytes:
        self._out = bytearray()
        while self._at < len(self._data):
            self._copy(8)
            for _ in range(self._number()):
                self._copy(1)  # kind
                self._place()
                self._copy(8)  # the symbol around it
        return bytes(self._out)

    def _copy(self, size: int) -> bytes:
        part = self._data[self._at : self._at + size]
        self._at += size
        self._out += part
        return part

    def _place(self) -> None:
        self._string()
        for _ in range(4):
            self._number()

    def _string(self) -> None:
        self._write(self._read() + self._shift)

    def _number(self) -> int:
        value = self._read()
        self._write(value)
        return value

    def _read(self) -> int:
        value = shift = 0
        while True:
            byte = self._data[self._at]
            self._at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def _write(self, value: int) -> None:
        while value > 0x7F:
            self._out.append(value & 0x7F | 0x80)
            value >>= 7
        self._out.append(value)
