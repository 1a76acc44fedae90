"""Fixes over one snapshot in, the candidates of each with the shipped order's scores and labels out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from codenib.learning.fit import LabelledList
from codenib.planner.signals import read_signals
from codenib.serving.search.evidence import Retrieval
from codenib.serving.search.learned.features import FILE_COLUMNS, UNIT_COLUMNS, Features
from codenib.serving.search.learned.gather import gather_features
from codenib.serving.search.learned.model import shipped
from codenib.serving.search.learned.rank import unit_keys, unsureness

if TYPE_CHECKING:
    from codenib.core.embedding import Embedder
    from codenib.serving.search.learned.memory import Fix, FixMemory, QuerySimilarity
    from codenib.serving.snapshots.pinned import PinnedSnapshot

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class FixCandidates:
    """A fix as a question over the snapshot: what the shipped order has to choose from, what is right.

    The first three columns of `unit_rows` are what the files' order says; `units_after` fills them in.
    """

    fix: Fix
    files: LabelledList
    unit_right: NDArray[np.bool_]
    unit_signals: Array
    unit_rows: NDArray[np.float32]
    file_at: NDArray[np.int64]  # for each unit the place of its file among the files
    paths: tuple[str, ...]
    names: tuple[tuple[str, str], ...]
    unit_weights: Array | None = None

    def weighted(self, paths: Sequence[float], symbols: Sequence[float]) -> FixCandidates:
        """The same, where each path and symbol of the fix counts as much as given, in the fix's order."""
        by_path = dict(zip(self.fix.paths, paths, strict=True))
        by_name = dict(zip(self.fix.symbols, symbols, strict=True))
        files = replace(self.files, weights=np.array([by_path.get(path, 0.0) for path in self.paths]))
        return replace(
            self, files=files, unit_weights=np.array([by_name.get(name, 0.0) for name in self.names])
        )

    def signalled(self, memory: FixMemory, asked: QuerySimilarity) -> FixCandidates:
        """The same candidates with what another memory says of them."""
        files = replace(self.files, signals=memory.of_paths(asked, self.paths))
        return replace(self, files=files, unit_signals=memory.of_symbols(asked, self.names))

    @property
    def unsureness(self) -> float:
        """How unsure the shipped order of the units is."""
        return unsureness(self.units_after(self.files.scores).scores)

    def units_after(self, file_scores: Array) -> LabelledList:
        """The units, when files have these scores."""
        rows = self.unit_rows.copy()
        place = np.empty(len(file_scores))
        place[np.argsort(-file_scores, kind="stable")] = np.arange(len(file_scores))
        rows[:, 0] = file_scores[self.file_at]
        rows[:, 1] = np.log1p(place[self.file_at])
        rows[:, 2] = file_scores[self.file_at] - file_scores.max()
        scores = shipped("units", UNIT_COLUMNS).scores(rows)
        return LabelledList(scores, self.unit_signals, self.unit_right, self.unit_weights)

    def recall(self, files: Array, units: Array, top: int) -> tuple[float, float]:
        """The shares of the fix's files and functions among the first `top` of each order."""
        best = {self.paths[place] for place in np.argsort(-files, kind="stable")[:top].tolist()}
        names = {self.names[place] for place in np.argsort(-units, kind="stable")[:top].tolist()}
        found = sum(path in best for path in self.fix.paths) / len(self.fix.paths)
        return found, sum(name in names for name in self.fix.symbols) / len(self.fix.symbols)


def candidates_of(
    pinned: PinnedSnapshot, embedder: Embedder | None, fix: Fix, memory: FixMemory, asked: QuerySimilarity
) -> FixCandidates | None:
    """The candidates of a fix's message; None where nothing matches its words."""
    wanted = Retrieval(fix.text, k=0)
    features: Features = gather_features(pinned, wanted, read_signals(fix.text), embedder)
    if not len(features.unit_numbers):
        return None
    files = features.files()
    scores = shipped("files", FILE_COLUMNS).scores(files.rows)
    units = features.units(scores)
    view = pinned.lexical
    paths = tuple(view.paths[number] for number in files.numbers.tolist())
    names = tuple(unit_keys(features))
    place = {number: row for row, number in enumerate(files.numbers.tolist())}
    changed, touched = set(fix.paths), set(fix.symbols)
    return FixCandidates(
        fix=fix,
        files=LabelledList(
            scores, memory.of_paths(asked, paths), np.array([path in changed for path in paths])
        ),
        unit_right=np.array([name in touched for name in names]),
        unit_signals=memory.of_symbols(asked, names),
        unit_rows=units.rows,
        file_at=np.array([place[number] for number in view.file_of[units.numbers].tolist()]),
        paths=paths,
        names=names,
    )
