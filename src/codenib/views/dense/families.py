"""Vectors and a query in, inner products or nearest neighbours out. The one module that imports faiss.

The parameters are the paper's frozen ones (table "Retrieval/index parameters"). Everything runs on one
thread: it is how the paper measures, and HNSW built by several differs from run to run.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codenib.core.errors import ProviderError
from codenib.views.dense.profile import Family

HNSW_M = 32
EF_CONSTRUCTION = 200
EF_SEARCH = 64
PROBED = 0.1  # of all lists
LEAST_PROBED = 16  # 10% of a small index is two lists: neighbour recall .69 on 857 documents
_POINTS_PER_LIST = 39

Floats = NDArray[np.float32]
Mask = NDArray[np.bool_]


def lists_of(count: int) -> int:
    """How many lists IVF has for so many vectors: min(round(4 √N), N // 39), at least one."""
    return max(1, min(round(4 * math.sqrt(count)), count // _POINTS_PER_LIST))


def probes_of(lists: int, share: float | None = None) -> int:
    """How many of them a search looks into: a share of them, or by default a tenth and at least sixteen."""
    if share is None:
        return max(round(PROBED * lists), min(lists, LEAST_PROBED))
    return max(1, round(share * lists))


def inner_products(vectors: Floats, query: Floats) -> Floats:
    """The score of each row; it depends on that row alone.

    Faiss needs 2.2 ms for 59,000 rows of 256, this 3.2: loading faiss for one question takes 20. A product of
    matrices is not used: it sums a row in another order at another place.
    """
    scores: Floats = np.einsum("ij,j->i", vectors, np.ascontiguousarray(query, np.float32), optimize=False)
    return scores


def write_index(family: Family, vectors: Floats, path: Path) -> None:
    """Write the approximate index of some vectors. Same vectors, same bytes."""
    faiss = _faiss()
    count, dimension = vectors.shape
    with _one_thread():
        if family is Family.HNSW:
            index = faiss.IndexHNSWFlat(dimension, HNSW_M, faiss.METRIC_INNER_PRODUCT)
            index.hnsw.efConstruction = EF_CONSTRUCTION
        else:
            quantizer = faiss.IndexFlatIP(dimension)
            index = faiss.IndexIVFFlat(quantizer, dimension, lists_of(count), faiss.METRIC_INNER_PRODUCT)
            index.cp.min_points_per_centroid = 1  # so that it does not complain on standard error
            index.train(np.ascontiguousarray(vectors))
        index.add(np.ascontiguousarray(vectors))
        path.write_bytes(faiss.serialize_index(index).data)  # its own writer does not report a full disk


class Neighbours:
    """An approximate index, memory-mapped."""

    def __init__(self, family: Family, path: Path) -> None:
        faiss = _faiss()
        self._family = family
        flag = faiss.IO_FLAG_MMAP if family is Family.IVF else faiss.IO_FLAG_MMAP_IFC
        try:
            self._index = faiss.read_index(str(path), flag)
        except RuntimeError as error:  # what faiss raises for a file that it cannot read
            raise OSError(f"{path.name}: {error}") from error

    @property
    def lists(self) -> int:
        """How many lists IVF has."""
        return int(self._index.nlist)

    def search(
        self, query: Floats, k: int, allowed: Mask | None = None, effort: float | None = None
    ) -> tuple[NDArray[np.int64], Floats]:
        """Rows and scores of about the best `k` among the allowed ones.

        `effort` is efSearch of HNSW, or the share of its lists that IVF probes.
        """
        faiss = _faiss()
        options: dict[str, Any] = {}
        if allowed is not None:
            bits = np.packbits(allowed, bitorder="little")
            options["sel"] = faiss.IDSelectorBitmap(bits)
        if self._family is Family.HNSW:
            parameters = faiss.SearchParametersHNSW(efSearch=max(int(effort or EF_SEARCH), k), **options)
        else:
            parameters = faiss.SearchParametersIVF(nprobe=probes_of(self.lists, effort), **options)
        with _one_thread():
            scores, rows = self._index.search(
                np.ascontiguousarray(query, np.float32)[None], min(k, self._index.ntotal), params=parameters
            )
        found = rows[0] >= 0
        return rows[0][found], scores[0][found]


@cache
def _faiss() -> Any:
    try:
        import faiss
    except ImportError as error:
        raise ProviderError(f"faiss cannot be loaded: {error}", hint="pip install faiss-cpu") from error
    return faiss


@contextmanager
def _one_thread() -> Iterator[None]:
    """Faiss on one thread, for the moment: the setting is the process's, and others may share it."""
    faiss = _faiss()
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)
