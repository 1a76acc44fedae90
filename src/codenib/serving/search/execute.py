"""A plan over pinned views in, ranked evidence out: every ranked query is run here, with its costs noted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from codenib.core.answers import Evidence, Plan, Route
from codenib.planner.signals import Signals
from codenib.serving.search.evidence import evidence
from codenib.serving.search.lexical import allowed_files, search_pinned
from codenib.serving.search.order import Ranked, Tests

if TYPE_CHECKING:
    from codenib.core.embedding import Embedder
    from codenib.core.protocols import Reranker
    from codenib.serving.search.costs import Costs
    from codenib.serving.snapshots.pinned import Pinned
    from codenib.views.lexical.read import Scores

LevelName = Literal["unit", "file"]
RRF_CONSTANT = 60
_RRF_POOL = 200
# How far reading a candidate moves it against where it was found, in standard deviations of either. Our own
# reranker is small: alone it ranks worse than what found the candidates, together they are better than both.
# Rerankers that the caller named decide alone, as in the paper.
BLEND = 0.5


@dataclass(frozen=True, slots=True)
class Run:
    """One query with everything that its plan needs opened."""

    pinned: Pinned
    query: str
    signals: Signals
    plan: Plan
    level: LevelName
    tests: Tests
    accepts: Callable[[str], bool] | None
    costs: Costs
    embedder: Embedder | None = None
    reranker: Reranker | None = None
    history: bool = False


def run_plan(run: Run) -> tuple[Ranked, tuple[Evidence, ...]]:
    """Retrieve, expand and rerank as the plan says; at most `k_retrieve` results."""
    if run.reranker is not None and run.plan.k_rerank:
        return _reranked(run)
    return _retrieved(run, run.plan.k_retrieve, run.level)


def _retrieved(run: Run, k: int, level: LevelName) -> tuple[Ranked, tuple[Evidence, ...]]:
    plan = replace(run.plan, k_retrieve=k)
    if plan.route is Route.STRUCTURAL:
        return _structural(run, k, level)
    if plan.route is Route.SEMANTIC:
        return _semantic(run, k, level)
    if plan.fusion == "learned":
        return _learned(run, k, level)
    if plan.route is Route.HYBRID and plan.fusion == "rrf":
        return _reciprocal(run, k, level)
    operator = "lexical" if plan.route is Route.LEXICAL else "hybrid"
    with run.costs.timed(operator):
        return search_pinned(run.pinned, run.query, plan, level, run.tests, run.accepts, _lift(run))


def _lift(run: Run) -> Callable[[Scores], Scores] | None:
    if run.plan.route is not Route.HYBRID or run.embedder is None:
        return None
    from codenib.serving.search.fusion import fuse

    embedder = run.embedder

    def lift(scores: Scores) -> Scores:
        with run.costs.timed("semantic"):
            return fuse(run.pinned, embedder, run.query, scores)

    return lift


def _semantic(run: Run, k: int, level: LevelName) -> tuple[Ranked, tuple[Evidence, ...]]:
    from codenib.serving.search.semantic import semantic_pinned

    assert run.embedder is not None
    width = k
    if run.plan.expansion:
        from codenib.serving.search.structural import POOL, fused

        width = max(k, POOL)
    plan = replace(run.plan, k_retrieve=width)
    wanted: LevelName = "unit" if run.plan.expansion else level
    with run.costs.timed("semantic"):
        ranked, items = semantic_pinned(
            run.pinned, run.embedder, run.query, plan, wanted, run.tests, run.accepts
        )
    if not run.plan.expansion:
        return ranked, items
    with run.costs.timed("expand"):
        found = _accepted(run, fused(run.pinned, items))
    return _cut(run, found, k, level, ranked.total, scored=True)


def _structural(run: Run, k: int, level: LevelName) -> tuple[Ranked, tuple[Evidence, ...]]:
    """Route D: sparse seeds, expanded by the graph."""
    from codenib.serving.search.structural import POOL, expanded

    plan = replace(run.plan, k_retrieve=max(k, POOL))
    with run.costs.timed("lexical"):
        ranked, pool = search_pinned(run.pinned, run.query, plan, "unit", run.tests, run.accepts)
    with run.costs.timed("expand"):
        found = _accepted(run, expanded(run.pinned, pool, run.signals.structural))
    return _cut(run, found, k, level, max(ranked.total, len(found)), scored=False)


def _accepted(run: Run, items: Sequence[Evidence]) -> list[Evidence]:
    """What an expansion found obeys the caller's paths as well."""
    kept = [item for item in items if run.accepts is None or run.accepts(item.path)]
    if run.tests == "exclude":
        kept = [item for item in kept if not {"test", "example", "vendored"} & set(item.marks)]
    return kept


def _cut(
    run: Run, items: Sequence[Evidence], k: int, level: LevelName, total: int, *, scored: bool
) -> tuple[Ranked, tuple[Evidence, ...]]:
    """The first `k` of an order of units, as units or their files; not `scored`: by place alone, 1/place."""
    if level == "file":
        files: dict[str, Evidence] = {}
        for item in items:
            files.setdefault(item.path, item)
        items = [
            replace(item, start_line=1, symbol="", kind="file", level="L0", matched=())
            for item in files.values()
        ]
        total = len(items)
        numbers = {item.path: run.pinned.names.lines(item.path) for item in items[:k]}
        items = [replace(item, end_line=numbers[item.path]) for item in items[:k]]
    shown = tuple(
        item if scored else replace(item, score=round(1.0 / place, 6))
        for place, item in enumerate(items[:k], 1)
    )
    return Ranked((), tuple(item.score for item in shown), total), shown


def _learned(run: Run, k: int, level: LevelName) -> tuple[Ranked, tuple[Evidence, ...]]:
    from codenib.serving.search.learned.learned import learned
    from codenib.serving.search.learned.see import see

    view = run.pinned.lexical
    with run.costs.timed("learned"):
        seen = see(
            run.pinned,
            run.embedder,
            run.query,
            run.signals,
            tests=run.tests,
            allowed=allowed_files(view, run.accepts),
            history=run.history,
        )
        found = learned(seen)
    base, numbers, scores = (
        (seen.units, found.units, found.unit_scores)
        if level == "unit"
        else (seen.files, found.files, found.file_scores)
    )
    matched = np.flatnonzero(base > 0)
    known = set(numbers.tolist())
    kept = [
        (int(number), float(score))
        for number, score in zip(numbers.tolist(), scores.tolist(), strict=True)
        if base[number] > 0
    ]
    if len(kept) < k < len(matched):  # behind the candidates, the base order goes on
        rest = sorted((n for n in matched.tolist() if n not in known), key=lambda n: (-float(base[n]), n))
        lowest = kept[-1][1] if kept else 0.0
        kept += [(n, lowest - place) for place, n in enumerate(rest[: k - len(kept)], 1)]
    shown = kept[:k]
    ranked = Ranked(tuple(n for n, _ in shown), tuple(s for _, s in shown), len(matched))
    return ranked, evidence(view, level, shown, seen.full.terms)


def _reciprocal(run: Run, k: int, level: LevelName) -> tuple[Ranked, tuple[Evidence, ...]]:
    """Reciprocal rank fusion of the lexical and the semantic order."""
    from codenib.serving.search.semantic import semantic_pinned

    assert run.embedder is not None
    plan = replace(run.plan, k_retrieve=max(k, _RRF_POOL))
    with run.costs.timed("lexical"):
        ranked, words = search_pinned(run.pinned, run.query, plan, level, run.tests, run.accepts)
    with run.costs.timed("semantic"):
        _, near = semantic_pinned(run.pinned, run.embedder, run.query, plan, level, run.tests, run.accepts)
    scores: dict[tuple[str, int], float] = {}
    items: dict[tuple[str, int], Evidence] = {}
    for order in (words, near):
        for place, item in enumerate(order, 1):
            key = item.path, item.start_line
            items.setdefault(key, item)
            scores[key] = scores.get(key, 0.0) + 1.0 / (RRF_CONSTANT + place)
    best = sorted(items, key=lambda key: (-scores[key], key))
    found = [replace(items[key], score=round(scores[key], 6)) for key in best]
    return Ranked((), tuple(item.score for item in found[:k]), max(ranked.total, len(found))), tuple(
        found[:k]
    )


def _reranked(run: Run) -> tuple[Ranked, tuple[Evidence, ...]]:
    """The first k′ units read by the reranker; files follow the units, but not those that our own one read.

    Moving files by what our own reranker reads did not help: on every fourth development row it lost a point.
    """
    from codenib.serving.search.rerankers.documents import documents_of
    from codenib.serving.search.rerankers.operator import rerank

    assert run.reranker is not None
    cut, k = run.plan.k_rerank, run.plan.k_retrieve
    if run.level == "file" and run.plan.reranker == "embedded":
        return _retrieved(run, k, "file")
    ranked, items = _retrieved(run, max(cut, k), "unit")

    def documents(head: Sequence[Evidence]) -> list[str]:
        paths = sorted({item.path for item in head})
        texts = dict(zip(paths, run.pinned.texts(paths), strict=True))
        return documents_of(head, texts, owners=run.plan.reranker != "embedded")

    name = run.plan.reranker or ""
    with run.costs.timed(f"rerank:{name}", per=min(cut, len(items))):
        second = rerank(run.query, items, run.reranker, cut, documents)
    head = items[:cut]
    read = dict(zip(map(_key, second.items), second.scores, strict=False))
    lowest = min(second.scores, default=0.0)
    standing = _standard([read.get(_key(item), lowest) for item in head])
    order = list(second.items)
    if name == "embedded":
        total = np.array(_standard([item.score for item in head])) + BLEND * np.array(standing)
        by_both = sorted(range(len(head)), key=lambda row: -float(total[row]))
        order = [replace(head[row], score=round(float(total[row]), 6)) for row in by_both] + order[cut:]
    return _cut(run, order, k, run.level, ranked.total, scored=name == "embedded")


def _key(item: Evidence) -> tuple[str, int]:
    return item.path, item.start_line


def _standard(values: Sequence[float]) -> list[float]:
    spread = float(np.std(values)) if len(values) else 0.0
    mean = float(np.mean(values)) if len(values) else 0.0
    return [(value - mean) / spread if spread else 0.0 for value in values]
