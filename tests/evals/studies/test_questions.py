"""Questions: a benchmark's clone in, NDCG out, by category and half."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.evals.conftest import Corpus
from tests.gitrepo import GitRepo

from codenib.core.errors import InputError
from codenib.evals.cli import cli
from codenib.evals.data.questions import BenchmarkRepository, Target, read_benchmark
from codenib.evals.metrics.gain import ndcg

Study = Callable[..., dict[str, Any]]


@pytest.fixture
def benchmark(corpus: Corpus, tmp_path: Path) -> Path:
    """A clone in the benchmark's form, with questions about `acme/shop`."""
    rows = [
        {
            "name": "shop",
            "language": "python",
            "url": "https://example.org/acme/shop.git",
            "revision": corpus.commits[0],
            "benchmark_root": "shop",
        },
        {"name": "gone", "language": "go", "url": "https://example.org/acme/gone.git", "revision": "0" * 40},
    ]
    questions = [
        {"query": "save the session of a visitor", "relevant": ["shop/storage.py"], "category": "semantic"},
        {"query": "send_receipt", "relevant": [{"path": "shop/mail.py", "start_line": 4, "end_line": 6}]},
        {"query": "how is the price computed", "relevant": ["shop/cart.py"], "secondary": ["shop/none.py"]},
    ]
    clone = GitRepo(tmp_path / "semble")
    clone.commit(
        {
            "benchmarks/repos.json": json.dumps(rows),
            "benchmarks/annotations/shop.json": json.dumps(questions),
            "benchmarks/annotations/gone.json": "[]",
        },
        "questions",
    )
    return clone.path


def test_questions_are_scored_by_category_and_missing_clones_are_named(
    study: Study, corpus: Corpus, benchmark: Path, tmp_path: Path
) -> None:
    words = ["questions", "--benchmark", benchmark, "--mirror", corpus.mirror, "--half", "all"]
    found = study(*words, "--out", tmp_path / "run", "--arm", "lexical")
    table = found["table"]["lexical"]
    assert table["category: symbol"]["value"] == 1.0
    assert table["category: semantic"]["value"] == 1.0
    assert 0.6 < table["category: architecture"]["value"] < 0.62  # one of two targets, in the first place
    assert table["all"]["n"] == 3
    assert "acme/gone" not in found["left_out"]  # it has no questions
    again = study(*words, "--out", tmp_path / "run", "--arm", "lexical")
    assert again["table"] == found["table"]


def test_a_repository_without_its_revision_is_left_out_by_name(
    study: Study, corpus: Corpus, benchmark: Path, tmp_path: Path
) -> None:
    words = ["questions", "--benchmark", benchmark, "--mirror", tmp_path / "empty", "--half", "all"]
    found = study(*words, "--out", tmp_path / "run", "--arm", "lexical")
    assert found["questions"] == 0
    assert any("acme/shop" in line for line in found["left_out"])


def test_a_folder_without_the_benchmark_is_refused(corpus: Corpus, tmp_path: Path) -> None:
    words = ["questions", "--benchmark", str(corpus.repo.path), "--out", str(tmp_path / "run")]
    done = CliRunner().invoke(cli, words)
    assert isinstance(done.exception, InputError)
    assert "benchmarks/repos.json" in done.exception.message


def test_every_repository_is_in_one_half_and_reported_ones_are_never_chosen_on() -> None:
    def half(name: str, owner: str) -> str:
        url = f"https://example.org/{owner}/{name}.git"
        return BenchmarkRepository(name=name, language="", url=url, revision="").half

    assert {half(f"r{number}", "o") for number in range(20)} == {"choose", "report"}
    assert all(half(name, "o") == "report" for name in ("redis", "gin", "axios", "tokio"))


def test_a_target_is_covered_by_overlapping_lines_of_its_file() -> None:
    target = Target("src/a.py", 10, 20)
    assert target.covers("src/a.py", 20, 30)
    assert target.covers("a.py", 1, 10)
    assert not target.covers("src/a.py", 21, 30)
    assert not target.covers("src/ba.py", 10, 20)
    assert Target("a.py").covers("x/a.py", 1, 1)


def test_gain_falls_with_the_place_and_is_shared_by_targets() -> None:
    assert ndcg([1]) == 1.0
    assert ndcg([3]) == 0.5
    assert ndcg([11]) == ndcg([None]) == ndcg([]) == 0.0
    assert ndcg([1, 2]) == 1.0
    assert ndcg([1, None]) < ndcg([1, 5]) < 1.0


def test_the_benchmark_is_read_from_a_bare_clone_too(benchmark: Path, tmp_path: Path) -> None:
    bare = GitRepo(tmp_path / "other")
    bare.git("clone", "-q", "--bare", str(benchmark), str(tmp_path / "bare"))
    assert read_benchmark(tmp_path / "bare") == read_benchmark(benchmark)
