"""Listwise reranking, against a real HTTP server on this machine that orders by numbers in the documents."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from typing import Any

import pytest

from codenib.core.errors import CodenibError, InputError, ProviderError
from codenib.serving.search.rerankers.choose import open_reranker
from codenib.serving.search.rerankers.listwise import (
    DOCUMENT_CHARACTERS,
    WINDOW,
    ListwiseReranker,
    open_listwise,
    windows,
)
from codenib.views.dense.embedders.post import RetryPolicy

SECRET = "sk-this-is-secret-0123456789"


@dataclass
class Server:
    """Answers with the queued replies, then with the true order of the documents' worth."""

    url: str = ""
    queue: list[tuple[int, str]] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    slept: list[float] = field(default_factory=list)

    def answer(self, request: dict[str, Any]) -> tuple[int, str]:
        self.requests.append(request)
        if self.queue:
            return self.queue.pop(0)
        asked = request["messages"][-1]["content"]
        worth = {int(n): int(w) for n, w in re.findall(r"\[(\d+)\] file\.py:f\nworth (\d+)", asked)}
        best = sorted(worth, key=lambda number: -worth[number])
        return 200, completion(" > ".join(f"[{number}]" for number in best) or "ready")

    def open(self) -> ListwiseReranker:
        environment = {"CODENIB_LLM_URL": self.url, "CODENIB_LLM_KEY": SECRET}
        return open_listwise(
            "tiny", environment=environment, patience=RetryPolicy(attempts=3), sleep=self.slept.append
        )


def completion(text: str | None) -> str:
    return json.dumps({"model": "tiny-v1", "choices": [{"message": {"role": "assistant", "content": text}}]})


def documents(worths: list[int]) -> list[str]:
    return [f"file.py:f\nworth {worth}" for worth in worths]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    fake = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            fake.keys.append(self.headers["Authorization"])
            fake.paths.append(self.path)
            status, text = fake.answer(json.loads(body))
            self.send_response(status)
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        fake.url = f"http://127.0.0.1:{http.server_port}/v1"
        yield fake
        http.shutdown()
        thread.join()


def test_scores_follow_the_order_that_the_model_gives(server: Server) -> None:
    assert server.open().scores("q", documents([5, 9, 1, 7])) == [0.5, 1.0, 0.25, 0.75]
    assert len(server.requests) == 2
    assert server.paths[-1] == "/v1/chat/completions"
    assert server.requests[-1]["temperature"] == 0.0


def test_the_best_of_many_documents_arrive_at_the_front(server: Server) -> None:
    worths = [(number * 37) % 101 for number in range(65)]
    scores = server.open().scores("q", documents(worths))
    assert sorted(scores) == [place / 65 for place in range(1, 66)]
    best = sorted(range(65), key=lambda row: -scores[row])[:10]
    assert [worths[row] for row in best] == sorted(worths, reverse=True)[:10]
    assert len(server.requests) == 1 + len(windows(65))


@pytest.mark.parametrize("total", [0, 1, 19, 20, 21, 39, 40, 41, 100])
def test_windows_cover_every_place_and_overlap(total: int) -> None:
    found = windows(total)
    assert {place for start, end in found for place in range(start, end)} == set(range(total))
    assert all(end - start <= WINDOW for start, end in found)
    assert all(before[0] < after[1] for before, after in pairwise(found))


def test_one_document_or_none_needs_no_request(server: Server) -> None:
    reranker = server.open()
    assert reranker.scores("q", ["a"]) == [1.0]
    assert reranker.scores("q", []) == []
    assert len(server.requests) == 1


def test_documents_are_numbered_and_cut(server: Server) -> None:
    server.open().scores("where is it", ["x" * 9_000, *documents([1])])
    asked = server.requests[-1]["messages"][-1]["content"]
    assert "where is it" in asked
    assert f"[1] {'x' * DOCUMENT_CHARACTERS}\n\n[2] file.py:f" in asked


def test_an_unreadable_order_is_asked_for_once_more(server: Server) -> None:
    reranker = server.open()
    server.queue = [(200, completion("Sorry?")), (200, completion("[2] > [1]"))]
    assert reranker.scores("q", documents([8, 2])) == [0.5, 1.0]
    assert [message["role"] for message in server.requests[-1]["messages"]] == [
        "system",
        "user",
        "assistant",
        "user",
    ]


@pytest.mark.parametrize("reply", ["no", None])
def test_two_unreadable_orders_are_an_error(server: Server, reply: str | None) -> None:
    reranker = server.open()
    server.queue = [(200, completion(reply))] * 2
    with pytest.raises(ProviderError, match="gave no order of 2 documents, twice") as caught:
        reranker.scores("q", documents([1, 2]))
    assert "llm:MODEL" in caught.value.hint
    assert len(server.requests) == 3


def test_the_identity_names_the_endpoint_and_the_model_that_answered(server: Server) -> None:
    identity = server.open().identity
    assert identity.model == f"{server.url}/chat/completions#tiny"
    assert identity.revision == "tiny-v1 temperature 0"
    assert identity.kind == "listwise"


def test_a_model_that_refuses_a_temperature_is_asked_without(server: Server) -> None:
    server.queue = [(400, '{"error": {"message": "temperature is not supported with this model"}}')]
    reranker = server.open()
    assert reranker.identity.revision == "tiny-v1 own temperature"
    reranker.scores("q", documents([1, 2]))
    assert "temperature" not in server.requests[-1]


def test_a_busy_server_is_waited_for(server: Server) -> None:
    reranker = server.open()
    server.queue = [(429, "{}"), (503, "{}")]
    assert reranker.scores("q", documents([1, 2])) == [0.5, 1.0]
    assert server.slept == [0.5, 1.0]


def test_an_unreachable_endpoint_fails_when_opened(server: Server) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as closed:
        port = closed.server_port
    server.url = f"http://127.0.0.1:{port}/v1"
    with pytest.raises(ProviderError, match="no answer from http://127") as caught:
        server.open()
    assert caught.value.hint == f"curl {server.url}/chat/completions"
    assert server.slept == []


@pytest.mark.parametrize("body", ["<html>", '{"choices": []}', '{"object": "list"}'])
def test_a_server_that_is_no_chat_endpoint_fails_when_opened(server: Server, body: str) -> None:
    server.queue = [(200, body)]
    with pytest.raises(ProviderError):
        server.open()


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_the_key_is_sent_and_is_in_no_error_and_no_repr(server: Server, status: int) -> None:
    reranker = server.open()
    assert server.keys == [f"Bearer {SECRET}"]
    assert SECRET not in repr(reranker) + repr(reranker.poster) + repr(reranker.identity)
    server.queue = [(status, f'{{"error": {{"message": "bad key {SECRET}"}}}}')]
    with pytest.raises(CodenibError) as caught:
        reranker.scores("q", documents([1, 2]))
    assert SECRET not in repr(caught.value) + caught.value.hint
    if status in (401, 403):
        assert caught.value.hint == "export CODENIB_LLM_KEY=KEY"


def test_the_environment_names_the_endpoint(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CODENIB_LLM_URL", "OPENAI_BASE_URL", "CODENIB_LLM_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(InputError, match="CODENIB_LLM_URL is not set") as caught:
        open_reranker("llm:tiny")
    assert caught.value.hint == "export CODENIB_LLM_URL=https://HOST/v1"
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("OPENAI_API_KEY", "theirs")
    reranker = open_reranker("llm:tiny")
    assert reranker is not None
    assert reranker.scores("q", documents([1, 2])) == [0.5, 1.0]
    assert server.keys[-1] == "Bearer theirs"


def test_a_url_with_a_password_is_refused_without_repeating_it() -> None:
    environment = {"CODENIB_LLM_URL": f"https://user:{SECRET}@host/v1"}
    with pytest.raises(InputError, match="holds a password") as caught:
        open_listwise("m", environment=environment)
    assert SECRET not in caught.value.message + caught.value.hint
