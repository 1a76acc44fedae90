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
from codenib.serving.search.lexical import included_marks, mark_factors
from codenib.serving.search.names import NestedDeclaration, unit_names

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
    """A unit, or a declaration inside of one, that may be meant, with what decides its place."""

    unit: int
    nested: NestedDeclaration | None
    exact: bool  # spelt as in the query, case included
    owned: bool  # by what the query says owns it, or the query says nothing
    share: float  # what its marks leave of a score: tests and prose come behind
    prototype: bool
    parts: int  # of its full name: a class comes before its constructor of the same name
    lines: int
    path: str
    start: int

    @property
    def key(self) -> tuple[object, ...]:
        depth = self.path.count("/")
        body = self.prototype, self.parts, -self.lines
        return (not self.exact, -self.share, *body, depth, self.path, self.start)


def declarations_first(
    pinned: PinnedSnapshot, wanted: Retrieval, signals: Signals, ranked: RankedEvidence
) -> RankedEvidence:
    """`ranked` with the declarations of what a question names in front; a longer text stays as it is."""
    if not (signals.is_question and pinned.has_fresh(ViewKind.LEXICAL)):
        return ranked
    declared = list(dict.fromkeys(_declared(pinned, wanted, signals)))[: wanted.k]
    if not declared:
        return ranked
    top = ranked.items[0].score if ranked.items else 1.0
    first = [_result(pinned, wanted, each, top) for each in declared]
    keys = {(item.path, item.start_line) for item in first}
    known = {(item.path, item.start_line, item.symbol): item for item in ranked.items}
    first = [
        replace(known.get((item.path, item.start_line, item.symbol), item), score=top)
        for item in dict.fromkeys(first)
    ]
    rest = [item for item in ranked.items if _key(item) not in keys]
    total = max(ranked.total, len(first) + len(rest))
    return RankedEvidence((*first, *rest)[: wanted.k], total)


def _key(item: Evidence) -> tuple[str, int]:
    return item.path, item.start_line


def _result(pinned: PinnedSnapshot, wanted: Retrieval, declared: _Declared, score: float) -> Evidence:
    view = pinned.lexical
    item = unit_evidence(view, declared.unit, score)
    if wanted.level == "unit":
        if declared.nested is not None:
            item = declared.nested.narrowed(item)
        return replace(item, matched=(_SEPARATOR.split(item.symbol)[-1],))
    marks = Mark(int(view.marks[view.file_of[declared.unit]]))
    return file_result((item.path, unit_names(pinned).lines(item.path)), item.language, score, marks)


def _declared(pinned: PinnedSnapshot, wanted: Retrieval, signals: Signals) -> Iterator[_Declared]:
    """The declarations of each name of the query, in the order of the names."""
    whole = _WHOLE.fullmatch(wanted.query.strip())
    if whole is not None:
        yield from _named(pinned, wanted, whole[1])
        return
    for name in _names(signals):
        candidates = [each for each in _named(pinned, wanted, name) if each.exact and each.share >= 0.5]
        yield from candidates[:_MOST_OF_A_NAME]


def _names(signals: Signals) -> list[str]:
    """The names that can only be code, dotted ones before their parts."""
    parts = {part for name in signals.dotted for part in _SEPARATOR.split(name)}
    return [*signals.dotted, *(name for name in signals.identifiers if name not in parts)]


def _named(pinned: PinnedSnapshot, wanted: Retrieval, name: str) -> list[_Declared]:
    """What declares `name`, each declaration once, the best first."""
    *owners, leaf = _SEPARATOR.split(name)
    view = pinned.lexical
    allowed = wanted.allowed(view.paths)
    included = included_marks(
        view.unit_marks, wanted.tests, None if allowed is None else allowed[view.file_of]
    )
    share = mark_factors()
    first: dict[tuple[str, str], _Declared] = {}
    names = unit_names(pinned)
    units = [(unit, None) for unit in names.units(leaf).tolist()]
    for unit, nested in [*units, *((each.unit, each) for each in names.nested(leaf))]:
        if not included[unit]:
            continue
        address = view.document(unit)
        symbol, kind = (nested.symbol, nested.kind) if nested else (address.symbol, address.kind)
        span = nested or address.span
        parts = _SEPARATOR.split(symbol)
        candidate = _Declared(
            unit=unit,
            nested=nested,
            exact=parts[-1] == leaf,
            owned=_owned(owners, parts[:-1], address.span.path),
            share=float(share[int(view.unit_marks[unit])]),
            prototype=kind == "prototype",
            parts=len(parts),
            lines=min(span.end_line - span.start_line, _MOST_LINES),
            path=address.span.path,
            start=span.start_line,
        )
        key = candidate.path, symbol
        known = first.get(key)  # a prototype, or a further piece of the same declaration
        if known is None or (candidate.prototype, candidate.start) < (known.prototype, known.start):
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
