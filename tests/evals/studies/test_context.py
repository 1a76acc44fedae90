"""The context study with the simulated agent: policies differ as they must, and the label is everywhere."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.evals.conftest import Corpus

from codenib.evals.metrics.bootstrap import Estimate
from codenib.evals.studies.context.agent import decide, leads_of
from codenib.evals.studies.context.report import PolicyEffect, effects, select
from codenib.runtime.context.messages import Message

Study = Callable[..., dict[str, Any]]


def test_the_whole_study_runs_offline_and_is_labelled_simulated(
    study: Study, corpus: Corpus, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    found = study("context", "--rows", corpus.rows, "--mirror", corpus.mirror, "--out", out)
    assert found["simulated"]
    assert found["warning"].startswith("SIMULATED")
    records = [json.loads(line) for line in (out / "records.jsonl").read_text().splitlines()]
    assert all(each["simulated"] for each in records)
    assert len(records) == 3 * 4
    assert "SIMULATED" in (out / "report.md").read_text().partition("## What was measured")[0]
    assert "simulated" in (out / "figures" / "policies-simulated.svg").read_text()
    by_policy = {(each["row"], each["policy"]): each for each in records}
    for row in ("shop-1", "shop-2", "shop-3"):
        assert by_policy[(row, "eager")]["answer_recall@5"] == 1.0
        assert by_policy[(row, "eager")]["tokens"] > 0
        # The rewrite drops the candidates, so that the agent has to search again.
        assert by_policy[(row, "compact")]["turns"] >= by_policy[(row, "eager")]["turns"]
    before = (out / "records.jsonl").read_bytes()
    study("context", "--rows", corpus.rows, "--mirror", corpus.mirror, "--out", out)
    assert (out / "records.jsonl").read_bytes() == before


def test_the_agent_searches_then_reads_then_answers() -> None:
    issue = Message("user", "load_session fails for unknown keys")
    first = decide([issue], [], True)
    assert first.calls[0].name == "grep"
    hits = Message("tool", "shop/storage.py:9: def load_session(key):", call_id="x")
    second = decide([issue, first, hits], [], True)
    assert second.calls[0].name == "read"
    assert second.calls[0].arguments["path"] == "shop/storage.py"
    passage = Message("tool", "shop/storage.py:1-9 of 9 lines\n8\t\n9\tdef load_session(key):", call_id="y")
    last = decide([issue, first, hits, second, passage], [], True)
    assert not last.calls
    place = json.loads(last.text)["locations"][0]
    assert place["path"] == "shop/storage.py"
    assert place["start_line"] <= 9 <= place["end_line"]


def test_the_agent_knows_only_what_the_history_shows() -> None:
    text = "issue\n\n# Candidate code\n\n## 1. a.py:3-9 f\n```python\ncode\n```"
    leads = leads_of([Message("user", text)])
    assert leads.candidates == [("a.py", 3, 9)]
    assert leads_of([Message("user", "issue")]).candidates == []


def estimate(value: float, low: float) -> Estimate:
    return Estimate(value, low, value, 10, 5)


def test_the_rule_takes_the_fewest_tokens_among_policies_within_the_margin() -> None:
    within = PolicyEffect(estimate(0.5, 0.4), {k: estimate(0.0, -0.05) for k in (1, 3, 5, 10)})
    outside = PolicyEffect(estimate(0.2, 0.1), {k: estimate(0.0, -0.051) for k in (1, 3, 5, 10)})
    assert select({"eager": within, "compact": outside}) == "eager"
    assert select({"compact": outside}) == "grep_read"


def test_effects_are_paired_by_row() -> None:
    def record(policy: str, row: str, tokens: int, score: float) -> dict[str, Any]:
        recalls = {f"answer_recall@{k}": score for k in (1, 3, 5, 10)}
        return {"model": "m", "policy": policy, "row": row, "repo": row, "tokens": tokens, **recalls}

    records = [
        record("grep_read", "a", 100, 0.0), record("grep_read", "b", 300, 1.0),
        record("eager", "a", 50, 1.0), record("eager", "b", 50, 1.0), record("eager", "c", 9999, 0.0),
    ]  # fmt: skip
    effect = effects(records, "m", 1)["eager"]
    assert effect.ratio.value == 0.25
    assert effect.recall[5].value == 0.5
