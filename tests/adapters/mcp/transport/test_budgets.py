"""A real server within its budgets: what was closed is opened again, and answers the same."""

from __future__ import annotations

import http.client
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.adapters.mcp.transport.test_http import Running, request, running
from tests.gitrepo import GitRepo
from tests.serving.search.rerankers.tiny import write_cross_encoder

from codenib.adapters.mcp.budgets import ServerBudgets
from codenib.adapters.mcp.server_context import ServerContext
from codenib.adapters.mcp.transport.tokens import AccessTokens
from codenib.fleet.scheduler.admit import BuildBudget
from codenib.fleet.scheduler.uses import read_uses
from codenib.fleet.tenants.grant import Grant

_TIMES = re.compile(rb'\\?"(seconds|[a-z_]*ms)\\?":[0-9.e-]+')
_CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("search", {"query": "convert a currency"}),
    ("explore", {"query": "how is a price converted"}),
    ("grep", {"pattern": "def "}),
    ("definition", {"name": "convert"}),
    ("read", {"path": "shop/currency.py"}),
    ("outline", {"path": "."}),
)


@pytest.fixture
def repositories(shop: GitRepo, git_repo: Callable[..., GitRepo]) -> list[GitRepo]:
    rows = [shop]
    for name in ("one", "two"):
        repository = git_repo(name)
        repository.commit({"shop/currency.py": f"def convert(value):\n    return value * {len(rows)}\n"})
        rows.append(repository)
    return rows


def _answers(server: Running, name: str) -> list[bytes]:
    calls = (request("tools/call", {"name": tool, "arguments": words}) for tool, words in _CALLS)
    rows = [server.post(body, f"/{name}/mcp") for body in calls]
    assert [status for status, _ in rows] == [200] * len(_CALLS)
    return [_TIMES.sub(b"", body) for _, body in rows]


def _metrics(server: Running) -> dict[str, float]:
    _, text = AccessTokens().create("operator", grant=Grant(repositories=()), metrics=True)
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    connection.request("GET", "/metrics", headers={"Authorization": f"Bearer {text}"})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    assert answer.status == 200
    lines = (line.rsplit(" ", 1) for line in body.decode().splitlines() if not line.startswith("#"))
    return {name: float(value) for name, value in lines}


def test_what_was_closed_for_another_answers_with_the_same_bytes_when_it_is_opened_again(
    repositories: list[GitRepo],
) -> None:
    names = [repository.path.name for repository in repositories]
    roots = [repository.path for repository in repositories]
    with running(*roots) as server:
        whole = {name: _answers(server, name) for name in names}
    tight = ServerBudgets(memory_bytes=1.0, preloads=False)  # one is open at a time
    with running(*roots, budgets=tight, metrics=True) as server:
        for _ in range(2):
            for name in names:
                assert _answers(server, name) == whole[name]
        numbers = _metrics(server)
        assert numbers["codenib_open_repositories"] == 1
        assert numbers["codenib_evicted"] >= 5
        assert numbers["codenib_opened"] == numbers["codenib_evicted"] + 1
        errors: list[object] = []

        def ask(name: str) -> None:
            try:
                assert _answers(server, name) == whole[name]
            except BaseException as error:  # noqa: BLE001 - of a thread
                errors.append(error)

        threads = [threading.Thread(target=ask, args=(name,)) for name in names * 2]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert errors == []


def test_what_was_asked_before_is_open_after_a_start_before_anybody_asks(repositories: list[GitRepo]) -> None:
    roots = [repository.path for repository in repositories]
    with running(*roots, budgets=ServerBudgets(preloads=False)) as server:
        _answers(server, "one")
    assert set(read_uses()) == {str(roots[1].resolve())}
    with running(*roots, metrics=True) as server:
        while _metrics(server)["codenib_open_repositories"] < 1:
            pass
        assert _metrics(server)["codenib_opened"] == 1


def test_first_indexes_are_built_within_the_budget_and_all_repositories_become_ready(
    repositories: list[GitRepo],
) -> None:
    from codenib.adapters.mcp.admission import BuildAdmission

    admission, most = BuildAdmission(BuildBudget(1, 1e9)), [0]
    contexts = [ServerContext(repository.path) for repository in repositories]
    try:
        for context in contexts:
            context.admission = admission
            context.start()
        while not all(context.state in ("ready", "failed") for context in contexts):
            most[0] = max(most[0], admission.running)
        assert [context.state for context in contexts] == ["ready"] * 3
        assert most[0] == 1
    finally:
        for context in contexts:
            context.close()


def test_the_trace_of_a_server_has_what_opening_cost(repositories: list[GitRepo]) -> None:
    from codenib.fleet.scheduler.measured import recorded_trace

    with running(*(repository.path for repository in repositories), audit="none") as server:
        _answers(server, "one")
    trace = recorded_trace()
    (cost,) = trace.repositories.values()
    assert cost.open_s > 0 and cost.size_bytes > 0
    assert len(trace.calls) == len(_CALLS)


def test_the_users_reranker_reads_for_all_repositories_and_is_opened_once(
    repositories: list[GitRepo], tmp_path: Path
) -> None:
    folder = write_cross_encoder(tmp_path / "model")
    body = request("tools/call", {"name": "search", "arguments": {"query": "convert a currency"}})
    with running(
        *(repository.path for repository in repositories), reranker=f"onnx:{folder}", metrics=True
    ) as server:
        for repository in repositories:
            status, answer = server.post(body, f"/{repository.path.name}/mcp")
            assert (status, f"read by the onnx:{folder} reranker" in answer.decode()) == (200, True)
        assert _metrics(server)["codenib_model_asks"] == len(repositories)
