"""Candidate files and a pattern in, the matching lines out: the same for every source of candidates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from codenib.core.answers import LineMatch
from codenib.views.trigram.match import Matches
from codenib.views.trigram.pattern import Deadline, Pattern, Span


@dataclass(frozen=True, slots=True)
class CandidateFile:
    """A file to verify. `text` gives its decoded text, or None where its bytes already rule a match out."""

    path: str
    text: Callable[[], str | None]


@dataclass(frozen=True, slots=True)
class MatchLimits:
    """How much of the answer is written out: at most `limit` lines, each with `context` lines around it."""

    limit: int | None
    context: int


def verify(
    pattern: Pattern,
    candidates: Sequence[CandidateFile],
    wanted: MatchLimits,
    *,
    timeout_s: float,
    scanned_all: bool,
) -> Matches:
    """Search the candidates, which are in path order; past the limit, only count."""
    deadline = Deadline(timeout_s)
    items: list[LineMatch] = []
    total = files = done = 0
    complete = True
    try:
        for candidate in candidates:
            before = total
            text = candidate.text()
            for position in () if text is None else _numbered(pattern, text, deadline):
                if wanted.limit is None or len(items) < wanted.limit:
                    items.append(
                        _match(pattern, candidate.path, text or "", position, wanted.context, deadline)
                    )
                total += 1
                files += total == before + 1
            deadline.left_s()
            done += 1
    except TimeoutError:
        complete = False
    reasons = ["no three bytes are common to all matches: every file was searched"] if scanned_all else []
    if not complete:
        reasons.append(f"stopped after {timeout_s:g} s with {done} of {len(candidates)} files searched")
    return Matches(tuple(items), total, files, len(candidates), scanned_all, complete, "; ".join(reasons))


def _numbered(pattern: Pattern, text: str, deadline: Deadline) -> Iterator[tuple[int, Span]]:
    """The matching lines with their 1-based numbers."""
    number, counted = 1, 0
    for start, end in pattern.lines(text, deadline):
        number += text.count("\n", counted, start)
        counted = start
        yield number, (start, end)


def _match(
    pattern: Pattern, path: str, text: str, position: tuple[int, Span], context: int, deadline: Deadline
) -> LineMatch:
    number, (start, end) = position
    line = text[start:end]
    spans = pattern.spans(line, deadline)
    return LineMatch(
        path,
        number,
        *spans[0],
        line,
        spans,
        _lines_before(text, start, context),
        _lines_after(text, end, context),
    )


def _lines_before(text: str, start: int, count: int) -> tuple[str, ...]:
    lines: list[str] = []
    while len(lines) < count and start > 0:
        previous = text.rfind("\n", 0, start - 1) + 1
        lines.append(text[previous : start - 1])
        start = previous
    return tuple(reversed(lines))


def _lines_after(text: str, end: int, count: int) -> tuple[str, ...]:
    lines: list[str] = []
    while len(lines) < count and end + 1 < len(text):
        found = text.find("\n", end + 1)
        following = found if found >= 0 else len(text)
        lines.append(text[end + 1 : following])
        end = following
    return tuple(lines)
