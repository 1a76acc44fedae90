"""Candidate files and a pattern in, the matching lines out: the same for every source of candidates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from codenib.core.answers import LineMatch
from codenib.core.calls.cancellation import check_cancelled
from codenib.core.text.masking import mask_private_keys, mask_tokens
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
        items=tuple(tally.items),
        total=tally.total,
        files=tally.files,
        candidates=len(candidates),
        scanned_all=scanned_all,
        complete=not stopped,
        reason="; ".join(reasons),
        by_file=tally.by_file,
    )


class _Tally:
    """What was found so far."""

    def __init__(self, limits: MatchLimits) -> None:
        self._limits = limits
        self.items: list[LineMatch] = []
        self.by_file: dict[str, int] = {}
        self.total = self.files = self.done = 0

    @property
    def wanted(self) -> int | None:
        """How many lines are still to be written out; None: all."""
        limit = self._limits.limit
        return None if limit is None else limit - len(self.items)

    def add(self, path: str, text: str, lines: Sequence[MatchedLine], count: int) -> None:
        """The first lines of a file that match, and how many do."""
        number, counted = 1, 0
        masked = mask_private_keys(text) if lines else text  # of the same length, so places stay
        for line in lines[: self.wanted]:
            number += text.count("\n", counted, line.start)
            counted = line.start
            self.items.append(_match(path, masked, number, line, self._limits.context))
        self.total += count
        self.files += count > 0
        if count:
            self.by_file[path] = count


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


def _match(path: str, text: str, number: int, line: MatchedLine, context: int) -> LineMatch:
    column, end_column = line.spans[0]
    first, last = _window(text, line, context)
    shown = mask_tokens(text[first:last])
    start, end = line.start - first, line.end - first
    return LineMatch(
        path=path,
        line=number,
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
