"""A repository in, what a server keeps of it out: open workspaces, file events and background processes."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, TypeVar

import msgspec

from codenib.adapters.mcp.admission import BuildAdmission
from codenib.adapters.mcp.open_repositories import OpenRepositories
from codenib.core.errors import UNDECODABLE, CodenibError, StateError
from codenib.core.views import RepoManifest, ViewKind
from codenib.fleet.compile.records import MeasuredCost
from codenib.serving.choices import DEFAULT_VIEWS
from codenib.serving.shared_models import SharedModels
from codenib.serving.snapshots.events import FileEvents
from codenib.serving.snapshots.opened import OpenSnapshots, open_bytes_of
from codenib.serving.workspace import Workspace
from codenib.system.usage import tree_bytes

State = Literal["starting", "indexing", "ready", "failed"]
_RETRY_S = 5.0  # between two tries to index
_NICENESS = 5  # of a build that nobody waits for
_WORKSPACES = 6  # as many as calls run at once (server.py); one is enough for one client


@dataclass(frozen=True, slots=True)
class Work:
    """What is being done, and how far it is."""

    stage: str = ""
    done: int = 0
    total: int = 0

    def __str__(self) -> str:
        return f"{self.stage} {self.done:,} of {self.total:,}" if self.total > 1 else self.stage


class ServerContext:
    """One repository of a server process: its views are opened once and used by every call.

    It lends workspaces to the threads that answer, watches the files, and runs the first index and the
    updates of the graph in processes beside the server. `start` returns at once.
    """

    def __init__(self, path: str | Path, *, name: str = "", learned: bool = True) -> None:
        self._learned = learned  # whether answers use what was learnt of the repository
        self._observer = Workspace(path)  # asks what is published; it answers no question, so it has no views
        self.root = self._observer.root
        self.name = name or self._observer.name
        self.events = FileEvents.of(self.root)
        self.state: State = "starting"
        self.work = Work("starting")
        self._error: CodenibError | None = None
        self._failed = 0.0  # when
        self._free: list[Workspace] = []
        self._first: Workspace | None = None
        self._wanting_first = (
            0  # calls that can use no other: they do not wait for ever behind those that can
        )
        self._opened = 0
        self._snapshots = OpenSnapshots()
        self._condition = threading.Condition()
        self._child: subprocess.Popen[bytes] | None = None
        self._updater: subprocess.Popen[bytes] | None = None
        self._closing = False
        self._indexing = threading.Lock()
        #: Says what may be open; without it everything that was asked for stays open.
        self.residency: OpenRepositories | None = None
        #: The models that a server's workspaces share, and what reranks the answers of `search`, if anything.
        self.models: SharedModels | None = None
        self.reranker: str | None = None
        #: Says when what is built beside the server may begin; without it, at once.
        self.admission: BuildAdmission | None = None

    def start(self) -> None:
        """Begin to watch and to index, beside everything else."""
        threading.Thread(target=self._prepare, name=f"prepare {self.name}", daemon=True).start()

    def close(self) -> None:
        """Stop the background work and let go of the views."""
        self._closing = True
        for process in (self._child, self._updater):
            if process is not None:
                process.kill()
        if self._updater is not None:
            self._end_updater(self._updater)
        self.events.close()
        with self._condition:
            free, self._free = self._free, []
        for workspace in (*free, self._observer):
            workspace.close()

    def manifest(self) -> RepoManifest | None:
        """What was last published for this worktree."""
        return self._observer.maintenance.published()

    def require(self, kind: ViewKind, allowed: frozenset[ViewKind] | None = None) -> None:
        """Raise when view `kind` was never built: a question does not build views that nobody asked for."""
        manifest = self.manifest()
        if allowed is not None and kind not in allowed:
            raise StateError(f"this token is not for the {kind} view", hint="codenib token create --view")
        if kind not in DEFAULT_VIEWS and (manifest is None or kind not in manifest.views):
            raise StateError(f"{self.name} has no {kind} view", hint=f"codenib index --views {kind}")
        self.follow_edits()

    def check(self) -> bool:
        """Whether questions can be answered; raises when indexing failed and nothing was published before.

        A failure may be the moment's, such as a full disk: a question some seconds later begins anew.
        """
        if self.state == "failed":
            if self.manifest() is not None:
                self._become_ready()  # each question brings the views up, or says why it cannot
            elif time.monotonic() < self._failed + _RETRY_S:
                raise self._error or StateError("indexing failed", hint="codenib index")
            else:
                self.state = "starting"
                self.start()
        return self.state == "ready"

    @contextmanager
    def workspace(
        self, *, first: bool = False, views: frozenset[ViewKind] | None = None
    ) -> Iterator[Workspace]:
        """A workspace for this thread alone. The `first` one has the language servers.

        With `views` no other one answers.
        """
        using = self.residency.using(self) if self.residency is not None else nullcontext()
        with using, self._lent(first, views) as found:
            yield found

    @contextmanager
    def _lent(self, first: bool, views: frozenset[ViewKind] | None) -> Iterator[Workspace]:
        with self._condition:
            self._wanting_first += first
            while (found := self._pick(first)) is None:
                self._condition.wait()
            self._wanting_first -= first
        snapshots = found.maintenance.snapshots
        snapshots.views_allowed = views
        try:
            yield found
        finally:
            snapshots.views_allowed = None
            with self._condition:
                self._free.append(found)
                self._condition.notify_all()

    @property
    def key(self) -> str:
        """What use of this repository is remembered by."""
        return str(self.root)

    def need_bytes(self) -> float:
        """What all published views take at most when they are open."""
        manifest = self.manifest()
        return float(open_bytes_of(manifest)) if manifest is not None else 0.0

    def open_bytes(self) -> float:
        """What is open takes: views, and the process that follows edits with its engines."""
        updater = self._updater
        engines = tree_bytes(updater.pid) if updater is not None else 0
        return float(self._snapshots.size_bytes() + engines)

    def opening_s(self) -> float:
        """What opening the views took."""
        return self._snapshots.opening_s()

    def warm_up(self) -> None:
        """Open what a question needs, before somebody asks one."""
        with suppress(CodenibError), self.workspace() as workspace:
            workspace.search("open", k=1)

    def release(self) -> Callable[[], None]:
        """Let go of views, file events and engines; no call uses them. Returns what ends the programs."""
        with self._condition:
            free, self._free, self._first, self._opened = self._free, [], None, 0
            self._snapshots.pinned.clear()
            self._snapshots.looks.clear()
            self._snapshots = OpenSnapshots()
            updater, self._updater = self._updater, None
        self.events.close()

        def end() -> None:
            for workspace in free:
                workspace.close()
            if updater is not None:
                updater.kill()
                self._end_updater(updater)

        return end

    @property
    def wants_first(self) -> bool:
        """Whether a call waits for the workspace that has the language servers."""
        return self._wanting_first > 0

    def _pick(self, first: bool) -> Workspace | None:
        """The workspace that was used last, as its views are open; a new one when all are taken."""
        if self._first is None:
            self._first = self._open()
            if self.residency is not None and self.state == "ready":  # it may have been closed
                threading.Thread(target=self._follow_again, name=f"follow {self.name}", daemon=True).start()
            return self._first
        if first or (self._first in self._free and not self._wanting_first):
            if self._first not in self._free:
                return None
            self._free.remove(self._first)
            return self._first
        for workspace in reversed(self._free):
            if workspace is not self._first:
                self._free.remove(workspace)
                return workspace
        return self._open() if self._opened < _WORKSPACES else None

    def _open(self) -> Workspace:
        self._opened += 1
        if self.models is None:
            workspace = Workspace(self.root, progress=self._progress)
        else:
            workspace = Workspace(self.root, progress=self._progress, open_embedder=self.models.embedder)
            workspace.searcher.open_reranker = self.models.reranker
        workspace.maintenance.snapshots.unchanged_since = self.events.unchanged_since
        workspace.maintenance.snapshots.catch_up_beside = self._catch_up
        workspace.navigator.resident = True
        workspace.searcher.uses_learned = self._learned
        workspace.maintenance.snapshots.opened = self._snapshots
        return workspace

    def _follow_again(self) -> None:
        """Watch the files, and bring the engines up, of a repository that was closed meanwhile."""
        with suppress(CodenibError, OSError):
            if not self._observer.is_bare and not self.events.watching:
                self.events.start()
            self.follow_edits()

    def follow_edits(self) -> None:
        """Start the process that updates the graph after each edit, once there is a graph."""
        if self._updater is not None or self._closing or self._observer.is_bare:
            return
        manifest = self.manifest()
        if manifest is not None and ViewKind.GRAPH in manifest.views:
            self._updater = self._start("updater", subprocess.DEVNULL)

    def _start(
        self, module: str, out: int, *words: str, variables: Mapping[str, str] | None = None
    ) -> subprocess.Popen[bytes]:
        program = f"codenib.adapters.mcp.background.{module}"
        return subprocess.Popen(
            [sys.executable, "-P", "-m", program, str(self.root), *words],
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **(variables or {})},
        )

    @staticmethod
    def _end_updater(process: subprocess.Popen[bytes]) -> None:
        process.wait()
        if process.stdin is not None:
            process.stdin.close()

    def _progress(self, stage: str, done: int, total: int) -> None:
        self.work = Work(stage, done, total)

    def _prepare(self) -> None:
        try:
            if not self._observer.is_bare and self._error is None:  # else they were started before
                self.events.start()
            if self._observer.maintenance.is_current():
                self._become_ready()
            else:
                self.state = "indexing"
            if self.state == "indexing" or self._observer.maintenance.is_behind():
                self._index()
            self._become_ready()
            self.follow_edits()
        except CodenibError as error:
            self._fail(error)
        except (OSError, ValueError) as error:
            self._fail(StateError(f"indexing failed: {error}", hint="codenib index"))

    def _fail(self, error: CodenibError) -> None:
        self._error, self._failed = error, time.monotonic()
        self.state = "failed"

    def _become_ready(self) -> None:
        self.work = Work()
        self.state = "ready"

    def _catch_up(self) -> None:
        """Bring up in the background what a question did not wait for, unless that is being done."""
        if self._indexing.locked() or self._closing:
            return
        threading.Thread(target=self._catch_up_now, name=f"catch up {self.name}", daemon=True).start()

    def _catch_up_now(self) -> None:
        with suppress(CodenibError, OSError):  # answers say what they are without, and the manifest why
            self._index()

    def _index(self) -> None:
        """Run the indexer and follow its lines; questions are answered as soon as it has the text views."""
        if not self._indexing.acquire(blocking=False):
            return
        try:
            if self.admission is None:
                self._follow_indexer()
                return
            behind = self.state == "ready"  # nobody waits for it
            need = self.admission.need_of(self.root, "background" if behind else "interactive")
            with self.admission.admitted(need, lambda: self._closing) as processors:
                self._follow_indexer(_NICENESS if behind else 0, {"CODENIB_JOBS": str(processors)})
        finally:
            self._indexing.release()

    def _follow_indexer(self, niceness: int = 0, variables: Mapping[str, str] | None = None) -> None:
        self._child = self._start("indexer", subprocess.PIPE, str(niceness), variables=variables)
        with self._child as child:
            assert child.stdout is not None
            problem: StateError | None = None
            for line in child.stdout:
                with suppress(*UNDECODABLE):
                    row = msgspec.json.decode(line, type=_Row)
                    self.work = Work(row.stage, row.done, row.total)
                    problem = StateError(row.error, hint=row.hint) if row.error else problem
                    if row.ready:
                        self._become_ready()
                    if row.peak_bytes and self.admission is not None:
                        self.admission.measured(self.root, MeasuredCost(row.cpu_s, row.peak_bytes))
        self.work = Work()
        if self.state == "ready" or self._closing:
            return  # a view that failed after the text is in the manifest
        if problem is not None:
            raise problem
        if child.returncode:
            raise StateError(f"the indexer ended with code {child.returncode}", hint="codenib index")


class Named(Protocol):
    """What has a name that others may have too."""

    @property
    def name(self) -> str: ...


NamedT = TypeVar("NamedT", bound=Named)


def names_of(sites: Iterable[NamedT]) -> dict[str, NamedT]:
    """The name of each repository in an address: its own, with a number where several have the same."""
    named: dict[str, NamedT] = {}
    for site in sites:
        name, often = site.name, 2
        while name in named:
            name, often = f"{site.name}-{often}", often + 1
        named[name] = site
    return named


def paths_of(sites: Sequence[NamedT]) -> dict[str, NamedT]:
    """The path of each repository: by name, and `/mcp` when there is one alone."""
    paths = {f"/{name}/mcp": site for name, site in names_of(sites).items()}
    if len(sites) == 1:
        paths["/mcp"] = sites[0]
    return paths


class _Row(msgspec.Struct):
    stage: str = ""
    done: int = 0
    total: int = 0
    error: str = ""
    hint: str = ""
    ready: bool = False  # the text views are published: questions can be answered
    cpu_s: float = 0.0  # what all of it took, at the end of a build that read every file
    peak_bytes: int = 0
