"""Questions with a token budget in, packs and maps out: the part of a workspace that counts tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from codenib.core.views import ViewKind
from codenib.serving.search.searcher import Searching

if TYPE_CHECKING:  # numpy comes with the first query, not with `import codenib`
    from codenib.core.context import ContextPack, RepoMap
    from codenib.serving.context.ledger import Ledger
    from codenib.serving.snapshots.pool import Refresh


class Budgeted(Searching):
    """What a workspace answers within a budget, from its ranked search and the snapshots that it pinned."""

    def explore(
        self,
        query: str,
        *,
        max_tokens: int = 4000,
        ledger: Ledger | None = None,
        paths: Sequence[str] = (),
        at: str | None = None,
        refresh: Refresh = "auto",
    ) -> ContextPack:
        """Evidence for `query` in at most `max_tokens` tokens.

        What `ledger` remembers as sent is only named; what this pack sends is added to it.
        """
        from codenib.serving.context.explore import explore_pinned, width

        answer = self.search(query, k=width(max_tokens), paths=paths, at=at, refresh=refresh)
        return explore_pinned(self._pins.of_snapshot(answer.snapshot.id), answer, query, max_tokens, ledger)

    def map(
        self,
        *,
        max_tokens: int = 1000,
        query: str | None = None,
        at: str | None = None,
        refresh: Refresh = "auto",
    ) -> RepoMap:
        """Folders, files and their most important declarations in at most `max_tokens` tokens."""
        from codenib.serving.context.map import map_pinned

        pinned, refreshed = self._pins.pin(ViewKind.LEXICAL, at, refresh)
        return map_pinned(pinned, refreshed, query=query, max_tokens=max_tokens)
