"""What servers answer in, locations and symbols of the repository out: sorted, in code points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated
from urllib.parse import unquote, urlsplit

import msgspec

from codenib.core.navigation import Location
from codenib.navigation.live.text import DiskTexts, Encoding, SourceText
from codenib.units.languages import NOTEBOOK_SUFFIX
from codenib.units.notebook_code import file_name, from_cell

# The protocol's numbers, from 1.
_KINDS = (
    "file", "module", "namespace", "package", "class", "method", "property", "field", "constructor", "enum",
    "interface", "function", "variable", "constant", "string", "number", "boolean", "array", "object", "key",
    "null", "enum_member", "struct", "event", "operator", "type_parameter",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class LiveLocations:
    """What a definition or reference request returned.

    `outside` counts locations that are not in the repository; `stale` those that no longer exist on disk.
    `settled` is False when the server was still loading: then there may be more.
    """

    locations: tuple[Location, ...] = ()
    outside: int = 0
    stale: int = 0
    settled: bool = True


@dataclass(frozen=True, slots=True)
class DocumentSymbol:
    """A declaration of a file: `location` is all of it, `selection` its name where the server says that.

    `container` is the name of what holds it, from servers that give a flat list.
    """

    name: str
    kind: str
    location: Location
    selection: Location
    container: str = ""
    children: tuple[DocumentSymbol, ...] = ()


_Count = Annotated[int, msgspec.Meta(ge=0, lt=1 << 31)]


class _Point(msgspec.Struct, frozen=True):
    line: _Count
    character: _Count


class _Range(msgspec.Struct, frozen=True):
    start: _Point
    end: _Point


class _WireLocation(msgspec.Struct, rename="camel"):
    """A Location or a LocationLink."""

    uri: str = ""
    range: _Range | None = None
    target_uri: str = ""
    target_selection_range: _Range | None = None


class _WireSymbol(msgspec.Struct, rename="camel"):
    """A DocumentSymbol or a SymbolInformation."""

    name: str
    kind: int
    range: _Range | None = None
    selection_range: _Range | None = None
    location: _WireLocation | None = None
    container_name: str | None = None
    children: list[_WireSymbol] | None = None


_places = msgspec.json.Decoder(list[_WireLocation] | _WireLocation | None)
_symbols = msgspec.json.Decoder(list[_WireSymbol] | None)


class ResponseReader:
    """Turns a server's answers into values, for one root and position encoding."""

    def __init__(
        self,
        root: Path,
        texts: DiskTexts,
        encoding: Encoding,
        member: Callable[[str], bool],
        copies: Path | None = None,
    ) -> None:
        """Below a number, `copies` has files of the root as they are there, or their beginnings."""
        self._copies = copies
        self._root = root
        self._texts = texts
        self._encoding = encoding
        self._member = member

    def locations(self, raw: msgspec.Raw) -> LiveLocations:
        """The locations of a definition or reference answer; one of UNDECODABLE when it is none."""
        places = _places.decode(raw)
        rows = [places] if isinstance(places, _WireLocation) else places or []
        texts: dict[str, SourceText | None] = {}
        inside: set[Location] = set()
        outside: set[tuple[str, _Range | None]] = set()
        stale = 0
        for row in rows:
            uri = row.uri or row.target_uri
            span = row.range or row.target_selection_range
            path = self._path(uri)
            if path is not None and span is not None and (cell := urlsplit(uri).fragment):
                span = self._from_cell(path, cell, span)
            if path is None or span is None:
                outside.add((uri, span))
                continue
            if path not in texts:
                texts[path] = self._texts.read(path)
            text = texts[path]
            if text is None or span.start.line >= len(text.lines):
                stale += 1
            else:
                inside.add(self._location(path, text, span))
        return LiveLocations(tuple(sorted(inside)), len(outside), stale)

    def symbols(self, raw: msgspec.Raw, path: str) -> tuple[DocumentSymbol, ...]:
        """The declarations of a file, in the server's order."""
        text = self._texts.read(path)
        if text is None:
            return ()
        return tuple(self._symbol(row, path, text) for row in _symbols.decode(raw) or [])

    def _symbol(self, row: _WireSymbol, path: str, text: SourceText) -> DocumentSymbol:
        span = row.range or (row.location.range if row.location else None)
        if span is None:
            raise msgspec.ValidationError(f"the symbol {row.name} has no range")
        return DocumentSymbol(
            name=row.name,
            kind=_KINDS[row.kind - 1] if 0 < row.kind <= len(_KINDS) else "unknown",
            location=self._location(path, text, span),
            selection=self._location(path, text, row.selection_range or span),
            container=row.container_name or "",
            children=tuple(self._symbol(child, path, text) for child in row.children or []),
        )

    def _location(self, path: str, text: SourceText, span: _Range) -> Location:
        start, end = span.start, span.end
        return Location(
            path,
            start.line + 1,
            text.column(start.line, start.character, self._encoding),
            end.line + 1,
            text.column(end.line, end.character, self._encoding),
        )

    def _from_cell(self, path: str, cell: str, span: _Range) -> _Range | None:
        """A range of the file for one of a notebook's cell, which the server counts from 0; None for none."""
        text = self._texts.read(path)
        if text is None or not path.endswith(NOTEBOOK_SUFFIX) or not cell.isdecimal():
            return None
        start = from_cell(text.data, int(cell), span.start.line, span.start.character)
        end = from_cell(text.data, int(cell), span.end.line, span.end.character)
        return _Range(_Point(*start), _Point(*end)) if start and end else None

    def _path(self, uri: str) -> str | None:
        """The path of a file of the repository; None for anything else."""
        try:
            parts = urlsplit(uri)
            if parts.scheme != "file":
                return None
            place = Path(unquote(parts.path))
            if self._copies is not None and place.is_relative_to(self._copies):
                place = self._root.joinpath(*place.relative_to(self._copies).parts[1:])
            path = file_name(place.relative_to(self._root).as_posix())
        except ValueError:
            return None
        return path if self._member(path) else None
