"""A model file in, a score for every row of features out.

The file is JSON that a person can read: for each column its mean and spread over the training rows and its
weight in the sum. What is missing counts as the mean. A model of other columns than ours is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from codenib.core.errors import REINSTALL_HINT, UNDECODABLE, StateError

FORMAT = 1


class Column(msgspec.Struct, frozen=True):
    """One feature: how it was spread in training, and what it is worth."""

    name: str
    mean: float
    spread: float
    weight: float


class ModelFile(msgspec.Struct, frozen=True):
    """What a model file holds; `about` is its card: what it was trained on, how well it does."""

    format: int
    about: dict[str, Any]
    columns: tuple[Column, ...]


class Model:
    """A weighted sum of standardised features."""

    def __init__(self, file: ModelFile) -> None:
        self.about = file.about
        self._mean = np.array([column.mean for column in file.columns])
        self._factor = np.array([column.weight / column.spread for column in file.columns])

    def scores(self, rows: NDArray[np.float32]) -> NDArray[np.float64]:
        """One score a row, higher is better."""
        values = np.where(np.isnan(rows), self._mean, rows) - self._mean
        scores: NDArray[np.float64] = values @ self._factor
        return scores


def read_model(data: bytes, columns: Sequence[str]) -> Model:
    """A model for these very columns."""
    try:
        file = msgspec.json.decode(data, type=ModelFile)
    except UNDECODABLE as error:
        raise StateError(f"the ranking model cannot be read: {error}", hint=REINSTALL_HINT) from error
    if file.format != FORMAT or tuple(column.name for column in file.columns) != tuple(columns):
        raise StateError("the ranking model is of another version", hint=REINSTALL_HINT)
    return Model(file)


@cache
def shipped(name: str, columns: tuple[str, ...]) -> Model:
    """A model that comes with the package: `files` or `units`."""
    data = resources.files("codenib.serving.search.learned").joinpath("models", f"{name}.json").read_bytes()
    return read_model(data, columns)
