"""A file's facts before an edit, and those of some of its lines after it, in; its whole facts after it out.

The paper's symbol repair: what lies in bodies that the edit does not reach is taken over, moved by lines, its
targets in the file itself found again by identity; all else comes from the engine. Declarations are all there
before the first occurrence is joined to one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from codenib.core.errors import CannotMaintain
from codenib.views.graph.facts.canonical import Target, canonical, list_contents
from codenib.views.graph.facts.file import FileFacts
from codenib.views.graph.facts.rows import OCCURRENCE
from codenib.views.graph.maintenance.bodies import Body, only_moved
from codenib.views.graph.maintenance.text_edit import TextEdit, ranges

# Below this share of a file's lines that can stay, asking for the whole file costs the same.
_LEAST = 0.3
_FEW_LINES = 80

#: Where an occurrence stands, with its roles; and the contents of its lists.
_Row = tuple[list[int], list[tuple[Target, ...] | None]]


@dataclass(frozen=True)
class Repair:
    """Which bodies of a file stay, and which lines are asked for."""

    unchanged: tuple[tuple[Body, Body], ...]  # before and after
    within: tuple[tuple[int, int], ...]  # first and last line of each stretch


def plan_repair(
    edit: TextEdit, old: Sequence[Body], new: Sequence[Body], stays: Callable[[bytes], bool]
) -> Repair | None:
    """What can stay; None when it is not worth it. `stays`: whether a body's names mean what they meant."""
    if len(edit.new) < _FEW_LINES:
        return None
    before = {body.chain: body for body in old}
    unchanged = []
    for body in new:
        was = before.get(body.chain)
        if was is None or not only_moved(was, body, edit):
            continue
        if stays(b"\n".join(edit.new[body.first : body.last + 1])):
            unchanged.append((was, body))
    covered = {line for _, body in unchanged for line in range(body.first, body.last + 1)}
    if len(covered) < _LEAST * len(edit.new):
        return None
    asked = [line for line in range(len(edit.new) + 1) if line not in covered]
    return Repair(tuple(unchanged), tuple(ranges(asked)))


def repaired(old: FileFacts, part: FileFacts, repair: Repair) -> tuple[FileFacts, int]:
    """The facts of the whole file, and how many occurrences are those of before, moved by lines."""
    contents = list_contents(part)
    asked: list[_Row] = [
        (place, [contents[at] if at >= 0 else None for at in (defs, keys, asks)])
        for *place, defs, keys, asks in part.occurrences.tolist()
    ]
    places = {tuple(place) for place, _ in asked}
    moved = [row for row in _moved(old, part, repair) if tuple(row[0]) not in places]
    lists: dict[tuple[Target, ...], int] = {}
    targets: dict[Target, int] = {target: at for at, target in enumerate(part.targets)}
    found = []
    for place, row in sorted([*asked, *moved], key=lambda row: row[0]):
        numbers = [-1 if each is None else lists.setdefault(each, len(lists)) for each in row]
        found.append((*place, *numbers))
    for content in lists:
        for target in content:
            targets.setdefault(target, len(targets))
    whole = replace(
        part,
        targets=tuple(targets),
        list_ptr=np.cumsum([0, *map(len, lists)]).astype(np.int32),
        list_items=np.array([targets[item] for content in lists for item in content], np.int32),
        occurrences=np.array(found, OCCURRENCE),
    )
    return canonical(whole), len(moved)


def _moved(old: FileFacts, part: FileFacts, repair: Repair) -> list[_Row]:
    """The occurrences of the bodies that stay, at their new lines."""
    where = {name: at for at, name in enumerate(part.identities)}
    contents = list_contents(old)

    def again(target: Target) -> Target:
        if isinstance(target, str) or target < 0:
            return target
        if (now := where.get(old.identities[target])) is None:
            raise CannotMaintain(f"{old.path}: {old.identities[target]} is gone")
        return now

    known: dict[int, tuple[Target, ...] | None] = {-1: None}
    lines = old.occurrences["line"]
    found: list[_Row] = []
    for was, body in repair.unchanged:
        shift = body.first - was.first
        chosen = old.occurrences[(lines >= was.first) & (lines <= was.last)]
        for line, column, end, end_column, roles, *lists in chosen.tolist():
            for at in lists:
                if at not in known:
                    known[at] = tuple(again(target) for target in contents[at])
            place = [line + shift, column, end + shift, end_column, roles]
            found.append((place, [known[at] for at in lists]))
    return found
