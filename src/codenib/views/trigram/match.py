"""What a search over text answers: matching lines, and how complete the answer is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Match:
    """A matching line. Lines are 1-based, columns 0-based in code points of `text`, ends exclusive.

    `column` and `end_column` are those of the first match in the line; `spans` holds every match. Line texts
    are without their "\\n"; a "\\r" stays.
    """

    path: str
    line: int
    column: int
    end_column: int
    text: str
    spans: tuple[tuple[int, int], ...]
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Matches:
    """The answer to one search, in order of path and line.

    `total` and `files` count all matching lines and files, also those past the limit. `candidates` is how
    many files were to be verified against their text. `scanned_all`: the pattern allowed no filter, so these
    were all files. After a time-out `complete` is false and the counts are lower bounds. `reason` says either
    in words.
    """

    items: tuple[Match, ...]
    total: int
    files: int
    candidates: int
    scanned_all: bool
    complete: bool
    reason: str = ""
