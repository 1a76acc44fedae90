"""The maintenance study: exact updates are called exact, damaged ones are not."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.evals.conftest import Corpus

from codenib.compiler.compiler import IndexCompiler
from codenib.core.errors import ProviderError
from codenib.core.views import ViewKind
from codenib.evals.studies.maintenance.checks import check
from codenib.manifest.home import tools_folder
from codenib.manifest.store import Store
from codenib.navigation.registry import backends_of
from codenib.navigation.tools.locate import Toolbox
from codenib.snapshot.repository import locate

Study = Callable[..., dict[str, Any]]


@pytest.fixture
def transitions(corpus: Corpus, tmp_path: Path) -> Path:
    """The chain of the corpus: one edit, and one that changes no source."""
    first, second = corpus.commits
    third = corpus.repo.commit({}, "empty")
    rows = [
        {"repo": "acme/shop", "language": "Python", "step": 1, "from": first, "to": second},
        {
            "repo": "acme/shop", "language": "Python", "step": 2, "from": second, "to": third,
            "source_changing": False,
        },
    ]  # fmt: skip
    file = tmp_path / "transitions.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def test_updates_of_the_text_views_equal_rebuilds(
    study: Study, corpus: Corpus, transitions: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    found = study("maintenance", "--rows", transitions, "--mirror", corpus.mirror, "--out", out)
    assert {arm: cells[0] for arm, cells in found["arms"].items()} == {
        "lexical": "1/1", "trigram": "1/1", "dense": "1/1",
    }  # fmt: skip
    assert found["failures"] == 0
    records = [json.loads(line) for line in (out / "records.jsonl").read_text().splitlines()]
    assert {each["how"] for each in records if each["step"] == 1} == {"maintained"}
    assert all(each["exact"] for each in records)
    assert "## What was left out" in (out / "report.md").read_text()
    before = (out / "records.jsonl").read_bytes()
    study("maintenance", "--rows", transitions, "--mirror", corpus.mirror, "--out", out)
    assert (out / "records.jsonl").read_bytes() == before


@pytest.mark.tools
@pytest.mark.slow
def test_both_ways_to_maintain_the_graph_end_in_the_facts_of_a_rebuild(
    study: Study, corpus: Corpus, transitions: Path, tmp_path: Path
) -> None:
    try:
        backends_of(Toolbox(tools_folder()), {"python"})["python"][0].identity()
    except ProviderError as error:
        pytest.skip(f"{error.message}: {error.hint}")
    out = tmp_path / "run"
    common = ("--rows", transitions, "--mirror", corpus.mirror, "--out", out)
    found = study("maintenance", *common, "--graph", "--arms")
    graphs = {arm: cells[0] for arm, cells in found["arms"].items() if arm.startswith("graph")}
    assert set(graphs.values()) == {"1/1"}
    assert [arm.endswith("whole files") for arm in sorted(graphs)] == [False, True]


def test_one_changed_bit_of_a_vector_is_not_exact(corpus: Corpus, tmp_path: Path) -> None:
    repository = locate(corpus.repo.path)
    compiler = IndexCompiler(repository, Store(repository.key, root=tmp_path / "state"))
    manifest = compiler.ensure(compiler.take(corpus.commits[0]), [ViewKind.DENSE], head=True).manifest
    artifact = compiler.store.artifact(manifest.views[ViewKind.DENSE].artifact)
    copy = tmp_path / "copy"
    shutil.copytree(artifact, copy)
    builder = compiler.views[ViewKind.DENSE].builder()
    assert check(ViewKind.DENSE, builder, copy, artifact, ())["exact"]
    stored = next(file for file in copy.iterdir() if "vectors" in file.name)
    data = np.fromfile(stored, np.uint8)
    data[-3] ^= 64
    stored.unlink()
    data.tofile(stored)
    found = check(ViewKind.DENSE, builder, copy, artifact, ())
    assert found["identities_equal"]
    assert not found["vectors_equal"]
    assert not found["exact"]
    compiler.dense.close()


def test_graph_facts_are_compared_as_multisets_and_by_replay(corpus: Corpus, tmp_path: Path) -> None:
    repository = locate(corpus.repo.path)
    compiler = IndexCompiler(
        repository, Store(repository.key, root=tmp_path / "state"), find_backends=lambda tools, languages: {}
    )
    made = []
    for commit in corpus.commits:
        manifest = compiler.ensure(compiler.take(commit), [ViewKind.GRAPH], head=True).manifest
        made.append(compiler.store.artifact(manifest.views[ViewKind.GRAPH].artifact))
    builder = compiler.views[ViewKind.GRAPH].builder()
    same = check(ViewKind.GRAPH, builder, made[0], made[0], {"shop/cart.py"})
    assert same["exact"]
    assert same["replayed"] > 0
    other = check(ViewKind.GRAPH, builder, made[0], made[1], {"shop/tax.py"})
    assert not other["exact"]
    assert not other["changed_facts_equal"]
    assert 0 < other["fact_f1"] < 1
