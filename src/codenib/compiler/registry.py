"""Which views and derivers there are. Profiles are cheap; builders load numpy and more, so they come late."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from codenib.compiler.dense import DenseChoice
from codenib.compiler.graph import GraphChoice
from codenib.compiler.history import HistoryChoice
from codenib.core.errors import InputError
from codenib.core.protocols import Deriver, ViewMaintainer
from codenib.core.views import ArtifactProfile, ViewKind

Choice = TypeVar("Choice", DenseChoice, GraphChoice, HistoryChoice)
DEFAULT_VIEWS = (ViewKind.LEXICAL, ViewKind.TRIGRAM)
_CHOSEN = (ViewKind.DENSE, ViewKind.GRAPH, ViewKind.HISTORY)


def profile_of(
    kind: ViewKind,
    dense: DenseChoice | None = None,
    graph: GraphChoice | None = None,
    history: HistoryChoice | None = None,
) -> ArtifactProfile:
    """The profile that a view built now would have; the choices say which theirs are."""
    if kind is ViewKind.DENSE:
        return _chosen(dense).profile()
    if kind is ViewKind.GRAPH:
        return _chosen(graph).profile()
    if kind is ViewKind.HISTORY:
        return _chosen(history).profile()
    if kind is ViewKind.LEXICAL:
        from codenib.views.lexical.profile import lexical_profile

        return lexical_profile()
    from codenib.views.trigram.profile import trigram_profile, zoekt_profile

    return zoekt_profile() if kind is ViewKind.ZOEKT else trigram_profile()


def builder_of(
    kind: ViewKind,
    dense: DenseChoice | None = None,
    graph: GraphChoice | None = None,
    history: HistoryChoice | None = None,
) -> ViewMaintainer:
    """The builder and maintainer of a view; the choices say which theirs are."""
    if kind is ViewKind.DENSE:
        return _chosen(dense).builder()
    if kind is ViewKind.GRAPH:
        return _chosen(graph).builder()
    if kind is ViewKind.HISTORY:
        return _chosen(history).builder()
    if kind is ViewKind.LEXICAL:
        from codenib.views.lexical.view import LexicalViewBuilder

        return LexicalViewBuilder()
    if kind is ViewKind.ZOEKT:
        from codenib.views.trigram.zoekt_view import ZoektViewBuilder

        return ZoektViewBuilder()
    from codenib.views.trigram.view import TrigramViewBuilder

    return TrigramViewBuilder()


def derivers_of(kinds: Sequence[ViewKind]) -> dict[str, Deriver]:
    """The derivers that these views read, by name; those that are a repository's own choice need none."""
    builders = (builder_of(kind) for kind in kinds if kind not in _CHOSEN)
    return {deriver.name: deriver for builder in builders for deriver in builder.derivers()}


def parse_views(names: str) -> tuple[ViewKind, ...]:
    """`lexical,trigram` as kinds, in the registry's order."""
    wanted = {name.strip() for name in names.split(",") if name.strip()}
    known = {kind.value for kind in ViewKind}
    if not wanted or wanted - known:
        what = ", ".join(sorted(wanted - known)) or "none"
        raise InputError(f"unknown view: {what}", hint=f"codenib index --views {','.join(sorted(known))}")
    return tuple(kind for kind in ViewKind if kind.value in wanted)


def _chosen(choice: Choice | None) -> Choice:
    if choice is None:
        raise LookupError("the dense view, the graph and the history are a repository's own choice")
    return choice
