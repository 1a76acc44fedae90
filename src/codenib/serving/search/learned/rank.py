"""The features of a query's candidates in, the learned order of files and units out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from codenib.serving.search.learned.features import FILE_COLUMNS, UNIT_COLUMNS, Array, Features
from codenib.serving.search.learned.model import shipped


@dataclass(frozen=True, slots=True)
class LearnedOrder:
    """Candidates with the model's scores, best first; ties go by the base order."""

    files: Array
    file_scores: Array
    units: Array
    unit_scores: Array


def rank_learned(features: Features) -> LearnedOrder:
    """Rank the candidates by the shipped models."""
    files = features.files()
    file_scores = shipped("files", FILE_COLUMNS).scores(files.rows)
    units = features.units(file_scores)
    unit_scores = shipped("units", UNIT_COLUMNS).scores(units.rows)
    by_file = np.argsort(-file_scores, kind="stable")
    by_unit = np.argsort(-unit_scores, kind="stable")
    return LearnedOrder(
        files=files.numbers[by_file],
        file_scores=file_scores[by_file],
        units=units.numbers[by_unit],
        unit_scores=unit_scores[by_unit],
    )
