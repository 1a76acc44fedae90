"""Rows and answer records in, scores by arm out. Reads answers alone, whoever gave them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, median

from codenib.evals.data.rows import LocalizeRow
from codenib.evals.metrics.bootstrap import Estimate, clustered_mean, simultaneous
from codenib.evals.metrics.scoring import (
    SourceBlock,
    block_recall,
    callable_recall,
    recall,
    reciprocal_rank,
    success,
)
from codenib.evals.runs import Record

CUTS = (1, 3, 5, 10, 20)
Scores = dict[str, float]


@dataclass(frozen=True, slots=True)
class Scored:
    """One arm over the rows that all arms answered."""

    arm: str
    rows: tuple[LocalizeRow, ...]
    scores: tuple[Scores, ...]
    seconds: tuple[float, ...]

    def column(self, name: str) -> tuple[list[float], list[str]]:
        """The scores of one metric and the clusters of the rows that have it."""
        kept = [
            (each[name], row.cluster)
            for row, each in zip(self.rows, self.scores, strict=True)
            if name in each
        ]
        return [score for score, _ in kept], [cluster for _, cluster in kept]

    def estimate(self, name: str, seed: int) -> Estimate | None:
        scores, clusters = self.column(name)
        return clustered_mean(scores, clusters, seed=seed) if scores else None

    def mean(self, name: str) -> float | None:
        scores, _ = self.column(name)
        return mean(scores) if scores else None

    def median_s(self) -> float:
        return median(self.seconds)

    def quantile_s(self, share: float) -> float:
        return sorted(self.seconds)[min(int(share * len(self.seconds)), len(self.seconds) - 1)]


def score_answer(row: LocalizeRow, answers: Iterable[Sequence[object]]) -> Scores:
    """Every metric of one ranked answer; those of symbols only where the row has target blocks."""
    blocks = [
        SourceBlock(str(path), int(str(start)), int(str(end)), str(symbol), str(level))
        for path, start, end, level, symbol in answers
    ]
    files = [block.path for block in blocks]
    found: Scores = {"mrr": reciprocal_rank(files, row.gold_files)}
    for k in CUTS:
        found[f"file_recall@{k}"] = recall(files, row.gold_files, k)
        found[f"file_success@{k}"] = success(files, row.gold_files, k)
        # A ranking of whole files names no symbol.
        if row.targets and not (blocks and all(block.level == "L0" for block in blocks)):
            found[f"symbol_recall@{k}"] = block_recall(blocks, row.targets, k)
            found[f"callable_recall@{k}"] = callable_recall(blocks, row.targets, k)
    return found


def score_run(
    rows: Sequence[LocalizeRow], records: Iterable[Record]
) -> tuple[dict[str, Scored], dict[str, str]]:
    """Each arm over the rows that every running arm answered; and why the other arms have no scores."""
    by_id = {row.id: row for row in rows if row.gold_files}
    answered: dict[str, dict[str, Record]] = {}
    errors: dict[str, dict[str, int]] = {}
    for record in records:
        if record["row"] not in by_id:
            continue
        if "error" in record:
            counts = errors.setdefault(record["arm"], {})
            counts[record["error"]] = counts.get(record["error"], 0) + 1
        else:
            answered.setdefault(record["arm"], {})[record["row"]] = record
    shared = set.intersection(*(set(each) for each in answered.values())) if answered else set()
    kept = [row for row in rows if row.id in shared]
    scored = {
        arm: Scored(
            arm,
            tuple(kept),
            tuple(score_answer(row, found[row.id]["answers"]) for row in kept),
            tuple(found[row.id]["seconds"] for row in kept),
        )
        for arm, found in answered.items()
        if kept
    }
    why = {
        arm: "; ".join(f"{count} rows: {error}" for error, count in counts.items())
        for arm, counts in errors.items()
    }
    return scored, why


def contrasts(scored: Mapping[str, Scored], base: str, name: str, seed: int) -> dict[str, Estimate]:
    """Each arm minus `base` on the same rows, with intervals that hold together for all arms."""
    _, clusters = scored[base].column(name)
    reference, _ = scored[base].column(name)
    changes = {}
    for arm, each in scored.items():
        scores, _ = each.column(name)
        if arm != base and len(scores) == len(reference):
            changes[arm] = [ours - theirs for ours, theirs in zip(scores, reference, strict=True)]
    return simultaneous(changes, clusters, seed=seed) if changes and clusters else {}
