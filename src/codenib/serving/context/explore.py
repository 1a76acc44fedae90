"""A ranked answer and a token budget in, a context pack out."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from codenib.core.answers import Answer
from codenib.core.context import ContextPack, Related, Relation
from codenib.core.errors import InputError
from codenib.core.facts import EdgeKind
from codenib.core.views import Status, ViewKind
from codenib.serving.context.draft import Candidate, blocks_of
from codenib.serving.context.excerpt import enclosing
from codenib.serving.context.ledger import Ledger
from codenib.serving.context.pack import fill, once
from codenib.serving.context.tokens import TOKENIZER
from codenib.views.lexical.query import query_terms

if TYPE_CHECKING:
    from codenib.serving.snapshots.pinned import Pinned
    from codenib.views.graph.read import GraphView

# Units that a pack chooses from. On the development rows a gold function is among the first 30 on 85%, among
# the first 50 on 88%, among the first 100 on 92%; a declaration costs about 25 tokens.
_TOKENS_A_UNIT = 40
_FEWEST, _MOST = 30, 120
_NEIGHBOURS_OF = 6  # best units whose uses are looked up
_NEIGHBOURS = 3  # of each kind for one unit
_RELATIONS: tuple[Relation, ...] = ("used by", "uses")
_USES = frozenset(EdgeKind) - {EdgeKind.IMPORT}


def width(max_tokens: int) -> int:
    """How many ranked units a pack of that size chooses from."""
    return min(max(max_tokens // _TOKENS_A_UNIT, _FEWEST), _MOST)


def explore_pinned(
    pinned: Pinned, answer: Answer, query: str, max_tokens: int, ledger: Ledger | None
) -> ContextPack:
    """The pack for an answer of the same snapshot."""
    started = time.perf_counter()
    if max_tokens < 1:
        raise InputError(f"a pack of {max_tokens} tokens", hint="codenib explore QUERY --max-tokens 4000")
    candidates = once(list(_candidates(pinned, answer)))
    terms = {term.text: term.weight for term in query_terms(query)}
    related = _related(pinned, candidates) if has_graph(pinned) else []
    draft, text, tokens = fill(candidates, terms, answer.total, related, max_tokens, ledger)
    return ContextPack(
        query,
        text,
        tokens,
        max_tokens,
        TOKENIZER,
        blocks_of(draft),
        tuple(draft.related),
        tuple(line.strip() for line in draft.folders),
        answer.total,
        draft.omitted,
        answer.snapshot,
        answer.plan,
        answer.coverage,
        answer.seconds + time.perf_counter() - started,
        answer.refreshed,
    )


def has_graph(pinned: Pinned) -> bool:
    """Whether the snapshot has a graph that is its own."""
    record = pinned.manifest.views.get(ViewKind.GRAPH)
    return record is not None and record.status is Status.FRESH


def _candidates(pinned: Pinned, answer: Answer) -> Iterator[Candidate]:
    paths = sorted({item.path for item in answer.items})
    texts = {path: text.split("\n") for path, text in zip(paths, pinned.texts(paths), strict=True)}
    for item in answer.items:
        lines = texts[item.path][item.start_line - 1 : item.end_line]
        while lines and not lines[-1].strip():
            lines.pop()
        scope = enclosing(texts[item.path], item.start_line, item.symbol) if lines else ""
        yield Candidate(item, tuple(lines), scope, pinned.files[item.path])


def _related(pinned: Pinned, candidates: Sequence[Candidate]) -> list[Related]:
    """What uses the best units and what they use, unless it is a candidate itself; turn by turn."""
    from codenib.serving.navigation.neighbours import describe

    view = pinned.graph
    spans = [(each.item.path, each.item.start_line, each.item.end_line) for each in candidates]
    rows = []
    for candidate in candidates[:_NEIGHBOURS_OF]:
        node = _node(view, candidate)
        if node is None:
            continue
        found: list[Related] = []
        for relation in _RELATIONS:
            others = _others(view, node, relation)
            symbols = (describe(view, other) for other in others)
            outside = (
                symbol for symbol in symbols
                if not any(symbol.path == path and start <= symbol.line <= end for path, start, end in spans)
            )  # fmt: skip
            found += [
                Related(relation, candidate.item.symbol, symbol.path, symbol.line, symbol.qualified)
                for symbol in islice(outside, _NEIGHBOURS)
            ]
        rows.append(found)
    turns = [each for turn in range(2 * _NEIGHBOURS) for row in rows for each in row[turn : turn + 1]]
    return list(dict.fromkeys(turns))


def _others(view: GraphView, node: int, relation: Relation) -> list[int]:
    """The declarations that use a node, or that it uses: calls first, then the more important."""
    from codenib.views.graph.walk import edges_of

    edges = list(edges_of(view, node, "in" if relation == "used by" else "out", _USES))
    pairs = [(edge.source if relation == "used by" else edge.to, edge.kind) for edge in edges]
    called = {other for other, kind in pairs if kind is EdgeKind.CALL}
    found = {other for other, _ in pairs if other != node and other >= view.nodes_at}
    return sorted(found, key=lambda other: (other not in called, -float(view.importance[other]), other))


def _node(view: GraphView, candidate: Candidate) -> int | None:
    """The declaration that a unit is, by its name and lines."""
    item = candidate.item
    file = view.file_number(item.path)
    name = item.symbol.rpartition(".")[2]
    if file is None or not name:
        return None
    for node in range(int(view.first_node[file]), int(view.first_node[file + 1])):
        line = int(view.ranges["line"][node]) + 1
        if item.start_line <= line <= item.end_line and view.names[node] == name:
            return node
    return None
