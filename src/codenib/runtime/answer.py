"""A model's last message in, an answer with source locations out; and which of them the snapshot has."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec

from codenib.core.errors import CodenibError
from codenib.core.source import Span
from codenib.runtime.tools.ordinary import relative
from codenib.runtime.views import Contexts


class AnswerLocation(msgspec.Struct, frozen=True, omit_defaults=True):
    """A place that the answer commits to. Lines are 1-based and inclusive; 0 means that none was given."""

    path: str = ""
    start_line: int = 0
    end_line: int = 0
    symbol: str = ""
    reason: str = ""


class AgentAnswer(msgspec.Struct, frozen=True):
    """What the model committed to, in its order."""

    summary: str
    locations: tuple[AnswerLocation, ...]


class Located(msgspec.Struct, frozen=True):
    """An answer with its usable locations, and a line for each that is not."""

    locations: tuple[AnswerLocation, ...]
    unusable: tuple[str, ...] = ()

    @property
    def spans(self) -> list[Span]:
        """The committed spans in order, without those that overlap an earlier one."""
        spans: list[Span] = []
        for each in self.locations:
            span = Span(each.path, each.start_line, each.end_line)
            if not any(_overlap(span, other) for other in spans):
                spans.append(span)
        return spans


def parse_answer(text: str) -> AgentAnswer | None:
    """The last JSON object of a message that has the answer's shape; None when there is none.

    >>> parse_answer('Found it. {"summary": "s", "locations": [{"path": "a.py", "start_line": 3}]}').locations
    (AnswerLocation(path='a.py', start_line=3, end_line=0, symbol='', reason=''),)
    """
    found = None
    for value in _objects(text):
        answer = _answer(value)
        found = answer or found
    return found


def locate_answer(answer: AgentAnswer, contexts: Contexts) -> Located:
    """Hold each location against the snapshot: paths exist, lines are cut to the file, symbols resolved."""
    usable: list[AnswerLocation] = []
    unusable: list[str] = []
    for each in answer.locations:
        try:
            usable.append(_locate(each, contexts))
        except CodenibError as error:
            unusable.append(f"{each.path or each.symbol}: {error.message}")
        except _Unusable as error:
            unusable.append(f"{each.path or each.symbol}: {error}")
    return Located(tuple(usable), tuple(unusable))


class _Unusable(Exception):
    """A location that names no lines of the snapshot."""


def _locate(each: AnswerLocation, contexts: Contexts) -> AnswerLocation:
    path = relative(contexts, each.path) if each.path else ""
    if each.start_line > 0 and path:
        lines = contexts.workspace.read(path, refresh="never").lines
        start, end = sorted((each.start_line, each.end_line or each.start_line))
        if start > lines:
            raise _Unusable(f"the file has {lines} lines, not {start}")
        start = max(start, 1)
        return msgspec.structs.replace(each, path=path, start_line=start, end_line=min(end, lines))
    if not each.symbol:
        raise _Unusable("neither lines nor a symbol are given")
    span = _unit(path, each.symbol, contexts) if path else _declaration(each.symbol, contexts)
    return msgspec.structs.replace(each, path=span.path, start_line=span.start_line, end_line=span.end_line)


def _unit(path: str, symbol: str, contexts: Contexts) -> Span:
    """The one unit of a file that a name means; `Class.method` and `method` both name it."""
    parts = _parts(symbol)
    units = [unit for unit in contexts.workspace.units(path, refresh="never") if unit.symbol]
    found = [unit.span for unit in units if _parts(unit.symbol)[-len(parts) :] == parts]
    if not found:
        raise _Unusable(f"no {symbol} in the file")
    if len(found) > 1:
        raise _Unusable(f"{len(found)} things are called {symbol}")
    return found[0]


def _declaration(symbol: str, contexts: Contexts) -> Span:
    """The one unit of the repository with this name."""
    parts = _parts(symbol)
    items = contexts.workspace.search(symbol, k=200, route="lexical", refresh="never").items
    found = [item for item in items if item.symbol and _parts(item.symbol)[-len(parts) :] == parts]
    if len(found) != 1:
        raise _Unusable(f"{len(found)} things are called so")
    return Span(found[0].path, found[0].start_line, found[0].end_line)


def _parts(symbol: str) -> list[str]:
    return [
        part for part in symbol.replace("::", ".").replace("#", ".").removesuffix("()").split(".") if part
    ]


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The outermost JSON objects of a text, in order."""
    decoder = json.JSONDecoder()
    at = text.find("{")
    while at != -1:
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):  # no JSON, or nested without end
            end = at + 1
        else:
            if isinstance(value, dict):
                yield value
        at = text.find("{", end)


def _answer(value: dict[str, Any]) -> AgentAnswer | None:
    places = value.get("locations")
    if not isinstance(places, list) or not all(isinstance(place, dict) for place in places):
        return None
    summary = value.get("summary", "")
    locations = tuple(map(_location, places))
    if not isinstance(summary, str) or any(each is None for each in locations):
        return None
    return AgentAnswer(summary, tuple(each for each in locations if each is not None))


def _location(place: dict[str, Any]) -> AnswerLocation | None:
    try:
        found = msgspec.convert(
            {name: value for name, value in place.items() if value is not None}, AnswerLocation, strict=False
        )
    except msgspec.ValidationError:
        return None
    return found if found.path or found.symbol else None


def _overlap(one: Span, other: Span) -> bool:
    return one.path == other.path and one.start_line <= other.end_line and other.start_line <= one.end_line
