"""An edit in, the files that it left without syntax out: engines go on reading their last readable text."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from typing import TYPE_CHECKING

from codenib.core.source import Delta
from codenib.snapshot.blobs import BlobSource

if TYPE_CHECKING:  # numpy, which a no-op never needs
    from codenib.views.graph.maintenance.stale_syntax import StaleSyntax

_MOST = 40  # files of one edit; more are a merge or another branch, not somebody at work


def find_stale(
    source: BlobSource,
    before: Mapping[str, str],
    after: Mapping[str, str],
    delta: Delta,
    known: Mapping[str, str],
) -> dict[str, StaleSyntax]:
    """The changed files that do not parse any more; of `known` (with readable digests) those still broken."""
    from codenib.views.graph.maintenance.stale_syntax import StaleSyntax, can_go_stale

    edited = [file.path for file in delta.changed] if len(delta.changed) <= _MOST else []
    readable = {path: known.get(path) or before[path] for path in {*edited, *known} if path in after}
    return {
        path: StaleSyntax.of(readable[path], was, now)
        for path, (was, now) in _texts(source, readable, after).items()
        if can_go_stale(path, was, now)
    }


def recall_stale(
    source: BlobSource, known: Mapping[str, str], files: Mapping[str, str]
) -> dict[str, StaleSyntax]:
    """The same for files that are known to be stale; one whose readable text is gone is left out."""
    from codenib.views.graph.maintenance.stale_syntax import StaleSyntax

    texts = _texts(source, {path: digest for path, digest in known.items() if path in files}, files)
    return {path: StaleSyntax.of(known[path], was, now) for path, (was, now) in texts.items()}


def _texts(
    source: BlobSource, readable: Mapping[str, str], now: Mapping[str, str]
) -> dict[str, tuple[bytes, bytes]]:
    """The readable text and the text as it is, of each file where both are there and differ."""
    paths = sorted(path for path in readable if readable[path] != now[path])
    if not paths:
        return {}
    with closing(source.open()) as blobs:
        before = list(blobs.read([readable[path] for path in paths]))
        after = list(blobs.read([now[path] for path in paths]))
    texts = zip(paths, before, after, strict=True)
    return {path: (was, text) for path, was, text in texts if was is not None and text is not None}
