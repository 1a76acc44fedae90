"""Repositories in, what of each is not compiled yet out: which views of which commits, and how much work.

Nothing is taken for compiled because it was said to be: the manifest and its artifacts are looked at. A
repository without changes costs two git processes and a few small files.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from codenib.compiler.compiler import IndexCompiler
from codenib.config.keys import BY_NAME
from codenib.config.resolve import resolve, source_settings
from codenib.core.errors import CodenibError, InputError, StateError
from codenib.core.source import SourceSnapshot
from codenib.core.views import ViewKind
from codenib.fleet.catalogue.catalogue import Catalogue
from codenib.fleet.catalogue.entry import RepositoryEntry
from codenib.fleet.catalogue.sync import heads_of, sync_repository, wanted_branches
from codenib.fleet.compile.records import BuildRecord, CompiledHead, read_record, record_file
from codenib.fleet.compile.task import OWN_TASK, CompileTask
from codenib.fleet.store.layout import FleetHead
from codenib.fleet.store.objects import ObjectStore
from codenib.manifest.store import Store
from codenib.serving.configuration import configured_views
from codenib.snapshot import git
from codenib.snapshot.repository import Repository, locate

#: A store remembers the commits that were used last; with more branches each would push out another.
MOST_BRANCHES = 20


@dataclass(frozen=True, slots=True)
class PendingTask:
    """A task, and what is known of its size: bytes of source, the share of files that differ from the base.

    `blobs` has the sizes of the commit's files by digest, where nothing of the repository was built yet.
    `configured` are the views that configuration names, unless others were asked for.
    """

    task: CompileTask
    source_bytes: int = 0
    changed: float = 1.0
    blobs: Mapping[str, int] = field(default_factory=dict)
    configured: tuple[ViewKind, ...] = ()


@dataclass(frozen=True, slots=True)
class Survey:
    """What one repository needs; `current` branches need nothing. An `error` says why it cannot be read."""

    entry: RepositoryEntry
    record: BuildRecord
    pending: tuple[PendingTask, ...] = ()
    current: int = 0
    error: str = ""
    hint: str = ""


def configuration_digest() -> str:
    """What this user's configuration says of sources and views; a repository's own is part of its commits."""
    said = source_settings(lambda: None), resolve({}, [BY_NAME["views"]])["views"].value
    return hashlib.sha256(repr(said).encode()).hexdigest()[:16]


def survey(
    catalogue: Catalogue,
    entry: RepositoryEntry,
    views: Sequence[ViewKind],
    configuration: str,
    store: ObjectStore | None = None,
) -> Survey:
    """Look at one repository. A mirror that was never fetched is fetched now.

    With a fleet's `store`, what is not published there is not up to date either.
    """
    record = read_record(record_file(catalogue, entry))
    try:
        return _survey(catalogue, entry, tuple(views), configuration, record=record, fleet_store=store)
    except CodenibError as error:
        return Survey(entry, record, error=error.message, hint=error.hint)


def _survey(
    catalogue: Catalogue,
    entry: RepositoryEntry,
    views: tuple[ViewKind, ...],
    configuration: str,
    *,
    record: BuildRecord,
    fleet_store: ObjectStore | None,
) -> Survey:
    place = catalogue.mirror_of(entry)
    if not entry.in_place and not place.exists():
        outcome = sync_repository(catalogue, entry)
        if outcome.error:
            raise InputError(outcome.error, hint=outcome.repeat)
    repository = locate(place)
    heads, default = heads_of(repository)
    branches = wanted_branches(entry, heads, default)
    if len(branches) > MOST_BRANCHES:
        raise InputError(
            f"{entry.name} has {len(branches)} branches to keep, at most {MOST_BRANCHES}",
            hint=f"codenib fleet add {entry.source} --name {entry.name} --branch NAME",
        )
    store = Store(repository.key)
    wanted = views or entry.views
    compiler = IndexCompiler(repository, store)
    pending: list[PendingTask] = []
    current = 0
    for branch in branches:
        commit, known = heads[branch], record.heads.get(branch)
        same = known is not None and known.commit == commit and known.configuration == configuration
        configured: tuple[ViewKind, ...] = ()
        if not wanted:  # what a bare repository's own file says is part of the commit
            cached = known.configured if same and known and repository.kind == "bare" else ()
            configured = cached or configured_views(repository)
        mine = wanted or configured
        lacking = _lacking(compiler, known, mine) if same and known else mine
        if fleet_store is not None and same and known and not lacking:
            published = fleet_store.head(entry.name, branch)
            lacking = _unpublished(compiler, known, mine, published)
        if not lacking:
            current += 1
            continue
        for kinds in _tasks(lacking):
            task = CompileTask(
                entry=entry,
                branch=branch,
                commit=commit,
                default=branch == default,
                views=kinds,
                store=fleet_store.url if fleet_store is not None else "",
            )
            pending.append(replace(_sized(repository, store, record, task), configured=configured))
    return Survey(entry, record, tuple(pending), current)


def _tasks(views: Sequence[ViewKind]) -> list[tuple[ViewKind, ...]]:
    """The views of each task: those of records together, the others alone, after them."""
    text = tuple(kind for kind in views if kind not in OWN_TASK)
    return [*([text] if text else []), *((kind,) for kind in OWN_TASK if kind in views)]


def _lacking(
    compiler: IndexCompiler, known: CompiledHead, views: tuple[ViewKind, ...]
) -> tuple[ViewKind, ...]:
    """The views of a compiled commit that are not there any more, damaged, failed, or of another profile."""
    store = compiler.store
    try:
        manifest = store.manifest(known.snapshot)
        if manifest is None or not store.has_tree(manifest.tree):
            return views
        # Text views look at the settings alone; the others may look at the files.
        files = store.tree(manifest.tree) if any(kind in OWN_TASK for kind in views) else {}
    except StateError:
        return views
    snapshot = SourceSnapshot("", manifest.commit, manifest.dirty, files, settings=manifest.settings)
    compiler.views.settle(snapshot, views)
    store.touch(known.snapshot)
    return tuple(kind for kind in views if compiler.views.fresh_record(manifest, kind) is None)


def _unpublished(
    compiler: IndexCompiler, known: CompiledHead, views: tuple[ViewKind, ...], head: FleetHead | None
) -> tuple[ViewKind, ...]:
    """The views of a compiled commit that `head`, the branch's in the fleet's store, does not have."""
    manifest = compiler.store.manifest(known.snapshot)
    if manifest is None or head is None or head.snapshot != known.snapshot:
        return views
    return tuple(kind for kind in views if head.views.get(str(kind)) != manifest.views[kind].profile)


def _sized(repository: Repository, store: Store, record: BuildRecord, task: CompileTask) -> PendingTask:
    """A task with its size: from what differs from a compiled commit, or from all files of this one."""
    base = record.heads.get(task.branch) or next(iter(record.heads.values()), None)
    manifest = None
    if base is not None and base.commit != task.commit and set(task.views) <= set(base.views):
        try:
            manifest = store.manifest(base.snapshot)
        except StateError:
            manifest = None
    args = repository.git_args()
    if base is not None and manifest is not None and manifest.files:
        answer = git.call([*args, "diff-tree", "-r", "-z", "--name-only", base.commit, task.commit])
        if answer.code == 0:
            return PendingTask(task, changed=min(1.0, answer.out.count(b"\0") / manifest.files))
    if task.group in record.costs:
        return PendingTask(task)
    blobs = _blobs(args, task.commit)
    return PendingTask(task, sum(blobs.values()), blobs=blobs)


def source_bytes(root: Path) -> int:
    """The bytes of all files of a repository's HEAD; 0 where git has none of it."""
    repository = locate(root)
    return sum(_blobs(repository.git_args(), "HEAD").values()) if repository.kind != "folder" else 0


def _blobs(args: Sequence[str], commit: str) -> dict[str, int]:
    """The digest and size of every file of a commit; 0 for what a partial clone does not have."""
    out = os.fsdecode(git.list_files([*args, "ls-tree", "-r", "-l", "-z", "--full-tree", commit]))
    sizes: dict[str, int] = {}
    for row in out.split("\0"):
        fields = row.partition("\t")[0].split()
        if len(fields) == 4 and fields[1] == "blob":
            sizes[fields[2]] = int(fields[3]) if fields[3].isdecimal() else 0
    return sizes
