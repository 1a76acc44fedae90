"""What a person writes in (`FILE:LINE[:COL]`, a line and a name, a dotted symbol), a position out."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from codenib.core.errors import InputError
from codenib.core.navigation import Position

_PLACE = re.compile(
    r"(?P<path>.+?):(?P<line>\d{1,9})(?::(?P<column>\d{1,9})|[-,](?P<end>\d{1,9})|(?P<on>[-,]))?:?"
)
_WORD = re.compile(r"[^\W\d][\w$]*")
_SEPARATORS = re.compile(r"::|[.#]")


@dataclass(frozen=True, slots=True)
class WrittenPlace:
    """A place as a person wrote it. `target` is a path where a line is given, else a symbol or a path.

    Lines and columns are 1-based; 0 where none is given. `onward` means from the line to the end.
    """

    target: str
    line: int = 0
    column: int = 0
    end_line: int = 0
    onward: bool = False

    @property
    def lines(self) -> tuple[int | None, int | None]:
        """The first and last line that are meant; None for all."""
        if not self.line:
            return None, None
        return self.line, None if self.onward else self.end_line or self.line


def parse_place(written: str) -> WrittenPlace:
    """`PATH:LINE`, `PATH:LINE:COLUMN`, `PATH:START-END`, `PATH:START-`, or anything else: a symbol or a path.

    >>> parse_place("src/app.py:12:5")
    WrittenPlace(target='src/app.py', line=12, column=5, end_line=0, onward=False)
    >>> [parse_place(f"src/app.py:{lines}").lines for lines in ("12-14", "12,14", "12", "12-")]
    [(12, 14), (12, 14), (12, 12), (12, None)]
    >>> parse_place("flask.app.Flask").target
    'flask.app.Flask'
    >>> parse_place("src/app.py:0-3")
    Traceback (most recent call last):
        ...
    codenib.core.errors.InputError: src/app.py:0-3: lines are counted from 1
    """
    written = written.strip()
    if not written:
        raise InputError("no symbol and no position is given", hint="codenib def FILE:LINE:COL")
    match = _PLACE.fullmatch(written)
    if match is None or not match["path"].strip(":"):
        return WrittenPlace(written)
    line, column, end = (int(match[part] or 0) for part in ("line", "column", "end"))
    if match["line"] and not line:
        raise InputError(f"{written}: lines are counted from 1", hint=f"codenib read {match['path']}")
    return WrittenPlace(match["path"], line, column, end, onward=bool(match["on"]))


def position_in(place: WrittenPlace, name: str, text: str) -> Position | None:
    """The position of a place in a file's text; None when only the line is known.

    A column is 1-based, as editors and compilers print it; one that is no name's but stands right before one
    means that name, so that a 0-based column works as well.
    """
    path, line, column = place.target, place.line or 1, place.column
    lines = text.split("\n")
    if not 1 <= line <= len(lines):
        known = len(lines) - text.endswith("\n")  # as `read` counts: behind the last line end is no line
        raise InputError(f"{path} has {known} lines, not {line}", hint=f"codenib read {path}")
    words = words_of(lines[line - 1])
    if name:
        return Position(path, line, _column_of(path, line, name, words))
    if not column:
        return None
    if column > len(lines[line - 1]) + 1:
        raise InputError(
            f"{path}:{line} has {len(lines[line - 1])} columns", hint=f"codenib read {path}:{line}"
        )
    at = column - 1
    inside = any(start <= at < start + len(word) for start, word in words)
    before = any(start == column for start, _ in words)
    return Position(path, line, column if before and not inside else at)


def words_of(line: str) -> list[tuple[int, str]]:
    """The names of a line, each with its column."""
    return [(match.start(), match[0]) for match in _WORD.finditer(line)]


def last_name(symbol: str) -> str:
    """
    >>> last_name("Cart.total"), last_name("std::vector")
    ('total', 'vector')
    """
    return _SEPARATORS.split(symbol)[-1]


def nearest_line(lines: Sequence[str], line: int, name: str) -> int | None:
    """The line closest to `line` that has the name as a word, the earlier of two; None without one."""
    numbers = [at for at, text in enumerate(lines, 1) if name in text and name in _WORD.findall(text)]
    return min(numbers, key=lambda at: (abs(at - line), at), default=None)


def _column_of(path: str, line: int, name: str, words: list[tuple[int, str]]) -> int:
    last = last_name(name)
    for start, word in words:
        if word == last:
            return start
    there = ", ".join(dict.fromkeys(word for _, word in words)) or "no name"
    raise InputError(f"{path}:{line} has no {name!r}, but {there}", hint=f"codenib read {path}:{line}")


def ambiguous(asked: str, choices: list[str], how: Callable[[str], str]) -> InputError:
    """The error for a question that may mean several things."""
    listed = "\n  ".join(choices[:12])
    more = f"\n  … and {len(choices) - 12} more" if len(choices) > 12 else ""
    return InputError(f"{asked!r} may mean {len(choices)} things:\n  {listed}{more}", hint=how(choices[0]))
