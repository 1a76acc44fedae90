"""A manifest and the views that skills need in, opened contexts out. Opens and validates; never builds."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from codenib.core.answers import Answer, Evidence
from codenib.core.requests import PUBLISHED, SearchRequest
from codenib.core.source import Level
from codenib.core.views import RepoManifest, ViewKind
from codenib.serving.published import open_published
from codenib.serving.workspace import Workspace

#: Who answers definitions and references: the graph of the snapshot, or language servers on the worktree.
Navigation = Literal["static", "live"]

#: How wide a search must be so that k functions are among its units; doubled until they are.
_WIDER = 4
_WIDEST = 400


@dataclass(frozen=True, slots=True)
class CandidateBlock:
    """A ranked code block of the initial context."""

    item: Evidence
    text: str


class Contexts:
    """The opened views of one manifest, which tools and skills answer from.

    `navigation` says who answers definitions and references: the static graph, or the live language servers.
    """

    def __init__(self, workspace: Workspace, *, navigation: Navigation = "static") -> None:
        self.workspace = workspace
        self.navigation = navigation

    @property
    def manifest(self) -> RepoManifest:
        return self.workspace.snapshots.pin(None, PUBLISHED)[0].manifest

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the views."""
        self.workspace.close()

    def candidates(
        self, issue: str, k: int = 10, *, route: str = "auto", fusion: str = "auto"
    ) -> tuple[Answer, list[CandidateBlock]]:
        """The `k` best-ranked functions (L2 units) for an issue, each with its whole text."""
        width = k * _WIDER
        while True:
            request = SearchRequest(issue, k=width, route=route, fusion=fusion, snapshot=PUBLISHED)
            answer = self.workspace.searcher.search(request)
            items = [item for item in answer.items if item.level == Level.L2.name][:k]
            if len(items) == k or width >= _WIDEST or not answer.truncated:
                break
            width *= 2
        texts = self.workspace.texts(items, at_snapshot=answer.snapshot.id)
        return answer, [CandidateBlock(item, text) for item, text in zip(items, texts, strict=True)]


def load_views(
    manifest: RepoManifest | str | Path,
    needed: Collection[ViewKind] = (),
    *,
    navigation: Navigation = "static",
    repository: str | Path | None = None,
) -> Contexts:
    """Open the views that are needed; a missing, stale or failed one is a `StateError` with its command.

    `repository` says whose they are, where several clones have the snapshot.
    """
    workspace = open_published(manifest, repository=repository)
    try:
        workspace.open_views(_ordered(needed))
    except BaseException:
        workspace.close()
        raise
    return Contexts(workspace, navigation=navigation)


def _ordered(kinds: Collection[ViewKind]) -> Sequence[ViewKind]:
    return [kind for kind in ViewKind if kind in kinds]
