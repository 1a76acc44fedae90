"""A file's facts in, the same facts with one numbering out: targets and lists in order of first use.

However an engine came to its answers (a whole run, a part of it, unchanged ones moved by lines), equal facts
have equal numbers, so that comparing them compares what they say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from codenib.core.facts import OCCURRENCE_LISTS, Role
from codenib.views.graph.facts.file import FileFacts
from codenib.views.graph.facts.rows import RELATION, Rows, lists_of

Target = int | str


def canonical(facts: FileFacts) -> FileFacts:
    """Equal facts, numbered by first use; what nothing uses is gone, names of known meaning too."""
    lists = list_contents(facts)
    uses = lists_of(facts.occurrences)
    order, first = np.unique(uses[uses >= 0], return_index=True)
    numbers: dict[tuple[Target, ...], int] = {}
    renumbered = np.full(len(lists) + 1, -1, np.int32)  # the last is -1's own
    for old in order[np.argsort(first)].tolist():
        renumbered[old] = numbers.setdefault(lists[old], len(numbers))
    targets: dict[Target, int] = {}
    for content in numbers:
        for target in content:
            targets.setdefault(target, len(targets))
    relations = sorted(
        {(kind, *(_key(facts.targets[side]) for side in ends)) for kind, *ends in facts.relations.tolist()}
    )
    for row in relations:
        for side in row[1:]:
            targets.setdefault(_target(side), len(targets))
    occurrences = facts.occurrences.copy()
    for name in OCCURRENCE_LISTS:
        occurrences[name] = renumbered[occurrences[name]]
    rows = [(kind, *(targets[_target(side)] for side in ends)) for kind, *ends in relations]
    unknown_names, unknown = unknown_of(facts.unknown_names, facts.unknown, facts.occurrences)
    return replace(
        facts,
        unknown_names=unknown_names,
        unknown=unknown,
        targets=tuple(targets),
        list_ptr=np.cumsum([0, *map(len, numbers)]).astype(np.int32),
        list_items=np.array([targets[item] for content in numbers for item in content], np.int32),
        occurrences=occurrences,
        relations=np.array(rows, RELATION),
    )


def list_contents(facts: FileFacts) -> list[tuple[Target, ...]]:
    """What each list holds, in one order."""
    items = [facts.targets[at] for at in facts.list_items.tolist()]
    at = facts.list_ptr.tolist()
    return [
        tuple(sorted(set(items[begin:end]), key=_key)) if end - begin > 1 else tuple(items[begin:end])
        for begin, end in pairwise(at)
    ]


def unknown_of(names: Sequence[str], places: Rows, occurrences: Rows) -> tuple[tuple[str, ...], Rows]:
    """The names at whose places no occurrence says what they are; in lines that no engine read it guesses."""
    says = (occurrences["defs"] >= 0) | (occurrences["keys"] >= 0)
    says &= (occurrences["roles"] & Role.GUESS) == 0
    left = places[~np.isin(_ordered(places), _ordered(occurrences[says]))]
    used, first, numbers = np.unique(left["name"], return_index=True, return_inverse=True)
    order = np.argsort(first)
    renumbered = np.zeros(len(used), np.int32)
    renumbered[order] = np.arange(len(used))
    left["name"] = renumbered[numbers]
    return tuple(names[at] for at in used[order].tolist()), left


def _ordered(rows: Rows) -> NDArray[np.int64]:
    """Where rows begin, as numbers that are ordered as the places are."""
    numbers: NDArray[np.int64] = (rows["line"].astype(np.int64) << 32) | rows["column"]
    return numbers


def _key(target: Target) -> tuple[int, str]:
    """Nodes of the file first, in source order, then names."""
    return (target, "") if isinstance(target, int) else (1 << 31, target)


def _target(key: tuple[int, str]) -> Target:
    return key[1] if key[0] == 1 << 31 else key[0]
