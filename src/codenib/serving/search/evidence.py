"""Numbers of units and files of the lexical view in, evidence with spans and names out.

`Retrieval` and `RankedEvidence` are what every operator over a view takes and gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codenib.core.answers import Evidence
from codenib.core.requests import ResultLevel, Tests
from codenib.core.source import Mark

if TYPE_CHECKING:  # a question by name finds its places first
    import numpy as np

    from codenib.views.lexical.read import LexicalView, Term

_MOST_TERMS = 8  # matched terms that a result names

# How much of its score marked code keeps under `tests="lower"`: chosen with the constants of `lexical.py`.
LOWERED = {
    Mark.TEST: 0.3,
    Mark.EXAMPLE: 0.5,
    Mark.VENDORED: 0.7,
    Mark.GENERATED: 0.5,
    Mark.PROSE: 0.2,
}


@dataclass(frozen=True, slots=True)
class Retrieval:
    """What one operator retrieves: the best `k` units or files for a query, among accepted paths."""

    query: str
    k: int
    level: ResultLevel = "unit"
    tests: Tests = "lower"
    accepts: Callable[[str], bool] | None = None  # None: every path
    spread: bool = False  # over files: further units of one count less

    def allowed(self, paths: Sequence[str]) -> np.ndarray[tuple[int], np.dtype[np.bool_]] | None:
        """A mask over paths: those that are accepted; None when all are."""
        if self.accepts is None:
            return None
        import numpy as np

        return np.fromiter((self.accepts(path) for path in paths), bool, len(paths))


@dataclass(frozen=True, slots=True)
class RankedEvidence:
    """Results, best first, and how many match in all."""

    items: tuple[Evidence, ...]
    total: int


def unit_evidence(view: LexicalView, unit: int, score: float = 0.0, terms: Sequence[Term] = ()) -> Evidence:
    """A unit as one result, with the query's terms that stand in it."""
    document = view.document(unit)
    return Evidence(
        path=document.span.path,
        start_line=document.span.start_line,
        end_line=document.span.end_line,
        symbol=document.symbol,
        kind=document.kind,
        level=document.level.name,
        language=document.language,
        score=round(score, 6),
        marks=mark_names(document.marks),
        matched=tuple(view.matched(unit, terms)[:_MOST_TERMS]),
    )


def _file_evidence(view: LexicalView, file: int, score: float) -> Evidence:
    units = (view.file_of == file).nonzero()[0]
    first, last = view.document(int(units[0])), view.document(int(units[-1]))
    span = first.span.path, last.span.end_line
    return file_result(span, first.language, score, Mark(int(view.marks[file])))


def file_result(span: tuple[str, int], language: str, score: float, marks: Mark) -> Evidence:
    """A file as one result: `span` is its path and its last line."""
    return Evidence(
        path=span[0],
        start_line=1,
        end_line=span[1],
        symbol="",
        kind="file",
        level="L0",
        language=language,
        score=round(score, 6),
        marks=mark_names(marks),
    )


def evidence(
    view: LexicalView, level: ResultLevel, scored: Iterable[tuple[int, float]], terms: Sequence[Term]
) -> tuple[Evidence, ...]:
    """Units or files, given by number and score, as results in the same order."""
    if level == "file":
        return tuple(_file_evidence(view, number, score) for number, score in scored)
    return tuple(unit_evidence(view, number, score, terms) for number, score in scored)


def mark_names(marks: Mark) -> tuple[str, ...]:
    """`test`, `vendored` ... for people and JSON."""
    return tuple(mark.name.lower() for mark in Mark if mark & marks and mark.name)
