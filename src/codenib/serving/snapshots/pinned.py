"""A published manifest in, its opened views out: everything that one answer uses is of one snapshot."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from difflib import get_close_matches
from functools import cached_property, partial
from pathlib import Path
from threading import Lock, RLock
from typing import TYPE_CHECKING, Any, TypeVar

from codenib.compiler.registry import (
    DENSE,
    GRAPH,
    HISTORY,
    LEXICAL,
    TRIGRAM,
    VIEWS,
    ZOEKT,
    ReaderT,
    RegisteredView,
)
from codenib.core.answers import Coverage, SnapshotRef
from codenib.core.errors import CodenibError, InputError, StateError
from codenib.core.source import BlobUnits, SourceFile
from codenib.core.text.masking import mask_secrets
from codenib.core.views import INSTANT, RepoManifest, Status, ViewKind
from codenib.manifest.store import Store
from codenib.serving.snapshots.opened import open_bytes_of
from codenib.serving.snapshots.status import skipped_files
from codenib.snapshot.blobs import Blobs, BlobSource
from codenib.snapshot.secrets import is_secret
from codenib.units.encoding import as_utf8
from codenib.units.rules import PathRules, rules_of

if TYPE_CHECKING:
    from codenib.views.dense.store import CodeVectorStore
    from codenib.views.graph.read import GraphView
    from codenib.views.history.read import HistoryView
    from codenib.views.lexical.read import LexicalView
    from codenib.views.trigram.read import TrigramView
    from codenib.views.trigram.zoekt import ZoektView


DerivedT = TypeVar("DerivedT")


class PinnedSnapshot:
    """The views of one manifest: opened when first asked for, and open whatever is published later.

    Any number of threads may use it: what it opens or derives is then read alone.
    """

    def __init__(
        self,
        store: Store,
        manifest: RepoManifest,
        source: BlobSource,
        *,
        stale: bool,
        files: Mapping[str, str] | None = None,
    ) -> None:
        """`files` are those of a snapshot that was not published."""
        if files is not None:
            self.__dict__["files"] = dict(files)
        self.manifest = manifest
        self.ref = SnapshotRef(manifest.snapshot, manifest.commit, manifest.dirty, stale)
        self._store = store
        self._source = source
        self._opened: dict[ViewKind, Any] = {}
        self._derived: dict[Callable[[PinnedSnapshot], Any], Any] = {}
        self._opening, self._deriving = RLock(), RLock()
        self._limited: dict[frozenset[ViewKind], PinnedSnapshot] = {}
        self.opening_s = 0.0  # what opening views and deriving from them took

    def pin(self, kind: ViewKind | None) -> None:
        """Read the file list and map the view now: once open, no writer can take them away."""
        self.files  # noqa: B018 - cached
        if kind is not None:
            self.open(VIEWS[kind])
            if what := self._store.damage(self.manifest.views[kind].artifact):  # also after it was opened
                raise StateError(f"the {kind} view is damaged: {what}", hint="codenib update")

    def limited(self, allowed: frozenset[ViewKind]) -> PinnedSnapshot:
        """The same snapshot for who may use these views alone: as if others were never built."""
        views = {kind: record for kind, record in self.manifest.views.items() if kind in allowed}
        with self._opening:
            known = self._limited.get(allowed)
            if known is None or known.manifest.views != views:
                manifest = replace(self.manifest, views=views)
                stale, files = self.ref.stale, self.__dict__.get("files")
                known = PinnedSnapshot(self._store, manifest, self._source, stale=stale, files=files)
                self._limited[allowed] = known
        return known

    def pin_helpful(self, kinds: Iterable[ViewKind]) -> None:
        """Map those of these views that are fresh; one that cannot be opened has failed, the answer not."""
        for kind in kinds:
            if self.has_fresh(kind) and not self._is_for_the_asking(kind):
                try:
                    self.open(VIEWS[kind])
                except (CodenibError, OSError, ValueError, LookupError) as error:
                    record = replace(self.manifest.views[kind], status=Status.FAILED, error=str(error))
                    self.manifest = replace(self.manifest, views={**self.manifest.views, kind: record})

    def _is_for_the_asking(self, kind: ViewKind) -> bool:
        """Whether only questions that name a view use it: another model's vectors."""
        return kind is ViewKind.DENSE and INSTANT not in self.manifest.views[kind].capabilities

    def open(self, view: RegisteredView[Any, ReaderT]) -> ReaderT:
        """The reader of a view, opened once: only questions that need a view pay for it."""
        if view.kind not in self._opened:
            with self._opening:
                if view.kind not in self._opened:
                    started = time.perf_counter()
                    self._opened[view.kind] = self._open_whole(view)
                    self.opening_s += time.perf_counter() - started
        reader: ReaderT = self._opened[view.kind]
        return reader

    def _open_whole(self, view: RegisteredView[Any, ReaderT]) -> ReaderT:
        """A reader of an artifact that has all its checksums."""
        folder = self._artifact(view.kind)
        try:
            return view.open(self._store.whole_artifact(folder.name))
        except (OSError, ValueError, LookupError) as error:
            raise StateError(
                f"the {view.kind} view cannot be opened: {error}", hint="codenib index --rebuild"
            ) from error

    @property
    def opened_views(self) -> tuple[ViewKind, ...]:
        """The views that are open."""
        return tuple(self._opened)

    def size_bytes(self) -> int:
        """What the open views take at most: their parts, which are mapped, and what is derived from them."""
        total = open_bytes_of(self.manifest, self.opened_views)
        return total + sum(each.size_bytes() for each in list(self._limited.values()))

    @property
    def lexical(self) -> LexicalView:
        return self.open(LEXICAL)

    @property
    def trigram(self) -> TrigramView:
        return self.open(TRIGRAM)

    @property
    def zoekt(self) -> ZoektView:
        return self.open(ZOEKT)

    @property
    def dense(self) -> CodeVectorStore:
        return self.open(DENSE)

    @property
    def graph(self) -> GraphView:
        return self.open(GRAPH)

    @property
    def history(self) -> HistoryView:
        return self.open(HISTORY)

    def derived(self, build: Callable[[PinnedSnapshot], DerivedT]) -> DerivedT:
        """What `build` makes of this snapshot's views, built once and shared by all answers from it."""
        if build not in self._derived:
            with (
                self._deriving
            ):  # another lock than that of `open`: who needs no names does not wait for them
                if build not in self._derived:
                    started, before = time.perf_counter(), self.opening_s
                    self._derived[build] = build(self)
                    # At least what views took that were opened for it.
                    self.opening_s = max(self.opening_s, before + time.perf_counter() - started)
        value: DerivedT = self._derived[build]
        return value

    @cached_property
    def files(self) -> dict[str, str]:
        """Path to digest."""
        return self._store.tree(self.manifest.tree)

    @property
    def rules(self) -> PathRules:
        """What a path says of language and marks, under the settings of this snapshot."""
        return rules_of(self.manifest.settings)

    def has_fresh(self, kind: ViewKind) -> bool:
        """Whether a view of this kind exists and is the snapshot's own."""
        record = self.manifest.views.get(kind)
        return record is not None and record.status is Status.FRESH

    def coverage(self, kind: ViewKind) -> Coverage:
        """How much of the snapshot a view holds."""
        skipped = skipped_files(self.manifest.skipped, self.manifest)
        return Coverage(self.manifest.views[kind].counts.get("files", 0), skipped)

    def text(self, path: str) -> str:
        """A file's text, as the snapshot has it, with secrets masked: every line and column is true."""
        return self.texts([path])[0]

    def texts(self, paths: Sequence[str]) -> list[str]:
        """The text of each path, as `text`."""
        digests = {path: self._file(path).digest for path in paths}
        owner = str(self._store.folder)
        by_digest = {digest: _RECENT.get((owner, digest)) for digest in digests.values()}
        unread = [digest for digest, text in by_digest.items() if text is None]
        if unread:
            with closing(self._source.open()) as blobs:
                for digest, data in zip(unread, blobs.read(unread), strict=True):
                    if data is not None:
                        text = mask_secrets(as_utf8(data).decode("utf-8", "replace"))
                        by_digest[digest] = _RECENT.put((owner, digest), text)
        texts = []
        for path in paths:
            if (found := by_digest[digests[path]]) is None and (
                stored := self._stored_text(path)
            ) is not None:
                found = _RECENT.put((owner, digests[path]), stored)
            if found is None:
                raise StateError(f"the content of {path} is gone from the repository", hint="codenib update")
            texts.append(found)
        return texts

    def _stored_text(self, path: str) -> str | None:
        """A file's text from the trigram view, where neither git nor the blob store has it; None without."""
        if not self.has_fresh(ViewKind.TRIGRAM):
            return None
        data = self.derived(_stored_files).get(path)
        return None if data is None else mask_secrets(data().decode("utf-8", "replace"))

    def open_blobs(self) -> Blobs:
        """A reader of the repository's blobs, also of those that the snapshot lacks; the caller closes it."""
        return self._source.open()

    def units(self, path: str) -> tuple[BlobUnits, str]:
        """The units of a file, with its text."""
        from codenib.units.extract import extract

        text = self.text(path)
        return extract(text.encode(), self.rules.language(path)), text

    def _file(self, path: str) -> SourceFile:
        digest = self.files.get(path)
        if digest is None and is_secret(path):
            hint = f"echo '!{path}' >> .codenibignore"
            raise InputError(
                f"{path} is a secrets file by its name: it is not served unless named", hint=hint
            )
        if digest is None:
            near = _nearest(path, self.files)
            hint = f"codenib read {near[0]}" if near else "codenib map"
            also = f"; near: {', '.join(near)}" if near else ""
            raise InputError(f"{path} is not a file of this snapshot{also}", hint=hint)
        return SourceFile(path, digest)

    def _artifact(self, kind: ViewKind) -> Path:
        record = self.manifest.views.get(kind)
        if record is None:
            raise StateError(f"the {kind} view was not built", hint=f"codenib index --views {kind}")
        if record.status is Status.STALE and not record.how:
            raise StateError(f"the {kind} view is not built yet", hint=f"codenib index --views {kind}")
        if record.status is Status.STALE:
            raise StateError(f"the {kind} view is of an earlier snapshot", hint="codenib update")
        if record.status is not Status.FRESH:
            raise StateError(f"the {kind} view failed: {record.error}", hint=f"codenib index --views {kind}")
        return self._store.artifact(record.artifact)


def _stored_files(pinned: PinnedSnapshot) -> dict[str, Callable[[], bytes]]:
    """Each file of the trigram view, which stores text, with what reads it."""
    live = pinned.trigram.live()
    return {file.path: partial(segment.texts.data, index) for file, segment, index in live}


class _Recent:
    """Masked texts, the last used: a question reads a file several times, each with a git process.

    They are by repository and digest, which is right for every snapshot. Not by digest alone: a first read
    that is fast would tell that another repository, maybe another tenant's, has the same file.
    """

    def __init__(self, size: int) -> None:
        self._left = size
        self._texts: OrderedDict[tuple[str, str], str] = OrderedDict()
        self._lock = Lock()

    def get(self, key: tuple[str, str]) -> str | None:
        with self._lock:
            if key in self._texts:
                self._texts.move_to_end(key)
            return self._texts.get(key)

    def put(self, key: tuple[str, str], text: str) -> str:
        with self._lock:
            if key not in self._texts:
                self._texts[key] = text
                self._left -= len(text)
            while self._left < 0:
                self._left += len(self._texts.popitem(last=False)[1])
        return text


_RECENT = _Recent(8_000_000)  # characters


_NEAR, _ALIKE = 3, 0.75  # files that an error names, and how alike they are at least


def _nearest(path: str, files: Mapping[str, str]) -> list[str]:
    """Up to three files that may be meant: those of the same last name, else those that are written alike."""
    name = path.rsplit("/", 1)[-1]
    same = [other for other in files if other == name or other.endswith(f"/{name}")]
    if same:
        return sorted(same, key=lambda other: (len(other), other))[:_NEAR]
    names: dict[str, str] = {}
    for other in sorted(files, key=lambda other: (len(other), other)):
        names.setdefault(other.rsplit("/", 1)[-1], other)
    alike = [*get_close_matches(path, files, _NEAR, _ALIKE), *get_close_matches(name, names, _NEAR, _ALIKE)]
    return list(dict.fromkeys(names.get(each, each) for each in alike))[:_NEAR]
