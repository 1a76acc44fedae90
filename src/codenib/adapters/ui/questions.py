"""The parameters of an address in, the same JSON as the command of that name prints with `--json` out.

A parameter has the name of the command's option. The functions behind are those of the commands: `Workspace`
answers, `adapters.envelopes` makes the envelope.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from codenib.adapters.envelopes import answers, navigation, upkeep
from codenib.core.errors import InputError
from codenib.core.requests import (
    ExploreRequest,
    HistoryRequest,
    ModulesRequest,
    NavigationRequest,
    NeighbourRelation,
    NeighboursRequest,
    OverviewRequest,
    ProviderChoice,
    RegexRequest,
    ResultLevel,
    SearchRequest,
    SnapshotRequest,
    Tests,
)
from codenib.serving.navigation.positions import parse_place
from codenib.serving.workspace import Workspace

_EVERYTHING = 1_000_000  # for `k=0`, as the commands have it
_LONGEST_S = 10.0  # of a pattern


class Parameters(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What every question takes: a revision, and whether the views are brought up first."""

    at: str | None = None
    no_refresh: bool = False
    wait: bool = False

    @property
    def snapshot(self) -> SnapshotRequest:
        """The snapshot that is asked for."""
        return SnapshotRequest(self.at or None, "never" if self.no_refresh else "auto", self.wait)


class SearchParameters(Parameters, kw_only=True):
    """`search` and `plan`. Only the command line names rerankers: they load folders and call models."""

    query: str
    k: int = 10
    route: str = "auto"
    budget: str = "balanced"
    fusion: str = "auto"
    expand: bool = False
    level: ResultLevel = "unit"
    tests: Tests | None = None
    paths: list[str] = []
    explain: bool = False

    @property
    def request(self) -> SearchRequest:
        """The question as the searcher takes it."""
        return SearchRequest(
            self.query, k=self.k or _EVERYTHING, route=self.route, budget=self.budget, level=self.level,
            paths=tuple(self.paths), tests=self.tests, fusion=self.fusion, expand=self.expand,
            explain=self.explain, snapshot=self.snapshot,
        )  # fmt: skip


class RegexParameters(Parameters, kw_only=True):
    """`regex`"""

    pattern: str
    k: int = 100
    ignore_case: bool = False
    literal: bool = False
    multiline: bool = False
    context: int = 0
    paths: list[str] = []


class PlaceParameters(Parameters, kw_only=True):
    """`read`, `units`, `outline` and `history`: a path, with lines or not."""

    place: str
    k: int = 20


class NavigationParameters(Parameters, kw_only=True):
    """`def` and `refs`"""

    where: str
    k: int | None = None
    name: str = ""
    provider: ProviderChoice = "auto"
    no_declaration: bool = False


class NeighbourParameters(Parameters, kw_only=True):
    """`callers`, `callees` and `deps`; `incoming` and `subtypes` are for `deps`."""

    where: str
    name: str = ""
    depth: int = 1
    k: int = 50
    kind: list[str] = []
    incoming: bool = False
    subtypes: bool = False


class DrawingParameters(NeighbourParameters, kw_only=True):
    """`graph`: `k` is for each side."""

    k: int = 20


class PathParameters(Parameters, kw_only=True):
    """`path`"""

    start: str
    goal: str


class SymbolParameters(Parameters, kw_only=True):
    """`symbols`"""

    query: str
    k: int = 20


class ExploreParameters(Parameters, kw_only=True):
    """`explore`"""

    query: str
    max_tokens: int = 4000
    paths: list[str] = []


class MapParameters(Parameters, kw_only=True):
    """`map`"""

    query: str = ""
    max_tokens: int = 1000


class UpdatesParameters(Parameters, kw_only=True):
    """`updates`"""

    k: int = 5


class OverviewParameters(Parameters, kw_only=True):
    """`overview`"""

    folder: str = ""
    k: int = 20


class ModulesParameters(Parameters, kw_only=True):
    """`modules`"""

    folder: str = ""
    open: list[str] = []
    tests: Tests = "exclude"
    k: int = 40


@dataclass(frozen=True, slots=True)
class PageQuestion:
    """One question of the API: its parameters and who answers.

    `early`: it needs no view, so it is answered while the first ones are built; `navigates`: it may ask a
    language server; `scans`: it searches by a pattern of the visitor, which may take all of its time limit.
    """

    parameters: type[Parameters]
    answer: Callable[[Workspace, Any], Any]
    early: bool = False
    navigates: bool = False
    scans: bool = False


def parse_parameters(kind: type[Parameters], given: Sequence[tuple[str, str]]) -> Parameters:
    """The values of an address as a question takes them; what may be repeated is a list."""
    repeated = {each.name for each in msgspec.structs.fields(kind) if each.type == list[str]}
    values: dict[str, Any] = {}
    for name, value in given:
        if name in repeated:
            values.setdefault(name, []).append(value)
        else:
            values[name] = value
    try:
        return msgspec.convert(values, kind, strict=False)
    except msgspec.ValidationError as error:
        raise InputError(str(error), hint="docs/ui.md lists the parameters of each question") from error


def search(workspace: Workspace, given: SearchParameters) -> answers.SearchReply:
    return answers.search_reply(workspace.searcher.search(given.request))


def plan(workspace: Workspace, given: SearchParameters) -> answers.PlanReply:
    started = time.perf_counter()
    explained = workspace.searcher.explain(given.request)
    return answers.plan_reply(explained, time.perf_counter() - started)


def regex(workspace: Workspace, given: RegexParameters) -> answers.RegexReply:
    request = RegexRequest(
        given.pattern, k=given.k or None, ignore_case=given.ignore_case, literal=given.literal,
        multiline=given.multiline, context=given.context, paths=tuple(given.paths), timeout_s=_LONGEST_S,
        snapshot=given.snapshot,
    )  # fmt: skip
    return answers.regex_reply(workspace.searcher.regex(request))


def read(workspace: Workspace, given: PlaceParameters) -> answers.ReadReply | answers.FolderReply:
    started, written = time.perf_counter(), parse_place(given.place)
    try:
        passage = workspace.reader.read(written.target, written.lines, given.snapshot)
    except InputError:
        entries = [] if written.line else answers.folder_entries(workspace, written.target, given.snapshot)
        if not entries:
            raise
        ref = workspace.reader.snapshot(given.snapshot)
        return answers.folder_reply(entries, ref, time.perf_counter() - started)
    return answers.read_reply(passage, time.perf_counter() - started)


def units(workspace: Workspace, given: PlaceParameters) -> answers.UnitsReply:
    started = time.perf_counter()
    listed = workspace.reader.units(given.place, given.snapshot)
    ref = workspace.reader.snapshot(given.snapshot)
    return answers.units_reply(listed, ref, time.perf_counter() - started)


def history(workspace: Workspace, given: PlaceParameters) -> answers.HistoryReply:
    written = parse_place(given.place)
    request = HistoryRequest(written.target, *written.lines, given.k, given.snapshot)
    return answers.history_reply(workspace.navigator.history(request))


def blame(workspace: Workspace, given: PlaceParameters) -> answers.BlameReply:
    written = parse_place(given.place)
    request = HistoryRequest(written.target, *written.lines, snapshot=given.snapshot)
    return answers.blame_reply(workspace.navigator.blame(request))


def explore(workspace: Workspace, given: ExploreParameters) -> answers.ExploreReply:
    request = ExploreRequest(given.query, given.max_tokens, tuple(given.paths), given.snapshot)
    return answers.explore_reply(workspace.explorer.explore(request, None))


def repo_map(workspace: Workspace, given: MapParameters) -> answers.MapReply:
    return answers.map_reply(workspace.explorer.map(given.query or None, given.max_tokens, given.snapshot))


def overview(workspace: Workspace, given: OverviewParameters) -> answers.OverviewReply:
    request = OverviewRequest(given.folder, given.k, given.snapshot)
    return answers.overview_reply(workspace.explorer.overview(request))


def modules(workspace: Workspace, given: ModulesParameters) -> answers.ModulesReply:
    request = ModulesRequest(
        given.folder, given.open or None, given.k or _EVERYTHING, tests=given.tests, snapshot=given.snapshot
    )
    return answers.modules_reply(workspace.explorer.modules(request))


def definition(workspace: Workspace, given: NavigationParameters) -> navigation.NavigationReply:
    request = NavigationRequest(
        given.where, given.name, given.provider, limit=given.k or None, snapshot=given.snapshot
    )
    answer = workspace.navigator.definition(request)
    return navigation.navigation_reply(answer, [place.text.partition("\n")[0] for place in answer])


def references(workspace: Workspace, given: NavigationParameters) -> navigation.NavigationReply:
    limit = 100 if given.k is None else given.k or None
    request = NavigationRequest(
        given.where, given.name, given.provider, limit, not given.no_declaration, snapshot=given.snapshot
    )
    answer = workspace.navigator.references(request)
    return navigation.navigation_reply(answer, [place.text.partition("\n")[0] for place in answer])


def _neighbours(relation: NeighbourRelation | Literal["deps"]) -> Callable[[Workspace, Any], Any]:
    def ask(workspace: Workspace, given: NeighbourParameters) -> navigation.GraphReply:
        wanted: NeighbourRelation
        if relation == "deps":
            wanted = "subtypes" if given.subtypes else "dependents" if given.incoming else "dependencies"
        else:
            wanted = relation
        request = NeighboursRequest(
            given.where, wanted, given.name, given.depth, given.k or _EVERYTHING,
            kinds=tuple(given.kind), snapshot=given.snapshot,
        )  # fmt: skip
        return navigation.graph_reply(workspace.navigator.neighbours(request), around=True)

    return ask


def drawing(workspace: Workspace, given: DrawingParameters) -> navigation.DrawingReply:
    relations: tuple[NeighbourRelation, ...] = ("dependents", "dependencies")
    before, after = (
        workspace.navigator.neighbours(
            NeighboursRequest(
                given.where,
                relation,
                given.name,
                given.depth,
                given.k or _EVERYTHING,
                snapshot=given.snapshot,
            )
        )
        for relation in relations
    )
    return navigation.drawing_reply(before, after)


def path(workspace: Workspace, given: PathParameters) -> navigation.GraphReply:
    return navigation.graph_reply(workspace.navigator.path(given.start, given.goal, given.snapshot))


def symbols(workspace: Workspace, given: SymbolParameters) -> navigation.GraphReply:
    answer = workspace.navigator.symbols(given.query, given.k or _EVERYTHING, given.snapshot)
    return navigation.graph_reply(answer)


def outline(workspace: Workspace, given: PlaceParameters) -> navigation.GraphReply:
    return navigation.graph_reply(workspace.navigator.outline(given.place, given.snapshot))


def updates(workspace: Workspace, given: UpdatesParameters) -> upkeep.UpdatesReply:
    started = time.perf_counter()
    every = workspace.maintenance.recent_updates(given.k or _EVERYTHING)
    total = workspace.maintenance.published_count()
    return upkeep.updates_reply(every, total, time.perf_counter() - started)


def status(workspace: Workspace, given: Parameters) -> upkeep.StatusReply:
    started = time.perf_counter()
    report = workspace.status()
    return upkeep.status_reply(report, time.perf_counter() - started)


#: By the name of the command that prints the same.
QUESTIONS: dict[str, PageQuestion] = {
    "search": PageQuestion(SearchParameters, search),
    "plan": PageQuestion(SearchParameters, plan),
    "regex": PageQuestion(RegexParameters, regex, scans=True),
    "read": PageQuestion(PlaceParameters, read, early=True),
    "units": PageQuestion(PlaceParameters, units),
    "history": PageQuestion(PlaceParameters, history),
    "blame": PageQuestion(PlaceParameters, blame),
    "explore": PageQuestion(ExploreParameters, explore),
    "map": PageQuestion(MapParameters, repo_map),
    "overview": PageQuestion(OverviewParameters, overview),
    "modules": PageQuestion(ModulesParameters, modules),
    "def": PageQuestion(NavigationParameters, definition, navigates=True),
    "refs": PageQuestion(NavigationParameters, references, navigates=True),
    "callers": PageQuestion(NeighbourParameters, _neighbours("callers"), navigates=True),
    "callees": PageQuestion(NeighbourParameters, _neighbours("callees"), navigates=True),
    "deps": PageQuestion(NeighbourParameters, _neighbours("deps"), navigates=True),
    "graph": PageQuestion(DrawingParameters, drawing, navigates=True),
    "path": PageQuestion(PathParameters, path, navigates=True),
    "symbols": PageQuestion(SymbolParameters, symbols, navigates=True),
    "outline": PageQuestion(PlaceParameters, outline, navigates=True),
    "updates": PageQuestion(UpdatesParameters, updates, early=True),
    "status": PageQuestion(Parameters, status, early=True),
}
