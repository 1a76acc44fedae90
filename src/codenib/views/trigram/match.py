"""What a search over text answers: matching lines, and how complete the answer is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from codenib.core.answers import LineMatch


@dataclass(frozen=True, slots=True)
class Matches:
    """The answer to one search, in order of path and line.

    `total` and `files` count all matching lines and files, also those past the limit. `candidates` is how
    many files were to be verified against their text. `scanned_all`: the pattern allowed no filter, so these
    were all files. After a time-out `complete` is false and the counts are lower bounds. `reason` says either
    in words.
    """

    items: tuple[LineMatch, ...]
    total: int
    files: int
    candidates: int
    scanned_all: bool
    complete: bool
    reason: str = ""
    by_file: Mapping[str, int] = field(default_factory=dict)  # matching lines of each file that has some
