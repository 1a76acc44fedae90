"""A lexical view in, its names looked up: which units are called so, which files end so."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from codenib.core.answers import Evidence
from codenib.views.lexical.read import LexicalView

if TYPE_CHECKING:
    from codenib.serving.snapshots.pinned import PinnedSnapshot

Array = NDArray[Any]
_SPLIT = re.compile(r"\.|::|#|->| > ")
_PLAIN = re.compile(r"[\w$]+")
NOBODY = -1
# How far a misspelt name is from the right one, and how long a name is compared at all: all are looked at.
_MISSPELT, _ALIKE, _LONGEST_NAME = 2, 0.75, 80
_FEW = 4  # names that are looked up alone; for more the tables of all are made
#: Rows of a table of strings.
_Near = Callable[[Sequence[str]], Sequence[int]]


@dataclass(frozen=True, slots=True)
class NestedDeclaration:
    """A declaration inside of a unit: its own lines, name and kind."""

    unit: int
    start_line: int
    end_line: int
    symbol: str
    kind: str

    def narrowed(self, around: Evidence) -> Evidence:
        """The result for the unit around it, as one for this declaration alone."""
        lines = replace(around, start_line=self.start_line, end_line=self.end_line)
        return replace(lines, symbol=self.symbol, kind=self.kind, level="L2")


class _Interned:
    """The last and the second last name of every unit as numbers, which takes as long as there are units."""

    def __init__(self, view: LexicalView) -> None:
        self.leaves: list[str] = []
        self.number: dict[str, int] = {}
        leaf_parts: list[Array] = [np.zeros(0, np.int32)]
        owner_parts: list[Array] = [np.zeros(0, np.int32)]
        for data in view.segments:
            pairs = [self._pair(text) for text in data.strings]
            table = np.array(pairs or [(NOBODY, NOBODY)], np.int32)
            rows = data.documents["name"].astype(np.int64)
            leaf_parts.append(table[rows, 0])
            owner_parts.append(table[rows, 1])
        self.leaf = np.concatenate(leaf_parts)
        self.owner = np.concatenate(owner_parts)
        live = self.leaf[view.live]
        self.counts = np.bincount(live[live >= 0], minlength=len(self.leaves))
        self.order = np.argsort(self.leaf, kind="stable")
        self.sorted = self.leaf[self.order]

    def _pair(self, symbol: str) -> tuple[int, int]:
        names = _plain_names(symbol)
        if not names:
            return NOBODY, NOBODY
        return self._intern(names[-1]), self._intern(names[-2]) if len(names) > 1 else NOBODY

    def _intern(self, name: str) -> int:
        key = name.lower()
        number = self.number.get(key)
        if number is None:
            number = self.number[key] = len(self.leaves)
            self.leaves.append(key)
        return number


@dataclass(frozen=True, slots=True)
class _Declared:
    """The live units and the declarations inside of units of one name."""

    units: Array
    nested: list[NestedDeclaration]


_NOTHING = _Declared(np.zeros(0, np.int64), [])


def _declared(view: LexicalView, near: _Near, is_wanted: Callable[[str], bool]) -> dict[str, _Declared]:
    """What wanted names declare, without numbers for all the others; `near` says which strings may have one.

    A process that answers one question looks few names up: on Django `get` takes 14 ms of the processor,
    where the tables of all names take 136.
    """
    units: dict[str, list[int]] = {}
    nested: dict[str, list[NestedDeclaration]] = {}
    first = 0
    for data in view.segments:
        strings, numbers = data.strings, data.documents["name"]
        rows = near(strings)
        leaves = {at: plain[-1].lower() for at in rows if (plain := _plain_names(strings[at]))}
        leaves = {at: leaf for at, leaf in leaves.items() if is_wanted(leaf)}
        for leaf in leaves.values():
            units.setdefault(leaf, [])
        for doc in np.flatnonzero(np.isin(numbers, list(leaves))).tolist():
            if view.live[first + doc]:
                units[leaves[int(numbers[doc])]].append(first + doc)
        inner = {at: leaf for at in rows if is_wanted(leaf := last_part(strings[at]))}
        for doc, start, end, symbol, kind in data.nested[np.isin(data.nested["name"], list(inner))].tolist():
            if view.live[first + doc]:
                found = NestedDeclaration(first + doc, start, end, strings[symbol], strings[kind])
                nested.setdefault(inner[symbol], []).append(found)
        first += len(data.documents)
    return {
        leaf: _Declared(np.array(units.get(leaf, ()), np.int64), nested.get(leaf, []))
        for leaf in {**units, **nested}
    }


def _with_part(part: str) -> _Near:
    """The strings that hold a part of a name; a letter outside ASCII may be folded by what follows."""

    def near(strings: Sequence[str]) -> Sequence[int]:
        if not part.isascii():
            return range(len(strings))
        return [at for at, text in enumerate(strings) if part in text.lower()]

    return near


def _with_words(words: Sequence[str]) -> _Near:
    """The strings that hold one of these words, by one search of all."""

    def near(strings: Sequence[str]) -> Sequence[int]:
        if not all(map(str.isascii, words)):
            return range(len(strings))
        folded = [text.lower() for text in strings]
        pattern = re.compile(rf"(?<![\w$])(?:{'|'.join(map(re.escape, words))})(?![\w$])")
        starts = np.cumsum([0, *(len(text) + 1 for text in folded)])
        found = [match.start() for match in pattern.finditer("\n".join(folded))]
        rows: list[int] = np.unique(np.searchsorted(starts, found, "right") - 1).tolist()
        return rows

    return near


class UnitNames:
    """The last and the second last name of every unit, folded to lower case, and the files by their stem."""

    def __init__(self, view: LexicalView) -> None:
        self._view = view
        self._few: dict[str, _Declared] = {}
        self._looks = 0
        live_files = set(view.file_of[view.live].tolist())
        self._files = {path: number for number, path in enumerate(view.paths) if number in live_files}
        #: Of a file, its first unit, and the first and last lines of its units.
        self._extents: dict[str, tuple[int, list[int], list[int]]] = {}
        self.stems: dict[str, list[int]] = {}
        for path, number in self._files.items():
            self.stems.setdefault(stem(path), []).append(number)

    @cached_property
    def _interned(self) -> _Interned:
        return _Interned(self._view)

    @property
    def leaf(self) -> Array:
        """Of every unit, the number of its last name."""
        return self._interned.leaf

    @property
    def owner(self) -> Array:
        """Of every unit, the number of its second last name."""
        return self._interned.owner

    @property
    def counts(self) -> Array:
        """How many live units have each last name."""
        return self._interned.counts

    @property
    def leaves(self) -> list[str]:
        """The names by their numbers."""
        return self._interned.leaves

    def number(self, name: str) -> int:
        """The number of a leaf name; -1 when no unit is called so."""
        return self._interned.number.get(name.lower(), NOBODY)

    def units(self, name: str) -> Array:
        """The live units whose last name is `name`, in any case."""
        if (one := self._alone(name.lower())) is not None:
            return one.units
        number, interned = self.number(name), self._interned
        if number == NOBODY:
            return interned.order[:0]
        first, last = np.searchsorted(interned.sorted, [number, number + 1])
        units = interned.order[first:last]
        return units[self._view.live[units]]

    def near(self, name: str) -> list[str]:
        """Up to three last names of live units that are written almost as `name`, best first."""
        wanted = name.lower()
        alike = [
            each
            for each, count in zip(self.leaves, self.counts.tolist(), strict=True)
            if count and abs(len(each) - len(wanted)) <= _MISSPELT and {each[0], each[-1]} & {*wanted}
        ]
        found = get_close_matches(wanted, alike, 3, _ALIKE) if len(wanted) <= _LONGEST_NAME else []
        symbols = [self._view.document(int(self.units(each)[0])).symbol for each in found]
        return [_plain_names(symbol)[-1] for symbol in symbols]

    def nested(self, name: str) -> list[NestedDeclaration]:
        """The declarations inside of units whose last name is `name`, in any case."""
        one = self._alone(name.lower())
        return self._nested.get(name.lower(), []) if one is None else one.nested

    def leaves_with(self, part: str) -> list[str]:
        """The last names, in lower case, that hold a part in lower case."""
        if self._has_tables:
            return [leaf for leaf in self.leaves if part in leaf]
        found = _declared(self._view, _with_part(part), lambda leaf: part in leaf)
        self._few |= found
        return list(filter(_PLAIN.fullmatch, found))

    def declared(self, names: Iterable[str]) -> set[str]:
        """Those of some names that something declares; what they declare is looked up at once."""
        if not self._has_tables:
            open_ = sorted({name.lower() for name in names} - self._few.keys())
            found = _declared(self._view, _with_words(open_), set(open_).__contains__) if open_ else {}
            self._few |= {name: found.get(name, _NOTHING) for name in open_}
        return {name for name in names if len(self.units(name)) or self.nested(name)}

    def _alone(self, key: str) -> _Declared | None:
        """What a name has, while few are asked for; None for others, which the tables of all have."""
        if key not in self._few and not self._has_tables and self._looks < _FEW:
            self._looks += 1
            self._few |= {key: _NOTHING} | _declared(self._view, _with_part(key), key.__eq__)
        return self._few.get(key)

    @property
    def _has_tables(self) -> bool:
        return "_interned" in self.__dict__ or "_nested" in self.__dict__

    def nested_in(self, unit: int) -> list[NestedDeclaration]:
        """The declarations inside of a unit."""
        return [NestedDeclaration(unit, *row) for row in self._view.nested_in(unit)]

    @cached_property
    def _nested(self) -> dict[str, list[NestedDeclaration]]:
        names: dict[str, list[NestedDeclaration]] = {}
        for row in self._view.nested():
            declaration = NestedDeclaration(*row)
            names.setdefault(last_part(declaration.symbol), []).append(declaration)
        return names

    def files(self, path: str) -> list[int]:
        """The files that a path in a text may mean: those that end like it, the longest agreement first."""
        wanted = path.lower().split("/")
        agreeing = [
            (agreement(wanted, self._view.paths[number]), number) for number in self.stems.get(stem(path), ())
        ]
        best = max((length for length, _ in agreeing), default=0)
        return [number for length, number in agreeing if length == best and best > 0]

    def lines(self, path: str) -> int:
        """How many lines a file has, as far as units reach."""
        first, last = np.searchsorted(self._view.file_of, [self._files[path], self._files[path] + 1])
        return int(self._view.ends[first:last].max())

    def unit_at(self, path: str, line: int) -> int | None:
        """The live unit that holds a line of a file; units of a file do not overlap."""
        if path not in self._files:
            return None
        if path not in self._extents:
            first, last = np.searchsorted(self._view.file_of, [self._files[path], self._files[path] + 1])
            starts, ends = (each[first:last].tolist() for each in (self._view.starts, self._view.ends))
            self._extents[path] = int(first), starts, ends
        first, starts, ends = self._extents[path]
        at = bisect_right(starts, line) - 1
        return first + at if at >= 0 and line <= ends[at] else None


def _plain_names(symbol: str) -> list[str]:
    return [part for part in _SPLIT.split(symbol) if _PLAIN.fullmatch(part)]


def last_part(symbol: str) -> str:
    """The last name of a symbol in lower case.

    >>> last_part("Model.Save")
    'save'
    """
    return _SPLIT.split(symbol)[-1].lower()


def unit_names(pinned: PinnedSnapshot) -> UnitNames:
    """The names of a snapshot's units, read once for all answers from it."""
    return pinned.derived(_read_names)


def _read_names(pinned: PinnedSnapshot) -> UnitNames:
    return UnitNames(pinned.lexical)


def stem(path: str) -> str:
    """The name of a file without folders and ending, in lower case."""
    return path.rpartition("/")[2].partition(".")[0].lower() or path.lower()


def agreement(wanted: Sequence[str], path: str) -> int:
    """How many of a path's last parts agree; 0 when the file's own name does not."""
    have = path.lower().split("/")
    count = 0
    for left, right in zip(reversed(wanted), reversed(have), strict=False):
        if left != right:
            break
        count += 1
    return count
