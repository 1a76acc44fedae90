"""A real server as its operators see it: health, metrics for who may, spans, and pushes that are followed."""

from __future__ import annotations

import hashlib
import hmac
import http.client
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.adapters.mcp.transport.test_http import Running, request, running
from tests.gitrepo import GitRepo

from codenib.adapters.mcp.record import CallRecord
from codenib.adapters.mcp.transport.tokens import AccessTokens
from codenib.fleet.catalogue.catalogue import Catalogue


def _ask(
    server: Running, method: str, path: str, headers: dict[str, str] | None = None, body: bytes = b""
) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    try:
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def test_health_is_told_to_anyone_and_names_nothing(shop: GitRepo) -> None:
    with running(shop.path) as server:
        probe = {"Host": "10.0.0.7:8765"}  # as a cluster asks, by the address of the pod
        assert _ask(server, "GET", "/healthz", probe) == (200, '{"status":"ok"}')
        server.call("search", {"query": "convert"})  # waits until it is ready
        assert _ask(server, "GET", "/readyz", probe) == (200, '{"status":"ready"}')
        assert _ask(server, "POST", "/healthz", server.headers())[0] == 404


def test_metrics_are_for_tokens_that_are_for_them(shop: GitRepo) -> None:
    pytest.importorskip("prometheus_client")
    _, text = AccessTokens().create("prometheus", metrics=True)
    with running(shop.path, metrics=True) as server:
        server.call("search", {"query": "convert"})
        server.post(request("made\nup"), "/nobody/mcp")
        assert _ask(server, "GET", "/metrics")[0] == 401
        assert _ask(server, "GET", "/metrics", server.headers())[0] == 404
        status, numbers = _ask(server, "GET", "/metrics", server.headers(text))
        assert _ask(server, "POST", "/mcp", server.headers(text), request("tools/list"))[0] == 404
    assert status == 200
    rows = set(numbers.splitlines())
    assert 'codenib_requests_total{outcome="answered",tenant="",tool="search"} 1.0' in rows
    assert 'codenib_refusals_total{status="404",tenant=""} 2.0' in rows
    assert 'codenib_repositories{state="ready"} 1.0' in rows
    assert 'codenib_calls_waiting{lane="calls"} 0.0' in rows
    assert "made" not in numbers  # no label is a client's word


def test_a_request_is_a_span_with_its_wait_inside() -> None:
    pytest.importorskip("opentelemetry.sdk")
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    from codenib.adapters.observed.spans import Spans

    exporter = InMemorySpanExporter()
    spans = Spans(exporter)
    spans.record(
        CallRecord(request="ab12", tool="search", asked="secret question", outcome="answered", waited_s=1e-9)
    )
    spans.close()
    wait, call = exporter.get_finished_spans()
    assert (call.name, wait.name) == ("search", "wait")
    assert wait.parent is not None and wait.parent.span_id == call.context.span_id
    assert call.attributes is not None and call.attributes["codenib.request"] == "ab12"
    assert "secret" not in str(call.attributes)


def test_a_signed_push_is_followed_and_others_are_refused(
    shop: GitRepo, git_repo: Callable[..., GitRepo], tmp_path: Path
) -> None:
    with running(shop.path, webhook_secret="hush") as server:
        body = json.dumps({"repository": {"clone_url": "https://example.org/team/app.git"}}).encode()
        good = {"X-Hub-Signature-256": f"sha256={hmac.new(b'hush', body, hashlib.sha256).hexdigest()}"}
        bad = {"X-Hub-Signature-256": f"sha256={hmac.new(b'guess', body, hashlib.sha256).hexdigest()}"}
        assert _ask(server, "POST", "/hooks/push", bad, body)[0] == 401
        assert _ask(server, "POST", "/hooks/push", {}, body)[0] == 401
        assert _ask(server, "POST", "/hooks/push", good, b"x" * 3_000_000)[0] == 413
        # Not in the catalogue: accepted all the same, so the answer says nothing of what there is.
        assert _ask(server, "POST", "/hooks/push", good, body) == (202, '{"status":"accepted"}')
    with running(shop.path) as server:  # without a secret there is no such address
        assert _ask(server, "POST", "/hooks/push", {**server.headers(), **good}, body)[0] == 404
    assert Catalogue.open().entries == ()
