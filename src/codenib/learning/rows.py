"""A repository's history in, its fixes out: what each commit says, and the files and functions it changed.

The targets are named as they stood before the commit: source files that were there, and the outermost
functions whose lines a hunk touches. Tests, prose, generated and vendored code are no targets. The newest
commit comes first, and a fix knows nothing of a later one.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import msgspec

from codenib.core.history import Commit, FileChange, Hunk
from codenib.core.protocols import BlobReader, Progress
from codenib.core.source import Level, Mark
from codenib.serving.search.learned.memory import Fix
from codenib.units.extract import extract
from codenib.units.languages import language_hint
from codenib.units.marks import marks_of

MOST_BLOCKS = 10  # functions of a fix, the paper's
MOST_FILES = 10
LEAST_WORDS = 6  # a message with fewer is no question
MAX_BYTES = 400_000  # of a source file; longer ones are data
NOT_SOURCE = Mark.TEST | Mark.VENDORED | Mark.GENERATED | Mark.PROSE
_BATCH = 256  # fixes whose blobs are read at once
_TRAILER = re.compile(
    r"^(Signed-off-by|Co-authored-by|Reviewed-by|CommitChange-Id|Reviewed-on|PR-URL|Refs?|Fix(es)?|Closes?):.*$",
    re.M | re.I,
)
_GROUPS = {
    "python": "Python", "go": "Go", "rust": "Rust", "c": "C/C++", "cpp": "C/C++", "typescript": "TS/JS",
    "javascript": "TS/JS", "tsx": "TS/JS", "java": "Java", "ruby": "Ruby", "php": "PHP", "kotlin": "Kotlin",
    "scala": "Scala", "swift": "Swift", "lua": "Lua", "csharp": "C#",
}  # fmt: skip


def is_row(fix: Fix) -> bool:
    """Whether a fix asks enough, and of little enough, to be a question with an answer."""
    return len(fix.text.split()) >= LEAST_WORDS and 0 < len(fix.symbols) <= MOST_BLOCKS


class Rename(NamedTuple):
    """A file that got another name, in a commit older than the first `place` fixes."""

    place: int
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class MinedHistory:
    """Fixes, the newest first, with files called as each commit left them; and the renames among them."""

    fixes: tuple[Fix, ...]
    renames: tuple[Rename, ...]

    def named_at(self, place: int = -1) -> tuple[Fix, ...]:
        """The fixes from `place` on, with files called as after it; newer ones stay as they are."""
        waiting = deque(rename for rename in self.renames if rename.place > place)
        called: dict[str, str] = {}
        named = list(self.fixes[: max(place, 0)])
        for number, fix in enumerate(self.fixes[max(place, 0) :], max(place, 0)):
            while waiting and waiting[0].place <= number:
                rename = waiting.popleft()
                called[rename.old] = called.pop(rename.new, rename.new)
            paths = tuple(called.get(path, path) for path in fix.paths)
            symbols = tuple((called.get(path, path), symbol) for path, symbol in fix.symbols)
            named.append(msgspec.structs.replace(fix, paths=paths, symbols=symbols))
        return tuple(named)


def mine_history(commits: Iterable[Commit], blobs: BlobReader, most: int, progress: Progress) -> MinedHistory:
    """The newest `most` commits that changed a few source files which were there before."""
    renames: list[Rename] = []

    def wanted() -> Iterator[tuple[Commit, list[FileChange]]]:
        count = 0
        for commit in commits:
            if commit.parents > 1:
                continue
            changed = _source_changes(commit)
            count += bool(changed)
            moved = (each for each in commit.changes if each.old_path != each.path)
            renames.extend(Rename(count, each.old_path, each.path) for each in moved)
            if changed:
                yield commit, changed
                if count == most:
                    return

    found = wanted()
    fixes: list[Fix] = []
    while batch := list(islice(found, _BATCH)):
        progress("reading fixes", len(fixes), most)
        changes = [change for _, changed in batch for change in changed]
        sources = blobs.read([f"{change.old_blob:016x}" for change in changes])
        touched = iter([_touched(change, data) for change, data in zip(changes, sources, strict=True)])
        for commit, changed in batch:
            symbols = [(change.path, symbol) for change in changed for symbol in next(touched)]
            fixes.append(
                Fix(
                    commit=commit.id,
                    committed=commit.committed,
                    text=question(commit.message),
                    paths=tuple(sorted({change.path for change in changed})),
                    symbols=tuple(dict.fromkeys(symbols)),
                )
            )
    return MinedHistory(tuple(fixes), tuple(renames))


def question(message: str) -> str:
    """A commit's message as a question: without trailers, numbers of issues and links."""
    text = _TRAILER.sub("", message)
    text = re.sub(r"\(#\d+\)|https?://\S+", "", text)
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def group_of(path: str) -> str:
    """The language group of a source file, as rows name it; empty for anything else."""
    return _GROUPS.get(language_hint(path), "")


def is_source(path: str) -> bool:
    """Whether a fix may be sought in a file: source that is no test and nobody else's."""
    return bool(group_of(path)) and not marks_of(path) & NOT_SOURCE


def _source_changes(commit: Commit) -> list[FileChange]:
    """The changes of source files that were there; none of a sweep over many files."""
    changed = [change for change in commit.changes if change.hunks and is_source(change.path)]
    before = [change for change in changed if change.old_blob]
    return before if len(before) <= MOST_FILES else []


def _touched(change: FileChange, data: bytes | None) -> list[str]:
    """The qualified names of the outermost functions of the old text that a hunk touches."""
    if data is None or len(data) > MAX_BYTES:
        return []
    units = extract(data, language_hint(change.old_path))
    if units.skip:
        return []
    lines = [_old_lines(hunk) for hunk in change.hunks]
    names, last = [], 0
    for row in sorted(units.rows, key=lambda row: (row.start_line, -row.end_line)):
        if row.level is not Level.L2 or row.start_line <= last:
            continue
        last = row.end_line
        if any(row.start_line <= end and start <= row.end_line for start, end in lines):
            names.append(row.symbol)
    return names


def _old_lines(hunk: Hunk) -> tuple[int, int]:
    """The lines before that a hunk replaces; an insertion touches the line that it follows."""
    return hunk.old_start, hunk.old_start + max(hunk.old_count, 1) - 1
