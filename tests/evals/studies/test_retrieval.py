"""The retrieval study on a small repository: scores, resuming, equality of two runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.evals.conftest import Corpus

from codenib.core.errors import InputError, StateError
from codenib.evals.cli import cli
from codenib.evals.data.rows import LocalizeRow
from codenib.evals.studies.retrieval.arms import arms_for
from codenib.evals.studies.retrieval.score import contrasts, score_answer, score_run

Study = Callable[..., dict[str, Any]]


def ask(study: Study, corpus: Corpus, out: Path, *more: str) -> dict[str, Any]:
    return study("retrieval", "--rows", corpus.rows, "--mirror", corpus.mirror, "--out", out, *more)


def test_the_target_of_an_obvious_question_is_found(study: Study, corpus: Corpus, tmp_path: Path) -> None:
    found = ask(study, corpus, tmp_path / "run")
    for arm in ("lexical", "semantic", "hybrid"):
        assert found["arms"][arm]["file_recall@1"]["value"] == 1.0
        assert found["arms"][arm]["symbol_recall@10"]["value"] == 1.0
    assert found["arms"]["lexical-files"]["file_recall@1"]["value"] == 1.0
    assert "symbol_recall@10" not in found["arms"]["lexical-files"]
    report = (tmp_path / "run" / "report.md").read_text()
    for heading in (
        "What was measured",
        "On what",
        "Results",
        "How sure",
        "What was left out",
        "How to repeat",
    ):
        assert f"## {heading}" in report
    assert str(tmp_path) not in report
    assert (tmp_path / "run" / "figures" / "operating-points.png").stat().st_size > 10_000
    assert (tmp_path / "run" / "figures" / "operating-points.svg").exists()


def test_an_interrupted_run_continues_without_repeating(study: Study, corpus: Corpus, tmp_path: Path) -> None:
    whole = ask(study, corpus, tmp_path / "run", "--arm", "lexical", "--arm", "hybrid")
    file = tmp_path / "run" / "records.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    kept = b"".join(lines[:3])
    file.write_bytes(kept + lines[3][:25])
    again = ask(study, corpus, tmp_path / "run", "--arm", "lexical", "--arm", "hybrid")
    assert file.read_bytes().startswith(kept)
    keys = [json.loads(line)["key"] for line in file.read_bytes().splitlines()]
    assert len(keys) == len(set(keys))
    scores = [
        {arm: value["file_recall@10"] for arm, value in found["arms"].items()} for found in (whole, again)
    ]
    assert scores[0] == scores[1]


def test_a_second_run_gives_the_same_answers(study: Study, corpus: Corpus, tmp_path: Path) -> None:
    one, _ = (ask(study, corpus, tmp_path / name) for name in ("one", "two"))
    found = study("compare", tmp_path / "one", tmp_path / "two")
    assert found["differing"] == []
    assert found["shared"] == 3 * len(one["arms"]) >= 15


def test_a_changed_answer_is_a_difference(study: Study, corpus: Corpus, tmp_path: Path) -> None:
    for name in ("one", "two"):
        ask(study, corpus, tmp_path / name, "--arm", "lexical")
    file = tmp_path / "two" / "records.jsonl"
    file.write_text(file.read_text().replace("shop/cart.py", "shop/other.py"))
    with pytest.raises(StateError, match="records differ"):
        CliRunner().invoke(
            cli, ["compare", str(tmp_path / "one"), str(tmp_path / "two")], catch_exceptions=False,
            standalone_mode=False,
        )  # fmt: skip


def test_a_repository_without_a_clone_is_told_not_hidden(
    study: Study, corpus: Corpus, tmp_path: Path
) -> None:
    rows = [json.loads(line) for line in corpus.rows.read_text().splitlines()]
    rows[0]["repo"] = "acme/bank"
    corpus.rows.write_text("".join(json.dumps(each) + "\n" for each in rows))
    found = ask(study, corpus, tmp_path / "run", "--arm", "lexical")
    assert "no clone of acme/bank" in found["errors"]["lexical"]
    assert found["arms"]["lexical"]["file_recall@1"]["n"] == 2
    assert "no clone of acme/bank" in (tmp_path / "run" / "report.md").read_text()


def test_an_arm_that_there_is_not_is_refused() -> None:
    with pytest.raises(InputError, match="no arm quantum"):
        arms_for(["quantum"], [], [])


def test_each_embedder_and_each_cut_is_an_arm() -> None:
    names = [arm.name for arm in arms_for(["lexical"], ["models/small"], ["judge"])]
    assert names == ["lexical", "semantic@small", "hybrid@small", "judge@30", "judge@50", "judge@100"]


def test_scores_read_answers_and_nothing_else() -> None:
    row = LocalizeRow("r", "a/b", "c", "q", ("A", "B"))
    answers = [
        ["A", 1, 2, "L2", "f1"],
        ["A", 4, 5, "L2", "f2"],
        ["C", 1, 9, "L2", "g"],
        ["B", 1, 3, "L2", "h"],
    ]
    scores = score_answer(row, answers)
    assert (scores["file_recall@1"], scores["file_recall@3"]) == (0.5, 1.0)
    assert "symbol_recall@10" not in scores


def test_arms_are_compared_on_the_rows_that_all_answered() -> None:
    rows = [LocalizeRow(name, "a/b", "c", "q", ("A",)) for name in ("r1", "r2")]
    hit, miss = [["A", 1, 2, "L2", "f"]], [["B", 1, 2, "L2", "f"]]
    records: list[dict[str, Any]] = [
        {"row": "r1", "arm": "x", "answers": hit, "seconds": 0.1},
        {"row": "r2", "arm": "x", "answers": hit, "seconds": 0.1},
        {"row": "r1", "arm": "y", "answers": miss, "seconds": 0.1},
        {"row": "r2", "arm": "y", "error": "too slow"},
    ]
    scored, errors = score_run(rows, records)
    assert [len(each.rows) for each in scored.values()] == [1, 1]
    assert errors == {"y": "1 rows: too slow"}
    assert contrasts(scored, "x", "file_recall@10", 1)["y"].value == -1.0
