"""What the graph answered in, the same with its claim out: what was resolved, where, and what is not known.

`all` is said only when an engine resolved every file of the language group, and knows what the name is
wherever code has it. Else the answer counts the files that it did not, and lists the name there, labelled.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from codenib.core.facts import BY_NAME, FileScope, NodeKind
from codenib.core.navigation import Location, Position
from codenib.core.requests import NavigationQuestion, NavigationRequest, NeighboursRequest, SnapshotRequest
from codenib.core.symbols import GraphAnswer, NavigationAnswer, Symbol
from codenib.core.views import ViewKind
from codenib.serving.navigation import by_name
from codenib.serving.navigation.by_name import NamedPlaces
from codenib.serving.navigation.positions import last_name
from codenib.serving.navigation.resolve import resolved_group
from codenib.units.languages import language_hint

if TYPE_CHECKING:
    from codenib.serving.snapshots.pinned import PinnedSnapshot
    from codenib.serving.snapshots.pool import Snapshots
    from codenib.views.graph.unresolved import UnknownName

#: How a live server's label ends while it has not read everything: there may be more than it answers.
STILL_LOADING = "still loading"
#: What no engine of C resolves, live or not.
UNREAD_LINES = "in bodies of macros or lines that the compiler leaves out"
_HANDED_OUT = frozenset({NodeKind.FUNCTION, NodeKind.METHOD, NodeKind.CLASS})
_NAME = re.compile(r"[\w$]+")
_EVERY_LINE = range(1, 1 << 31)
_NAMED = 3  # unresolved files that a note names
#: How a note calls the files of a scope; those of the project need no words.
_WORDS = {
    FileScope.LOOSE: "in files that no project includes",
    FileScope.VARIANT: "under another configuration",
    FileScope.INFERRED: "in files whose configuration was inferred",
    BY_NAME: "by name",
}


@dataclass(frozen=True, slots=True)
class OpenFiles:
    """The files of a language group in which uses may be unknown."""

    pinned: PinnedSnapshot
    unresolved: Sequence[str] = ()  # the engine gave no facts of them
    partial: Sequence[str] = ()  # imports of them lead to no package
    unsure: Sequence[str] = ()  # the engine read the asked name in them and could not resolve it
    others: frozenset[str] = frozenset()  # all others
    group: str = ""

    def __len__(self) -> int:
        return len(self.paths)

    @property
    def paths(self) -> frozenset[str]:
        return frozenset((*self.unresolved, *self.partial, *self.unsure))

    @property
    def note(self) -> str:
        """How many there are, in words; empty for none."""
        return _joined(
            describe_unresolved(self.unresolved),
            _describe_partial(self.partial),
            _describe(self.unsure, "where uses of this name are not resolved"),
        )

    @property
    def why_unknown(self) -> str:
        """Why a name may be unknown where an engine read the file, in words."""
        return UNREAD_LINES if self.group == "cpp" else "where the type of what has the name is not known"

    def is_unknown(self, place: Position) -> bool:
        """Whether the graph knows nothing of what stands at a place of these files."""
        from codenib.views.graph.navigate import starts_at
        from codenib.views.graph.unresolved import is_unresolved_at

        view = self.pinned.graph
        if place.path in self.unsure and is_unresolved_at(view, place):
            return True
        return place.path in self.unresolved or (place.path in self.partial and not starts_at(view, place))


def open_files(pinned: PinnedSnapshot, path: str, name: str = "") -> OpenFiles:
    """The files of a path's language group that were not resolved, or in part, or where `name` was not."""
    from codenib.views.graph.unresolved import files_unresolved

    view = pinned.graph
    file = view.file_number(path)
    if file is None:
        return OpenFiles(pinned)
    group = view.group(file)
    unresolved, partial = (
        view.files_of_scope(group, scope) for scope in (FileScope.UNRESOLVED, FileScope.PARTIAL)
    )
    unsure = files_unresolved(view, name) if name else ()
    others = view.files_of_group(group) - {*unresolved, *partial, *unsure}
    return OpenFiles(pinned, unresolved, partial, unsure, others=others, group=group)


@dataclass(frozen=True, slots=True)
class _Unknown:
    """Where a name stands and nothing says what it is there."""

    open_places: NamedPlaces  # in files that nobody resolved, or in part
    tokens: Sequence[UnknownName]  # in code of all others
    why: str

    @property
    def places(self) -> tuple[Location, ...]:
        return (
            *self.open_places.places,
            *(Location(*each.start, *each.end, scope=BY_NAME) for each in self.tokens),
        )

    @property
    def count(self) -> int:
        """How many places there may be, at least."""
        return self.open_places.unknown + len(self.tokens)

    @property
    def note(self) -> str:
        told = f"{len(self.tokens):,} {self.why}" if self.tokens else ""
        return _joined(told, self.open_places.note)


def _unknown_places(
    snapshots: Snapshots, missing: OpenFiles, name: str, request: SnapshotRequest
) -> _Unknown:
    from codenib.views.graph.unresolved import unknown_places

    found = by_name.places_in_files(snapshots, name, missing.paths, request)
    places = tuple(
        each for each in found.places if missing.is_unknown(Position(each.path, each.line, each.column))
    )
    tokens = [each for each in unknown_places(missing.pinned.graph, name) if each.path in missing.others]
    return _Unknown(NamedPlaces(places, found.whole), tokens, missing.why_unknown)


def _stays_inside(pinned: PinnedSnapshot, position: Position) -> bool:
    """Whether what stands at a position cannot be named outside its function, or is nothing at all.

    A function inside another may be handed out, and be called by its name elsewhere; what is outside the
    repository is named everywhere.
    """
    from codenib.views.graph.navigate import declared_at, occurrence_at

    view = pinned.graph
    at = occurrence_at(view, position)
    keys = [*declared_at(view, position), *(view.keys_of(at) if at is not None else ())]
    inside = [key for key in keys if key < view.count]
    if not inside:
        return not keys
    return all(
        key < view.nodes_at or (view.is_local(key) and view.kind(key) not in _HANDED_OUT) for key in inside
    )


def _written_name(pinned: PinnedSnapshot, answer: NavigationAnswer) -> str:
    """The name of what was asked for, as code has it: what is outside is known by its library, too."""
    from codenib.views.graph.navigate import declared_at

    view, place = pinned.graph, answer.position
    declared = [view.names[node] for node in declared_at(view, place)]
    if declared or _NAME.fullmatch(answer.asked):
        return declared[0] if declared else answer.asked
    return by_name.name_at(pinned.text(place.path).split("\n")[place.line - 1], place.column)


def claim(
    snapshots: Snapshots,
    pinned: PinnedSnapshot,
    question: NavigationQuestion,
    answer: NavigationAnswer,
    request: NavigationRequest,
) -> NavigationAnswer:
    """An answer of the graph says what it does not know, one of a server that it is still loading."""
    if answer.provider == "live" and answer.backend.endswith(STILL_LOADING):
        note = _joined(answer.note, f"the server is {STILL_LOADING}: there may be more")
        return replace(answer, completeness="partial", note=note)
    if answer.provider == "live" and question == "references":
        return _claim_live(snapshots, pinned, answer, request)
    if answer.provider != "static":
        return answer
    if question == "definition":
        return claim_definitions(pinned, answer)
    return claim_references(snapshots, pinned, answer, request)


def _claim_live(
    snapshots: Snapshots, pinned: PinnedSnapshot, answer: NavigationAnswer, request: NavigationRequest
) -> NavigationAnswer:
    """Clangd reads neither the bodies of macros nor what a condition leaves out: what its references lack is
    listed as for the graph, or else said."""
    path, line = answer.position.path, answer.position.line
    if language_hint(path) not in ("c", "cpp") or answer.completeness == "unknown":
        return answer
    if resolved_group(pinned, path) is None:
        note = _joined(answer.note, f"there may be more {UNREAD_LINES}")
        return replace(answer, completeness="partial", note=note)
    asked = by_name.name_at(pinned.text(path).split("\n")[line - 1], answer.position.column)
    return claim_references(snapshots, pinned, replace(answer, asked=asked), request)


def claim_references(
    snapshots: Snapshots, pinned: PinnedSnapshot, answer: NavigationAnswer, request: NavigationRequest
) -> NavigationAnswer:
    """References from the graph, with those of the same name where nobody resolved it."""
    name = _written_name(pinned, answer)
    missing = open_files(pinned, answer.position.path, name)
    unknown = _Unknown(NamedPlaces(), (), "")
    if answer.granularity == "occurrence" and not _stays_inside(pinned, answer.position):
        unknown = _unknown_places(snapshots, missing, name, request.snapshot)
    if not missing and not unknown.count:
        return replace(answer, note=_joined(answer.note, describe_scopes(answer.locations)))
    listed = frozenset(answer.locations)
    places = [each for each in unknown.places if each not in listed]
    room = None if request.limit is None else max(request.limit - len(answer.locations), 0)
    locations = (*answer.locations, *places[:room])
    return replace(
        answer,
        locations=locations,
        total=answer.total + len(places),
        completeness="partial",
        unresolved=answer.unresolved + len(missing),
        note=_joined(answer.note, missing.note, describe_scopes(locations), unknown.note),
    )


def claim_definitions(pinned: PinnedSnapshot, answer: NavigationAnswer) -> NavigationAnswer:
    """Definitions from the graph: where there is none, it may be in a file that nobody resolved."""
    answer = replace(answer, note=_joined(answer.note, describe_scopes(answer.locations)))
    missing = open_files(pinned, answer.position.path)
    is_around = answer.granularity == "enclosing" and answer.position.path in missing.partial
    if not missing or ((answer.total or answer.outside) and not is_around):
        return answer
    note = _joined(answer.note, missing.note)
    return replace(answer, completeness="partial", unresolved=len(missing), note=note)


def claim_neighbours(
    pinned: PinnedSnapshot,
    answer: GraphAnswer,
    named: GraphAnswer | None = None,
    missing: OpenFiles | None = None,
    note: str = "",
) -> GraphAnswer:
    """Symbols of the graph, with how many files of the first one's language nobody resolved.

    `named` are uses in the files of `missing` by name, which come last.
    """
    if missing is None:
        missing = open_files(pinned, answer.symbols[0].path) if answer.symbols else OpenFiles(pinned)
    scopes = Counter(each.scope for each in answer.symbols if each.depth)
    said = named.note if named is not None else ""
    notes = _joined(answer.note, missing.note, _count(scopes), said, note)
    return replace(answer, unresolved=len(missing), note=notes)


def claim_users(
    snapshots: Snapshots, pinned: PinnedSnapshot, answer: GraphAnswer, request: NeighboursRequest
) -> GraphAnswer:
    """Neighbours from the graph; who uses the same name where nobody resolved it comes last, labelled."""
    start = answer.symbols[0]
    if request.relation in ("callees", "dependencies"):
        return _claim_used(pinned, answer)
    name = last_name(start.qualified)
    missing = open_files(pinned, start.path, name)
    if not missing and start.kind == "file":
        return claim_neighbours(pinned, answer)
    from codenib.serving.navigation.neighbours import users_of_unknown
    from codenib.serving.navigation.syntactic_neighbours import append_named

    if start.kind == "file":
        named = _users_by_name(snapshots, pinned, start, request, dict.fromkeys(missing.paths, _EVERY_LINE))
        return claim_neighbours(pinned, append_named(answer, named, request.k), named, missing)
    unknown = _unknown_places(snapshots, missing, name, request.snapshot)
    by_text = unknown.open_places.places if request.relation != "subtypes" else unknown.places
    lines: dict[str, set[int]] = {}
    for each in by_text:
        lines.setdefault(each.path, set()).add(each.line)
    named = _users_by_name(snapshots, pinned, start, request, lines) if by_text else None
    answer = append_named(replace(answer, unknown=answer.unknown + unknown.count), named, request.k)
    if request.relation != "subtypes":  # whether a header names a type is told by its text alone
        answer = append_named(answer, users_of_unknown(pinned, start, unknown.tokens, request), request.k)
    return claim_neighbours(pinned, answer, named, missing, unknown.note)


def _users_by_name(
    snapshots: Snapshots,
    pinned: PinnedSnapshot,
    start: Symbol,
    request: NeighboursRequest,
    lines: Mapping[str, Collection[int]],
) -> GraphAnswer | None:
    """Who uses the name of a symbol on some lines of files, as their text tells."""
    from codenib.serving.navigation.meanings import meanings_in_graph
    from codenib.serving.navigation.syntactic_neighbours import NeighboursByName

    def counts(path: str, line: int) -> bool:
        return path in lines and (not line or line in lines[path])

    lexical, _ = snapshots.pin(ViewKind.LEXICAL, request.snapshot)
    asking = NeighboursByName(snapshots, lexical, replace(request, depth=1), counts)
    if start.kind == "file":
        return asking.of_file(start.path) if request.relation == "dependents" else None
    meanings = meanings_in_graph(pinned, last_name(start.qualified))
    declared = [each for each in meanings if each.place.path == start.path]
    return asking.of_symbol(declared) if declared else None


def _claim_used(pinned: PinnedSnapshot, answer: GraphAnswer) -> GraphAnswer:
    """What a symbol uses, with how many names in its text were not resolved."""
    from codenib.views.graph.unresolved import count_unresolved_within

    claimed = claim_neighbours(pinned, answer)
    count = 0
    for start in answer.starts:
        inside = count_unresolved_within(pinned.graph, start.id)
        if not inside and start.kind != "file":
            inside = by_name.count_unknown_calls(pinned.graph, start.path, start.line, start.end_line)
        count += inside
    if not count:
        return claimed
    words = f"{count:,} name{'s' * (count > 1)} in it not resolved"
    return replace(claimed, unknown=count, note=_joined(claimed.note, words))


def describe_unresolved(missing: Sequence[str]) -> str:
    """
    >>> describe_unresolved(["a.pyx"]), describe_unresolved([])
    ('1 file not resolved: a.pyx', '')
    """
    return _describe(missing, "not resolved")


def _describe_partial(partial: Sequence[str]) -> str:
    """
    >>> _describe_partial(["a.go"])
    '1 file with imports that lead to no package: a.go'
    """
    return _describe(partial, "with imports that lead to no package")


def _describe(paths: Sequence[str], words: str) -> str:
    if not paths:
        return ""
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    return f"{len(paths):,} file{'s' * (len(paths) > 1)} {words}: {', '.join(paths[:_NAMED])}{more}"


def describe_scopes(places: Sequence[Location]) -> str:
    """How many places are in files that the project does not include, in words; empty when none is."""
    return _count(Counter(each.scope for each in places))


def _count(scopes: Counter[str]) -> str:
    return ", ".join(f"{scopes[scope]:,} {words}" for scope, words in _WORDS.items() if scopes[scope])


def _joined(*notes: str) -> str:
    return "; ".join(dict.fromkeys(filter(None, notes)))
