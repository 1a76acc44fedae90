"""A clangd command in, answers of its language server out: requests sent in bulk, read as they come."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import msgspec

from codenib.core.errors import ProviderError
from codenib.navigation.engines.priority import hurry
from codenib.navigation.engines.process import Program
from codenib.navigation.engines.rpc import Connection, ServerListener
from codenib.navigation.engines.sandbox import PathPolicy
from codenib.navigation.engines.watchdog import Watchdog

# A header's first parse can take most of a minute on a loaded machine; three without a word are a hang.
_SILENCE_S = 180.0
_PATIENCE_S = 30.0
_HURRY_S = 0.02
_SHUTDOWN_S = 10.0
_NO_FILE = "codenib-asks-for-no-such-file.c"
# For C and C++ a file, the newest standard, and the header by which clangd knows the folder of the library.
_NEWEST = {
    "codenib-asks-for-no-such-library.c": ("c2y", "stdio.h"),
    "codenib-asks-for-no-such-library.cpp": ("c++26", "vector"),
}
_CAPABILITIES = {
    "window": {"workDoneProgress": True},
    "general": {"positionEncodings": ["utf-16"]},
    "textDocument": {
        "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
        "semanticTokens": {"requests": {"full": True}, "tokenTypes": [], "tokenModifiers": [], "formats": []},
    },
}


def path_to_uri(path: str) -> str:
    return "file://" + quote(path)


def uri_to_path(uri: str) -> str:
    return unquote(uri.removeprefix("file://"))


class ClangdSession(ServerListener):
    """One clangd process. Columns are UTF-16 units on both sides, as its index has them."""

    def __init__(self, command: Sequence[str], root: Path, policy: PathPolicy | None = None) -> None:
        self._root = root
        self._wakeups = 0
        self._news = threading.Condition()
        self._ended = False
        self._index_rounds = 0
        #: How many requests were sent.
        self.requests = 0
        program = Program("clangd", tuple(command), "codenib tools install cpp", root, policy=policy)
        self._connection = Connection(program, self)
        self._awaits_index = False
        self.watchdog = Watchdog(
            self._connection.pid,
            lambda: self._connection.close(gently=False),
            lambda: self._awaits_index or self._connection.owes,
        )
        start = {"processId": None, "rootUri": path_to_uri(str(root)), "capabilities": _CAPABILITIES}
        answer = self.ask_all([("initialize", start)])[0]
        legend = answer["capabilities"]["semanticTokensProvider"]["legend"]
        #: What the numbers in answers to semanticTokens mean.
        self.token_types: list[str] = legend["tokenTypes"]
        self.token_modifiers: list[str] = legend["tokenModifiers"]
        self.tell("initialized", {})

    def __enter__(self) -> ClangdSession:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ask_all(self, requests: Sequence[tuple[str, Mapping[str, Any]]]) -> list[Any]:
        """The answer of each request, in order; None where the server reports an error."""
        return [
            None if answer is None else msgspec.json.decode(answer) for answer in self.ask_undecoded(requests)
        ]

    def ask_undecoded(self, requests: Sequence[tuple[str, Mapping[str, Any]]]) -> list[bytes | None]:
        """The same, as the bytes that came: equal answers are equal bytes."""
        self.requests += len(requests)
        answers = self._connection.request_all(requests, _SILENCE_S)
        return [None if answer is None else bytes(answer) for answer in answers]

    def tell(self, method: str, params: Mapping[str, Any]) -> None:
        self._connection.notify(method, params)

    def notified(self, method: str, params: msgspec.Raw) -> None:
        """Count how often the background index has finished."""
        if method != "$/progress":
            return
        progress = msgspec.json.decode(params)
        if progress.get("token") == "backgroundIndexProgress" and progress["value"]["kind"] == "end":
            with self._news:
                self._index_rounds += 1
                self._news.notify_all()

    def asked(self, method: str, params: msgspec.Raw) -> object:
        """Whatever clangd asks of an editor is answered with nothing."""
        return None

    def ended(self) -> None:
        with self._news:
            self._ended = True
            self._news.notify_all()

    @property
    def index_rounds(self) -> int:
        """How often the background index has finished what it was given."""
        with self._news:
            return self._index_rounds

    def await_index(self, rounds: int) -> None:
        """Wait until the background index has been idle more than `rounds` times.

        Should clangd not say that it is idle, a file that does not exist makes it work, and speak, once more
        after all that is still to do.
        """
        self._awaits_index = True
        patience = _PATIENCE_S
        waited = 0.0
        while not self._idle_after(rounds, patience):
            waited += patience
            if waited > _SILENCE_S:
                raise ProviderError(f"clangd is still indexing after {waited:.0f} s", hint="codenib doctor")
            self._wakeups += 1
            patience = min(2 * patience, 60.0)
            self.compile(
                str(self._root / _NO_FILE), str(self._root), ("cc", f"-DWAKEUP={self._wakeups}", _NO_FILE)
            )
        self._awaits_index = False

    def compile(self, file: str, directory: str, arguments: Sequence[str]) -> None:
        """Say how a file is compiled; clangd then indexes it."""
        change = {file: {"workingDirectory": directory, "compilationCommand": arguments}}
        self.tell("workspace/didChangeConfiguration", {"settings": {"compilationDatabaseChanges": change}})

    def _idle_after(self, rounds: int, patience: float) -> bool:
        until = time.monotonic() + patience
        with self._news:
            while self._index_rounds <= rounds:
                if self._ended:
                    raise self._connection.died()
                left = until - time.monotonic()
                if left <= 0:
                    return False
                hurry(self._connection.pid)
                self._news.wait(min(left, _HURRY_S))
        return True

    def wake(self) -> None:
        """Make clangd read its database and wait until its index is there: it waits for a first file.

        That file is none of the repository's: what was once open hides what the index has of it.
        """
        rounds = self.index_rounds
        with self._empty_file(str(self._root / _NO_FILE)):
            self.await_index(rounds)

    def deny_libraries(self, folder: Path) -> None:
        """Keep clangd from indexing the standard libraries; `folder` gets two empty headers.

        It indexes a language's whole library with the first file that it opens, and again with the first of
        a newer standard: 1.0 CPU s each time for C++. So the first files are of the newest standards, and of
        libraries without content.
        """
        folder.mkdir(exist_ok=True)
        for name, (standard, header) in _NEWEST.items():
            (folder / header).touch()
            file = str(self._root / name)
            rounds = self.index_rounds
            options = (f"-std={standard}", "-nostdinc", "-nostdinc++", "-isystem", str(folder))
            self.compile(file, str(self._root), ("clang", *options, file))
            self.await_index(rounds)
            with self._empty_file(file):
                pass

    @contextmanager
    def _empty_file(self, file: str) -> Iterator[None]:
        """A file without text is open."""
        document = {"uri": path_to_uri(file)}
        opened = {**document, "languageId": "c", "version": 1, "text": ""}
        self.tell("textDocument/didOpen", {"textDocument": opened})
        yield
        self.tell("textDocument/didClose", {"textDocument": document})

    def close(self) -> None:
        """End clangd; it is gone when this returns."""
        self._connection.close(shutdown_s=_SHUTDOWN_S)
