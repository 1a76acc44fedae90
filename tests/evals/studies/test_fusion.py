"""Graph fusion: reciprocal ranks, a split by repository, a weight that its judges did not choose."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from codenib.evals.data.rows import LocalizeRow
from codenib.evals.studies.retrieval.fusion import WEIGHTS, fuse, split, tune

POOL = [(f"f{number}.py", 1, 9) for number in range(20)]


def row(name: str, repo: str, target: str) -> LocalizeRow:
    return LocalizeRow(name, repo, "c", "q", (target,))


def test_without_weight_the_pool_keeps_its_order() -> None:
    assert fuse(POOL, [("new.py", 1, 2)], 0.0)[: len(POOL)] == POOL


def test_a_neighbour_inside_a_unit_of_the_pool_lifts_that_unit() -> None:
    assert fuse(POOL, [("f19.py", 4, 5)], 2.0)[0] == ("f19.py", 1, 9)


def test_whole_repositories_go_to_either_side() -> None:
    rows = [row(f"{repo}{number}", repo, "x") for repo in "abcdefgh" for number in range(3)]
    first, rest = split(rows)
    assert {each.repo for each in first}.isdisjoint({each.repo for each in rest})
    assert len(first) + len(rest) == len(rows)
    assert 0.58 * len(rows) <= len(first) < len(rows)


def test_the_weight_that_finds_the_neighbours_is_chosen_and_judged_elsewhere() -> None:
    rows = [row(f"{repo}{number}", repo, "new.py") for repo in "abcdefgh" for number in range(2)]
    records = [{"row": each.id, "pool": POOL, "neighbours": [["new.py", 1, 2]]} for each in rows]
    found = tune(rows, records, 1)
    assert found is not None
    assert found.weight in WEIGHTS
    assert found.effect is not None
    assert found.effect.value == 1.0
    assert found.tuning[1] + found.validation[1] == 8


def test_one_repository_cannot_judge_itself() -> None:
    rows = [row("a", "a", "f1.py")]
    assert tune(rows, [{"row": "a", "pool": POOL, "neighbours": []}], 1) is None


places = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(1, 9).map(lambda n: 10 * n)), unique=True, max_size=8
)


@given(places, places, st.sampled_from(WEIGHTS))
def test_fusion_keeps_every_place_once(
    pool: list[tuple[str, int]], near: list[tuple[str, int]], w: float
) -> None:
    left, right = ([(path, at, at + 5) for path, at in each] for each in (pool, near))
    found = fuse(left, right, w)
    assert sorted(found) == sorted({*left, *right})
