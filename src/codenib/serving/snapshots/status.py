"""Reports about the state of a repository's views, for people and scripts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from codenib.compiler.compiler import IndexCompiler
from codenib.core.updates import LearnedSummary, Outcome
from codenib.core.views import RepoManifest, Status, ViewKind, ViewRecord
from codenib.manifest.files import disk_usage
from codenib.manifest.store import Store
from codenib.snapshot.delta import diff


@dataclass(frozen=True, slots=True)
class StatusReport:
    """What is there for the current worktree. `changed` counts files that differ from what is indexed."""

    repository: str
    root: str
    kind: str
    commit: str | None
    dirty: bool
    files: int
    skipped: Mapping[str, int]
    snapshot: str
    indexed_snapshot: str | None
    fresh: bool
    added: int
    changed: int
    removed: int
    views: Mapping[ViewKind, ViewRecord]
    manifests: int
    store: str
    size_bytes: int
    shared_bytes: int
    learned: tuple[LearnedSummary, ...] = ()


def make_status(compiler: IndexCompiler) -> StatusReport:
    """Compare the worktree as it is now with what is published for it."""
    repository, store = compiler.repository, compiler.store
    snapshot = compiler.take()
    manifest = store.manifest(snapshot.id) or _head(compiler)
    if manifest is not None and not store.has_tree(manifest.tree):
        manifest = None  # damaged: the next index makes it again
    delta = diff(store.snapshot(manifest, repository.name), snapshot) if manifest else None
    fresh = manifest is not None and manifest.snapshot == snapshot.id
    views = {kind: _checked(store, record) for kind, record in manifest.views.items()} if manifest else {}
    if not fresh:
        views = {kind: _stale(record) for kind, record in views.items()}
    elif manifest is not None:
        compiler.views.settle(snapshot, views)
        views = {kind: _of_today(compiler, manifest, record) for kind, record in views.items()}
    return StatusReport(
        repository=repository.name,
        root=str(repository.root),
        kind=repository.kind,
        commit=snapshot.commit,
        dirty=snapshot.dirty,
        files=len(snapshot.files),
        skipped=skipped_files(snapshot.skipped, manifest),
        snapshot=snapshot.id,
        indexed_snapshot=manifest.snapshot if manifest else None,
        fresh=fresh and all(record.status is Status.FRESH for record in views.values()),
        added=len(delta.added) if delta is not None else len(snapshot.files),
        changed=len(delta.changed) if delta is not None else 0,
        removed=len(delta.removed) if delta is not None else 0,
        views=views,
        manifests=len(store.manifests()),
        store=str(store.folder),
        size_bytes=disk_usage(store.folder),
        shared_bytes=sum(map(_size, store.root.glob("*.sqlite*"))),
        learned=_learned(compiler, snapshot.commit),
    )


def _learned(compiler: IndexCompiler, commit: str | None) -> tuple[LearnedSummary, ...]:
    """What `codenib learn` made of this repository."""
    if not (compiler.store.folder / "learned").is_dir():
        return ()
    from codenib.serving.search.learned.repository import LEARNED_FOR, learned_summaries
    from codenib.snapshot.history import leads_to

    return learned_summaries(compiler.store, commit, partial(leads_to, compiler.repository, most=LEARNED_FOR))


def describe_refresh(outcome: Outcome) -> str:
    """One line on what was done before answering; empty when nothing was."""
    again = "; ".join(
        f"{why}, so made again: {', '.join(names)}"
        for why, names in (
            ("damaged in the store", outcome.healed),
            ("made by an earlier version", outcome.outdated),
        )
        if names
    )
    if outcome.nothing_to_do:
        return again
    how = set(outcome.views.values())
    changes = [
        f"{count} {word}"
        for count, word in (
            (outcome.added, "added"),
            (outcome.changed, "changed"),
            (outcome.removed, "removed"),
        )
        if count
    ]
    if how == {"built"}:
        what = f"indexed {outcome.manifest.files:,} files"
    elif how == {"reused"}:
        what = "switched to a snapshot with the same files"
    else:
        what = f"updated {', '.join(sorted(outcome.views))}: {', '.join(changes) or 'no'} files"
    failed = [kind for kind, word in outcome.views.items() if word == Status.FAILED]
    if failed:
        what += f"; failed: {', '.join(failed)}"
    line = f"{what} in {outcome.seconds:.2f} s"
    return f"{line}; {again}" if again else line


def _checked(store: Store, record: ViewRecord) -> ViewRecord:
    """The record of a view; of a failed one when what is published is damaged."""
    if record.status is not Status.FRESH or not (what := store.damage(record.artifact)):
        return record
    return replace(record, status=Status.FAILED, error=f"damaged, the next update makes it again: {what}")


def _of_today(compiler: IndexCompiler, manifest: RepoManifest, record: ViewRecord) -> ViewRecord:
    """The record of a view; of a stale one where no answer uses it, as it would be built otherwise now."""
    if record.status is not Status.FRESH or compiler.views.fresh_record(manifest, record.kind) is not None:
        return record
    return _stale(record)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:  # SQLite removes its log when the last process closes the file
        return 0


def _head(compiler: IndexCompiler) -> RepoManifest | None:
    head = compiler.store.head(compiler.repository.worktree_key)
    return compiler.store.manifest(head) if head else None


def _stale(record: ViewRecord) -> ViewRecord:
    return replace(record, status=Status.STALE) if record.status is Status.FRESH else record


def skipped_files(by_path: Mapping[str, int], manifest: RepoManifest | None) -> dict[str, int]:
    """Files that no view holds, by reason: those told by their path and those told by their content."""
    skipped = dict(by_path)
    lexical = manifest.views.get(ViewKind.LEXICAL) if manifest else None
    for name, count in (lexical.counts if lexical else {}).items():
        if name.startswith("skipped: "):
            reason = name.removeprefix("skipped: ")
            skipped[reason] = skipped.get(reason, 0) + count
    return skipped
