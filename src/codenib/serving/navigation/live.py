"""The language servers of a worktree: a position in, what the server answers for the snapshot out."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from codenib.core.errors import CodenibError, InputError
from codenib.core.navigation import Position, SortedLocations
from codenib.core.requests import NavigationQuestion, NavigationRequest
from codenib.navigation.engines.sandbox import confinement
from codenib.navigation.live import servers
from codenib.navigation.live.pool import ServerPool
from codenib.navigation.live.session import LiveRequest
from codenib.navigation.live.worktree import Changes
from codenib.navigation.tools.locate import Toolbox
from codenib.serving.navigation.completeness import STILL_LOADING
from codenib.units.languages import language_hint

if TYPE_CHECKING:
    from codenib.navigation.live.provider import LiveProvider

_MOST_TAGGED = 6  # servers with other tags, each a process with a type checker's memory


class LiveServers:
    """One server per language group, started with its first question.

    Snapshots say what changed on disk: the servers are told, and need not look at every file themselves.
    """

    def __init__(
        self,
        root: Path,
        tools: Toolbox,
        folder: Path,
        *,
        trusted: bool,
        rows: Mapping[str, servers.Server] = servers.SERVERS,
    ) -> None:
        """`folder` is for what a server needs beside the worktree: a compilation database and its index."""
        self._root = root
        self._folder = folder
        self._places: dict[str, dict[str, str]] = {}
        self._covered: frozenset[str] | None = None
        self._tools = tools
        self._trusted = trusted
        self._pool = ServerPool(tools, servers=rows, watch=False)
        self._tagged: dict[tuple[str, ...], LiveServers] = {}
        self._files: Mapping[str, str] = {}
        self._starting: set[str] = set()
        self._ready: set[str] = set()

    def close(self) -> None:
        """Stop them."""
        for other in self._tagged.values():
            other.close()
        self._pool.close()

    @property
    def running(self) -> bool:
        """Whether a server was started."""
        return self._pool.started

    def has_server(self, path: str) -> bool:
        """Whether a language server is known for a file; Java has none here."""
        return servers.server_of(language_hint(path)) is not None

    def is_ready(self, path: str) -> bool:
        """Whether the server of a file has read the project, so that an answer does not wait for that."""
        server = servers.server_of(language_hint(path))
        return server is not None and server.group in self._ready

    def start_beside(self, position: Position) -> None:
        """Start the server of a file and let it read the project, beside whoever asks."""
        group = server_of(position.path).group
        if group not in self._starting:
            self._starting.add(group)
            name = f"start {group} server"
            threading.Thread(target=self._warm_up, args=(group, position), name=name, daemon=True).start()

    def _warm_up(self, group: str, position: Position) -> None:
        with suppress(CodenibError, OSError):  # whoever asks it by name is told what is wrong
            self.provider(position.path).warm_up([LiveRequest("definition", position)])
            self._ready.add(group)

    def require(self, path: str) -> str:
        """The server of a file, by name and version; an error that says what is missing otherwise."""
        server = server_of(path)
        if server.language_id(path) is None:
            raise InputError(f"{server.tool} does not read {path}", hint="codenib tools")
        tool = self._tools.require(server.tool)
        if server.group not in self._places:
            self._places[server.group] = self._prepare(server.group)
        return f"{tool.name} {tool.version}"

    def provider(self, path: str) -> LiveProvider:
        """The running server of a file's language."""
        self.require(path)
        group = server_of(path).group
        return self._pool.provider(self._root, group, trusted=self._trusted, places=self._places[group])

    def ask(
        self,
        question: NavigationQuestion,
        position: Position,
        request: NavigationRequest,
        files: Mapping[str, str],
    ) -> tuple[SortedLocations, str]:
        """The server's answer for a snapshot's `files` (path to digest), in our order, and who gave it."""
        backend = self.require(position.path)
        self._tell(files)
        server = self.provider(position.path)
        if question == "definition":
            reply = server.definition(position)
        else:
            reply = server.references(position, declaration=request.declarations)
        inside = tuple(place for place in reply.locations if place.path in files)
        outside = reply.outside + len(reply.locations) - len(inside)
        answer = SortedLocations(inside[: request.limit], len(inside), outside, "occurrence", "")
        self._ready.add(server_of(position.path).group)
        label = f"{backend}, {confinement(server_of(position.path).group, trusted=self._trusted)}"
        return answer, label if reply.settled else f"{label}, {STILL_LOADING}"

    def with_tags(self, path: str, text: str) -> LiveServers | None:
        """The servers as they read a Go file that the default build leaves out: with its own tags.

        None where the default build reads it, or where no tags of its constraint help.
        """
        if server_of(path).group != servers.GO.group:
            return None
        from codenib.navigation.go.constraints import tags_of

        tags = tags_of(text)
        if not tags or (tags not in self._tagged and len(self._tagged) == _MOST_TAGGED):
            return None
        if tags not in self._tagged:
            row = replace(servers.GO, options={"buildFlags": (f"-tags={','.join(tags)}",)})
            rows = {row.group: row}
            others = LiveServers(self._root, self._tools, self._folder, trusted=self._trusted, rows=rows)
            self._tagged[tags] = others
        return self._tagged[tags]

    def remembers_opened(self, path: str) -> bool:
        """Whether files that were once open hide what the server's index has of them."""
        return server_of(path).remembers_opened

    def is_covered(self, path: str) -> bool:
        """Whether a server knows how to read a file; clangd guesses at files outside its database."""
        self.require(path)
        database = self._places[server_of(path).group].get("database")
        if database is None:
            return True
        if self._covered is None:
            rows = json.loads((Path(database) / "compile_commands.json").read_bytes())
            self._covered = frozenset(row["file"] for row in rows)
        return str(self._root / path) in self._covered

    def _prepare(self, group: str) -> dict[str, str]:
        """What a server must be given: clangd without the commands of its files would guess."""
        if group != "cpp":
            return {}
        from codenib.navigation.cpp.database import prepare_database

        database = self._folder / "database"
        database.mkdir(parents=True, exist_ok=True)
        prepare_database(self._root, database, trusted=self._trusted)
        return {"database": str(database)}

    def _tell(self, files: Mapping[str, str]) -> None:
        """Tell the running servers what differs from the snapshot before."""
        old, self._files = self._files, files
        if old is files or old == files or not old:
            return
        self._pool.changed(
            Changes(
                tuple(sorted(files.keys() - old.keys())),
                tuple(sorted(path for path in files.keys() & old.keys() if files[path] != old[path])),
                tuple(sorted(old.keys() - files.keys())),
            )
        )


def server_of(path: str) -> servers.Server:
    """The server for a file's language."""
    server = servers.server_of(language_hint(path))
    if server is None:
        raise InputError(f"no language server is known for {path}", hint="codenib tools")
    return server
