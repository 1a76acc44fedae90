"""The features of a query's candidates in, the learned order of files and units out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from codenib.serving.search.learned.features import FILE_COLUMNS, UNIT_COLUMNS, Array, Features
from codenib.serving.search.learned.model import shipped

if TYPE_CHECKING:
    from codenib.serving.search.learned.repository import RepositoryOrder

_FIRST = 10  # results that people look at, and that recall is measured on


@dataclass(frozen=True, slots=True)
class LearnedOrder:
    """Candidates with the model's scores, best first; ties go by the base order."""

    files: Array
    file_scores: Array
    units: Array
    unit_scores: Array


def rank_learned(features: Features, learnt: RepositoryOrder | None = None) -> LearnedOrder:
    """Rank the candidates by the shipped models, and by what was learnt of this repository."""
    files = features.files()
    file_scores = shipped("files", FILE_COLUMNS).scores(files.rows)
    view = features.scores.view
    units = features.units(file_scores)
    unit_scores = shipped("units", UNIT_COLUMNS).scores(units.rows)
    if learnt is not None and unsureness(unit_scores) >= learnt.unsure:
        asked = learnt.compare(features.scores.text)
        file_scores += learnt.file_bonus(asked, [view.paths[number] for number in files.numbers.tolist()])
        units = features.units(file_scores)
        unit_scores = shipped("units", UNIT_COLUMNS).scores(units.rows)
        unit_scores += learnt.unit_bonus(asked, unit_keys(features))
    by_file = np.argsort(-file_scores, kind="stable")
    by_unit = np.argsort(-unit_scores, kind="stable")
    return LearnedOrder(
        files=files.numbers[by_file],
        file_scores=file_scores[by_file],
        units=units.numbers[by_unit],
        unit_scores=unit_scores[by_unit],
    )


def unsureness(scores: Array) -> float:
    """How much of the probability that a model gives its candidates lies behind the first ten.

    >>> unsureness(np.zeros(40)), unsureness(np.zeros(5))
    (0.75, 0.0)
    """
    if len(scores) <= _FIRST:
        return 0.0
    powers = np.exp(scores - scores.max())
    return float(np.sort(powers)[:-_FIRST].sum() / powers.sum())


def unit_keys(features: Features) -> list[tuple[str, str]]:
    """The path and qualified name of each candidate unit."""
    documents = map(features.scores.view.document, features.unit_numbers.tolist())
    return [(document.span.path, document.symbol) for document in documents]
