"""Two texts of a C or C++ file in; which tokens stayed, and where they are now, out.

A comment that came, or lines that shifted, change no token. A directive counts as one token with all that it
says: one that decides what is compiled may change the meaning of everything after it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from codenib.core.text.c_tokens import lex

_MACRO = re.compile(r"[ \t]*\#[ \t]*(?:define|undef)[ \t]+(\w+)(.*)", re.DOTALL)
_CONDITION = re.compile(r"[ \t]*\#[ \t]*(?:if|ifdef|ifndef|elif|elifdef|elifndef)\b(.*)", re.DOTALL)
_WORD = re.compile(r"[^\W\d]\w*")
# Stretches longer than this count as changed from end to end.
_MOST_ITEMS = 4000
Start = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Item:
    """A token, or a whole directive."""

    text: str
    line: int
    column: int
    last: int  # its last line
    directive: bool


@dataclass
class FileEdit:
    """What an edit did to one file's tokens."""

    wide: bool = False  # whether a directive changed that decides what is compiled
    macros: set[str] = field(default_factory=set)  # defined otherwise
    names: set[str] = field(default_factory=set)  # may mean something else to those who include the file
    old: set[Start] = field(default_factory=set)  # tokens that went
    new: set[Start] = field(default_factory=set)  # tokens that came
    _tokens: dict[Start, Start] = field(default_factory=dict)
    _lines: list[tuple[int, int, int]] = field(default_factory=list)  # directives: first, last, new first

    def now(self, place: Start) -> Start | None:
        """Where a token that stayed is now."""
        found = self._tokens.get(place)
        if found is None and self._lines:
            at = bisect_right(self._lines, (place[0], 1 << 60, 0)) - 1
            if at >= 0 and self._lines[at][0] <= place[0] <= self._lines[at][1]:
                return place[0] - self._lines[at][0] + self._lines[at][2], place[1]
        return found


def edit_of(old: str, new: str, *, is_c: bool) -> FileEdit:
    """How the tokens of two texts differ."""
    before, after = list(_items(old, is_c=is_c)), list(_items(new, is_c=is_c))
    found = FileEdit()
    for same, left, right in _stretches([item.text for item in before], [item.text for item in after]):
        if same:
            for was, now in zip(before[left], after[right], strict=True):
                if was.directive:
                    found._lines.append((was.line, was.last, now.line))
                else:
                    found._tokens[was.line, was.column] = (now.line, now.column)
            continue
        for items, starts in ((before[left], found.old), (after[right], found.new)):
            for item in items:
                starts.add((item.line, item.column))
                if item.directive:
                    _note_directive(item, found)
    return found


def _note_directive(item: _Item, found: FileEdit) -> None:
    macro = _MACRO.match(item.text)
    if macro is None:
        found.wide = True
    else:
        found.macros.add(macro[1])


def _items(text: str, *, is_c: bool) -> Iterator[_Item]:
    lines = text.split("\n")
    directives: dict[int, _Item] = {}
    at = 0
    while at < len(lines):
        if not lines[at].lstrip().startswith("#"):
            at += 1
            continue
        first = at
        while lines[at].rstrip("\r").endswith("\\") and at + 1 < len(lines):
            at += 1
        directives[first] = _Item("\n".join(lines[first : at + 1]), first, 0, at, True)
        at += 1
    inside = {line for item in directives.values() for line in range(item.line, item.last + 1)}
    tokens = [
        _Item(token.text, token.line, token.column, token.end_line, False)
        for token in lex(text, is_c=is_c)
        if token.line not in inside
    ]
    yield from sorted([*tokens, *directives.values()], key=lambda item: (item.line, item.column))


def _stretches(old: list[str], new: list[str]) -> Iterator[tuple[bool, slice, slice]]:
    """Equal and changed stretches in order."""
    most = min(len(old), len(new))
    head = next((at for at in range(most) if old[at] != new[at]), most)
    most -= head
    tail = next((at for at in range(most) if old[-1 - at] != new[-1 - at]), most)
    yield True, slice(0, head), slice(0, head)
    middle = (old[head : len(old) - tail], new[head : len(new) - tail])
    if max(map(len, middle)) > _MOST_ITEMS:
        yield False, slice(head, len(old) - tail), slice(head, len(new) - tail)
    else:
        for tag, a, b, c, d in SequenceMatcher(None, *middle, autojunk=False).get_opcodes():
            yield tag == "equal", slice(a + head, b + head), slice(c + head, d + head)
    yield True, slice(len(old) - tail, len(old)), slice(len(new) - tail, len(new))


def words(text: str) -> set[str]:
    """Every identifier that a text has, comments and strings included."""
    return set(_WORD.findall(text))


class Macros:
    """The macros of a set of files, to see what a change of one reaches."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._bodies: list[tuple[str, set[str]]] = []
        self._conditions: set[str] = set()
        for text in texts:
            for line in _directive_lines(text):
                if macro := _MACRO.match(line):
                    self._bodies.append((macro[1], words(macro[2])))
                elif condition := _CONDITION.match(line):
                    self._conditions |= words(condition[1])

    def reached(self, names: set[str]) -> set[str] | None:
        """The macros that stand for one of `names`, directly or not; None where a condition asks for one."""
        found = set(names)
        grown = True
        while grown:
            more = {name for name, body in self._bodies if name not in found and body & found}
            grown = bool(more)
            found |= more
        # System headers ask for macros too; theirs begin with an underline.
        asks = found & self._conditions or any(name.startswith("_") or name == "NDEBUG" for name in found)
        return None if asks else found


def _directive_lines(text: str) -> Iterator[str]:
    joined = text.replace("\\\r\n", " ").replace("\\\n", " ")
    return (line for line in joined.split("\n") if line.lstrip().startswith("#"))
