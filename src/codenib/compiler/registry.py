"""Which views and derivers there are. Profiles are cheap; builders load numpy and more, so they come late."""

from __future__ import annotations

from collections.abc import Sequence

from codenib.compiler.dense import DenseChoice
from codenib.core.errors import InputError
from codenib.core.protocols import Deriver, ViewMaintainer
from codenib.core.views import ArtifactProfile, ViewKind

DEFAULT_VIEWS = (ViewKind.LEXICAL, ViewKind.TRIGRAM)


def profile_of(kind: ViewKind, dense: DenseChoice | None = None) -> ArtifactProfile:
    """The profile that a view built now would have; `dense` says which dense view it is."""
    if kind is ViewKind.DENSE:
        return _chosen(dense).profile()
    if kind is ViewKind.LEXICAL:
        from codenib.views.lexical.profile import lexical_profile

        return lexical_profile()
    from codenib.views.trigram.profile import trigram_profile, zoekt_profile

    return zoekt_profile() if kind is ViewKind.ZOEKT else trigram_profile()


def builder_of(kind: ViewKind, dense: DenseChoice | None = None) -> ViewMaintainer:
    """The builder and maintainer of a view; `dense` says which dense view it is."""
    if kind is ViewKind.DENSE:
        return _chosen(dense).builder()
    if kind is ViewKind.LEXICAL:
        from codenib.views.lexical.view import LexicalViewBuilder

        return LexicalViewBuilder()
    if kind is ViewKind.ZOEKT:
        from codenib.views.trigram.zoekt_view import ZoektViewBuilder

        return ZoektViewBuilder()
    from codenib.views.trigram.view import TrigramViewBuilder

    return TrigramViewBuilder()


def derivers_of(kinds: Sequence[ViewKind]) -> dict[str, Deriver]:
    """The derivers that these views read, by name; the dense view reads units and text alone."""
    builders = (builder_of(kind) for kind in kinds if kind is not ViewKind.DENSE)
    return {deriver.name: deriver for builder in builders for deriver in builder.derivers()}


def parse_views(names: str) -> tuple[ViewKind, ...]:
    """`lexical,trigram` as kinds, in the registry's order."""
    wanted = {name.strip() for name in names.split(",") if name.strip()}
    known = {kind.value for kind in ViewKind}
    if not wanted or wanted - known:
        what = ", ".join(sorted(wanted - known)) or "none"
        raise InputError(f"unknown view: {what}", hint=f"codenib index --views {','.join(sorted(known))}")
    return tuple(kind for kind in ViewKind if kind.value in wanted)


def _chosen(dense: DenseChoice | None) -> DenseChoice:
    if dense is None:
        raise LookupError("the dense view is a repository's own choice")
    return dense
