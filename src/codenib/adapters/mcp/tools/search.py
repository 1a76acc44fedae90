"""Tools that search: explore, search and its single routes, map. A call's arguments in, a reply out."""

from __future__ import annotations

from dataclasses import replace
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
from codenib.core.answers import Answer, Coverage, LineMatch, RegexAnswer
from codenib.core.errors import InputError
from codenib.core.requests import ExploreRequest, RegexBackend, RegexRequest, SearchRequest
from codenib.serving.context.excerpt import declared_as
from codenib.serving.context.ledger import Ledger

_HEAD_TOKENS = 75  # what the head of a pack may take
_LINKS = 3
_CHEAPER = "by words alone: the server is busy"  # what an answer says that got less than it asked for


def explore(call: Call) -> ToolReply:
    """A context pack."""
    max_tokens = call.text_tokens(_HEAD_TOKENS)
    ledger = call.sent.begin() if call.sent is not None and not call["again"] else Ledger()
    route = "lexical" if call.cheaper else "auto"
    request = ExploreRequest(call["query"], max_tokens, call["paths"] or (), route=route)
    pack = call.workspace.explorer.explore(request, ledger)
    note = "; ".join(filter(None, (_CHEAPER * call.cheaper, note_for_tools(pack.note))))
    before = any(block.sent_before for block in pack.blocks)
    head = head_line(
        str(pack.plan.route),
        describe_snapshot(pack.snapshot),
        note,
        "lines already sent are left out: again=true sends them" if before else "",
    )
    facts = {
        **snapshot_facts(pack.snapshot, pack.refreshed),
        "note": note,
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

    def sent(entries: int) -> None:
        if entries and call.sent is not None:
            call.sent.keep(ledger)

    text = pack.text.rstrip("\n").replace("all lines: codenib read", "all lines: read")
    return ToolReply(head, [text], facts, links=_LINKS, sent=sent)


def search(call: Call) -> ToolReply:
    """Ranked units for a query, or like a place."""
    if bool(call["query"]) == bool(call["like"]):
        raise InputError("search needs query, or like", hint="query=…, or like=src/app.py:12")
    return ranked_reply(call, "auto", like=call["like"] or "")


def grep(call: Call) -> ToolReply:
    """Exact lines, the files that have them, or how many there are."""
    mode = call["mode"]
    request = RegexRequest(
        call["pattern"],
        k=call["k"] if mode == "lines" else 0,
        ignore_case=call["ignore_case"],
        multiline=call["multiline"],
        context=call["context"],
        paths=call["paths"] or (),
    )
    found = call.workspace.searcher.regex(request)
    return lines_reply(found) if mode == "lines" else _files_reply(found, mode == "count")


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
    drawn = call.workspace.map(max_tokens=call.text_tokens(_HEAD_TOKENS), query=call["query"])
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


def ranked_reply(call: Call, route: str, like: str = "") -> ToolReply:
    """Ranked units, a line each: place, name, declaration."""
    cheaper = call.cheaper and route == "auto" and not like
    request = SearchRequest(
        call["query"] or "",
        k=call["k"],
        route="lexical" if cheaper else route,
        paths=call["paths"] or (),
        like=like,
        reranker=call.context.reranker if route == "auto" and not cheaper and not like else None,
    )
    answer = call.workspace.searcher.search(request)
    if cheaper:
        answer = replace(answer, note="; ".join(filter(None, (_CHEAPER, answer.note))))
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
    return ToolReply(
        head, entries, _search_facts(answer), "raise max_tokens or k", total=answer.total, links=_LINKS
    )


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
    """Matching lines below their files; with context, the lines around them as they are."""
    entries, last, end = [], "", 0
    around = any(match.before or match.after or "\n" in match.text for match in found.items)
    for match in found.items:
        place = f"{match.path}:" if match.path != last else ""
        if not around:
            entries.append(f"{place or '  '}{match.line} {shorten(match.text.strip())}")
        else:
            shown, end = _block(match, end if match.path == last else 0)
            entries.append("\n".join(filter(None, (place, *shown))))
        last = match.path
    what = counted(len(found.items), found.total, "matches" if around else "lines")
    facts = {
        **_regex_facts(found),
        "truncated": found.truncated,
        "items": [{"path": match.path, "line": match.line} for match in found.items],
    }
    more = "raise max_tokens or k, or narrow paths"
    return ToolReply(_regex_head(found, what), entries, facts, more, total=found.total)


def _block(match: LineMatch, end: int) -> tuple[list[str], int]:
    """A match with the lines around it that were not printed yet, numbered; and its last line."""
    lines = match.text.split("\n")
    first, last = match.line - len(match.before), match.line + len(lines) - 1 + len(match.after)
    rows = enumerate((*match.before, *lines, *match.after), first)
    shown = [f"{number} {shorten(text.rstrip())}".rstrip() for number, text in rows if number > end]
    return (["--", *shown] if end and first > end + 1 else shown), max(end, last)


def _files_reply(found: RegexAnswer, with_counts: bool) -> ToolReply:
    """The files that have matches, with how many in each where that was asked for."""
    files = found.by_file
    entries = [f"{path}: {often:,}" if with_counts else path for path, often in files.items()]
    facts = {
        **_regex_facts(found),
        "total": len(files),
        "lines": found.total,
        "items": [{"path": path, "matches": often} for path, often in files.items()],
    }
    what = f"{found.total:,} lines"
    return ToolReply(_regex_head(found, what), entries, facts, "raise max_tokens, or narrow paths")


def _regex_head(found: RegexAnswer, what: str) -> str:
    notes = "" if found.complete else "stopped by its time limit: there may be more"
    left_out = _left_out(found.total, found.coverage)
    place = f"{what} in {found.files:,} files"
    return head_line(place, found.provider, describe_snapshot(found.snapshot), notes, left_out)


def _regex_facts(found: RegexAnswer) -> dict[str, Any]:
    return {
        **snapshot_facts(found.snapshot, found.refreshed),
        "provider": found.provider,
        "total": found.total,
        "complete": found.complete,
        "coverage": found.coverage,
    }


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
