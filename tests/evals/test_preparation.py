"""What a study stands on is looked at first: it refuses, or its report begins with what is missing."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.evals.conftest import Corpus

from codenib.core.errors import InputError, ProviderError
from codenib.evals.preparation import groups_of
from codenib.evals.runs import StudyRun
from codenib.manifest.home import tools_folder

Study = Callable[..., dict[str, Any]]


@pytest.fixture
def go_transition(corpus: Corpus, tmp_path: Path) -> Path:
    """An edit of a Go file, whose engine comes from nowhere but the toolbox."""
    first = corpus.repo.commit({"shop/main.go": "package shop\n\nfunc Pay() {}\n"}, "go")
    second = corpus.repo.commit({"shop/main.go": "package shop\n\nfunc Pay() { Log() }\n"}, "log")
    row = {"repo": "acme/shop", "language": "Go", "step": 1, "from": first, "to": second}
    file = tmp_path / "transitions.jsonl"
    file.write_text(json.dumps(row) + "\n")
    return file


def test_a_study_of_the_graph_without_its_engine_is_refused_before_it_measures(
    study: Study, corpus: Corpus, go_transition: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODENIB_TOOLBOX", str(tmp_path / "no tools"))
    given = ("--rows", go_transition, "--mirror", corpus.mirror, "--out", tmp_path / "run", "--graph")
    with pytest.raises(ProviderError, match="engines of its languages; go: go-facts") as refused:
        study("maintenance", *given)
    assert refused.value.hint.startswith("codenib tools install go; or --partial")
    assert not (tmp_path / "run").exists()


def test_graphs_by_names_are_never_counted_as_graphs_and_the_report_begins_with_it(
    study: Study, corpus: Corpus, go_transition: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODENIB_TOOLBOX", str(tmp_path / "no tools"))
    given = ("--rows", go_transition, "--mirror", corpus.mirror, "--out", tmp_path / "run")
    found = study("maintenance", *given, "--graph", "--partial")
    arms = [arm for arm in found["arms"] if arm.startswith("graph")]
    assert arms
    assert all(arm.startswith("graph by names") for arm in arms)
    first = (tmp_path / "run" / "report.md").read_text().splitlines()[0]
    assert first.startswith("> **Missing: engines; go: go-facts")
    assert "graph comparisons have files by names alone (go" in first
    assert found["missing"]


def test_an_engine_that_came_later_is_another_run(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "run"
    StudyRun(folder, "maintenance", {"engines": {"go": "missing"}})
    with pytest.raises(InputError, match="other settings: engines"):
        StudyRun(folder, "maintenance", {"engines": {"go": "go-facts 1"}})


def test_a_run_with_a_state_of_its_own_has_the_engines_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CODENIB_TOOLBOX")
    before = tools_folder()
    run = StudyRun(tmp_path / "run", "lifecycle", {})
    for state in ("one", "two"):
        run.use_state(tmp_path / state)
        assert os.environ["CODENIB_HOME"] == str(tmp_path / state)
        assert tools_folder() == before


def test_without_matplotlib_a_study_ends_with_its_report(
    study: Study, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    row = json.loads(corpus.rows.read_text().splitlines()[0])
    corpus.rows.write_text(
        json.dumps(row) + "\n" + json.dumps({**row, "id": "x", "repo": "acme/other"}) + "\n"
    )
    given = ("--rows", corpus.rows, "--mirror", corpus.mirror, "--out", tmp_path / "run")
    found = study("retrieval", *given, "--arm", "lexical", "--arm", "balanced")
    assert set(found["arms"]) == {"lexical", "balanced"}
    report = (tmp_path / "run" / "report.md").read_text()
    wanted = (
        "> **Missing: no clone of acme/other; figures need matplotlib (pip install 'codenib-views[evals]').**"
    )
    assert report.splitlines()[0] == wanted
    assert "Not dominated" in report
    assert "![" not in report
    assert not (tmp_path / "run" / "figures").exists()


def test_languages_of_rows_lead_to_their_engines() -> None:
    assert groups_of(["Python", "TS/JS", "C/C++", "Rust"]) == ["cpp", "python", "rust", "typescript"]
    assert groups_of(["", "COBOL"]) == []
