"""Bytes of a SCIP index in, its documents out: the part of Protocol Buffers that this one format needs.

Field numbers are those of the published `scip.proto`; fields that we do not use are skipped by their type.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from codenib.core.errors import InputError

DEFINITION, IMPORT, WRITE = (
    1,
    2,
    4,
)  # bits of an occurrence's roles; 64 is a declaration before its definition
FORWARD = 64
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_ABOUT = 80  # bytes of a documentation that can name the symbol's kind
_ENCODINGS = {1: "utf-8", 2: "utf-16", 3: "utf-32"}
# What an index that does not say counts columns in: the native strings of the indexer's own language.
_COUNTS_BYTES = frozenset({"scip-go", "rust-analyzer", "scip-clang", "scip-ruby", "scip-syntax"})


@dataclass(frozen=True, slots=True)
class Relationship:
    """What a symbol is to another one."""

    symbol: str
    is_reference: bool = False
    is_implementation: bool = False
    is_type_definition: bool = False
    is_definition: bool = False


@dataclass(frozen=True, slots=True)
class SymbolInformation:
    """What an index says of a symbol; `kind` is SCIP's number or 0, `about` the start of its first text."""

    symbol: str
    kind: int = 0
    name: str = ""
    relationships: tuple[Relationship, ...] = ()
    about: str = ""


@dataclass(frozen=True, slots=True)
class ScipOccurrence:
    """A symbol at line, column, end line, end column; `extent` is the whole declaration, where known."""

    place: tuple[int, int, int, int]
    symbol: str
    roles: int = 0
    extent: tuple[int, int, int, int] | None = None


@dataclass(frozen=True, slots=True)
class ScipDocument:
    """A file of the index. `text` is its source, where the index carries it."""

    path: str
    encoding: str
    occurrences: tuple[ScipOccurrence, ...] = ()
    symbols: tuple[SymbolInformation, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class ScipIndex:
    """A whole index, with the program that made it."""

    tool: str
    version: str
    documents: tuple[ScipDocument, ...] = ()
    external: tuple[SymbolInformation, ...] = field(default=())


def read_index(data: bytes, name: str = "the index") -> ScipIndex:
    """Decode an index; anything but a whole one is the caller's error."""
    try:
        return _index(data)
    except (IndexError, ValueError) as error:
        raise InputError(
            f"{name} is not a whole SCIP index: {error}", hint="make the index again with its indexer"
        ) from error


def _index(data: bytes) -> ScipIndex:
    tool = version = ""
    documents: list[bytes] = []
    external: list[SymbolInformation] = []
    for number, value in _fields(data):
        if number == 1:
            tool, version = _tool(_message(value))
        elif number == 2:
            documents.append(_message(value))
        elif number == 3:
            external.append(_information(_message(value)))
    default = "utf-8" if tool in _COUNTS_BYTES else "utf-16"
    read = tuple(_document(document, default) for document in documents)
    return ScipIndex(tool, version, read, tuple(external))


def _tool(data: bytes) -> tuple[str, str]:
    for number, value in _fields(data):
        if number == 2:
            parts = dict(_fields(_message(value)))
            return _text(parts.get(1, b"")), _text(parts.get(2, b""))
    return "", ""


def _document(data: bytes, default: str) -> ScipDocument:
    path = text = ""
    encoding = default
    occurrences: list[ScipOccurrence] = []
    symbols: list[SymbolInformation] = []
    names: dict[bytes, str] = {}  # symbols repeat
    for number, value in _fields(data):
        if number == 2:
            occurrences.append(_occurrence(_message(value), names))
        elif number == 3:
            symbols.append(_information(_message(value)))
        elif number == 1:
            path = _text(value)
        elif number == 5:
            text = _text(value)
        elif number == 6:
            encoding = _ENCODINGS.get(_number(value), default)
    return ScipDocument(path, encoding, tuple(occurrences), tuple(symbols), text)


def _occurrence(data: bytes, names: dict[bytes, str]) -> ScipOccurrence:
    place: list[int] = []
    extent: list[int] = []
    symbol = b""
    roles = 0
    for number, value in _fields(data):
        if number == 1:
            place += _numbers(value)
        elif number == 2:
            symbol = _message(value)
        elif number == 3:
            roles = _number(value)
        elif number == 7:
            extent += _numbers(value)
    name = names.get(symbol)
    if name is None:
        name = names[symbol] = symbol.decode()
    return ScipOccurrence(_range(place), name, roles, _range(extent) if extent else None)


def _range(numbers: list[int]) -> tuple[int, int, int, int]:
    if len(numbers) == 3:
        line, column, end = numbers
        found = (line, column, line, end)
    elif len(numbers) == 4:
        found = (numbers[0], numbers[1], numbers[2], numbers[3])
    else:
        raise ValueError(f"a range has {len(numbers)} numbers")
    if not (
        0 <= found[0] <= found[2] < 1 << 31 and max(found[1], found[3]) < 1 << 31 and found[:2] <= found[2:]
    ):
        raise ValueError(f"a range is {numbers}")
    return found


def _information(data: bytes) -> SymbolInformation:
    symbol = name = about = ""
    kind = 0
    relationships: list[Relationship] = []
    for number, value in _fields(data):
        if number == 1:
            symbol = _text(value)
        elif number == 4:
            relationships.append(_relationship(_message(value)))
        elif number == 5:
            kind = _number(value)
        elif number == 6:
            name = _text(value)
        elif number == 3 and not about:
            about = _message(value)[:_ABOUT].decode("utf-8", "ignore")
    return SymbolInformation(symbol, kind, name, tuple(relationships), about)


def _relationship(data: bytes) -> Relationship:
    parts = dict(_fields(data))
    flags = (bool(_number(parts.get(number, 0))) for number in (2, 3, 4, 5))
    return Relationship(_text(parts.get(1, b"")), *flags)


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Number and value of each field: an int, or the bytes of a text, a message or packed numbers."""
    at, end = 0, len(data)
    while at < end:
        tag = data[at]
        at += 1
        if tag >= 0x80:
            tag, at = _varint(data, at - 1)
        wire = tag & 7
        if wire == _VARINT:
            value = data[at]
            at += 1
            if value >= 0x80:
                value, at = _varint(data, at - 1)
            yield tag >> 3, value
        elif wire == _BYTES:
            size = data[at]
            at += 1
            if size >= 0x80:
                size, at = _varint(data, at - 1)
            if at + size > end:
                raise ValueError("it ends in the middle of a field")
            yield tag >> 3, data[at : at + size]
            at += size
        elif wire in (_FIXED32, _FIXED64):
            at += 4 if wire == _FIXED32 else 8
            if at > end:
                raise ValueError("it ends in the middle of a field")
        else:
            raise ValueError(f"a field has the unknown type {wire}")


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
        if shift > 63:
            raise ValueError("a number is too long")


def _numbers(value: int | bytes) -> list[int]:
    """Repeated numbers, packed or one by one."""
    if isinstance(value, int):
        return [value]
    if value.isascii():  # every number below 128 is its own byte
        return list(value)
    found, at = [], 0
    while at < len(value):
        number, at = _varint(value, at)
        found.append(number)
    return found


def _message(value: int | bytes) -> bytes:
    if isinstance(value, int):
        raise ValueError("a number stands where a message belongs")
    return value


def _text(value: int | bytes) -> str:
    return _message(value).decode()


def _number(value: int | bytes) -> int:
    if isinstance(value, bytes):
        raise ValueError("bytes stand where a number belongs")
    return value
