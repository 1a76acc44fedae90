"""A clangd command in, answers of its language server out: requests sent in bulk, read as they come."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import quote, unquote

import msgspec

from codenib.core.errors import ProviderError
from codenib.navigation.engines.priority import hurry

# A header's first parse can take most of a minute on a loaded machine; ten minutes without a word is a hang.
_SILENCE_S = 600.0
_PATIENCE_S = 30.0
_HURRY_S = 0.02
_NO_FILE = "codenib-asks-for-no-such-file.c"
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


class ClangdSession:
    """One clangd process. Columns are UTF-16 units on both sides, as its index has them."""

    def __init__(self, command: Sequence[str], root: Path, log: Path) -> None:
        self._log = log
        self._root = root
        self._pokes = 0
        with log.open("wb") as errors:
            self._process = subprocess.Popen(
                list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, cwd=root
            )
        self._news = threading.Condition()
        self._answers: dict[int, Any] = {}
        self._number = 0
        self._ended = False
        self._index_rounds = 0
        self._encoder = msgspec.json.Encoder()
        self._writer = threading.Lock()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        start = {"processId": os.getpid(), "rootUri": path_to_uri(str(root)), "capabilities": _CAPABILITIES}
        answer = self.ask_all([("initialize", start)])[0]
        legend = answer["capabilities"]["semanticTokensProvider"]["legend"]
        #: What the numbers in answers to semanticTokens mean.
        self.token_types: list[str] = legend["tokenTypes"]
        self.token_modifiers: list[str] = legend["tokenModifiers"]
        self.tell("initialized", {})

    def __enter__(self) -> ClangdSession:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def ask_all(self, requests: Iterable[tuple[str, Mapping[str, Any]]]) -> list[Any]:
        """The answer of each request, in order; None where the server reports an error."""
        first = self._number + 1
        for method, params in requests:
            self._number += 1
            self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        return [self._await(number) for number in range(first, self._number + 1)]

    @property
    def requests(self) -> int:
        """How many were sent."""
        return self._number

    def tell(self, method: str, params: Mapping[str, Any]) -> None:
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

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
        patience = _PATIENCE_S
        waited = 0.0
        while not self._idle_after(rounds, patience):
            waited += patience
            if waited > _SILENCE_S:
                raise ProviderError(f"clangd is still indexing after {waited:.0f} s: {self._last_words()}")
            self._pokes += 1
            patience = min(2 * patience, 60.0)
            self.compile(
                str(self._root / _NO_FILE), str(self._root), ("cc", f"-DPOKE={self._pokes}", _NO_FILE)
            )

    def compile(self, file: str, directory: str, arguments: Sequence[str]) -> None:
        """Say how a file is compiled; clangd then indexes it."""
        change = {file: {"workingDirectory": directory, "compilationCommand": arguments}}
        self.tell("workspace/didChangeConfiguration", {"settings": {"compilationDatabaseChanges": change}})

    def _idle_after(self, rounds: int, patience: float) -> bool:
        until = time.monotonic() + patience
        with self._news:
            while self._index_rounds <= rounds:
                if self._ended:
                    raise ProviderError(f"clangd stopped: {self._last_words()}")
                left = until - time.monotonic()
                if left <= 0:
                    return False
                hurry(self._process.pid)
                self._news.wait(min(left, _HURRY_S))
        return True

    def wake(self) -> None:
        """Make clangd read its database and wait until its index is there: it waits for a first file.

        That file is none of the repository's: what was once open hides what the index has of it.
        """
        uri = path_to_uri(str(self._root / _NO_FILE))
        document = {"uri": uri, "languageId": "c", "version": 1, "text": ""}
        rounds = self.index_rounds
        self.tell("textDocument/didOpen", {"textDocument": document})
        self.await_index(rounds)
        self.tell("textDocument/didClose", {"textDocument": {"uri": uri}})

    def close(self) -> None:
        if self._process.poll() is None:
            try:
                self.ask_all([("shutdown", {})])
                self.tell("exit", {})
                self._process.wait(10)
            except (ProviderError, subprocess.TimeoutExpired):
                self._process.kill()
                self._process.wait()
        self._reader.join(10)
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()

    def _await(self, number: int) -> Any:
        with self._news:
            while number not in self._answers:
                self._wait()
            return self._answers.pop(number)

    def _wait(self) -> None:
        if self._ended:
            raise ProviderError(f"clangd stopped: {self._last_words()}")
        if not self._news.wait(_SILENCE_S):
            raise ProviderError(f"clangd has been silent for {_SILENCE_S:.0f} s: {self._last_words()}")

    def _last_words(self) -> str:
        lines = self._log.read_text("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else f"exit status {self._process.poll()}"

    def _send(self, message: Mapping[str, Any]) -> None:
        data = self._encoder.encode(message)
        stream = self._process.stdin
        assert stream is not None
        try:
            with self._writer:
                stream.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
                stream.flush()
        except OSError as error:
            raise ProviderError(f"clangd stopped: {self._last_words()}") from error

    def _read(self) -> None:
        stream = self._process.stdout
        assert stream is not None
        decode = msgspec.json.Decoder().decode
        size = 0
        while line := stream.readline():
            if line.lower().startswith(b"content-length:"):
                size = int(line.split(b":")[1])
            elif line == b"\r\n":
                self._take(decode(stream.read(size)))
        with self._news:
            self._ended = True
            self._news.notify_all()

    def _take(self, message: Mapping[str, Any]) -> None:
        method = message.get("method")
        if method is not None and "id" in message:
            self._send({"jsonrpc": "2.0", "id": message["id"], "result": None})
        with self._news:
            if method is None:
                self._answers[message["id"]] = message.get("result")
            elif method == "$/progress" and message["params"].get("token") == "backgroundIndexProgress":
                self._index_rounds += message["params"]["value"]["kind"] == "end"
            self._news.notify_all()
