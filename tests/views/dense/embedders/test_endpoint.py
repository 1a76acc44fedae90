"""OpenAI-compatible endpoints, against a real HTTP server on this machine."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from codenib.core.errors import CodenibError, InputError, ProviderError
from codenib.views.dense.embedders.choose import open_embedder
from codenib.views.dense.embedders.endpoint import BATCH_TEXTS, EndpointEmbedder, open_endpoint
from codenib.views.dense.embedders.known import ISSUE_PREFIX
from codenib.views.dense.embedders.post import RetryPolicy

SECRET = "sk-this-is-secret-0123456789"
NOW = 1_700_000_000.0
FOUR_TRIES = RetryPolicy(attempts=4)


@dataclass
class Reply:
    status: int
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=dict)


def vector_of(text: str, dimension: int = 4) -> list[float]:
    return [
        float(len(text)),
        *(float(ord(letter)) for letter in text.ljust(dimension - 1)[-(dimension - 1) :]),
    ]


@dataclass
class Server:
    """Answers with the queued replies, then with the vectors, last row first."""

    url: str = ""
    queue: list[Reply] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    slept: list[float] = field(default_factory=list)
    dimension: int = 4
    model: str = "tiny-v1"

    def answer(self, request: dict[str, Any], key: str | None) -> Reply:
        self.requests.append(request)
        self.keys.append(key)
        if self.queue:
            return self.queue.pop(0)
        rows = [
            {"index": index, "embedding": vector_of(text, self.dimension)}
            for index, text in enumerate(request["input"])
        ]
        return Reply(200, json.dumps({"data": rows[::-1], "model": self.model}).encode())

    def open(self, model: str = "tiny", patience: RetryPolicy = FOUR_TRIES) -> EndpointEmbedder:
        return open_endpoint(self.url, model, patience=patience, sleep=self.slept.append, now=lambda: NOW)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("CODENIB_EMBED_KEY", SECRET)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    fake = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            reply = fake.answer(json.loads(body), self.headers["Authorization"])
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        fake.url = f"http://127.0.0.1:{http.server_port}/v1"
        yield fake
        http.shutdown()
        thread.join()


def test_rows_follow_the_texts_though_the_server_reorders_them(server: Server) -> None:
    texts = [f"text {number}" * (number % 5 + 1) for number in range(2 * BATCH_TEXTS + 3)]
    rows = server.open().embed_documents(texts)
    np.testing.assert_array_equal(rows, np.array([vector_of(text) for text in texts], dtype=np.float32))
    assert [len(request["input"]) for request in server.requests] == [1, BATCH_TEXTS, BATCH_TEXTS, 3]


def test_identity_names_the_endpoint_and_the_model_that_answered(server: Server) -> None:
    identity = server.open().identity
    assert identity.model == f"{server.url}/embeddings#tiny"
    assert (identity.revision, identity.dimension, identity.normalized) == ("tiny-v1", 4, False)


def test_blank_texts_are_not_sent_and_give_zero_rows(server: Server) -> None:
    rows = server.open().embed_documents(["", "a", " \n"])
    assert server.requests[-1]["input"] == ["a"]
    assert not rows[[0, 2]].any()
    assert rows[1].any()


def test_a_text_over_the_cap_is_cut(server: Server) -> None:
    server.open().embed_documents(["x" * 100_000])
    assert len(server.requests[-1]["input"][0]) == 8192 * 3


def test_a_model_of_the_paper_gets_its_prefixes(server: Server) -> None:
    server.dimension = 1024
    embedder = server.open("Qwen/Qwen3-Embedding-0.6B")
    embedder.embed_queries(["where"])
    embedder.embed_documents(["here"])
    assert [request["input"] for request in server.requests[1:]] == [[ISSUE_PREFIX + "where"], ["here"]]


def test_the_key_of_the_environment_is_sent(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.open()
    monkeypatch.delenv("CODENIB_EMBED_KEY")
    monkeypatch.setenv("OPENAI_API_KEY", "other")
    server.open()
    monkeypatch.delenv("OPENAI_API_KEY")
    server.open()
    assert server.keys == [f"Bearer {SECRET}", "Bearer other", None]


def test_a_busy_server_is_given_the_time_it_asks_for(server: Server) -> None:
    date = formatdate(NOW + 30, usegmt=True)
    server.queue = [
        Reply(429, headers={"Retry-After": "7"}),
        Reply(429, headers={"Retry-After": date}),
        Reply(429, headers={"Retry-After": "soon"}),
    ]
    assert server.open().identity.dimension == 4
    assert server.slept == [7.0, 30.0, 2.0]


def test_a_failing_server_is_tried_again_with_doubled_waits(server: Server) -> None:
    embedder = server.open()
    server.queue = [Reply(500), Reply(503)]
    assert embedder.embed_documents(["a"]).any()
    assert server.slept == [0.5, 1.0]


def test_patience_ends(server: Server) -> None:
    server.queue = [Reply(500, b'{"error": {"message": "on fire"}}')] * 9
    with pytest.raises(ProviderError, match="answered 500: on fire"):
        server.open()
    assert server.slept == [0.5, 1.0, 2.0]


def test_a_wait_of_an_hour_is_not_waited_for(server: Server) -> None:
    server.queue = [Reply(429, headers={"Retry-After": "3600"})]
    with pytest.raises(ProviderError, match="answered 429"):
        server.open()
    assert server.slept == []


def test_a_wrong_request_is_not_tried_again(server: Server) -> None:
    server.queue = [Reply(400, b'{"error": {"message": "no such model"}}')]
    with pytest.raises(ProviderError, match="answered 400: no such model"):
        server.open()
    assert server.slept == []


def test_a_redirect_is_not_followed_with_the_key(server: Server) -> None:
    server.queue = [Reply(307, headers={"Location": server.url + "/embeddings"})]
    with pytest.raises(ProviderError, match="answered 307"):
        server.open()
    assert len(server.keys) == 1


def test_another_dimension_than_the_first_is_refused(server: Server) -> None:
    embedder = server.open()
    server.dimension = 5
    with pytest.raises(ProviderError, match="5 dimensions after 4"):
        embedder.embed_documents(["a"])


def test_a_known_model_of_another_dimension_is_refused_when_opened(server: Server) -> None:
    with pytest.raises(ProviderError, match=r"4 dimensions, Qwen/Qwen3-Embedding-0\.6B 1024"):
        server.open("Qwen/Qwen3-Embedding-0.6B")


def test_another_model_than_the_first_is_refused(server: Server) -> None:
    embedder = server.open()
    server.model = "tiny-v2"
    with pytest.raises(ProviderError, match="answered with tiny-v2 after tiny-v1"):
        embedder.embed_documents(["a"])


@pytest.mark.parametrize(
    "body",
    [
        b"<html>hello</html>",
        b'{"object": "list"}',
        b'{"data": [{"index": 0, "embedding": "AAAA"}]}',
        b'{"data": [{"index": 0, "embedding": []}]}',
        b'{"data": [{"index": 0, "embedding": [1e999]}]}',
        b'{"data": []}',
        b'{"data": [{"index": 1, "embedding": [1.0]}]}',
        b'{"data": [{"index": 0, "embedding": [1.0]}, {"index": 0, "embedding": [1.0]}]}',
        b"\xff\xfe",
    ],
)
def test_a_reply_that_is_not_embeddings_is_refused(server: Server, body: bytes) -> None:
    server.queue = [Reply(200, body)]
    with pytest.raises(ProviderError):
        server.open()


def test_an_unreachable_port_fails_at_once(server: Server) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as closed:
        port = closed.server_port
    server.url = f"http://127.0.0.1:{port}/v1"
    with pytest.raises(ProviderError, match="no answer from http://127") as caught:
        server.open()
    assert caught.value.hint == f"curl {server.url}/embeddings"
    assert server.slept == []


def test_a_silent_server_is_a_timeout(server: Server) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as silent:  # listens, never answers
        server.url = f"http://127.0.0.1:{silent.server_port}"
        with pytest.raises(ProviderError, match="timed out"):
            server.open(patience=RetryPolicy(attempts=2, timeout_s=0.05))
    assert server.slept == [0.5]


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("ftp://host/v1", "http or https"),
        ("host/v1", "http or https"),
        ("http://host:port/v1", "not the URL"),
        (f"https://user:{SECRET}@host/v1", "holds a password"),
    ],
)
def test_a_wrong_url_is_refused_without_repeating_it(url: str, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        open_endpoint(url, "m")
    assert SECRET not in caught.value.message + caught.value.hint


def test_a_query_stays_out_of_messages_but_is_sent(server: Server) -> None:
    server.url += f"?code={SECRET}"
    server.queue = [Reply(404)]
    with pytest.raises(ProviderError) as caught:
        server.open()
    assert SECRET not in caught.value.message + caught.value.hint
    assert SECRET not in repr(server.open().identity)


def test_the_spec_of_an_endpoint_is_its_url_and_model(server: Server) -> None:
    assert open_embedder(f"endpoint:{server.url}#tiny").identity.dimension == 4
    for spec in ("endpoint:", f"endpoint:{server.url}", f"endpoint:{server.url}#"):
        with pytest.raises(InputError):
            open_embedder(spec)


def _refused(status: int) -> Callable[[Server], None]:
    return lambda server: server.queue.append(Reply(status, f'{{"error": "bad key {SECRET}"}}'.encode()))


def _unreachable(server: Server) -> None:
    server.url = "http://127.0.0.1:1/v1"


@pytest.mark.parametrize("spoil", [_refused(400), _refused(401), _refused(403), _unreachable])
def test_the_key_is_in_no_error(server: Server, spoil: Callable[[Server], None]) -> None:
    spoil(server)
    with pytest.raises(CodenibError) as caught:
        server.open()
    error: BaseException | None = caught.value
    while error is not None:
        assert SECRET not in repr(error) + str(error) + str(getattr(error, "hint", ""))
        error = error.__cause__ or error.__context__


def test_the_key_is_in_no_repr(server: Server) -> None:
    embedder = server.open()
    assert SECRET not in repr(embedder) + str(embedder) + repr(embedder.poster) + repr(embedder.identity)


@pytest.mark.parametrize("key", [f"{SECRET}\nX: y", f"{SECRET}é"])
def test_a_key_that_no_header_can_carry_is_not_repeated(
    server: Server, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv("CODENIB_EMBED_KEY", key)
    with pytest.raises(InputError, match="CODENIB_EMBED_KEY") as caught:
        server.open()
    assert SECRET not in repr(caught.value)


def test_openai_s_key_is_not_sent_in_the_clear_to_another_machine() -> None:
    from codenib.views.dense.embedders.post import choose_key

    environment = {"OPENAI_API_KEY": "theirs"}
    assert choose_key(environment, "http://example.org/v1") == ""
    assert choose_key(environment, "https://example.org/v1") == "theirs"
    assert choose_key({**environment, "CODENIB_EMBED_KEY": "ours"}, "http://example.org/v1") == "ours"
