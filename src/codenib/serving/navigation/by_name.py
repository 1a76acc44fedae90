"""A name in, places of that name out: the answer when nothing resolves, labelled as such.

Declarations come from the lexical view's units, places from the trigram view.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal

from codenib.core.answers import Evidence, RegexAnswer
from codenib.core.navigation import Location, Position
from codenib.serving.navigation.positions import words_of

_SEPARATORS = re.compile(r"::|[.#/:]")


class ByName:
    """Looks names up in the units and the text of one repository.

    `named` gives the units whose last name is one, in any case, and the snapshot that they are of.
    """

    def __init__(
        self,
        named: Callable[[str], tuple[list[Evidence], str]],
        regex: Callable[[str], RegexAnswer],
        texts: Callable[[list[Evidence], str], list[str]],
    ) -> None:
        self._named = named
        self._regex = regex
        self._texts = texts

    def declarations(self, symbol: str) -> list[Position]:
        """Where units with this (dotted) name begin to say it."""
        parts = [part for part in _SEPARATORS.split(symbol) if part]
        if not parts:
            return []
        named, snapshot = self._named(parts[-1])
        units = [item for item in named if _fits(item, parts)]
        found = []
        for unit, text in zip(units, self._texts(units, snapshot), strict=True):
            for offset, line in enumerate(text.split("\n")):
                columns = [column for column, word in words_of(line) if word == parts[-1]]
                if columns:
                    found.append(Position(unit.path, unit.start_line + offset, columns[0]))
                    break
        return sorted(set(found))

    def find(self, question: Literal["definition", "references"], name: str) -> tuple[Location, ...]:
        """Declarations of a name, or every place with it, in order."""
        if question == "definition":
            places = [(each.path, each.line, each.column) for each in self.declarations(name)]
        else:
            matches = self._regex(rf"\b{re.escape(name)}\b").items
            places = [(match.path, match.line, start) for match in matches for start, _ in match.spans]
        return tuple(
            Location(path, line, column, line, column + len(name)) for path, line, column in sorted(places)
        )


def _fits(item: Evidence, parts: list[str]) -> bool:
    full = [part for part in _SEPARATORS.split(f"{item.path.rsplit('.', 1)[0]}/{item.symbol}") if part]
    return bool(item.symbol) and full[-len(parts) :] == parts


def name_at(line: str, column: int) -> str:
    """The name that stands at a column of a line; empty when there is none."""
    return next((word for start, word in words_of(line) if start <= column <= start + len(word)), "")
