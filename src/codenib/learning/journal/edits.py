"""Two snapshots in, the files that changed between them out, as an entry of the journal."""

from __future__ import annotations

from collections.abc import Mapping

from codenib.core.errors import StateError
from codenib.learning.journal.entries import MOST_PATHS, CallEntry, EditEntry
from codenib.manifest.store import Store
from codenib.snapshot.secrets import is_secret


def published_files(store: Store, snapshot: str) -> dict[str, str] | None:
    """Path and digest of each file of a snapshot; None when it is not, or no longer, stored."""
    try:
        manifest = store.manifest(snapshot)
        return store.tree(manifest.tree) if manifest is not None else None
    except (StateError, OSError):
        return None


def edit_between(
    last: CallEntry,
    target: tuple[str, str | None],
    files: Mapping[str, str],
    store: Store,
    at: float,
) -> EditEntry:
    """What changed from the last call's snapshot to `target` (its id and commit), which has `files`."""
    base = published_files(store, last.snapshot)
    changed: list[str] = []
    if base is not None:
        names = base.keys() | files.keys()
        changed = sorted(name for name in names if base.get(name) != files.get(name))
    listed = [name for name in changed if not is_secret(name)]
    return EditEntry(
        at,
        last.session,
        last.worktree,
        before=last.snapshot,
        after=target[0],
        commit_before=last.commit,
        commit_after=target[1],
        paths=tuple(listed[:MOST_PATHS]),
        total=len(changed),
        complete=base is not None,
    )
