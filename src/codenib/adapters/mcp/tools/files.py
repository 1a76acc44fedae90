"""Tools over files: read, outline and history. A call's arguments in, a reply out."""

from __future__ import annotations

from codenib.adapters.envelopes.envelope import utc
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
from codenib.core.requests import HistoryRequest
from codenib.serving.context.excerpt import declared_as


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

    def sent(entries: int) -> None:
        if entries and call.sent is not None:
            digest = call.workspace.reader.digest(passage.path, passage.snapshot.id)
            call.sent.add(passage.path, digest, range(passage.start_line, passage.start_line + entries))

    return ToolReply(head, lines, facts, "raise max_tokens, or give start and end", sent=sent)


def outline(call: Call) -> ToolReply:
    """The declarations of a file with their lines; of a folder what it holds, and what that declares."""
    answer = call.workspace.outline(call["path"] or ".")
    is_file = not answer.symbols or answer.symbols[0].path == answer.asked
    entries = []
    for symbol in answer.symbols:
        indent = "  " * symbol.depth
        if symbol.qualified == symbol.path:
            about = f" ({symbol.kind.partition(', ')[2]})" if symbol.kind.startswith("folder") else ""
            entries.append(f"{symbol.path}{about}")
        else:
            declared = shorten(declared_as(symbol.text, symbol.qualified)) if is_file else symbol.name
            last = f"-{symbol.end_line}" if is_file and symbol.end_line > symbol.line else ""
            lines = f"{symbol.line}{last}"
            entries.append(f"{indent}{lines} {declared or symbol.name}")
    what = f"{answer.total:,} {'declarations' if is_file else 'entries'} of {answer.asked}"
    head = head_line(what, describe_snapshot(answer.snapshot), note_for_tools(answer.note))
    facts = {
        **snapshot_facts(answer.snapshot, answer.refreshed),
        "provider": "static" if answer.backends else "syntactic",
        "total": answer.total,
        "items": [
            {"path": each.path, "line": each.line, "end_line": each.end_line, "symbol": each.qualified,
             "kind": each.kind}
            for each in answer.symbols
        ],
    }  # fmt: skip
    return ToolReply(head, entries, facts, "raise max_tokens, or outline a part of it", total=answer.total)


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
