"""The shard files of clangd's background index in; their symbols, references and relations out.

A shard is a RIFF file of type `CdIx`, one per source file. Its chunks, little endian: `meta` the format's
version; `stri` a table of zero-ended strings, deflated when its first word is not 0; `symb`, `refs`, `rela`
and `srcs` records until the chunk's end. Numbers are 7 bits a byte, lowest first, the high bit saying that
more follow; strings are numbers into the table; identities are 8 raw bytes, the start of the SHA-1 of a USR.
Version 20 is what clangd 22 writes; any other version is refused.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from codenib.core.errors import ProviderError
from codenib.navigation.cpp.clangd.session import uri_to_path

VERSION = 20
BASE_OF, OVERRIDDEN_BY = 0, 1
_HAD_ERRORS = 2
_MOST_BYTES = 1 << 30
_DECLARES = 3  # a reference that is a declaration, or a definition


@dataclass(frozen=True, slots=True)
class ClangdPlace:
    """Where a name stands: an absolute path, line and column from 0; columns in UTF-16 units."""

    path: str
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class IndexedSymbol:
    """A symbol that other files may name. `kind` is clang's number of the kind."""

    id: str
    kind: int
    name: str
    scope: str
    definition: ClangdPlace | None
    declaration: ClangdPlace | None


@dataclass(frozen=True, slots=True)
class Shard:
    """What the index holds of one file: `references` are (symbol, its places in the file)."""

    path: str
    includes: tuple[str, ...]  # what it includes itself
    had_errors: bool  # whether the file that it was read by does not compile
    symbols: list[IndexedSymbol]
    references: list[tuple[str, list[ClangdPlace]]]
    declared: list[tuple[str, ClangdPlace]]  # those of the references that declare or define
    relations: list[tuple[str, int, str]]


def read_shards(folder: Path) -> Iterator[Shard]:
    """Every shard of a background index, in the order of its file names."""
    for file in sorted(folder.glob("*.idx")):
        yield read_shard(file)


def read_shard(file: Path) -> Shard:
    """One shard; ProviderError when it is damaged."""
    with refusing(file):
        return _read_shard(file)


def _read_shard(file: Path) -> Shard:
    chunks = read_chunks(file)
    version = struct.unpack("<I", chunks.get(b"meta", b"\0\0\0\0"))[0]
    if version != VERSION:
        raise ProviderError(f"{file.name} is of clangd's index format {version}; we read {VERSION}",
                            hint="codenib tools install cpp")  # fmt: skip
    strings = _strings(chunks[b"stri"])
    paths = {text: uri_to_path(text) for text in strings if text.startswith("file:")}
    symbols = _Reader(chunks.get(b"symb", b""), strings, paths)
    references = _Reader(chunks.get(b"refs", b""), strings, paths)
    relations = _Reader(chunks.get(b"rela", b""), strings, paths)
    return Shard(
        *_own_source(chunks, strings, paths),
        [symbols.symbol() for _ in iter(symbols.more, False)],
        [references.references() for _ in iter(references.more, False)],
        references.declared,
        [relations.relation() for _ in iter(relations.more, False)],
    )


def read_head(file: Path) -> tuple[str, tuple[str, ...], bool]:
    """Of a shard only its file, what that includes, and whether there were errors."""
    with refusing(file):
        chunks = read_chunks(file)
        strings = _strings(chunks[b"stri"])
        return _own_source(
            chunks, strings, {text: uri_to_path(text) for text in strings if text.startswith("file:")}
        )


@contextmanager
def refusing(file: Path) -> Iterator[None]:
    """Name the shard whose bytes end too early, or say what cannot be."""
    try:
        yield
    except (LookupError, struct.error, zlib.error, ValueError) as error:
        raise ProviderError(
            f"{file.name} of clangd's index is damaged: {error}", hint="codenib index --views graph --rebuild"
        ) from error


def _own_source(
    chunks: dict[bytes, bytes], strings: list[str], paths: dict[str, str]
) -> tuple[str, tuple[str, ...], bool]:
    """The file itself is the one with a digest; of what it includes only the names are there."""
    sources = _Reader(chunks.get(b"srcs", b""), strings, paths)
    rows = (row for row in iter(sources.source, None) if any(row[1]))
    path, _, includes, had_errors = next(rows, ("", b"", (), False))
    return path, includes, had_errors


def read_chunks(file: Path) -> dict[bytes, bytes]:
    """The parts of a shard by their four letters."""
    data = file.read_bytes()
    if data[:4] != b"RIFF" or data[8:12] != b"CdIx":
        raise ProviderError(f"{file.name} is not a shard of clangd's index")
    chunks, at = {}, 12
    while at + 8 <= len(data):
        size = struct.unpack_from("<I", data, at + 4)[0]
        chunks[data[at : at + 4]] = data[at + 8 : at + 8 + size]
        at += 8 + size + (size & 1)
    return chunks


def _strings(chunk: bytes) -> list[str]:
    size = struct.unpack_from("<I", chunk)[0]
    # The first word is the size of what was deflated; no more is inflated than that.
    raw = zlib.decompressobj().decompress(chunk[4:], min(size, _MOST_BYTES)) if size else chunk[4:]
    return [part.decode("utf-8", "replace") for part in raw.split(b"\0")[:-1]]


class _Reader:
    """A cursor over one chunk."""

    def __init__(self, data: bytes, strings: list[str], paths: dict[str, str]) -> None:
        self._data = data
        self._at = 0
        self._strings = strings
        self._paths = paths
        self.declared: list[tuple[str, ClangdPlace]] = []

    def more(self) -> bool:
        return self._at < len(self._data)

    def number(self) -> int:
        data, at = self._data, self._at
        byte = data[at]
        at += 1
        value = byte & 0x7F
        shift = 7
        while byte & 0x80:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if shift > 63:
                raise ValueError("a number is too long")
        self._at = at
        return value

    def byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1]

    def identity(self) -> str:
        self._at += 8
        return self._data[self._at - 8 : self._at].hex().upper()

    def string(self) -> str:
        return self._strings[self.number()]

    def place(self) -> ClangdPlace | None:
        uri = self.string()
        line, column = self.number(), self.number()
        self.number()
        self.number()
        return ClangdPlace(self._paths[uri], line, column) if uri else None

    def symbol(self) -> IndexedSymbol:
        identity, kind = self.identity(), self.byte()
        self.byte()  # language
        name, scope = self.string(), self.string()
        self.string()  # arguments of a template's specialization
        definition, declaration = self.place(), self.place()
        self.number()  # count of references
        self.byte()  # flags
        for _ in range(5):  # signature, completion suffix, documentation, return type, type
            self.string()
        for _ in range(self.number()):  # headers to include
            self.string()
            self.number()
        return IndexedSymbol(
            id=identity, kind=kind, name=name, scope=scope, definition=definition, declaration=declaration
        )

    def references(self) -> tuple[str, list[ClangdPlace]]:
        identity = self.identity()
        places = []
        for _ in range(self.number()):
            kind = self.byte()
            place = self.place()
            self.identity()  # the symbol around it
            if place is not None:
                places.append(place)
                if kind & _DECLARES:
                    self.declared.append((identity, place))
        return identity, places

    def source(self) -> tuple[str, bytes, tuple[str, ...], bool] | None:
        """Path, digest, direct includes, and whether there were errors; None at the end."""
        if not self.more():
            return None
        flags = self.byte()
        path = self._paths.get(self.string(), "")
        self._at += 8
        digest = self._data[self._at - 8 : self._at]
        includes = tuple(self._paths.get(self.string(), "") for _ in range(self.number()))
        return path, digest, includes, bool(flags & _HAD_ERRORS)

    def relation(self) -> tuple[str, int, str]:
        return self.identity(), self.byte(), self.identity()
