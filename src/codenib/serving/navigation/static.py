"""A position in a pinned graph in, what the graph answers out, with what an answer must say about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from codenib.core.navigation import Meaning, Position, SortedLocations
from codenib.core.requests import NavigationQuestion, NavigationRequest
from codenib.core.symbols import NavigationAnswer, Provider
from codenib.core.views import ViewKind
from codenib.serving.navigation.by_name import unknown_name_at
from codenib.serving.navigation.resolve import resolved_group

if TYPE_CHECKING:
    from codenib.serving.snapshots.pinned import PinnedSnapshot
#: The command that makes a graph.
BUILD = "codenib index --views graph"


def navigated(
    pinned: PinnedSnapshot, position: Position, matches: SortedLocations, provider: Provider, backend: str
) -> NavigationAnswer:
    limited = matches.total > len(matches.locations)
    # A server that could not load a file knows nothing of it, and does not say so.
    unknown = provider == "syntactic" or (provider == "live" and not matches.total and not matches.outside)
    return NavigationAnswer(
        locations=matches.locations,
        snapshot=pinned.ref,
        provider=provider,
        backend=backend,
        granularity=matches.granularity,
        completeness="unknown" if unknown else "limited" if limited else "all",
        total=matches.total,
        outside=matches.outside,
        asked=matches.asked,
        position=position,
        seconds=0.0,
    )


def references_of_all(
    pinned: PinnedSnapshot, meanings: Sequence[Meaning], request: NavigationRequest
) -> NavigationAnswer:
    """What refers to any of several declarations, each place once."""
    whole = replace(request, limit=None)
    positions = [Position(each.place.path, each.place.line, each.place.column) for each in meanings]
    asked = [ask_static("references", pinned, position, whole) for position in positions]
    places = sorted({place for matches, _ in asked for place in matches.locations})
    first, backend = asked[0]
    merged = replace(first, locations=tuple(places[: request.limit]), total=len(places))
    return navigated(pinned, positions[0], merged, "static", backend)


def ask_static(
    question: NavigationQuestion, pinned: PinnedSnapshot, position: Position, request: NavigationRequest
) -> tuple[SortedLocations, str]:
    from codenib.views.graph.navigate import definitions, references

    view, backend = pinned.graph, backend_of(pinned, position.path)
    if question == "definition":
        return definitions(view, position, request.limit), backend
    return references(view, position, request.limit, declarations=request.declarations), backend


def is_home(pinned: PinnedSnapshot, position: Position) -> bool:
    """Whether what a position declares stands for its symbol; asked there, clangd leads to the prototype."""
    from codenib.views.graph.navigate import declared_at, home_of

    return any(home_of(pinned.graph, node) == node for node in declared_at(pinned.graph, position))


def is_known(pinned: PinnedSnapshot, meaning: Meaning) -> bool:
    """Whether an engine resolved a declaration: not one in lines that the compiler leaves out."""
    place = meaning.place
    if resolved_group(pinned, place.path) is None:
        return False
    return not unknown_name_at(pinned.graph, Position(place.path, place.line, place.column))


def backend_of(pinned: PinnedSnapshot, path: str) -> str:
    view = pinned.graph
    group = view.group(view.file_number(path) or 0)
    return next(each.label for each in view.about.groups if each.group == group)


def unreadable_note(pinned: PinnedSnapshot, paths: Sequence[str]) -> str:
    """What to say when an answer comes from the last readable text of files that do not parse now."""
    if not pinned.graph.about.stale:
        return ""
    from codenib.views.graph.maintenance.stale_syntax import describe

    return describe(sorted(pinned.graph.about.stale.keys() & set(paths)))


def why_by_name(pinned: PinnedSnapshot, path: str) -> str:
    """Why a declaration of a file is answered about by its name."""
    if resolved_group(pinned, path) is not None:
        return "the engine does not read these lines"
    return no_facts_note(pinned, path)


def no_facts_note(pinned: PinnedSnapshot, path: str) -> str:
    if not pinned.has_fresh(ViewKind.GRAPH):
        return f"no fresh graph ({BUILD})"
    for each in pinned.graph.about.groups:
        if each.error and path:
            return f"no facts of {path}: {each.group}: {each.error}"
    return f"no facts of {path}: no semantic backend covers it"
