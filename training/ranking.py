"""Train the ranking model: `python -m training.ranking MIRROR ROWS... --out FOLDER`. Needs scipy.

MIRROR is a folder of bare clones (OWNER+NAME/repo). ROWS are files of rows {repo, base_commit, query, gold_files,
gold_blocks}: `localize-dev.jsonl`, `localize-train.jsonl`, and what training/ranking_rows.py mined, whose repository is
the file's name. A row's `snapshot` may name an older commit that it shares with others; its functions are then looked
up there by path and name. Each snapshot is compiled (lexical, dense), each row becomes the features that serving
computes, and two weighted sums are fitted: of files, then of units with the first one's scores among their features.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from codenib.core.requests import SnapshotRequest
from codenib.core.views import ViewKind
from codenib.planner.signals import read_signals
from codenib.serving.search.evidence import Retrieval
from codenib.serving.search.learned.features import FILE_COLUMNS, UNIT_COLUMNS
from codenib.serving.search.learned.gather import gather_features
from codenib.serving.search.names import unit_names
from codenib.serving.workspace import Workspace
from codenib.views.lexical.read import LexicalView

STRENGTH = 0.01  # of the penalty on weights
# What a row counts: real issues of the development rows, those of the training rows, messages of commits. The sum
# over a repository grows with the root of its rows, or Django would decide alone.
WORTH = {"development": 3.0, "training": 1.5, "mined": 1.0}
FOLDS = 6


@dataclass(frozen=True)
class Row:
    """The features and labels of one query, and the numbers that its recall is computed from."""

    repository: str
    kind: str  # a key of WORTH
    files: np.ndarray
    file_rows: np.ndarray
    units: np.ndarray
    unit_rows: np.ndarray
    unit_files: np.ndarray
    gold_files: list[int]
    gold_units: list[set[int]]

    def labels(self, which: str) -> np.ndarray:
        if which == "file":
            return np.isin(self.files, self.gold_files)
        return np.isin(self.units, sorted(set().union(*self.gold_units)))

    def with_files(self, scores: np.ndarray) -> Row:
        """The rows of the units, with what their files got."""
        place = {int(number): row for row, number in enumerate(self.files)}
        at = np.array([place[int(number)] for number in self.unit_files])
        order = np.empty(len(scores))
        order[np.argsort(-scores, kind="stable")] = np.arange(len(scores))
        rows = self.unit_rows.copy()
        rows[:, 0], rows[:, 1], rows[:, 2] = scores[at], np.log1p(order[at]), scores[at] - scores.max()
        return replace(self, unit_rows=rows)


def read_rows(mirror: Path, paths: list[Path]) -> Iterator[Row]:
    """Every row of the files whose repository is in the mirror."""
    clones = {folder.name.lower(): folder for folder in mirror.iterdir()}
    for path in paths:
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        for line in sorted(lines, key=lambda each: (each.get("repo", ""), each["base_commit"])):
            name = line.get("repo", path.stem).lower().replace("/", "+")
            if name in clones:
                kind = "mined" if "id" not in line else "training" if "train" in path.stem else "development"
                yield features_of(clones[name] / "repo", name, kind, line)


def features_of(clone: Path, name: str, kind: str, line: dict) -> Row:
    commit = line.get("snapshot", line["base_commit"])
    with Workspace(clone) as workspace:
        workspace.index([ViewKind.LEXICAL, ViewKind.DENSE], at=commit)
        pinned = workspace.snapshots.pin(ViewKind.LEXICAL, SnapshotRequest(commit))[0]
        embedder = workspace._compiler.dense.embedder_of(pinned.manifest.views[ViewKind.DENSE].fields)
        wanted = Retrieval(line["query"], k=0)
        features = gather_features(pinned, wanted, read_signals(wanted.query), embedder)
        view = pinned.lexical
        files, units = features.files(), features.units(np.zeros(len(features.file_numbers)))
        numbers = {
            path: number for number, path in enumerate(view.paths) if view.live[view.file_of == number].any()
        }
        names = unit_names(pinned)
        gold = [
            in_file(view, numbers.get(block["path"], -1), block)
            if commit == line["base_commit"]
            else np.array(
                [u for u in names.units(leaf(block)) if view.paths[view.file_of[u]] == block["path"]]
            )
            for block in line["gold_blocks"]
        ]
        return Row(
            name,
            kind,
            files.numbers,
            files.rows,
            units.numbers,
            units.rows,
            view.file_of[units.numbers],
            [numbers.get(path, -1) for path in line["gold_files"]],
            [set(each.tolist()) for each in gold],
        )


def in_file(view: LexicalView, file: int, block: dict) -> np.ndarray:
    """The units of a file that overlap the lines of a block."""
    inside = (view.starts <= block["end_line"]) & (view.ends >= block["start_line"])
    return np.flatnonzero((view.file_of == file) & view.live & inside)


def leaf(block: dict) -> str:
    return re.split(r"\.|::", block["symbol"])[-1]


@dataclass(frozen=True)
class Fit:
    """A weighted sum of standardised columns."""

    weights: np.ndarray
    mean: np.ndarray
    spread: np.ndarray

    def scores(self, rows: np.ndarray) -> np.ndarray:
        return ((np.where(np.isnan(rows), self.mean, rows) - self.mean) / self.spread) @ self.weights


def fit(rows: list[Row], which: str) -> Fit:
    """Listwise softmax: the right candidates of a query share its probability."""
    rows = [row for row in rows if 0 < row.labels(which).sum() < len(row.labels(which))]
    parts = [row.file_rows if which == "file" else row.unit_rows for row in rows]
    values = np.concatenate(parts).astype(np.float64)
    mean, spread = np.nanmean(values, 0), np.nanstd(values, 0) + 1e-6
    values = (np.where(np.isnan(values), mean, values) - mean) / spread
    sizes = np.array([len(part) for part in parts])
    starts, owner = np.r_[0, np.cumsum(sizes)[:-1]], np.repeat(np.arange(len(rows)), sizes)
    right = np.concatenate([row.labels(which) for row in rows]).astype(np.float64)
    target = right / np.add.reduceat(right, starts)[owner]
    of = Counter(row.repository for row in rows)
    worth = np.array([WORTH[row.kind] / of[row.repository] ** 0.5 for row in rows])
    worth /= worth.sum()

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        scores = values @ weights
        top = np.maximum.reduceat(scores, starts)
        powers = np.exp(scores - top[owner])
        total = np.add.reduceat(powers, starts)
        value = (worth * (np.log(total) + top - np.add.reduceat(scores * target, starts))).sum()
        slope = values.T @ (worth[owner] * (powers / total[owner] - target))
        return value + STRENGTH * weights @ weights, slope + 2 * STRENGTH * weights

    found = minimize(loss, np.zeros(values.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 300})
    return Fit(found.x, mean, spread)


def train(rows: list[Row]) -> tuple[Fit, Fit]:
    files = fit(rows, "file")
    return files, fit([row.with_files(files.scores(row.file_rows)) for row in rows], "unit")


def recall(row: Row, files: Fit, units: Fit, k: int = 10) -> tuple[float, float]:
    scores = files.scores(row.file_rows)
    best = set(row.files[np.argsort(-scores, kind="stable")[:k]].tolist())
    ranked = units.scores(row.with_files(scores).unit_rows)
    top = set(row.units[np.argsort(-ranked, kind="stable")[:k]].tolist())
    found = [bool(gold & top) for gold in row.gold_units]
    return float(np.mean([number in best for number in row.gold_files])), float(
        np.mean(found)
    ) if found else np.nan


def cross_validated(rows: list[Row]) -> np.ndarray:
    """Recall of files and units on issues whose repository the model did not see."""
    repositories = sorted({row.repository for row in rows if row.kind == "development"})
    order = np.random.default_rng(0).permutation(repositories)
    fold = {name: number % FOLDS for number, name in enumerate(order)}
    found = []
    for number in range(FOLDS):
        models = train([row for row in rows if fold.get(row.repository, -1) != number])
        found += [
            recall(row, *models)
            for row in rows
            if row.kind == "development" and fold[row.repository] == number
        ]
    return np.array(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mirror", type=Path)
    parser.add_argument("rows", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    rows = list(read_rows(asked.mirror, asked.rows))
    print("out of fold, files and units:", np.nanmean(cross_validated(rows), axis=0).round(4))
    about = {
        "what": "weighted sum of standardised signals, listwise softmax, L2 0.01; see WORTH",
        "rows": {
            kind: {
                "rows": sum(row.kind == kind for row in rows),
                "repositories": len({row.repository for row in rows if row.kind == kind}),
            }
            for kind in WORTH
        },
        "measured": "see training/RANKING.md",
        "made_by": "training/ranking.py",
    }
    asked.out.mkdir(parents=True, exist_ok=True)
    for name, model, columns in zip(
        ("files", "units"), train(rows), (FILE_COLUMNS, UNIT_COLUMNS), strict=True
    ):
        write(asked.out / f"{name}.json", model, columns, about)


def write(path: Path, model: Fit, columns: tuple[str, ...], about: dict) -> None:
    number: Callable[[float], float] = lambda value: float(f"{value:.6g}")  # noqa: E731
    listed = [
        {"name": name, "mean": number(mean), "spread": number(spread), "weight": number(weight)}
        for name, mean, spread, weight in zip(columns, model.mean, model.spread, model.weights, strict=True)
    ]
    path.write_text(json.dumps({"format": 1, "about": about, "columns": listed}, indent=1) + "\n")


if __name__ == "__main__":
    main()
