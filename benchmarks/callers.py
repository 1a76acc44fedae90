"""Whether `callers` misses calls: `python -m benchmarks.callers REPOSITORY [--functions N] [--seed N]`.

Functions are drawn by chance. For each, every place in code of its language group that is written like a call
of its name is looked up: it must be listed, or the graph must say that it calls something else there. Places
that are neither are printed for a reader to judge. Nothing here asks `callers` what is written like a call.
"""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Iterator
from pathlib import Path

from codenib.core.facts import NodeKind
from codenib.core.navigation import Position
from codenib.core.requests import NeighboursRequest
from codenib.core.views import ViewKind
from codenib.serving.navigation.resolve import resolved_group
from codenib.serving.snapshots.pinned import PinnedSnapshot
from codenib.serving.workspace import Workspace
from codenib.views.graph.facts.code_names import Use, code_names
from codenib.views.graph.navigate import declared_at, location_of, occurrence_at, starts_at

EVERY = 1_000_000
SHOWN = 5
_NAME = re.compile(r"\w{3,}")

Calls = dict[tuple[str, str], list[Position]]  # by language group and name


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("repository", type=Path)
    parser.add_argument("--functions", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with Workspace(arguments.repository) as workspace:
        workspace.index([ViewKind.LEXICAL, ViewKind.TRIGRAM, ViewKind.GRAPH])
        pinned = workspace.snapshots.pin_ready(ViewKind.GRAPH, None)
        calls = written_calls(pinned)
        drawn = list(functions(pinned))
        random.Random(arguments.seed).shuffle(drawn)
        chosen = drawn[: arguments.functions]
        places = missing = 0
        for node in chosen:
            group = resolved_group(pinned, pinned.graph.path(node)) or ""
            written = calls.get((group, pinned.graph.names[node]), [])
            missed = list(missed_calls(workspace, pinned, node, written))
            places += len(written)
            missing += bool(missed)
            for place in missed[:SHOWN]:
                print(f"{pinned.graph.qualified(node)}: {place}")
    print(f"{missing} of {len(chosen)} functions lack one of {places:,} places that are written like calls")


def functions(pinned: PinnedSnapshot) -> Iterator[int]:
    """The functions and methods that others can name."""
    view = pinned.graph
    for node in range(view.nodes_at, view.count):
        is_function = view.kind(node) in (NodeKind.FUNCTION, NodeKind.METHOD) and not view.is_local(node)
        if is_function and _NAME.fullmatch(view.names[node]) and resolved_group(pinned, view.path(node)):
            yield node


def written_calls(pinned: PinnedSnapshot) -> Calls:
    """The places that are written like calls and declare nothing."""
    found: Calls = {}
    for path in pinned.graph.paths:
        group = resolved_group(pinned, path)
        if group is None:
            continue
        names, rows = code_names(path, pinned.text(path).encode())
        for name, line, column, use in rows.tolist():
            place = Position(path, line + 1, column)
            if use == Use.CALL and not declared_at(pinned.graph, place):
                found.setdefault((group, names[name]), []).append(place)
    return found


def missed_calls(
    workspace: Workspace, pinned: PinnedSnapshot, node: int, written: list[Position]
) -> Iterator[Position]:
    """Those that `callers` or `refs` lacks and that, as far as the graph knows, may call the node."""
    view = pinned.graph
    place = location_of(view, node)
    asked = Position(place.path, place.line, place.column)
    callers = workspace.navigator.neighbours(NeighboursRequest(asked, "callers", k=EVERY))
    listed = {
        (each.path, each.line, each.column)
        for each in workspace.references(asked, provider="static").locations
    }
    for each in written:
        around = any(
            symbol.path == each.path
            and (symbol.kind == "file" or symbol.line <= each.line <= symbol.end_line)
            for symbol in callers.symbols
        )
        if around and (each.path, each.line, each.column) in listed:
            continue
        at = occurrence_at(view, each) if starts_at(view, each) else None
        meant = view.list_at(int(view.occurrence_defs[at])) if at is not None else []
        if not meant or node in meant:
            yield each


if __name__ == "__main__":
    main()
