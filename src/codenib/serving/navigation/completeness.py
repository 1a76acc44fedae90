"""What the graph answered in, the same with its claim out: what was resolved, where, and what is not known.

`all` is said only when an engine resolved every file of the language group. Else the answer counts the files
that it did not, and names what is written alike in them, labelled as such.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from codenib.core.facts import BY_NAME, FileScope
from codenib.core.navigation import Location, Position
from codenib.core.requests import NavigationRequest, NeighboursRequest
from codenib.core.symbols import GraphAnswer, NavigationAnswer
from codenib.core.views import ViewKind
from codenib.serving.navigation import by_name
from codenib.serving.navigation.positions import last_name

if TYPE_CHECKING:
    from codenib.serving.snapshots.pinned import PinnedSnapshot
    from codenib.serving.snapshots.pool import Snapshots

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
    return OpenFiles(pinned, unresolved, partial, unsure)


def claim_references(
    snapshots: Snapshots, pinned: PinnedSnapshot, answer: NavigationAnswer, request: NavigationRequest
) -> NavigationAnswer:
    """References from the graph, with those of the same name where nobody resolved it."""
    missing = open_files(pinned, answer.position.path, answer.asked)
    if not missing:
        return replace(answer, note=_joined(answer.note, describe_scopes(answer.locations)))
    places = [
        each
        for each in by_name.places_in_files(snapshots, answer.asked, missing.paths, request.snapshot)
        if missing.is_unknown(Position(each.path, each.line, each.column))
    ]
    room = None if request.limit is None else max(request.limit - len(answer.locations), 0)
    locations = (*answer.locations, *places[:room])
    return replace(
        answer,
        locations=locations,
        total=answer.total + len(places),
        completeness="partial",
        unresolved=len(missing),
        note=_joined(answer.note, missing.note, describe_scopes(locations)),
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
) -> GraphAnswer:
    """Symbols of the graph, with how many files of the first one's language nobody resolved.

    `named` are uses in the files of `missing` by name, which come last.
    """
    if missing is None:
        missing = open_files(pinned, answer.symbols[0].path) if answer.symbols else OpenFiles(pinned)
    scopes = Counter(each.scope for each in answer.symbols if each.depth)
    note = _joined(answer.note, missing.note, _count(scopes), named.note if named is not None else "")
    return replace(answer, unresolved=len(missing), note=note)


def claim_users(
    snapshots: Snapshots, pinned: PinnedSnapshot, answer: GraphAnswer, request: NeighboursRequest
) -> GraphAnswer:
    """Neighbours from the graph; who uses the same name where nobody resolved it comes last, labelled."""
    start = answer.symbols[0]
    if request.relation in ("callees", "dependencies"):
        return _claim_used(pinned, answer)
    missing = open_files(pinned, start.path, last_name(start.qualified))
    if not missing:
        return claim_neighbours(pinned, answer)
    from codenib.serving.navigation.meanings import meanings_in_graph
    from codenib.serving.navigation.syntactic_neighbours import NeighboursByName, append_named

    word = re.compile(rf"(?<![\w$]){re.escape(last_name(start.qualified))}(?![\w$])")
    paths = missing.paths

    def is_unknown(path: str, line: int) -> bool:
        if path not in paths or not line:
            return path in paths
        text = lexical.text(path).split("\n")[line - 1]
        return any(missing.is_unknown(Position(path, line, at.start())) for at in word.finditer(text))

    lexical, _ = snapshots.pin(ViewKind.LEXICAL, request.snapshot)
    asking = NeighboursByName(snapshots, lexical, replace(request, depth=1), is_unknown)
    if start.kind == "file":
        named = asking.of_file(start.path) if request.relation == "dependents" else None
    else:
        meanings = meanings_in_graph(pinned, last_name(start.qualified))
        declared = [each for each in meanings if each.place.path == start.path]
        named = asking.of_symbol(declared) if declared else None
    return claim_neighbours(pinned, append_named(answer, named, request.k), named, missing)


def _claim_used(pinned: PinnedSnapshot, answer: GraphAnswer) -> GraphAnswer:
    """What a symbol uses, with how many names in its text were not resolved."""
    from codenib.views.graph.unresolved import count_unresolved_within

    claimed = claim_neighbours(pinned, answer)
    count = count_unresolved_within(pinned.graph, answer.symbols[0].id)
    if not count:
        return claimed
    words = f"{count:,} name{'s' * (count > 1)} in it not resolved"
    return replace(claimed, unresolved=max(claimed.unresolved, 1), note=_joined(claimed.note, words))


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
    return "; ".join(filter(None, notes))
