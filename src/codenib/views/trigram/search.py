"""Candidate files and a pattern in, the matching lines out: the same for every source of candidates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from codenib.core.answers import LineMatch
from codenib.core.text.masking import mask_secrets
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
    limits: MatchLimits,
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
            before, masked = total, ""
            if (text := candidate.text()) is not None:
                for line in _matching_lines(pattern, text, deadline):
                    if limits.limit is None or len(items) < limits.limit:
                        spans = pattern.spans(text[line.start : line.end], deadline)
                        masked = masked or mask_secrets(text)  # of the same length, so places stay
                        items.append(_match(candidate.path, masked, line, spans, limits.context))
                    total += 1
                    files += total == before + 1
            deadline.left_s()
            done += 1
    except TimeoutError:
        complete = False
    reasons = ["no three bytes are common to all matches: every file was searched"] if scanned_all else []
    if not complete:
        reasons.append(f"stopped after {timeout_s:g} s with {done} of {len(candidates)} files searched")
    return Matches(
        items=tuple(items),
        total=total,
        files=files,
        candidates=len(candidates),
        scanned_all=scanned_all,
        complete=complete,
        reason="; ".join(reasons),
    )


class _Line(NamedTuple):
    """A line's 1-based number, and where it stands in its text."""

    number: int
    start: int
    end: int


def _matching_lines(pattern: Pattern, text: str, deadline: Deadline) -> Iterator[_Line]:
    number, counted = 1, 0
    for start, end in pattern.lines(text, deadline):
        number += text.count("\n", counted, start)
        counted = start
        yield _Line(number, start, end)


def _match(path: str, text: str, line: _Line, spans: tuple[Span, ...], context: int) -> LineMatch:
    column, end_column = spans[0]
    return LineMatch(
        path=path,
        line=line.number,
        column=column,
        end_column=end_column,
        text=text[line.start : line.end],
        spans=spans,
        before=_lines_before(text, line.start, context),
        after=_lines_after(text, line.end, context),
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
        newline = text.find("\n", end + 1)
        following = newline if newline >= 0 else len(text)
        lines.append(text[end + 1 : following])
        end = following
    return tuple(lines)
