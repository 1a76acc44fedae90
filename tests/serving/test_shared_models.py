"""Calls of many threads to one model: in batches, with the answers that each would get alone."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.serving.search.rerankers.tiny import WORDS, expected_score, write_cross_encoder

from codenib.core.errors import InputError, ProviderError
from codenib.serving.search.rerankers.onnx import open_onnx_reranker
from codenib.serving.shared_models import ModelQueue, SharedModels, configured_reranker


class Gate:
    """A model that waits in its first call until it is let go; it doubles numbers, and refuses 13."""

    def __init__(self) -> None:
        self.busy, self.go_on = threading.Event(), threading.Event()
        self.calls: list[list[int]] = []

    def run(self, asked: Sequence[int]) -> list[int]:
        self.calls.append(list(asked))
        if len(self.calls) == 1:
            self.busy.set()
            assert self.go_on.wait(20)
        if 13 in asked:
            raise ProviderError("refused")
        return [2 * each for each in asked]


def _ask_all(queue: ModelQueue[int, int], gate: Gate, numbers: Sequence[int]) -> dict[int, int | Exception]:
    """Ask the first alone, and the others while the model is busy with it."""
    got: dict[int, int | Exception] = {}

    def ask(number: int) -> None:
        try:
            got[number] = queue.ask(number)
        except ProviderError as error:
            got[number] = error

    threads = [threading.Thread(target=ask, args=(number,)) for number in numbers]
    threads[0].start()
    assert gate.busy.wait(20)
    for at, thread in enumerate(threads[1:], 1):
        thread.start()
        while queue.waiting < at:
            pass
    gate.go_on.set()
    for thread in threads:
        thread.join(20)
    return got


def test_what_is_asked_while_a_model_is_busy_is_one_batch_and_each_gets_its_own_answer() -> None:
    gate = Gate()
    queue: ModelQueue[int, int] = ModelQueue(gate.run, lambda ask: 1)
    assert _ask_all(queue, gate, [1, 2, 3, 4, 5]) == {1: 2, 2: 4, 3: 6, 4: 8, 5: 10}
    assert gate.calls == [[1], [2, 3, 4, 5]]
    assert (queue.asks, queue.batches, queue.waiting) == (5, 2, 0)


def test_a_batch_has_a_size() -> None:
    gate = Gate()
    queue: ModelQueue[int, int] = ModelQueue(gate.run, lambda ask: 300)
    _ask_all(queue, gate, [1, 2, 3, 4])
    assert gate.calls == [[1], [2], [3], [4]]


def test_an_ask_that_fails_fails_alone() -> None:
    gate = Gate()
    got = _ask_all(ModelQueue(gate.run, lambda ask: 1), gate, [1, 2, 13, 4])
    assert isinstance(got.pop(13), ProviderError)
    assert got == {1: 2, 2: 4, 4: 8}


def test_the_workspaces_of_a_server_share_a_reranker_and_get_the_scores_that_they_would_get_alone(
    tmp_path: Path,
) -> None:
    folder = write_cross_encoder(tmp_path / "model")
    opened: list[str] = []

    def open_once(spec: str) -> object:
        opened.append(spec)
        return open_onnx_reranker(folder, batch_size=8)

    models = SharedModels(open_reranker=open_once)  # type: ignore[arg-type]
    queries = [f"{word} {other}" for word in WORDS[4:] for other in WORDS[4:7]]
    documents = [f"{word} {word} file" for word in WORDS[4:]]
    got: dict[str, list[float]] = {}

    def ask(query: str) -> None:
        reranker = models.reranker("onnx:somewhere")
        assert reranker is not None
        got[query] = reranker.scores(query, documents)

    threads = [threading.Thread(target=ask, args=(query,)) for query in queries]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert opened == ["onnx:somewhere"]
    assert models.asks == len(queries)
    for query in queries:
        assert got[query] == pytest.approx([expected_score(query, each) for each in documents], abs=1e-5)


def test_what_gains_nothing_by_batches_is_asked_as_it_is() -> None:
    from codenib.views.dense.embedders.static import open_static

    assert SharedModels().embedder("static") is open_static()
    assert SharedModels().reranker("none") is None


def test_the_users_reranker_is_checked_when_the_server_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    assert configured_reranker() is None
    monkeypatch.setenv("CODENIB_RERANKER", "qwen3-4b")
    assert configured_reranker() == "qwen3-4b"
    monkeypatch.setenv("CODENIB_RERANKER", "nothing-like-that")
    with pytest.raises(InputError):
        configured_reranker()
