"""A snapshot's views in, the repository at a glance out: files by size, change and use, and which uses which.

Uses are those of the graph. Where that is of an earlier snapshot, the answer says so; without one they are
not known, and no number stands for that.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from codenib.core.context import FileOverview, FolderRest, Module, ModuleAnswer, ModuleUse, Overview
from codenib.core.requests import ModulesRequest, OverviewRequest
from codenib.core.source import Mark
from codenib.core.views import ViewKind
from codenib.serving.context.rings import rings_of
from codenib.serving.search.evidence import mark_names

if TYPE_CHECKING:
    from codenib.serving.snapshots.pinned import PinnedSnapshot
    from codenib.serving.snapshots.pool import Snapshots

_NO_GRAPH = "uses are not known: no graph; codenib index --views graph"
_MODULES = 8  # that a drawing has at least, where nobody says which folders are open
_DEEPEST = 12  # folders that are opened for that

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class FileUses:
    """Which files use which, by number; and who resolved them."""

    paths: Sequence[str]
    source: Array
    to: Array
    often: Array
    backends: Mapping[str, str]
    resolved: frozenset[str]  # files of a group that an engine resolved


@dataclass(frozen=True, slots=True)
class MeasuredFile:
    """A file of the lexical view."""

    language: str
    marks: Mark
    lines: int


def overview(snapshots: Snapshots, request: OverviewRequest) -> Overview:
    """The longest files below a folder, with what the views know of each."""
    started = time.perf_counter()
    pinned, refreshed = snapshots.pin(ViewKind.LEXICAL, request.snapshot, (ViewKind.HISTORY,))
    uses, note = _uses(snapshots, pinned)
    start = _start(request.folder)
    below = {path: file for path, file in pinned.derived(_files).items() if path.startswith(start)}
    order = sorted(below, key=lambda path: (-below[path].lines, path))
    listed = order[: request.k] if request.k else order
    last = pinned.derived(_last_changes) if pinned.has_fresh(ViewKind.HISTORY) else None
    used, using = _counts(uses) if uses is not None else ({}, {})
    items = tuple(
        FileOverview(
            path=path,
            lines=below[path].lines,
            language=below[path].language,
            marks=mark_names(below[path].marks),
            commits=last[path][0] if last is not None and path in last else None,
            last_change=last[path][1] if last is not None and path in last else None,
            used=used.get(path, 0) if uses is not None and path in uses.resolved else None,
            uses=using.get(path, 0) if uses is not None and path in uses.resolved else None,
        )
        for path in listed
    )
    return Overview(
        items=items,
        snapshot=pinned.ref,
        folder=start,
        total=len(below),
        truncated=len(items) < len(below),
        lines=sum(file.lines for file in below.values()),
        rest=_rest(order[len(listed) :], below, start),
        unmeasured=sum(path.startswith(start) for path in pinned.files) - len(below),
        seconds=time.perf_counter() - started,
        refreshed=refreshed,
        note=note,
    )


def modules(snapshots: Snapshots, request: ModulesRequest) -> ModuleAnswer:
    """Folders and files with their uses of each other; rings of them are numbered."""
    started = time.perf_counter()
    pinned, refreshed = snapshots.pin(ViewKind.LEXICAL, request.snapshot)
    uses, note = _uses(snapshots, pinned)
    included = _included(pinned.derived(_files), request, uses)
    start = _start(request.folder)
    opened = _opened(included, start) if request.opened is None else frozenset(request.opened)
    module_of = {path: _module(path, start, opened) for path in included}
    pairs = _pairs(uses, module_of) if uses is not None else {}
    every, rings = _modules(module_of, included, pairs)
    ranked = sorted(every, key=lambda module: (-(module.used + module.uses), -module.lines, module.path))
    items = tuple(ranked[: request.k])
    drawn = {module.path for module in items}
    edges = [
        ModuleUse(source, to, often, (to, source) in pairs)
        for (source, to), often in sorted(pairs.items(), key=lambda pair: (-pair[1], pair[0]))
        if source in drawn and to in drawn
    ]
    return ModuleAnswer(
        items=items,
        uses=tuple(edges[: request.uses]),
        opened=tuple(sorted(opened)),
        snapshot=pinned.ref,
        total=len(every),
        total_uses=len(pairs),
        cycles=rings,
        backends=uses.backends if uses is not None else {},
        seconds=time.perf_counter() - started,
        refreshed=refreshed,
        note=note,
    )


def _included(
    files: Mapping[str, MeasuredFile], request: ModulesRequest, uses: FileUses | None
) -> dict[str, int]:
    """The files below the folder whose uses are known, and their lines; all of them where none are."""
    left_out = Mark.TEST | Mark.EXAMPLE | Mark.VENDORED if request.tests == "exclude" else Mark(0)
    start = _start(request.folder)
    return {
        path: file.lines
        for path, file in files.items()
        if path.startswith(start) and not file.marks & left_out and (uses is None or path in uses.resolved)
    }


def _start(folder: str) -> str:
    name = folder.strip("/")
    return "" if name in ("", ".") else f"{name}/"


def _files(pinned: PinnedSnapshot) -> dict[str, MeasuredFile]:
    return {
        path: MeasuredFile(language, marks, lines) for path, language, marks, lines in pinned.lexical.files()
    }


def _last_changes(pinned: PinnedSnapshot) -> dict[str, tuple[int, int]]:
    """Of each file that the history has: how many commits changed it, and when the last one did."""
    view = pinned.history
    past = ((path, view.activity(path)) for path in pinned.derived(_files))
    return {path: (each.commits, each.last) for path, each in past if each.commits}


def _uses(snapshots: Snapshots, pinned: PinnedSnapshot) -> tuple[FileUses | None, str]:
    """The uses between files of the graph that is fresh, else of the last one, and what to say of that."""
    if pinned.has_fresh(ViewKind.GRAPH):
        return pinned.derived(_file_uses), ""
    before = snapshots.pin_last(ViewKind.GRAPH) if ViewKind.GRAPH in snapshots.views_of_head() else None
    if before is None:
        return None, _NO_GRAPH
    changed = sum(before.files.get(path) != digest for path, digest in pinned.files.items())
    return before.derived(_file_uses), f"uses are those of the last graph; {changed:,} files changed since"


def _file_uses(pinned: PinnedSnapshot) -> FileUses:
    view = pinned.graph
    file_of = np.asarray(view.file_of)
    source, to = file_of[view.edge_source], file_of[view.edge_to]
    between = (source != to) & (source >= 0) & (to >= 0)
    resolved = {each.group: each.label for each in view.about.groups if each.resolved}
    paths = view.paths
    known = frozenset(path for number, path in enumerate(paths) if view.group(number) in resolved)
    return FileUses(
        paths=paths,
        source=source[between],
        to=to[between],
        often=np.asarray(view.edge_often)[between],
        backends=resolved,
        resolved=known,
    )


def _counts(uses: FileUses) -> tuple[dict[str, int], dict[str, int]]:
    """How often each file is used, and uses others."""

    def sums(files: Array) -> dict[str, int]:
        totals = np.bincount(files, uses.often, len(uses.paths)).astype(np.int64).tolist()
        return dict(zip(uses.paths, totals, strict=True))

    return sums(uses.to), sums(uses.source)


def _rest(paths: Iterable[str], files: Mapping[str, MeasuredFile], start: str) -> tuple[FolderRest, ...]:
    """What is not listed, by the folder directly below the asked one."""
    counts: Counter[str] = Counter()
    lines: Counter[str] = Counter()
    for path in paths:
        first, slash, _ = path[len(start) :].partition("/")
        folder = f"{start}{first}" if slash else start.rstrip("/")
        counts[folder] += 1
        lines[folder] += files[path].lines
    return tuple(FolderRest(folder, counts[folder], lines[folder]) for folder in sorted(counts))


def _module(path: str, start: str, opened: frozenset[str]) -> str:
    """The module that a file belongs to: itself, or its first folder that is not open.

    >>> _module("a/b/c.py", "", frozenset()), _module("a/b/c.py", "", frozenset({"a"}))
    ('a', 'a/b')
    """
    end = len(start)
    while True:
        slash = path.find("/", end)
        if slash < 0:
            return path
        if path[:slash] not in opened:
            return path[:slash]
        end = slash + 1


def _opened(lines: Mapping[str, int], start: str) -> frozenset[str]:
    """The folders to open so that there is something to look at: the largest one, until there are enough."""
    opened: frozenset[str] = frozenset()
    for _ in range(_DEEPEST):
        sizes: Counter[str] = Counter()
        for path, count in lines.items():
            sizes[_module(path, start, opened)] += count
        folders = [name for name in sizes if name not in lines]
        if len(sizes) >= _MODULES or not folders:
            break
        opened |= {max(folders, key=lambda name: (sizes[name], name))}
    return opened


def _pairs(uses: FileUses, module_of: Mapping[str, str]) -> dict[tuple[str, str], int]:
    """How often one module uses another."""
    names = sorted(set(module_of.values()))
    number = {name: at for at, name in enumerate(names)}
    of_file = np.array([number.get(module_of.get(path, ""), -1) for path in uses.paths], np.int64)
    source, to = of_file[uses.source], of_file[uses.to]
    between = (source != to) & (source >= 0) & (to >= 0)
    keys, at = np.unique(source[between] * len(names) + to[between], return_inverse=True)
    often = np.bincount(at, uses.often[between], len(keys)).astype(np.int64)
    return {
        (names[key // len(names)], names[key % len(names)]): count
        for key, count in zip(keys.tolist(), often.tolist(), strict=True)
    }


def _modules(
    module_of: Mapping[str, str], lines: Mapping[str, int], pairs: Mapping[tuple[str, str], int]
) -> tuple[list[Module], int]:
    """Every module with its sums, and how many rings they form."""
    files, sizes, used, using = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    for path, module in module_of.items():
        files[module] += 1
        sizes[module] += lines[path]
    for (source, to), often in pairs.items():
        using[source] += often
        used[to] += often
    rings = rings_of(pairs)
    every = [
        Module(
            path=name,
            kind="file" if name in lines else "folder",
            files=files[name],
            lines=sizes[name],
            used=used[name],
            uses=using[name],
            cycle=rings.get(name, 0),
        )
        for name in files
    ]
    return every, max(rings.values(), default=0)
