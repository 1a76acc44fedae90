"""A page server in a thread, and a small repository for it."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest
from tests.gitrepo import GitRepo
from tests.serving.conftest import SHOP

from codenib.adapters.mcp.server_context import ServerContext
from codenib.adapters.ui.server import PageServer


@dataclass
class Visit:
    """A server of pages, and a visitor of it who has a cookie or not."""

    address: str
    cookie: str = ""

    @property
    def port(self) -> int:
        port = urlsplit(self.address).port
        assert port is not None
        return port

    def get(
        self, path: str, *, method: str = "GET", body: str | None = None, **headers: str
    ) -> tuple[http.client.HTTPResponse, bytes]:
        """One request; header names are written with underscores."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.cookie:
            sent.setdefault("cookie", self.cookie)
        try:
            connection.request(method, path, body, sent)
            answer = connection.getresponse()
            return answer, answer.read()
        finally:
            connection.close()

    def enter(self) -> None:
        """Exchange the token of the address for a cookie."""
        parts = urlsplit(self.address)
        answer, _ = self.get(f"{parts.path}?{parts.query}")
        assert answer.status == 200
        self.cookie = (answer.getheader("set-cookie") or "").partition(";")[0]

    def ask(self, repository: str, question: str, **params: Any) -> Any:
        """The JSON of an answer that must not fail."""
        for _ in range(60):  # the server itself waits a second for the first views before it says 409
            answer, body = self.get(f"/ui/api/{repository}/{question}?{urlencode(params, doseq=True)}")
            if answer.status != 409:
                break
        assert answer.status == 200, body
        return json.loads(body)


@contextmanager
def running_pages(*roots: Path, runs: Sequence[Path] = ()) -> Iterator[Visit]:
    """The pages of these repositories, as `codenib ui` serves them."""
    contexts = [ServerContext(root) for root in roots]
    server = PageServer(contexts, runs=runs)
    address = server.bind()
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield Visit(address)
    finally:
        server.stop()
        thread.join(20)
        assert not thread.is_alive()


@pytest.fixture(autouse=True)
def no_engines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Navigation goes by names: language servers take seconds to start, and are not on every machine."""
    monkeypatch.setenv("CODENIB_TOOLBOX", str(tmp_path / "no-tools"))


@pytest.fixture
def shop(git_repo: Callable[..., GitRepo]) -> GitRepo:
    """A small committed repository."""
    repository = git_repo("shop")
    repository.commit(SHOP)
    return repository
