"""A pattern's tree in, the trigrams that every match must contain out.

The analysis is that of Google's code search (Cox, "Regular Expression Matching with a Trigram Index"): for
each part of a pattern, the exact strings that it matches where they are few, else the strings with which its
matches begin and end, and an expression of trigrams. It errs on one side alone: it never excludes a text that
matches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce

from codenib.views.trigram.derive import FOLDED, NEWLINE, fold
from codenib.views.trigram.syntax import AnyChar, Chars, Either, Node, Repeat, Seq

MAX_STRINGS = 16  # past this many alternatives, strings are cut down to what trigrams of a seam need
MAX_COPIES = 3  # `(ab){9}` is analysed as three copies and more
REPLACED = "\ufffd"  # stands for broken bytes in decoded text, so its own bytes need not be there


@dataclass(frozen=True, slots=True)
class Need:
    """All of `grams`, and for each group of `either` at least one of its members. Nothing needed: `ANY`."""

    grams: frozenset[int] = frozenset()
    either: tuple[tuple[Need, ...], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.grams or self.either)


ANY = Need()
_NOTHING_KNOWN = frozenset([b""])


def both(left: Need, right: Need) -> Need:
    """What meets the two needs."""
    extra = tuple(group for group in right.either if group not in left.either)
    return Need(left.grams | right.grams, left.either + extra)


def one_of(needs: Iterable[Need]) -> Need:
    """What meets at least one of the needs; what they share is needed anyway."""
    members = tuple(dict.fromkeys(needs))
    if not members or not all(members):
        return ANY
    if len(members) == 1:
        return members[0]
    shared = frozenset.intersection(*(member.grams for member in members))
    rest = tuple(Need(member.grams - shared, member.either) for member in members)
    return Need(shared, (rest,) if all(rest) else ())


def need_of(node: Node) -> Need:
    """What every text with a match of `node` must contain."""
    return _analyse(node).final()


def _grams(text: bytes) -> frozenset[int]:
    windows = (text[at : at + 3] for at in range(len(text) - 2))
    return frozenset(int.from_bytes(window, "big") for window in windows if NEWLINE not in window)


def _need_of_strings(strings: Iterable[bytes]) -> Need:
    return one_of(Need(_grams(string)) for string in strings)


@dataclass(frozen=True, slots=True)
class _Info:
    """What is known of the matches of a part: all of them, or how they begin and end; and what they need."""

    exact: frozenset[bytes] | None
    prefix: frozenset[bytes]
    suffix: frozenset[bytes]
    need: Need

    def final(self) -> Need:
        """The need, with what the strings add."""
        if self.exact is not None:
            return both(self.need, _need_of_strings(self.exact))
        return both(self.need, both(_need_of_strings(self.prefix), _need_of_strings(self.suffix)))


def _exact(strings: Iterable[bytes]) -> _Info:
    known = frozenset(strings)
    return _Info(known, known, known, ANY)


_EMPTY = _exact([b""])
_UNKNOWN = _Info(None, _NOTHING_KNOWN, _NOTHING_KNOWN, ANY)


def _analyse(node: Node) -> _Info:
    if isinstance(node, Chars):
        return _chars(node)
    if isinstance(node, AnyChar):
        return _UNKNOWN
    if isinstance(node, Seq):
        return _sequence(node.parts)
    if isinstance(node, Either):
        return _alternate([_analyse(part) for part in node.parts])
    return _repeat(node)


def _chars(node: Chars) -> _Info:
    strings = [_bytes_of(char, node.folded) for char in node.members]
    return _UNKNOWN if None in strings else _exact(string for string in strings if string is not None)


def _bytes_of(char: str, folded: bool) -> bytes | None:
    """The folded bytes that stand in a text wherever `char` matches; None when they are not certain."""
    if char == REPLACED or "\ud800" <= char <= "\udfff":
        return None
    if folded and not char.isascii() and char not in FOLDED:
        return None
    return fold(char.encode())


def _sequence(parts: Sequence[Node]) -> _Info:
    info = _EMPTY
    for part in parts:
        info = _concatenate(info, _analyse(part))
    return info


def _repeat(node: Repeat) -> _Info:
    if node.most == 0:
        return _EMPTY
    part = _analyse(node.part)
    if node.least == 0:
        optional = _alternate([part, _EMPTY])
        return optional if node.most == 1 else _UNKNOWN
    copies = min(node.least, MAX_COPIES)
    info = reduce(_concatenate, [part] * copies)
    return info if node.most == copies else _concatenate(info, _concatenate(_UNKNOWN, part))


def _concatenate(left: _Info, right: _Info) -> _Info:
    need = both(left.need, right.need)
    if left.exact is not None and right.exact is not None:
        strings = _product(left.exact, right.exact)
        return _bounded(_Info(strings, strings, strings, need))
    if left.exact is None and right.exact is None:  # else the seam is inside the prefix or the suffix
        need = both(need, _need_of_strings(_product(left.suffix, right.prefix)))
    prefix = left.prefix if left.exact is None else _product(left.exact, right.prefix)
    suffix = right.suffix if right.exact is None else _product(left.suffix, right.exact)
    return _bounded(_Info(None, prefix, suffix, need))


def _alternate(infos: Sequence[_Info]) -> _Info:
    prefix = frozenset[bytes]().union(*(info.prefix for info in infos))
    suffix = frozenset[bytes]().union(*(info.suffix for info in infos))
    if all(info.exact is not None for info in infos) and len(prefix) <= MAX_STRINGS:
        return _exact(prefix)
    return _bounded(_Info(None, prefix, suffix, one_of(info.final() for info in infos)))


def _bounded(info: _Info) -> _Info:
    """`info` with at most `MAX_STRINGS` strings a set; what shortening loses is kept as a need."""
    if info.exact is not None and len(info.exact) <= MAX_STRINGS:
        return info
    need = both(info.need, both(_need_of_strings(info.prefix), _need_of_strings(info.suffix)))
    prefix = _shorten(info.prefix, lambda string, length: string[:length])
    suffix = _shorten(info.suffix, lambda string, length: string[max(0, len(string) - length) :])
    return _Info(None, prefix, suffix, need)


def _shorten(strings: frozenset[bytes], cut: Callable[[bytes, int], bytes]) -> frozenset[bytes]:
    """Ends of two bytes are all that trigrams across a seam need; fewer bytes where they are too many."""
    for length in (2, 1):
        short = frozenset(cut(string, length) for string in strings)
        if len(short) <= MAX_STRINGS:
            return short
    return _NOTHING_KNOWN


def _product(left: frozenset[bytes], right: frozenset[bytes]) -> frozenset[bytes]:
    return frozenset(first + second for first in left for second in right)
