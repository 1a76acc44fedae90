"""What the graph answered in, the same with its claim out: what was resolved, where, and what is not known.

`all` is said only when an engine resolved every file of the language group. Else the answer counts the files
that it did not, and names what is written alike in them, labelled as such.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from codenib.core.facts import BY_NAME, FileScope
from codenib.core.navigation import Location
from codenib.core.requests import NavigationRequest
from codenib.core.symbols import GraphAnswer, NavigationAnswer
from codenib.serving.navigation import by_name

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


def unresolved_files(pinned: PinnedSnapshot, path: str) -> list[str]:
    """The files of a path's language group that its engine gave no facts of."""
    view = pinned.graph
    file = view.file_number(path)
    return view.unresolved(view.group(file)) if file is not None else []


def claim_references(
    snapshots: Snapshots, pinned: PinnedSnapshot, answer: NavigationAnswer, request: NavigationRequest
) -> NavigationAnswer:
    """References from the graph, with those of the same name in files that nobody resolved."""
    missing = unresolved_files(pinned, answer.position.path)
    if not missing:
        return replace(answer, note=_joined(answer.note, describe_scopes(answer.locations)))
    places = by_name.places_in_files(snapshots, answer.asked, missing, request.snapshot)
    room = None if request.limit is None else max(request.limit - len(answer.locations), 0)
    locations = (*answer.locations, *places[:room])
    return replace(
        answer,
        locations=locations,
        total=answer.total + len(places),
        completeness="partial",
        unresolved=len(missing),
        note=_joined(answer.note, describe_unresolved(missing), describe_scopes(locations)),
    )


def claim_definitions(pinned: PinnedSnapshot, answer: NavigationAnswer) -> NavigationAnswer:
    """Definitions from the graph: where there is none, it may be in a file that nobody resolved."""
    answer = replace(answer, note=_joined(answer.note, describe_scopes(answer.locations)))
    missing = unresolved_files(pinned, answer.position.path)
    if answer.total or answer.outside or not missing:
        return answer
    note = _joined(answer.note, describe_unresolved(missing))
    return replace(answer, completeness="partial", unresolved=len(missing), note=note)


def claim_neighbours(pinned: PinnedSnapshot, answer: GraphAnswer) -> GraphAnswer:
    """Symbols of the graph, with how many files of the first one's language nobody resolved."""
    missing = unresolved_files(pinned, answer.symbols[0].path) if answer.symbols else []
    scopes = Counter(each.scope for each in answer.symbols if each.depth)
    note = _joined(answer.note, describe_unresolved(missing), _count(scopes))
    return replace(answer, unresolved=len(missing), note=note)


def describe_unresolved(missing: Sequence[str]) -> str:
    """
    >>> describe_unresolved(["a.pyx"]), describe_unresolved([])
    ('1 file not resolved: a.pyx', '')
    """
    if not missing:
        return ""
    more = f" and {len(missing) - _NAMED} more" if len(missing) > _NAMED else ""
    names = ", ".join(missing[:_NAMED])
    return f"{len(missing):,} file{'s' * (len(missing) > 1)} not resolved: {names}{more}"


def describe_scopes(places: Sequence[Location]) -> str:
    """How many places are in files that the project does not include, in words; empty when none is."""
    return _count(Counter(each.scope for each in places))


def _count(scopes: Counter[str]) -> str:
    return ", ".join(f"{scopes[scope]:,} {words}" for scope, words in _WORDS.items() if scopes[scope])


def _joined(*notes: str) -> str:
    return "; ".join(filter(None, notes))
