"""Two graphs of one snapshot in, the definition and reference requests that they answer differently out."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from codenib.core.navigation import Position
from codenib.views.graph.navigate import definitions, references
from codenib.views.graph.read import GraphView

_REQUESTS = 500  # of each kind; facts are compared in whole, this asks the reloaded arrays


def replayed(left: Path, right: Path, seed: int = 1) -> Iterator[str]:
    """Ask both at the same sampled names, and name the places where the answers differ."""
    ours, theirs = GraphView(left), GraphView(right)
    for position in sampled(ours, seed):
        for name, ask in (("definition", definitions), ("references", references)):
            if ask(ours, position) != ask(theirs, position):
                yield f"{position.path}:{position.line}:{position.column + 1}: {name} answers not equal"


def sampled(view: GraphView, seed: int) -> list[Position]:
    """Positions of names, drawn evenly."""
    count = len(view.occurrence_line)
    chosen = sorted(random.Random(seed).sample(range(count), min(count, _REQUESTS)))
    files = view.file_of_occurrences(np.array(chosen, np.int32))
    return [
        Position(view.paths[file], int(view.occurrence_line[at]) + 1, int(view.occurrence_column[at]))
        for at, file in zip(chosen, files, strict=True)
    ]
