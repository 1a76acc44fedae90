"""Numbers of units and files of the lexical view in, evidence with spans and names out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from codenib.core.answers import Evidence
from codenib.core.source import Mark
from codenib.views.lexical.read import LexicalView, Term

_SHOWN_TERMS = 8


def unit_evidence(view: LexicalView, unit: int, score: float, terms: Sequence[Term]) -> Evidence:
    """A unit as one result, with the query's terms that stand in it."""
    document = view.document(unit)
    return Evidence(
        document.span.path,
        document.span.start_line,
        document.span.end_line,
        document.symbol,
        document.kind,
        document.level.name,
        document.language,
        round(score, 6),
        mark_names(document.marks),
        tuple(view.matched(unit, terms)[:_SHOWN_TERMS]),
    )


def file_evidence(view: LexicalView, file: int, score: float) -> Evidence:
    """A file as one result, from its first line to its last."""
    units = np.flatnonzero(view.file_of == file)
    first, last = view.document(int(units[0])), view.document(int(units[-1]))
    return Evidence(
        first.span.path,
        1,
        last.span.end_line,
        "",
        "file",
        "L0",
        first.language,
        round(score, 6),
        mark_names(first.marks),
    )


def evidence(
    view: LexicalView, level: str, found: Iterable[tuple[int, float]], terms: Sequence[Term]
) -> tuple[Evidence, ...]:
    """Results of one level, in the order given."""
    if level == "file":
        return tuple(file_evidence(view, number, score) for number, score in found)
    return tuple(unit_evidence(view, number, score, terms) for number, score in found)


def mark_names(marks: Mark) -> tuple[str, ...]:
    """`test`, `vendored` ... for people and JSON."""
    return tuple(mark.name.lower() for mark in Mark if mark & marks and mark.name)
