"""The tools of `--tools all`: the paper's whole surface. A call's arguments in, a reply out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import msgspec

from codenib.adapters.mcp.tools.arguments import Parameter
from codenib.adapters.mcp.tools.default import (
    DEFAULT_TOOLS,
    PATHS,
    QUERY,
    WHERE,
    Call,
    K,
    McpTool,
    budget,
    lines_reply,
    ranked_reply,
)
from codenib.adapters.mcp.tools.places import place_of
from codenib.adapters.mcp.tools.replies import ToolReply, counted, head_line, shown_snapshot, snapshot_facts
from codenib.core.errors import CodenibError, InputError
from codenib.core.requests import NeighbourRelation
from codenib.core.symbols import GraphAnswer, Symbol
from codenib.core.views import ViewKind

_NEAR = 3  # anchors whose neighbours a route names


def search_bm25(call: Call) -> ToolReply:
    return ranked_reply(call, "lexical")


def search_semantic(call: Call) -> ToolReply:
    return ranked_reply(call, "semantic")


def search_regex(call: Call) -> ToolReply:
    return lines_reply(_regex(call, zoekt=False))


def search_zoekt(call: Call) -> ToolReply:
    return lines_reply(_regex(call, zoekt=True))


def _regex(call: Call, *, zoekt: bool) -> Any:
    return call.workspace.regex(
        call["pattern"],
        k=call["k"],
        ignore_case=call["ignore_case"],
        paths=call["paths"] or (),
        backend="zoekt" if zoekt else "trigram",
    )


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
        return _route_of_symbols(call, symbols)
    answer = call.workspace.search(call["query"], k=call["k"])
    anchors = [
        _anchor(
            item.path, item.start_line, item.symbol, f"matches {', '.join(item.matched) or 'its meaning'}"
        )
        for item in answer.items
    ]
    for item in answer.items[:_NEAR] if _has_graph(call) else ():
        where = f"{item.path}:{item.start_line}"
        anchors += _around(call, where, item.symbol.rpartition(".")[2], ("callers", "callees"))
    facts = {**snapshot_facts(answer.snapshot, answer.refreshed), "total": answer.total}
    return _route_reply(call, anchors, facts, shown_snapshot(answer.snapshot), str(answer.plan.route))


def _route_of_symbols(call: Call, symbols: Sequence[str]) -> ToolReply:
    call.context.require(ViewKind.GRAPH)
    anchors: list[dict[str, Any]] = []
    if len(symbols) == 2:
        forth = call.workspace.navigator.path(symbols[0], symbols[1])
        chain = forth if forth.symbols else call.workspace.navigator.path(symbols[1], symbols[0])
        names = {symbol.id: symbol.qualified for symbol in chain.symbols}
        reasons = {
            edge.to: f"{edge.kind} from {names[edge.source]} at line {edge.line}" for edge in chain.edges
        }
        anchors = [_anchor_of(symbol, reasons.get(symbol.id, "start")) for symbol in chain.symbols]
        if anchors:
            facts = {**snapshot_facts(chain.snapshot, chain.refreshed), "total": len(anchors)}
            return _route_reply(call, anchors, facts, shown_snapshot(chain.snapshot), "shortest path")
    for symbol in symbols:
        answer = call.workspace.definition(symbol)
        for place in answer.locations:
            anchors.append(_anchor(place.path, place.line, symbol, "declared here"))
        anchors += _around(call, symbol, "", ("callers", "callees"))
    facts = {**snapshot_facts(answer.snapshot, answer.refreshed), "total": len(anchors)}
    unlinked = "no path between them" if len(symbols) == 2 else ""
    return _route_reply(call, anchors, facts, shown_snapshot(answer.snapshot), unlinked)


def _around(call: Call, where: str, name: str, ways: Sequence[NeighbourRelation]) -> list[dict[str, Any]]:
    """The neighbours of an anchor; none when the graph does not know it."""
    words = {"callers": "calls", "callees": "called by"}
    found = []
    for which in ways:
        try:
            answer = call.workspace.neighbours(where, which, name=name, k=5)
        except CodenibError:
            continue  # a section of prose, or a name that the graph does not have
        found += [
            _anchor_of(symbol, f"{words[which]} {answer.asked}") for symbol in answer.symbols if symbol.depth
        ]
    return found


def _route_reply(
    call: Call, anchors: Sequence[dict[str, Any]], facts: dict[str, Any], snapshot: str, how: str
) -> ToolReply:
    first = {(each["path"], each["line"]): each for each in reversed(anchors)}
    kept = [each for each in anchors if first[each["path"], each["line"]] is each][: call["k"]]
    entries = [f"{each['path']}:{each['line']} {each['symbol']} ({each['why']})" for each in kept]
    head = head_line(f"{len(kept)} anchors", how, snapshot)
    return ToolReply(head, entries, {**facts, "provider": how, "shown": len(kept), "places": kept})


def _anchor(path: str, line: int, symbol: str, why: str) -> dict[str, Any]:
    return {"path": path, "line": line, "symbol": symbol, "why": why}


def _anchor_of(symbol: Symbol, why: str) -> dict[str, Any]:
    return _anchor(symbol.path, symbol.line, symbol.qualified, why)


def _has_graph(call: Call) -> bool:
    manifest = call.context.manifest()
    return manifest is not None and ViewKind.GRAPH in manifest.views


def _graph(call: Call, ways: Sequence[NeighbourRelation], *, depth: int) -> ToolReply:
    where, name = place_of(call.workspace, call["name"], call["path"], call["line"])
    if call["path"] and not call["name"] and not call["line"]:
        where, name = call["path"], ""
    entries: list[str] = []
    places: list[dict[str, Any]] = []
    total, shown, truncated = 0, 0, False
    for which in ways:
        answer = call.workspace.neighbours(where, which, name=name, depth=depth, k=call["k"])
        entries += [f"{which}:"] if len(ways) > 1 else []
        entries += _edges(answer)
        places += [{**asdict(symbol), "which": which} for symbol in answer.symbols if symbol.depth]
        total, shown = total + answer.total, shown + len(answer.symbols) - 1
        truncated = truncated or answer.truncated
    who = ", ".join(f"{group} {backend}" for group, backend in sorted(answer.backends.items()))
    what = f"{counted(shown, total, ' and '.join(ways))} of {answer.asked}"
    head = head_line(what, who or "by name alone", shown_snapshot(answer.snapshot), answer.note)
    facts = {
        **snapshot_facts(answer.snapshot, answer.refreshed),
        "provider": "static" if who else "syntactic",
        "backends": dict(answer.backends),
        "asked": answer.asked,
        "total": total,
        "shown": shown,
        "truncated": truncated,
        "note": answer.note,
        "places": places,
    }
    return ToolReply(head, entries, facts, "raise max_tokens or k, or lower depth")


def _edges(answer: GraphAnswer) -> list[str]:
    """Symbols by their distance, each with the edge that led to it."""
    names = {symbol.id: symbol.qualified for symbol in answer.symbols}
    why: dict[int, str] = {}
    for edge in answer.edges:
        for end, other in ((edge.source, edge.to), (edge.to, edge.source)):
            why.setdefault(end, f"{edge.kind} at {edge.path}:{edge.line}" + _between(names, other))
    return [
        f"{'  ' * (symbol.depth - 1)}{symbol.path}:{symbol.line} {symbol.qualified} {symbol.kind}"
        f"{f' ({why[symbol.id]})' if symbol.id in why else ''}"
        for symbol in answer.symbols
        if symbol.depth
    ]


def _between(names: dict[int, str], other: int) -> str:
    return f" with {names[other]}" if other in names else ""


def history(call: Call) -> ToolReply:
    """Commits that changed a file or lines of it, newest first."""
    answer = call.workspace.history(call["path"], call["start"], call["end"], k=call["k"])
    entries = [
        f"{touch.commit[:9]} {_day(touch.authored)} {touch.author}: {touch.subject}" for touch in answer.items
    ]
    if answer.together:
        entries.append("changes together with: " + ", ".join(each.path for each in answer.together))
    span = f"{answer.path}:{answer.start_line}-{answer.end_line}"
    edits = f"{answer.uncommitted} lines not committed" if answer.uncommitted else ""
    what = f"{counted(len(answer.items), answer.total, 'commits')} of {span}"
    head = head_line(what, edits, shown_snapshot(answer.snapshot), answer.note)
    facts = {
        **snapshot_facts(answer.snapshot, answer.refreshed),
        "provider": "git",
        "total": answer.total,
        "shown": len(answer.items),
        "truncated": answer.truncated,
        "complete": answer.complete,
        "places": [
            {"commit": touch.commit, "path": touch.path, "lines": touch.lines} for touch in answer.items
        ],
    }
    return ToolReply(head, entries, facts, "raise max_tokens or k", total=answer.total)


def _day(seconds: int) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d}"


def map(call: Call) -> ToolReply:
    """Folders, files and their most important declarations."""
    drawn = call.workspace.map(max_tokens=max(call["max_tokens"] - 45, 1), query=call["query"])
    head = head_line(f"by {', '.join(drawn.ranked_by)}", shown_snapshot(drawn.snapshot))
    facts = {
        **snapshot_facts(drawn.snapshot, drawn.refreshed),
        "provider": ", ".join(drawn.ranked_by),
        "total": drawn.total,
        "shown": len(drawn.declarations),
        "truncated": drawn.omitted > 0,
    }
    return ToolReply(head, [drawn.text.rstrip("\n")], facts)


def get_manifest(call: Call) -> ToolReply:
    """The manifest of the worktree's snapshot, view by view."""
    manifest = call.context.manifest()
    if manifest is None:
        raise InputError(f"{call.context.name} was not indexed yet", hint="codenib index")
    rows = [msgspec.json.encode({kind: record}).decode() for kind, record in manifest.views.items()]
    commit = (manifest.commit or manifest.snapshot)[:7]
    head = head_line(f"{len(rows)} views of {manifest.files:,} files", f"{commit}{'+edits' * manifest.dirty}")
    facts = {
        "snapshot": {"id": manifest.snapshot, "commit": manifest.commit, "dirty": manifest.dirty},
        "provider": "manifest",
        "total": len(rows),
        "shown": len(rows),
    }
    return ToolReply(head, rows, facts)


_DEPTH = Parameter("depth", "integer", "steps", 1, least=1, most=5)
_MANY = Parameter("k", "integer", "how many", 50, least=1, most=500)
_PATTERN = (
    Parameter("pattern", "string", "a regular expression", required=True),
    Parameter("ignore_case", "boolean", default=False),
    Parameter("k", "integer", "how many lines", 100, least=1, most=2000),
    PATHS,
    budget(2000),
)
_AROUND = (*WHERE, _DEPTH, _MANY, budget(2000))
_GRAPH = ViewKind.GRAPH

MORE_TOOLS = (
    McpTool("search_semantic", "Units by meaning.", (QUERY, K, PATHS, budget(2000)), search_semantic,
         needs=ViewKind.DENSE),
    McpTool("search_bm25", "Units by shared words (BM25).", (QUERY, K, PATHS, budget(2000)), search_bm25),
    McpTool("search_regex", "Exact lines, as a scan of every file would find them.", _PATTERN, search_regex),
    McpTool("search_zoekt", "The same by zoekt.", _PATTERN, search_zoekt, needs=ViewKind.ZOEKT),
    McpTool(
        "dependencies",
        "What a symbol or file uses (out) and what uses it (in).",
        (*WHERE, Parameter("direction", "string", default="both", choices=("in", "out", "both")), _DEPTH,
         _MANY, budget(2000)),
        dependencies, navigates=True, needs=_GRAPH,
    ),
    McpTool("callers", "What calls a function.", _AROUND, callers, navigates=True, needs=_GRAPH),
    McpTool("callees", "What a function calls.", _AROUND, callees, navigates=True, needs=_GRAPH),
    McpTool(
        "route",
        "An ordered list of places to look at, and why: for a query, for symbols, or the shortest chain of"
        " uses between two symbols.",
        (Parameter("query", "string"), Parameter("symbols", "strings"),
         Parameter("k", "integer", "how many", 20, least=1, most=200), budget(1500)),
        route, navigates=True,
    ),
    McpTool(
        "history",
        "Who changed a file or lines of it, when and why.",
        (Parameter("path", "string", required=True), Parameter("start", "integer", least=1),
         Parameter("end", "integer", least=1), Parameter("k", "integer", "how many", 20, least=1, most=500),
         budget(1500)),
        history, needs=ViewKind.HISTORY,
    ),
    McpTool("map", "Folders, files and their most important declarations.",
         (Parameter("query", "string", "prefer what this is about"), budget(1000)), map),
    McpTool("get_manifest", "Which views exist, of which profile.", (budget(4000),), get_manifest,
         waits=False),
)  # fmt: skip

ALL_TOOLS = (*DEFAULT_TOOLS, *MORE_TOOLS)
