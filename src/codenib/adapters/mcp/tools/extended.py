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
    place_of,
    ranked_reply,
)
from codenib.adapters.mcp.tools.replies import ToolReply, counted, head_line, shown_snapshot, snapshot_facts
from codenib.core.errors import InputError
from codenib.core.requests import NeighbourRelation
from codenib.core.symbols import GraphAnswer
from codenib.core.views import ViewKind
from codenib.serving.navigation.route import route_for_query, route_for_symbols


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
        call.context.require(ViewKind.GRAPH)
        answer = route_for_symbols(call.workspace.navigator, symbols, call["k"])
    else:
        answer = route_for_query(call.workspace.searcher, call.workspace.navigator, call["query"], call["k"])
    entries = [f"{each.path}:{each.line} {each.symbol} ({each.why})" for each in answer.anchors]
    head = head_line(f"{len(entries)} anchors", answer.how, shown_snapshot(answer.snapshot))
    facts = {
        **snapshot_facts(answer.snapshot, answer.refreshed),
        "total": answer.total,
        "provider": answer.how,
        "shown": len(entries),
        "places": [asdict(anchor) for anchor in answer.anchors],
    }
    return ToolReply(head, entries, facts)


def _graph(call: Call, ways: Sequence[NeighbourRelation], *, depth: int) -> ToolReply:
    where, name = place_of(call)
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
