"""Writes SCIP indexes for tests: the values of `scip_wire` in, bytes out."""

from __future__ import annotations

from collections.abc import Iterable

from codenib.navigation.scip.wire import (
    Relationship,
    ScipDocument,
    ScipIndex,
    ScipOccurrence,
    SymbolInformation,
)

_ENCODINGS = {"utf-8": 1, "utf-16": 2, "utf-32": 3}


def varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def chunk(number: int, data: bytes | str) -> bytes:
    data = data.encode() if isinstance(data, str) else data
    return varint(number << 3 | 2) + varint(len(data)) + data if data else b""


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value) if value else b""


def packed(field: int, values: Iterable[int]) -> bytes:
    return chunk(field, b"".join(map(varint, values)))


def place(values: tuple[int, int, int, int]) -> tuple[int, ...]:
    return (*values[:2], values[3]) if values[0] == values[2] else values


def occurrence(one: ScipOccurrence) -> bytes:
    extent = packed(7, place(one.extent)) if one.extent else b""
    return packed(1, place(one.place)) + chunk(2, one.symbol) + number(3, one.roles) + extent


def relationship(one: Relationship) -> bytes:
    flags = (one.is_reference, one.is_implementation, one.is_type_definition, one.is_definition)
    return chunk(1, one.symbol) + b"".join(number(field, int(flag)) for field, flag in enumerate(flags, 2))


def information(one: SymbolInformation) -> bytes:
    relations = b"".join(varint(4 << 3 | 2) + _sized(relationship(each)) for each in one.relationships)
    return chunk(1, one.symbol) + chunk(3, one.about) + relations + number(5, one.kind) + chunk(6, one.name)


def document(one: ScipDocument) -> bytes:
    parts = [chunk(1, one.path)]
    parts += [varint(2 << 3 | 2) + _sized(occurrence(each)) for each in one.occurrences]
    parts += [varint(3 << 3 | 2) + _sized(information(each)) for each in one.symbols]
    return b"".join([*parts, chunk(5, one.text), number(6, _ENCODINGS[one.encoding])])


def _sized(data: bytes) -> bytes:
    return varint(len(data)) + data


def encode(index: ScipIndex) -> bytes:
    tool = chunk(1, index.tool) + chunk(2, index.version)
    parts = [chunk(1, chunk(2, tool) + chunk(3, "file:///somewhere"))]
    parts += [varint(2 << 3 | 2) + _sized(document(each)) for each in index.documents]
    parts += [varint(3 << 3 | 2) + _sized(information(each)) for each in index.external]
    return b"".join(parts)
