"""What git prints about trees, the index and the worktree, as values. Pure."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from codenib.core.text.printable import is_printable

SYMLINK = "symbolic link"
SUBMODULE = "submodule"
NOT_UTF8 = "path not UTF-8"
NOT_CHECKED_OUT = "not checked out"
UNSAFE_PATH = "path leads outside"
SHADOWED = "below a file of the same name"
UNPRINTABLE = "path with control characters"

_SPECIAL = {"120": SYMLINK, "160": SUBMODULE}


@dataclass(slots=True)
class Listing:
    """Files and what stands beside them: each path is in `files` or, with the reason, in `skipped`."""

    files: dict[str, str] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)

    def drop(self, path: str) -> None:
        self.files.pop(path, None)
        self.skipped.pop(path, None)

    def put(self, path: str, digest: str) -> None:
        self.drop(path)
        self.files[path] = digest

    def skip(self, path: str, reason: str) -> None:
        self.drop(path)
        self.skipped[path] = reason

    def counts(self) -> dict[str, int]:
        """How many paths each reason took, by reason."""
        return dict(sorted(Counter(self.skipped.values()).items()))


@dataclass(slots=True)
class WorktreeStatus:
    """How a worktree differs from its index and its HEAD commit.

    `head` has every path that may differ from HEAD, with its file digest there, or None. `changed` are paths
    to read from disk, each with the digests that git holds for it. `deleted` are gone from disk, `nested` are
    untracked repositories, `unfit` are paths that no snapshot can hold, each with the reason.
    """

    commit: str | None = None
    head: dict[str, str | None] = field(default_factory=dict)
    changed: dict[str, frozenset[str]] = field(default_factory=dict)
    deleted: set[str] = field(default_factory=set)
    nested: set[str] = field(default_factory=set)
    unfit: dict[str, str] = field(default_factory=dict)


# Folders and a file that do not begin with a dot or hold a tilde, of letters that print anywhere.
_ORDINARY = re.compile(r"(?:[A-Za-z0-9_+@-][A-Za-z0-9_+@.-]*/)*[A-Za-z0-9_+@-][A-Za-z0-9_+@.-]*")


def is_plain(path: str) -> bool:
    """Whether a name of a tree is a path below it, wherever it is written.

    Git checks this when it checks out, not when it lists: a tree may have an entry `..`, one with a slash at
    its start, or a `.git`, whose configuration would run programs.

    >>> is_plain("a/b.py"), is_plain("../b"), is_plain("/etc/x"), is_plain("a/.GIT/config"), is_plain("a//b")
    (True, False, False, False, False)
    """
    parts = path.split("/")
    return not any(part in ("", ".", "..") or part.lower() in (".git", "git~1") for part in parts) and (
        "\\" not in path or os.name != "nt"
    )


def parse_tree(out: bytes) -> Listing:
    """`git ls-tree -r -z`: mode, type, digest, tab, path."""
    listing = Listing()
    for record, good in _records(out):
        facts, _, path = record.partition("\t")
        mode, _, digest = facts.split(" ")
        _enter(listing, mode, digest, path, good)
    _drop_shadowed(listing)
    return listing


def _drop_shadowed(listing: Listing) -> None:
    """A broken tree may have a file and a folder of one name; no folder on disk holds both."""
    shadowed = [
        path for path in listing.files if any(above in listing.files for above in _folders_above(path))
    ]
    for path in shadowed:
        listing.skip(path, SHADOWED)


def _folders_above(path: str) -> Iterator[str]:
    end = path.rfind("/")
    while end > 0:
        yield path[:end]
        end = path.rfind("/", 0, end)


def parse_index(out: bytes) -> tuple[Listing, dict[str, str]]:
    """`git ls-files -s -v -z`: tag, mode, digest, stage, tab, path.

    The second part has the files, by digest, that `git status` does not look at because the user said that
    they are unchanged (lower-case tag) or not checked out (S).
    """
    listing = Listing()
    unwatched: dict[str, str] = {}
    for record, good in _records(out):
        facts, _, path = record.partition("\t")
        tag, mode, digest, stage = facts.split(" ")
        if stage != "0":
            continue  # a conflict: status names the path
        if tag != "H" and good and mode[:3] not in _SPECIAL:
            unwatched[path] = digest
        if tag in "Ss":
            listing.skipped[path] = NOT_CHECKED_OUT
        else:
            _enter(listing, mode, digest, path, good)
    return listing, unwatched


def parse_status(out: bytes) -> WorktreeStatus:
    """`git status --porcelain=v2 -z --branch --no-renames`."""
    status = WorktreeStatus()
    for record, good in _records(out):
        kind = record[0]
        if kind == "1":
            _, states, _, mode, _, _, head, digest, path = record.split(" ", 8)
            _enter_change(status, _Change(path, states[1], mode, head, (digest, head)), good)
        elif kind == "u":
            _, _, _, _, mode, _, _, base, ours, theirs, path = record.split(" ", 10)
            _enter_change(status, _Change(path, "U", mode, ours, (base, ours, theirs)), good)
        elif kind == "?" and record.endswith("/"):
            status.nested.add(record[2:])
        elif kind == "?":
            _enter_change(status, _Change(record[2:], "?"), good)
        elif record.startswith("# branch.oid ") and record[13] != "(":
            status.commit = record[13:]
    return status


@dataclass(frozen=True, slots=True)
class _Change:
    """A path whose worktree `state` differs from the index, or whose index entry differs from HEAD.

    `stored` are the digests that git has of it.
    """

    path: str
    state: str
    mode: str = ""
    head: str = ""
    stored: tuple[str, ...] = ()


def _enter_change(status: WorktreeStatus, change: _Change, good: bool) -> None:
    if change.state == "D":
        status.deleted.add(change.path)
    elif reason := _unfit(change.path, good):
        status.unfit[change.path] = reason
        return
    elif change.state != ".":
        status.changed[change.path] = frozenset(change.stored)
    # A file removed from the index alone comes twice: as gone from HEAD and as untracked.
    status.head.setdefault(change.path, change.head if change.mode[:3] == "100" else None)


def parse_paths(out: bytes) -> Listing:
    """`git ls-files --others -z`: files whose digest is not known yet, so it is empty."""
    listing = Listing()
    for path, good in _records(out):
        if path.endswith("/"):
            listing.skipped[path] = SUBMODULE
        else:
            _enter(listing, "100644", "", path, good)
    return listing


def _enter(listing: Listing, mode: str, digest: str, path: str, good: bool) -> None:
    reason = _SPECIAL.get(mode[:3]) or _unfit(path, good)
    if reason:
        listing.skipped[path] = reason
    else:
        listing.files[path] = digest


def _unfit(path: str, good: bool) -> str:
    """Why no snapshot holds a path; empty when one can."""
    if _ORDINARY.fullmatch(path):  # nearly all, at a tenth of the cost of looking closely
        return ""
    if not good:
        return NOT_UTF8
    if not is_plain(path):
        return UNSAFE_PATH
    return "" if is_printable(path) else UNPRINTABLE


def _records(out: bytes) -> Iterator[tuple[str, bool]]:
    """Each record that ends with NUL, and whether it is valid UTF-8 (else its odd bytes are surrogates)."""
    try:
        for record in out.decode().split("\0"):
            if record:
                yield record, True
        return
    except UnicodeDecodeError:
        pass
    for raw in out.split(b"\0"):
        if raw:
            record = raw.decode("utf-8", "surrogateescape")
            yield record, record.isascii() or not any("\udc80" <= c <= "\udcff" for c in record)
