"""Tools over files: read and history. A call's arguments in, a reply out."""

from __future__ import annotations

from codenib.adapters.envelopes.envelope import utc
from codenib.adapters.mcp.tools.hints import note_for_tools
from codenib.adapters.mcp.tools.replies import (
    ToolReply,
    counted,
    describe_snapshot,
    head_line,
    numbered,
    snapshot_facts,
)
from codenib.adapters.mcp.tools.tool import Call
from codenib.core.requests import HistoryRequest


def read(call: Call) -> ToolReply:
    """Lines of a file, numbered."""
    passage = call.workspace.read(call["path"], call["start"], call["end"])
    lines = numbered(passage.text, passage.start_line) if passage.text or passage.lines else []
    span = f"{passage.path}:{passage.start_line}-{passage.end_line}"
    head = head_line(span, f"{passage.lines:,} lines", describe_snapshot(passage.snapshot))
    facts = {
        **snapshot_facts(passage.snapshot),
        "provider": "snapshot",
        "total": 1,
        "lines": passage.lines,
        "items": [{"path": passage.path, "line": passage.start_line, "end_line": passage.end_line}],
    }
    return ToolReply(head, lines, facts, "raise max_tokens, or give start and end")


def history(call: Call) -> ToolReply:
    """Commits that changed a file or lines of it, newest first."""
    request = HistoryRequest(call["path"], call["start"], call["end"], call["k"])
    answer = call.workspace.navigator.history(request)
    entries = [
        f"{touch.commit[:9]} {utc(touch.authored):%Y-%m-%d} {touch.author}: {touch.subject}"
        for touch in answer.items
    ]
    if answer.together:
        entries.append("changes together with: " + ", ".join(each.path for each in answer.together))
    span = f"{answer.path}:{answer.start_line}-{answer.end_line}"
    edits = f"{answer.uncommitted} lines not committed" if answer.uncommitted else ""
    what = f"{counted(len(answer.items), answer.total, 'commits')} of {span}"
    head = head_line(what, edits, describe_snapshot(answer.snapshot), note_for_tools(answer.note))
    facts = {
        **snapshot_facts(answer.snapshot, answer.refreshed),
        "provider": "git",
        "total": answer.total,
        "truncated": answer.truncated,
        "complete": answer.complete,
        "items": [
            {
                "commit": touch.commit,
                "committed": utc(touch.committed),
                "path": touch.path,
                "lines": touch.lines,
            }
            for touch in answer.items
        ],
    }
    return ToolReply(head, entries, facts, "raise max_tokens or k", total=answer.total)
