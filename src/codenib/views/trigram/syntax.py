"""A regular expression in, a small tree of what its matches are made of out.

The only module that knows the standard library's parser. The tree is for reasoning about a pattern that the
`regex` package has accepted and will run: where the two dialects could read a pattern differently, there is
no tree, and the callers fall back to scanning all text line by line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from re import _constants as ops  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

MAX_MEMBERS = 8  # larger character classes count as any character

#: What `regex` reads as fuzzy matching and `re` as plain text: "{e<=1}", "{i}", "{2i+1d<=4}".
_FUZZY = re.compile(r"\{[\s\d<=+]*[deis]\s*[<=,+:}]")
#: Comments and free spacing, which the scanner of sets below does not follow.
_VERBOSE = re.compile(r"\(\?(#|[a-zA-Z]*x)")
#: What matches a line break, as sets that do not.
_BOUND = {
    r"\s": r"[^\S\n]",
    r"\W": r"[^\w\n]",
    r"\D": r"[^\d\n]",
    r"[\s]": r"[^\S\n]",
    r"[\W]": r"[^\w\n]",
    r"[\D]": r"[^\d\n]",
}


@dataclass(frozen=True, slots=True)
class Chars:
    """One of a few characters; `folded`: in any case."""

    members: str
    folded: bool


@dataclass(frozen=True, slots=True)
class AnyChar:
    """One character of which nothing is known."""


@dataclass(frozen=True, slots=True)
class Seq:
    """The parts one after the other; no parts match the empty string."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """One of the parts."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """The part at least `least` times and at most `most` times (None: no bound)."""

    part: Node
    least: int
    most: int | None


Node = Chars | AnyChar | Seq | Either | Repeat
EMPTY = Seq(())
ANYTHING = Repeat(AnyChar(), 0, None)


@dataclass(frozen=True, slots=True)
class Syntax:
    """The tree of a pattern. Every match of the pattern is a match of the tree, not the reverse.

    `whole_text`: bound to lines, the pattern matches in a whole text just where it matches in a line alone,
    because nothing in it looks around, gives up paths or tells a line's ends from a text's. `line_break`: the
    pattern names a line break.
    """

    root: Node
    whole_text: bool
    line_break: bool


def text_node(text: str, *, ignore_case: bool) -> Node:
    """The tree of a plain text."""
    return Seq(tuple(Chars(char, ignore_case) for char in text))


def parse(pattern: str, *, ignore_case: bool, multiline: bool = False) -> Syntax | None:
    """The tree of `pattern`, or None where `re` and `regex` could read it differently.

    A `multiline` pattern may match line breaks; else no match has one.
    """
    if _FUZZY.search(pattern) or _VERBOSE.search(pattern) or _odd_set(pattern):
        return None
    try:
        tree = parser.parse(pattern, re.IGNORECASE if ignore_case else 0)
        convert = _Converter(multiline)
        root = convert.sequence(tree, tree.state.flags)
    except (re.error, RecursionError, OverflowError, _Unknown):
        return None
    return Syntax(root, convert.whole_text, convert.line_break)


def bound_to_lines(pattern: str) -> str:
    """`pattern` with its negated sets and escapes kept from matching a line break: the same on every line.

    Only for patterns that `parse` reads. Without this, `[^x]*y` would run from each line to the file's end.
    """
    return "".join(_bound_token(token) for token in pattern_tokens(pattern))


def _bound_token(token: str) -> str:
    if token.startswith("[^]"):
        return r"[^\n\]" + token[3:]
    if token.startswith("[^"):
        return r"[^\n" + token[2:]
    return _BOUND.get(token, token)


def pattern_tokens(pattern: str) -> Iterator[str]:
    """The pattern cut into escapes, sets and single characters."""
    at = 0
    while at < len(pattern):
        end = at + 1
        if pattern[at] == "\\":
            end = at + 2
        elif pattern[at] == "[":
            end = _set_end(pattern, at)
        yield pattern[at:end]
        at = end


def _set_end(pattern: str, start: int) -> int:
    at = start + 1
    if pattern.startswith("^", at):
        at += 1
    if pattern.startswith("]", at):  # a leading bracket is a member
        at += 1
    while at < len(pattern) and pattern[at] != "]":
        at += 2 if pattern[at] == "\\" else 1
    return at + 1


def _odd_set(pattern: str) -> bool:
    """Whether a set holds what one dialect reads as a class, a nested set or a set operation."""
    marks = ("[:", "--", "&&", "~~", "||")
    return any(
        token.startswith(("[[", "[^[")) or any(mark in token[1:] for mark in marks)
        for token in pattern_tokens(pattern)
        if token[0] == "["
    )


class _Unknown(Exception):
    """An operation that this module does not know."""


class _Converter:
    """Turns the parser's tree into ours, noting what decides how a text may be scanned."""

    def __init__(self, multiline: bool) -> None:
        self._multiline = multiline
        self.whole_text = True
        self.line_break = False

    def sequence(self, items: Iterable[tuple[Any, Any]], flags: int) -> Node:
        parts = tuple(self._node(op, arg, flags) for op, arg in items)
        return parts[0] if len(parts) == 1 else Seq(parts)

    def _node(self, op: Any, arg: Any, flags: int) -> Node:
        if op is ops.LITERAL:
            self.line_break |= arg == 10
            return Chars(chr(arg), bool(flags & re.IGNORECASE))
        if op is ops.IN:
            return self._set(arg, flags)
        if op in (ops.NOT_LITERAL, ops.ANY):
            self.whole_text &= op is not ops.ANY or not flags & re.DOTALL
            return AnyChar()
        if op is ops.AT:
            self.whole_text &= arg not in (ops.AT_BEGINNING_STRING, ops.AT_END_STRING)
            return EMPTY
        if op is ops.BRANCH:
            return Either(tuple(self.sequence(part, flags) for part in arg[1]))
        return self._composite(op, arg, flags)

    def _composite(self, op: Any, arg: Any, flags: int) -> Node:
        if op is ops.SUBPATTERN:
            _, added, removed, items = arg
            self.whole_text &= not removed & re.MULTILINE
            return self.sequence(items, (flags | added) & ~removed)
        if op in (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT):
            least, most, items = arg
            self.whole_text &= op is not ops.POSSESSIVE_REPEAT
            return Repeat(self.sequence(items, flags), least, None if most is ops.MAXREPEAT else most)
        self.whole_text = False
        if op is ops.ATOMIC_GROUP:
            return self.sequence(arg, flags)
        if op in (ops.ASSERT, ops.ASSERT_NOT):
            return EMPTY
        if op in (ops.GROUPREF, ops.GROUPREF_EXISTS):
            return ANYTHING
        raise _Unknown(str(op))

    def _set(self, items: list[tuple[Any, Any]], flags: int) -> Node:
        members: list[str] = []
        small = True
        for op, arg in items:
            if op is ops.LITERAL:
                members.append(chr(arg))
            elif op is ops.RANGE and arg[1] - arg[0] < MAX_MEMBERS:
                members.extend(map(chr, range(arg[0], arg[1] + 1)))
            else:
                small = False
        self.whole_text &= not _crosses_lines(items)
        if not small or len(members) > MAX_MEMBERS:
            return AnyChar()
        if self._multiline:
            return Chars("".join(members), bool(flags & re.IGNORECASE)) if members else EMPTY
        # No line holds a line break, and no scan of a whole text may step over one.
        in_line = "".join(members).replace("\n", "")
        self.line_break |= not in_line
        return Chars(in_line, bool(flags & re.IGNORECASE)) if in_line else EMPTY


def _crosses_lines(items: list[tuple[Any, Any]]) -> bool:
    """Whether a set matches line breaks even after `bound_to_lines`."""
    if items[0][0] is ops.NEGATE or (len(items) == 1 and items[0][0] is ops.CATEGORY):
        return False
    spaces = (ops.CATEGORY_SPACE, ops.CATEGORY_NOT_WORD, ops.CATEGORY_NOT_DIGIT)
    return any(
        (op is ops.LITERAL and arg == 10)
        or (op is ops.RANGE and arg[0] <= 10 <= arg[1])
        or (op is ops.CATEGORY and arg in spaces)
        for op, arg in items
    )
