"""An edit in, the files that it left without syntax out: engines go on reading their last readable text."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from typing import TYPE_CHECKING

from codenib.core.source import Delta
from codenib.snapshot.blobs import BlobSource

if TYPE_CHECKING:  # numpy, which a no-op never needs
    from codenib.views.graph.maintenance.broken import Readable

_MOST = 40  # files of one edit; more are a merge or another branch, not somebody at work


def find_held(
    source: BlobSource,
    before: Mapping[str, str],
    after: Mapping[str, str],
    delta: Delta,
    known: Mapping[str, str],
) -> dict[str, Readable]:
    """The changed files that no longer parse; of `known` (path to readable text) those that still do not."""
    from codenib.views.graph.maintenance.broken import held

    edited = [file.path for file in delta.changed] if len(delta.changed) <= _MOST else []
    good = {path: known.get(path) or before[path] for path in {*edited, *known} if path in after}
    found = {}
    for path, (was, now) in _texts(source, good, after).items():
        if (each := held(path, good[path], was, now)) is not None:
            found[path] = each
    return found


def recall_held(
    source: BlobSource, known: Mapping[str, str], files: Mapping[str, str]
) -> dict[str, Readable]:
    """The same for files of which it is known; one whose readable text is gone is left out."""
    from codenib.views.graph.maintenance.broken import moved

    texts = _texts(source, {path: digest for path, digest in known.items() if path in files}, files)
    return {path: moved(known[path], *both) for path, both in texts.items()}


def _texts(
    source: BlobSource, good: Mapping[str, str], now: Mapping[str, str]
) -> dict[str, tuple[bytes, bytes]]:
    """Both texts of each file that differ and are there."""
    paths = sorted(path for path in good if good[path] != now[path])
    if not paths:
        return {}
    with closing(source.open()) as blobs:
        before = list(blobs.read([good[path] for path in paths]))
        after = list(blobs.read([now[path] for path in paths]))
    found = zip(paths, before, after, strict=True)
    return {path: (was, text) for path, was, text in found if was is not None and text is not None}
