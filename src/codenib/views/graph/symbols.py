"""A name in, the declarations that it may mean out: exact dotted names, and search by parts of a name."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from codenib.core.facts import NodeKind
from codenib.views.graph.read import GraphView

_SEPARATORS = re.compile(r"::|[.#/:]")
_NOT_ASKED_FOR = frozenset({NodeKind.IMPORT, NodeKind.PARAMETER, NodeKind.TYPE_PARAMETER, NodeKind.LABEL})
# What a file is called in code: the folder's name for these.
_PACKAGE_FILES = frozenset({"__init__", "index", "mod", "lib", "main"})


def resolve(view: GraphView, symbol: str) -> list[int]:
    """The declarations that a dotted name means, the most important first; one for each qualified name.

    The name's parts are the last parts of a declaration's path and qualified name: `Flask`, `Flask.run`,
    `app.Flask.run` and `flask.app.Flask.run` mean the same method.
    """
    parts = [part for part in _SEPARATORS.split(symbol) if part]
    if not parts:
        return []
    found = [node for node in named(view, parts[-1]) if _fits(view, node, parts)]
    first: dict[tuple[int, str], int] = {}
    for node in sorted(found):
        first.setdefault((int(view.file_of[node]), view.qualified(node)), node)
    return sorted(first.values(), key=lambda node: (-float(view.importance[node]), node))


def named(view: GraphView, name: str) -> list[int]:
    """The declarations with exactly this name that can be asked for."""
    return [node for node in _from(view, name.lower()) if view.names[node] == name and _asked_for(view, node)]


def search(view: GraphView, query: str, limit: int) -> tuple[list[int], int]:
    """Declarations whose name holds every word of `query`: exact names first, then beginnings, then the rest.

    Within each, the more important first. Returns the best, and how many there are.
    """
    words = [word for word in _SEPARATORS.split(query.lower().strip()) if word]
    if not words:
        return [], 0
    ranked = []
    last = words[-1]
    for node in view.names.holding(last):
        name = view.names[node].lower()
        if _asked_for(view, node) and (len(words) == 1 or _holds(view, node, words[:-1])):
            order = 0 if name == last else 1 if name.startswith(last) else 2
            ranked.append((order, -float(view.importance[node]), node))
    ranked.sort()
    return [node for _, _, node in ranked[:limit]], len(ranked)


def module_parts(path: str) -> list[str]:
    """What a file's path says of the names in it: its folders and its own name, without what all share."""
    pure = PurePosixPath(path)
    parts = list(pure.with_suffix("").parts)
    return parts[:-1] if len(parts) > 1 and parts[-1] in _PACKAGE_FILES else parts


def _fits(view: GraphView, node: int, parts: Sequence[str]) -> bool:
    full = [*module_parts(view.path(node)), *view.qualified(node).split(".")]
    return full[-len(parts) :] == list(parts)


def _holds(view: GraphView, node: int, words: Sequence[str]) -> bool:
    around = f"{view.path(node)}.{view.qualified(node)}".lower()
    return all(word in around for word in words)


def _from(view: GraphView, lowered: str) -> Iterator[int]:
    """The declarations with this name in any case."""
    order = view.by_name
    at = bisect_left(range(len(order)), lowered, key=lambda place: view.names[int(order[place])].lower())
    while at < len(order) and view.names[int(order[at])].lower() == lowered:
        yield int(order[at])
        at += 1


def _asked_for(view: GraphView, node: int) -> bool:
    return node >= view.nodes_at and not view.is_local(node) and view.kind(node) not in _NOT_ASKED_FOR
