"""The arms of the retrieval study: a table; what this version cannot do is named, not skipped silently."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from codenib.core.answers import Answer
from codenib.core.errors import InputError
from codenib.core.requests import PUBLISHED, SearchRequest, SnapshotRequest
from codenib.core.views import ViewKind
from codenib.planner.plan import ROUTES
from codenib.serving.workspace import Workspace

_LEXICAL, _DENSE, _GRAPH = ViewKind.LEXICAL, ViewKind.DENSE, ViewKind.GRAPH


@dataclass(frozen=True, slots=True)
class Arm:
    """One way to ask. Fields that are empty are left to the product."""

    name: str
    views: tuple[ViewKind, ...]
    route: str = ""
    budget: str = ""
    reranker: str = ""
    cut: int = 0  # candidates that the reranker reads
    expand: bool = False
    level: Literal["unit", "file"] = "unit"
    embedder: str = ""
    default: bool = True

    def given(self) -> dict[str, object]:
        """The fields of a `SearchRequest` that this arm sets."""
        chosen: dict[str, object] = {"level": self.level} if self.level != "unit" else {}
        chosen.update(
            (name, value)
            for name in ("route", "budget", "reranker", "cut", "expand")
            if (value := getattr(self, name))
        )
        return chosen

    def ask(
        self, workspace: Workspace, query: str, k: int, *, at: str | None = None, paths: Sequence[str] = ()
    ) -> Answer:
        """Ask at the published head, or at `at`: nothing is built inside a timed question."""
        build: Any = SearchRequest  # which fields it has is looked up, not assumed
        snapshot = SnapshotRequest(at) if at else PUBLISHED
        return workspace.searcher.search(build(query, k=k, paths=paths, snapshot=snapshot, **self.given()))


ARMS = (
    Arm("lexical", (_LEXICAL,), route="lexical"),
    Arm("semantic", (_DENSE,), route="semantic"),
    Arm("hybrid", (_LEXICAL, _DENSE), route="hybrid"),
    Arm("lexical-files", (_LEXICAL,), route="lexical", level="file"),
    Arm("hybrid-files", (_LEXICAL, _DENSE), route="hybrid", level="file"),
    Arm("fast", (_LEXICAL, _DENSE), budget="fast"),
    Arm("balanced", (_LEXICAL, _DENSE), budget="balanced"),
    Arm("thorough", (_LEXICAL, _DENSE), budget="thorough"),
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


def missing(arm: Arm) -> str:
    """Why this version cannot run the arm; empty when it can."""
    if arm.route and arm.route not in ROUTES:
        return f"this version has no route {arm.route!r}"
    known = {field.name for field in fields(SearchRequest)}
    lacking = [name for name in arm.given() if name not in known]
    return f"this version's search takes no {', '.join(lacking)}" if lacking else ""


def _short(spec: str) -> str:
    return spec.rstrip("/").rpartition("/")[2] or spec
