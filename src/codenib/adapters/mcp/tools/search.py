"""Tools that search: explore, search and its single routes, map. A call's arguments in, a reply out."""

from __future__ import annotations

from typing import Any

from codenib.adapters.mcp.tools.hints import note_for_tools
from codenib.adapters.mcp.tools.replies import (
    ToolReply,
    counted,
    describe_snapshot,
    head_line,
    shorten,
    snapshot_facts,
)
from codenib.adapters.mcp.tools.tool import Call
from codenib.core.answers import Answer, Coverage, RegexAnswer
from codenib.core.requests import ExploreRequest, RegexBackend, RegexRequest, SearchRequest
from codenib.serving.context.excerpt import declared_as

_HEAD_TOKENS = 75  # what the head of a pack may take


def explore(call: Call) -> ToolReply:
    """A context pack."""
    max_tokens = max(call["max_tokens"] - _HEAD_TOKENS, 1)
    pack = call.workspace.explorer.explore(ExploreRequest(call["query"], max_tokens, call["paths"] or ()))
    head = head_line(str(pack.plan.route), describe_snapshot(pack.snapshot), note_for_tools(pack.note))
    facts = {
        **snapshot_facts(pack.snapshot, pack.refreshed),
        "note": note_for_tools(pack.note),
        "provider": str(pack.plan.route),
        "plan": pack.plan,
        "total": pack.total,
        "truncated": pack.omitted > 0,
        "items": [
            {
                "path": block.path,
                "line": block.start_line,
                "end_line": block.end_line,
                "symbol": block.symbol,
                "form": block.form,
            }
            for block in pack.blocks
        ],
    }
    return ToolReply(
        head, [pack.text.rstrip("\n").replace("all lines: codenib read", "all lines: read")], facts
    )


def search(call: Call) -> ToolReply:
    """Ranked units, or with `regex` exact lines."""
    if call["regex"]:
        request = RegexRequest(call["query"], k=call["k"], paths=call["paths"] or ())
        return lines_reply(call.workspace.searcher.regex(request))
    return ranked_reply(call, "auto")


def search_bm25(call: Call) -> ToolReply:
    return ranked_reply(call, "lexical")


def search_semantic(call: Call) -> ToolReply:
    return ranked_reply(call, "semantic")


def search_regex(call: Call) -> ToolReply:
    return _pattern_reply(call, "trigram")


def search_zoekt(call: Call) -> ToolReply:
    return _pattern_reply(call, "zoekt")


def map(call: Call) -> ToolReply:
    """Folders, files and their most important declarations."""
    drawn = call.workspace.map(max_tokens=max(call["max_tokens"] - _HEAD_TOKENS, 1), query=call["query"])
    head = head_line(f"by {', '.join(drawn.ranked_by)}", describe_snapshot(drawn.snapshot))
    facts = {
        **snapshot_facts(drawn.snapshot, drawn.refreshed),
        "provider": ", ".join(drawn.ranked_by),
        "items": [
            {"path": each.path, "line": each.line, "symbol": each.symbol} for each in drawn.declarations
        ],
        "total": drawn.total,
        "truncated": drawn.omitted > 0,
    }
    return ToolReply(head, [drawn.text.rstrip("\n")], facts)


def ranked_reply(call: Call, route: str) -> ToolReply:
    """Ranked units, a line each: place, name, declaration."""
    request = SearchRequest(call["query"], k=call["k"], route=route, paths=call["paths"] or ())
    answer = call.workspace.searcher.search(request)
    texts = call.workspace.texts(answer.items, at_snapshot=answer.snapshot.id)
    entries = []
    for item, text in zip(answer.items, texts, strict=True):
        declared = declared_as(text, item.symbol)
        more = f" (+{item.further} more in this file)" if item.further else ""
        entries.append(f"{item.path}:{item.start_line}-{item.end_line} {_named(item.symbol, declared)}{more}")
    what = counted(len(answer.items), answer.total, "units")
    left_out = _left_out(answer.total, answer.coverage)
    head = head_line(
        what,
        str(answer.plan.route),
        describe_snapshot(answer.snapshot),
        note_for_tools(answer.note),
        left_out,
    )
    return ToolReply(head, entries, _search_facts(answer), "raise max_tokens or k", total=answer.total)


def _pattern_reply(call: Call, backend: RegexBackend) -> ToolReply:
    request = RegexRequest(
        call["pattern"],
        k=call["k"],
        ignore_case=call["ignore_case"],
        paths=call["paths"] or (),
        backend=backend,
    )
    return lines_reply(call.workspace.searcher.regex(request))


def lines_reply(found: RegexAnswer) -> ToolReply:
    """Matching lines below their files."""
    entries, last = [], ""
    for match in found.items:
        place = match.path if match.path != last else ""
        last = match.path
        entries.append(f"{place}{':' if place else '  '}{match.line} {shorten(match.text.strip())}")
    what = counted(len(found.items), found.total, "lines")
    notes = "" if found.complete else "stopped by its time limit"
    left_out = _left_out(found.total, found.coverage)
    head = head_line(
        f"{what} in {found.files:,} files", found.provider, describe_snapshot(found.snapshot), notes, left_out
    )
    facts = {
        **snapshot_facts(found.snapshot, found.refreshed),
        "provider": found.provider,
        "total": found.total,
        "truncated": found.truncated,
        "complete": found.complete,
        "coverage": found.coverage,
        "items": [{"path": match.path, "line": match.line} for match in found.items],
    }
    return ToolReply(head, entries, facts, "raise max_tokens or k, or narrow paths", total=found.total)


def _left_out(total: int, coverage: Coverage) -> str:
    """Which files were not searched, for an answer without results."""
    left_out = coverage.not_searched
    return f"not searched: {left_out}" if left_out and not total else ""


def _search_facts(answer: Answer) -> dict[str, Any]:
    return {
        **snapshot_facts(answer.snapshot, answer.refreshed),
        "note": note_for_tools(answer.note),
        "provider": str(answer.plan.route),
        "plan": answer.plan,
        "total": answer.total,
        "truncated": answer.truncated,
        "coverage": answer.coverage,
        "items": [
            {
                "path": item.path,
                "line": item.start_line,
                "end_line": item.end_line,
                "symbol": item.symbol,
                "score": round(item.score, 3),
            }
            for item in answer.items
        ],
    }


def _named(symbol: str, declared: str) -> str:
    """The owner of a declaration with its first line; the name alone is in it already."""
    owner = symbol.rpartition(".")[0]
    return f"{owner} · {shorten(declared)}" if owner else shorten(declared)
