"""Two snapshots in, the Delta between them out, with the renames that can be told."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain

from codenib.core.protocols import BlobReader
from codenib.core.source import Delta, SourceFile, SourceSnapshot

_MAX_PAIRS = 10_000  # of removed and added files; beyond it only equal files are paired
_MAX_BYTES = 1024 * 1024

_Pair = tuple[str, str]


def diff(base: SourceSnapshot, target: SourceSnapshot, blobs: BlobReader | None = None) -> Delta:
    """What turns `base` into `target`.

    A rename pairs a removed and an added file with equal bytes; with `blobs`, also those that share at least
    half of their lines. Each file is in one pair at most.
    """
    old, new = base.files, target.files
    added = sorted(new.keys() - old.keys())
    removed = sorted(old.keys() - new.keys())
    changed = sorted(path for path in new.keys() & old.keys() if new[path] != old[path])
    pairs = _exact({path: old[path] for path in removed}, {path: new[path] for path in added})
    if blobs is not None:
        taken = set(chain.from_iterable(pairs))
        left = {path: old[path] for path in removed if path not in taken}
        right = {path: new[path] for path in added if path not in taken}
        pairs += _similar(left, right, blobs)
    return Delta(
        base=base.id,
        target=target.id,
        added=tuple(SourceFile(path, new[path]) for path in added),
        changed=tuple(SourceFile(path, new[path]) for path in changed),
        removed=tuple(removed),
        renamed=tuple(sorted(pairs)),
        commit=target.commit,
    )


def _exact(removed: dict[str, str], added: dict[str, str]) -> list[_Pair]:
    """Pairs with equal digests: first those that keep their name, then the rest."""
    pairs: list[_Pair] = []
    for keep_name in (True, False):
        groups: dict[tuple[str, str], tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
        for side, files in enumerate((removed, added)):
            for path, digest in files.items():
                groups[digest, _name(path) if keep_name else ""][side].append(path)
        found = [pair for left, right in groups.values() if left and right for pair in _nearest(left, right)]
        for source, goal in found:
            del removed[source], added[goal]
        pairs += found
    return pairs


def _nearest(left: Sequence[str], right: Sequence[str]) -> list[_Pair]:
    """Pair as many as possible, nearest first; in path order where there are too many to compare."""
    if len(left) * len(right) > _MAX_PAIRS:
        return list(zip(left, right, strict=False))
    return _greedy((_distance(a, b), a, b) for a in left for b in right)


def _similar(removed: dict[str, str], added: dict[str, str], blobs: BlobReader) -> list[_Pair]:
    """Pairs that share at least half of the longer one's lines, most similar first."""
    if not removed or not added or len(removed) * len(added) > _MAX_PAIRS:
        return []
    left, right = _lines(removed, blobs), _lines(added, blobs)
    ranked: list[tuple[tuple[float, bool, int], str, str]] = []
    for a, (lines_a, count_a) in left.items():
        for b, (lines_b, count_b) in right.items():
            longer = max(count_a, count_b)
            if 2 * min(count_a, count_b) < longer:
                continue
            shared = sum(min(lines_a[line], lines_b[line]) for line in lines_a.keys() & lines_b.keys())
            if 2 * shared >= longer:
                ranked.append(((-shared / longer, _name(a) != _name(b), _distance(a, b)), a, b))
    return _greedy(ranked)


def _greedy(ranked: Iterable[tuple[object, str, str]]) -> list[_Pair]:
    """Take the lowest row whose two paths are still free, until none is left."""
    pairs: list[_Pair] = []
    sources: set[str] = set()
    goals: set[str] = set()
    for _, a, b in sorted(ranked):
        if a not in sources and b not in goals:
            pairs.append((a, b))
            sources.add(a)
            goals.add(b)
    return pairs


def _lines(files: dict[str, str], blobs: BlobReader) -> dict[str, tuple[Counter[bytes], int]]:
    """How often each line occurs in each file, and how many there are; long and empty files are left out."""
    paths = sorted(files)
    counted: dict[str, tuple[Counter[bytes], int]] = {}
    for path, data in zip(paths, blobs.read([files[path] for path in paths]), strict=True):
        if data and len(data) <= _MAX_BYTES:
            lines = data.splitlines()
            counted[path] = (Counter(lines), len(lines))
    return counted


def _distance(a: str, b: str) -> int:
    """How many folders and names lie between two paths."""
    left, right = a.split("/"), b.split("/")
    shared = 0
    for x, y in zip(left, right, strict=False):
        if x != y:
            break
        shared += 1
    return len(left) + len(right) - 2 * shared


def _name(path: str) -> str:
    return path.rpartition("/")[2]
