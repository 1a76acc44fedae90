"""Numbers of a file's facts in (little-endian, 32 bits), rows with named columns out.

`nodes["flags"] & NodeFlag.ANCHOR` reads one column of all rows and copies nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from codenib.core.facts import (
    CODE_NAME_COLUMNS,
    NODE_COLUMNS,
    NODE_EXTENT,
    NODE_NAME,
    OCCURRENCE_COLUMNS,
    OCCURRENCE_LISTS,
    RELATION_COLUMNS,
)

Ints = NDArray[np.int32]
Rows = NDArray[np.void]  # a structured array of one of the types below

_NUMBER = "<i4"
NODE = np.dtype([(name, _NUMBER) for name in NODE_COLUMNS])
OCCURRENCE = np.dtype([(name, _NUMBER) for name in OCCURRENCE_COLUMNS])
RELATION = np.dtype([(name, _NUMBER) for name in RELATION_COLUMNS])
CODE_NAME = np.dtype([(name, _NUMBER) for name in CODE_NAME_COLUMNS])
RANGE = np.dtype([(name, _NUMBER) for name in (*NODE_EXTENT, *NODE_NAME)])  # of a node of the whole graph


def rows_of(numbers: Sequence[int] | Ints, row_type: np.dtype[np.void]) -> Rows:
    """Numbers that stand row after row, as rows with named columns."""
    return np.ascontiguousarray(numbers, _NUMBER).reshape(-1).view(row_type)


def columns_of(rows: Rows, names: Sequence[str]) -> Ints:
    """These columns side by side, as a plain table."""
    return np.stack([rows[name] for name in names], axis=1)


def lists_of(occurrences: Rows) -> Ints:
    """The numbers of the lists that each occurrence refers to (-1: none), one column a list."""
    return columns_of(occurrences, OCCURRENCE_LISTS)
