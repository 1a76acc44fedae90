"""A git history in, localization rows out: a commit's message asks, the code before the commit answers.

The targets are the files and functions as they stood before the commit: a function counts when a hunk touches
its lines and its text changed, or when it was deleted. Where the question is older than the commit's parent,
the targets are found again at the question's own commit. Deterministic: same history, same rows.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from codenib.core.source import Level
from codenib.evals.data.clones import git
from codenib.evals.runs import Record
from codenib.learning.rows import (
    LEAST_WORDS,
    MOST_BLOCKS,
    MOST_FILES,
    group_of,
    is_source,
    question,
)
from codenib.units.extract import extract
from codenib.units.languages import language_hint

_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


class Rejected(Exception):
    """The commit makes no row; the message is the reason."""


@dataclass(frozen=True, slots=True)
class CommitChange:
    """One file of a commit, with the lines that it lost, in the numbers of the file before."""

    path: str
    status: str
    lines: tuple[tuple[int, int], ...]


@dataclass
class RowQuality:
    """How many commits were examined, how many rows they gave, and why the others gave none."""

    commits: int = 0
    rows: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    moved: int = 0  # targets that stand on other lines in the question's commit than in the fix's parent


def rows_of(clone: Path, repo: str, revision: str, wanted: int, quality: RowQuality) -> Iterator[Record]:
    """Rows from first-parent commits, newest first, until there are enough."""
    log = git(clone, "log", "--first-parent", "--no-merges", "--format=%H", revision).stdout.split()
    for commit in log:
        if quality.rows >= wanted:
            return
        quality.commits += 1
        try:
            row = row_of(clone, repo, commit, quality)
        except Rejected as reason:
            quality.rejected[str(reason)] += 1
            continue
        quality.rows += 1
        yield row


def row_of(
    clone: Path, repo: str, commit: str, quality: RowQuality, *, asked: str = "", base: str = ""
) -> Record:
    """The row of one commit; `Rejected` when it makes none.

    `asked` is an issue's text instead of the commit's message, `base` the commit that it was written at.
    """
    parent = git(clone, "rev-parse", "--verify", "-q", f"{commit}^", check=False).stdout.strip()
    if not parent:
        raise Rejected("no parent")
    query = asked or question(git(clone, "log", "-1", "--format=%B", commit).stdout)
    if len(query.split()) < LEAST_WORDS:
        raise Rejected("the message is too short")
    changes = [change for change in changes_of(clone, parent, commit) if is_source(change.path)]
    before = [change for change in changes if change.status != "A"]
    if len(before) < len(changes) and before:
        raise Rejected("a new file is needed")
    if not before:
        raise Rejected("no source file that was there before")
    if len(before) > MOST_FILES:
        raise Rejected(f"more than {MOST_FILES} files")
    groups = {group_of(change.path) for change in before}
    if len(groups) != 1:
        raise Rejected("files of several languages")
    blocks: list[Record] = []
    for change in before:
        found = blocks_of(clone, parent, commit, change)
        if base and base != parent:
            found = moved_to(clone, base, change.path, found, quality)
        blocks += found
    if not blocks:
        raise Rejected("no function that was there before")
    if len(blocks) > MOST_BLOCKS:
        raise Rejected(f"more than {MOST_BLOCKS} functions")
    return {
        "id": f"{repo.replace('/', '__')}-{commit[:10]}",
        "repo": repo,
        "language": groups.pop(),
        "base_commit": base or parent,
        "query": query,
        "gold_files": sorted({change.path for change in before}),
        "gold_blocks": blocks,
        "source": f"commit {commit}",
    }


def changes_of(clone: Path, parent: str, commit: str) -> list[CommitChange]:
    """The files of a commit with the old lines of each hunk; a pure insertion touches the line before it."""
    out = git(
        clone, "diff", "--no-renames", "--unified=0", "--no-color", "--no-ext-diff", "-a", parent, commit
    ).stdout
    found: list[CommitChange] = []
    for part in re.split(r"^diff --git ", out, flags=re.M)[1:]:
        head, _, _ = part.partition("\n@@")
        status = "A" if "\nnew file" in head else "D" if "\ndeleted file" in head else "M"
        name = re.search(r"^(?:---|\+\+\+) [ab]/(.+?)\t?$", part, re.M)
        if name is None:
            continue
        lines = []
        for row in part.split("\n"):
            hunk = _HUNK.match(row)
            if hunk:
                start, count = int(hunk[1]), int(hunk[2] or 1)
                lines.append((start, start + max(count, 1) - 1))
        found.append(CommitChange(name[1], status, tuple(lines)))
    return found


def blocks_of(clone: Path, parent: str, commit: str, change: CommitChange) -> list[Record]:
    """Outermost functions before the commit that a hunk touches and whose text changed, or that are gone."""
    old = _functions(clone, parent, change.path)
    new = _functions(clone, commit, change.path) if change.status == "M" else {}
    if new.keys() - old.keys():
        raise Rejected("a new function is needed")
    texts = Counter(digest for found in new.values() for *_, digest in found)
    blocks = []
    for symbol, found in old.items():
        for start, end, digest in found:
            touched = any(start <= last and first <= end for first, last in change.lines)
            gone = symbol not in new
            if (touched or gone) and not texts[digest]:
                blocks.append({"path": change.path, "start_line": start, "end_line": end, "symbol": symbol})
    return sorted(blocks, key=lambda block: (str(block["path"]), int(str(block["start_line"]))))


def moved_to(
    clone: Path, base: str, path: str, blocks: Sequence[Record], quality: RowQuality
) -> list[Record]:
    """The same functions where they stand at `base`; those that are not there yet are no targets."""
    there = _functions(clone, base, path)
    found = []
    for block in blocks:
        same = there.get(block["symbol"], [])
        if same:
            start, end, _ = min(same, key=lambda each: abs(each[0] - block["start_line"]))
            quality.moved += (start, end) != (block["start_line"], block["end_line"])
            found.append({**block, "start_line": start, "end_line": end})
    return found


Function = tuple[int, int, str]


def _functions(clone: Path, commit: str, path: str) -> dict[str, list[Function]]:
    """Lines and digest of the outermost callables of a file, by symbol."""
    done = git(clone, "cat-file", "blob", f"{commit}:{path}", check=False)
    if done.returncode != 0:
        raise Rejected("a source file is not in the clone")
    data = done.stdout.encode("utf-8", "surrogateescape")
    units = extract(data, language_hint(path))
    if units.skip:
        raise Rejected(f"a source file is not parsed: {units.skip}")
    lines = done.stdout.split("\n")
    found: dict[str, list[Function]] = {}
    last = 0
    for row in sorted(units.rows, key=lambda row: (row.start_line, -row.end_line)):
        if row.level is not Level.L2 or row.start_line <= last:
            continue
        last = row.end_line
        end = last_line(lines, row.start_line, row.end_line)
        text = "\n".join(lines[row.start_line - 1 : end])
        digest = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
        found.setdefault(row.symbol, []).append((row.start_line, end, digest))
    return found


def last_line(lines: Sequence[str], start: int, end: int) -> int:
    """The last line of a unit that says something: units also own the blank lines after them."""
    while end > start and not lines[end - 1].strip():
        end -= 1
    return end


def check_rows(rows: Sequence[Record], clone: Path) -> list[str]:
    """What is wrong with rows, a line each: the deterministic checks of the paper."""
    wrong = [
        f"{name}: the id occurs twice" for name, n in Counter(row["id"] for row in rows).items() if n > 1
    ]
    for row in rows:
        if not row["gold_files"] or not row["gold_blocks"]:
            wrong.append(f"{row['id']}: no targets")
        listed = git(clone, "ls-tree", "-r", "--name-only", "-z", row["base_commit"]).stdout.split("\0")
        missing = set(row["gold_files"]) - set(listed)
        wrong += [f"{row['id']}: {path} is not in the snapshot" for path in sorted(missing)]
        for block in row["gold_blocks"]:
            if group_of(block["path"]) != row["language"]:
                wrong.append(f"{row['id']}: {block['path']} is of another language")
            if block["path"] not in row["gold_files"]:
                wrong.append(f"{row['id']}: {block['path']} has a target but is none")
    return wrong
