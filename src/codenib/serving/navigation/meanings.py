"""A name in, what it may mean out: declarations with their kind, signature and lines, the best first.

Functions and types come before values and fields, sources before tests, examples, generated and vendored
code; then the one that the graph finds most important or, without one, that most files name together with its
module or class.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING

from codenib.core.answers import Evidence
from codenib.core.navigation import Location, Meaning
from codenib.core.source import Mark
from codenib.core.views import ViewKind
from codenib.serving.navigation.positions import words_of
from codenib.serving.search.evidence import LOWERED, mark_names, unit_evidence
from codenib.units.tokens import term_hash, terms_of

if TYPE_CHECKING:  # numpy is loaded while git looks at the files
    import numpy as np

    from codenib.serving.snapshots.pinned import PinnedSnapshot

    _Units = np.ndarray[tuple[int], np.dtype[np.int64]]

_SEPARATORS = re.compile(r"::|[.#/:]")
_VALUES = frozenset(
    {"constant", "const", "static", "variable", "var", "val", "given", "table", "enum_member"}
)
_PARTS = frozenset(
    {"field", "property", "event", "getter", "setter", "parameter", "type_parameter", "import", "label"}
)
_TYPE_KEYWORD = re.compile(
    r"\b(?:class|struct|interface|trait|enum|union|record|object|protocol|impl|extension|mixin|module|namespace)\b"
)
_PACKAGE_FILES = frozenset({"__init__", "index", "mod", "lib", "main"})
_COMMENT = re.compile(r"//|/\*|\*|--|#(?!\s*define\b|!?\[)")
_SIGNATURE_LINES = 8
_SIGNATURE_WIDTH = 200
_MOST_LINES = 30  # a body counts more than a stub; beyond this, longer is not more of a declaration


@dataclass(frozen=True, slots=True)
class _Ranked:
    """A meaning with what decides its place; `weight` is how much it is used."""

    meaning: Meaning
    weight: float

    @property
    def key(self) -> tuple[object, ...]:
        meaning = self.meaning
        lines = min(meaning.end_line - meaning.start_line, _MOST_LINES)
        depth = meaning.place.path.count("/")
        return (*tier(meaning), meaning.kind == "prototype", -self.weight, -lines, depth, meaning.place)


def tier(meaning: Meaning) -> tuple[float, int]:
    """What comes before all else: less for program code than for tests, for functions than for fields."""
    share = min((LOWERED[Mark[mark.upper()]] for mark in meaning.marks), default=1.0)
    return -share, 2 if meaning.kind in _PARTS else 1 if meaning.kind in _VALUES else 0


def main_meaning(meanings: Sequence[Meaning]) -> Meaning | None:
    """The one that people mean: alone, or before all others by its tier; None when that is unclear."""
    others = [
        each
        for each in meanings[1:]
        if not (_is_constructor(each, meanings[0]) or _is_prototype(each, meanings[0]))
    ]
    if meanings and (not others or tier(meanings[0]) < tier(others[0])):
        return meanings[0]
    return None


def _is_constructor(meaning: Meaning, type_: Meaning) -> bool:
    """Whether a method is a constructor of a type, whose name it has: who names the type means both."""
    name = type_.symbol.rpartition(".")[2]
    inside = meaning.place.path == type_.place.path and meaning.kind == "method"
    return inside and meaning.symbol == f"{type_.symbol}.{name}"


def _is_prototype(meaning: Meaning, function: Meaning) -> bool:
    """Whether one declares what the other defines in the same file."""
    same = meaning.place.path == function.place.path and meaning.symbol == function.symbol
    return same and meaning.kind == "prototype" != function.kind


def meanings_by_name(pinned: PinnedSnapshot, symbol: str) -> list[Meaning]:
    """The units with this (dotted) name, and the declarations inside of units, of a pinned lexical view."""
    from codenib.serving.search.names import unit_names

    parts = [part for part in _SEPARATORS.split(symbol) if part]
    if not parts:
        return []
    names, view = unit_names(pinned), pinned.lexical
    named = [unit_evidence(view, unit) for unit in names.units(parts[-1]).tolist()]
    named += [each.narrowed(unit_evidence(view, each.unit)) for each in names.nested(parts[-1])]
    fitting = [unit for unit in named if _fits(unit, parts) and "prose" not in unit.marks]
    paths = sorted({unit.path for unit in fitting})
    texts = dict(zip(paths, pinned.texts(paths), strict=True))  # one git process for all
    ranked: dict[Location, _Ranked] = {}
    holders = cache(partial(_holders, pinned))  # namesakes share folders and classes
    types = set()
    for unit in sorted(fitting, key=lambda unit: (unit.path, unit.start_line)):
        if (unit.path, unit.symbol) in types:
            continue
        if unit.kind == "body":  # the first piece of a type is its declaration
            types.add((unit.path, unit.symbol))
        lines = texts[unit.path].split("\n")
        place = _first_mention(lines, unit, parts[-1])
        if place is not None and place not in ranked:
            signature = signature_of(lines, place.line, unit.end_line)
            meaning = Meaning(
                place=place,
                symbol=unit.symbol,
                kind=declared_kind(unit.kind, signature),
                signature=signature,
                start_line=first_line(lines, unit.start_line),
                end_line=unit.end_line,
                marks=unit.marks,
            )
            ranked[place] = _Ranked(meaning, _popularity(pinned, unit, parts[-1], holders))
    return [each.meaning for each in sorted(ranked.values(), key=lambda each: each.key)]


def meanings_in_graph(pinned: PinnedSnapshot, symbol: str) -> list[Meaning]:
    """The declarations of the graph with this (dotted) name; a prototype and its function are one.

    Their signatures are left to `with_signatures`: a common name is in many files, and few are shown.
    """
    from codenib.views.graph.navigate import extent_of, home_of, location_of
    from codenib.views.graph.symbols import resolve

    view = pinned.graph
    ranked = []
    nodes = resolve(view, symbol)
    others = frozenset(nodes)
    homes = [node for node in nodes if home_of(view, node) not in others - {node}]
    for node in homes:
        place, extent = location_of(view, node), extent_of(view, node)
        meaning = Meaning(
            place=place,
            symbol=view.qualified(node),
            kind=view.kind(node).label,
            signature="",
            start_line=extent.line,
            end_line=extent.end_line,
            marks=mark_names(pinned.rules.marks(place.path)),
        )
        ranked.append(_Ranked(meaning, float(view.importance[node])))
    return [each.meaning for each in sorted(ranked, key=lambda each: each.key)]


def with_signatures(pinned: PinnedSnapshot, meanings: Sequence[Meaning]) -> tuple[Meaning, ...]:
    """The same with the signatures that the text of their files has."""
    paths = sorted({each.place.path for each in meanings if not each.signature})
    texts = dict(zip(paths, (text.split("\n") for text in pinned.texts(paths)), strict=True))
    return tuple(
        each
        if each.signature
        else replace(each, signature=signature_of(texts[each.place.path], each.place.line, each.end_line))
        for each in meanings
    )


def signature_of(lines: Sequence[str], line: int, last: int) -> str:
    """The declaration that begins on a line, as one line: up to where its brackets close.

    >>> signature_of(["def load(", "    path: str,", ") -> int:", "    return 1"], 1, 4)
    'def load(path: str) -> int'
    >>> signature_of(["func Load(path string) error {"], 1, 1)
    'func Load(path string) error'
    """
    text = ""
    for piece in lines[line - 1 : min(last, line - 1 + _SIGNATURE_LINES)]:
        part = piece.strip()[: 4 * _SIGNATURE_WIDTH]  # a minified file is one line
        text += part if text.endswith(("(", "[", "<")) else f" {part}"
        if sum(map(text.count, "([")) <= sum(map(text.count, ")]")):
            break
    text = re.sub(r",?\s*([)\]])", r"\1", text.strip().rstrip("{:").rstrip())
    return text if len(text) <= _SIGNATURE_WIDTH else f"{text[:_SIGNATURE_WIDTH]}…"


def declared_kind(kind: str, signature: str) -> str:
    """The kind of a declaration: a type's own lines are a `body` among units, so its header says which.

    >>> declared_kind("body", "export abstract class Cart"), declared_kind("method", "def total(self)")
    ('class', 'method')
    """
    if kind != "body":
        return kind
    keyword = _TYPE_KEYWORD.search(signature)
    return keyword[0] if keyword else "type"


def has_graph(pinned: PinnedSnapshot) -> bool:
    return pinned.has_fresh(ViewKind.GRAPH)


def first_line(lines: Sequence[str], start: int) -> int:
    """Where a unit's text begins: units own the blank lines above them."""
    return next((at for at in range(start, len(lines) + 1) if lines[at - 1].strip()), start)


def _first_mention(lines: Sequence[str], unit: Evidence, name: str) -> Location | None:
    """Where a unit first says its name, not counting the comments above it, which say it often."""
    in_block = False
    for line in range(unit.start_line, min(unit.end_line, len(lines)) + 1):
        text = lines[line - 1].strip()
        if in_block or _COMMENT.match(text):
            in_block = "*/" not in text and (in_block or text.startswith("/*"))
            continue
        for column, word in words_of(lines[line - 1]):
            if word == name:
                return Location(unit.path, line, column, line, column + len(name))
    return None


def _fits(item: Evidence, parts: list[str]) -> bool:
    full = [part for part in _SEPARATORS.split(f"{item.path.rsplit('.', 1)[0]}/{item.symbol}") if part]
    return bool(item.symbol) and full[-len(parts) :] == parts


def _popularity(
    pinned: PinnedSnapshot, unit: Evidence, name: str, holders_of: Callable[[str], _Units]
) -> float:
    """How many other files have a unit that names it together with its class, module or package."""
    import numpy as np

    view = pinned.lexical
    owner = _SEPARATORS.split(unit.symbol)[:-1]
    *folders, file = unit.path.split("/")
    stem = file.partition(".")[0]
    modules = folders[-1:] if stem in _PACKAGE_FILES else [stem, *folders[-1:]]
    holders = holders_of(name)
    around = [holders_of(word) for word in (owner[-1:] or modules) if word != name]
    both = holders[np.isin(holders, np.concatenate(around))] if around else holders
    files = set(view.file_of[both[view.live[both]]].tolist())
    return float(len({view.path(number) for number in files} - {unit.path}))


def _holders(pinned: PinnedSnapshot, word: str) -> _Units:
    terms = terms_of(word)
    return pinned.lexical.holders(term_hash(terms[-1])) if terms else pinned.lexical.file_of[:0]
