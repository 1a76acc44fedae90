"""Tools that navigate: definition, references, neighbours in the graph, route. Arguments in, a reply out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from codenib.adapters.envelopes.navigation import unresolved
from codenib.adapters.mcp.tools.hints import note_for_tools
from codenib.adapters.mcp.tools.replies import (
    ToolReply,
    counted,
    describe_snapshot,
    head_line,
    numbered,
    shorten,
    snapshot_facts,
)
from codenib.adapters.mcp.tools.tool import Call
from codenib.core.errors import InputError
from codenib.core.facts import BY_NAME
from codenib.core.navigation import Meaning
from codenib.core.requests import CURRENT, NavigationRequest, NeighbourRelation, NeighboursRequest
from codenib.core.symbols import GraphAnswer, NavigationAnswer
from codenib.serving.navigation.route import route_for_query, route_for_symbols

_BODIES = 1  # definitions that are shown with their lines: parsing a file takes 8 ms for 900 lines
_BODY_LINES, _OTHER_LINES = 60, 10  # of the best declaration, and of each other that a name may mean


def definition(call: Call) -> ToolReply:
    """Where a name is declared, with the lines of the declaration."""
    where, name = place_of(call)
    answer = call.workspace.navigator.definition(NavigationRequest(where, name))
    if answer.meanings:
        entries = [
            _meaning(each, _OTHER_LINES if at else _BODY_LINES) for at, each in enumerate(answer.meanings)
        ]
        first = answer.meanings[0]
        lines = range(first.start_line, min(first.end_line, first.start_line + _BODY_LINES - 1) + 1)
        reply = _navigated(answer, entries, "definitions", call["name"])
        return _remembered(call, reply, first.place.path, answer.snapshot.id, lines)
    entries = []
    for at, (place, line) in enumerate(zip(answer.locations, call.workspace.lines(answer), strict=True)):
        body = _body(call, answer.snapshot.id, place.path, place.line) if at < _BODIES else []
        shown = body or [shorten(line.strip())]
        entries.append("\n".join([f"{place.path}:{place.line}", *shown]))
    return _navigated(answer, entries, "definitions", call["name"])


def _meaning(meaning: Meaning, most: int) -> str:
    """A declaration with its kind and its first lines."""
    lines = meaning.text.rstrip().split("\n")
    shown = numbered("\n".join(lines[:most]), meaning.start_line)
    if len(lines) > most:
        shown.append(
            f"… {len(lines) - most} lines: read {meaning.place.path} {meaning.start_line}-{meaning.end_line}"
        )
    marks = "".join(f", {mark}" for mark in meaning.marks)
    head = f"{meaning.place.path}:{meaning.place.line} {meaning.symbol} {meaning.kind}{marks}"
    return "\n".join([head, *shown])


def references(call: Call) -> ToolReply:
    """Every use of a name, a line each, below their files; or the functions that call it."""
    if call["callers"]:
        return _graph(call, ("callers",), depth=1)
    where, name = place_of(call)
    answer = call.workspace.navigator.references(NavigationRequest(where, name, limit=call["k"]))
    entries, last = [], ""
    for place, line in zip(answer.locations, call.workspace.lines(answer), strict=True):
        shown = f"{place.path}:" if place.path != last else "  "
        last = place.path
        cell = " (cell {}, line {})".format(*place.cell) if place.cell else ""
        entries.append(f"{shown}{place.line}{cell} {shorten(line.strip())}")
    return _navigated(answer, entries, "references", call["name"])


def _remembered(call: Call, reply: ToolReply, path: str, snapshot: str, lines: range) -> ToolReply:
    """A reply whose first entry has lines of source, which its client need not be sent again."""

    def sent(entries: int) -> None:
        if entries and call.sent is not None:
            call.sent.add(path, call.workspace.reader.digest(path, snapshot), lines)

    return replace(reply, sent=sent)


def dependencies(call: Call) -> ToolReply:
    """A bounded subgraph around a symbol or a file: what it uses, what uses it."""
    ways: dict[str, tuple[NeighbourRelation, ...]] = {
        "out": ("dependencies",),
        "in": ("dependents",),
        "both": ("dependencies", "dependents"),
    }
    return _graph(call, ways[call["direction"]], depth=call["depth"])


def callers(call: Call) -> ToolReply:
    return _graph(call, ("callers",), depth=call["depth"])


def callees(call: Call) -> ToolReply:
    return _graph(call, ("callees",), depth=call["depth"])


def route(call: Call) -> ToolReply:
    """Where to look, in order, and why."""
    symbols: list[str] = call["symbols"] or []
    if bool(symbols) == bool(call["query"]):
        raise InputError("give a query, or symbols", hint='route query="…", or symbols=["a.b", "c"]')
    if symbols:
        answer = route_for_symbols(call.workspace.navigator, symbols, call["k"])
    else:
        answer = route_for_query(call.workspace.searcher, call.workspace.navigator, call["query"], call["k"])
    entries = [f"{each.path}:{each.line} {each.symbol} ({each.why})" for each in answer.anchors]
    head = head_line(f"{len(entries)} anchors", answer.how, describe_snapshot(answer.snapshot))
    facts = {
        **snapshot_facts(answer.snapshot, answer.refreshed),
        "total": answer.total,
        "provider": answer.how,
        "truncated": answer.total > len(entries),
        "items": [asdict(anchor) for anchor in answer.anchors],
    }
    return ToolReply(head, entries, facts)


def place_of(call: Call) -> tuple[str, str]:
    """Where to ask, and the name that stands there."""
    return call.workspace.navigator.places.near(call["name"], call["path"], call["line"], CURRENT)


def _body(call: Call, snapshot: str, path: str, line: int) -> list[str]:
    """The lines of the smallest unit that begins at or around a line."""
    unit = call.workspace.reader.declared_at(path, line, snapshot)
    if unit is None:
        return []
    first, last = unit.span.start_line, unit.span.end_line
    lines = unit.text.rstrip().split("\n")
    blank = next((at for at, each in enumerate(lines) if each.strip()), 0)
    lines = lines[blank:]
    shown = numbered("\n".join(lines[:_BODY_LINES]), first + blank)
    left = len(lines) - _BODY_LINES
    return [*shown, f"… {left} lines: read {path} {first}-{last}"] if left > 0 else shown


def _navigated(answer: NavigationAnswer, entries: Sequence[str], what: str, name: str | None) -> ToolReply:
    note = note_for_tools(answer.note) if answer.provider != "live" else ""
    outside = f"{answer.outside} outside the repository" if answer.outside else ""
    head = head_line(
        f"{counted(len(answer.locations), answer.total, what)} of {answer.asked or name or answer.position}",
        f"{answer.provider} {answer.backend}" if answer.provider != "syntactic" else "by name alone",
        outside,
        describe_snapshot(answer.snapshot),
        note,
    )
    facts = {
        **snapshot_facts(answer.snapshot, answer.refreshed),
        "provider": answer.provider,
        "backend": answer.backend,
        "granularity": answer.granularity,
        "completeness": answer.completeness,
        "unresolved": answer.unresolved,
        "asked": str(answer.position),
        "total": answer.total,
        "outside": answer.outside,
        "truncated": answer.total > len(answer.locations),
        "note": note_for_tools(answer.note),
        "items": _items(answer),
    }
    links = 1 if what == "definitions" else 0  # a list of uses has its places in the text, in fewer tokens
    return ToolReply(head, entries, facts, "raise max_tokens or k", total=answer.total, links=links)


def _items(answer: NavigationAnswer) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = [
        {"path": place.path, "line": place.line, "column": place.column + 1}
        | ({"scope": place.scope} if place.scope else {})
        for place in answer.locations
    ]
    for item, meaning in zip(items, answer.meanings, strict=False):
        item |= {"symbol": meaning.symbol, "kind": meaning.kind, "signature": meaning.signature}
    return items


def _graph(call: Call, ways: Sequence[NeighbourRelation], *, depth: int) -> ToolReply:
    a_file = call["path"] and not call["name"] and not call["line"]
    where, name = (call["path"], "") if a_file else place_of(call)
    entries: list[str] = []
    places: list[dict[str, Any]] = []
    total, shown, truncated = 0, 0, False
    for which in ways:
        request = NeighboursRequest(where, which, name, depth, call["k"])
        answer = call.workspace.navigator.neighbours(request)
        entries += [f"{which}:"] if len(ways) > 1 else []
        entries += _edges(answer)
        places += [{**asdict(symbol), "which": which} for symbol in answer.symbols if symbol.depth]
        total, shown = total + answer.total, shown + len(answer.symbols) - len(answer.starts)
        truncated = truncated or answer.truncated
    who = ", ".join(f"{group} {backend}" for group, backend in sorted(answer.backends.items()))
    if not shown and unresolved(answer):
        entries = ["not known: no engine resolved uses here"]
    what = f"{counted(shown, total, ' and '.join(ways))} of {answer.asked}"
    head = head_line(
        what, who or "by name alone", describe_snapshot(answer.snapshot), note_for_tools(answer.note)
    )
    facts = {
        **snapshot_facts(answer.snapshot, answer.refreshed),
        "provider": "static" if who else "syntactic",
        "backends": dict(answer.backends),
        "completeness": "limited" if truncated and answer.completeness == "all" else answer.completeness,
        "unresolved": answer.unresolved,
        "asked": answer.asked,
        "total": total,
        "truncated": truncated,
        "note": note_for_tools(answer.note),
        "items": places,
    }
    return ToolReply(head, entries, facts, "raise max_tokens or k, or lower depth")


def _edges(answer: GraphAnswer) -> list[str]:
    """Symbols by their distance, each with the edge that led to it."""
    names = {symbol.id: symbol.qualified for symbol in answer.symbols}
    vague = {symbol.id for symbol in answer.symbols if symbol.scope == BY_NAME and len(answer.starts) > 1}
    why: dict[int, str] = {}
    for edge in answer.edges:
        for end, other in ((edge.source, edge.to), (edge.to, edge.source)):
            between = "" if end in vague else _between(names, other)  # by name, of which one is not known
            why.setdefault(end, f"{edge.kind} at {edge.path}:{edge.line}{between}")
    return [
        f"{'  ' * (symbol.depth - 1)}{symbol.path}:{symbol.line} {symbol.qualified} {symbol.kind}"
        f"{f' ({why[symbol.id]})' if symbol.id in why else ''}{' by name' * (symbol.scope == BY_NAME)}"
        for symbol in answer.symbols
        if symbol.depth
    ]


def _between(names: dict[int, str], other: int) -> str:
    return f" with {names[other]}" if other in names else ""
