"""A root and a server in, definitions, references and symbols as the server gives them now out.

The server starts with the first request, settles before its first answer counts, hears of every change on
disk before a request, starts again after a crash, and stops when nobody asks for a while. Any number of
threads may ask.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from time import monotonic
from typing import TypeVar
from urllib.parse import unquote

from codenib.core.errors import InputError, ProviderError
from codenib.core.navigation import Position
from codenib.navigation.engines.rpc import ServerDied, ServerSlow
from codenib.navigation.live.preparation import ServerStart, prepare
from codenib.navigation.live.results import DocumentSymbol, LiveLocations
from codenib.navigation.live.servers import KnownCommands, Launch, Preparation, Server, launch_of
from codenib.navigation.live.session import TRUST, LanguageServerSession, LiveRequest, SyncEffect, Timeouts
from codenib.navigation.live.worktree import Changes

# As the paper's replay: at least two rounds of the same requests, at most eight, until two agree.
_LEAST_ROUNDS, _MOST_ROUNDS = 2, 8
_CRASHES = 3
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class WarmUp:
    """How a server settled: `stable` when two rounds in a row gave the same."""

    rounds: int
    stable: bool
    seconds: float


def _every_path(path: str) -> bool:
    return True


class LiveProvider:
    """The live server of one group on one root.

    `places` are values for the names in braces of the server's row. `member` says which paths are of the
    repository: others count as outside. With `watch`, every request first looks for changes on disk; without,
    the caller reports them by `changed`, and only the file asked about is looked at. `folder` is where the
    server may keep its state; a temporary one otherwise.
    """

    def __init__(
        self,
        root: Path,
        server: Server,
        command: Sequence[str],
        *,
        places: Mapping[str, str] | None = None,
        trusted: bool = False,
        watch: bool = True,
        member: Callable[[str], bool] = _every_path,
        folder: Path | None = None,
        times: Timeouts | None = None,
    ) -> None:
        self.root = root.resolve()
        self.server = server
        self._command = tuple(command)
        self._places = dict(places or {})
        self._trusted = trusted
        self._watch = watch
        self._member = member
        self._folder = folder
        self._times = times or Timeouts()
        self._settle_s = self._times.settle_s
        self._lock = threading.RLock()
        self._session: LanguageServerSession | None = None
        self._commands = KnownCommands()
        self._is_outdated = Preparation().is_outdated
        self._running_in = self.root
        self._stopped = threading.Event()
        self._stopped.set()
        self._closed = False
        self._warm = False
        self._cold_until = 0.0
        self._told = Changes()
        self._crashes = 0  # in a row
        self._counting = threading.Lock()
        self._active = 0
        self._used = monotonic()

    def __enter__(self) -> LiveProvider:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def pid(self) -> int | None:
        """The server's process, while it runs."""
        session = self._session
        return session.connection.pid if session is not None and session.connection.alive else None

    def definition(self, position: Position) -> LiveLocations:
        """Where what stands at `position` is defined."""
        return self._answer(LiveRequest("definition", position))

    def references(self, position: Position, *, declaration: bool = True) -> LiveLocations:
        """Where what stands at `position` is used; with `declaration`, where it is declared too."""
        return self._answer(LiveRequest("references", position, declaration))

    def document_symbols(self, path: str) -> tuple[DocumentSymbol, ...]:
        """The declarations of a file."""
        _inside(path)

        def ask() -> tuple[DocumentSymbol, ...]:
            with self._lock:
                session = self._synced(path)
            return session.symbols(path)

        return self._survive(ask)

    def start(self) -> None:
        """Start the server now, not with the first request."""

        def attempt() -> LanguageServerSession:
            with self._lock:
                return self._synced(None)

        self._survive(attempt)

    def warm_up(self, asks: Sequence[LiveRequest]) -> WarmUp:
        """Ask the same in rounds until the answers are stable; a server that has settled does it again."""
        begin = monotonic()

        def ask() -> WarmUp:
            with self._lock:
                self._chill()
                session = self._synced(None)
                for path in dict.fromkeys(ask.position.path for ask in asks):
                    session.open(_inside(path))
                rounds, _ = self._settle(session, asks)
                return WarmUp(rounds, self._warm, monotonic() - begin)

        return self._survive(ask)

    def keep_open(self, path: str) -> None:
        """Open a file and close all others: some servers search files outside their project while open."""
        with self._in_use(), self._lock:
            session = self._synced(_inside(path))
            session.documents.close_all_but(path)

    def changed(self, changes: Changes) -> None:
        """Report changes on disk; the next request sees them. Only needed without `watch`."""
        with self._lock:
            self._told = Changes(
                (*self._told.created, *changes.created),
                (*self._told.changed, *changes.changed),
                (*self._told.removed, *changes.removed),
            )

    def renew(self) -> None:
        """End the server; the next question starts another, which knows nothing of files that were open."""
        with self._in_use(), self._lock:
            self._stop()

    def close(self) -> None:
        """End the server for good; it and all that it started are gone when this returns."""
        self._closed = True
        # A request may hold the lock for as long as the server settles: end the server under it.
        if not self._lock.acquire(timeout=0.1):
            session = self._session
            if session is not None:
                session.close(gently=False)
            self._lock.acquire()
        try:
            self._stop()
        finally:
            self._lock.release()

    def wait_stopped(self, timeout_s: float) -> bool:
        """Wait until no server runs, as when it was idle for long enough."""
        return self._stopped.wait(timeout_s)

    def _answer(self, ask: LiveRequest) -> LiveLocations:
        _inside(ask.position.path)

        def attempt() -> LiveLocations:
            with self._lock:
                session = self._synced(ask.position.path)
                if not self._warm:
                    _, (found,) = self._settle(session, [ask])
                    return found
            return session.ask(ask)

        return self._survive(attempt)

    def _survive(self, attempt: Callable[[], T]) -> T:
        """Try, and after a crash try again on a new server; the third crash is the caller's error."""
        crashes = 0
        with self._in_use():
            while True:
                try:
                    value = attempt()
                except ServerDied as error:
                    crashes += 1
                    self._crashed(error, crashes)
                except ServerSlow as error:
                    if error.hung:
                        self._drop(error.pid)
                    raise
                else:
                    self._crashes = 0
                    return value

    def _crashed(self, error: ServerDied, crashes: int) -> None:
        with self._lock:
            if self._closed:
                raise self._is_closed() from error
            if stuck := self._stuck(error.pid):
                self._drop(error.pid)
                what = f"{self.server.tool} was ended: {stuck}"
                raise ProviderError(
                    what, hint=TRUST if "CPU" in stuck else f"find {self.root} -type p"
                ) from error
            if self._drop(error.pid):
                self._crashes += 1  # once, however many requests were waiting
            in_a_row = max(crashes, self._crashes)
            if in_a_row >= _CRASHES:
                what = f"{self.server.tool} crashed {in_a_row} times in a row; the last time: {error.message}"
                raise ProviderError(what, hint=f"codenib tools install {self.server.group}") from error

    def _stuck(self, pid: int) -> str:
        """Why the server that is this process was ended by us; empty when it was not."""
        session = self._session
        return session.watchdog.reason if session is not None and session.connection.pid == pid else ""

    def _drop(self, pid: int) -> bool:
        """End the server that is this process, if it still is the current one."""
        with self._lock:
            current = self._session is not None and self._session.connection.pid == pid
            if current:
                self._stop(gently=False)
            return current

    def _synced(self, path: str | None) -> LanguageServerSession:
        """The running server, told of all changes on disk, with `path` open. The lock is held."""
        session = self._session or self._start()
        if not session.connection.alive:
            raise session.connection.died()
        changes = session.worktree.changes() if self._watch else self._told
        self._told = Changes()
        if self._watch or changes:
            effect = SyncEffect.RESTART if self._is_outdated(changes.changed) else session.sync(changes)
            if effect is SyncEffect.RESTART:
                self._stop()
                session = self._start()
            elif effect is SyncEffect.COLD:
                self._chill()
        if path is not None:
            if self._is_misled(session, path):
                self._stop()
                session = self._start()
            session.open(path)
        return session

    def _is_misled(self, session: LanguageServerSession, path: str) -> bool:
        """Whether another file was open that hides what the index has: a part of other files that cannot be
        read alone, or a source whose parts stand in other files."""
        if not self.server.remembers_opened:
            return False
        others = {str(self.root / each) for each in session.documents.opened if each != path}
        unreadable = {unquote(uri).removeprefix("file://") for uri in session.activity.unreadable}
        return bool(others & ((unreadable - self._commands.compiled) | self._commands.with_parts))

    def _start(self) -> LanguageServerSession:
        if self._closed:
            raise self._is_closed()
        folder = self._folder or Path(tempfile.mkdtemp(prefix="codenib-live-"))
        try:
            folder.mkdir(parents=True, exist_ok=True)
            launch = self._launch(folder)
            self._settle_s = min(self._times.settle_s, launch.settle_s)
            session = LanguageServerSession(
                self.root,
                self.server,
                launch,
                folder,
                times=self._times,
                trusted=self._trusted,
                member=self._member,
            )
        except BaseException:
            self._remove(folder)
            raise
        self._session = session
        self._running_in = folder
        self._stopped.clear()
        self._chill()
        try:
            session.initialize()
        except ServerDied:
            raise
        except BaseException:
            self._stop(gently=False)
            raise
        threading.Thread(target=self._stop_when_idle, args=(session,), daemon=True).start()
        return session

    def _stop(self, *, gently: bool = True) -> None:
        session, self._session = self._session, None
        if session is not None:
            session.close(gently=gently)
            self._remove(self._running_in)
        self._stopped.set()

    def _launch(self, folder: Path) -> Launch:
        """How the server is started now: settings of the repository are looked at again each time."""
        asked = ServerStart(
            self.server, self._command, self.root, folder, places=self._places, is_closed=lambda: self._closed
        )
        prepared = prepare(asked, trusted=self._trusted)
        self._commands = prepared.commands
        self._is_outdated = prepared.is_outdated
        return launch_of(self.server, self._command, self._places, trusted=self._trusted, prepared=prepared)

    def _remove(self, folder: Path) -> None:
        if folder != self._folder:
            shutil.rmtree(folder, ignore_errors=True)

    def _chill(self) -> None:
        self._warm = False
        self._cold_until = monotonic() + self._settle_s

    def _settle(
        self, session: LanguageServerSession, asks: Sequence[LiveRequest]
    ) -> tuple[int, list[LiveLocations]]:
        """Ask in rounds until two in a row agree; the number of rounds and the last answers."""
        answers: list[LiveLocations] = []
        rounds, same, ready = 0, False, True
        while ready and rounds < _MOST_ROUNDS and not (same and rounds >= _LEAST_ROUNDS):
            left_s = max(self._cold_until - monotonic(), 0.0)
            ready = session.activity.wait_ready(left_s, grace=rounds == 0 or not same)
            again = [session.ask(ask) for ask in asks]
            rounds, same, answers = rounds + 1, rounds == 0 or again == answers, again
        self._warm = same and ready and rounds >= _LEAST_ROUNDS
        return rounds, [replace(found, settled=self._warm) for found in answers]

    def _stop_when_idle(self, session: LanguageServerSession) -> None:
        left_s = self._times.idle_s
        while not session.ended.wait(left_s):
            with self._lock:
                if self._session is not session:
                    return
                left_s = self._used + self._times.idle_s - monotonic()
                if self._active:
                    left_s = self._times.idle_s
                elif left_s <= 0:
                    self._stop()
                    return

    @contextlib.contextmanager
    def _in_use(self) -> Iterator[None]:
        with self._counting:
            self._active += 1
        try:
            yield
        finally:
            with self._counting:
                self._active -= 1
                self._used = monotonic()

    def _is_closed(self) -> ProviderError:
        return ProviderError(f"{self.server.tool} was closed while it was asked", hint="codenib doctor")


def _inside(path: str) -> str:
    """The path, when it is one below the root."""
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or ".." in parts:
        raise InputError(f"{path!r} is not a path below the root")
    return path
