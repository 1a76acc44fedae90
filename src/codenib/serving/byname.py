"""A name in, places of that name out: the answer when nothing resolves, labelled as such.

Declarations come from the lexical view's units, places from the trigram view.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal

from codenib.core.answers import Answer, Evidence, RegexAnswer
from codenib.core.navigation import Location, Position
from codenib.serving.places import words_of

_SEPARATORS = re.compile(r"::|[.#/:]")
_UNITS = 200  # looked at for declarations of a name: its own units rank first


class Names:
    """Looks names up with the ranked and the exact search of one repository."""

    def __init__(
        self,
        search: Callable[[str], Answer],
        regex: Callable[[str], RegexAnswer],
        texts: Callable[[list[Evidence], str], list[str]],
    ) -> None:
        self._search = search
        self._regex = regex
        self._texts = texts

    def declarations(self, symbol: str) -> list[Position]:
        """Where units with this (dotted) name begin to say it."""
        parts = [part for part in _SEPARATORS.split(symbol) if part]
        answer = self._search(" ".join(parts))
        units = [item for item in answer.items if _fits(item, parts)]
        found = []
        for unit, text in zip(units, self._texts(units, answer.snapshot.id), strict=True):
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
