"""A store in, the same store without old manifests and without what no manifest reaches out."""

from __future__ import annotations

import shutil
from collections.abc import Collection
from pathlib import Path

from codenib.core.views import Status, ViewKind
from codenib.manifest.files import drop_partial, is_running
from codenib.manifest.store import Store

KEEP_CLEAN = 24  # manifests of commits kept for switching back and forth
KEEP_DIRTY = 8  # manifests of edited worktrees: readers pin the newest, so the older ones only await them


def sweep(
    store: Store,
    *,
    slow: Collection[ViewKind] = (),
    keep_clean: int = KEEP_CLEAN,
    keep_dirty: int = KEEP_DIRTY,
) -> int:
    """Drop old manifests, and what no manifest reaches; how many artifacts went. Under the writer lock.

    The newest view of each `slow` kind stays, however old it is: the next update follows it.
    """
    _drop_rubbish(store)
    store.drop_damaged()
    _prune(store, slow, {False: keep_clean, True: keep_dirty})
    manifests = list(store.manifests_or_none())
    if None in manifests:
        return 0  # what an unreadable manifest reaches is unknown: lose nothing
    views = [record for manifest in manifests if manifest for record in manifest.views.values()]
    # A stale view has an artifact where some of it was published before the whole.
    reached = {record.artifact for record in views if record.status in (Status.FRESH, Status.STALE)}
    gone = [folder for folder in (store.folder / "artifacts").glob("[!.]*") if folder.name not in reached]
    store.seals.remove(gone)
    trees = {manifest.tree for manifest in manifests if manifest}
    for path in (*(store.folder / "scip").glob("*.scip"), *(store.folder / "trees").glob("*.json")):
        if path.stem not in trees:
            path.unlink(missing_ok=True)
    return len(gone)


def _drop_rubbish(store: Store) -> None:
    """What killed writers and removed worktrees left."""
    for folder in (*(store.folder / "artifacts").glob(".tmp-*"), *store.checkouts.glob("checkout-*")):
        if not is_running(int(folder.name.split("-")[1])):  # slow views are built without this lock
            shutil.rmtree(folder, ignore_errors=True)
    for name in ("manifests", "trees", "checked", "heads"):
        drop_partial(store.folder / name)
    drop_partial(store.folder)
    for worktree, head in list(store.heads()):
        if head.place and not Path(head.place).exists():
            store.forget_worktree(worktree)


def _prune(store: Store, slow: Collection[ViewKind], keep: dict[bool, int]) -> None:
    """Forget the least recently used manifests, but for so many clean and so many dirty ones, and heads."""
    lagging = set(slow)
    with store.changing_heads():
        heads = {head.snapshot for _, head in store.heads()}
        for manifest in store.manifests():
            keep[manifest.dirty] -= 1
            views = manifest.views.items()
            newest = {kind for kind, record in views if record.status is Status.FRESH} & lagging
            lagging -= newest
            if keep[manifest.dirty] < 0 and manifest.snapshot not in heads and not newest:
                store.forget(manifest)
