"""A manifest and skills in, the skills that it can serve and warnings out. Reads what is recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from codenib.core.errors import CodenibError
from codenib.core.views import RepoManifest, Status, ViewKind
from codenib.runtime.skills.registry import SkillFolder
from codenib.runtime.views import Contexts, Navigation


@dataclass(frozen=True, slots=True)
class Admission:
    """Which skills a session gets, and why others are left out."""

    skills: tuple[SkillFolder, ...]
    left_out: tuple[str, ...]


class ResourceGuard:
    """The preflight of a session."""

    def __init__(self, manifest: RepoManifest) -> None:
        self._manifest = manifest

    def missing(self, kind: ViewKind) -> str:
        """Why a view cannot serve, with the command that helps; empty when it can."""
        record = self._manifest.views.get(kind)
        if record is None:
            return f"the {kind} view was not built (codenib index --views {kind})"
        if record.status is Status.STALE:
            return f"the {kind} view is of an earlier snapshot (codenib update)"
        if record.status is Status.FAILED:
            return f"the {kind} view failed: {record.error} (codenib index --views {kind})"
        return ""

    def admit(self, skills: Sequence[SkillFolder], navigation: Navigation = "static") -> Admission:
        """Filter the skills whose views are missing, stale or failed."""
        kept, left = [], []
        for skill in skills:
            why = [reason for kind in skill.spec.needs(navigation) if (reason := self.missing(kind))]
            if why:
                left.append(f"skill {skill.spec.id} is left out: {'; '.join(why)}")
            else:
                kept.append(skill)
        return Admission(tuple(kept), tuple(left))

    def warnings(self, contexts: Contexts) -> list[str]:
        """What a person should know: views that are stale or failed, a worktree that moved on."""
        found = [
            reason
            for kind, record in self._manifest.views.items()
            if record.status is not Status.FRESH and (reason := self.missing(kind))
        ]
        try:
            now = contexts.workspace.current_snapshot()
        except CodenibError as error:
            return [*found, f"the worktree cannot be compared with the snapshot: {error.message}"]
        if now != self._manifest.snapshot:
            found.append("the worktree has changed since this snapshot; answers are for the snapshot")
        return found
