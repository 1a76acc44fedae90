"""Which history a repository gets: its folder and configuration in, the builder out. Cheap to import."""

from __future__ import annotations

import math
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from codenib.config.resolve import user_choice
from codenib.core.protocols import Progress
from codenib.core.source import SourceSnapshot
from codenib.core.views import ArtifactProfile
from codenib.snapshot.repository import Repository, history_boundary
from codenib.views.history.profile import MAX_COMMITS, history_profile

if TYPE_CHECKING:  # numpy, which a no-op never needs
    from codenib.snapshot.history import CommitLog
    from codenib.views.history.view import HistoryViewBuilder

_RATE = 1_000.0  # commits a second (Django, a busy core)
_COUNTED_S = 5.0  # what takes longer is not counted to its end


class HistoryChoice:
    """The history view of one repository."""

    def __init__(self, repository: Repository, progress: Progress) -> None:
        self._repository = repository
        self._progress = progress

    @cached_property
    def log(self) -> CommitLog:
        """The commits."""
        from codenib.snapshot.history import CommitLog

        return CommitLog(self._repository)

    def settle(self, snapshot: SourceSnapshot) -> None:
        """Configuration and git are asked each time, so that nothing is to be looked at again."""

    def profile(self) -> ArtifactProfile:
        """The profile that the view built now would have."""
        return history_profile(max_commits(), history_boundary(self._repository))

    def builder(self) -> HistoryViewBuilder:
        """The builder of the view."""
        from codenib.views.history.view import HistoryViewBuilder

        return HistoryViewBuilder(self.log, max_commits(), self._progress)

    def estimate_s(self, base: str | None, commit: str | None) -> float:
        """About how many seconds it takes to read the commits that `base` does not have; few are counted."""
        most = int(_COUNTED_S * _RATE)
        count = self.log.count(base, commit, most) if commit is not None else 0
        return count / _RATE if count < most else math.inf

    def rebuilder(self, published: Path, scratch: Path) -> AbstractContextManager[HistoryViewBuilder]:
        """The same builder: it reuses nothing but a base."""
        return nullcontext(self.builder())


def max_commits() -> int:
    """How many commits the view holds at most."""
    return int(user_choice("history_commits") or MAX_COMMITS)
