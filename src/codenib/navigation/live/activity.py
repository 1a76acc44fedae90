"""What a server says on its own in; when it is ready, and the answers to its questions, out."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from time import monotonic
from urllib.parse import unquote

import msgspec

from codenib.core.errors import UNDECODABLE
from codenib.navigation.engines.rpc import ServerListener
from codenib.navigation.live.servers import Json, Options, Server

_AFTER_MARKER_S = 1.0
_ERROR = 1


class _ProgressValue(msgspec.Struct):
    kind: str = ""
    title: str = ""


class _Progress(msgspec.Struct):
    token: int | str
    value: _ProgressValue = msgspec.field(default_factory=_ProgressValue)


class _Status(msgspec.Struct):
    quiescent: bool = True


class _Log(msgspec.Struct):
    message: str = ""


class _Diagnostic(msgspec.Struct):
    severity: int | None = None


class _Diagnostics(msgspec.Struct):
    uri: str
    version: int | None = None
    diagnostics: list[_Diagnostic] = msgspec.field(default_factory=list)


class _Item(msgspec.Struct):
    section: str | None = None


class _Items(msgspec.Struct):
    items: list[_Item]


# Requests that we accept and that ask nothing of us.
_ACCEPTED = frozenset(
    {
        "client/registerCapability",
        "client/unregisterCapability",
        "window/showMessageRequest",
        "window/workDoneProgress/create",
        "workspace/codeLens/refresh",
        "workspace/diagnostic/refresh",
        "workspace/foldingRange/refresh",
        "workspace/inlayHint/refresh",
        "workspace/inlineValue/refresh",
        "workspace/semanticTokens/refresh",
        "workspace/textDocumentContent/refresh",
    }
)

_NUDGE_S = 0.5


def _leave() -> None:
    """Most servers need no help to get on."""


class ServerActivity(ServerListener):
    """Follows one server: its progress, its state, and how long it has been quiet."""

    def __init__(self, root: Path, server: Server, settings: Options) -> None:
        self._root = root
        self._server = server
        self._settings = settings
        self._changed = threading.Condition()
        self._running: set[int | str] = set()
        self._quiescent = True
        self._marked = False
        self._ended = False
        self._listed = not server.lists
        self._heard = monotonic()
        self._versions: dict[str, int] = {}
        self._with_errors: set[str] = set()
        self.nudge: Callable[[], None] = _leave  # called now and then while somebody waits

    def notified(self, method: str, params: msgspec.Raw) -> None:
        """Follow progress, state and diagnostics; what is not understood is no reason to stop."""
        try:
            with self._changed:
                if self._follow(method, params):
                    self._heard = monotonic()
                    self._changed.notify_all()
        except UNDECODABLE:
            return

    def asked(self, method: str, params: msgspec.Raw) -> object:
        """Settings, folders and consent; no edit and no document is ever applied or shown."""
        with self._changed:
            self._heard = monotonic()
        if method == "workspace/configuration":
            items = msgspec.json.decode(params, type=_Items).items
            return [_section(self._settings, item.section or "") for item in items]
        if method == "workspace/applyEdit":
            return {"applied": False, "failureReason": "this client only reads"}
        if method == "window/showDocument":
            return {"success": False}
        if method == "workspace/workspaceFolders":
            return [{"uri": self._root.as_uri(), "name": self._root.name}]
        if method in _ACCEPTED:
            return None
        raise NotImplementedError

    def ended(self) -> None:
        """Nobody needs to wait any more."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def touch(self) -> None:
        """We sent something that may make it work: its quiet time starts anew."""
        with self._changed:
            self._heard = monotonic()

    @property
    def busy(self) -> bool:
        """Whether it says that it works on something."""
        with self._changed:
            return bool(self._running) or not self._quiescent

    @property
    def unreadable(self) -> list[str]:
        """The documents that had errors when they were open, by their unquoted URIs."""
        with self._changed:
            return sorted(self._with_errors)

    def wait_ready(self, limit_s: float, *, grace: bool = True) -> bool:
        """Wait until no progress runs and, with `grace`, it was quiet for long enough; False at the limit."""
        deadline = monotonic() + limit_s
        with self._changed:
            while not self._ended:
                now = monotonic()
                busy = bool(self._running) or not self._quiescent
                left = deadline - now if busy else self._heard + self._grace_s(grace) - now
                if left <= 0 and not busy:
                    return True
                if now >= deadline:
                    return False
                self.nudge()
                self._changed.wait(min(left, deadline - now, _NUDGE_S))
        return True  # the next request says that it died

    def wait_listed(self, limit_s: float) -> bool:
        """Wait until the server said that it knows its files."""
        with self._changed:
            return self._changed.wait_for(lambda: self._ended or self._listed, timeout=limit_s)

    def wait_taken_in(self, uri: str, version: int, limit_s: float) -> bool:
        """Wait until the server published diagnostics of this version of a document."""
        name = unquote(uri)  # servers escape more or fewer characters than we do
        with self._changed:
            return self._changed.wait_for(
                lambda: self._ended or self._versions.get(name, 0) >= version, timeout=limit_s
            )

    def _grace_s(self, wanted: bool) -> float:
        if not wanted:
            return 0.0
        full = self._server.idle_grace_s
        return min(full, _AFTER_MARKER_S) if self._marked else full

    def _follow(self, method: str, params: msgspec.Raw) -> bool:
        if method == "$/progress":
            progress = msgspec.json.decode(params, type=_Progress)
            # gopls shows that it cannot load a workspace as a progress which ends when somebody repairs it.
            if progress.value.kind == "begin" and not progress.value.title.startswith("Error"):
                self._running.add(progress.token)
            elif progress.value.kind == "end":
                self._running.discard(progress.token)
                self._marked = self._marked or progress.token == self._server.marker
        elif method == "experimental/serverStatus":
            self._quiescent = msgspec.json.decode(params, type=_Status).quiescent
        elif method == "window/logMessage" and not self._listed:
            told = msgspec.json.decode(params, type=_Log)
            self._listed = re.search(self._server.lists, told.message) is not None
        elif method == "textDocument/publishDiagnostics":
            published = msgspec.json.decode(params, type=_Diagnostics)
            self._versions[unquote(published.uri)] = published.version or 0
            if any(each.severity == _ERROR for each in published.diagnostics):
                self._with_errors.add(unquote(published.uri))
        else:
            return False
        return True


def _section(settings: Options, name: str) -> Json:
    found: Json = settings
    for part in name.split(".") if name else ():
        found = found.get(part) if isinstance(found, Mapping) else None
    return found
