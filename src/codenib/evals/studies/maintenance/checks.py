"""A maintained and a rebuilt artifact of one snapshot in, whether they are the same view out.

Every view is compared by its own `differences` (fact for fact). Graph and vectors are held to the paper's
equations besides: facts as multisets and replayed requests; identities, vectors and ordered replay.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from itertools import pairwise
from pathlib import Path

from codenib.core.navigation import Position, SortedLocations
from codenib.core.protocols import ViewMaintainer
from codenib.core.views import ViewKind
from codenib.evals.metrics.scoring import Place, VectorCheck, check_graph
from codenib.evals.runs import Record
from codenib.views.dense.store import CodeVectorStore
from codenib.views.graph.assembly.artifact import read_group_facts
from codenib.views.graph.navigate import definitions, references
from codenib.views.graph.read import GraphView

REPLAYED = 60  # requests per transition, evenly over the occurrences of the changed files
NEIGHBOURS = 20  # vectors that are searched for in both views
K = 10


def check(
    kind: ViewKind, builder: ViewMaintainer, maintained: Path, rebuilt: Path, changed: Collection[str]
) -> Record:
    """`exact` and what it rests on."""
    lines = list(builder.differences(maintained, rebuilt))
    found: Record = {"differences": len(lines), "first": lines[:3]}
    if kind is ViewKind.GRAPH:
        result = _graph(maintained, rebuilt, changed)
    elif kind is ViewKind.DENSE:
        result = _vectors(maintained, rebuilt)
    else:
        result = {"exact": True}
    return {**found, **result, "exact": result["exact"] and not lines}


def _graph(maintained: Path, rebuilt: Path, changed: Collection[str]) -> Record:
    ours, theirs = list(_facts(maintained)), list(_facts(rebuilt))
    views = GraphView(maintained), GraphView(rebuilt)
    replay = [
        (_replay(ask, views[0], position), _replay(ask, views[1], position))
        for position in _positions(views[1], changed)
        for ask in (definitions, references)
    ]
    within = [fact for fact in (*ours, *theirs) if fact[0] in changed]
    result = check_graph(ours, theirs, within, replay)
    return {
        "exact": result.exact,
        "facts_equal": result.facts_equal,
        "changed_facts_equal": result.changed_facts_equal,
        "serving_equal": result.serving_equal,
        "fact_f1": round(result.edge_f1, 6),
        "serving_agreement": round(result.serving_agreement, 4),
        "replayed": len(replay),
    }


def _facts(artifact: Path) -> Iterator[tuple[str, str, str]]:
    """Declarations, occurrences and relations of every file, each once as plain text."""
    for group in read_group_facts(artifact):
        for facts in group.facts:
            names = ("node", "occurrence", "relation")
            lists = [facts.list_items[a:b].tolist() for a, b in pairwise(facts.list_ptr.tolist())]
            for name, rows in zip(names, (facts.nodes, facts.occurrences, facts.relations), strict=True):
                for row in rows.tolist():
                    yield facts.path, name, repr(row)
            for items in lists:
                yield facts.path, "targets", repr([facts.targets[item] for item in items])
            for at, text in enumerate(facts.names):
                yield facts.path, "name", f"{at} {text}"


def _positions(view: GraphView, changed: Collection[str]) -> Iterator[Position]:
    places = []
    for path in sorted(changed):
        file = view.file_number(path)
        if file is not None:
            first, last = int(view.first_occurrence[file]), int(view.first_occurrence[file + 1])
            places += [(path, at) for at in range(first, last)]
    step = max(1, len(places) // (REPLAYED // 2))
    for path, at in places[::step]:
        yield Position(path, int(view.occurrence_line[at]) + 1, int(view.occurrence_column[at]))


def _replay(
    ask: Callable[[GraphView, Position], SortedLocations], view: GraphView, position: Position
) -> list[Place]:
    """The places that a view answers; a file that it does not have answers with none."""
    if view.file_number(position.path) is None:
        return []
    return [(place.path, place.line) for place in ask(view, position).locations]


def _vectors(maintained: Path, rebuilt: Path) -> Record:
    ours, theirs = CodeVectorStore(maintained), CodeVectorStore(rebuilt)
    same = len(ours) == len(theirs)
    identities = same and all(ours.row(at) == theirs.row(at) for at in range(len(ours)))
    vectors = same and all(
        ours.vector(at).tobytes() == theirs.vector(at).tobytes() for at in range(len(ours))
    )
    replay = True
    for at in range(0, len(theirs), max(1, len(theirs) // NEIGHBOURS)):
        left, right = (store.search(theirs.vector(at), K) for store in (ours, theirs))
        replay &= left.rows.tolist() == right.rows.tolist()
        replay &= left.scores.tobytes() == right.scores.tobytes()
    result = VectorCheck(identities, vectors, replay)
    return {
        "exact": result.exact,
        "identities_equal": identities,
        "vectors_equal": vectors,
        "replay_equal": replay,
        "documents": len(theirs),
    }
