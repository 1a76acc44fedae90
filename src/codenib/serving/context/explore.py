"""A question and a token budget in, a context pack or a map of the repository out."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from codenib.core.answers import Answer
from codenib.core.context import ContextPack, ModuleAnswer, Overview, Related, Relation, RepoMap
from codenib.core.errors import InputError
from codenib.core.facts import EdgeKind
from codenib.core.requests import (
    ExploreRequest,
    ModulesRequest,
    OverviewRequest,
    SearchRequest,
    SnapshotRequest,
)
from codenib.core.views import ViewKind
from codenib.serving.context.draft import PackCandidate, blocks_of
from codenib.serving.context.excerpt import enclosing
from codenib.serving.context.ledger import Ledger
from codenib.serving.context.pack import PackMaterial, fill_pack, merge_equal
from codenib.serving.context.tokens import TOKENIZER, count
from codenib.serving.search.searcher import Searcher
from codenib.serving.snapshots.pool import Snapshots
from codenib.views.lexical.query import query_terms

if TYPE_CHECKING:
    from codenib.serving.snapshots.pinned import PinnedSnapshot
    from codenib.views.graph.read import GraphView

# Units that a pack chooses from. On the development rows a gold function is among the first 30 on 85%, among
# the first 50 on 88%, among the first 100 on 92%; a declaration costs about 25 tokens.
_TOKENS_A_UNIT = 40
_FEWEST, _MOST = 30, 120
_NEIGHBOURS_OF = 6  # best units whose uses are looked up
_NEIGHBOURS = 3  # of each kind for one unit
_RELATIONS: tuple[Relation, ...] = ("used by", "uses")
_USES = frozenset(EdgeKind) - {EdgeKind.IMPORT}


class Explorer:
    """Answers questions within a token budget, from the searcher's evidence of the same snapshot."""

    def __init__(self, searcher: Searcher, snapshots: Snapshots) -> None:
        self._searcher = searcher
        self._snapshots = snapshots

    def explore(self, request: ExploreRequest, ledger: Ledger | None = None) -> ContextPack:
        """Evidence for a query in at most `max_tokens` tokens.

        What `ledger` remembers as sent is only named; what this pack sends is added to it.
        """
        width = min(max(request.max_tokens // _TOKENS_A_UNIT, _FEWEST), _MOST)
        search = SearchRequest(
            request.query,
            k=width,
            route=request.route,
            paths=request.paths,
            snapshot=request.snapshot,
        )
        answer = self._searcher.search(search)
        started = time.perf_counter()
        if request.max_tokens < 1:
            what = f"{request.max_tokens} tokens have no room for anything"
            raise InputError(what, hint="codenib explore QUERY --max-tokens 4000")
        pinned = self._snapshots.of_snapshot(answer.snapshot.id)
        candidates = merge_equal(list(_candidates(pinned, answer)))
        terms = {term.text: term.weight for term in query_terms(request.query)}
        related = _related(pinned, candidates) if pinned.has_fresh(ViewKind.GRAPH) else []
        material = PackMaterial(candidates, terms, answer.total, related)
        draft, text = fill_pack(material, request.max_tokens, ledger)
        return ContextPack(
            query=request.query,
            text=text,
            tokens=count(text),
            max_tokens=request.max_tokens,
            tokenizer=TOKENIZER,
            blocks=blocks_of(draft),
            related=tuple(draft.related),
            folders=tuple(line.strip() for line in draft.folders),
            total=answer.total,
            omitted=draft.omitted,
            snapshot=answer.snapshot,
            plan=answer.plan,
            coverage=answer.coverage,
            seconds=answer.seconds + time.perf_counter() - started,
            refreshed=answer.refreshed,
            note=answer.note,
        )

    def map(self, query: str | None, max_tokens: int, request: SnapshotRequest) -> RepoMap:
        """Folders, files and their most important declarations in at most `max_tokens` tokens."""
        from codenib.serving.context.map import draw_map

        pinned, refreshed = self._snapshots.pin(ViewKind.LEXICAL, request, (ViewKind.HISTORY,))
        return replace(draw_map(pinned, query=query, max_tokens=max_tokens), refreshed=refreshed)

    def overview(self, request: OverviewRequest) -> Overview:
        """The longest files below a folder, with what the views know of each."""
        from codenib.serving.context.overview import overview

        return overview(self._snapshots, request)

    def modules(self, request: ModulesRequest) -> ModuleAnswer:
        """Folders and files, and how often each uses another."""
        from codenib.serving.context.overview import modules

        return modules(self._snapshots, request)


def _candidates(pinned: PinnedSnapshot, answer: Answer) -> Iterator[PackCandidate]:
    paths = sorted({item.path for item in answer.items})
    texts = {path: text.split("\n") for path, text in zip(paths, pinned.texts(paths), strict=True)}
    for item in answer.items:
        lines = texts[item.path][item.start_line - 1 : item.end_line]
        while lines and not lines[-1].strip():
            lines.pop()
        scope = enclosing(texts[item.path], item.start_line, item.symbol) if lines else ""
        yield PackCandidate(item, tuple(lines), scope, pinned.files[item.path])


def _related(pinned: PinnedSnapshot, candidates: Sequence[PackCandidate]) -> list[Related]:
    """What uses the best units and what they use, unless it is a candidate itself; turn by turn."""
    from codenib.serving.navigation.neighbours import describe

    view = pinned.graph
    spans = [(each.item.path, each.item.start_line, each.item.end_line) for each in candidates]
    rows = []
    for candidate in candidates[:_NEIGHBOURS_OF]:
        node = _node(view, candidate)
        if node is None:
            continue
        relations: list[Related] = []
        for relation in _RELATIONS:
            others = _others(view, node, relation)
            symbols = (describe(view, other) for other in others)
            outside = (
                symbol for symbol in symbols
                if not any(symbol.path == path and start <= symbol.line <= end for path, start, end in spans)
            )  # fmt: skip
            relations += [
                Related(relation, candidate.item.symbol, symbol.path, symbol.line, symbol.qualified)
                for symbol in islice(outside, _NEIGHBOURS)
            ]
        rows.append(relations)
    turns = [each for turn in range(2 * _NEIGHBOURS) for row in rows for each in row[turn : turn + 1]]
    return list(dict.fromkeys(turns))


def _others(view: GraphView, node: int, relation: Relation) -> list[int]:
    """The declarations that use a node, or that it uses: calls first, then the more important."""
    from codenib.views.graph.walk import edges_of

    edges = list(edges_of(view, node, "in" if relation == "used by" else "out", _USES))
    pairs = [(edge.source if relation == "used by" else edge.to, edge.kind) for edge in edges]
    called = {other for other, kind in pairs if kind is EdgeKind.CALL}
    others = {other for other, _ in pairs if other != node and other >= view.nodes_at}
    return sorted(others, key=lambda other: (other not in called, -float(view.importance[other]), other))


def _node(view: GraphView, candidate: PackCandidate) -> int | None:
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
