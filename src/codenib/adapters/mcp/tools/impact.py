"""The tool that says what a change may reach. A call's arguments in, a reply out."""

from __future__ import annotations

from dataclasses import asdict

from codenib.adapters.mcp.tools.hints import note_for_tools
from codenib.adapters.mcp.tools.navigate import place_of
from codenib.adapters.mcp.tools.replies import ToolReply, describe_snapshot, head_line, snapshot_facts
from codenib.adapters.mcp.tools.tool import Call
from codenib.core.requests import ImpactRequest
from codenib.core.symbols import Affected, Consequence, ImpactAnswer, ImpactPart

_TITLES: dict[Consequence, str] = {
    "dependent": "depends on it",
    "test": "tests that reach it",
    "companion": "usually changes with it",
}


def impact(call: Call) -> ToolReply:
    """What depends on a change, which tests reach it and what changes with it, each labelled."""
    where = name = ""
    if call["path"] and not call["name"] and not call["line"]:
        where = call["path"]
    elif call["name"] or call["path"]:
        where, name = place_of(call)
    request = ImpactRequest(where, name=name, diff=call["diff"] or "", k=call["k"])
    answer = call.workspace.impact_analyzer.impact(request)
    entries = [f"changed: {each.path}:{each.line} {each.qualified} {each.kind}" for each in answer.changed]
    for part in answer.parts:
        entries += _entries(part, answer)
    changed = f"{len(answer.changed)} changed"
    head = head_line(changed, describe_snapshot(answer.snapshot), note_for_tools(answer.note))
    facts = {
        **snapshot_facts(answer.snapshot, answer.refreshed),
        "provider": ", ".join(dict.fromkeys(part.provider for part in answer.parts)),
        "total": answer.total,
        "truncated": answer.truncated,
        "parts": [asdict(part) for part in answer.parts],
        "items": [asdict(item) for item in answer.items],
    }
    return ToolReply(head, entries, facts, "raise max_tokens, or lower k")


def _entries(part: ImpactPart, answer: ImpactAnswer) -> list[str]:
    """A kind of consequence: who says it and how completely, then its places below their files."""
    items = answer.of_kind(part.relation)
    if part.total:
        count = f"{len(items)} of {part.total:,}" if part.total > len(items) else f"{part.total:,}"
    else:
        count = "none" if part.completeness == "all" else "not known"
    note = f"; {note_for_tools(part.note)}" if part.note else ""
    title = f"{_TITLES[part.relation]}: {count} ({part.provider}, completeness {part.completeness}{note})"
    if part.relation == "companion":
        return [title, *(f"  {item.path} {item.why}" for item in items)]
    lines, last = [title], ""
    for item in items:
        lines.append(f"  {'' if item.path == last else item.path}{_place(item)}")
        last = item.path
    return lines


def _place(item: Affected) -> str:
    """The declaration, and the line of the use where that stands in the same file."""
    how, _, place = item.why.partition(" at ")
    path, _, line = place.rpartition(":")
    why = f"{how} at {line}" if path == item.path else item.why
    return f":{item.line} {item.symbol or item.kind} ({why})"
