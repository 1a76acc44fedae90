"""A query and the names of a snapshot in, the units that declare what the query names out, the best first.

A person who writes a name wants its declaration before its members and its users, whatever its folder, its
length, or what words and vectors say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from codenib.core.answers import Evidence
from codenib.core.source import Mark
from codenib.core.views import ViewKind
from codenib.planner.signals import Signals
from codenib.serving.search.evidence import RankedEvidence, Retrieval, file_result, unit_evidence
from codenib.serving.search.lexical import included_files, mark_factors
from codenib.serving.search.names import unit_names

if TYPE_CHECKING:
    from codenib.serving.snapshots.pinned import PinnedSnapshot

_SEPARATOR = re.compile(r"\.|::|#|->")
_KEYWORD = (
    r"(?:(?:class|def|func|function|fn|struct|interface|trait|enum|type|method|macro|const|module)\s+)?"
)
_WHOLE = re.compile(rf"{_KEYWORD}[`'\"]?(@?[\w$]+(?:(?:\.|::|#|->)[\w$]+)*)(?:\(\))?[`'\"]?[?]?")
_MOST_OF_A_NAME = 2  # declarations of one name among several words; a query that is a name has all
_MOST_LINES = 30  # a body counts more than a prototype; beyond this, longer is not more of a declaration


@dataclass(frozen=True, slots=True)
class _Declared:
    """A unit that may be meant, with what decides its place."""

    unit: int
    exact: bool  # spelt as in the query, case included
    owned: bool  # by what the query says owns it, or the query says nothing
    share: float  # what its marks leave of a score: tests and prose come behind
    parts: int  # of its full name: a class comes before its constructor of the same name
    lines: int
    path: str
    start: int

    @property
    def key(self) -> tuple[object, ...]:
        depth = self.path.count("/")
        return (not self.exact, -self.share, self.parts, -self.lines, depth, self.path, self.start)


def declarations_first(
    pinned: PinnedSnapshot, wanted: Retrieval, signals: Signals, ranked: RankedEvidence
) -> RankedEvidence:
    """`ranked` with the declarations of what a question names in front; a longer text stays as it is."""
    if not (signals.is_question and pinned.has_fresh(ViewKind.LEXICAL)):
        return ranked
    units = list(dict.fromkeys(_declared(pinned, wanted, signals)))[: wanted.k]
    if not units:
        return ranked
    top = ranked.items[0].score if ranked.items else 1.0
    first = [_result(pinned, wanted, unit, top) for unit in units]
    keys = {(item.path, item.start_line) for item in first}
    known = {(item.path, item.start_line): item for item in ranked.items}
    first = [replace(known.get(_key(item), item), score=top) for item in dict.fromkeys(first)]
    rest = [item for item in ranked.items if _key(item) not in keys]
    total = max(ranked.total, len(first) + len(rest))
    return RankedEvidence((*first, *rest)[: wanted.k], total)


def _key(item: Evidence) -> tuple[str, int]:
    return item.path, item.start_line


def _result(pinned: PinnedSnapshot, wanted: Retrieval, unit: int, score: float) -> Evidence:
    view = pinned.lexical
    item = unit_evidence(view, unit, score)
    if wanted.level == "unit":
        return replace(item, matched=(_SEPARATOR.split(item.symbol)[-1],))
    marks = Mark(int(view.marks[view.file_of[unit]]))
    return file_result((item.path, unit_names(pinned).lines(item.path)), item.language, score, marks)


def _declared(pinned: PinnedSnapshot, wanted: Retrieval, signals: Signals) -> Iterator[int]:
    """The declarations of each name of the query, in the order of the names."""
    whole = _WHOLE.fullmatch(wanted.query.strip())
    if whole is not None:
        yield from (each.unit for each in _named(pinned, wanted, whole[1]))
        return
    for name in _names(signals):
        candidates = [each for each in _named(pinned, wanted, name) if each.exact and each.share >= 0.5]
        yield from (each.unit for each in candidates[:_MOST_OF_A_NAME])


def _names(signals: Signals) -> list[str]:
    """The names that can only be code, dotted ones before their parts."""
    parts = {part for name in signals.dotted for part in _SEPARATOR.split(name)}
    return [*signals.dotted, *(name for name in signals.identifiers if name not in parts)]


def _named(pinned: PinnedSnapshot, wanted: Retrieval, name: str) -> list[_Declared]:
    """The units that declare `name`, one for each declaration, the best first."""
    *owners, leaf = _SEPARATOR.split(name)
    view = pinned.lexical
    included = included_files(view.marks, wanted.tests, wanted.allowed(view.paths))
    share = mark_factors()
    first: dict[tuple[str, str], _Declared] = {}
    for unit in unit_names(pinned).units(leaf).tolist():
        file = int(view.file_of[unit])
        if not included[file]:
            continue
        document = view.document(unit)
        parts = _SEPARATOR.split(document.symbol)
        candidate = _Declared(
            unit=unit,
            exact=parts[-1] == leaf,
            owned=_owned(owners, parts[:-1], document.span.path),
            share=float(share[int(view.marks[file])]),
            parts=len(parts),
            lines=min(document.span.end_line - document.span.start_line, _MOST_LINES),
            path=document.span.path,
            start=document.span.start_line,
        )
        key = candidate.path, document.symbol
        if key not in first or candidate.start < first[key].start:  # further pieces of the same declaration
            first[key] = candidate
    return sorted((each for each in first.values() if each.owned), key=lambda each: each.key)


def _owned(owners: Sequence[str], actual: Sequence[str], path: str) -> bool:
    """Whether what stands before a name's last part is its class, or its module or folder."""
    if not owners:
        return True
    wanted = owners[-1].lower()
    if actual:
        return actual[-1].lower() == wanted
    return any(wanted == part.partition(".")[0].lower() for part in path.split("/"))
