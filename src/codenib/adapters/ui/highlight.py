"""Source text in, its lines as runs of one class each out; the page makes text nodes of them.

Pygments, because `codenib` has it already for the terminal: it knows 500 languages, colours a screen of code
in a millisecond (decision 22 has the times beside tree-sitter's), and needs nothing of the browser.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pygments.lexer import Lexer
    from pygments.token import _TokenType

#: A class of the page's style sheet and the text that has it; the empty class is plain text.
Run = tuple[str, str]
Line = list[Run]

_LONGEST = 400_000  # characters of a file that is coloured; a second of work, and nobody reads such a file
_NAMES = {  # from the general to the special: the first parent that is listed counts
    "Token.Keyword": "k",
    "Token.Keyword.Constant": "m",
    "Token.Name": "n",
    "Token.Name.Function": "f",
    "Token.Name.Class": "t",
    "Token.Name.Decorator": "d",
    "Token.Name.Builtin": "b",
    "Token.Name.Builtin.Pseudo": "m",
    "Token.Name.Exception": "t",
    "Token.Name.Tag": "k",
    "Token.Name.Attribute": "f",
    "Token.Literal.String": "s",
    "Token.Literal.String.Doc": "c",
    "Token.Literal.String.Interpol": "n",
    "Token.Literal.Number": "m",
    "Token.Comment": "c",
    "Token.Operator.Word": "k",
    "Token.Generic.Heading": "t",
    "Token.Generic.Subheading": "t",
    "Token.Generic.Emph": "s",
    "Token.Generic.Strong": "k",
    "Token.Generic.Deleted": "x",
    "Token.Generic.Inserted": "a",
}


def highlight(text: str, language: str) -> list[Line]:
    """The lines of a text; joined, their runs are the text again. Plain where no lexer is known."""
    lexer = _lexer(language) if len(text) <= _LONGEST else None
    if lexer is None:
        return [[("", line)] if line else [] for line in text.split("\n")]
    with _LOCK:  # lexers keep state while they work
        runs = list(lexer.get_tokens_unprocessed(text))
    return list(_lines((_class_of(kind), value) for _, kind, value in runs))


def _lines(runs: Iterator[Run]) -> Iterator[Line]:
    line: Line = []
    for name, value in runs:
        first, *more = value.split("\n")
        if first:
            _append(line, name, first)
        for part in more:
            yield line
            line = []
            if part:
                _append(line, name, part)
    yield line


def _append(line: Line, name: str, value: str) -> None:
    """Add a run; plain ones and those of comments and strings join the one before."""
    if line and line[-1][0] == name and name in ("", "c", "s"):
        line[-1] = (name, line[-1][1] + value)
    else:
        line.append((name, value))


@lru_cache(maxsize=512)
def _class_of(kind: _TokenType) -> str:
    while kind.parent is not None:
        if (name := _NAMES.get(str(kind))) is not None:
            return name
        kind = kind.parent
    return ""


@lru_cache(maxsize=64)
def _lexer(language: str) -> Lexer | None:
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    if not language:
        return None
    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


class HighlightedFiles:
    """The coloured lines of the files that were looked at last, by text: an edited file is another text."""

    def __init__(self, most: int = 24) -> None:
        self._most = most
        self._files: OrderedDict[tuple[str, str], list[Line]] = OrderedDict()
        self._lock = Lock()

    def lines(self, text: str, language: str) -> list[Line]:
        """The lines of a whole file."""
        key = (language, text)
        with self._lock:
            if key in self._files:
                self._files.move_to_end(key)
                return self._files[key]
        coloured = highlight(text, language)
        with self._lock:
            self._files[key] = coloured
            while len(self._files) > self._most:
                self._files.popitem(last=False)
        return coloured


_LOCK = Lock()
