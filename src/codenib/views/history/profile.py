"""What decides the history view besides the commit: how many commits, and where a shallow clone ends."""

from __future__ import annotations

from codenib.core.views import ArtifactProfile, ViewKind

SCHEMA = "2"
# All of most repositories; of Django's 35,000 commits those of the last thirteen years, in 25 CPU-seconds.
MAX_COMMITS = 20_000


def history_profile(max_commits: int = MAX_COMMITS, boundary: str = "") -> ArtifactProfile:
    """The profile of a view of the newest `max_commits`; `boundary` names the end of a shallow clone."""
    fields = {"schema": SCHEMA, "commits": str(max_commits), "shallow": boundary or "no"}
    return ArtifactProfile(ViewKind.HISTORY, fields)
