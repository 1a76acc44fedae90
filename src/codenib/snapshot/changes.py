"""What `git diff-tree` prints about commits in, `Commit` values out; trees in, how much differs out. Pure.

A record begins with two NUL bytes at the start of a line, which no line of a message or a patch does. After
its header come the raw rows, then a section for each, where only the headers of hunks begin with @.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from codenib.core.history import Commit, FileChange, Hunk

_LATEST = 253_370_764_800  # the year 9999
MAX_MESSAGE = 4000  # characters; one of Django's 20,000 newest messages is longer

_HUNK = re.compile(rb"\n@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_OLD_SIDE = re.compile(rb" -(\d+),")
_NEW_SIDE = re.compile(rb" \+(\d+),")
_NO_NEWLINE = b"\\ No newline"
_PLUS, _MINUS = b"+-"
_ESCAPE = re.compile(rb'\\([0-7]{3}|[abfnrtv"\\])')
_PLAIN = dict(zip(b'abfnrtv"\\', b'\a\b\f\n\r\t\v"\\', strict=True))
_SUBMODULE = b"160000"


def parse_commits(out: bytes, unknown: Collection[str] = ()) -> Iterator[Commit]:
    """The commits of an output; those in `unknown` get no changes."""
    for record in out.removeprefix(b"\0\0").split(b"\n\0\0") if out else ():
        commit, parents, author, authored, committed, message, rest = record.split(b"\0", 6)
        merge = parents.count(b" ") > 0
        rows, *sections = rest.split(b"\ndiff --")
        known = commit.decode() not in unknown
        parse = _merged if merge else _changed
        yield Commit(
            id=commit.decode(),
            parents=len(parents.split()),
            author=_text(author),
            authored=read_time(authored),
            committed=read_time(committed),
            message=_text(message).strip()[:MAX_MESSAGE],
            changes=tuple(parse([row for row in rows.split(b"\n") if row], sections)) if known else (),
        )


def read_time(raw: bytes | str) -> int:
    """Seconds since 1970 as git prints them, within the years that a calendar has: dates can be forged.

    >>> read_time(b"99999999999999999999") == read_time(str(_LATEST)), read_time("")
    (True, 0)
    """
    return min(max(int(raw or 0), 0), _LATEST)


def _changed(rows: list[bytes], sections: list[bytes]) -> Iterator[FileChange]:
    """The changes of a commit with one parent or none; a change of type prints two sections."""
    wanted = sum(2 if _status(row) == b"T" else 1 for row in rows)
    at = 0
    for row in rows:
        facts, *paths = row.split(b"\t")
        old_mode, new_mode, old, new, status = facts[1:].split(b" ")
        section = b"" if wanted != len(sections) or status == b"T" else sections[at]
        at += 2 if status == b"T" else 1
        path, old_path = _path(paths[-1]), _path(paths[0])
        if path and old_path and _SUBMODULE not in (old_mode, new_mode):
            yield FileChange(path, old_path, _blob(old), _blob(new), _hunks(section))


def _merged(rows: list[bytes], sections: list[bytes]) -> Iterator[FileChange]:
    """The files of a merge that equal none of its parents, a change for each parent."""
    by_path = {section.split(b"\n", 1)[0].split(b" ", 1)[1]: section for section in sections}
    for row in rows:
        facts, *paths = row.split(b"\t")
        count = len(facts) - len(facts.lstrip(b":"))
        fields = facts.lstrip(b":").split(b" ")
        blobs = fields[count + 1 : 2 * count + 2]
        if _SUBMODULE in fields[: count + 1]:
            continue
        hunks = _merged_hunks(by_path.get(paths[-1], b""), count)
        for parent in range(count):
            path, old_path = _path(paths[-1]), _path(paths[parent] if len(paths) > count else paths[-1])
            if path and old_path:
                yield FileChange(path, old_path, _blob(blobs[parent]), _blob(blobs[count]), hunks[parent])


def _hunks(section: bytes) -> tuple[Hunk, ...]:
    return tuple(
        Hunk(int(old), int(old_count) if old_count else 1, int(new), int(new_count) if new_count else 1)
        for old, old_count, new, new_count in _HUNK.findall(section)
    )


def _merged_hunks(section: bytes, count: int) -> list[tuple[Hunk, ...]]:
    """The hunks against each parent, from the lines: a column for each says what that parent has."""
    by_parent: list[list[Hunk]] = [[] for _ in range(count)]
    for text in re.split(rb"\n@@@", section)[1:]:
        head, *lines = text.split(b"\n")
        old = [int(start) for start in _OLD_SIDE.findall(head)[:count]]
        new = int(_NEW_SIDE.findall(head)[0])
        begun = [(start, new) for start in old]  # where the open hunk of each parent begins
        for line in lines:
            marks = line[:count]
            if marks == b"" or _NO_NEWLINE in line[: count + len(_NO_NEWLINE)]:
                continue
            lost = b"-" in marks
            for parent, mark in enumerate(marks):
                if lost:
                    old[parent] += mark == _MINUS
                elif mark != _PLUS:
                    _close(by_parent[parent], begun[parent], old[parent], new)
                    old[parent] += 1
                    begun[parent] = (old[parent], new + 1)
            new += not lost
        for parent in range(count):
            _close(by_parent[parent], begun[parent], old[parent], new)
    return [tuple(hunks) for hunks in by_parent]


def _close(hunks: list[Hunk], begun: tuple[int, int], old: int, new: int) -> None:
    """End a hunk before these lines, when it holds any; an empty side is named by the line before it."""
    old_count, new_count = old - begun[0], new - begun[1]
    if old_count or new_count:
        hunks.append(Hunk(begun[0] - (not old_count), old_count, begun[1] - (not new_count), new_count))


def _status(row: bytes) -> bytes:
    return row.split(b"\t", 1)[0].rsplit(b" ", 1)[1]


def _blob(digest: bytes) -> int:
    return int(digest[:16], 16)


def _path(raw: bytes) -> str:
    """A path as git prints it, quoted where it holds odd characters; empty when it is not UTF-8."""
    if raw.startswith(b'"'):
        raw = _ESCAPE.sub(_unescaped, raw[1:-1])
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return ""


def _unescaped(match: re.Match[bytes]) -> bytes:
    code = match[1]
    return bytes([int(code, 8) if len(code) == 3 else _PLAIN[code[0]]])


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


#: Two trees by their ids, the older first; empty where there is none.
TreePair = tuple[str, str]
_MOST_PAIRS = 100_000
_MOST_COUNTED = 1 << 40


def count_changes(
    pairs: Sequence[TreePair], read: Callable[[Sequence[str]], Iterable[bytes]]
) -> dict[TreePair, int]:
    """How many files differ between each two trees, at most `_MOST_COUNTED`; equal pairs are compared once.

    A tree of a few kilobytes can name 10^10 files through parts that it shares, so none is listed. Where
    that takes more comparisons than `_MOST_PAIRS`, what is left counts as the most.
    """
    files: dict[TreePair, int] = {}  # that differ in the folder itself
    below: dict[TreePair, list[TreePair]] = {}
    left = list(dict.fromkeys(pairs))
    while left and len(files) < _MOST_PAIRS:
        wanted = sorted({each for pair in left for each in pair if each})
        trees = {
            "": {},
            **{each: _entries(data, len(each) // 2) for each, data in zip(wanted, read(wanted), strict=True)},
        }
        further: dict[TreePair, None] = {}
        for pair in left:
            old, new = trees[pair[0]], trees[pair[1]]
            names = [name for name in old.keys() | new.keys() if old.get(name) != new.get(name)]
            sides = [(old.get(name, _NO_ENTRY), new.get(name, _NO_ENTRY)) for name in names]
            files[pair] = sum(1 for a, b in sides if (a[1] and not a[0]) or (b[1] and not b[0]))
            below[pair] = [(a[1] if a[0] else "", b[1] if b[0] else "") for a, b in sides if a[0] or b[0]]
            further.update(dict.fromkeys(below[pair]))
        left = [pair for pair in further if pair not in files]
    sums = _summed(pairs, files, below)
    return {pair: sums[pair] for pair in pairs}


_NO_ENTRY = (False, "")


def _entries(data: bytes, width: int) -> dict[bytes, tuple[bool, str]]:
    """The names of a tree: whether each is a folder, and its object."""
    found: dict[bytes, tuple[bool, str]] = {}
    at = 0
    while (end := data.find(b"\0", at)) >= 0:
        mode, _, name = data[at:end].partition(b" ")
        found[name] = (mode.lstrip(b"0") == b"40000", data[end + 1 : end + 1 + width].hex())
        at = end + 1 + width
    return found


def _summed(
    pairs: Iterable[TreePair], files: Mapping[TreePair, int], below: Mapping[TreePair, Sequence[TreePair]]
) -> dict[TreePair, int]:
    """All files below each pair, whatever the depth."""
    sums: dict[TreePair, int] = {}
    stack = list(pairs)
    while stack:
        pair = stack[-1]
        if pair in sums:
            stack.pop()
        elif pair not in files:
            sums[pair] = _MOST_COUNTED
        elif waiting := [each for each in below[pair] if each not in sums]:
            stack += waiting
        else:
            sums[pair] = min(files[pair] + sum(sums[each] for each in below[pair]), _MOST_COUNTED)
    return sums
