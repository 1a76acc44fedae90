"""The embedded model: texts in, vectors out, on any CPU, from files inside the package.

Each piece has one vector (int8) and two weights, one for queries and one for documents. A query is the
weighted sum of its pieces' vectors, term frequencies as 1 + ln tf, normalised. A document is three such sums,
each normalised before they are added: its name; its path and scope; its source. So a long body does not drown
a name. training/README.md says how it was trained.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from codenib.core.embedding import EMBEDDED, EmbedderIdentity
from codenib.core.errors import REINSTALL_HINT, StateError
from codenib.views.dense.embedders.pieces import Pieces

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DIMENSION = 256
_MODEL = Path(__file__).parent / "model"
_FILES = ("vocabulary.txt", "vectors.npy", "weights.npy", "fields.npy")
_SIGNATURE_WITHIN = 16  # lines in which the one that names the unit is looked for, as in training
_QUERY, _DOCUMENT = 0, 1
# The sum that each field goes to: the name's, the place's or the source's.
_NAME, _PLACE, _SOURCE = 0, 1, 2
_SUM_OF_FIELD = (_PLACE, _NAME, _PLACE, _SOURCE, _SOURCE)


class Fields(NamedTuple):
    """What a document says, by where it says it; any may be empty."""

    path: str
    name: str
    scope: str
    signature: str
    body: str


def fields_of(text: str) -> Fields:
    """The fields of a document: `path:symbol` (or only a path), then source.

    >>> fields_of("a.py:Cart.total\\nclass Cart:\\n    def total(self):\\n        return 0")[:4]
    ('a.py', 'total', 'Cart', '    def total(self):')
    """
    first, _, source = text.partition("\n")
    path, colon, symbol = first.rpartition(":")
    if not colon:  # a file, or a unit without a name
        path, symbol = first, ""
    scope, _, name = symbol.rpartition(".")
    lines = source.split("\n")
    at = next((n for n, line in enumerate(lines[:_SIGNATURE_WITHIN]) if name and name in line), 0)
    return Fields(path, name, scope, lines[at], "\n".join(lines[:at] + lines[at + 1 :]))


@cache
def static_identity(folder: Path = _MODEL) -> EmbedderIdentity:
    """The model's identity, with a checksum over its files; cheap, nothing is loaded."""
    digest = hashlib.sha256()
    try:
        for name in _FILES:
            digest.update((folder / name).read_bytes())
    except OSError as error:
        raise StateError(f"the embedded model is missing: {error}", hint=REINSTALL_HINT) from error
    return EmbedderIdentity(EMBEDDED, digest.hexdigest()[:16], DIMENSION, "weighted sum", True)


class StaticEmbedder:
    """Looks up and adds; thread-safe after construction but for a cache of words."""

    def __init__(self, folder: Path = _MODEL) -> None:
        import numpy as np

        from codenib.views.arrays import read_array

        self.identity = static_identity(folder)
        vocabulary = (folder / "vocabulary.txt").read_text(encoding="utf-8").split("\n")[:-1]
        self._pieces = Pieces(vocabulary)
        self._table = read_array(folder / "vectors.npy").astype(np.float32)
        self._weights = read_array(folder / "weights.npy")
        # A factor on the weights in each field, then one on the name's sum and one on the place's.
        factors = read_array(folder / "fields.npy")
        shapes = (self._table.shape, self._weights.shape, factors.shape)
        if shapes != ((len(vocabulary), DIMENSION), (2, len(vocabulary)), (len(_SUM_OF_FIELD) + 2,)):
            raise StateError("the embedded model's files do not fit", hint=REINSTALL_HINT)
        self._field_factors = factors[: len(_SUM_OF_FIELD)]
        self._sum_factors = np.array([*factors[len(_SUM_OF_FIELD) :], 1.0], np.float32)

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np

        rows = np.zeros((len(texts), DIMENSION), np.float32)
        for row, text in zip(rows, texts, strict=True):
            counts = [self._pieces.counts(field) for field in fields_of(text)]
            sizes = [len(found) for found in counts]
            ids = np.array([number for found in counts for number in found], np.int64)
            times = np.array([times for found in counts for times in found.values()], np.float32)
            weights = (1.0 + np.log(times)) * self._weights[_DOCUMENT][ids]
            parts = np.zeros((3, len(ids)), np.float32)  # one product for all three sums
            parts[np.repeat(_SUM_OF_FIELD, sizes), np.arange(len(ids))] = weights * np.repeat(
                self._field_factors, sizes
            )
            sums = parts @ self._table[ids]
            lengths = np.sqrt((sums * sums).sum(axis=1))
            row[:] = _normalised((self._sum_factors / np.where(lengths > 0.0, lengths, 1.0)) @ sums)
        return rows

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np

        rows = np.zeros((len(texts), DIMENSION), np.float32)
        for row, text in zip(rows, texts, strict=True):
            counts = self._pieces.counts(text)
            ids = np.fromiter(counts.keys(), np.int64, len(counts))
            tf = 1.0 + np.log(np.fromiter(counts.values(), np.float32, len(counts)))
            row[:] = _normalised((tf * self._weights[_QUERY][ids]) @ self._table[ids])
        return rows


def _normalised(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    import numpy as np

    length = np.sqrt(np.dot(vector, vector))
    return vector / length if length > 0.0 else vector


@cache
def open_static() -> StaticEmbedder:
    """The embedded model, loaded once in a process: its table takes 33 MB and 0.1 s."""
    return StaticEmbedder()
