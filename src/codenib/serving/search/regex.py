"""A pattern over the pinned trigram view, or over zoekt's shards of the same text, in; matching lines out."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from codenib.core.answers import RegexAnswer
from codenib.core.text.globs import path_filter
from codenib.core.views import ViewKind

if TYPE_CHECKING:
    from codenib.core.requests import RegexRequest
    from codenib.serving.snapshots.pool import Snapshots


def search_regex(snapshots: Snapshots, request: RegexRequest) -> RegexAnswer:
    """The lines that a scan of every file would find, in path order."""
    started = time.perf_counter()
    kind = ViewKind.ZOEKT if request.backend == "zoekt" else ViewKind.TRIGRAM
    pinned, refreshed = snapshots.pin(kind, request.snapshot)
    view = pinned.zoekt if request.backend == "zoekt" else pinned.trigram
    matches = view.search(
        request.pattern,
        ignore_case=request.ignore_case,
        literal=request.literal,
        multiline=request.multiline,
        paths=path_filter(request.paths),
        limit=request.k,
        context=request.context,
        timeout_s=request.timeout_s,
    )
    return RegexAnswer(
        items=matches.items,
        snapshot=pinned.ref,
        total=matches.total,
        files=matches.files,
        truncated=matches.total > len(matches.items),
        complete=matches.complete,
        scanned_all=matches.scanned_all,
        candidates=matches.candidates,
        provider=request.backend,
        reason=matches.reason,
        coverage=pinned.coverage(kind),
        seconds=time.perf_counter() - started,
        refreshed=refreshed,
        by_file=matches.by_file,
    )
