"""Graph fusion: the paper's protocol over answers of the product, its weight tuned on other repositories.

For each row the dense route gives 300 units; the first ten are expanded one step over incoming and outgoing
references, at most ten new neighbours each. Both lists are fused by weighted reciprocal ranks. The weight is
chosen on one part of the repositories and judged on the other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from codenib.core.errors import CodenibError
from codenib.core.navigation import Position
from codenib.evals.data.rows import LocalizeRow
from codenib.evals.metrics.bootstrap import Estimate, paired_difference
from codenib.evals.metrics.scoring import success
from codenib.evals.runs import Record
from codenib.serving.workspace import Workspace

POOL, SEEDS, NEIGHBOURS = 300, 10, 10
CONSTANT = 60
WEIGHTS = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0)
TUNING_SHARE = 0.58  # of the rows, as in the paper: 58 of 100

Place = tuple[str, int, int]


def expand(workspace: Workspace, row: LocalizeRow) -> Record:
    """The dense pool of a row, and the neighbours of its seeds in the order in which they are found."""
    answer = workspace.search(row.query, k=POOL, route="semantic", refresh="never")
    pool = [(item.path, item.start_line, item.end_line) for item in answer.items if item.level == "L2"]
    found: dict[Place, None] = {}
    failed = 0
    for path, start, end in pool[:SEEDS]:
        new = 0
        for which in ("dependents", "dependencies"):
            try:
                near = workspace.neighbours(_name(workspace, path, start, end), which, k=50, refresh="never")
            except CodenibError:
                failed += 1
                continue
            for symbol in near.symbols:
                place = (symbol.path, symbol.line, symbol.end_line)
                inside = symbol.path == path and start <= symbol.line <= end
                if new < NEIGHBOURS and symbol.depth == 1 and not inside and place not in found:
                    found[place] = None
                    new += 1
    return {
        "row": row.id, "repo": row.cluster, "language": row.language, "pool": pool,
        "neighbours": list(found), "failed": failed,
    }  # fmt: skip


def _name(workspace: Workspace, path: str, start: int, end: int) -> Position:
    """A place inside a unit that the graph maps to its declaration."""
    lines = workspace.read(path, start, end, refresh="never").text.split("\n")
    for at, line in enumerate(lines):
        if line.strip() and not line.strip().startswith(("@", "#", "//", "/*", "*")):
            return Position(path, start + at, len(line) - len(line.lstrip()))
    return Position(path, start, 0)


def fuse(pool: Sequence[Place], neighbours: Sequence[Place], weight: float) -> list[Place]:
    """Weighted reciprocal ranks; a neighbour that overlaps a unit of the pool is that unit.

    >>> fuse([("a", 1, 2), ("b", 1, 2)], [("b", 2, 2), ("c", 1, 1)], 2.0)
    [('b', 1, 2), ('c', 1, 1), ('a', 1, 2)]
    """
    scores = {place: 1 / (CONSTANT + rank) for rank, place in enumerate(pool, 1)}
    for rank, near in enumerate(neighbours, 1):
        same = next((place for place in pool if _overlap(place, near)), near)
        scores[same] = scores.get(same, 0.0) + weight / (CONSTANT + rank)
    return sorted(scores, key=lambda place: (-scores[place], place))


@dataclass(frozen=True, slots=True)
class Tuned:
    """The weight and the paired change of File Success@10 on the validation part: other repositories."""

    weight: float
    tuning: tuple[int, int]  # rows and repositories
    validation: tuple[int, int]
    sweep: Mapping[float, tuple[float, float, float]]  # File Success@10, @5, @1 on the tuning part
    effect: Estimate | None


def tune(rows: Sequence[LocalizeRow], records: Sequence[Record], seed: int) -> Tuned | None:
    """Choose the weight by File Success@10, then @5, then @1; judge it on the other repositories."""
    found = {each["row"]: each for each in records if each.get("neighbours") is not None}
    kept = [row for row in rows if row.id in found and row.gold_files]
    first, rest = split(kept)
    if not first or not rest:
        return None

    def score(row: LocalizeRow, weight: float, k: int) -> float:
        pool, near = ([tuple(each) for each in found[row.id][name]] for name in ("pool", "neighbours"))
        return success([path for path, *_ in fuse(pool, near, weight)], row.gold_files, k)

    sweep = {}
    for weight in WEIGHTS:
        means = [sum(score(row, weight, k) for row in first) / len(first) for k in (10, 5, 1)]
        sweep[weight] = (means[0], means[1], means[2])
    best = max(WEIGHTS, key=lambda weight: (*sweep[weight], -weight))
    effect = paired_difference(
        [score(row, best, 10) for row in rest],
        [score(row, 0.0, 10) for row in rest],
        [row.cluster for row in rest],
        seed=seed,
    )
    return Tuned(best, _size(first), _size(rest), sweep, effect)


def split(rows: Sequence[LocalizeRow]) -> tuple[list[LocalizeRow], list[LocalizeRow]]:
    """Whole repositories to either side, in an order that their names alone decide."""
    names = sorted({row.cluster for row in rows}, key=lambda name: hashlib.sha256(name.encode()).hexdigest())
    first: set[str] = set()
    for name in names:
        if sum(row.cluster in first for row in rows) < TUNING_SHARE * len(rows):
            first.add(name)
    return [row for row in rows if row.cluster in first], [row for row in rows if row.cluster not in first]


def _size(rows: Sequence[LocalizeRow]) -> tuple[int, int]:
    return len(rows), len({row.cluster for row in rows})


def _overlap(left: Place, right: Place) -> bool:
    return left[0] == right[0] and left[1] <= right[2] and right[1] <= left[2]
