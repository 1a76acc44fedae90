"""The words of a question in, how far each file's own name is made of them out.

People name a file after what it is about. A question that says that name asks for the file more often than
for another one that says the word in passing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from codenib.units.tokens import terms_of

if TYPE_CHECKING:
    from codenib.serving.snapshots.pinned import PinnedSnapshot
    from codenib.views.lexical.read import LexicalView

Array = NDArray[Any]
# Names that say where a file stands and not what is in it: the folder's name counts instead.
_PLACEHOLDERS = frozenset(["__init__", "mod", "index", "lib", "main", "init", "package"])


class FileStems:
    """For every term of a file's own name, the files that have it and what it is worth there."""

    def __init__(self, view: LexicalView) -> None:
        self._files = len(view.marks)
        by_term: dict[str, list[int]] = {}
        live = set(view.file_of[view.live].tolist())
        for number, path in enumerate(view.paths):
            if number in live:
                for term in set(_terms(path)):
                    by_term.setdefault(term, []).append(number)
        self._by_term = {term: np.array(numbers) for term, numbers in by_term.items()}
        # A word that every tenth file is called by, as the project's own, says little.
        self._worth = {term: math.log(1.0 + len(live) / len(numbers)) for term, numbers in by_term.items()}
        self._total = np.full(self._files, 1e-9)
        for term, numbers in self._by_term.items():
            self._total[numbers] += self._worth[term]

    def agreement(self, terms: Iterable[str]) -> Array:
        """For each file the share of its name that these terms make up, by what each word is worth."""
        matched = np.zeros(self._files)
        for term in set(terms):
            numbers = self._by_term.get(term)
            if numbers is not None:
                matched[numbers] += self._worth[term]
        share: Array = matched / self._total
        return share


def file_stems(pinned: PinnedSnapshot) -> FileStems:
    """The names of a snapshot's files, read once for all answers from it."""
    return pinned.derived(_read_stems)


def _read_stems(pinned: PinnedSnapshot) -> FileStems:
    return FileStems(pinned.lexical)


def _terms(path: str) -> list[str]:
    *folders, name = path.split("/")
    stem = name.partition(".")[0] or name
    if stem.lower() in _PLACEHOLDERS and folders:
        stem = folders[-1]
    words = [terms_of(word) for word in stem.replace("-", "_").split("_")]
    # Behind the parts of a word stands the whole: it would count twice.
    return [term for terms in words for term in (terms[:-1] if len(terms) > 1 else terms)]
