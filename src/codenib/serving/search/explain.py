"""An execution and its results in, why each stands where it does out: words, and places in each order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from codenib.core.answers import Evidence, Explanation, Route
from codenib.serving.search.costs import Stopwatch
from codenib.serving.search.execute import retrieve
from codenib.serving.search.lexical import search_lexical
from codenib.views.lexical.query import query_terms

if TYPE_CHECKING:
    from codenib.serving.search.execute import Execution

_POOL = 200  # places that are told; beyond, a result is only "not among the first"

Place = tuple[str, int]


def explain_items(execution: Execution, items: Sequence[Evidence]) -> tuple[Explanation, ...]:
    """For each result its words with their points, and its place in every order that the plan looks at."""
    orders = _orders(execution)
    words = _words(execution, items)
    return tuple(
        Explanation(
            words=words[number],
            places={
                **{name: places.get(_place(item)) for name, places in orders.items()},
                "answer": number + 1,
            },
        )
        for number, item in enumerate(items)
    )


def _orders(execution: Execution) -> dict[str, dict[Place, int]]:
    plan, pinned = execution.plan, execution.pinned
    wanted = replace(execution.wanted, k=max(execution.wanted.k, _POOL))
    orders = {"words": search_lexical(pinned, wanted).items}
    if execution.embedder is not None:
        from codenib.serving.search.semantic import search_semantic

        orders["meaning"] = search_semantic(pinned, execution.embedder, wanted).items
    if plan.route in (Route.HYBRID, Route.STRUCTURAL) or plan.expansion:
        name = plan.fusion or ("graph" if plan.route is Route.STRUCTURAL else "expanded")
        pool = replace(execution, wanted=wanted, costs=Stopwatch(None))
        orders[name] = retrieve(pool).items
    return {
        name: {_place(item): number for number, item in reversed(list(enumerate(order, 1)))}
        for name, order in orders.items()
    }


def _words(execution: Execution, items: Sequence[Evidence]) -> list[dict[str, float]]:
    """The points of each word; a file as a result has none of its own."""
    view = execution.pinned.lexical
    numbers = [None if item.level == "L0" else view.unit_at(item.path, item.start_line) for item in items]
    known = [number for number in numbers if number is not None]
    points = iter(view.points(known, query_terms(execution.wanted.query)))
    return [{} if number is None else next(points) for number in numbers]


def _place(item: Evidence) -> Place:
    return item.path, item.start_line
