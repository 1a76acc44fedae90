"""Static answers beside live ones: sampled positions in, match rates and every mismatch by category out.

Two answers match when they name the same paths and start lines in the repository. Limits are applied after
sorting, as the paper's are; rates without limits stand beside them.

A server searches the files that it has loaded; the graph has all. Where only the graph names a place, the
server itself says who is right: when its definition there is what it is at the asked position, static is. A
server that remembers what was open is started anew and asked, at what the graph says is declared, for its
references: clangd reads a header that cannot stand alone wrongly once it is open, but its index, made by the
compiler from those who include it, has it right. A Go file that the default build leaves out is asked about
at a second server, started with the tags that the file names. Parameters of macros, of which no server knows
anything, are in no rate, nor are its guesses by name in lines that no compiler reads, where the graph answers
by name too.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import TYPE_CHECKING

from codenib.core.answers import SnapshotRef
from codenib.core.errors import InputError, ProviderError, StateError
from codenib.core.navigation import Location, Position, SortedLocations
from codenib.core.protocols import Progress
from codenib.core.requests import NavigationQuestion, NavigationRequest
from codenib.navigation.cpp.macros import macro_parameters
from codenib.navigation.live.session import LiveRequest
from codenib.serving.navigation.by_name import name_at
from codenib.serving.navigation.live import LiveServers
from codenib.serving.navigation.resolve import resolved_group
from codenib.units.languages import language_hint
from codenib.views.graph.facts.code_names import identifiers
from codenib.views.graph.navigate import definitions, references

if TYPE_CHECKING:
    from codenib.serving.snapshots.pinned import PinnedSnapshot

LIMITS: dict[NavigationQuestion, int] = {"definition": 8, "references": 40}  # the paper's
_MOST_PLACES = 8  # places of each side that a mismatch names
_CHECKED = 6  # further places of a static answer at which the server is asked
_TRIES = 30  # draws per wanted position, for files without identifiers

Lines = frozenset[tuple[str, int]]
STATIC_IS_RIGHT = "static is right: the server's definition there leads back"
INDEX_AGREES = "static is right: the server's index lists the place"
TAGGED_AGREES = "static is right: the server agrees when it is started with the file's tags"
MACRO_PARAMETER = "apart: a parameter of a macro, of which servers know nothing"
GUESS = "apart: the server takes another of the name; it knows no reference there"
_WARM_UPS = 5  # gopls refuses references of `int64` and other builtins
_MOST_RESTARTS = 60  # of a server, each for one declaration


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A position where the two providers differ, with what only one of them names."""

    question: str
    position: str
    name: str
    text: str
    category: str
    only_live: tuple[str, ...]
    only_static: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rates:
    """`n` counts positions where either provider answers; `limited` is the rate after the paper's limits.

    `right_rate` also counts where they differ and the server's own definitions, or its index, confirm static.
    `live_errors` counts positions where the server failed: they are in no rate.
    """

    n: int
    match_rate: float
    right_rate: float
    limited: float
    both_empty: int
    live_errors: int
    static_p50_ms: float
    live_p50_ms: float
    speedup: float  # of the medians, on matching requests


@dataclass(frozen=True, slots=True)
class NavigationComparison:
    """What `compare-navigation` prints."""

    snapshot: SnapshotRef
    positions: int
    groups: dict[str, int]
    backends: dict[str, str]
    servers: dict[str, str]
    definitions: Rates
    references: Rates
    mismatches: tuple[Mismatch, ...]
    categories: dict[str, int] = field(default_factory=dict)
    warm_up_s: float = 0.0


@dataclass(frozen=True, slots=True)
class _Pair:
    question: NavigationQuestion
    position: Position
    name: str
    static: Lines = frozenset()
    live: Lines = frozenset()
    static_s: float = 0.0
    live_s: float = 0.0
    same_limited: bool = True
    failed: bool = False
    places: tuple[Location, ...] = ()  # of static
    confirmed: str = ""  # the category of a mismatch where static is right
    apart: str = ""  # the category of a mismatch that is in no rate


def compare(
    pinned: PinnedSnapshot,
    servers: LiveServers,
    *,
    n: int,
    seed: int,
    paths: Sequence[str],
    progress: Progress,
) -> NavigationComparison:
    """Ask both providers at `n` sampled identifiers."""
    served = [path for path in paths or pinned.graph.paths if servers.has_server(path)]
    sample = list(draw(pinned, n, seed, served)) if served else []
    if not sample:
        alone = sorted({group for path in pinned.graph.paths if (group := resolved_group(pinned, path))})
        if alone and not served:
            raise InputError(f"no language server is known to compare with: {', '.join(alone)} has none")
        raise StateError("the graph has no resolved facts to compare", hint="codenib tools")
    # A server remembers files that it only guesses at once they were open: those come last.
    sample.sort(key=lambda each: (not servers.is_covered(each[0].path), each))
    started = time.perf_counter()
    for group in {resolved_group(pinned, position.path) for position, _ in sample}:
        _warm_up(servers, [each for each, _ in sample if resolved_group(pinned, each.path) == group])
    warm_up_s = time.perf_counter() - started
    pairs: list[_Pair] = []
    opened = ""
    for done, (position, name) in enumerate(sample):
        progress("comparing", done, len(sample))
        if position.path != opened:
            # What else is open can change a server's answer, so that only the file asked about is.
            servers.provider(position.path).keep_open(position.path)
            opened = position.path
        pairs += [_ask(pinned, servers, question, position, name) for question in LIMITS]
    progress("comparing", len(sample), len(sample))
    # After all answers: the files that are opened for it may change later ones.
    pairs = [_judged(pinned, servers, pair) for pair in _guesses_apart(servers, pairs)]
    index = _IndexOracle(pinned, servers)
    pairs = [
        replace(pair, confirmed=INDEX_AGREES) if _is_open(pair) and index.agrees(pair) else pair
        for pair in pairs
    ]
    mismatches = [_mismatch(pinned, pair) for pair in pairs if pair.static != pair.live and not pair.failed]
    groups = Counter(resolved_group(pinned, position.path) or "" for position, _ in sample)
    firsts = [each.path for each in _first_of_each_group(pinned, sample)]
    used = {resolved_group(pinned, path) or "": servers.require(path) for path in firsts}
    return NavigationComparison(
        snapshot=pinned.ref,
        positions=len(sample),
        groups=dict(groups),
        backends={each.group: each.label for each in pinned.graph.about.groups if each.group in groups},
        servers=used,
        definitions=_rates([pair for pair in pairs if pair.question == "definition"]),
        references=_rates([pair for pair in pairs if pair.question == "references"]),
        mismatches=tuple(mismatches),
        categories=dict(Counter(each.category for each in mismatches)),
        warm_up_s=round(warm_up_s, 3),
    )


def draw(
    pinned: PinnedSnapshot, n: int, seed: int, paths: Sequence[str] = ()
) -> Iterator[tuple[Position, str]]:
    """`n` identifiers: a file with resolved facts, then one of its identifiers, each equally likely."""
    chosen = random.Random(seed)
    allowed = set(paths)
    files = [
        path
        for path in pinned.graph.paths
        if resolved_group(pinned, path) and (not allowed or path in allowed)
    ]
    names: dict[str, list[tuple[int, int, str]]] = {}
    drawn: set[Position] = set()
    for _ in range(n * _TRIES if files else 0):
        if len(drawn) == n:
            return
        path = chosen.choice(files)
        if path not in names:
            names[path] = identifiers(pinned.text(path).encode(), language_hint(path))
        if not names[path]:
            continue
        line, column, name = chosen.choice(names[path])
        position = Position(path, line, column)
        if position not in drawn:
            drawn.add(position)
            yield position, name


def _warm_up(servers: LiveServers, positions: Sequence[Position]) -> None:
    """Let a server read its project, at the first of a few positions that it does not refuse."""
    for at in positions[:_WARM_UPS]:
        try:
            servers.provider(at.path).warm_up([LiveRequest(question, at) for question in LIMITS])
        except ProviderError:
            if at == positions[:_WARM_UPS][-1]:
                raise
        else:
            return


def _first_of_each_group(pinned: PinnedSnapshot, sample: Iterable[tuple[Position, str]]) -> list[Position]:
    first: dict[str, Position] = {}
    for position, _ in sample:
        first.setdefault(resolved_group(pinned, position.path) or "", position)
    return list(first.values())


def _ask(
    pinned: PinnedSnapshot, servers: LiveServers, question: NavigationQuestion, position: Position, name: str
) -> _Pair:
    started = time.perf_counter()
    static = (definitions if question == "definition" else references)(pinned.graph, position)
    between = time.perf_counter()
    try:
        live, _ = servers.ask(question, position, NavigationRequest(position), pinned.files)
    except ProviderError:
        return _Pair(question, position, name, failed=True)
    ended = time.perf_counter()
    ours = static.locations if static.granularity == "occurrence" else ()
    limit = LIMITS[question]
    return _Pair(
        question,
        position,
        name,
        static=_lines(ours),
        live=_lines(live.locations),
        static_s=between - started,
        live_s=ended - between,
        same_limited=_lines(ours[:limit]) == _lines(live.locations[:limit]),
        places=tuple(ours),
    )


def _is_open(pair: _Pair) -> bool:
    """Whether nobody has said yet who is right."""
    return pair.static != pair.live and not (pair.failed or pair.apart or pair.confirmed)


def _guesses_apart(servers: LiveServers, pairs: Sequence[_Pair]) -> Iterator[_Pair]:
    """The pairs, with guesses set apart.

    Where no compiler reads a line, clangd's definition is anything of the same name that it ever saw. One
    that it knows has a reference: the place itself.
    """
    nothing = {pair.position for pair in pairs if pair.question == "references" and not pair.live}
    for pair in pairs:
        guesses = pair.question == "definition" and pair.position in nothing and not pair.static
        if pair.live and guesses and servers.remembers_opened(pair.position.path):
            yield replace(pair, apart=GUESS)
        else:
            yield pair


def _judged(pinned: PinnedSnapshot, servers: LiveServers, pair: _Pair) -> _Pair:
    """A pair with what the running server itself says of who is right."""
    if _is_open(pair) and resolved_group(pinned, pair.position.path) == "cpp":
        is_c = pair.position.path.endswith(".c")
        parameters = macro_parameters(pinned.text(pair.position.path), is_c=is_c)
        if (pair.position.line - 1, pair.position.column) in parameters:
            return replace(pair, apart=MACRO_PARAMETER)
    if _is_open(pair) and pair.live < pair.static and _is_confirmed(pinned, servers, pair):
        return replace(pair, confirmed=STATIC_IS_RIGHT)
    if _is_open(pair) and pair.live < pair.static and _is_confirmed_with_tags(pinned, servers, pair):
        return replace(pair, confirmed=TAGGED_AGREES)
    return pair


class _IndexOracle:
    """What servers that were started anew list as the references of a declaration."""

    def __init__(self, pinned: PinnedSnapshot, servers: LiveServers) -> None:
        self._pinned = pinned
        self._servers = servers
        self._listed: dict[Position, Lines] = {}

    def agrees(self, pair: _Pair) -> bool:
        """Whether it lists the asked place where static has another definition, or the further places."""
        if not self._servers.remembers_opened(pair.position.path) or not pair.static:
            return False
        if pair.question == "definition":
            here = (pair.position.path, pair.position.line)
            return not pair.static & pair.live and here in self._references(pair.position)
        return pair.live <= pair.static and self._leads_back(pair)

    def _leads_back(self, pair: _Pair) -> bool:
        """Whether each further place is listed, or the server's definition there is the graph's here."""
        listed = self._references(pair.position) | pair.live
        further = [each for each in pair.places if (each.path, each.line) not in listed]
        declared = _lines(definitions(self._pinned.graph, pair.position).locations)
        step = max(len(further) // _CHECKED, 1)
        places = [Position(each.path, each.line, each.column) for each in further[::step]]
        return all(_defined(self._pinned, self._servers, place) & declared for place in places)

    def _references(self, position: Position) -> Lines:
        """The references of all that the graph says is declared for a position."""
        declared = definitions(self._pinned.graph, position).locations
        found: set[tuple[str, int]] = set()
        for each in declared:
            found |= self._of(Position(each.path, each.line, each.column))
        return frozenset(found)

    def _of(self, declaration: Position) -> Lines:
        """Asked at the declaration or, in a header that it cannot read, where a compiled file uses it."""
        if declaration not in self._listed and len(self._listed) < _MOST_RESTARTS:
            found = self._asked_at(declaration)
            uses = references(self._pinned.graph, declaration).locations
            compiled = (each for each in uses if self._servers.is_covered(each.path))
            if not found and (use := next(compiled, None)) is not None:
                listed = self._asked_at(Position(use.path, use.line, use.column))
                found = listed if (declaration.path, declaration.line) in listed else found
            self._listed[declaration] = found
        return self._listed.get(declaration, frozenset())

    def _asked_at(self, place: Position) -> Lines:
        self._servers.provider(place.path).renew()
        return _lines(_answer(self._pinned, self._servers, "references", place).locations)


def _is_confirmed(pinned: PinnedSnapshot, servers: LiveServers, pair: _Pair) -> bool:
    """Whether the server's definition at further places of a static answer is that of the asked position."""
    if pair.question != "references":
        return False
    further = [each for each in pair.places if (each.path, each.line) not in pair.live]
    asked = _defined(pinned, servers, pair.position)
    step = max(len(further) // _CHECKED, 1)
    places = [Position(each.path, each.line, each.column) for each in further[::step]]
    return bool(asked) and all(_defined(pinned, servers, place) & asked for place in places)


def _is_confirmed_with_tags(pinned: PinnedSnapshot, servers: LiveServers, pair: _Pair) -> bool:
    """Whether servers with the tags of files that the default build leaves out agree.

    Of a definition the same must be said. Of references static must lack none that such a server lists, and
    at further places the definition must be that of the asked position.
    """
    asked = _defined_with_tags(pinned, servers, pair.position)
    if pair.question == "definition":
        return asked == pair.static
    listed = pair.live
    tagged = _with_tags(pinned, servers, pair.position)
    if tagged is not None:
        listed |= _lines(_answer(pinned, tagged, "references", pair.position).locations)
    further = [each for each in pair.places if (each.path, each.line) not in listed]
    step = max(len(further) // _CHECKED, 1)
    places = [Position(each.path, each.line, each.column) for each in further[::step]]
    leads_back = all(_defined_with_tags(pinned, servers, place) & asked for place in places)
    return bool(asked) and listed <= pair.static and leads_back


def _defined_with_tags(pinned: PinnedSnapshot, servers: LiveServers, position: Position) -> Lines:
    tagged = _with_tags(pinned, servers, position)
    return _defined(pinned, tagged or servers, position)


def _with_tags(pinned: PinnedSnapshot, servers: LiveServers, position: Position) -> LiveServers | None:
    return servers.with_tags(position.path, pinned.text(position.path))


def _defined(pinned: PinnedSnapshot, servers: LiveServers, position: Position) -> Lines:
    """Where the server says that a name is declared; what is outside the repository by its name alone."""
    found = _answer(pinned, servers, "definition", position)
    line = pinned.text(position.path).split("\n")[position.line - 1]
    outside = {(name_at(line, position.column), 0)} if found.outside else set()
    return _lines(found.locations) | outside


def _answer(
    pinned: PinnedSnapshot, servers: LiveServers, question: NavigationQuestion, position: Position
) -> SortedLocations:
    """What the server says while the file alone is open; nothing where it fails."""
    servers.provider(position.path).keep_open(position.path)
    try:
        return servers.ask(question, position, NavigationRequest(position), pinned.files)[0]
    except ProviderError:
        return SortedLocations((), 0, 0, "occurrence", "")


def _lines(locations: Iterable[Location]) -> Lines:
    return frozenset((each.path, each.line) for each in locations)


def _rates(pairs: Sequence[_Pair]) -> Rates:
    worked = [pair for pair in pairs if not (pair.failed or pair.apart)]
    asked = [pair for pair in worked if pair.static or pair.live]
    same = [pair for pair in asked if pair.static == pair.live]
    count = max(len(asked), 1)
    ours = median([pair.static_s for pair in same]) if same else 0.0
    theirs = median([pair.live_s for pair in same]) if same else 0.0
    return Rates(
        n=len(asked),
        match_rate=round(len(same) / count, 4),
        right_rate=round(sum(pair.static == pair.live or bool(pair.confirmed) for pair in asked) / count, 4),
        limited=round(sum(pair.same_limited for pair in asked) / count, 4),
        both_empty=len(worked) - len(asked),
        live_errors=sum(pair.failed for pair in pairs),
        static_p50_ms=round(ours * 1000, 4),
        live_p50_ms=round(theirs * 1000, 4),
        speedup=round(theirs / ours, 1) if ours else 0.0,
    )


def _mismatch(pinned: PinnedSnapshot, pair: _Pair) -> Mismatch:
    lines = pinned.text(pair.position.path).split("\n")
    text = lines[pair.position.line - 1].strip() if pair.position.line <= len(lines) else ""
    only_live, only_static = sorted(pair.live - pair.static), sorted(pair.static - pair.live)
    return Mismatch(
        question=pair.question,
        position=f"{pair.position.path}:{pair.position.line}:{pair.position.column + 1}",
        name=pair.name,
        text=text,
        category=_category(pair),
        only_live=tuple(f"{path}:{line}" for path, line in only_live[:_MOST_PLACES]),
        only_static=tuple(f"{path}:{line}" for path, line in only_static[:_MOST_PLACES]),
    )


def _category(pair: _Pair) -> str:
    if pair.confirmed or pair.apart:
        return pair.confirmed or pair.apart
    if not pair.static:
        return "static is empty"
    if not pair.live:
        return "live is empty"
    if pair.static < pair.live:
        return "static lacks places"
    if pair.live < pair.static:
        return "static has more places"
    return "disjoint" if not pair.static & pair.live else "each has its own"
