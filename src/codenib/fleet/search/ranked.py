"""A query and members of a fleet in, one ranked answer out: route, score, share the places, let each rank."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from codenib.core.answers import Answer, Evidence
from codenib.core.errors import CodenibError, InputError
from codenib.core.requests import PUBLISHED, ResultLevel, SearchRequest, Tests
from codenib.core.text.globs import path_filter
from codenib.fleet.search.answers import AskedRepository, FleetAnswer, FleetCoverage, FleetEvidence
from codenib.fleet.search.members import FleetMember, head_commit, place_of
from codenib.fleet.search.merge import RepositoryStanding, Slot, beliefs, share_places
from codenib.fleet.search.routing import RoutedRepository, Routing, route
from codenib.fleet.search.summaries import CurrentSummaries, SummaryCache
from codenib.fleet.search.workspaces import OpenWorkspaces
from codenib.planner.signals import Signals, read_signals
from codenib.serving.search.evidence import Retrieval, evidence
from codenib.serving.search.lexical import Ranking, rank
from codenib.serving.snapshots.pinned import PinnedSnapshot
from codenib.serving.snapshots.reader import link_source
from codenib.views.lexical.query import query_terms
from codenib.views.lexical.read import Term

#: Repositories that are opened for a query, unless it says how many.
DEFAULT_ASKED = 8
# One that is less likely than this share of the likeliest is then not opened. On the rows of routing.py two
# or three are opened for an issue text and five for a commit message, at no cost of File Recall@10.
_LEAST = 0.003
_OWN_ORDER = 2
_NEXT = 10  # names of those that come next which an answer lists


@dataclass(frozen=True, slots=True)
class FleetRequest:
    """A ranked question to many repositories; see `SearchRequest` for what the fields mean.

    `ask` repositories are opened; without a number those that may be meant, `DEFAULT_ASKED` at most.
    """

    query: str
    k: int = 10
    level: ResultLevel = "unit"
    paths: Sequence[str] = ()
    tests: Tests | None = None
    ask: int | None = None

    def opens(self, relevance: float, opened: int) -> bool:
        """Whether the next repository is opened, after so many."""
        if self.ask is None:
            return opened < DEFAULT_ASKED and relevance >= _LEAST
        return opened < self.ask


@dataclass(frozen=True, slots=True)
class _Question:
    """A request with what its text says, read once for all repositories."""

    request: FleetRequest
    signals: Signals
    terms: Sequence[Term]

    @property
    def tests(self) -> Tests:
        return self.request.tests or ("include" if self.signals.about_tests else "lower")


@dataclass(frozen=True, slots=True)
class _Asked:
    """A repository that was opened: what answered, and its best places by the statistics of all."""

    member: FleetMember
    pinned: PinnedSnapshot
    ranking: Ranking
    terms: tuple[Term, ...]
    routed: RoutedRepository
    seconds: float

    @property
    def standing(self) -> RepositoryStanding:
        """What earns its places in the answer."""
        scores = self.ranking.scores
        return RepositoryStanding(self.routed.relevance, scores[0] if scores else 0.0, len(scores))


class RankedSearch:
    """Answers ranked questions from the published views of many repositories."""

    def __init__(self, workspaces: OpenWorkspaces, summaries: SummaryCache) -> None:
        self._workspaces = workspaces
        self._summaries = summaries

    def search(self, request: FleetRequest, members: Sequence[FleetMember]) -> FleetAnswer:
        """The best places of the repositories whose summaries fit best."""
        started = time.perf_counter()
        _check(request)
        question = _Question(request, read_signals(request.query), query_terms(request.query))
        current = self._summaries.current(members)
        routing = route(request.query, question.terms, current.summaries)
        by_name = {member.name: member for member in members}
        unavailable = dict(current.unavailable)
        asked: dict[str, _Asked] = {}
        for routed in routing.repositories:
            if not request.opens(routed.relevance, len(asked)):
                break
            try:
                asked[routed.name] = self._score(by_name[routed.name], question, routing, routed)
            except (CodenibError, OSError) as error:
                unavailable[routed.name] = error.message if isinstance(error, CodenibError) else str(error)
        slots = share_places({name: each.standing for name, each in asked.items()}, request.k)
        items, failed = self._fill(question, slots, asked)
        unavailable.update(failed)
        total = sum(each.ranking.total for each in asked.values())
        return FleetAnswer(
            items=items,
            total=total,
            truncated=total > len(items),
            coverage=_coverage(
                question, members, routing, asked, current=current, unavailable=unavailable, items=items
            ),
            seconds=time.perf_counter() - started,
            note="" if items else _why_nothing(request, asked),
        )

    def _score(
        self, member: FleetMember, question: _Question, routing: Routing, routed: RoutedRepository
    ) -> _Asked:
        """The best places of one repository, by the statistics of all that are in question."""
        started = time.perf_counter()
        request = question.request
        pinned = self._workspaces.pin(member)
        view = pinned.lexical
        scores = view.score(question.terms, collection=routing.collection)
        wanted = Retrieval(request.query, request.k, accepts=path_filter(request.paths))
        ranking = rank(
            view,
            scores,
            level=request.level,
            k=request.k,
            tests=question.tests,
            allowed=wanted.allowed(view.paths),
            spread=question.signals.is_question,
        )
        seconds = time.perf_counter() - started
        return _Asked(member, pinned, ranking, scores.terms, routed=routed, seconds=seconds)

    def _fill(
        self, question: _Question, slots: Sequence[Slot], asked: Mapping[str, _Asked]
    ) -> tuple[tuple[FleetEvidence, ...], dict[str, str]]:
        """Each repository's own best results in the places that it earned."""
        places: dict[str, list[float]] = {}
        for slot in slots:
            places.setdefault(slot.repository, []).append(slot.score)
        own: dict[str, list[FleetEvidence]] = {}
        failed: dict[str, str] = {}
        for name, scores in places.items():
            try:
                results = self._results(asked[name], question, len(scores))
            except CodenibError as error:
                failed[name] = error.message
                continue
            own[name] = [
                FleetEvidence(name, item, round(score, 6))
                for item, score in zip(results, scores, strict=False)
            ]
        items = [own[slot.repository].pop(0) for slot in slots if own.get(slot.repository)]
        return tuple(items), failed

    def _results(self, asked: _Asked, question: _Question, count: int) -> Sequence[Evidence]:
        """The first results of a repository in its own order.

        The learned order of a long text costs 20 ms a repository: one that earned less than `_OWN_ORDER`
        places gives its best by words.
        """
        if question.signals.is_question or count >= _OWN_ORDER:
            return self._ask(asked.member, question.request, count).items
        best = zip(asked.ranking.numbers[:count], asked.ranking.scores[:count], strict=True)
        items = evidence(asked.pinned.lexical, question.request.level, best, asked.terms)
        with self._workspaces.borrow(asked.member) as workspace:
            link_source(items, workspace.snapshots, asked.pinned.ref.id)
        return items

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
    if request.k < 1 or (request.ask is not None and request.ask < 1):
        raise InputError(
            "k and the repositories to ask must be at least 1", hint="codenib fleet search -k 10"
        )


def _why_nothing(request: FleetRequest, asked: Mapping[str, _Asked]) -> str:
    if request.paths and asked:
        return f"nothing matches below {', '.join(request.paths)}"
    return "" if asked else "no repository that could be asked has a word of the query"


def _coverage(
    question: _Question,
    members: Sequence[FleetMember],
    routing: Routing,
    asked: Mapping[str, _Asked],
    *,
    current: CurrentSummaries,
    unavailable: Mapping[str, str],
    items: Sequence[FleetEvidence],
) -> FleetCoverage:
    """Who was asked, who not, and why."""
    named = [each.name for each in routing.repositories]
    rest = [name for name in named if name not in asked and name not in unavailable]
    # Without a word of the query a repository has no result, unless its summary lacks some of its words.
    without = [name for name in current.summaries if name not in set(named)]
    unknown = [name for name in without if current.summaries[name].left_out]
    likely = beliefs({name: each.standing for name, each in asked.items()})
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
                relevance=round(each.routed.relevance, 4),
                likelihood=round(likely[name], 4),
                called=each.routed.called,
                words=each.routed.words(question.terms),
                best=round(best, 4),
                results=results,
                seconds=round(each.seconds, 6),
            )
        )
    rows.sort(key=lambda row: (-likely[row.name], row.name))
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
