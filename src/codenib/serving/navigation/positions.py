"""What a person writes in (`FILE:LINE[:COL]`, a line and a name, a dotted symbol), a position out."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from codenib.core.errors import InputError
from codenib.core.navigation import Position

_PLACE = re.compile(r"(?P<path>.+?):(?P<line>\d+)(?::(?P<column>\d+))?")
_WORD = re.compile(r"[^\W\d][\w$]*")


@dataclass(frozen=True, slots=True)
class Place:
    """A question as it was written: a path with a line and perhaps a column (1-based), or a symbol."""

    path: str = ""
    line: int = 0
    column: int = 0
    symbol: str = ""


def parse_place(written: str) -> Place:
    """`src/app.py:12:5`, `src/app.py:12`, or anything else as a symbol.

    >>> parse_place("src/app.py:12:5")
    Place(path='src/app.py', line=12, column=5, symbol='')
    >>> parse_place("flask.app.Flask").symbol
    'flask.app.Flask'
    """
    found = _PLACE.fullmatch(written.strip())
    if found is None or not found["path"].strip(":"):
        if not written.strip():
            raise InputError("no symbol and no position is given", hint="codenib def FILE:LINE:COL")
        return Place(symbol=written.strip())
    return Place(found["path"], int(found["line"]), int(found["column"] or 0))


def position_in(path: str, line: int, column: int, name: str, text: str) -> Position | None:
    """The position of a place in a file's text; None when only the line is known.

    A column is 1-based, as editors and compilers print it; one that is no name's but stands right before one
    means that name, so that a 0-based column works as well.
    """
    lines = text.split("\n")
    if not 1 <= line <= len(lines):
        raise InputError(f"{path} has {len(lines)} lines, not {line}", hint=f"codenib read {path}")
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
    return [(found.start(), found[0]) for found in _WORD.finditer(line)]


def _column_of(path: str, line: int, name: str, words: list[tuple[int, str]]) -> int:
    last = re.split(r"::|[.#]", name)[-1]
    for start, word in words:
        if word == last:
            return start
    there = ", ".join(dict.fromkeys(word for _, word in words)) or "no name"
    raise InputError(f"{path}:{line} has no {name!r}, but {there}", hint=f"codenib read {path}:{line}")


def ambiguous(asked: str, choices: list[str], how: Callable[[str], str]) -> InputError:
    """The error for a question that may mean several things."""
    shown = "\n  ".join(choices[:12])
    more = f"\n  … and {len(choices) - 12} more" if len(choices) > 12 else ""
    return InputError(f"{asked!r} may mean {len(choices)} things:\n  {shown}{more}", hint=how(choices[0]))
