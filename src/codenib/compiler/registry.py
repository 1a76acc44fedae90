"""Which views there are: one row a kind in `VIEWS`, with all that the compiler and serving ask about it.

Rows are cheap to import. Builders, readers and derivers load numpy, parsers and more, so each comes from a
function that imports it when it is first needed: an update that finds nothing to do loads none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from codenib.compiler.dense import DenseChoice
from codenib.compiler.graph import FindBackends, GraphChoice
from codenib.compiler.history import HistoryChoice
from codenib.core.embedding import OpenEmbedder
from codenib.core.errors import InputError
from codenib.core.protocols import Deriver, Progress, ViewChoice, ViewMaintainer
from codenib.core.source import DEFAULT_SETTINGS, SourceSettings, SourceSnapshot
from codenib.core.views import ArtifactProfile, ViewKind
from codenib.manifest.store import Store
from codenib.snapshot.repository import Repository
from codenib.views.lexical.profile import lexical_profile
from codenib.views.trigram.profile import trigram_profile, zoekt_profile

if TYPE_CHECKING:
    from codenib.views.dense.store import CodeVectorStore
    from codenib.views.graph.read import GraphView
    from codenib.views.history.read import HistoryView
    from codenib.views.lexical.read import LexicalView
    from codenib.views.trigram.read import TrigramView
    from codenib.views.trigram.zoekt import ZoektView

ChoiceT = TypeVar("ChoiceT", bound=ViewChoice)
ReaderT = TypeVar("ReaderT")


@dataclass(frozen=True, slots=True)
class ViewContext:
    """What a view may need to know of the repository that it is built for."""

    repository: Repository
    store: Store
    progress: Progress
    open_embedder: OpenEmbedder
    find_backends: FindBackends


@dataclass(frozen=True, slots=True)
class RegisteredView(Generic[ChoiceT, ReaderT]):
    """One kind of view: how a repository chooses it, how an artifact is opened, and what the view needs.

    A view is `default` when it is built unless others are named, and `slow` when it comes behind the text
    views, each published by itself: nobody waits long for it who did not ask for it. It has `reads_records`
    unless it reads its sources itself (engines read files, git reads its objects). `follows_commits` says
    that its content is a function of the commit, not of the files: then the nearest base is one of the same
    commit.
    """

    kind: ViewKind
    choose: Callable[[ViewContext], ChoiceT]
    open: Callable[[Path], ReaderT]
    derivers: Callable[[], Sequence[Deriver]] = tuple
    default: bool = False
    slow: bool = False
    reads_records: bool = True
    follows_commits: bool = False


class TextView:
    """A view of which a repository chooses nothing: the settings of the snapshot alone decide."""

    def __init__(
        self,
        profile: Callable[[SourceSettings], ArtifactProfile],
        builder: Callable[[SourceSettings], ViewMaintainer],
    ) -> None:
        self._profile = profile
        self._builder = builder
        self._settings = DEFAULT_SETTINGS

    @classmethod
    def of(cls, builder: ViewMaintainer) -> TextView:
        """The view that one given builder builds."""
        return cls(lambda _: builder.profile(), lambda _: builder)

    def settle(self, snapshot: SourceSnapshot) -> None:
        """Take over the settings of the snapshot."""
        self._settings = snapshot.settings

    def profile(self) -> ArtifactProfile:
        return self._profile(self._settings)

    def builder(self) -> ViewMaintainer:
        return self._builder(self._settings)

    def rebuilder(self, published: Path, scratch: Path) -> AbstractContextManager[ViewMaintainer]:
        return nullcontext(self.builder())


# -- lexical


def _build_lexical(settings: SourceSettings) -> ViewMaintainer:
    from codenib.views.lexical.view import LexicalViewBuilder

    return LexicalViewBuilder(settings)


def _open_lexical(folder: Path) -> LexicalView:
    from codenib.views.lexical.read import LexicalView

    return LexicalView(folder)


def _lexical_derivers() -> Sequence[Deriver]:
    from codenib.views.lexical.derive import TermDeriver

    return (TermDeriver(),)


LEXICAL = RegisteredView(
    ViewKind.LEXICAL,
    choose=lambda _: TextView(lexical_profile, _build_lexical),
    open=_open_lexical,
    derivers=_lexical_derivers,
    default=True,
)

# -- trigram


def _build_trigram(settings: SourceSettings) -> ViewMaintainer:
    from codenib.views.trigram.view import TrigramViewBuilder

    return TrigramViewBuilder(settings)


def _open_trigram(folder: Path) -> TrigramView:
    from codenib.views.trigram.read import TrigramView

    return TrigramView.open(folder)


def _trigram_derivers() -> Sequence[Deriver]:
    from codenib.views.trigram.derive import TrigramDeriver

    return (TrigramDeriver(),)


TRIGRAM = RegisteredView(
    ViewKind.TRIGRAM,
    choose=lambda _: TextView(trigram_profile, _build_trigram),
    open=_open_trigram,
    derivers=_trigram_derivers,
    default=True,
)

# -- zoekt


def _build_zoekt(settings: SourceSettings) -> ViewMaintainer:
    from codenib.views.trigram.zoekt_view import ZoektViewBuilder

    return ZoektViewBuilder(settings)


def _open_zoekt(folder: Path) -> ZoektView:
    from codenib.views.trigram.zoekt import ZoektView

    return ZoektView.open(folder)


ZOEKT = RegisteredView(
    ViewKind.ZOEKT, choose=lambda _: TextView(zoekt_profile, _build_zoekt), open=_open_zoekt
)

# -- dense


def _choose_dense(context: ViewContext) -> DenseChoice:
    return DenseChoice(
        context.store, context.repository.worktree_key, context.progress, context.open_embedder
    )


def _open_dense(folder: Path) -> CodeVectorStore:
    from codenib.views.dense.store import CodeVectorStore

    return CodeVectorStore(folder)


DENSE = RegisteredView(ViewKind.DENSE, choose=_choose_dense, open=_open_dense, default=True, slow=True)

# -- graph


def _choose_graph(context: ViewContext) -> GraphChoice:
    return GraphChoice(context.repository, context.store, context.progress, context.find_backends)


def _open_graph(folder: Path) -> GraphView:
    from codenib.views.graph.read import GraphView

    return GraphView(folder)


GRAPH = RegisteredView(ViewKind.GRAPH, choose=_choose_graph, open=_open_graph, slow=True, reads_records=False)

# -- history


def _choose_history(context: ViewContext) -> HistoryChoice:
    return HistoryChoice(context.repository, context.progress)


def _open_history(folder: Path) -> HistoryView:
    from codenib.views.history.read import HistoryView

    return HistoryView(folder)


HISTORY = RegisteredView(
    ViewKind.HISTORY,
    choose=_choose_history,
    open=_open_history,
    default=True,
    slow=True,
    reads_records=False,
    follows_commits=True,
)

# -- the registry

VIEWS: Mapping[ViewKind, RegisteredView[Any, Any]] = {
    view.kind: view for view in (LEXICAL, TRIGRAM, ZOEKT, DENSE, HISTORY, GRAPH)
}
DEFAULT_VIEWS = tuple(view.kind for view in VIEWS.values() if view.default)
#: The default views that an answer waits for: all that words and patterns need.
TEXT_VIEWS = tuple(view.kind for view in VIEWS.values() if view.default and not view.slow)
#: Built behind the others, in this order: vectors first, engines last.
SLOW_VIEWS = tuple(view.kind for view in VIEWS.values() if view.slow)


def derivers_of(kinds: Sequence[ViewKind]) -> dict[str, Deriver]:
    """The derivers whose records these views read, by name."""
    return {deriver.name: deriver for kind in kinds for deriver in VIEWS[kind].derivers()}


def parse_views(names: str) -> tuple[ViewKind, ...]:
    """`lexical,trigram` as kinds, in the registry's order."""
    wanted = {name.strip() for name in names.split(",") if name.strip()}
    known = {kind.value for kind in VIEWS}
    if not wanted or wanted - known:
        what = ", ".join(sorted(wanted - known)) or "none"
        raise InputError(f"unknown view: {what}", hint=f"codenib index --views {','.join(sorted(known))}")
    return tuple(kind for kind in VIEWS if kind.value in wanted)
