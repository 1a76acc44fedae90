"""A query and members of a fleet in, one ranked answer out: route, score, share the places, let each rank."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from codenib.core.answers import Answer
from codenib.core.errors import CodenibError, InputError
from codenib.core.requests import PUBLISHED, ResultLevel, SearchRequest, Tests
from codenib.core.text.globs import path_filter
from codenib.fleet.search.answers import AskedRepository, FleetAnswer, FleetCoverage, FleetEvidence
from codenib.fleet.search.members import FleetMember, head_commit, place_of
from codenib.fleet.search.merge import Slot, share_places
from codenib.fleet.search.routing import Routing, route
from codenib.fleet.search.summaries import CurrentSummaries, SummaryCache
from codenib.fleet.search.workspaces import OpenWorkspaces
from codenib.planner.signals import read_signals
from codenib.serving.search.lexical import Ranking, rank
from codenib.serving.snapshots.pinned import PinnedSnapshot
from codenib.views.lexical.query import query_terms
from codenib.views.lexical.read import Term

#: Repositories that are opened for a query.
DEFAULT_ASKED = 8
_NEXT = 10  # names of those that come next which an answer lists


@dataclass(frozen=True, slots=True)
class FleetRequest:
    """A ranked question to many repositories; see `SearchRequest` for what the fields mean.

    At most `ask` repositories are opened.
    """

    query: str
    k: int = 10
    level: ResultLevel = "unit"
    paths: Sequence[str] = ()
    tests: Tests | None = None
    ask: int = DEFAULT_ASKED


@dataclass(frozen=True, slots=True)
class _Asked:
    """A repository that was opened: what answered, and its best places by the statistics of all."""

    member: FleetMember
    pinned: PinnedSnapshot
    ranking: Ranking
    relevance: float
    seconds: float


class RankedSearch:
    """Answers ranked questions from the published views of many repositories."""

    def __init__(self, workspaces: OpenWorkspaces, summaries: SummaryCache) -> None:
        self._workspaces = workspaces
        self._summaries = summaries

    def search(self, request: FleetRequest, members: Sequence[FleetMember]) -> FleetAnswer:
        """The best places of the repositories whose summaries fit best."""
        started = time.perf_counter()
        _check(request)
        terms = query_terms(request.query)
        current = self._summaries.current(members)
        routing = route(terms, current.summaries)
        by_name = {member.name: member for member in members}
        unavailable = dict(current.unavailable)
        asked: dict[str, _Asked] = {}
        for name, relevance in zip(routing.names, routing.relevance, strict=True):
            if len(asked) == request.ask:
                break
            try:
                asked[name] = self._score(by_name[name], request, terms, routing, relevance)
            except (CodenibError, OSError) as error:
                unavailable[name] = error.message if isinstance(error, CodenibError) else str(error)
        scores = {name: each.ranking.scores for name, each in asked.items()}
        slots = share_places(scores, request.k)
        items, failed = self._fill(request, slots, asked)
        unavailable.update(failed)
        total = sum(each.ranking.total for each in asked.values())
        return FleetAnswer(
            items=items,
            total=total,
            truncated=total > len(items),
            coverage=_coverage(members, routing, asked, current, unavailable=unavailable, items=items),
            seconds=time.perf_counter() - started,
            note="" if items else _why_nothing(request, asked),
        )

    def _score(
        self,
        member: FleetMember,
        request: FleetRequest,
        terms: Sequence[Term],
        routing: Routing,
        relevance: float,
    ) -> _Asked:
        """The best places of one repository, by the statistics of all that are in question."""
        started = time.perf_counter()
        signals = read_signals(request.query)
        pinned = self._workspaces.pin(member)
        view = pinned.lexical
        accepts = path_filter(request.paths)
        allowed = None
        if accepts is not None:
            import numpy as np

            allowed = np.fromiter(map(accepts, view.paths), bool, len(view.paths))
        ranking = rank(
            view,
            view.score(terms, collection=routing.collection),
            level=request.level,
            k=request.k,
            tests=request.tests or ("include" if signals.about_tests else "lower"),
            allowed=allowed,
            spread=signals.is_question,
        )
        return _Asked(member, pinned, ranking, relevance, time.perf_counter() - started)

    def _fill(
        self, request: FleetRequest, slots: Sequence[Slot], asked: Mapping[str, _Asked]
    ) -> tuple[tuple[FleetEvidence, ...], dict[str, str]]:
        """Each repository's own best results in the places that its scores earned."""
        counts: dict[str, int] = {}
        for slot in slots:
            counts[slot.repository] = counts.get(slot.repository, 0) + 1
        own: dict[str, list[FleetEvidence]] = {}
        failed: dict[str, str] = {}
        scores: dict[str, list[float]] = {}
        for slot in slots:
            scores.setdefault(slot.repository, []).append(slot.score)
        for name, count in counts.items():
            try:
                answer = self._ask(asked[name].member, request, count)
            except CodenibError as error:
                failed[name] = error.message
                continue
            own[name] = [
                FleetEvidence(name, item, round(score, 6))
                for item, score in zip(answer.items, scores[name], strict=False)
            ]
        items = []
        for slot in slots:
            if own.get(slot.repository):
                items.append(own[slot.repository].pop(0))
        return tuple(items), failed

    def _ask(self, member: FleetMember, request: FleetRequest, k: int) -> Answer:
        """What the repository itself would answer."""
        asked = SearchRequest(
            request.query,
            k=k,
            level=request.level,
            paths=request.paths,
            tests=request.tests,
            snapshot=PUBLISHED,
        )
        with self._workspaces.borrow(member) as workspace:
            return workspace.searcher.search(asked)


def _check(request: FleetRequest) -> None:
    if not request.query.strip():
        raise InputError("the query is empty", hint="codenib fleet search 'what to look for'")
    if request.k < 1 or request.ask < 1:
        raise InputError(
            "k and the repositories to ask must be at least 1", hint="codenib fleet search -k 10"
        )


def _why_nothing(request: FleetRequest, asked: Mapping[str, _Asked]) -> str:
    if request.paths and asked:
        return f"nothing matches below {', '.join(request.paths)}"
    return "" if asked else "no repository that could be asked has a word of the query"


def _coverage(
    members: Sequence[FleetMember],
    routing: Routing,
    asked: Mapping[str, _Asked],
    current: CurrentSummaries,
    *,
    unavailable: Mapping[str, str],
    items: Sequence[FleetEvidence],
) -> FleetCoverage:
    """Who was asked, who not, and why."""
    rest = [name for name in routing.names if name not in asked and name not in unavailable]
    named = set(routing.names)
    # Without a word of the query a repository has no result, unless its summary lacks some of its words.
    without = [name for name in current.summaries if name not in named]
    unknown = [name for name in without if current.summaries[name].left_out]
    rows = []
    for name, each in asked.items():
        if name in unavailable:
            continue
        best = each.ranking.scores[0] if each.ranking.scores else 0.0
        results = sum(item.repository == name for item in items)
        rows.append(
            AskedRepository(
                name=name,
                snapshot=each.pinned.ref,
                behind=is_behind(each.member, each.pinned),
                relevance=round(each.relevance, 4),
                best=round(best, 4),
                results=results,
                seconds=round(each.seconds, 6),
            )
        )
    rows.sort(key=lambda row: (-row.best, row.name))
    return FleetCoverage(
        repositories=len(members),
        asked=tuple(rows),
        unlikely=len(rest) + len(unknown),
        next_likely=tuple(rest[:_NEXT]),
        excluded=len(without) - len(unknown),
        unavailable=unavailable,
    )


def is_behind(member: FleetMember, pinned: PinnedSnapshot) -> bool | None:
    """Whether the repository has moved on since what is published; None where git's files do not tell."""
    folder = place_of(member.path).git_folder
    commit = head_commit(folder) if folder is not None else None
    return None if commit is None else commit != pinned.manifest.commit
