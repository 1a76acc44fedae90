"""A search pattern in, a matcher out that finds the matching lines of a text.

Lines are ripgrep's: split at "\\n" alone, matched one by one without it, so that no match spans lines and `^`
and `$` are a line's ends. The dialect is that of the `regex` package (version 0), Unicode-aware. Known
differences from ripgrep: `\\s` also matches \\x1c to \\x1f; `\\w` and `\\d` follow Python's Unicode tables;
lookarounds and backreferences work here; `{e<=1}` is fuzzy matching; under -i `i` matches `İ` and `I` matches
`ı`; broken UTF-8 reads as U+FFFD, which `.` matches.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import regex  # type: ignore[import-untyped]

from codenib.core.errors import InputError
from codenib.views.trigram.literals import ANY, REPLACED, Need, need_of
from codenib.views.trigram.size import MOST_NODES, written_out
from codenib.views.trigram.syntax import Chars, Either, Node, Seq, bound_to_lines, parse, text_node
from codenib.views.trigram.widen import widen

_FLAGS = regex.VERSION0 | regex.MULTILINE
_HINT = "codenib regex --literal, or escape special characters with a backslash"

#: Compiling one of 240,000 characters takes 8 s, during which no other thread runs.
_LONGEST = 10_000
#: Looking for three words one by one takes 0.10 s where `regex` takes 0.35 s for their alternation (Django).
MAX_NEEDLES = 16

Span = tuple[int, int]


class Deadline:
    """A point in time; asking what is left after it raises `TimeoutError`."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def left_s(self) -> float:
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left


@dataclass(frozen=True, slots=True)
class Pattern:
    """A compiled pattern: its tree, `need` for the filter, and one of three ways to find matching lines.

    `needles` where the pattern is one of a few plain texts; else `scan`, which runs over a whole text and
    takes each line with a hit to its end; else each line is tried alone. `line` decides what matches in a
    line; where `exact`, a hit of `scan` is proof enough.
    """

    root: Node | None
    need: Need
    line: regex.Pattern[str]
    needles: tuple[str, ...] = ()
    scan: regex.Pattern[str] | None = None
    exact: bool = False

    @property
    def byte_needles(self) -> tuple[bytes, ...] | None:
        """Bytes of which each matching file has one; None where only decoded text can tell."""
        if not self.needles or any(REPLACED in needle for needle in self.needles):
            return None
        return tuple(needle.encode("utf-8", "surrogatepass") for needle in self.needles)

    def lines(self, text: str, deadline: Deadline) -> Iterator[Span]:
        """Start and end of each line of `text` that matches, in order; an end does not count the "\\n"."""
        if self.needles:
            yield from _needle_lines(self.needles, text)
            return
        lines = _all_lines(text) if self.scan is None else self._hit_lines(self.scan, text, deadline)
        for start, end in lines:
            if self.exact or self._matches(text[start:end], deadline):
                yield start, end

    def spans(self, line: str, deadline: Deadline) -> tuple[Span, ...]:
        """All matches in a line, as columns."""
        return tuple(
            match.span() for match in self.line.finditer(line, timeout=deadline.left_s(), concurrent=True)
        )

    def _hit_lines(self, scan: regex.Pattern[str], text: str, deadline: Deadline) -> Iterator[Span]:
        # One `finditer` a text, not one `search` a hit: setting a time-out up costs 1.8 us.
        line_end = -1
        # `concurrent`: other threads go on meanwhile, however long it takes.
        for match in scan.finditer(text, timeout=deadline.left_s(), concurrent=True):
            if match.start() <= line_end:  # an empty match where the last one ended
                continue
            if match.start() == len(text) and (not text or text.endswith("\n")):
                return
            start, line_end = _line_at(text, match.start())
            yield start, line_end

    def _matches(self, line: str, deadline: Deadline) -> bool:
        return self.line.search(line, timeout=deadline.left_s(), concurrent=True) is not None


def compile_pattern(pattern: str, *, ignore_case: bool = False, literal: bool = False) -> Pattern:
    """The matcher of `pattern`; `literal` takes it as plain text. Raises `InputError` for a bad pattern."""
    if len(pattern) > _LONGEST:
        what = f"a pattern of {len(pattern):,} characters is too long, {_LONGEST:,} are the most"
        raise InputError(what, hint="search for a line of it")
    if literal:
        return _compile_literal(pattern, ignore_case)
    flags = _FLAGS | (regex.IGNORECASE if ignore_case else 0)
    if written_out(pattern) > MOST_NODES:
        raise InputError(
            f"the pattern {pattern[:80]!r} is too large once its counts are written out", hint=_HINT
        )
    try:
        line = regex.compile(pattern, flags)
        syntax = parse(pattern, ignore_case=ignore_case)
        need = ANY if syntax is None else need_of(syntax.root)
    except regex.error as error:
        where = "" if error.pos is None else f" at position {error.pos}"
        raise InputError(f"bad pattern {pattern!r}: {error.msg}{where}", hint=_HINT) from error
    except (RecursionError, OverflowError) as error:
        raise InputError(f"bad pattern {pattern[:80]!r}: too large ({error})", hint=_HINT) from error
    if syntax is None:
        return Pattern(None, need, line)
    if syntax.line_break:
        raise _line_break(pattern)
    if all(needles := _plain_texts(syntax.root)) and len(needles) <= MAX_NEEDLES:
        return Pattern(syntax.root, need, line, needles)
    if syntax.whole_text:
        scan = _to_line_end(bound_to_lines(pattern), flags)
        return Pattern(syntax.root, need, line, scan=scan, exact=True)
    wide = widen(syntax.root, _escape)
    return Pattern(syntax.root, need, line, scan=_to_line_end(wide, _FLAGS) if wide else None)


def _to_line_end(pattern: str, flags: int) -> regex.Pattern[str]:
    return regex.compile(rf"(?:{pattern})[^\n]*", flags)


def _escape(char: str) -> str:
    return f"\\U{ord(char):08x}"


def _compile_literal(text: str, ignore_case: bool) -> Pattern:
    if "\n" in text:
        raise _line_break(text)
    flags = _FLAGS | (regex.IGNORECASE if ignore_case else 0)
    escaped = regex.escape(text, special_only=True)
    line = regex.compile(escaped, flags)
    root = text_node(text, ignore_case=ignore_case)
    if text and not ignore_case:
        return Pattern(root, need_of(root), line, (text,))
    return Pattern(root, need_of(root), line, scan=_to_line_end(escaped, flags), exact=True)


def _line_break(pattern: str) -> InputError:
    return InputError(
        f"the pattern {pattern!r} holds a line break, but lines are searched one by one",
        hint="search for a single line of it, with --context for the lines around",
    )


def _plain_texts(node: Node) -> tuple[str, ...]:
    """The texts that are all that a part matches; one empty text when there is no such list."""
    if isinstance(node, Either):
        return tuple(text for part in node.parts for text in _plain_texts(part))
    parts = node.parts if isinstance(node, Seq) else (node,)
    chars = [part for part in parts if isinstance(part, Chars)]
    if len(chars) < len(parts) or any(char.folded or len(char.members) != 1 for char in chars):
        return ("",)
    return ("".join(char.members for char in chars),)


def _needle_lines(needles: tuple[str, ...], text: str) -> Iterator[Span]:
    if len(needles) == 1:
        return _lines_with(needles[0], text)
    return iter(sorted({span for needle in needles for span in _lines_with(needle, text)}))


def _lines_with(needle: str, text: str) -> Iterator[Span]:
    found = text.find(needle)
    while found >= 0:
        start, end = _line_at(text, found)
        yield start, end
        found = text.find(needle, end + 1)


def _all_lines(text: str) -> Iterator[Span]:
    at = 0
    while at < len(text):
        start, end = _line_at(text, at)
        yield start, end
        at = end + 1


def _line_at(text: str, position: int) -> Span:
    start = text.rfind("\n", 0, position) + 1
    end = text.find("\n", position)
    return start, end if end >= 0 else len(text)
