"""A plan over a pinned snapshot in, ranked evidence out: every ranked query is executed and timed here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from codenib.core.answers import Evidence, Plan, Route
from codenib.planner.signals import Signals
from codenib.serving.search.declarations import declarations_first
from codenib.serving.search.evidence import RankedEvidence, Retrieval, evidence
from codenib.serving.search.lexical import search_lexical
from codenib.serving.search.names import unit_names

if TYPE_CHECKING:
    from codenib.core.embedding import Embedder
    from codenib.core.protocols import Reranker
    from codenib.serving.search.costs import Stopwatch
    from codenib.serving.search.learned.repository import RepositoryOrder
    from codenib.serving.snapshots.pinned import PinnedSnapshot
    from codenib.views.lexical.read import Scores

_RRF_POOL = 200


@dataclass(frozen=True, slots=True)
class Execution:
    """One retrieval with its plan and everything that the plan needs opened."""

    pinned: PinnedSnapshot
    wanted: Retrieval
    signals: Signals
    plan: Plan
    costs: Stopwatch
    embedder: Embedder | None = None
    reranker: Reranker | None = None
    learnt: RepositoryOrder | None = None


def execute(execution: Execution) -> RankedEvidence:
    """Retrieve, expand and rerank as the plan says; the declarations of what a question names come first."""
    if execution.reranker is not None and execution.plan.k_rerank:
        ranked = _rerank(execution, execution.reranker)
    else:
        ranked = retrieve(execution)
    if execution.plan.route is Route.STRUCTURAL and execution.signals.structural is not None:
        return ranked  # it asks for what stands around a name
    with execution.costs.step("names"):
        return declarations_first(execution.pinned, execution.wanted, execution.signals, ranked)


def retrieve(execution: Execution) -> RankedEvidence:
    """What the plan retrieves, before a reranker and before names come first."""
    plan = execution.plan
    if plan.route is Route.STRUCTURAL:
        return _structural(execution)
    if plan.route is Route.SEMANTIC:
        return _semantic(execution)
    if plan.fusion == "learned":
        return _learned(execution)
    if plan.route is Route.HYBRID and plan.fusion == "rrf":
        return _reciprocal(execution)
    with execution.costs.timed("lexical" if plan.route is Route.LEXICAL else "hybrid"):
        return search_lexical(execution.pinned, execution.wanted, _lift(execution))


def _lift(execution: Execution) -> Callable[[Scores], Scores] | None:
    embedder = execution.embedder
    if execution.plan.route is not Route.HYBRID or embedder is None:
        return None
    from codenib.serving.search.fusion import fuse

    def lift(scores: Scores) -> Scores:
        with execution.costs.timed("semantic"):
            return fuse(execution.pinned, embedder, execution.wanted.query, scores)

    return lift


def _semantic(execution: Execution) -> RankedEvidence:
    from codenib.serving.search.semantic import search_semantic

    assert execution.embedder is not None
    pinned, wanted = execution.pinned, execution.wanted
    if not execution.plan.expansion:
        with execution.costs.timed("semantic"):
            return search_semantic(pinned, execution.embedder, wanted)
    from codenib.serving.search.structural import POOL, fuse_neighbours

    pool = replace(wanted, k=max(wanted.k, POOL), level="unit")
    with execution.costs.timed("semantic"):
        ranked = search_semantic(pinned, execution.embedder, pool)
    with execution.costs.timed("expand"):
        items = _accepted(wanted, fuse_neighbours(pinned, ranked.items))
    return _limit(execution, items, ranked.total, scored=True)


def _structural(execution: Execution) -> RankedEvidence:
    """Route D: sparse seeds, expanded by the graph."""
    from codenib.serving.search.structural import POOL, expand

    wanted = execution.wanted
    pool = replace(wanted, k=max(wanted.k, POOL), level="unit")
    with execution.costs.timed("lexical"):
        ranked = search_lexical(execution.pinned, pool)
    with execution.costs.timed("expand"):
        items = _accepted(wanted, expand(execution.pinned, ranked.items, execution.signals.structural))
    return _limit(execution, items, max(ranked.total, len(items)), scored=False)


def _accepted(wanted: Retrieval, items: Sequence[Evidence]) -> list[Evidence]:
    """Results of an expansion that obey the caller's paths as well."""
    accepted = [item for item in items if wanted.accepts is None or wanted.accepts(item.path)]
    if wanted.tests == "exclude":
        accepted = [item for item in accepted if not {"test", "example", "vendored"} & set(item.marks)]
    return accepted


def _limit(execution: Execution, items: Sequence[Evidence], total: int, *, scored: bool) -> RankedEvidence:
    """The first `k` of an order of units, as units or as their files; not `scored`: the score is 1/place."""
    wanted = execution.wanted
    if wanted.level == "file":
        files: dict[str, Evidence] = {}
        for item in items:
            files.setdefault(item.path, item)
        total = len(files)
        names = unit_names(execution.pinned)
        items = [
            replace(
                item,
                start_line=1,
                end_line=names.lines(item.path),
                symbol="",
                kind="file",
                level="L0",
                matched=(),
            )
            for item in list(files.values())[: wanted.k]
        ]
    best = tuple(
        item if scored else replace(item, score=round(1.0 / place, 6))
        for place, item in enumerate(items[: wanted.k], 1)
    )
    return RankedEvidence(best, total)


def _learned(execution: Execution) -> RankedEvidence:
    """The order of the learned model; behind its candidates the base order goes on."""
    from codenib.serving.search.learned.gather import gather_features
    from codenib.serving.search.learned.rank import rank_learned

    pinned, wanted = execution.pinned, execution.wanted
    with execution.costs.timed("learned"):
        features = gather_features(pinned, wanted, execution.signals, execution.embedder)
        order = rank_learned(features, execution.learnt)
    by_unit = wanted.level == "unit"
    base = features.scores.units if by_unit else features.scores.files
    numbers, scores = (order.units, order.unit_scores) if by_unit else (order.files, order.file_scores)
    matched = np.flatnonzero(base > 0)
    best = [
        (int(number), float(score))
        for number, score in zip(numbers.tolist(), scores.tolist(), strict=True)
        if base[number] > 0
    ]
    if len(best) < wanted.k < len(matched):
        candidates = set(numbers.tolist())
        rest = (number for number in matched.tolist() if number not in candidates)
        by_base = sorted(rest, key=lambda number: (-float(base[number]), number))
        lowest = best[-1][1] if best else 0.0
        best += [(number, lowest - place) for place, number in enumerate(by_base[: wanted.k - len(best)], 1)]
    items = evidence(pinned.lexical, wanted.level, best[: wanted.k], features.scores.full.terms)
    return RankedEvidence(items, len(matched))


def _reciprocal(execution: Execution) -> RankedEvidence:
    """Reciprocal rank fusion of the lexical and the semantic order."""
    from codenib.serving.search.fusion import reciprocal_ranks
    from codenib.serving.search.semantic import search_semantic

    assert execution.embedder is not None
    wanted = execution.wanted
    pool = replace(wanted, k=max(wanted.k, _RRF_POOL))
    with execution.costs.timed("lexical"):
        lexical = search_lexical(execution.pinned, pool)
    with execution.costs.timed("semantic"):
        semantic = search_semantic(execution.pinned, execution.embedder, pool)
    orders = lexical.items, semantic.items
    items = {_key(item): item for order in reversed(orders) for item in reversed(order)}
    scores = reciprocal_ranks([(1.0, map(_key, order)) for order in orders])
    best = sorted(scores, key=lambda key: (-scores[key], key))[: wanted.k]
    ranked = tuple(replace(items[key], score=round(scores[key], 6)) for key in best)
    return RankedEvidence(ranked, max(lexical.total, len(scores)))


def _rerank(execution: Execution, reranker: Reranker) -> RankedEvidence:
    """The first k′ units in the reranker's order, as in the paper; files follow their units."""
    from codenib.serving.search.rerankers.documents import documents_of
    from codenib.serving.search.rerankers.operator import rerank

    plan, wanted = execution.plan, execution.wanted
    pool = replace(wanted, k=max(plan.k_rerank, wanted.k), level="unit")
    ranked = retrieve(replace(execution, wanted=pool))

    def documents(head: Sequence[Evidence]) -> list[str]:
        paths = sorted({item.path for item in head})
        texts = dict(zip(paths, execution.pinned.texts(paths), strict=True))
        return documents_of(head, texts)

    read = min(plan.k_rerank, len(ranked.items))
    with execution.costs.timed(f"rerank:{plan.reranker}", per=read):
        reread = rerank(wanted.query, ranked.items, reranker, plan.k_rerank, documents)
    return _limit(execution, reread.items, ranked.total, scored=False)


def _key(item: Evidence) -> tuple[str, int]:
    return item.path, item.start_line
