"""A lexical view in, its names looked up: which units are called so, which files end so."""

from __future__ import annotations

import re
from collections.abc import Sequence
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


class _OneName:
    """The live units and the declarations inside of units of one name, without numbers for all the others.

    A process that answers one question looks one name up: on Django `get` takes 14 ms of the processor, where
    the tables of all names take 136.
    """

    def __init__(self, view: LexicalView, name: str) -> None:
        self.name = name
        units: list[Array] = [np.zeros(0, np.int64)]
        self.nested: list[NestedDeclaration] = []
        first = 0
        for data in view.segments:
            near = self._candidates(data.strings)
            leaves = [
                at for at in near if name in (part.lower() for part in _plain_names(data.strings[at])[-1:])
            ]
            units.append(np.flatnonzero(np.isin(data.documents["name"], leaves)) + first)
            named = [at for at in near if last_part(data.strings[at]) == name]
            rows = data.nested[np.isin(data.nested["name"], named)]
            for doc, start, end, symbol, kind in rows[
                view.live[rows["doc"].astype(np.int64) + first]
            ].tolist():
                found = NestedDeclaration(first + doc, start, end, data.strings[symbol], data.strings[kind])
                self.nested.append(found)
            first += len(data.documents)
        every = np.concatenate(units)
        self.units: Array = every[view.live[every]]

    def _candidates(self, strings: Sequence[str]) -> Sequence[int]:
        """Which strings can have the name as a part; a letter outside ASCII may be folded by what follows."""
        if not self.name.isascii():
            return range(len(strings))
        return [at for at, text in enumerate(strings) if self.name in text.lower()]


class UnitNames:
    """The last and the second last name of every unit, folded to lower case, and the files by their stem."""

    def __init__(self, view: LexicalView) -> None:
        self._view = view
        self._first: _OneName | None = None
        live_files = set(view.file_of[view.live].tolist())
        self._files = {path: number for number, path in enumerate(view.paths) if number in live_files}
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
        if (one := self._alone(name)) is not None:
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
        one = self._alone(name)
        return self._nested.get(name.lower(), []) if one is None else one.nested

    def _alone(self, name: str) -> _OneName | None:
        """What the first name that is asked for has; None for others, which the tables of all have."""
        if "_interned" in self.__dict__ or "_nested" in self.__dict__:
            return None
        if self._first is None:
            self._first = _OneName(self._view, name.lower())
        return self._first if self._first.name == name.lower() else None

    def read_nested(self) -> None:
        """Read the declarations inside of all units now, for who measures what comes after."""
        _ = self._nested_by_unit

    def nested_in(self, unit: int) -> list[NestedDeclaration]:
        """The declarations inside of a unit."""
        return self._nested_by_unit.get(unit, [])

    @cached_property
    def _nested_by_unit(self) -> dict[int, list[NestedDeclaration]]:
        units: dict[int, list[NestedDeclaration]] = {}
        for declarations in self._nested.values():
            for each in declarations:
                units.setdefault(each.unit, []).append(each)
        return units

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
        """The live unit that holds a line of a file."""
        file = self._files.get(path)
        if file is None:
            return None
        view = self._view
        first, last = np.searchsorted(view.file_of, [file, file + 1])
        inside = (view.starts[first:last] <= line) & (view.ends[first:last] >= line)
        units = np.flatnonzero(inside)
        return int(first + units[-1]) if len(units) else None


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
