"""Names of arms, embedders and rerankers in, the arms of the retrieval study out: ways to ask, as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from codenib.core.answers import Answer
from codenib.core.errors import InputError
from codenib.core.requests import PUBLISHED, ResultLevel, SearchRequest, SnapshotRequest
from codenib.core.views import ViewKind
from codenib.serving.workspace import Workspace

_LEXICAL, _DENSE, _GRAPH = ViewKind.LEXICAL, ViewKind.DENSE, ViewKind.GRAPH


@dataclass(frozen=True, slots=True)
class Arm:
    """One way to ask, and the views that it needs."""

    name: str
    views: tuple[ViewKind, ...]
    route: str = "auto"
    budget: str = "balanced"
    reranker: str | None = None
    cut: int | None = None  # candidates that the reranker reads
    expand: bool = False
    level: ResultLevel = "unit"
    embedder: str = ""
    default: bool = True

    def ask(
        self, workspace: Workspace, query: str, k: int, *, at: str | None = None, paths: Sequence[str] = ()
    ) -> Answer:
        """Ask at the published head, or at `at`: nothing is built inside a timed question."""
        request = SearchRequest(
            query,
            k=k,
            route=self.route,
            budget=self.budget,
            reranker=self.reranker,
            cut=self.cut,
            expand=self.expand,
            level=self.level,
            paths=paths,
            snapshot=SnapshotRequest(at) if at else PUBLISHED,
        )
        return workspace.searcher.search(request)


ARMS = (
    Arm("lexical", (_LEXICAL,), route="lexical"),
    Arm("semantic", (_DENSE,), route="semantic"),
    Arm("hybrid", (_LEXICAL, _DENSE), route="hybrid"),
    Arm("lexical-files", (_LEXICAL,), route="lexical", level="file"),
    Arm("hybrid-files", (_LEXICAL, _DENSE), route="hybrid", level="file"),
    Arm("fast", (_LEXICAL, _DENSE), budget="fast"),
    Arm("balanced", (_LEXICAL, _DENSE), budget="balanced"),
    Arm("balanced-files", (_LEXICAL, _DENSE), level="file", default=False),
    # Language engines take minutes per commit, so the graph is asked for by name.
    Arm("structural", (_LEXICAL, _DENSE, _GRAPH), route="structural", default=False),
    Arm("semantic+graph", (_LEXICAL, _DENSE, _GRAPH), route="semantic", expand=True, default=False),
)


def arms_for(names: Sequence[str], embedders: Sequence[str], rerankers: Sequence[str]) -> list[Arm]:
    """The arms that were asked for, or the default ones; each further embedder and reranker adds its own."""
    known = {arm.name: arm for arm in ARMS}
    if unknown := [name for name in names if name not in known]:
        raise InputError(f"no arm {', '.join(unknown)}", hint=f"--arm {'|'.join(known)}")
    arms = [known[name] for name in names] if names else [arm for arm in ARMS if arm.default]
    for spec in embedders:
        arms += [
            replace(known[name], name=f"{name}@{_short(spec)}", embedder=spec)
            for name in ("semantic", "hybrid")
        ]
    # The paper's sweep of the pre-rerank cut.
    arms += [
        replace(known["hybrid"], name=f"{_short(spec)}@{cut}", reranker=spec, cut=cut)
        for spec in rerankers
        for cut in (30, 50, 100)
    ]
    return arms


def _short(spec: str) -> str:
    return spec.rstrip("/").rpartition("/")[2] or spec
