"""Pairs of what uses what in, the rings among them out: those that reach each other, by Tarjan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def rings_of(pairs: Iterable[tuple[str, str]]) -> dict[str, int]:
    """Each name that is in a ring of several, with the ring's number: 1 is the largest.

    >>> sorted(rings_of([("a", "b"), ("b", "a"), ("b", "c")]).items())
    [('a', 1), ('b', 1)]
    """
    uses: dict[str, list[str]] = {}
    for source, to in sorted(pairs):
        uses.setdefault(source, []).append(to)
        uses.setdefault(to, [])
    rings = sorted((ring for ring in _components(uses) if len(ring) > 1), key=lambda ring: (-len(ring), ring))
    return {name: number for number, ring in enumerate(rings, 1) for name in ring}


def _components(uses: dict[str, list[str]]) -> Iterator[list[str]]:
    """The strongly connected components, each sorted."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    inside: set[str] = set()
    for start in uses:
        if start in index:
            continue
        work = [(start, iter(uses[start]))]
        index[start] = low[start] = len(index)
        stack.append(start)
        inside.add(start)
        while work:
            name, rest = work[-1]
            for other in rest:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    inside.add(other)
                    work.append((other, iter(uses[other])))
                    break
                if other in inside:
                    low[name] = min(low[name], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[name])
                if low[name] == index[name]:
                    at = stack.index(name)
                    ring, stack[at:] = stack[at:], []
                    inside.difference_update(ring)
                    yield sorted(ring)
