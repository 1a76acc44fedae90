"""A root and a way to start a server in, one running server out: equal to the disk, asked about positions.

A session ends with its process; starting again is the provider's work.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import IntEnum
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Literal

import msgspec

from codenib.core.errors import UNDECODABLE, InputError, ProviderError
from codenib.core.navigation import Position
from codenib.navigation.engines.priority import hurry
from codenib.navigation.engines.process import Program
from codenib.navigation.engines.rpc import Connection, ServerRefused
from codenib.navigation.engines.watchdog import Watchdog
from codenib.navigation.live.activity import ServerActivity
from codenib.navigation.live.documents import OpenDocument, OpenDocuments
from codenib.navigation.live.results import DocumentSymbol, LiveLocations, ResponseReader
from codenib.navigation.live.servers import Launch, Server
from codenib.navigation.live.text import ENCODINGS, DiskTexts, Encoding, units_of
from codenib.navigation.live.worktree import Changes, Worktree
from codenib.units.notebook_code import engine_name

Method = Literal["definition", "references"]
_TRY_AGAIN = frozenset({-32800, -32801, -32802})  # cancelled or outdated by the server itself
_TRIES = 8
_OPENED_AT_ONCE = 32  # more changed files than this and starting again is cheaper than opening them
_TAKE_IN_S = 30.0
_CREATED, _CHANGED, _REMOVED = 1, 2, 3

_CAPABILITIES = {
    "general": {"positionEncodings": ENCODINGS},
    "window": {"workDoneProgress": True},
    "workspace": {
        "configuration": True,
        "workspaceFolders": True,
        "didChangeConfiguration": {"dynamicRegistration": True},
        "didChangeWatchedFiles": {"dynamicRegistration": True, "relativePatternSupport": True},
    },
    "textDocument": {
        "synchronization": {"didSave": True},
        "definition": {"linkSupport": False},
        "references": {},
        "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
        "publishDiagnostics": {"versionSupport": True},
    },
    "experimental": {"serverStatusNotification": True},
}


@dataclass(frozen=True, slots=True)
class LiveRequest:
    """One navigation request."""

    method: Method
    position: Position
    declaration: bool = True


TRUST = "codenib index --views graph --trust"


class SyncEffect(IntEnum):
    """What a change on disk means for the answers."""

    NONE = 0
    COLD = 1  # the server must settle again
    RESTART = 2  # only a new server sees it


class _Capabilities(msgspec.Struct, rename="camel"):
    position_encoding: Encoding | None = None


class _Initialized(msgspec.Struct, rename="camel"):
    capabilities: _Capabilities
    offset_encoding: Encoding | None = None


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long to wait: for the start, an answer, a cancelled answer, to settle, unused before it stops."""

    start_s: float = 60.0
    answer_s: float = 120.0
    cancel_s: float = 5.0
    settle_s: float = 120.0
    idle_s: float = 600.0


class LanguageServerSession:
    """A running server. `sync` and the constructor belong to one thread at a time; asking does not."""

    def __init__(
        self,
        root: Path,
        server: Server,
        launch: Launch,
        folder: Path,
        *,
        times: Timeouts,
        trusted: bool,
        member: Callable[[str], bool],
    ) -> None:
        self.server = server
        self._root = root
        self._times = times
        self._texts = DiskTexts(root)
        self.worktree = Worktree(root, server.watches)  # before the server reads anything
        if self.worktree.pipes:
            pipe = min(self.worktree.pipes)
            what = f"{pipe} is a pipe, and {server.tool} would wait for it"
            raise ProviderError(what, hint=f"rm {root / pipe}")
        if not trusted:
            self._check_trust()
        self.activity = ServerActivity(root, server, launch.settings)
        program = Program(
            server.tool, launch.command, "codenib tools", folder, launch.environment, policy=launch.policy
        )
        self.connection = Connection(program, self.activity)
        if server.idles:
            self.activity.nudge = partial(hurry, self.connection.pid)
        self.documents = OpenDocuments(root, server, self._texts, self.connection.notify)
        self.ended = threading.Event()
        self.watchdog = Watchdog(
            self.connection.pid,
            lambda: self.connection.close(gently=False),
            lambda: self.connection.owes or self.activity.busy,
        )
        if launch.policy is not None:  # a trusted one may wait for the network
            self.watchdog.guard(self.ended, launch.answer_cpu_s)
        self._launch = launch
        self._encoding: Encoding = "utf-16"
        self._member = member
        self._reader = ResponseReader(root, self._texts, self._encoding, member, launch.copies)

    def close(self, *, gently: bool = True) -> None:
        """End the server; it is gone when this returns."""
        self.connection.close(gently=gently)
        self.ended.set()

    def sync(self, changes: Changes) -> SyncEffect:
        """Tell the server what changed on disk."""
        touched = (*changes.created, *changes.changed, *changes.removed)
        if any(map(self.server.starts_anew, touched)):
            return SyncEffect.RESTART
        told = self.documents.refresh()
        if not changes:
            self._wait_taken_in(told)
            return SyncEffect.NONE
        if self.server.opens_changed:
            to_open = [path for path in (*changes.created, *changes.changed) if self._opens(path)]
            if len(to_open) > _OPENED_AT_ONCE:
                return SyncEffect.RESTART
            told += [self.documents.open(path, pinned=True)[0] for path in to_open]
        self._tell_files(changes)
        self._wait_taken_in(told)
        cold = changes.created or changes.removed or any(map(self._is_project_file, touched))
        return SyncEffect.COLD if cold else SyncEffect.NONE

    def open(self, path: str) -> None:
        """Open a file with its text on disk, or bring it up to date."""
        document, told = self.documents.open(path)
        if told:
            self._wait_taken_in([document])

    def ask(self, ask: LiveRequest) -> LiveLocations:
        """Send one request and read its answer."""
        params = self._place(ask.position)
        if ask.method == "references":
            params["context"] = {"includeDeclaration": ask.declaration}
        try:
            raw = self._request(f"textDocument/{ask.method}", params)
        except ServerRefused as error:
            if self.server.means_nothing(error.reason):
                return LiveLocations()
            raise
        try:
            return self._reader.locations(raw)
        except UNDECODABLE as error:
            raise self._unreadable(error) from error

    def symbols(self, path: str) -> tuple[DocumentSymbol, ...]:
        """The declarations of an open file."""
        uri = (self._root / engine_name(path)).as_uri()
        raw = self._request("textDocument/documentSymbol", {"textDocument": {"uri": uri}})
        try:
            return self._reader.symbols(raw, path)
        except UNDECODABLE as error:
            raise self._unreadable(error) from error

    def _request(self, method: str, params: object) -> msgspec.Raw:
        times = self._times
        for _ in range(_TRIES - 1):
            try:
                return self.connection.request(method, params, times.answer_s, times.cancel_s)
            except ServerRefused as error:
                if error.code not in _TRY_AGAIN:
                    raise
                self.activity.wait_ready(times.answer_s, grace=False)
        return self.connection.request(method, params, times.answer_s, times.cancel_s)

    def initialize(self) -> None:
        """The first exchange; nothing else may be asked before."""
        uri = self._root.as_uri()
        params = {
            # Ours, but servers would stop when a signal to it is refused, as it is in a sandbox.
            "processId": None,
            "clientInfo": {"name": "codenib"},
            "rootUri": uri,
            "rootPath": str(self._root),
            "workspaceFolders": [{"uri": uri, "name": self._root.name}],
            "capabilities": _CAPABILITIES,
            "initializationOptions": self._launch.options,
        }
        raw = self.connection.request("initialize", params, self._times.start_s, cancel_s=0)
        try:
            told = msgspec.json.decode(raw, type=_Initialized)
        except UNDECODABLE as error:
            raise self._unreadable(error) from error
        self.connection.notify("initialized", {})
        self.connection.notify("workspace/didChangeConfiguration", {"settings": self._launch.settings})
        self.activity.wait_listed(self._times.start_s)
        self._encoding = told.capabilities.position_encoding or told.offset_encoding or "utf-16"
        self._reader = ResponseReader(
            self._root, self._texts, self._encoding, self._member, self._launch.copies
        )

    def _place(self, position: Position) -> dict[str, object]:
        text = self._texts.read(position.path)
        lines = text.lines if text is not None else []
        if not 0 < position.line <= len(lines):
            raise InputError(f"{position.path} has {len(lines)} lines, not {position.line}")
        line = lines[position.line - 1]
        if not 0 <= position.column <= len(line):
            raise InputError(
                f"{position.path}:{position.line} has {len(line)} columns, not {position.column}"
            )
        units = units_of(line, position.column, self._encoding)
        return {
            "textDocument": {"uri": (self._root / engine_name(position.path)).as_uri()},
            "position": {"line": position.line - 1, "character": units},
        }

    def _tell_files(self, changes: Changes) -> None:
        kinds = ((_CREATED, changes.created), (_CHANGED, changes.changed), (_REMOVED, changes.removed))
        events = [
            {"uri": (self._root / engine_name(path)).as_uri(), "type": kind}
            for kind, paths in kinds
            for path in paths
        ]
        self.connection.notify("workspace/didChangeWatchedFiles", {"changes": events})
        self.activity.touch()

    def _wait_taken_in(self, documents: Iterable[OpenDocument]) -> None:
        if self.server.announces:
            for document in documents:
                self.activity.wait_taken_in(document.uri, document.version, _TAKE_IN_S)

    def _check_trust(self) -> None:
        for path in self.worktree.paths:
            if PurePosixPath(path).name in self.server.refuses:
                what = f"{path} can make {self.server.tool} run programs of the repository"
                raise ProviderError(f"{what}, which is not trusted", hint=TRUST)

    def _opens(self, path: str) -> bool:
        return self.server.language_id(path) is not None and (self._root / path).is_file()

    def _is_project_file(self, path: str) -> bool:
        return PurePosixPath(path).name in self.server.project_files

    def _unreadable(self, error: Exception) -> ProviderError:
        what = f"{self.server.tool} answered what is not of the protocol: {error}"
        return ProviderError(what, hint="codenib doctor")
