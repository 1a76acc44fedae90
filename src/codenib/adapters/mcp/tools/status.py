"""Tools about the views themselves: status and get_manifest. A call in, a reply out."""

from __future__ import annotations

import msgspec

from codenib.adapters.envelopes.envelope import Freshness, SnapshotId
from codenib.adapters.mcp.tools.replies import ToolReply, head_line
from codenib.adapters.mcp.tools.tool import Call
from codenib.core.errors import InputError
from codenib.core.views import ViewKind


def status(call: Call) -> ToolReply:
    """What is ready, for which snapshot, and what is being done."""
    context = call.context
    report = call.workspace.status()
    manifest = context.manifest()
    views = {kind: record.status for kind, record in (manifest.views if manifest else {}).items()}
    entries = [f"{report.files:,} files; changed since the last index: {report.added + report.changed}"]
    entries.append(f"state: {context.state}{f' ({context.work})' if context.work.stage else ''}")
    for kind in ViewKind:
        entries.append(f"{kind}: {views.get(kind) or 'not built'}")
    exact = "at once" if context.events.watching else f"within a second ({context.events.note or 'starting'})"
    entries.append(f"edits are seen {exact}")
    if report.skipped:
        entries.append("not indexed: " + ", ".join(f"{often} {why}" for why, often in report.skipped.items()))
    facts = {
        "items": [{"view": str(kind), "status": str(state)} for kind, state in views.items()],
        "total": len(views),
        "snapshot": SnapshotId(report.snapshot, report.commit, report.dirty),
        "freshness": Freshness("fresh" if report.fresh else "stale" if report.indexed_snapshot else "absent"),
        "provider": "store",
        "state": context.state,
        "files": report.files,
    }
    commit = (report.commit or report.snapshot)[:7]
    return ToolReply(head_line(context.name, f"{commit}{'+edits' if report.dirty else ''}"), entries, facts)


def get_manifest(call: Call) -> ToolReply:
    """The manifest of the worktree's snapshot, view by view."""
    manifest = call.context.manifest()
    if manifest is None:
        raise InputError(f"{call.context.name} was not indexed yet", hint="status")
    rows = [msgspec.json.encode({kind: record}).decode() for kind, record in manifest.views.items()]
    commit = (manifest.commit or manifest.snapshot)[:7]
    head = head_line(f"{len(rows)} views of {manifest.files:,} files", f"{commit}{'+edits' * manifest.dirty}")
    facts = {
        "items": [{"view": str(kind), "status": str(each.status)} for kind, each in manifest.views.items()],
        "total": len(rows),
        "snapshot": SnapshotId(manifest.snapshot, manifest.commit, manifest.dirty),
        "freshness": Freshness("unchecked"),
        "provider": "store",
    }
    return ToolReply(head, rows, facts)
