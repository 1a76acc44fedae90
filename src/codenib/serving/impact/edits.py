"""Two snapshots, or a unified diff, in; which lines of which files are edited out.

A diff may be applied to the files or not yet: each hunk is compared with them, and the side that fits is
taken. One that fits neither way is said to be so, and its whole file counts as edited.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from codenib.core.errors import InputError
from codenib.core.history import Hunk
from codenib.serving.snapshots.reader import split_lines
from codenib.views.history.lines import hunks_between

if TYPE_CHECKING:
    from codenib.serving.snapshots.pinned import PinnedSnapshot

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_ESCAPE = re.compile(r"\\([0-7]{3}|.)")
_LETTERS = {"n": "\n", "t": "\t", '"': '"', "\\": "\\"}


@dataclass(frozen=True, slots=True)
class EditedFile:
    """A file with what is edited in it: `hunks` by the lines of the snapshot, as (first line, count).

    A count of 0 stands after its line: lines were removed there, or will be put in. `before` are its lines
    before the edit, where the snapshot has those after it. `absent` files are not in the snapshot.
    """

    path: str
    hunks: tuple[tuple[int, int], ...] = ()
    before: tuple[str, ...] | None = None
    whole: bool = False
    absent: bool = False
    note: str = ""

    def touches(self, first: int, last: int) -> bool:
        """Whether lines `first` to `last` are edited; a removal counts inside them, not beside them."""
        return self.whole or any(
            first <= start + count - 1 and start <= last if count else first <= start < last
            for start, count in self.hunks
        )


def edits_between(before: PinnedSnapshot, now: PinnedSnapshot, most: int) -> tuple[list[EditedFile], int]:
    """What became different between two snapshots of one repository, and how many files beyond `most` did."""
    paths = sorted(before.files.keys() | now.files.keys())
    different = [path for path in paths if before.files.get(path) != now.files.get(path)]
    edited = [path for path in different[:most] if path in now.files]
    gone = [path for path in different[:most] if path not in now.files]
    old_paths = [path for path in edited if path in before.files] + gone
    old = {path: split_lines(text) for path, text in zip(old_paths, before.texts(old_paths), strict=True)}
    new = {path: split_lines(text) for path, text in zip(edited, now.texts(edited), strict=True)}
    found = [EditedFile(path, before=tuple(old[path]), absent=True) for path in gone]
    for path in edited:
        if path in old:
            hunks = tuple((row[2], row[3]) for row in hunks_between(old[path], new[path]).tolist())
            found.append(EditedFile(path, hunks, tuple(old[path])))
        else:
            found.append(EditedFile(path, whole=True, before=()))
    return sorted(found, key=lambda each: each.path), max(len(different) - most, 0)


def edits_of_diff(diff: str, now: PinnedSnapshot) -> list[EditedFile]:
    """What a unified diff edits of a snapshot."""
    files = list(_parse(diff))
    if not files:
        raise InputError(
            "the diff has no hunk: is it a unified diff?", hint="git diff | codenib impact --diff -"
        )
    return [_edited(file, now) for file in files]


@dataclass(frozen=True, slots=True)
class _DiffHunk:
    """A hunk of a diff: what it says, and the lines of both sides."""

    place: Hunk
    old: tuple[str, ...]
    new: tuple[str, ...]
    kinds: str  # " ", "-" and "+", line by line


@dataclass(slots=True)
class _DiffFile:
    old_path: str
    new_path: str
    hunks: list[_DiffHunk] = field(default_factory=list)


def _parse(diff: str) -> Iterator[_DiffFile]:
    """The files of a diff. Bodies go by their counts, so that no line of one is taken for a header."""
    lines = diff.split("\n")
    at, file = 0, None
    while at < len(lines):
        line = lines[at]
        header = _HUNK.match(line)
        if line.startswith("--- ") and lines[at + 1 : at + 2] and lines[at + 1].startswith("+++ "):
            if file is not None and file.hunks:
                yield file
            file = _DiffFile(_path(line[4:]), _path(lines[at + 1][4:]))
            at += 2
        elif header is not None and file is not None:
            hunk, at = _body(header, lines, at + 1)
            file.hunks.append(hunk)
        else:
            at += 1
    if file is not None and file.hunks:
        yield file


def _body(header: re.Match[str], lines: Sequence[str], at: int) -> tuple[_DiffHunk, int]:
    old_start, old_count, new_start, new_count = (
        int(part) if part is not None else 1 for part in header.groups()
    )
    old: list[str] = []
    new: list[str] = []
    kinds = ""
    while at < len(lines) and (len(old) < old_count or len(new) < new_count):
        kind, text = lines[at][:1] or " ", lines[at][1:].removesuffix("\r")
        at += 1
        if kind == "\\":  # no newline at the end of the file
            continue
        if kind not in " +-":
            break
        kinds += kind
        if kind != "+":
            old.append(text)
        if kind != "-":
            new.append(text)
    place = Hunk(old_start, old_count, new_start, new_count)
    return _DiffHunk(place, tuple(old), tuple(new), kinds), at


def _path(written: str) -> str:
    """The path of a header, without git's `a/` or `b/` and without a time; empty for no file.

    >>> _path("a/src/x.py"), _path("src/x.py\\t2026-01-01"), _path('"b/\\\\303\\\\244.py"')
    ('src/x.py', 'src/x.py', 'ä.py')
    """
    path = written.partition("\t")[0].rstrip("\r")
    if path.startswith('"') and path.endswith('"'):
        data = _ESCAPE.sub(lambda found: _LETTERS.get(found[1]) or chr(int(found[1], 8)), path[1:-1])
        path = data.encode("latin-1", "replace").decode("utf-8", "replace")
    if path == "/dev/null":
        return ""
    return path[2:] if path[:2] in ("a/", "b/") else path


def _edited(file: _DiffFile, now: PinnedSnapshot) -> EditedFile:
    path = file.new_path if file.new_path in now.files else file.old_path
    if path not in now.files:
        if not file.new_path:  # removed, and gone
            return EditedFile(file.old_path, before=file.hunks[0].old, absent=True)
        return EditedFile(file.new_path, absent=True, note=f"{file.new_path} is not in the repository yet")
    if not file.new_path:
        return EditedFile(path, whole=True)
    if not file.old_path:
        return EditedFile(path, whole=True, before=())
    lines = split_lines(now.text(path))
    if all(_fits(lines, each.place.new_start, each.new) for each in file.hunks):
        hunks = tuple(part for each in file.hunks for part in _sides(each, "+"))
        return EditedFile(path, hunks, tuple(_reversed(lines, file.hunks)))
    if all(_fits(lines, each.place.old_start, each.old) for each in file.hunks):
        return EditedFile(path, tuple(part for each in file.hunks for part in _sides(each, "-")))
    note = f"the diff fits {path} neither before nor after it: all of the file is taken as changed"
    return EditedFile(path, whole=True, note=note)


def _fits(lines: Sequence[str], start: int, side: Sequence[str]) -> bool:
    first = max(start - 1, 0)
    there = [line.removesuffix("\r") for line in lines[first : first + len(side)]]
    return not side or there == list(side)


def _sides(hunk: _DiffHunk, mine: str) -> Iterator[tuple[int, int]]:
    """The edited lines of one side of a hunk, run by run, without those around them."""
    start, count = (hunk.place.new_start, hunk.place.new_count) if mine == "+" else hunk.place[:2]
    line = start if count else start + 1
    run: list[int] = []
    edited = False
    for kind in f"{hunk.kinds} ":
        if kind == " ":
            if edited:
                yield (run[0], len(run)) if run else (line - 1, 0)
            run, edited = [], False
            line += 1
            continue
        edited = True
        if kind == mine:
            run.append(line)
            line += 1


def _reversed(lines: Sequence[str], hunks: Sequence[_DiffHunk]) -> list[str]:
    """The lines before an applied diff."""
    before = list(lines)
    for hunk in sorted(hunks, key=lambda each: each.place.new_start, reverse=True):
        first = hunk.place.new_start - (hunk.place.new_count > 0)
        before[first : first + hunk.place.new_count] = hunk.old
    return before
