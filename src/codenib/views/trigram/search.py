"""Candidate files and a pattern in, the matching lines out: the same for every source of candidates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from codenib.core.answers import LineMatch
from codenib.core.calls.cancellation import check_cancelled
from codenib.core.text.masking import mask_private_keys, mask_tokens_of
from codenib.views.trigram.match import Matches
from codenib.views.trigram.matching.matcher import Deadline, MatchedLine
from codenib.views.trigram.matching.workers import WORKERS, PatternStopped
from codenib.views.trigram.pattern import Pattern

_BATCH = 500_000  # characters that a worker gets at once: a message costs 0.1 ms


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
    """Search the candidates, which are in path order; past the limit, only count.

    A cheap pattern is matched here; any other in a worker process, which is killed at the deadline.
    """
    tally = _Tally(limits)
    search = _search_here if pattern.cheap and pattern.matcher is not None else _search_beside
    stopped = search(pattern, candidates, tally, timeout_s)
    reasons = []
    if scanned_all:
        short = pattern.root is not None or pattern.matcher is not None
        why = (
            "no three bytes are common to all matches" if short else "the pattern is too long for the filter"
        )
        reasons.append(f"{why}: every file was searched")
    if stopped:
        what = f"after {timeout_s:g} s" if stopped == "time" else "for want of memory"
        reasons.append(f"stopped {what} with {tally.done} of {len(candidates)} files searched")
    return Matches(
        items=tally.items(),
        total=tally.total,
        files=tally.files,
        candidates=len(candidates),
        scanned_all=scanned_all,
        complete=not stopped,
        reason="; ".join(reasons),
        by_file=tally.by_file,
    )


class _FoundLine(NamedTuple):
    """A line that matches, and the text around it from an offset of its file on."""

    path: str
    number: int
    line: MatchedLine
    text: str
    first: int


class _Tally:
    """What was found so far."""

    def __init__(self, limits: MatchLimits) -> None:
        self._limits = limits
        self._found: list[_FoundLine] = []
        self.by_file: dict[str, int] = {}
        self.total = self.files = self.done = 0

    @property
    def wanted(self) -> int | None:
        """How many lines are still to be written out; None: all."""
        limit = self._limits.limit
        return None if limit is None else limit - len(self._found)

    def add(self, path: str, text: str, lines: Sequence[MatchedLine], count: int) -> None:
        """The first lines of a file that match, and how many do."""
        number, counted = 1, 0
        masked = mask_private_keys(text) if lines else text  # of the same length, so places stay
        for line in lines[: self.wanted]:
            number += text.count("\n", counted, line.start)
            counted = line.start
            first, last = _window(masked, line, self._limits.context)
            self._found.append(_FoundLine(path, number, line, masked[first:last], first))
        self.total += count
        self.files += count > 0
        if count:
            self.by_file[path] = count

    def items(self) -> tuple[LineMatch, ...]:
        """The lines that are written out, without secrets."""
        texts = mask_tokens_of([each.text for each in self._found])
        context = self._limits.context
        return tuple(_match(each, text, context) for each, text in zip(self._found, texts, strict=True))


def _search_here(
    pattern: Pattern, candidates: Sequence[CandidateFile], tally: _Tally, timeout_s: float
) -> str:
    """Match in this thread; what stopped it, if anything did."""
    assert pattern.matcher is not None
    deadline = Deadline(timeout_s)
    try:
        for candidate in candidates:
            check_cancelled()
            if (text := candidate.text()) is not None:
                tally.add(candidate.path, text, *pattern.matcher.matched(text, tally.wanted, deadline))
            deadline.left_s()
            tally.done += 1
    except TimeoutError:
        return "time"
    return ""


def _search_beside(
    pattern: Pattern, candidates: Sequence[CandidateFile], tally: _Tally, timeout_s: float
) -> str:
    """Match in a worker, some texts at a time; what stopped it, if anything did."""
    if not candidates and pattern.matcher is not None:  # one that is not compiled may be wrong
        return ""
    deadline = Deadline(timeout_s)
    try:
        with WORKERS.task(pattern.task, timeout_s) as worker:
            for batch in _batches(candidates):
                answers = worker.match([text for _, text in batch if text is not None], tally.wanted)
                for path, text in batch:
                    if text is not None:
                        tally.add(path, text, *next(answers))
                    tally.done += 1
                deadline.left_s()
    except PatternStopped as stopped:
        return stopped.want
    except TimeoutError:
        return "time"
    return ""


def _batches(candidates: Sequence[CandidateFile]) -> Iterator[list[tuple[str, str | None]]]:
    """Paths and texts, together about as large as is sent at once."""
    batch: list[tuple[str, str | None]] = []
    size = 0
    for candidate in candidates:
        check_cancelled()
        text = candidate.text()
        batch.append((candidate.path, text))
        size += len(text or "")
        if size > _BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _match(found: _FoundLine, shown: str, context: int) -> LineMatch:
    line = found.line
    column, end_column = line.spans[0]
    start, end = line.start - found.first, line.end - found.first
    return LineMatch(
        path=found.path,
        line=found.number,
        column=column,
        end_column=end_column,
        text=shown[start:end],
        spans=line.spans,
        before=_lines_before(shown, start, context),
        after=_lines_after(shown, end, context),
    )


def _window(text: str, line: MatchedLine, context: int) -> tuple[int, int]:
    """Where the lines around a line begin and end: one more before it, which may tell what is secret."""
    first, last = line.start, line.end
    for _ in range(context + 1):
        first = text.rfind("\n", 0, max(first - 1, 0)) + 1
    for _ in range(context):
        newline = text.find("\n", last + 1)
        last = newline if newline >= 0 else len(text)
    return first, last + 1  # with the break that ends the last line


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
