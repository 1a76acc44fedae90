"""Searching vectors."""

from __future__ import annotations

from pathlib import Path

import faiss
import numpy as np
import pytest
from tests.views.dense.conftest import build_store, dense_builder
from tests.views.dense.hashing import HashEmbedder

from codenib.core.errors import StateError
from codenib.views.dense.families import inner_products, lists_of, probes_of
from codenib.views.dense.profile import Family
from codenib.views.dense.store import CodeVectorStore

WORDS = (
    "anchor",
    "buoy",
    "crane",
    "dock",
    "ebb",
    "ferry",
    "gull",
    "harbour",
    "isle",
    "jetty",
    "keel",
    "lock",
)
FILES = {
    f"{first}/{second}.py": f"def {first}_{second}():\n    return {first}({second})\n"
    for first in WORDS
    for second in WORDS
}


@pytest.mark.parametrize("dimension", [3, 8, 12, 16, 24, 100, 256])
def test_a_score_depends_on_its_row_alone(dimension: int) -> None:
    random = np.random.default_rng(1)
    vectors = random.standard_normal((101, dimension), dtype=np.float32)
    query = random.standard_normal(dimension, dtype=np.float32)
    whole = inner_products(vectors, query)
    for first, after in ((1, 6), (2, 101), (100, 101), (5, 5)):
        part = np.ascontiguousarray(vectors[first:after])
        assert inner_products(part, query).tobytes() == whole[first:after].tobytes()


def test_flat_answers_are_those_of_faiss(tmp_path: Path) -> None:
    store = build_store(FILES, tmp_path / "view", dense_builder())
    index = faiss.IndexFlatIP(store.dimension)
    index.add(np.stack([store.vector(number) for number in range(len(store))]))
    for query in HashEmbedder().embed_queries(["harbour crane", "ferry", "lock the dock"]):
        found = store.search(query, 10)
        scores, _ = index.search(query[None], 10)
        assert found.scores.tobytes() == scores[0].tobytes()


def test_equal_scores_come_in_row_order(tmp_path: Path) -> None:
    same = {f"{name}.py": "def f():\n    pass\n" for name in "dcba"}
    store = build_store(same, tmp_path / "view", dense_builder())
    found = store.search(np.zeros(store.dimension, np.float32), 3)
    assert found.rows.tolist() == [0, 1, 2]
    assert [store.row(row).span.path for row in found.rows] == ["a.py", "b.py", "c.py"]


@pytest.mark.parametrize("family", list(Family))
def test_only_allowed_rows_are_found(tmp_path: Path, family: Family) -> None:
    store = build_store(FILES, tmp_path / "view", dense_builder(family=family))
    allowed = np.array([path.startswith("keel/") for path in store.paths])[store.file_of]
    found = store.search(HashEmbedder().embed_queries(["anchor buoy"])[0], 5, allowed)
    assert 0 < len(found.rows) <= 5
    assert allowed[found.rows].all()


def test_hnsw_finds_what_flat_finds(tmp_path: Path) -> None:
    flat = build_store(FILES, tmp_path / "flat", dense_builder())
    hnsw = build_store(FILES, tmp_path / "hnsw", dense_builder(family=Family.HNSW))
    for query in HashEmbedder().embed_queries([f"{first} {second}" for first in WORDS for second in "xy"]):
        exact, near = flat.search(query, 10), hnsw.search(query, 10)
        assert np.allclose(exact.scores, near.scores)


def test_the_papers_parameters() -> None:
    assert [lists_of(count) for count in (0, 5, 39, 100, 10_000, 1_000_000)] == [1, 1, 1, 2, 256, 4000]
    assert [probes_of(count, 0.1) for count in (1, 4, 256)] == [1, 1, 26]
    assert [probes_of(count) for count in (1, 21, 256)] == [1, 16, 26]


@pytest.mark.parametrize("family", list(Family))
def test_an_empty_view_answers_nothing(tmp_path: Path, family: Family) -> None:
    store = build_store({"a.md": "# A\n"}, tmp_path / "view", dense_builder(family=family))
    assert store.search(np.ones(store.dimension, np.float32), 5).rows.tolist() == []
    assert len(store) == 0


@pytest.mark.parametrize("family", list(Family))
def test_an_open_store_survives_the_sweep_of_its_folder(tmp_path: Path, family: Family) -> None:
    store = build_store(FILES, tmp_path / "view", dense_builder(family=family))
    query = HashEmbedder().embed_queries(["gull isle"])[0]
    before = store.search(query, 5)
    for part in (tmp_path / "view").iterdir():
        part.unlink()
    after = store.search(query, 5)
    assert (after.rows.tolist(), after.scores.tobytes()) == (before.rows.tolist(), before.scores.tobytes())
    assert store.row(int(after.rows[0])).symbol


@pytest.mark.parametrize(
    "part", ["dense.json", "view.json", "vectors.npy", "rows.npy", "strings.json", "faiss"]
)
def test_a_damaged_artifact_is_refused_with_the_command_that_helps(tmp_path: Path, part: str) -> None:
    build_store(FILES, tmp_path / "view", dense_builder(family=Family.HNSW))
    (damaged,) = (path for path in (tmp_path / "view").iterdir() if path.name.endswith(part))
    damaged.unlink() if part != "faiss" else damaged.write_bytes(b"not an index")
    with pytest.raises(StateError) as caught:
        CodeVectorStore(tmp_path / "view")
    assert "--rebuild" in caught.value.hint
